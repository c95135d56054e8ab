package billing_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/server/billing"
	"github.com/tillwright/tillwright/server/payments"
	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/store/checkout"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/offer"
	"github.com/tillwright/tillwright/store/subscription"
	"github.com/tillwright/tillwright/store/tenant"
	"github.com/tillwright/tillwright/tests/harness/stripefake"
)

// missing tells whether somebody was answered that what they asked for is not there.
func missing(err error) bool {
	e, ok := errors.AsType[*core.Error](err)
	return ok && e.Code == core.CodeMissing
}

// A customer signs out in one window of the portal while forms are sent in others. Each form is done or finds nobody signed
// in. The subscription is what the last form that was done said.
func TestPortal_SigningOutBesideForms(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		replicas := w.replicas()
		sub := w.subscribe(w.variant(recurring(900, "month")), "pm_card_visa")
		for range 5 {
			session, err := w.Portal.CreateSession(t.Context(), w.account, sub.CustomerID, nil)
			require.NoError(t, err)
			for _, err := range parallel(12, func(i int) error {
				r := replicas[i%len(replicas)]
				opened, _, err := r.Portal.Open(t.Context(), session.Token)
				if missing(err) {
					return nil
				}
				if err != nil {
					return err
				}
				switch i % 4 {
				case 0:
					return r.Portal.EndSession(t.Context(), opened)
				case 1:
					_, err = r.Store.CancelSubscription(t.Context(), w.account, sub.ID, store.CancelSubscription{Customer: opened.CustomerID})
				case 2:
					if _, err = r.KeepSubscription(t.Context(), w.account, opened.CustomerID, sub.ID); isRefusal(err) {
						err = nil // it was not cancelled yet
					}
				default:
					_, err = r.SaveMethod(t.Context(), w.account, opened.CustomerID, billing.SaveMethod{Method: payments.MethodInput{Ref: "pm_card_visa"}, Once: "once"})
				}
				return err
			}) {
				require.NoError(t, err)
			}
			_, _, err = w.Portal.Open(t.Context(), session.Token)
			assert.True(t, missing(err), "the customer has signed out")
			now := w.now(sub)
			assert.Equal(t, now.CancelAtPeriodEnd, now.IsCustomersToKeep())
		}
	})
}

// A seller edits a link while it is opened: every use is a checkout of what the link was at one moment, and is counted.
func TestCheckoutLink_EditedBesideItsVisitors(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		replicas := w.replicas()
		cheap, dear := w.variant(catalog.PriceVariant{Amount: 100}), w.variant(catalog.PriceVariant{Amount: 9000})
		link, err := w.Checkout.CreateLink(t.Context(), w.account, checkout.Link{Active: true, PriceVariantIDs: core.JSONOf([]string{cheap.ID})})
		require.NoError(t, err)
		var used, left atomic.Int64
		for _, err := range parallel(48, func(i int) error {
			r := replicas[i%len(replicas)]
			if i%4 == 0 {
				_, err := r.Checkout.UpdateLink(t.Context(), w.account, link.ID, func(l *checkout.Link) {
					l.PriceVariantIDs = core.JSONOf([][]string{{dear.ID}, {cheap.ID, cheap.ID}}[i/4%2])
					l.Active, l.MaxUses = i%8 == 0, new(l.Uses+int64(i)+1)
				})
				return err
			}
			c, err := r.Checkout.FollowLink(t.Context(), link.ID, checkout.FollowLink{})
			if missing(err) {
				left.Add(1)
				return nil
			}
			if err == nil {
				used.Add(1)
				if c.TotalAmount != 100 && c.TotalAmount != 200 && c.TotalAmount != 9000 {
					err = fmt.Errorf("a checkout of %d", c.TotalAmount)
				}
			}
			return err
		}) {
			require.NoError(t, err)
		}
		link, err = w.Checkout.GetLink(t.Context(), w.account, link.ID)
		require.NoError(t, err)
		assert.Zero(t, link.Uses, "nobody has bought")
		assert.EqualValues(t, 36, used.Load()+left.Load())
	})
}

// A seller changes what is taxed while buyers pay: nobody pays anything but what they were shown.
func TestUpdateAccount_TaxBesideConfirms(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		replicas := w.replicas()
		book := w.handbook()
		tax := func(bps int64) error {
			_, err := w.Tenant.UpdateAccount(t.Context(), w.account, func(a *tenant.AccountChange) {
				a.Tax = core.JSONOf(tenant.TaxSettings{Mode: tenant.TaxModeFlatTable, Behavior: tenant.TaxBehaviorExclusive, Rates: []tenant.TaxRate{{RateBps: bps, Name: "VAT"}}})
			})
			return err
		}
		require.NoError(t, tax(1000))
		for _, err := range parallel(16, func(i int) error {
			if i%4 == 0 {
				return errors.Join(tax(int64(1000+i)), tax(int64(i)))
			}
			r := replicas[i%len(replicas)]
			c, err := r.Checkout.Create(t.Context(), w.account, checkout.Draft{Checkout: &checkout.Checkout{CustomerEmail: new("grace@example.com"), EmailVerified: true}, Lines: []offer.NewLine{one(book)}})
			if err != nil {
				return err
			}
			for range 20 {
				shown, err := r.Checkout.Get(t.Context(), w.account, c.ID)
				if err != nil {
					return err
				}
				paid, err := r.ConfirmCheckout(t.Context(), w.account, c.ID, with("pm_card_visa"))
				if isRefusal(err) {
					continue // the total has changed
				}
				if err != nil {
					return err
				}
				if o, err := r.Order.Get(t.Context(), w.account, *paid.OrderID); err != nil || o.PaidAmount != shown.TotalAmount {
					return errors.Join(err, fmt.Errorf("paid %d, shown %d", o.PaidAmount, shown.TotalAmount))
				}
				return nil
			}
			return errors.New("the total changed at every one of twenty looks")
		}) {
			require.NoError(t, err)
		}
		assert.Len(t, w.orders(), 12)
	})
}

// The provider's notification settles the charge of a new subscription before whoever asked for it hears anything, or while
// they do. They are answered with the one subscription that there is.
func TestCreateSubscription_BesideTheNotificationOfItsCharge(t *testing.T) {
	eachStripe(t, func(t *testing.T, w *world, fake *stripefake.Fake) {
		v, customer := w.variant(recurring(900, "month")), w.customer("grace@example.com", nil)
		for i := range 8 {
			if i%2 == 0 { // the charge is made, and its answer never comes
				fake.Spoil(stripefake.Fault{Path: "/confirm"})
			}
			ended := make(chan struct{})
			errs := parallel(2, func(part int) error {
				if part == 0 {
					return w.notifyUntil(fake, ended)
				}
				defer close(ended)
				key := &core.Key{Account: w.account, Key: fmt.Sprint("subscribe ", i), External: true}
				send := func() error {
					_, _, err := w.Request(t.Context(), key, func(ctx context.Context) (*core.Answer, error) {
						_, err := w.CreateSubscription(ctx, w.account, billing.CreateSubscription{
							Method: &payments.MethodInput{Ref: "pm_card_visa"},
							Draft:  checkout.Draft{Checkout: &checkout.Checkout{CustomerID: &customer.ID}, Lines: []offer.NewLine{one(v)}},
						})
						return &core.Answer{Status: 201}, err
					})
					return err
				}
				err := send()
				for attempt := 0; attempt < 5 && core.OutcomeOf(err) == core.Unknown; attempt++ {
					err = send() // as a client does who heard nothing
				}
				return err
			})
			for _, err := range errs {
				require.NoError(t, err)
			}
			subs, _, err := w.Subscription.List(t.Context(), w.account, subscription.List{Page: core.Page{Limit: 100}, Customer: customer.ID})
			require.NoError(t, err)
			assert.Len(t, subs, i+1)
			assert.EqualValues(t, 900*(i+1), fake.Taken())
		}
	})
}

// notifyUntil delivers what happens at the provider as soon as it does, and again what was not taken.
func (w *world) notifyUntil(fake *stripefake.Fake, ended <-chan struct{}) error {
	var waiting []stripefake.Event
	for {
		waiting = append(waiting, fake.Events()...)
		waiting = slices.DeleteFunc(waiting, func(e stripefake.Event) bool { return w.notify(fake, e) == nil })
		select {
		case <-ended:
			return nil
		case <-time.After(time.Millisecond):
		}
	}
}
