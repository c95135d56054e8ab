package fault

import (
	"fmt"
	"net/http"
	"slices"
	"sync"
	"testing"

	"github.com/tillwright/tillwright/tests/harness"
	"github.com/tillwright/tillwright/tests/harness/database"
)

// TestKill_BillsEveryPeriodOnce kills the server again and again. Meanwhile the clocks of twelve accounts bring about renewals and attempts to
// collect what was declined, and their subscribers change plans.
func TestKill_BillsEveryPeriodOnce(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		m := newMembership(t, harness.Build(t), url)
		m.run(count(5, 60), m.member)
		m.settle()
		report(t, m.campaign, slices.Concat(m.differingReplays(), readBooks(t, url).faults(m.told), m.brokenInvariants(t)))
	})
}

// TestKill_CatchesAChargeThatIsForgotten runs the same against a program that is wrong on purpose. That notes what it asked the provider for after
// the charge, and asks for another one when it does not know.
func TestKill_CatchesAChargeThatIsForgotten(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		m := newMembership(t, wrong(t, "charge"), url)
		m.methods = m.methods[:1] // another card may decline the charge that is one too many
		for m.kills < count(40, 100) {
			m.run(1, m.member)
			m.awaitOutcomes()
			if faults := readBooks(t, url).unknownCharges(); len(faults) > 0 {
				t.Logf("after %d kills: %s", m.kills, faults[0])
				return
			}
		}
		t.Errorf("%d kills have not shown the fault that is there", m.kills)
	})
}

// membership is a campaign whose clients sell memberships and let time pass. Each account has one client at a time, because
// its clock is its own.
type membership struct {
	*campaign
	accounts []*harness.Client
	free     chan *harness.Client
	methods  []string                      // by turns
	plans    map[*harness.Client][2]string // what a month costs 9 and 29 dollars of
	mu       sync.Mutex
	told     map[string]member // by subscription
}

// member is what somebody was told of their subscription.
type member struct {
	method  string
	changed bool
}

func newMembership(t *testing.T, binary *harness.Binary, url string) *membership {
	t.Helper()
	m := &membership{campaign: newCampaign(t, binary, url), plans: map[*harness.Client][2]string{}, told: map[string]member{}}
	m.methods = []string{"pm_card_visa", "tok_fail_on_renewal", "pm_card_visa", "tok_recover_on_3rd"}
	m.accounts = harness.Accounts(t, url, workers)
	m.free = make(chan *harness.Client, len(m.accounts))
	for _, account := range m.accounts {
		client := account.At(m.server.Load().URL)
		m.plans[account] = [2]string{monthly(t, client, 900), monthly(t, client, 2900)}
		m.free <- account
	}
	return m
}

// monthly makes a price of so much a month.
func monthly(t *testing.T, c *harness.Client, amount int) string {
	t.Helper()
	price := map[string]any{"type": "recurring", "interval": "month", "interval_count": 1, "amount": amount, "currency": "usd"}
	product := c.Must(t, http.MethodPost, "/v1/products", map[string]any{"name": "Membership", "status": "active", "price_variants": []any{price}})
	return product["price_variants"].([]any)[0].(string)
}

// member sells a membership, and lets two months pass: over its end, and over every attempt to charge a card that declines.
func (m *membership) member(n int64) {
	account := <-m.free
	defer func() { m.free <- account }()
	ask := func(what, path string, body map[string]any) map[string]any {
		return m.insist(request{as: account, key: fmt.Sprint(what, " ", n), path: path, body: body}, map[bool]int{true: http.StatusCreated, false: http.StatusOK}[what == "checkout"])
	}
	checkout := ask("checkout", "/v1/checkouts", map[string]any{
		"customer_email": fmt.Sprintf("member-%d@example.com", n), "line_items": []any{map[string]any{"price_variant": m.plans[account][0]}},
	})
	if checkout == nil {
		return
	}
	who := member{m.methods[int(n)%len(m.methods)], n%4 == 0}
	paid := ask("confirm", "/v1/checkouts/"+checkout["id"].(string)+"/confirm", map[string]any{"payment_method": who.method})
	if paid == nil {
		return
	}
	sub := "/v1/subscriptions/" + paid["subscription"].(string)
	m.mu.Lock()
	m.told[paid["subscription"].(string)] = who
	m.mu.Unlock()
	if who.changed {
		ask("change", sub+"/change", map[string]any{"price_variant": m.plans[account][1], "proration_behavior": "invoice_immediately"})
	}
	for i, days := range []int{31, 3, 6, 8, 8} {
		m.pass(account, fmt.Sprint(n, " ", i), days)
	}
	if who.method == "pm_card_visa" {
		ask("cancel", sub+"/cancel", map[string]any{"at_period_end": true})
	}
}

// pass moves an account's clock by so many days, and is back when all that is due by then is done.
func (m *membership) pass(account *harness.Client, key string, days int) {
	body := map[string]any{"advance_seconds": days * 24 * 3600}
	for i := 0; ; i++ {
		clock := m.insist(request{as: account, key: fmt.Sprint("clock ", key, " ", i), path: "/v1/test_helpers/clock", body: body}, http.StatusOK)
		if clock == nil || clock["done"] == true {
			return
		}
		body = map[string]any{"now": clock["target"]}
	}
}

// settle lets every account's clock go on until what was left to be found out, and the attempts after it, are over.
func (m *membership) settle() {
	m.t.Helper()
	for i := range 5 {
		m.awaitOutcomes()
		for _, account := range m.accounts {
			m.pass(account, fmt.Sprint("settled ", i, account.Account), 8)
		}
	}
	m.awaitOutcomes()
}

// awaitOutcomes waits until the reconciler knows what has become of every charge.
func (m *membership) awaitOutcomes() {
	m.t.Helper()
	db := harness.OpenDatabase(m.t, m.url)
	defer db.Close()
	await(m.t, "every payment has an outcome", func() bool {
		return len(db.Strings(m.t, `SELECT id FROM payments WHERE status IN ('pending', 'requires_action')`)) == 0
	})
}
