package store

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/store/checkout"
	"github.com/tillwright/tillwright/store/content"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/customer"
	"github.com/tillwright/tillwright/store/discount"
	"github.com/tillwright/tillwright/store/grant"
	"github.com/tillwright/tillwright/store/invoice"
	"github.com/tillwright/tillwright/store/lead"
	"github.com/tillwright/tillwright/store/order"
	"github.com/tillwright/tillwright/store/subscription"
)

// SearchResult is an object that was found. Subtitle is nil if it is known by nothing but its title.
type SearchResult struct {
	Kind     core.Kind
	ID       string
	Title    string
	Subtitle *string

	exact bool // the text names it
}

// Search says what is looked for, and among which kinds.
type Search struct {
	Q     string
	Kinds []core.Kind
	Limit int
}

// finder looks for objects of a kind.
type finder func(ctx context.Context, account string, page core.Page, by core.ListFilter) (results []SearchResult, more bool, err error)

// finders returns how each kind is looked for: as its list is searched, by the words that stand in filter_entries.
func (s *Store) finders() map[core.Kind]finder {
	return map[core.Kind]finder{
		core.KindProduct: found(core.KindProduct, func(ctx context.Context, account string, p core.Page, f core.ListFilter) ([]catalog.Product, bool, error) {
			return s.Catalog.ListProducts(ctx, account, catalog.ListProducts{Page: p, ListFilter: f})
		}, func(p *catalog.Product) (string, string, *string) { return p.ID, p.Name, &p.Slug }),
		core.KindCustomer: found(core.KindCustomer, func(ctx context.Context, account string, p core.Page, f core.ListFilter) ([]customer.Customer, bool, error) {
			return s.Customer.List(ctx, account, customer.List{Page: p, ListFilter: f})
		}, func(c *customer.Customer) (string, string, *string) {
			if c.Name == nil {
				return c.ID, core.Deref(c.Email), nil
			}
			return c.ID, *c.Name, c.Email
		}),
		core.KindOrder: found(core.KindOrder, func(ctx context.Context, account string, p core.Page, f core.ListFilter) ([]order.Order, bool, error) {
			return s.Order.List(ctx, account, order.List{Page: p, ListFilter: f})
		}, shownOrder),
		core.KindInvoice: found(core.KindInvoice, func(ctx context.Context, account string, p core.Page, f core.ListFilter) ([]invoice.Invoice, bool, error) {
			return s.Invoice.List(ctx, account, invoice.List{Page: p, ListFilter: f})
		}, func(i *invoice.Invoice) (string, string, *string) {
			return i.ID, cmp.Or(core.Deref(i.Number), "draft"), i.CustomerEmail
		}),
		core.KindSubscription: found(core.KindSubscription, func(ctx context.Context, account string, p core.Page, f core.ListFilter) ([]subscription.Subscription, bool, error) {
			return s.Subscription.List(ctx, account, subscription.List{Page: p, ListFilter: f})
		}, func(sub *subscription.Subscription) (string, string, *string) {
			return sub.ID, sub.CurrentPlan().Describe(), sub.BillingName
		}),
		core.KindDiscount: found(core.KindDiscount, func(ctx context.Context, account string, p core.Page, f core.ListFilter) ([]discount.Discount, bool, error) {
			return s.Discount.List(ctx, account, discount.List{Page: p, ListFilter: f})
		}, func(d *discount.Discount) (string, string, *string) { return d.ID, d.Name, d.Code }),
		core.KindCheckoutLink: found(core.KindCheckoutLink, func(ctx context.Context, account string, p core.Page, f core.ListFilter) ([]checkout.Link, bool, error) {
			return s.Checkout.ListLinks(ctx, account, checkout.ListLinks{Page: p, ListFilter: f})
		}, func(l *checkout.Link) (string, string, *string) {
			return l.ID, cmp.Or(core.Deref(l.Name), l.ID), &l.URL
		}),
		core.KindExperience: found(core.KindExperience, func(ctx context.Context, account string, p core.Page, f core.ListFilter) ([]content.Experience, bool, error) {
			return s.Content.ListExperiences(ctx, account, content.ListExperiences{Page: p, ListFilter: f})
		}, func(e *content.Experience) (string, string, *string) { return e.ID, e.Name, &e.Slug }),
		core.KindLead: found(core.KindLead, func(ctx context.Context, account string, p core.Page, f core.ListFilter) ([]lead.Lead, bool, error) {
			return s.Lead.List(ctx, account, lead.List{Page: p, ListFilter: f})
		}, func(l *lead.Lead) (string, string, *string) {
			return l.ID, cmp.Or(core.Deref(l.Name), l.Email), &l.Email
		}),
		core.KindFile: found(core.KindFile, func(ctx context.Context, account string, p core.Page, f core.ListFilter) ([]grant.File, bool, error) {
			return s.Grant.ListFiles(ctx, account, grant.ListFiles{Page: p, ListFilter: f})
		}, func(f *grant.File) (string, string, *string) { return f.ID, f.Name, nil }),
		core.KindBlogPost: found(core.KindBlogPost, func(ctx context.Context, account string, p core.Page, f core.ListFilter) ([]content.BlogPost, bool, error) {
			return s.Content.ListBlogPosts(ctx, account, content.ListBlogPosts{Page: p, ListFilter: f})
		}, func(b *content.BlogPost) (string, string, *string) { return b.ID, b.Title, &b.Slug }),
		core.KindAISite: found(core.KindAISite, func(ctx context.Context, account string, p core.Page, f core.ListFilter) ([]content.AISite, bool, error) {
			return s.Content.ListAISites(ctx, account, content.ListAISites{Page: p, ListFilter: f})
		}, func(a *content.AISite) (string, string, *string) { return a.ID, a.Name, &a.Subdomain }),
	}
}

// found makes a finder of a list, and of what is shown of its rows.
func found[T any](kind core.Kind, list func(context.Context, string, core.Page, core.ListFilter) ([]T, bool, error), show func(*T) (id, title string, subtitle *string)) finder {
	return func(ctx context.Context, account string, page core.Page, by core.ListFilter) ([]SearchResult, bool, error) {
		rows, more, err := list(ctx, account, page, by)
		results := make([]SearchResult, len(rows))
		for i := range rows {
			id, title, subtitle := show(&rows[i])
			results[i] = SearchResult{Kind: kind, ID: id, Title: title, Subtitle: subtitle, exact: id == by.Q}
		}
		return results, more, err
	}
}

func shownOrder(o *order.Order) (string, string, *string) {
	return o.ID, fmt.Sprintf("#%d", o.Number), o.CustomerEmail
}

// Search returns objects that have all of the words, each from its beginning, and whether some are left out. First comes what the text names exactly,
// then the newest. If too much has the words, but hardly anything has all of them, only some things are looked at. These are the newest, and the
// newest of those that have the rarest of the words. Then it is said, too, that some are left out.
func (s *Store) Search(ctx context.Context, account string, in Search) ([]SearchResult, bool, error) {
	all, err := s.named(ctx, account, in)
	if err != nil {
		return nil, false, err
	}
	var left bool
	finders := s.finders()
	for _, kind := range slices.Compact(slices.Sorted(slices.Values(in.Kinds))) { // a kind that is named again is not looked for again
		results, more, err := finders[kind](ctx, account, core.Page{Limit: in.Limit, Partial: true}, core.ListFilter{Q: in.Q})
		if err != nil {
			return nil, false, err
		}
		all, left = append(all, results...), left || more
	}
	slices.SortStableFunc(all, func(a, b SearchResult) int {
		if a.exact != b.exact {
			if a.exact {
				return -1
			}
			return 1
		}
		return strings.Compare(made(b.ID), made(a.ID))
	})
	all = distinct(all)
	if len(all) > in.Limit {
		return all[:in.Limit], true, nil
	}
	return all, left, nil
}

// named returns what the text names by a number or an id of the seller's, which no word has.
func (s *Store) named(ctx context.Context, account string, in Search) (all []SearchResult, err error) {
	number, err := strconv.ParseInt(strings.TrimPrefix(in.Q, "#"), 10, 64)
	if err == nil && slices.Contains(in.Kinds, core.KindOrder) {
		orders, _, err := s.Order.List(ctx, account, order.List{Page: core.Page{Limit: 1}, Number: &number})
		if err != nil {
			return nil, err
		}
		for i := range orders {
			id, title, subtitle := shownOrder(&orders[i])
			all = append(all, SearchResult{Kind: core.KindOrder, ID: id, Title: title, Subtitle: subtitle, exact: true})
		}
	}
	if !slices.Contains(in.Kinds, core.KindCustomer) {
		return all, nil
	}
	customers, _, err := s.Customer.List(ctx, account, customer.List{Page: core.Page{Limit: 1}, ExternalID: in.Q})
	for _, c := range customers {
		all = append(all, SearchResult{Kind: core.KindCustomer, ID: c.ID, Title: cmp.Or(core.Deref(c.Name), core.Deref(c.Email)), Subtitle: c.Email, exact: true})
	}
	return all, err
}

// made returns what of an id says when it was made.
func made(id string) string { return id[strings.LastIndex(id, "_")+1:] }

// distinct leaves out what was found before.
func distinct(results []SearchResult) []SearchResult {
	seen := map[string]bool{}
	return slices.DeleteFunc(results, func(r SearchResult) bool {
		again := seen[r.ID]
		seen[r.ID] = true
		return again
	})
}
