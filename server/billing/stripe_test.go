package billing_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/server/billing"
	"github.com/tillwright/tillwright/server/payments"
	"github.com/tillwright/tillwright/server/payments/stripe"
	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/store/checkout"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/tenant"
	"github.com/tillwright/tillwright/tests/harness"
	"github.com/tillwright/tillwright/tests/harness/stripefake"
)

// eachStripe is each for a shop that is paid through Stripe.
func eachStripe(t *testing.T, test func(t *testing.T, w *world, fake *stripefake.Fake)) {
	each(t, func(t *testing.T, w *world) {
		fake := stripefake.New(t)
		w.give(fake.Key)
		w.Billing = billing.New(w.Store, payments.NewRegistry(w.provider, stripe.New(stripe.Options{
			Client: fake.Client(), BaseURL: fake.URL, Credentials: stripe.Keys(w.Store), KeyRefused: w.NoteKeyRefused,
		}))).Patient()
		test(t, w, fake)
	})
}

// give lets the account be paid through Stripe, with a key.
func (w *world) give(key string) {
	w.t.Helper()
	_, err := w.Tenant.UpdateAccount(w.t.Context(), w.account, func(a *tenant.AccountChange) {
		a.PaymentsProvider, a.StripeKey, a.StripeWebhookSecret = tenant.PaymentsProviderStripe, &key, new("whsec_FakeOfStripe")
	})
	require.NoError(w.t, err)
}

func TestStripe_IsPaid(t *testing.T) {
	eachStripe(t, func(t *testing.T, w *world, fake *stripefake.Fake) {
		c, err := w.pay(w.checkout(one(w.handbook())).ID, "pm_card_visa")
		require.NoError(t, err)
		assert.Equal(t, checkout.StatusCompleted, c.Status)
		assert.EqualValues(t, 1900, w.orders()[0].PaidAmount)
		assert.EqualValues(t, 1900, fake.Taken())
	})
}

func TestStripe_ADeclineLeavesTheCheckoutOpen(t *testing.T) {
	eachStripe(t, func(t *testing.T, w *world, fake *stripefake.Fake) {
		checkout := w.checkout(one(w.handbook()))
		_, err := w.pay(checkout.ID, "pm_card_chargeDeclinedInsufficientFunds")
		refused(t, err, "payment_method")
		assert.Equal(t, core.Recorded, core.OutcomeOf(err))
		failure := w.get(checkout.ID).LastPaymentError.V
		assert.Equal(t, "insufficient_funds", *failure.DeclineCode)
		assert.Zero(t, fake.Taken())
		_, err = w.pay(checkout.ID, "pm_card_visa")
		require.NoError(t, err)
		assert.EqualValues(t, 1900, fake.Taken())
		assert.Len(t, w.orders(), 1)
	})
}

// What Stripe will never charge is an answer, and not asked for again for ever.
func TestStripe_AMethodThatIsNotIsDeclined(t *testing.T) {
	eachStripe(t, func(t *testing.T, w *world, fake *stripefake.Fake) {
		v := w.variant(catalog.PriceVariant{Amount: 1900, Stock: new(int64(1))})
		checkout := w.checkout(one(v))
		_, err := w.pay(checkout.ID, "pm_nobody")
		refused(t, err, "payment_method")
		assert.Equal(t, core.Recorded, core.OutcomeOf(err))
		assert.Equal(t, "resource_missing", w.get(checkout.ID).LastPaymentError.V.Code)
		assert.Nil(t, w.get(checkout.ID).LastPaymentError.V.DeclineCode, "no bank was asked")

		w.give("sk_test_revoked")
		_, err = w.pay(checkout.ID, "pm_card_visa")
		refused(t, err, "payment_method")
		w.give(fake.Key)
		_, err = w.pay(checkout.ID, "pm_card_visa")
		require.NoError(t, err, "the stock was given back")
	})
}

func TestStripe_CardNumbersNeverGetThere(t *testing.T) {
	eachStripe(t, func(t *testing.T, w *world, fake *stripefake.Fake) {
		in := with("")
		in.Method = &payments.MethodInput{Card: &payments.Card{Number: "4242424242424242", ExpMonth: 12, ExpYear: 2099, CVC: "123"}}
		_, err := w.ConfirmCheckout(t.Context(), w.account, w.checkout(one(w.handbook())).ID, in)
		refused(t, err, "payment_method")
		assert.Equal(t, core.Refused, core.OutcomeOf(err))
		assert.Empty(t, fake.Calls())
	})
}

// Stripe did what it was asked and never said so, or broke: nothing is charged twice and nothing is lost.
func TestStripe_ALostAnswerIsSettledOnce(t *testing.T) {
	eachStripe(t, func(t *testing.T, w *world, fake *stripefake.Fake) {
		for i, fault := range []stripefake.Fault{
			{Path: "/confirm"}, {Path: "/confirm", Status: 500}, {Path: "/v1/payment_intents"}, {Path: "/v1/payment_intents", Status: 503},
		} {
			c := w.checkout(one(w.handbook()))
			fake.Spoil(fault)
			_, err := w.pay(c.ID, "pm_card_visa")
			require.Equal(t, core.Unknown, core.OutcomeOf(err), fault)
			assert.Equal(t, checkout.StatusProcessing, w.get(c.ID).Status)
			w.due(c.ID)
			for _, err := range parallel(3, func(int) error { return w.Reconcile(t.Context()) }) {
				require.NoError(t, err)
			}
			assert.Equal(t, checkout.StatusCompleted, w.get(c.ID).Status)
			assert.Len(t, w.orders(), i+1)
			assert.EqualValues(t, 1900*(i+1), fake.Taken())
		}
	})
}

func TestStripe_TheBuyerIsSentToTheirBank(t *testing.T) {
	eachStripe(t, func(t *testing.T, w *world, fake *stripefake.Fake) {
		bought := w.checkout(one(w.handbook()))
		c, err := w.pay(bought.ID, "pm_card_authenticationRequiredOnSetup")
		require.NoError(t, err)
		assert.Equal(t, "https://hooks.stripe.test/3d_secure", c.NextAction.V.URL)
		payment, err := w.Payment.OfCheckout(t.Context(), w.account, bought.ID)
		require.NoError(t, err)
		intent := fake.Object(*payment.ProviderRef)
		assert.Equal(t, bought.URL, intent["next_action"].(map[string]any)["redirect_to_url"].(map[string]any)["return_url"])

		fake.Settle(*payment.ProviderRef, true)
		w.due(bought.ID)
		require.NoError(t, w.Reconcile(t.Context()))
		assert.Equal(t, checkout.StatusCompleted, w.get(bought.ID).Status)

		for _, onPage := range []bool{false, true} { // only a seller's own page is where the seller says
			own := w.checkoutFor(checkout.Checkout{CustomerEmail: new("grace@example.com"), ReturnURL: new("https://seller.test/back?of={CHECKOUT_ID}")}, w.handbook())
			in := with("pm_card_authenticationRequiredOnSetup")
			in.OnPage = onPage
			_, err = w.ConfirmCheckout(t.Context(), w.account, own.ID, in)
			require.NoError(t, err)
			payment, err = w.Payment.OfCheckout(t.Context(), w.account, own.ID)
			require.NoError(t, err)
			want := map[bool]string{false: "https://seller.test/back?of=" + own.ID, true: own.URL}[onPage]
			assert.Equal(t, want, fake.Object(*payment.ProviderRef)["next_action"].(map[string]any)["redirect_to_url"].(map[string]any)["return_url"])
		}

		given := w.checkout(one(w.handbook()))
		_, err = w.pay(given.ID, "pm_card_authenticationRequiredOnSetup")
		require.NoError(t, err)
		w.advance.Store(int64(31 * time.Minute))
		w.due(given.ID)
		require.NoError(t, w.Reconcile(t.Context()))
		assert.Equal(t, "payment_canceled", w.get(given.ID).LastPaymentError.V.Code)
		assert.EqualValues(t, 1900, fake.Taken())
	})
}

// back is where the buyer of a checkout comes back to from their bank.
func (w *world) back(fake *stripefake.Fake, checkout string) string {
	w.t.Helper()
	payment, err := w.Payment.OfCheckout(w.t.Context(), w.account, checkout)
	require.NoError(w.t, err)
	next, asked := fake.Object(*payment.ProviderRef)["next_action"].(map[string]any)
	require.True(w.t, asked)
	return next["redirect_to_url"].(map[string]any)["return_url"].(string)
}

// An address of more than 500 characters is not worth a declined card: the buyer comes back to our page.
func TestStripe_AWayBackThatIsTooLongDeclinesNobody(t *testing.T) {
	eachStripe(t, func(t *testing.T, w *world, fake *stripefake.Fake) {
		base := "https://seller.test/ü/"
		for pad, kept := range map[string]bool{
			strings.Repeat("a", 500-22):                   true,
			strings.Repeat("a", 501-22):                   false,
			strings.Repeat("a", 490-22) + "{CHECKOUT_ID}": false,
			strings.Repeat("a", 2048-22):                  false,
		} {
			own := w.checkoutFor(checkout.Checkout{CustomerEmail: new("grace@example.com"), ReturnURL: new(base + pad)}, w.handbook())
			_, err := w.pay(own.ID, "pm_card_authenticationRequiredOnSetup")
			require.NoError(t, err)
			assert.Equal(t, map[bool]string{true: base + pad, false: own.URL}[kept], w.back(fake, own.ID))
		}
	})
}

// Whoever goes on with a payment asks for what was asked for first: a buyer who was on our page comes back to it.
func TestStripe_ALostAnswerLeavesTheWayBackAsItWas(t *testing.T) {
	eachStripe(t, func(t *testing.T, w *world, fake *stripefake.Fake) {
		for _, fault := range []stripefake.Fault{{Path: "/v1/payment_intents"}, {Path: "/v1/payment_intents", Status: 503}, {Path: "/confirm", Status: 500}} {
			for _, onPage := range []bool{false, true} {
				own := w.checkoutFor(checkout.Checkout{CustomerEmail: new("grace@example.com"), ReturnURL: new("https://seller.test/back")}, w.handbook())
				in := with("pm_card_authenticationRequiredOnSetup")
				in.OnPage = onPage
				fake.Spoil(fault)
				_, err := w.ConfirmCheckout(t.Context(), w.account, own.ID, in)
				require.Equal(t, core.Unknown, core.OutcomeOf(err), fault)
				w.due(own.ID)
				require.NoError(t, w.Reconcile(t.Context()))
				require.Nil(t, w.get(own.ID).LastPaymentError.V, "nobody declined it")
				assert.Equal(t, map[bool]string{false: "https://seller.test/back", true: own.URL}[onPage], w.back(fake, own.ID), fault)
			}
		}
	})
}

// A bank that takes its time is asked again until it has decided.
func TestStripe_ASlowBankIsWaitedFor(t *testing.T) {
	eachStripe(t, func(t *testing.T, w *world, fake *stripefake.Fake) {
		bought := w.checkout(one(w.handbook()))
		c, err := w.pay(bought.ID, "pm_card_slow")
		require.NoError(t, err)
		assert.Equal(t, checkout.StatusProcessing, c.Status)
		payment, err := w.Payment.OfCheckout(t.Context(), w.account, bought.ID)
		require.NoError(t, err)
		w.due(bought.ID)
		require.NoError(t, w.Reconcile(t.Context()))
		assert.Empty(t, w.orders())
		fake.Settle(*payment.ProviderRef, true)
		w.due(bought.ID)
		require.NoError(t, w.Reconcile(t.Context()))
		assert.Len(t, w.orders(), 1)
	})
}

// An intent that Stripe does not find may be found again, with the key of before: nobody is told that it has failed.
func TestStripe_AChargeThatIsNotFoundIsAskedForAgain(t *testing.T) {
	eachStripe(t, func(t *testing.T, w *world, fake *stripefake.Fake) {
		c := w.checkout(one(w.handbook()))
		_, err := w.pay(c.ID, "pm_card_slow")
		require.NoError(t, err)
		payment, err := w.Payment.OfCheckout(t.Context(), w.account, c.ID)
		require.NoError(t, err)
		db := harness.OpenDatabase(t, w.url)
		db.Must(t, `UPDATE payments SET provider_ref = 'pi_nobody'`)
		w.due(c.ID)
		require.Equal(t, core.Unknown, core.OutcomeOf(w.Reconcile(t.Context())))
		assert.Equal(t, checkout.StatusProcessing, w.get(c.ID).Status)
		db.Must(t, `UPDATE payments SET provider_ref = '`+*payment.ProviderRef+`'`)
		fake.Settle(*payment.ProviderRef, true)
		w.due(c.ID)
		require.NoError(t, w.Reconcile(t.Context()))
		assert.Equal(t, checkout.StatusCompleted, w.get(c.ID).Status)
	})
}

// A payment goes on where it began, whatever the account has chosen since.
func TestStripe_APaymentStaysWithItsProvider(t *testing.T) {
	eachStripe(t, func(t *testing.T, w *world, fake *stripefake.Fake) {
		c := w.checkout(one(w.handbook()))
		fake.Spoil(stripefake.Fault{Path: "/confirm"})
		_, err := w.pay(c.ID, "pm_card_visa")
		require.Equal(t, core.Unknown, core.OutcomeOf(err))
		_, err = w.Tenant.UpdateAccount(t.Context(), w.account, func(a *tenant.AccountChange) { a.PaymentsProvider = tenant.PaymentsProviderTest })
		require.NoError(t, err)
		other, err := w.pay(w.checkout(one(w.handbook())).ID, "pm_card_visa")
		require.NoError(t, err)
		assert.Equal(t, checkout.StatusCompleted, other.Status)
		w.due(c.ID)
		require.NoError(t, w.Reconcile(t.Context()))
		assert.Equal(t, checkout.StatusCompleted, w.get(c.ID).Status)
		assert.EqualValues(t, 1900, fake.Taken())
	})
}

// settledRefund lets the bank decide, and the reconciler ask.
func (w *world) settledRefund(fake *stripefake.Fake, order, status string) store.Refund {
	w.t.Helper()
	fake.SettleRefund(*w.refunds(order)[0].ProviderRef, status)
	w.refundDue(order)
	require.NoError(w.t, w.Reconcile(w.t.Context()))
	return w.refunds(order)[0]
}

func TestStripe_ARefundIsWhatTheBankMakesOfIt(t *testing.T) {
	eachStripe(t, func(t *testing.T, w *world, fake *stripefake.Fake) {
		order := w.bought("pm_card_pendingRefund").ID
		pending, err := w.refund(order, 500)
		require.NoError(t, err)
		assert.Equal(t, store.RefundStatusPending, pending.Status)
		assert.Equal(t, store.RefundStatusFailed, w.settledRefund(fake, order, "failed").Status)
		assert.Equal(t, "expired_or_canceled_card", *w.refunds(order)[0].FailureReason)
		assert.Zero(t, w.order(order).RefundedAmount)
		_, err = w.refund(order, 700)
		require.NoError(t, err)
		assert.Equal(t, store.RefundStatusSucceeded, w.settledRefund(fake, order, "succeeded").Status)
		assert.EqualValues(t, 700, w.order(order).RefundedAmount)
		assert.EqualValues(t, 1200, fake.Taken())
	})
}

func TestStripe_ALostRefundIsMadeOnce(t *testing.T) {
	eachStripe(t, func(t *testing.T, w *world, fake *stripefake.Fake) {
		order := w.bought("pm_card_visa").ID
		for i, fault := range []stripefake.Fault{{Path: "/v1/refunds"}, {Path: "/v1/refunds", Status: 500}} {
			fake.Spoil(fault)
			_, err := w.refund(order, 500)
			require.Equal(t, core.Unknown, core.OutcomeOf(err), fault)
			w.refundDue(order)
			require.NoError(t, w.Reconcile(t.Context()))
			assert.Equal(t, store.RefundStatusSucceeded, w.refunds(order)[0].Status)
			assert.EqualValues(t, 500*(i+1), w.order(order).RefundedAmount)
			assert.EqualValues(t, 1900-500*(i+1), fake.Taken())
		}
	})
}

// What was given back at Stripe itself can not be given back here: such refunds fail, and there may be several.
func TestStripe_ARefundThatStripeRefusesHasFailed(t *testing.T) {
	eachStripe(t, func(t *testing.T, w *world, fake *stripefake.Fake) {
		order := w.bought("pm_card_visa")
		payment, err := w.Payment.ByID(t.Context(), w.account, order.PaymentIDs.V)
		require.NoError(t, err)
		there := stripe.New(stripe.Options{Client: http.DefaultClient, BaseURL: fake.URL, Credentials: stripe.Keys(w.Store)})
		_, err = there.Refund(t.Context(), payments.RefundInput{
			Token: "dashboard", Account: w.account, ChargeRef: *payment[order.PaymentIDs.V[0]].ProviderRef, Amount: 1900, Currency: "usd",
		})
		require.NoError(t, err)
		for range 2 {
			refund, err := w.refund(order.ID, 500)
			require.NoError(t, err)
			assert.Equal(t, store.RefundStatusFailed, refund.Status)
			assert.Equal(t, "charge_already_refunded", *refund.FailureReason)
		}
		assert.Zero(t, w.order(order.ID).RefundedAmount)
	})
}

// Saving a method is asked for before the charge. Whatever is lost of it, the buyer is charged once, and one method kept.
func TestStripe_ALostAnswerKeepsOneMethod(t *testing.T) {
	eachStripe(t, func(t *testing.T, w *world, fake *stripefake.Fake) {
		for i, fault := range []stripefake.Fault{
			{Path: "/v1/customers"}, {Path: "/attach"}, {Path: "/attach", Status: 500}, {Path: "/v1/payment_intents"}, {Path: "/confirm"},
		} {
			ada := w.customer(fmt.Sprintf("ada%d@example.com", i), nil)
			c := w.checkoutFor(checkout.Checkout{CustomerID: &ada.ID}, w.handbook())
			in := with("pm_card_visa")
			in.Save = true
			fake.Spoil(fault)
			_, err := w.ConfirmCheckout(t.Context(), w.account, c.ID, in)
			require.Equal(t, core.Unknown, core.OutcomeOf(err), fault)
			w.due(c.ID)
			require.NoError(t, w.Reconcile(t.Context()))
			assert.EqualValues(t, 1900*(2*i+1), fake.Taken(), fault)

			ada, err = w.Customer.Get(t.Context(), w.account, ada.ID)
			require.NoError(t, err)
			kept, err := w.Payment.Method(t.Context(), w.account, ada.ID, *ada.DefaultPaymentMethodID)
			require.NoError(t, err)
			assert.Equal(t, "4242", kept.Card.V.Last4)
			_, err = w.pay(w.checkoutFor(checkout.Checkout{CustomerID: &ada.ID}, w.handbook()).ID, kept.ID)
			require.NoError(t, err, "it pays again")
		}
		assert.Equal(t, 5, fake.Count("customer"), "each is one customer there")
	})
}

// A seller who tried everything out and goes live is known to Stripe anew, and so are the customers of before.
func TestStripe_CustomersOfAnotherModeAreMadeAnew(t *testing.T) {
	eachStripe(t, func(t *testing.T, w *world, fake *stripefake.Fake) {
		g := w.giver()
		_, err := g.save("pm_card_visa", "first")
		require.NoError(t, err)
		fake.Forget()
		_, err = g.save("pm_card_visa", "second")
		require.NoError(t, err)
		fake.Forget()
		in := with("pm_card_visa")
		in.Save = true
		c, err := w.ConfirmCheckout(t.Context(), w.account, w.checkoutFor(checkout.Checkout{CustomerID: &g.customer}, w.handbook()).ID, in)
		require.NoError(t, err)
		assert.Equal(t, checkout.StatusCompleted, c.Status)
		assert.Len(t, g.methods(), 3)
		assert.Equal(t, 1, fake.Attached())
	})
}
