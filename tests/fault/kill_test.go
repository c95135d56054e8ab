package fault

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/tests/harness"
	"github.com/tillwright/tillwright/tests/harness/database"
	"github.com/tillwright/tillwright/tests/harness/postgres"
)

// TestKill_DoublesNothingAndLosesNothing kills the server again and again under clients that repeat each request until it is
// answered. Afterwards every answer must be replayed byte for byte, and stand in the database exactly once.
func TestKill_DoublesNothingAndLosesNothing(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		c := newCampaign(t, harness.Build(t), url)
		c.most = count(8, 24) * workers
		c.run(count(5, 100), c.createProduct)
		report(t, c, append(c.differingReplays(), c.productFaults()...))
	})
}

// TestKill_ChargesEveryBuyerOnce is the same with purchases, whose confirmation goes out to the payment provider: the server
// may die before, during and after the charge. One buyer in five has a declined card first, which is an answer to keep, and one
// in two has a discount, which counts once.
func TestKill_ChargesEveryBuyerOnce(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		c := newCampaign(t, harness.Build(t), url)
		c.offer()
		c.run(count(5, 100), c.purchase)
		report(t, c, append(c.differingReplays(), c.purchaseFaults()...))
	})
}

// TestKill_ThroughPgBouncer is the same through a PgBouncer that gives each transaction whichever connection is free.
func TestKill_ThroughPgBouncer(t *testing.T) {
	t.Parallel()
	url := database.URL(t, "postgres")
	pooler, err := postgres.StartPooler(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pooler.Stop)
	b := harness.Build(t)
	b.Env = []string{"TILLWRIGHT_DATABASE_URL=" + pooler.URL, "TILLWRIGHT_DATABASE_POOLER=transaction"}
	c := newCampaign(t, b, url)
	c.offer()
	c.run(count(4, 50), c.purchase)
	report(t, c, append(c.differingReplays(), c.purchaseFaults()...))
}

// TestKill_CatchesAnAnswerStoredTooLate runs the first campaign against a program that is wrong on purpose. That commits
// the change first and stores the answer in a second transaction. A test that does not see that proves nothing.
func TestKill_CatchesAnAnswerStoredTooLate(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		c := newCampaign(t, wrong(t, "answer"), url)
		for c.kills < count(120, 400) {
			c.run(1, c.createProduct)
			if faults := c.productFaults(); len(faults) > 0 {
				t.Logf("after %d kills: %s", c.kills, faults[0])
				return
			}
		}
		t.Errorf("%d kills have not shown the fault that is there", c.kills)
	})
}

func report(t *testing.T, c *campaign, faults []string) {
	t.Helper()
	for _, fault := range faults {
		t.Error(fault)
	}
	t.Logf("%d answers through %d kills, %d requests repeated: %d faults", len(c.answers), c.kills, c.repeated.Load(), len(faults))
	require.GreaterOrEqual(t, len(c.answers), answersOfAKill*c.kills)
	assert.GreaterOrEqual(t, int(c.repeated.Load()), c.kills)
}

func (c *campaign) createProduct(n int64) {
	name := fmt.Sprintf("product %d", n)
	c.insist(request{key: name, path: "/v1/products", body: map[string]any{"name": name}}, http.StatusCreated)
}

// productFaults compares the products and their events with what the clients were told.
func (c *campaign) productFaults() (faults []string) {
	c.t.Helper()
	db := harness.OpenDatabase(c.t, c.url)
	defer db.Close()
	found := map[string]int{}
	for _, name := range db.Strings(c.t, `SELECT name FROM products`) {
		found[name]++
		if _, told := c.answers[name]; !told {
			faults = append(faults, name+" exists, but nobody was told")
		}
	}
	for name := range c.answers {
		if found[name] != 1 {
			faults = append(faults, fmt.Sprintf("%s was answered once and exists %d times", name, found[name]))
		}
	}
	if events, products := db.Count(c.t, "events"), db.Count(c.t, "products"); events != products {
		faults = append(faults, fmt.Sprintf("%d products have %d events", products, events))
	}
	return faults
}

// offer puts the product on sale that the campaign's buyers buy.
func (c *campaign) offer() {
	c.t.Helper()
	p := c.client(c.server.Load(), 0).Must(c.t, http.MethodPost, "/v1/products", map[string]any{
		"name": "Guide", "status": "active", "price_variants": []any{map[string]any{"amount": 1900, "currency": "usd"}},
		"deliverables": []any{map[string]any{"type": "license_key"}},
	})
	c.price = p["price_variants"].([]any)[0].(string)
	c.client(c.server.Load(), 0).Must(c.t, http.MethodPost, "/v1/discounts", map[string]any{"code": "SPRING", "type": "percent", "percent_bps": 1000})
}

func (c *campaign) purchase(n int64) {
	body := map[string]any{"customer_email": fmt.Sprintf("buyer-%d@example.com", n), "line_items": []any{map[string]any{"price_variant": c.price}}}
	if n%2 == 0 {
		body["discount_code"] = "SPRING"
	}
	checkout := c.insist(request{key: fmt.Sprint("checkout ", n), path: "/v1/checkouts", body: body}, http.StatusCreated)
	if checkout == nil {
		return
	}
	confirm := "/v1/checkouts/" + checkout["id"].(string) + "/confirm"
	if n%5 == 0 {
		declined := map[string]any{"type": "card", "card": map[string]any{"number": "4000000000000002", "exp_month": 12, "exp_year": 2090, "cvc": "123"}}
		c.insist(request{key: fmt.Sprint("decline ", n), path: confirm, body: map[string]any{"payment_method": declined}}, http.StatusUnprocessableEntity)
	}
	c.insist(request{key: fmt.Sprint("confirm ", n), path: confirm, body: map[string]any{"payment_method": "pm_card_visa"}}, http.StatusOK)
}

// purchaseFaults holds the orders, the charges at the provider and the events against the answers.
func (c *campaign) purchaseFaults() (faults []string) {
	c.t.Helper()
	db := harness.OpenDatabase(c.t, c.url)
	defer db.Close()
	told, declined := 0, 0
	for _, a := range c.answers {
		switch {
		case a.status == http.StatusOK:
			told++
		case a.status == http.StatusUnprocessableEntity:
			declined++
		}
	}
	for what, query := range map[string]string{
		"orders":                  `SELECT id FROM orders`,
		"paid orders":             `SELECT id FROM orders WHERE status = 'paid'`,
		"checkouts with orders":   `SELECT DISTINCT checkout_id FROM orders`,
		"successful payments":     `SELECT id FROM payments WHERE status = 'succeeded'`,
		"charges at the provider": `SELECT id FROM test_charges WHERE status = 'succeeded'`,
		"order.created events":    `SELECT id FROM events WHERE type = 'order.created'`,
		"order.paid events":       `SELECT id FROM events WHERE type = 'order.paid'`,
		"active grants":           `SELECT id FROM grants WHERE status = 'active'`,
		"licence keys":            `SELECT DISTINCT grant_id FROM license_keys WHERE status = 'granted'`,
	} {
		if n := len(db.Strings(c.t, query)); n != told {
			faults = append(faults, fmt.Sprintf("%d buyers were told that they had paid, but there are %d %s", told, n, what))
		}
	}
	reduced, redeemed := len(db.Strings(c.t, `SELECT id FROM orders WHERE discount_amount > 0`)), len(db.Strings(c.t, `SELECT id FROM discount_redemptions WHERE order_id IS NOT NULL`))
	if counted := db.Strings(c.t, `SELECT CAST(redemptions_count AS TEXT) FROM discounts`); reduced == 0 || redeemed != reduced || counted[0] != fmt.Sprint(reduced) {
		faults = append(faults, fmt.Sprintf("%d orders are reduced, %d redemptions are theirs, and %s are counted", reduced, redeemed, counted[0]))
	}
	if n := len(db.Strings(c.t, `SELECT id FROM payments WHERE status = 'failed'`)); n != declined {
		faults = append(faults, fmt.Sprintf("%d buyers were declined, but %d payments have failed", declined, n))
	}
	return append(faults, c.brokenInvariants(c.t)...)
}
