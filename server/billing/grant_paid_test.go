package billing_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/grant"
	"github.com/tillwright/tillwright/store/subscription"
	"github.com/tillwright/tillwright/store/tenant"
)

// TestGrant_SaysUntilWhenItsSubscriptionHasPaid takes the grant of a plan of one instalment, after a trial, to its end. Licences that go on without
// us end with what is paid for.
func TestGrant_SaysUntilWhenItsSubscriptionHasPaid(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		v := recurring(900, "month")
		v.TrialDays, v.BillingCycles = 14, new(int64(1))
		sub := w.subscribe(w.variant(v), "pm_card_visa")
		is := func(want *core.Time, when string) {
			t.Helper()
			g, err := w.Grant.GetGrant(t.Context(), w.account, w.ordersOf(sub)[0].GrantIDs.V[0])
			require.NoError(t, err)
			assert.Equal(t, want, g.PaidUntil, when)
		}
		passes := func(want subscription.Status) {
			t.Helper()
			w.wait(sub.CurrentPeriodEnd.Time().Sub(w.Now().Time()) + time.Second)
			var err error
			sub, err = w.Subscription.Get(t.Context(), w.account, sub.ID)
			require.NoError(t, err)
			require.Equal(t, want, sub.Status)
		}
		is(&sub.CurrentPeriodEnd, "in a trial")
		passes(subscription.StatusActive)
		is(&sub.CurrentPeriodEnd, "once the first period is paid")
		passes(subscription.StatusCompleted)
		is(nil, "once everything is paid")
	})
}

// A change of plan that nothing is charged for leaves paid what was paid. A licence does not end with it in the middle of a period.
func TestGrant_IsPaidForAfterAChangeOfPlanAsBefore(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.monthOf30()
		sub := w.subscribe(w.variant(recurring(2000, "month")), "pm_card_visa")
		is := func(status grant.Status, when string) {
			t.Helper()
			grants, _, err := w.Store.ListGrants(t.Context(), w.account, store.ListGrants{SourceOrType: sub.ID, ListGrants: grant.ListGrants{Page: core.Page{Limit: 10}}})
			require.NoError(t, err)
			for _, g := range grants {
				if g.ProductID == sub.ProductID {
					assert.Equal(t, status, g.Status, when)
					assert.Equal(t, &sub.CurrentPeriodEnd, g.PaidUntil, when)
				}
			}
		}
		w.rewound(sub, 10*day)
		sub = w.change(sub, w.variant(recurring(1000, "month")), tenant.ProrationBehaviorInvoiceImmediately)
		is(grant.StatusActive, "a cheaper plan")
		sub = w.pieces(sub, 2)
		is(grant.StatusActive, "more pieces")
		sub = w.change(sub, w.variant(recurring(3000, "month")), tenant.ProrationBehaviorNextInvoice)
		is(grant.StatusActive, "a dearer plan that is billed later")
		sub = w.change(sub, w.variant(recurring(500, "year")), tenant.ProrationBehaviorInvoiceImmediately)
		require.Len(t, w.ordersOf(sub), 1)
		is(grant.StatusActive, "a longer period that is paid for by what is left of the shorter one")
		sub = w.change(sub, w.variant(recurring(400, "month")), tenant.ProrationBehaviorInvoiceImmediately)
		require.Len(t, w.ordersOf(sub), 1)
		is(grant.StatusActive, "a shorter one again")

		sub = w.subscribe(w.variant(recurring(2000, "month")), "pm_card_visa")
		w.refundAccess(w.ordersOf(sub)[0].ID)
		sub = w.change(sub, w.variant(free("month")), "")
		is(grant.StatusRevoked, "what a refund took away stays away")
	})
}

// licensed makes a product of a price variant that is sold with licence keys, and returns it.
func (w *world) licensed(v *catalog.PriceVariant) *catalog.PriceVariant {
	w.t.Helper()
	_, err := w.Catalog.UpdateProduct(w.t.Context(), w.account, v.ProductID, func(p *catalog.Product) {
		p.Deliverables = []catalog.Deliverable{{Type: catalog.DeliverableTypeLicenseKey, Name: new("Your key")}}
	})
	require.NoError(w.t, err)
	return v
}

// proves reports whether the licence key of a subscription proves to its program, while that is offline, that it may be used.
func (w *world) proves(sub *subscription.Subscription) bool {
	w.t.Helper()
	keys, _, err := w.ListLicenseKeys(w.t.Context(), w.account, grant.ListLicenseKeys{Page: core.Page{Limit: 10}, Product: sub.ProductID})
	require.NoError(w.t, err)
	require.Len(w.t, keys, 1)
	key, err := w.Grant.GetLicenseKey(w.t.Context(), w.account, keys[0].ID)
	require.NoError(w.t, err)
	device, err := w.ActivateLicense(w.t.Context(), w.account, grant.LicenseUse{Key: *key.Key, Product: sub.ProductID, Fingerprint: "mac"})
	require.NoError(w.t, err)
	return device.Token != nil
}

// Who may go on trying has a licence key that works for as long.
func TestUpdateSubscription_ALongerTrialHasALongerLicence(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		v := recurring(900, "month")
		v.TrialDays = 14
		sub := w.subscribe(w.licensed(w.variant(v)), "pm_card_visa")
		require.True(t, w.proves(sub))
		_, err := w.UpdateSubscription(t.Context(), w.account, sub.ID, store.SubscriptionPatch{
			Change: func(*subscription.Subscription) {}, TrialEnd: new(sub.TrialEnd.Add(30 * day)),
		})
		require.NoError(t, err)
		w.wait(30 * day)
		require.Equal(t, subscription.StatusTrialing, w.now(sub).Status)
		assert.True(t, w.proves(sub))
		w.wait(20 * day)
		require.Equal(t, subscription.StatusActive, w.now(sub).Status)
		assert.True(t, w.proves(sub))
	})
}

// What a seller gives up of a period takes nothing away that it gives.
func TestVoidInvoice_OfARenewalLeavesTheLicence(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		sub := w.subscribe(w.licensed(w.variant(recurring(900, "month"))), "pm_card_visa")
		w.provider.declines.Store(true)
		w.wait(sub.CurrentPeriodEnd.Time().Sub(w.Now().Time()) + time.Second)
		require.Equal(t, subscription.StatusPastDue, w.now(sub).Status)
		_, err := w.VoidInvoice(t.Context(), w.account, *w.now(sub).LatestInvoiceID)
		require.NoError(t, err)
		w.wait(10 * day)
		require.Equal(t, subscription.StatusActive, w.now(sub).Status)
		assert.True(t, w.proves(sub))
	})
}
