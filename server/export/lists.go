package export

import (
	"fmt"

	"github.com/tillwright/tillwright/gen/api"
	"github.com/tillwright/tillwright/server/view"
	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/outbox"
)

// lists are the lists with x-export in the specification, by the end of their paths.
var lists = map[string]func(s *store.Store) *List{
	"orders": orders, "customers": customers, "subscriptions": subscriptions, "leads": leads, "license_keys": licenseKeys, // with columns of their own

	"products": func(s *store.Store) *List { return of(s.Catalog.ListProducts, view.ListProducts, view.Product) },
	"price_variants": func(s *store.Store) *List {
		return of(s.Catalog.ListPriceVariants, view.ListPriceVariants, view.PriceVariant)
	},
	"checkouts": func(s *store.Store) *List { // what a checkout can be paid with is for some keys alone
		return of(s.Checkout.List, view.ListCheckouts, view.Checkout, "next_action", "url", "client_secret")
	},
	"checkout_links": func(s *store.Store) *List { return of(s.Checkout.ListLinks, view.ListCheckoutLinks, view.CheckoutLink) },
	"invoices":       func(s *store.Store) *List { return of(s.Invoice.List, view.ListInvoices, view.Invoice) },
	"refunds":        func(s *store.Store) *List { return of(s.ListRefunds, view.ListRefunds, view.Refund) },
	"discounts":      func(s *store.Store) *List { return of(s.Discount.List, view.ListDiscounts, view.Discount) },
	"grants":         func(s *store.Store) *List { return of(s.ListGrants, view.ListGrants, view.Grant) },
	"letters":        func(s *store.Store) *List { return of(s.ListLetters, view.ListLetters, view.Letter) },
	"product_news": func(s *store.Store) *List {
		return texts(of(s.ListProductNews, view.ListProductNews, view.ProductNews))
	},
	"files": func(s *store.Store) *List { // to where bytes may be sent is for who sends them
		return of(s.Grant.ListFiles, view.ListFiles, view.File, "upload")
	},
	"experiences": func(s *store.Store) *List {
		return texts(of(s.Content.ListExperiences, view.ListExperiences, view.Experience))
	},
	"blog_posts": func(s *store.Store) *List {
		return texts(of(s.Content.ReadBlogPosts, view.ListBlogPosts, view.BlogPost, "body_html"))
	},
	"legal_pages": func(s *store.Store) *List {
		return texts(of(s.Content.ReadLegalPages, view.ListLegalPages, view.LegalPage, "body_html"))
	},
	"ai_sites": func(s *store.Store) *List { return of(s.Content.ListAISites, view.ListAISites, view.AISite, "content") }, // which its list does not read
	"webhook_endpoints": func(s *store.Store) *List {
		show := func(e *outbox.WebhookEndpoint) api.WebhookEndpoint { return view.WebhookEndpoint(e, s.Now()) }
		return of(s.Outbox.ListWebhookEndpoints, view.ListWebhookEndpoints, show, "secret")
	},
	"activity": func(s *store.Store) *List { // what became different takes the scopes of what was changed
		show := view.Activity(func(string) bool { return false })
		return of(s.Activity.ListActivities, view.ListActivity, show, "changes")
	},
	"socials": func(s *store.Store) *List {
		return of(s.Advert.ListSocialAccounts, view.ListSocialAccounts, view.SocialAccount)
	},
	"actions":     func(s *store.Store) *List { return of(s.Advert.ListActions, view.ListAdActions, view.AdAction) },
	"conversions": func(s *store.Store) *List { return of(s.Advert.ListConversions, view.ListConversions, view.Conversion) },
	"conversion-destinations": func(s *store.Store) *List {
		return of(s.Advert.ListConversionDestinations, view.ListConversionDestinations, view.ConversionDestination)
	},
}

// Find returns the list of a name.
func Find(s *store.Store, name string) (*List, error) {
	found, ok := lists[name]
	if !ok {
		return nil, fmt.Errorf("there is no export of %s", name)
	}
	return found(s), nil
}
