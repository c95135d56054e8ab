package handlers

import (
	"context"
	"fmt"
	"reflect"
	"strings"

	"github.com/tillwright/tillwright/openapi/wire"
	"github.com/tillwright/tillwright/server/view"
	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/core"
)

// kindsOf lists every type that a reference can point at: how to load many of them by id, how to render one, and which
// references it has in turn. A new type is one line here; the test of this file names one that is forgotten.
func kindsOf(s *store.Store) map[string]kind {
	kinds := map[string]kind{}
	for _, k := range []kind{
		kindOf(core.KindProduct, s.Catalog.ProductsByID, view.Product, view.ProductRefs),
		kindOf(core.KindPriceVariant, s.Catalog.PriceVariantsByID, view.PriceVariant, view.PriceVariantRefs),
		kindOf(core.KindCustomer, s.CustomersByID, view.Customer, view.CustomerRefs),
		kindOf(core.KindCheckout, checkoutsByID(s), view.Checkout, view.CheckoutRefs),
		kindOf(core.KindLineItem, s.LineItemsByID, view.LineItem, view.LineItemRefs),
		kindOf(core.KindInvoice, s.InvoicesByID, view.Invoice, view.InvoiceRefs),
		kindOf(core.KindDiscount, s.DiscountsByID, view.Discount, nil),
		kindOf(core.KindOrder, s.OrdersByID, view.Order, view.OrderRefs),
		kindOf(core.KindEvent, s.Outbox.EventsByID, view.WebhookEvent, nil),
		kindOf(core.KindSubscription, s.SubscriptionsByID, view.Subscription, view.SubscriptionRefs),
		kindOf(core.KindPayment, s.PaymentsByID, view.Payment, nil),
		kindOf(core.KindPaymentMethod, s.PaymentMethodsByID, view.SavedPaymentMethod, nil),
		kindOf(core.KindFile, s.Grant.FilesByID, view.File, nil),
		kindOf(core.KindGrant, s.Grant.GrantsByID, view.Grant, view.GrantRefs),
		kindOf(core.KindRefund, s.RefundsByID, view.Refund, view.RefundRefs),
	} {
		kinds[k.name.Prefix()] = k
	}
	return kinds
}

// refsOf calls yield with each reference that a field of an object holds, so that the reference can be replaced by what it
// names.
type refsOf[W any] func(object *W, field string, yield func(*wire.Reference))

// kind is one type of referenced object.
type kind struct {
	name   core.Kind
	schema string // its name in the specification
	// load returns a function that makes a fresh object for an id, or nil for one that is gone. Fresh, because an object
	// shared by two references would carry what was expanded in one of them into the other.
	load func(ctx context.Context, account string, ids []string) (func(id string) any, error)
	refs func(object any, field string, yield func(*wire.Reference))
}

// kindOf returns the kind of an object that is stored as an R and rendered as a W. Refs is nil if it has no references.
func kindOf[R, W any](
	name core.Kind,
	load func(ctx context.Context, account string, ids []string) (map[string]*R, error),
	render func(*R) W,
	refs refsOf[W],
) kind {
	return kind{
		name:   name,
		schema: reflect.TypeFor[W]().Name(),
		load: func(ctx context.Context, account string, ids []string) (func(string) any, error) {
			rows, err := load(ctx, account, ids)
			return func(id string) any {
				if rows[id] == nil {
					return nil
				}
				return new(render(rows[id]))
			}, err
		},
		refs: erase(refs),
	}
}

// show renders one object, and expands the references that paths name.
func show[R, W any](ctx context.Context, h *Handlers, row *R, render func(*R) W, refs refsOf[W], paths []string) (W, error) {
	out := render(row)
	if len(paths) == 0 {
		return out, nil
	}
	err := h.expand(ctx, paths, []any{&out}, erase(refs))
	return out, err
}

// showList renders a page of objects, and expands the references that paths name.
func showList[R, W any](ctx context.Context, h *Handlers, url string, rows []R, more bool, render func(*R) W, refs refsOf[W], paths []string) (wire.List[W], error) {
	out := view.List(url, rows, more, render)
	if len(paths) == 0 {
		return out, nil
	}
	objects := make([]any, len(out.Data))
	for i := range out.Data {
		objects[i] = &out.Data[i]
	}
	return out, h.expand(ctx, paths, objects, erase(refs))
}

// erase turns a refsOf of one type into a function that takes any object. An object of another type has no references.
func erase[W any](refs refsOf[W]) func(object any, field string, yield func(*wire.Reference)) {
	return func(object any, field string, yield func(*wire.Reference)) {
		if w, ok := object.(*W); ok && refs != nil {
			refs(w, field, yield)
		}
	}
}

// expand replaces the references that paths name by the objects themselves. It goes level by level, with one query for each
// type of a level, so that its cost does not grow with the page. Unknown paths were already refused, by the specification.
func (h *Handlers) expand(ctx context.Context, paths []string, objects []any, refs func(any, string, func(*wire.Reference))) error {
	for field, rest := range byField(paths) {
		wanted := map[string][]*wire.Reference{}
		for _, object := range objects {
			refs(object, field, func(r *wire.Reference) {
				if id, ok := (*r).(string); ok {
					prefix := id[:strings.IndexByte(id, '_')+1]
					wanted[prefix] = append(wanted[prefix], r)
				}
			})
		}
		for prefix, references := range wanted {
			kind, known := h.kinds[prefix]
			if !known {
				return fmt.Errorf("expand %s: nothing loads what begins with %q", field, prefix)
			}
			filled, err := fill(ctx, kind, references)
			if err != nil {
				return err
			}
			if len(rest) > 0 {
				if err := h.expand(ctx, rest, filled, kind.refs); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// byField groups paths by their first name: "a.b" and "a.c" are field a with rest b and c.
func byField(paths []string) map[string][]string {
	fields := map[string][]string{}
	for _, path := range paths {
		field, rest, deeper := strings.Cut(path, ".")
		if deeper {
			fields[field] = append(fields[field], rest)
		} else if _, known := fields[field]; !known {
			fields[field] = nil
		}
	}
	return fields
}

// fill loads the objects that references name, puts them in the place of their ids and returns them.
func fill(ctx context.Context, k kind, references []*wire.Reference) ([]any, error) {
	ids := make([]string, len(references))
	for i, r := range references {
		ids[i] = (*r).(string)
	}
	object, err := k.load(ctx, account(ctx), ids)
	if err != nil {
		return nil, err
	}
	filled := make([]any, 0, len(references))
	for i, r := range references {
		if *r = object(ids[i]); *r == nil {
			*r = new(view.Deleted(string(k.name), ids[i]))
			continue
		}
		filled = append(filled, *r)
	}
	return filled, nil
}
