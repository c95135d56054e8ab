package fault

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/tillwright/tillwright/tests/harness"
	"github.com/tillwright/tillwright/tests/harness/database"
)

// TestKill_RefundsEveryOrderOnce kills the server under sellers who give all of every order back in two parts. It may die
// before, during and after the provider gives the money back.
func TestKill_RefundsEveryOrderOnce(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		c := newCampaign(t, harness.Build(t), url)
		c.offer()
		c.run(count(5, 60), c.takeBack)
		report(t, c, append(c.differingReplays(), c.refundFaults()...))
	})
}

// takeBack sells a guide and refunds a part of it, then the rest.
func (c *campaign) takeBack(n int64) {
	checkout := c.insist(request{key: fmt.Sprint("checkout ", n), path: "/v1/checkouts", body: map[string]any{
		"customer_email": fmt.Sprintf("buyer-%d@example.com", n), "line_items": []any{map[string]any{"price_variant": c.price}},
	}}, http.StatusCreated)
	if checkout == nil {
		return
	}
	paid := c.insist(request{
		key: fmt.Sprint("confirm ", n), path: "/v1/checkouts/" + checkout["id"].(string) + "/confirm", body: map[string]any{"payment_method": "pm_card_visa"},
	}, http.StatusOK)
	if paid == nil {
		return
	}
	c.insist(request{key: fmt.Sprint("refund ", n), path: "/v1/refunds", body: map[string]any{"order": paid["order"], "amount": 500}}, http.StatusCreated)
	c.insist(request{key: fmt.Sprint("rest ", n), path: "/v1/refunds", body: map[string]any{"order": paid["order"]}}, http.StatusCreated)
}

// refundFaults holds the refunds, those at the provider and the events against what the sellers were told.
func (c *campaign) refundFaults() (faults []string) {
	c.t.Helper()
	db := harness.OpenDatabase(c.t, c.url)
	defer db.Close()
	told := 0
	for _, a := range c.answers {
		if a.path == "/v1/refunds" {
			told++
		}
	}
	if told == 0 {
		faults = append(faults, "nothing was refunded")
	}
	for what, query := range map[string]string{
		"refunds":                 `SELECT id FROM refunds WHERE status = 'succeeded'`,
		"refunds that have begun": `SELECT id FROM refunds`,
		"refunds at the provider": `SELECT id FROM test_refunds WHERE status = 'succeeded'`,
		"refund.created events":   `SELECT id FROM events WHERE type = 'refund.created'`,
		"refund.updated events":   `SELECT id FROM events WHERE type = 'refund.updated'`,
	} {
		if n := len(db.Strings(c.t, query)); n != told {
			faults = append(faults, fmt.Sprintf("sellers were told of %d refunds, but there are %d %s", told, n, what))
		}
	}
	if left := db.Strings(c.t, `SELECT id FROM orders WHERE status <> 'refunded'`); len(left) > 0 {
		faults = append(faults, fmt.Sprintf("%d orders are not refunded", len(left)))
	}
	for what, query := range map[string]string{
		"grants": `SELECT id FROM grants WHERE status <> 'revoked'`, "licence keys": `SELECT id FROM license_keys WHERE status <> 'revoked'`,
	} {
		if left := db.Strings(c.t, query); len(left) > 0 {
			faults = append(faults, fmt.Sprintf("all is refunded, but %d %s are left", len(left), what))
		}
	}
	return append(faults, c.brokenInvariants(c.t)...)
}
