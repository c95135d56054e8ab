package billing_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/tillwright/tillwright/server/payments"
	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/store/grant"
)

// boxed is the name of the product that is sold with imported keys.
const boxed = "Box"

// shelve gives the shop something to sell with licence keys, and something that gives nothing. The keys are made here or imported, and given by
// the product or by some of its prices alone.
func (p *player) shelve() error {
	licensed := func(v catalog.PriceVariant, devices int64) catalog.PriceVariant {
		v.License.V = &catalog.License{Enabled: true, ActivationLimit: &devices}
		return v
	}
	key := catalog.Deliverable{Type: catalog.DeliverableTypeLicenseKey, Name: new("Your key")}
	imported := key
	imported.Ref = new("imported")
	for _, product := range []catalog.NewProduct{
		{Product: catalog.Product{Name: "Program", Deliverables: []catalog.Deliverable{key}}, PriceVariants: []catalog.PriceVariant{
			licensed(recurring(1500, "month"), 2), {Amount: 2500},
		}},
		{Product: catalog.Product{Name: boxed, Deliverables: []catalog.Deliverable{imported}}, PriceVariants: []catalog.PriceVariant{
			recurring(1200, "month"), {Amount: 900},
		}},
		{Product: catalog.Product{Name: "Suite"}, PriceVariants: []catalog.PriceVariant{licensed(recurring(2000, "month"), 1), recurring(1000, "month")}},
		{Product: catalog.Product{Name: "Thanks", Type: catalog.ProductTypeTip}, PriceVariants: []catalog.PriceVariant{recurring(500, "month")}},
	} {
		product.Status = catalog.ProductStatusActive
		made, err := p.Catalog.CreateProduct(everywhere, p.account, product)
		if err != nil {
			return err
		}
		if product.Name == boxed {
			p.boxed = made.ID
		}
	}
	_, err := p.ImportLicenseKeys(everywhere, p.account, p.boxed, []grant.ImportedLicense{{Key: "BOX-A"}, {Key: "BOX-B"}})
	return err
}

// importKeys brings keys to be sold, and sometimes one that somebody has bought elsewhere, or that is there already.
func (p *player) importKeys() error {
	keys := make([]grant.ImportedLicense, 1+p.roll(2))
	for i := range keys {
		keys[i].Key = fmt.Sprintf("BOX-%d", p.roll(1000))
		if p.odds(5) {
			keys[i].CustomerEmail = p.email()
		}
	}
	_, err := p.ImportLicenseKeys(everywhere, p.account, p.boxed, keys)
	return p.answered("import licence keys", err)
}

func (p *player) licenseKey() (*grant.LicenseKey, error) {
	all, more, err := p.ListLicenseKeys(everywhere, p.account, grant.ListLicenseKeys{Page: latest})
	return some(p, all, more, err)
}

// useKey is what a buyer's program does.
func (p *player) useKey() error {
	k, err := p.licenseKey()
	if err == nil {
		k, err = p.Grant.GetLicenseKey(everywhere, p.account, k.ID)
	}
	if err != nil {
		return err
	}
	use := grant.LicenseUse{Key: *k.Key, Product: k.ProductID, Fingerprint: fmt.Sprint("device", p.roll(4))}
	switch p.roll(5) {
	case 0:
		_, err = p.DeactivateLicense(everywhere, p.account, use)
	case 1:
		_, err = p.ValidateLicense(everywhere, p.account, use)
	default:
		_, err = p.ActivateLicense(everywhere, p.account, use)
	}
	return p.answered("use "+k.ID, err)
}

// manageKey is what the seller does with a key.
func (p *player) manageKey() error {
	k, err := p.licenseKey()
	if err != nil {
		return err
	}
	limit, keep := maybe(p, 2, func() int64 { return int64(1 + p.roll(3)) }), p.odds(2)
	switch p.roll(6) {
	case 0:
		_, err = p.Grant.DisableLicenseKey(everywhere, p.account, k.ID)
	case 1, 2:
		_, err = p.Grant.EnableLicenseKey(everywhere, p.account, k.ID)
	case 3:
		_, err = p.Grant.RotateLicenseKey(everywhere, p.account, k.ID, keep)
	case 4:
		_, err = p.Grant.RevokeLicenseKey(everywhere, p.account, k.ID)
	default:
		_, err = p.Grant.UpdateLicenseKey(everywhere, p.account, k.ID, func(k *grant.LicenseKey) { k.ActivationLimit = limit })
	}
	return p.answered("manage "+k.ID, err)
}

// bounce has a refund that had succeeded sent back by the buyer's bank.
func (p *player) bounce() error {
	all, more, err := p.ListRefunds(everywhere, p.account, store.ListRefunds{Page: latest, Status: store.RefundStatusSucceeded})
	r, err := some(p, all, more, err)
	if err != nil {
		return err
	}
	if r.ProviderRef == nil { // it went to the balance
		return errIdle
	}
	failed := payments.Refund{Ref: *r.ProviderRef, Status: payments.RefundFailed}
	if _, err := p.rows.Exec(p.rows.Rebind(`UPDATE test_refunds SET status = 'failed' WHERE account_id = ? AND id = ?`), p.account, failed.Ref); err != nil {
		return err
	}
	p.bank.turned(failed)
	_, err = request(p, func(ctx context.Context) (*store.Refund, error) {
		return p.SettleRefund(ctx, r, store.RefundResult{Status: store.RefundStatusFailed, FailureReason: "account_closed"}, time.Second)
	})
	return p.answered(r.ID+" bounces", err)
}

// licensed makes sure that whoever bought a licence has one key, or waits for one, and that no key that was theirs is another one's.
func (h *history) licensed(s *shop) error {
	const asks = `(EXISTS (SELECT 1 FROM price_variants v WHERE v.account_id = g.account_id AND v.id = g.price_variant_id AND v.license LIKE '%"enabled":true%')
		OR EXISTS (SELECT 1 FROM product_deliverables d WHERE d.account_id = g.account_id AND d.product_id = g.product_id AND d.type = 'license_key' AND d.removed IS NULL))`
	const has = `EXISTS (SELECT 1 FROM license_keys k WHERE k.account_id = g.account_id AND k.grant_id = g.id AND k.ended_by `
	var wrong []string
	err := h.rows.Select(&wrong, h.rows.Rebind(`SELECT g.id FROM grants g WHERE g.account_id = ? AND g.status <> 'revoked' AND CASE WHEN `+asks+`
		THEN g.keyless OR NOT `+has+`IS NULL) AND NOT `+has+`= 'hand') AND NOT EXISTS (SELECT 1 FROM license_waits w WHERE w.account_id = g.account_id AND w.id = g.id)
		ELSE `+has+`IS NULL) END`), s.account)
	if err == nil && len(wrong) > 0 {
		err = fmt.Errorf("%q have no licence key and wait for none, or have one that they did not buy", wrong)
	}
	if err != nil {
		return err
	}
	var keys []struct {
		ID       string
		Customer string `db:"customer_id"`
	}
	err = h.rows.Select(&keys, h.rows.Rebind(`SELECT id, COALESCE(customer_id, '') AS customer_id FROM license_keys WHERE account_id = ?`), s.account)
	if err != nil {
		return err
	}
	for _, k := range keys {
		if was := s.owners[k.ID]; was != "" && was != k.Customer && (k.Customer == "" || !h.isGone(s, was)) {
			return fmt.Errorf("licence key %s of %s is %q's now", k.ID, was, k.Customer)
		}
		s.owners[k.ID] = k.Customer
	}
	return nil
}

// isGone says whether a customer was merged into another one, or deleted.
func (h *history) isGone(s *shop, customer string) bool {
	var gone int
	err := h.rows.Get(&gone, h.rows.Rebind(`SELECT COUNT(*) FROM customers WHERE account_id = ? AND id = ? AND deleted_at IS NOT NULL`), s.account, customer)
	return err == nil && gone == 1
}

// served makes sure that nobody waits for a licence key beside one, once everything that was due is done.
func (h *history) served(s *shop) error {
	var waiting []string
	err := h.rows.Select(&waiting, h.rows.Rebind(`
		SELECT w.id FROM license_waits w JOIN accounts a ON a.id = w.account_id WHERE w.account_id = ? AND NOT w.paused AND a.disabled_at IS NULL AND EXISTS (
			SELECT 1 FROM license_keys k WHERE k.account_id = w.account_id AND k.product_id = w.product_id AND k.in_stock AND k.status = 'granted')`), s.account)
	if err == nil && len(waiting) > 0 {
		err = fmt.Errorf("%q wait for licence keys that are there", waiting)
	}
	return err
}

// admitted makes sure that what a subscription gives is what its payments, its refunds and its state say. A refund that ends access does so until
// the next payment, or until it bounces. Those about which the seller has decided are left out.
func (h *history) admitted(s *shop) error {
	// Which refunds were not followed by a payment. A payment at the very moment of a refund may have come before it or after.
	standing := func(later string) string {
		return `EXISTS (SELECT 1 FROM refunds r WHERE r.account_id = g.account_id AND r.status = 'succeeded' AND r.revoke_access
			AND (r.subscription_id = s.id OR r.order_id IN (SELECT l.order_id FROM line_items l WHERE l.account_id = s.account_id AND l.subscription_id = s.id))
			AND NOT EXISTS (SELECT 1 FROM orders o WHERE o.account_id = r.account_id AND o.subscription_id = s.id AND o.id <> r.order_id AND o.paid_at ` + later + ` r.succeeded_at))`
	}
	var all []struct {
		ID, Source, Reason string
		Refunded           bool // surely
		MayBe              bool `db:"may_be"`
		Canceled           bool
	}
	err := h.rows.Select(&all, h.rows.Rebind(`
		SELECT g.id, s.id AS source, COALESCE(g.reason, '') AS reason, s.status = 'canceled' AS canceled, `+standing(">=")+` AS refunded, `+standing(">")+` AS may_be
		FROM grants g JOIN subscriptions s ON s.account_id = g.account_id AND s.id = g.source_id AND s.product_id = g.item_id
		WHERE g.account_id = ? AND COALESCE(g.reason, '') <> 'customer_deleted'`), s.account)
	if err != nil {
		return err
	}
	var wrong error
	for _, g := range all {
		_, byHand := s.decided.Load(g.Source)
		isRefunded := g.Reason == string(grant.ReasonRefund)
		if !byHand && (g.Canceled && g.Reason != string(grant.ReasonSubscriptionEnded) || !g.Canceled && (g.Refunded && !isRefunded || !g.MayBe && isRefunded)) {
			wrong = errors.Join(wrong, fmt.Errorf("access to what %s gives is not what payments and refunds say: %+v", g.ID, g))
		}
	}
	return wrong
}
