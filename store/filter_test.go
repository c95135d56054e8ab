package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/order"
	"github.com/tillwright/tillwright/store/tenant"
)

// orderHistory is a source of chance with the orders that it has made.
type orderHistory struct {
	*rand.Rand
	orders []order.Order // newest first
	emails []string
}

func newOrderHistory(t *testing.T) *orderHistory {
	t.Helper()
	seed := uint64(time.Now().UnixNano())
	if given := os.Getenv("TILLWRIGHT_TEST_SEED"); given != "" {
		var err error
		seed, err = strconv.ParseUint(given, 10, 64)
		require.NoError(t, err)
	}
	t.Logf("TILLWRIGHT_TEST_SEED=%d", seed)
	return &orderHistory{Rand: rand.New(rand.NewPCG(seed, 0)), emails: []string{"ada@example.com", "Grace@Example.com", "ÉMILE@example.com", "Grace.Hopper@example.com"}}
}

// oneOf returns one of some values.
func oneOf[T any](h *orderHistory, values ...T) T { return values[h.IntN(len(values))] }

// maybe returns a value, or nil half of the times.
func maybe[T any](h *orderHistory, value T) *T {
	if h.IntN(2) == 0 {
		return nil
	}
	return &value
}

// between returns a duration shorter than d.
func (h *orderHistory) between(d time.Duration) time.Duration {
	return time.Duration(h.Int64N(int64(d)))
}

// write makes so many orders of the last sixty days out of one. Some are of drafts, which have had their ids for long. Some are paid late, and some
// are made on a server whose clock is behind. An account's clock may be ahead of all.
func (h *orderHistory) write(t *testing.T, s *shop, one order.Order, many int, ahead time.Duration) {
	t.Helper()
	now := s.Now()
	for number := range many {
		o := one
		made := now.Add(-h.between(60 * core.Day))
		o.ID = core.IDsBefore(core.KindOrder, made) + fmt.Sprintf("%016d", h.Int64N(1e16))
		o.Number, o.CheckoutID, o.InvoiceID = int64(number+2), ref(core.NewID(core.KindCheckout)), nil
		o.CreatedAt = made.Add(h.between(9*time.Minute) - 4*time.Minute)
		o.BillingReason, o.Status = oneOf(h, order.BillingReasonPurchase, order.BillingReasonPurchase, order.BillingReasonSubscriptionCycle), oneOf(h, order.StatusPaid, order.StatusPaid, order.StatusPending)
		if h.IntN(8) == 0 {
			o.BillingReason, o.CheckoutID = order.BillingReasonManual, nil
			o.CreatedAt = min(now, made.Add(h.between(40*core.Day)))
		}
		if ahead > 0 {
			o.CreatedAt = o.CreatedAt.Add(h.between(ahead))
		}
		o.PaidAt = nil
		if o.Status == order.StatusPaid {
			o.PaidAt = ref(o.CreatedAt.Add(oneOf(h, 0, 0, 0, 30*time.Minute, h.between(20*core.Day))))
		}
		o.NetAmount = oneOf(h, 0, 100, 1900, h.Int64N(5000))
		o.SubtotalAmount, o.DiscountAmount, o.TaxAmount, o.TotalAmount, o.PaidAmount, o.RefundedAmount = o.NetAmount, 0, 0, o.NetAmount, 0, 0
		o.CustomerEmail = maybe(h, oneOf(h, h.emails...))
		o.BillingName = maybe(h, oneOf(h, "Grace Brewster Hopper", "Ada K. Lovelace-Byron", "Émile (Zola)"))
		o.Metadata = core.NewMetadata(map[string]string{"campaign": oneOf(h, "spring", "Spring", strings.Repeat("é", 500)), "desk": oneOf(h, "1", "2", "3")})
		h.orders = append(h.orders, o)
	}
	_, err := db.Tx(t.Context(), s.db, func(ctx context.Context, u *db.Unit) (int, error) {
		for rows := range slices.Chunk(h.orders, 100) {
			if err := db.InsertAll(ctx, u, order.Columns, rows); err != nil {
				return 0, err
			}
		}
		return 0, nil
	})
	require.NoError(t, err)
	h.orders = append(h.orders, one)
	slices.SortFunc(h.orders, func(a, b order.Order) int { return strings.Compare(b.ID, a.ID) })
}

// ask returns some filters.
func (h *orderHistory) ask(now core.Time, ahead time.Duration) order.List {
	var in order.List
	at := func() *core.Time { // of an order, or any
		if o := oneOf(h, h.orders...); h.IntN(2) == 0 {
			return ref(cmp.Or(core.Deref(o.PaidAt), o.CreatedAt) + core.Time(h.IntN(2)))
		}
		return ref(now.Add(h.between(65*core.Day+ahead) - 62*core.Day))
	}
	for range 1 + h.IntN(3) {
		switch h.IntN(12) {
		case 10:
			in.Q = oneOf(h, "GRACE", "gra", "race", "lovelace-byron", "k. ada", "émi", "hopper grace@exam", "example.com", "nobody", "(", "grace@example", "@", "hop gra", "grace.hop", "grace-hop", "hop.grace", h.orders[h.IntN(len(h.orders))].ID)
		case 11:
			in.Metadata = map[string]string{"campaign": oneOf(h, "spring", "Spring", "spr", strings.Repeat("é", 500), strings.Repeat("é", 499)), "desk": oneOf(h, "1", "2", "4")}
			if h.IntN(2) == 0 {
				delete(in.Metadata, "desk")
			}
		case 0:
			in.Status = oneOf(h, order.StatusPaid, order.StatusPending, order.StatusVoid)
		case 1:
			in.BillingReason = oneOf(h, order.BillingReasonPurchase, order.BillingReasonManual, order.BillingReasonSubscriptionUpdate)
		case 2:
			in.CustomerEmail = strings.ToLower(oneOf(h, append(h.emails, "nobody@example.com")...))
		case 3:
			in.CreatedAfter = at()
		case 4:
			in.CreatedBefore = at()
		case 5:
			in.PaidAfter = at()
		case 6:
			in.PaidBefore = at()
		case 7:
			in.TotalMin = ref(h.Int64N(5200))
		case 8:
			in.TotalMax = ref(h.Int64N(5200))
		case 9:
			in.Number = ref(h.Int64N(int64(len(h.orders) + 5)))
		}
	}
	return in
}

// lets reports whether the filters let an order through.
func lets(in order.List, o *order.Order) bool {
	return (in.Status == "" || o.Status == in.Status) && (in.BillingReason == "" || o.BillingReason == in.BillingReason) &&
		(in.CustomerEmail == "" || o.CustomerEmail != nil && strings.ToLower(*o.CustomerEmail) == in.CustomerEmail) &&
		(in.CreatedAfter == nil || o.CreatedAt >= *in.CreatedAfter) && (in.CreatedBefore == nil || o.CreatedAt < *in.CreatedBefore) &&
		(in.PaidAfter == nil || o.PaidAt != nil && *o.PaidAt >= *in.PaidAfter) && (in.PaidBefore == nil || o.PaidAt != nil && *o.PaidAt < *in.PaidBefore) &&
		(in.TotalMin == nil || o.TotalAmount >= *in.TotalMin) && (in.TotalMax == nil || o.TotalAmount <= *in.TotalMax) &&
		(in.Number == nil || o.Number == *in.Number) && finds(in, o) && describes(in, o.Metadata.Map())
}

// finds reports whether each word of q begins a word of the order, or q is its id. What no space separates may also begin an address.
func finds(in order.List, o *order.Order) bool {
	if in.Q == "" || in.Q == o.ID {
		return true
	}
	words := func(part string) []string {
		if strings.Contains(part, "@") {
			return []string{part}
		}
		return slices.DeleteFunc(regexp.MustCompile(`[^a-z0-9\x80-\x{10ffff}]+`).Split(part, -1), func(word string) bool { return word == "" })
	}
	begins := func(beginning string) bool {
		for _, part := range strings.Fields(strings.ToLower(core.Deref(o.CustomerEmail) + " " + core.Deref(o.BillingName))) {
			if slices.ContainsFunc(words(part), func(word string) bool { return strings.HasPrefix(word, beginning) }) {
				return true
			}
		}
		return false
	}
	asked := 0
	for _, part := range strings.Fields(strings.ToLower(in.Q)) {
		missing := slices.DeleteFunc(words(part), begins)
		asked += len(words(part))
		if len(missing) > 0 && !begins(strings.Trim(part, ".-+_")) {
			return false
		}
	}
	return asked > 0
}

// describes reports whether metadata has all that is asked for.
func describes(in order.List, metadata map[string]string) bool {
	for key, value := range in.Metadata {
		if metadata[key] != value {
			return false
		}
	}
	return true
}

// scan returns the ids of the page that follows position, and whether there are more, by looking at every order.
func (h *orderHistory) scan(in order.List) (ids []string, more bool) {
	for i := range h.orders {
		if lets(in, &h.orders[i]) {
			ids = append(ids, h.orders[i].ID)
		}
	}
	if in.OldestFirst {
		slices.Reverse(ids)
	}
	precedes := func(a, b string) bool { return a != b && (a < b) == in.OldestFirst }
	if in.EndingBefore != "" {
		ids = slices.DeleteFunc(ids, func(id string) bool { return !precedes(id, in.EndingBefore) })
		return ids[max(0, len(ids)-in.Limit):], len(ids) > in.Limit
	}
	if in.StartingAfter != "" {
		ids = slices.DeleteFunc(ids, func(id string) bool { return !precedes(in.StartingAfter, id) })
	}
	return ids[:min(len(ids), in.Limit)], len(ids) > in.Limit
}

// A list is what a plain scan of all orders finds, however few rows it may examine: or else it is refused.
func TestListOrders_IsAPlainScanOrRefused(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		for _, ahead := range []time.Duration{0, 300 * core.Day} {
			h := newOrderHistory(t)
			account, err := s.Tenant.CreateAccount(t.Context(), tenant.NewAccount{Name: "Grace's Shop", Email: "grace@example.com"})
			require.NoError(t, err)
			s.account = account.ID
			bought := s.confirm(t, s.checkout(t, s.onSale(t, fixedPrice(1900))))
			one, err := s.Order.Get(t.Context(), s.account, *bought.Checkout.OrderID)
			require.NoError(t, err)
			_, err = s.db.Write.DB.ExecContext(t.Context(), s.db.Rebind(`UPDATE accounts SET clock_offset = ? WHERE id = ?`), core.Time(ahead.Microseconds()), s.account)
			require.NoError(t, err)
			h.write(t, s, *one, 300, ahead)

			refused, exhausted, found := 0, 0, 0
			for range 800 {
				in := h.ask(s.Now(), ahead)
				in.Limit, in.OldestFirst = 1+h.IntN(9), h.IntN(2) == 0
				switch position := h.orders[h.IntN(len(h.orders))].ID; h.IntN(3) {
				case 0:
					in.StartingAfter = position
				case 1:
					in.EndingBefore = position
				}
				s.db.Options.MostExamined = oneOf(h, 10, 40, 150, 1000)
				want, wantMore := h.scan(in)
				got, more, err := s.Order.List(t.Context(), s.account, in)
				if newestFirst := in.OldestFirst == (in.EndingBefore != ""); db.IsBound(err) && newestFirst {
					in.Exhaustive = true // as a file is: it is refused nothing
					got, more, err = s.Order.List(t.Context(), s.account, in)
					exhausted++
				}
				if e := new(core.Error); errors.As(err, &e) && s.db.Options.MostExamined < 1000 {
					require.Equal(t, core.CodeBadRequest, e.Code)
					require.Equal(t, "created_after", e.Param)
					refused++
					continue
				}
				require.NoError(t, err)
				ids := make([]string, len(got))
				for i := range got {
					ids[i] = got[i].ID
				}
				found += len(want)
				require.Equal(t, fmt.Sprint(want), fmt.Sprint(ids), "%+v of %d", in, s.db.Options.MostExamined)
				require.Equal(t, wantMore, more, "%+v", in)
			}
			require.Less(t, refused, 300)
			require.NotZero(t, refused)
			require.NotZero(t, exhausted)
			require.Greater(t, found, 500)
		}
	})
}
