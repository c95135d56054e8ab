package handlers

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/tillwright/tillwright/openapi/answer"
	"github.com/tillwright/tillwright/sdk/wire"
	"github.com/tillwright/tillwright/server/caller"
	"github.com/tillwright/tillwright/server/view"
	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/core"
)

// kindsOf lists every type that a reference can point at: how to load many of them by id, and how to render one. A new type is
// one line here; the test of this file names one that is forgotten.
func kindsOf(s *store.Store) map[string]kind {
	kinds := map[string]kind{}
	for _, k := range []kind{
		kindOf(core.KindProduct, s.Catalog.ProductsByID, view.Product),
		kindOf(core.KindPriceVariant, s.Catalog.PriceVariantsByID, view.PriceVariant),
		kindOf(core.KindCustomer, s.Customer.ByID, view.Customer),
		kindOf(core.KindCheckout, checkoutsByID(s), view.Checkout),
		kindOf(core.KindLineItem, s.Lines.ByID, view.LineItem),
		kindOf(core.KindInvoice, s.Invoice.ByID, view.Invoice),
		kindOf(core.KindDiscount, s.Discount.ByID, view.Discount),
		kindOf(core.KindOrder, s.Order.ByID, view.Order),
		kindOf(core.KindEvent, s.Outbox.EventsByID, view.WebhookEvent),
		kindOf(core.KindSubscription, s.Subscription.ByID, view.Subscription),
		kindOf(core.KindPayment, s.Payment.ByID, view.Payment),
		kindOf(core.KindPaymentMethod, s.Payment.MethodsByID, view.SavedPaymentMethod),
		kindOf(core.KindFile, s.Grant.FilesByID, view.File),
		kindOf(core.KindGrant, s.Grant.GrantsByID, view.Grant),
		kindOf(core.KindRefund, s.RefundsByID, view.Refund),
	} {
		kinds[k.name.Prefix()] = k
	}
	return kinds
}

// referrer is an object that holds references. References calls yield with each that a field holds, so that the reference can be
// replaced by what it names. The generated types have it, made by openapi/server.typedef.tmpl.
type referrer interface {
	References(field string, yield func(*wire.Reference))
}

// kind is one type of referenced object.
type kind struct {
	name   core.Kind
	schema string // its name in the specification
	// load returns a function that makes a fresh object for an id, or nil for one that is gone. Fresh, because an object
	// shared by two fields would carry what was expanded in one of them into the other.
	load func(ctx context.Context, account string, ids []string) (func(id string) any, error)
}

// kindOf returns the kind of an object that is stored as an R and rendered as a W.
func kindOf[R, W any](
	name core.Kind,
	load func(ctx context.Context, account string, ids []string) (map[string]*R, error),
	render func(*R) W,
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
	}
}

// show renders one object, and expands the references that paths name. In the answer of an operation that asks a provider they
// all stay ids if they are too large: what it did cannot be undone.
func show[R, W any](ctx context.Context, h *Handlers, row *R, render func(*R) W, paths []string) (W, error) {
	out := render(row)
	if len(paths) == 0 {
		return out, nil
	}
	err := h.expand(ctx, paths, []any{&out})
	if errors.Is(err, errTooLarge) {
		if caller.Of(ctx).Effect {
			return render(row), nil
		}
		err = tooLarge(ctx, "expand", "Expand fewer references.")
	}
	return out, err
}

// showList renders a page of objects, and expands the references that paths name.
func showList[R, W any](ctx context.Context, h *Handlers, url string, rows []R, more bool, render func(*R) W, paths []string) (wire.List[W], error) {
	out := view.List(url, rows, more, render)
	if len(paths) == 0 {
		return out, nil
	}
	objects := make([]any, len(out.Data))
	for i := range out.Data {
		objects[i] = &out.Data[i]
	}
	err := h.expand(ctx, paths, objects)
	if errors.Is(err, errTooLarge) {
		err = tooLarge(ctx, "limit", "Ask for fewer objects, or expand fewer references.")
		if len(objects) == 1 {
			err = tooLarge(ctx, "expand", "Expand fewer references.")
		}
	}
	return out, err
}

// mostOfAWrite is how many bytes the answer of a write may have with what is expanded in it. It is kept for a day if the request
// has an Idempotency-Key.
const mostOfAWrite = 1 << 20

// most returns how many bytes an answer may have with what is expanded in it.
func most(ctx context.Context) int {
	if caller.Of(ctx).Writes {
		return mostOfAWrite
	}
	return answer.Most
}

// errTooLarge says that an answer would be larger than it may be.
var errTooLarge = errors.New("the expanded answer is too large")

// tooLarge refuses a request whose answer would be too large. Hint says what to send instead.
func tooLarge(ctx context.Context, param, hint string) error {
	return &core.Error{Code: core.CodeBadRequest, Param: param, Message: fmt.Sprintf("With these references the answer would be larger than %d MiB. %s", most(ctx)>>20, hint)}
}

// expand replaces the references that paths name by the objects themselves. It goes level by level, with one query for each
// type of a level, so that its cost does not grow with the page. Before the handler ran, the specification has refused unknown
// paths, and expandScopes.check those that the key may not read. It returns errTooLarge before the answer has more bytes than it may.
func (h *Handlers) expand(ctx context.Context, paths []string, objects []any) error {
	x := expansion{Handlers: h, left: most(ctx)}
	top := make([]shown, len(objects))
	for i, object := range objects {
		size, err := answer.Size(object)
		if err != nil {
			return err
		}
		top[i] = shown{object, 1}
		x.left -= size
	}
	return x.expand(ctx, paths, top)
}

// expansion is an answer whose references are being expanded.
type expansion struct {
	*Handlers
	left int // bytes by which the answer may still grow
}

// shown is an object that stands in the answer so many times.
type shown struct {
	object any
	times  int
}

func (x *expansion) expand(ctx context.Context, paths []string, objects []shown) error {
	for field, rest := range byField(paths) {
		wanted := map[string]*references{}
		for _, o := range objects {
			object, refers := o.object.(referrer)
			if !refers {
				continue
			}
			object.References(field, func(r *wire.Reference) {
				if id, ok := (*r).(string); ok {
					prefix := id[:strings.IndexByte(id, '_')+1]
					if wanted[prefix] == nil {
						wanted[prefix] = &references{times: map[string]int{}}
					}
					wanted[prefix].add(id, r, o.times)
				}
			})
		}
		for prefix, references := range wanted {
			kind, known := x.kinds[prefix]
			if !known {
				return fmt.Errorf("expand %s: nothing loads what begins with %q", field, prefix)
			}
			filled, err := x.fill(ctx, kind, references)
			if err != nil {
				return err
			}
			if len(rest) > 0 {
				if err := x.expand(ctx, rest, filled); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// references are those of one field to objects of one type.
type references struct {
	places []*wire.Reference
	ids    []string       // each once
	times  map[string]int // how often the object of an id will stand in the answer
}

func (r *references) add(id string, place *wire.Reference, times int) {
	if r.times[id] == 0 {
		r.ids = append(r.ids, id)
	}
	r.places, r.times[id] = append(r.places, place), r.times[id]+times
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

// firstBatch is how many objects are loaded before it is known how large such objects are. It is as many as a page has.
const firstBatch = 100

// fill loads the objects that references name, each once, puts them in the place of their ids and returns them. It loads about as
// many at a time as there is room for in the answer.
func (x *expansion) fill(ctx context.Context, k kind, references *references) ([]shown, error) {
	objects := make(map[string]any, len(references.ids))
	filled := make([]shown, 0, len(references.ids))
	size := 0
	for rest, batch := references.ids, firstBatch; len(rest) > 0; batch = max(1, x.left*len(objects)/max(size, 1)) {
		ids := rest[:min(batch, len(rest))]
		rest = rest[len(ids):]
		load, err := k.load(ctx, account(ctx), ids)
		if err != nil {
			return nil, err
		}
		for _, id := range ids {
			object := load(id)
			if object == nil {
				object = new(view.Deleted(string(k.name), id))
			} else {
				filled = append(filled, shown{object, references.times[id]})
			}
			bytes, err := answer.Size(object)
			if err != nil {
				return nil, err
			}
			objects[id], size = object, size+bytes
			if x.left -= bytes * references.times[id]; x.left < 0 {
				return nil, errTooLarge
			}
		}
	}
	for _, place := range references.places {
		*place = objects[(*place).(string)]
	}
	return filled, nil
}
