package billing_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/server/billing"
	"github.com/tillwright/tillwright/server/payments"
	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/grant"
	"github.com/tillwright/tillwright/store/invoice"
	"github.com/tillwright/tillwright/store/subscription"
	"github.com/tillwright/tillwright/store/tenant"
	"github.com/tillwright/tillwright/tests/harness"
)

// TestSettleRefund_ThatFailsLooksAtThePeriodAlone has the bank send back the refund of a period. One of a period before took nothing any more: the
// payment of this period had let the customer in again.
func TestSettleRefund_ThatFailsLooksAtThePeriodAlone(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		sub := w.subscribe(w.variant(recurring(900, "month")), "pm_card_visa")
		is := func(status grant.Status, when string) {
			t.Helper()
			g, err := w.Grant.GetGrant(t.Context(), w.account, w.ordersOf(sub)[0].GrantIDs.V[0])
			require.NoError(t, err)
			assert.Equal(t, status, g.Status, when)
		}
		refund := func(order string) *store.Refund {
			r, err := w.CreateRefund(t.Context(), w.account, store.NewRefund{
				Order: order, Amount: new(int64(100)), Reason: store.RefundReasonCustomerRequest, RevokeAccess: new(true),
			})
			require.NoError(t, err)
			is(grant.StatusRevoked, "after a refund")
			return r
		}
		bank := harness.OpenDatabase(t, w.url)
		fail := func(r *store.Refund) {
			bank.Must(t, fmt.Sprintf(`UPDATE test_refunds SET status = 'failed' WHERE id = '%s'`, *r.ProviderRef))
			_, err := w.SettleRefund(t.Context(), r, store.RefundResult{Status: store.RefundStatusFailed, FailureReason: "account_closed"}, time.Second)
			require.NoError(t, err)
		}
		refund(w.ordersOf(sub)[0].ID)
		w.wait(sub.CurrentPeriodEnd.Time().Sub(w.Now().Time()) + time.Second)
		is(grant.StatusActive, "once the next period is paid")
		next := w.ordersOf(sub)[1].ID
		first, second := refund(next), refund(next)
		fail(first)
		is(grant.StatusRevoked, "while another refund of the period stands")
		fail(second)
		is(grant.StatusActive, "when none of the period does")
	})
}

// TestSettleRefund_ThatFailsLetsNobodyInPastAPause has the refund of a subscription sent back that was paused meanwhile.
func TestSettleRefund_ThatFailsLetsNobodyInPastAPause(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		sub := w.subscribe(w.variant(recurring(900, "month")), "pm_card_visa")
		is := func(status grant.Status, when string) {
			t.Helper()
			g, err := w.Grant.GetGrant(t.Context(), w.account, w.ordersOf(sub)[0].GrantIDs.V[0])
			require.NoError(t, err)
			assert.Equal(t, status, g.Status, when)
		}
		r, err := w.CreateRefund(t.Context(), w.account, store.NewRefund{
			Order: w.ordersOf(sub)[0].ID, Amount: new(int64(100)), Reason: store.RefundReasonCustomerRequest, RevokeAccess: new(true),
		})
		require.NoError(t, err)
		_, err = w.PauseSubscription(t.Context(), w.account, sub.ID, store.PauseSubscription{Now: true})
		require.NoError(t, err)
		is(grant.StatusRevoked, "while the refund stands")
		harness.OpenDatabase(t, w.url).Must(t, fmt.Sprintf(`UPDATE test_refunds SET status = 'failed' WHERE id = '%s'`, *r.ProviderRef))
		_, err = w.SettleRefund(t.Context(), r, store.RefundResult{Status: store.RefundStatusFailed, FailureReason: "account_closed"}, time.Second)
		require.NoError(t, err)
		is(grant.StatusSuspended, "once it has failed, while the subscription is paused")
		_, err = w.ResumeSubscription(t.Context(), w.account, sub.ID)
		require.NoError(t, err)
		is(grant.StatusActive, "when it is resumed")
	})
}

// TestChangeSubscription_OfARefundedTipGivesNothing has a tip, which gives nothing that a refund could take away, refunded and then changed to a product.
// What the change costs is not paid now: until the next payment the refund stands.
func TestChangeSubscription_OfARefundedTipGivesNothing(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		tip := w.tip(recurring(900, "month"))
		product := w.variant(recurring(800, "month")) // what is left of the tip after the refund
		sub := w.subscribe(tip, "pm_card_visa")
		w.refundAccess(w.ordersOf(sub)[0].ID)
		w.change(sub, product, "")
		assert.Equal(t, []grant.Status{grant.StatusRevoked}, w.accessOf(sub), "while the refund stands")
		w.wait(w.now(sub).CurrentPeriodEnd.Time().Sub(w.Now().Time()) + time.Second)
		assert.Equal(t, []grant.Status{grant.StatusActive}, w.accessOf(sub), "once the next period is paid")
	})
}

// TestRenewal_OfATipEndsARefund has what a subscription gave refunded, changed to a tip, the tip paid for, and changed back.
func TestRenewal_OfATipEndsARefund(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		product := w.variant(recurring(900, "month"))
		sub := w.subscribe(product, "pm_card_visa")
		w.refundAccess(w.ordersOf(sub)[0].ID)
		w.change(sub, w.tip(recurring(800, "month")), "")
		w.wait(w.now(sub).CurrentPeriodEnd.Time().Sub(w.Now().Time()) + time.Second)
		require.Len(t, w.ordersOf(sub), 2)
		assert.Equal(t, []grant.Status{grant.StatusRevoked}, w.accessOf(sub), "while it is a tip")
		w.change(sub, product, tenant.ProrationBehaviorNextInvoice)
		assert.Equal(t, []grant.Status{grant.StatusActive}, w.accessOf(sub), "after a change back, since the tip was paid")
	})
}

// tip makes an active product that gives nothing.
func (w *world) tip(v catalog.PriceVariant) *catalog.PriceVariant {
	w.t.Helper()
	p, err := w.Catalog.CreateProduct(w.t.Context(), w.account, catalog.NewProduct{
		Product:       catalog.Product{Name: "Thanks", Type: catalog.ProductTypeTip, Status: catalog.ProductStatusActive},
		PriceVariants: []catalog.PriceVariant{v},
	})
	require.NoError(w.t, err)
	found, err := w.Catalog.GetPriceVariant(w.t.Context(), w.account, p.PriceVariantIDs.V[0])
	require.NoError(w.t, err)
	return found
}

// refundAccess gives some of an order back, and ends access with it.
func (w *world) refundAccess(order string) {
	w.t.Helper()
	_, err := w.CreateRefund(w.t.Context(), w.account, store.NewRefund{
		Order: order, Amount: new(int64(100)), Reason: store.RefundReasonCustomerRequest, RevokeAccess: new(true),
	})
	require.NoError(w.t, err)
}

// accessOf are the states of what a subscription gives.
func (w *world) accessOf(sub *subscription.Subscription) []grant.Status {
	w.t.Helper()
	grants, _, err := w.Store.ListGrants(w.t.Context(), w.account, store.ListGrants{SourceOrType: sub.ID, ListGrants: grant.ListGrants{Page: core.Page{Limit: 10}}})
	require.NoError(w.t, err)
	var all []grant.Status
	for _, g := range grants {
		all = append(all, g.Status)
	}
	return all
}

// What was sold by an invoice ends with its money, as what was sold at a checkout does.
func TestCreateRefund_OfAllOfAnInvoiceEndsAccess(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		ada := w.customer("ada@example.com", nil)
		draft, err := w.Invoice.Create(t.Context(), w.account, invoice.Draft{
			Invoice:  &invoice.Invoice{CollectionMethod: invoice.CollectionMethodSendInvoice, DueAt: new(core.TimeOf(time.Now().Add(time.Hour)))},
			Customer: ada.ID, Lines: []invoice.NewLine{{PriceVariant: w.handbook().ID, Quantity: 1}},
		})
		require.NoError(t, err)
		_, err = w.FinalizeInvoice(t.Context(), w.account, draft.ID)
		require.NoError(t, err)
		paid, err := w.PayInvoice(t.Context(), w.account, draft.ID, billing.PayInvoice{Method: &payments.MethodInput{Ref: "pm_card_visa"}})
		require.NoError(t, err)
		given := func() grant.Status {
			g, err := w.Grant.GetGrant(t.Context(), w.account, w.order(*paid.OrderID).GrantIDs.V[0])
			require.NoError(t, err)
			return g.Status
		}
		part, err := w.refund(*paid.OrderID, 100)
		require.NoError(t, err)
		assert.False(t, part.RevokeAccess)
		assert.Equal(t, grant.StatusActive, given())
		_, err = w.CreateRefund(t.Context(), w.account, store.NewRefund{Order: *paid.OrderID, Reason: store.RefundReasonCustomerRequest})
		require.NoError(t, err)
		assert.Equal(t, grant.StatusRevoked, given())
	})
}
