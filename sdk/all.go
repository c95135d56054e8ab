package sdk

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"reflect"
	"strconv"
)

// maxPage is the most items that the server returns in one page.
const maxPage = 100

// pageOf is a page of a list, *List or *CursorList.
type pageOf[T any] interface{ Items() []T }

// All walks every page of a list, newest first unless params sort it otherwise, and yields its items one by one:
//
//	for order, err := range sdk.All(ctx, client.Orders.List, &sdk.ListOrdersParams{Status: new(sdk.OrderStatusPaid)}) {
//		if err != nil {
//			return err
//		}
//		...
//	}
//
// A page is fetched when it is reached. An error is yielded once, with a zero item, and ends the walk. An item that exists for
// the whole walk is yielded exactly once, even if others are created or deleted meanwhile.
//
// params may be nil and is not changed. The walk begins at its StartingAfter or Cursor. Its Limit is the size of a page: 100 by
// default, and less if an answer cannot hold 100. EndingBefore must be nil. Options apply to the fetch of each page.
func All[T, P any, L pageOf[T]](ctx context.Context, list func(context.Context, *P, ...Option) (L, error), params *P, opts ...Option) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var zero T
		seen := map[position]bool{}
		var asked settings
		for _, option := range opts {
			option.apply(&asked)
		}
		size, isGiven := maxPage, encodeQuery(params).Has("limit") || asked.extra.Has("limit")
		for at := (position{}); ; {
			at.size = size
			page, err := list(ctx, params, append(opts[:len(opts):len(opts)], at)...)
			if !isGiven && size > 1 && isTooLarge(err) {
				size = (size + 3) / 4
				continue
			}
			if err != nil {
				yield(zero, err)
				return
			}
			for _, item := range page.Items() {
				if !yield(item, nil) {
					return
				}
			}
			next, more := after[T](page)
			if !more {
				return
			}
			if next.value == "" || seen[next] {
				yield(zero, fmt.Errorf("sdk: All: the page after %q ends where another began", at.value))
				return
			}
			seen[next], at = true, next
		}
	}
}

// AllOf is All for a list that belongs to a resource, by the id of that resource:
//
//	for line, err := range sdk.AllOf(ctx, client.Invoices.ListLines, invoice.ID, nil) { ... }
func AllOf[T, P any, L pageOf[T]](ctx context.Context, list func(context.Context, string, *P, ...Option) (L, error), id string, params *P, opts ...Option) iter.Seq2[T, error] {
	return All(ctx, func(ctx context.Context, params *P, opts ...Option) (L, error) {
		return list(ctx, id, params, opts...)
	}, params, opts...)
}

// after returns the position of the page after this one, and false at the end of the list.
func after[T any](page any) (position, bool) {
	switch p := page.(type) {
	case *List[T]:
		if p.HasMore && len(p.Data) > 0 {
			return position{parameter: "starting_after", value: idOf(p.Data[len(p.Data)-1])}, true
		}
	case *CursorList[T]:
		if p.NextCursor != nil {
			return position{parameter: "cursor", value: *p.NextCursor}, true
		}
	}
	return position{}, false
}

// isTooLarge reports whether a page was refused because its limit is too large.
func isTooLarge(err error) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && e.Status == http.StatusBadRequest && e.Param == "limit"
}

// position says where a page of All begins: the query parameter and its value. Without one that is left to params. Size is that
// of the page if params give none.
type position struct {
	parameter, value string
	size             int
}

func (p position) apply(s *settings) { s.at = &p }

// walk puts the position into a query.
func (p position) walk(query url.Values) error {
	if query.Has("ending_before") {
		return errors.New("All walks forward only: leave EndingBefore nil")
	}
	if p.parameter != "" {
		query.Set(p.parameter, p.value)
	}
	if !query.Has("limit") {
		query.Set("limit", strconv.Itoa(p.size))
	}
	return nil
}

// idOf returns the ID field of a resource, which every listed resource has.
func idOf(resource any) string {
	field := reflect.ValueOf(resource).FieldByName("ID")
	if !field.IsValid() {
		return ""
	}
	return field.String()
}
