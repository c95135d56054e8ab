package fault

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/tillwright/tillwright/tests/harness"
)

// books are what the database says of subscriptions, and the provider of charges.
type books struct {
	subscriptions map[string]*billedSubscription
	charges       map[string]bool // at the provider, and whether a payment knows of it
}

type billedSubscription struct {
	id, status string
	cycles     int
	start, end int64 // when it began, and when its current period ends
	orders     []billedOrder
}

type billedOrder struct {
	id, reason, status string
	start, end         int64 // of the period
	paid               int64
	pastDue            bool
	charged            []int64 // amounts that the provider has taken
	declined           int
	events             []string
}

// unknownCharges are those that were made and that no payment knows of.
func (b *books) unknownCharges() (faults []string) {
	for id, known := range b.charges {
		if !known {
			faults = append(faults, "no payment knows of the charge "+id)
		}
	}
	return faults
}

// faults holds the books against what members were told.
func (b *books) faults(told map[string]member) []string {
	all := append(b.unknownCharges(), b.otherMembers(told)...)
	for id, who := range told {
		if sub := b.subscriptions[id]; sub != nil {
			all = append(all, sub.faults(who)...)
		}
	}
	return all
}

// otherMembers are subscriptions that are missing, and those that nobody was told of.
func (b *books) otherMembers(told map[string]member) (faults []string) {
	for id := range told {
		if b.subscriptions[id] == nil {
			faults = append(faults, "somebody was told of "+id+", which is not there")
		}
	}
	for id := range b.subscriptions {
		if _, known := told[id]; !known {
			faults = append(faults, "nobody was told of "+id)
		}
	}
	return faults
}

// faults says what is wrong with a subscription whose charges have all come to an end.
func (s *billedSubscription) faults(who member) (faults []string) {
	wrong := func(format string, args ...any) {
		faults = append(faults, fmt.Sprintf("subscription %s with %s: ", s.id, who.method)+fmt.Sprintf(format, args...))
	}
	next, periods, changes := s.start, 0, 0
	for _, o := range s.orders {
		for _, fault := range o.faults() {
			wrong("order %s, %s, is one of %d: %s", o.id, o.reason, len(s.orders), fault)
		}
		if o.reason == "subscription_update" {
			changes++
			continue
		}
		periods++
		if o.start != next {
			wrong("its %d. period is billed from %d, the one before it ends at %d", periods, o.start, next)
		}
		next = o.end
	}
	if next != s.end || periods != s.cycles {
		wrong("%d periods are billed until %d, %d are counted until %d", periods, next, s.cycles, s.end)
	}
	if wanted := map[bool]int{true: 1}[who.changed]; changes != wanted {
		wrong("%d changes are billed, %d were asked for", changes, wanted)
	}
	if periods < 2 {
		wrong("it was never renewed")
	}
	if gone := who.method == "tok_fail_on_renewal"; gone != (s.orders[len(s.orders)-1].status == "void") || gone && s.status != "canceled" {
		wrong("it is %s, and its last order is %s", s.status, s.orders[len(s.orders)-1].status)
	}
	return faults
}

// faults says what is wrong with an order, whose money has come or never will.
func (o billedOrder) faults() (faults []string) {
	wrong := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	events := []string{"order.created", "invoice.created"}
	if o.pastDue {
		events = append(events, "invoice.past_due")
	}
	switch o.status {
	case "paid":
		events = append(events, "order.paid", "invoice.paid")
		if !slices.Equal(o.charged, []int64{o.paid}) {
			wrong("%d is paid, and the charges are %v", o.paid, o.charged)
		}
	case "void":
		events = append(events, "invoice.voided")
		if len(o.charged) > 0 || o.declined != 5 {
			wrong("it is void after %d declines, and the charges are %v", o.declined, o.charged)
		}
	default:
		wrong("it is %s", o.status)
	}
	if !slices.Equal(o.events, events) {
		wrong("the events are %s, %s are expected", strings.Join(o.events, " "), strings.Join(events, " "))
	}
	return faults
}

func readBooks(t *testing.T, url string) *books {
	t.Helper()
	db := harness.OpenDatabase(t, url)
	defer db.Close()
	b := &books{subscriptions: map[string]*billedSubscription{}, charges: map[string]bool{}}
	eachRow(t, db, `SELECT id, status, cycles_billed, started_at, current_period_end FROM subscriptions`, func(scan func(...any) error) error {
		s := &billedSubscription{}
		defer func() { b.subscriptions[s.id] = s }()
		return scan(&s.id, &s.status, &s.cycles, &s.start, &s.end)
	})
	events := map[string][]string{}
	eachRow(t, db, `SELECT ordering_key, type FROM events ORDER BY ordering_key, key_seq`, func(scan func(...any) error) error {
		var key, kind string
		defer func() { events[key] = append(events[key], kind) }()
		return scan(&key, &kind)
	})
	charged, declined := map[string][]int64{}, map[string]int{}
	eachRow(t, db, `
		SELECT c.id, c.status, c.amount, p.id IS NOT NULL, COALESCE(p.order_id, '')
		FROM test_charges AS c LEFT JOIN payments AS p ON p.account_id = c.account_id AND p.provider_ref = c.id`, func(scan func(...any) error) error {
		var id, status, order string
		var amount int64
		var known bool
		err := scan(&id, &status, &amount, &known, &order)
		b.charges[id] = known
		if status == "succeeded" {
			charged[order] = append(charged[order], amount)
		} else {
			declined[order]++
		}
		return err
	})
	eachRow(t, db, `
		SELECT o.subscription_id, o.id, o.billing_reason, o.status, o.period_start, o.period_end, o.paid_amount, i.past_due_at IS NOT NULL
		FROM orders AS o JOIN invoices AS i ON i.account_id = o.account_id AND i.id = o.invoice_id
		WHERE o.subscription_id IS NOT NULL ORDER BY o.account_id, o.number`, func(scan func(...any) error) error {
		var sub string
		var o billedOrder
		err := scan(&sub, &o.id, &o.reason, &o.status, &o.start, &o.end, &o.paid, &o.pastDue)
		o.charged, o.declined, o.events = charged[o.id], declined[o.id], events[o.id]
		b.subscriptions[sub].orders = append(b.subscriptions[sub].orders, o)
		return err
	})
	return b
}

// eachRow calls read for every row of a query.
func eachRow(t *testing.T, db *harness.Database, query string, read func(scan func(...any) error) error) {
	t.Helper()
	rows, err := db.Query(query)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		if err := read(rows.Scan); err != nil {
			t.Fatal(err)
		}
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
}

// TestBooks_ShowEveryFault gives the comparison books that are wrong, each in one way.
func TestBooks_ShowEveryFault(t *testing.T) {
	t.Parallel()
	told := map[string]member{
		"sub_paid": {"pm_card_visa", true}, "sub_gone": {"tok_fail_on_renewal", false},
	}
	paid := []string{"order.created", "invoice.created", "order.paid", "invoice.paid"}
	right := func() *books {
		order := func(id, reason string, start, end int64) billedOrder {
			return billedOrder{id: id, reason: reason, status: "paid", start: start, end: end, paid: 900, charged: []int64{900}, events: paid}
		}
		void := order("order_5", "subscription_cycle", 1, 2)
		void.status, void.paid, void.charged, void.declined, void.pastDue = "void", 0, nil, 5, true
		void.events = []string{"order.created", "invoice.created", "invoice.past_due", "invoice.voided"}
		return &books{map[string]*billedSubscription{
			"sub_paid": {"sub_paid", "active", 2, 0, 2, []billedOrder{
				order("order_1", "subscription_create", 0, 1), order("order_2", "subscription_update", 0, 1), order("order_3", "subscription_cycle", 1, 2),
			}},
			"sub_gone": {"sub_gone", "canceled", 2, 0, 2, []billedOrder{order("order_4", "subscription_create", 0, 1), void}},
		}, map[string]bool{"tch_1": true}}
	}
	if all := right().faults(told); len(all) > 0 {
		t.Errorf("books without a fault: %s", all)
	}
	for name, spoil := range map[string]func(paid, gone *billedSubscription, b *books){
		"a charge of nobody's":          func(_, _ *billedSubscription, b *books) { b.charges["tch_2"] = false },
		"a lost subscription":           func(_, _ *billedSubscription, b *books) { delete(b.subscriptions, "sub_paid") },
		"an invented subscription":      func(s, _ *billedSubscription, b *books) { b.subscriptions["sub_other"] = s },
		"a period that is left out":     func(s, _ *billedSubscription, _ *books) { s.orders[2].start, s.orders[2].end, s.end = 2, 3, 3 },
		"a period that is billed twice": func(s, _ *billedSubscription, _ *books) { s.orders = append(s.orders, s.orders[2]) },
		"a period that is not counted":  func(s, _ *billedSubscription, _ *books) { s.cycles = 1 },
		"a change that is billed twice": func(s, _ *billedSubscription, _ *books) { s.orders = slices.Insert(s.orders, 1, s.orders[1]) },
		"a change that is not billed":   func(s, _ *billedSubscription, _ *books) { s.orders = slices.Delete(s.orders, 1, 2) },
		"no renewal":                    func(s, _ *billedSubscription, _ *books) { s.orders, s.cycles, s.end = s.orders[:2], 1, 1 },
		"an order that is left open":    func(s, _ *billedSubscription, _ *books) { s.orders[2].status = "pending" },
		"a charge that is made twice":   func(s, _ *billedSubscription, _ *books) { s.orders[2].charged = []int64{900, 900} },
		"another amount":                func(s, _ *billedSubscription, _ *books) { s.orders[2].charged = []int64{901} },
		"an event that is told twice": func(s, _ *billedSubscription, _ *books) {
			s.orders[2].events = append(slices.Clone(paid), "invoice.paid")
		},
		"another order of events": func(s, _ *billedSubscription, _ *books) {
			s.orders[2].events = []string{"order.created", "invoice.created", "invoice.paid", "order.paid"}
		},
		"an attempt too many":       func(_, s *billedSubscription, _ *books) { s.orders[1].declined = 6 },
		"a void order that is paid": func(_, s *billedSubscription, _ *books) { s.orders[1].charged = []int64{900} },
		"one who goes on for free":  func(_, s *billedSubscription, _ *books) { s.status = "active" },
	} {
		b := right()
		spoil(b.subscriptions["sub_paid"], b.subscriptions["sub_gone"], b)
		if len(b.faults(told)) == 0 {
			t.Errorf("%s was not seen", name)
		}
	}
}
