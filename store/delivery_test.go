package store

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/customer"
	"github.com/tillwright/tillwright/store/grant"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/internal/dbtest"
	"github.com/tillwright/tillwright/store/invoice"
	"github.com/tillwright/tillwright/store/lineitem"
	"github.com/tillwright/tillwright/store/order"
)

// bought is the order that purchases makes.
func bought(t *testing.T, o *sender) *order.Order {
	t.Helper()
	purchases(t, o.Store, o.account)
	orders, _, err := o.Order.List(t.Context(), o.account, order.List{Page: core.Page{Limit: 1}})
	require.NoError(t, err)
	return &orders[0]
}

// TestSettleRefund_ThatFailsGivesBackWhatItTook has the bank send back refunds that had succeeded. What is taken by another refund, or by the
// seller, stays taken.
func TestSettleRefund_ThatFailsGivesBackWhatItTook(t *testing.T) {
	eachSender(t, func(t *testing.T, o *sender) {
		order := bought(t, o)
		settle := func(r *Refund, status RefundStatus) {
			_, err := o.SettleRefund(t.Context(), r, RefundResult{Status: status, FailureReason: "account_closed"}, time.Second)
			require.NoError(t, err)
		}
		give := func() *Refund {
			begun, err := o.BeginRefund(t.Context(), o.account, NewRefund{Order: order.ID, Amount: new(int64(100)), Reason: RefundReasonCustomerRequest, RevokeAccess: new(true)})
			require.NoError(t, err)
			settle(begun.Refund, RefundStatusSucceeded)
			return begun.Refund
		}
		is := func(status grant.Status, reason grant.Reason) {
			t.Helper()
			g, err := o.Grant.GetGrant(t.Context(), o.account, order.GrantIDs.V[0])
			require.NoError(t, err)
			require.Equal(t, status, g.Status)
			require.Equal(t, reason, core.Deref(g.Reason))
		}
		is(grant.StatusActive, "")
		first, second := give(), give()
		is(grant.StatusRevoked, grant.ReasonRefund)
		settle(first, RefundStatusFailed)
		is(grant.StatusRevoked, grant.ReasonRefund)
		settle(second, RefundStatusFailed)
		is(grant.StatusActive, "")

		_, err := o.Grant.RevokeGrant(t.Context(), o.account, order.GrantIDs.V[0])
		require.NoError(t, err)
		settle(give(), RefundStatusFailed)
		is(grant.StatusRevoked, grant.ReasonManual)
		_, err = o.Grant.ReinstateGrant(t.Context(), o.account, order.GrantIDs.V[0])
		require.NoError(t, err)
		is(grant.StatusActive, "")
	})
}

// TestGiveNew_TwiceIsOnce says that no mistake above can give what a source has given already.
func TestGiveNew_TwiceIsOnce(t *testing.T) {
	eachSender(t, func(t *testing.T, o *sender) {
		order := bought(t, o)
		_, err := db.Tx(t.Context(), o.db, func(ctx context.Context, u *db.Unit) (any, error) {
			items, err := o.Lines.ByID(ctx, o.account, order.LineItemIDs.V)
			if err != nil {
				return nil, err
			}
			return nil, o.deliverOrder(ctx, u, &invoice.Bill{Order: order, Items: []lineitem.Item{*items[order.LineItemIDs.V[0]]}, Customer: &customer.Customer{}})
		})
		require.Error(t, err)
		require.Equal(t, 1, o.count(t, `SELECT count(*) FROM grants`))
	})
}

// TestMergeCustomer_LocksGrantsBeforeTheirKeys says that a merge and whoever ends a grant, and its key with it, never wait for each other.
func TestMergeCustomer_LocksGrantsBeforeTheirKeys(t *testing.T) {
	eachSender(t, func(t *testing.T, o *sender) {
		if o.db.Engine != core.PostgreSQL {
			return // SQLite has one lock
		}
		order := bought(t, o)
		id := order.GrantIDs.V[0]
		g, err := o.Grant.GetGrant(t.Context(), o.account, id)
		require.NoError(t, err)
		_, err = o.Grant.CreateLicenseKey(t.Context(), o.account, grant.LicenseKey{ProductID: g.ProductID, CustomerID: &g.CustomerID, GrantID: &id})
		require.NoError(t, err)
		into, err := o.Customer.Create(t.Context(), o.account, customer.Customer{Email: new("ada@example.com")})
		require.NoError(t, err)
		merged := make(chan error, 1)
		_, err = db.Tx(t.Context(), o.db, func(ctx context.Context, u *db.Unit) (any, error) {
			if _, err := db.Get[string](ctx, u, `SELECT id FROM grants WHERE account_id = ? AND id = ?`+u.Lock(), o.account, id); err != nil {
				return nil, err
			}
			await := dbtest.Waiter(t, o.db)
			go func() {
				_, err := o.MergeCustomer(context.WithoutCancel(t.Context()), o.account, into.ID, g.CustomerID)
				merged <- err
			}()
			await() // for the grant
			if _, err := u.Exec(ctx, `SET LOCAL lock_timeout = '200ms'`); err != nil {
				return nil, err
			}
			return u.Exec(ctx, `UPDATE license_keys SET updated_at = updated_at WHERE account_id = ? AND grant_id = ?`, o.account, id)
		})
		require.NoError(t, err)
		require.NoError(t, <-merged)
	})
}
