package sdk

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/url"
	"reflect"
	"strconv"
)

// maxPage is the most that the server returns at once.
const maxPage = 100

// All walks every page of a list, newest first, and yields its items one by one:
//
//	for order, err := range sdk.All(ctx, client.Orders.List, &sdk.ListOrdersParams{Status: new(sdk.OrderStatusPaid)}) {
//		if err != nil {
//			return err
//		}
//		...
//	}
//
// A page is fetched when it is reached. An error is yielded once, with a zero item, and ends the walk. An item that exists for
// the whole walk is yielded exactly once, whatever is created or deleted meanwhile. params may be nil and is not changed;
// its StartingAfter is where the walk begins, its Limit the size of a page (100 unless set). EndingBefore must be nil. Options
// apply to the fetch of each page.
func All[T, P any](ctx context.Context, list func(context.Context, *P, ...Option) (*List[T], error), params *P, opts ...Option) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var zero T
		for after := ""; ; {
			page, err := list(ctx, params, append(opts[:len(opts):len(opts)], startAfter(after))...)
			if err != nil {
				yield(zero, err)
				return
			}
			for _, item := range page.Data {
				if !yield(item, nil) {
					return
				}
			}
			if !page.HasMore || len(page.Data) == 0 {
				return
			}
			next := idOf(page.Data[len(page.Data)-1])
			if next == "" || next == after {
				yield(zero, fmt.Errorf("sdk: All: the page after %q ends where it began", after))
				return
			}
			after = next
		}
	}
}

func startAfter(id string) Option {
	return optionFunc(func(s *settings) { s.after = &id })
}

// walk sets the position of All in a query.
func (s *settings) walk(query url.Values) error {
	if query.Has("ending_before") {
		return errors.New("All walks forward only: leave EndingBefore nil")
	}
	if *s.after != "" {
		query.Set("starting_after", *s.after)
	}
	if !query.Has("limit") {
		query.Set("limit", strconv.Itoa(maxPage))
	}
	return nil
}

// idOf reads the ID field, which every listed resource has.
func idOf(resource any) string {
	field := reflect.ValueOf(resource).FieldByName("ID")
	if !field.IsValid() {
		return ""
	}
	return field.String()
}
