package contract

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/tests/harness"
)

const aDay = 24 * time.Hour

// tells expects a letter to have arrived under a subject, with these texts in it.
func tells(t *testing.T, s *harness.Server, l sdk.Letter, subject string, texts ...string) {
	t.Helper()
	sent := arrived(s, l.ID)
	require.NotNil(t, sent)
	require.Equal(t, subject, sent.Subject)
	require.Equal(t, subject, *l.Subject)
	require.Equal(t, sent.To, *l.To)
	for _, text := range texts {
		if !strings.Contains(sent.Text, text) {
			t.Errorf("%q is not in %q", text, sent.Text)
		}
	}
}

// onTrial tries a subscription out before it is paid.
func onTrial(t *testing.T, c *sdk.Client, interval sdk.PriceVariantInterval, days int64) *sdk.Subscription {
	t.Helper()
	v := variantOnSale(t, c, sdk.ProductPriceVariant{
		Type: new(sdk.PriceVariantTypeRecurring), Interval: &interval, IntervalCount: new(int64(1)), Amount: new(int64(900)), Currency: new("usd"), TrialDays: &days,
	})
	return subscription(t, c, v)
}

func TestLetters_ATrialIsOverSoon(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, s *harness.Server) {
		for interval, notice := range map[sdk.PriceVariantInterval]time.Duration{"month": 3 * aDay, "year": 7 * aDay} {
			sub := onTrial(t, c, interval, 14)
			l := only(t, c, "trial_ending", sdk.LetterStatusQueued)
			due := sub.TrialEnd.Time().Add(-notice)
			assert.True(t, l.NextAttemptAt.Time().Equal(due))
			assert.Equal(t, "subscription", l.About.Object)
			assert.Equal(t, sub.ID, l.About.ID)
			advance(t, c, 14*aDay-notice+time.Minute)
			l = only(t, c, "trial_ending", sdk.LetterStatusSent)
			tells(t, s, l, "Your trial at Test ends on "+sub.TrialEnd.Time().Format("2 January 2006"), "On "+sub.TrialEnd.Time().Format("2 January 2006")+": $9.00\n",
				"From then on: $9.00 every "+string(interval)+"\n")
			s.Must(t, "DELETE FROM letters WHERE id = '"+l.ID+"'")
		}
		if onTrial(t, c, "month", 3); len(settledLetters(t, c, "trial_ending")) != 0 {
			t.Error("there is a letter about a trial that is too short for it")
		}
	})
}

// What a discount takes off the first payment, or for some months, is not told as the price of every period.
func TestLetters_ATrialSaysWhatIsPaidThen(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, s *harness.Server) {
		once := ok[*sdk.Discount](t)(c.Discounts.Create(background, &sdk.DiscountCreate{Code: new("ONCE"), Type: sdk.DiscountTypePercent, PercentBps: new(int64(5000)), Duration: new(sdk.DiscountDurationOnce)}))
		always := ok[*sdk.Discount](t)(c.Discounts.Create(background, &sdk.DiscountCreate{Code: new("ALWAYS"), Type: sdk.DiscountTypePercent, PercentBps: new(int64(5000)), Duration: new(sdk.DiscountDurationForever)}))
		for discount, says := range map[string]string{once.ID: "The price without discounts: $9.00 every month\n", always.ID: "From then on: $4.50 every month\n"} {
			sub := onTrial(t, c, "month", 14)
			ok[*sdk.Subscription](t)(c.Subscriptions.Update(background, sub.ID, &sdk.SubscriptionUpdate{Discount: sdk.Set(discount)}))
			advance(t, c, 12*aDay)
			l := only(t, c, "trial_ending", sdk.LetterStatusSent)
			tells(t, s, l, "Your trial at Test ends on "+sub.TrialEnd.Time().Format("2 January 2006"), "On "+sub.TrialEnd.Time().Format("2 January 2006")+": $4.50\n", says)
			s.Must(t, "DELETE FROM letters WHERE id = '"+l.ID+"'")
		}
		sub := onTrial(t, c, "month", 14)
		s.Must(t, "UPDATE subscriptions SET billing_cycles = 1 WHERE id = '"+sub.ID+"'")
		advance(t, c, 12*aDay)
		sent := arrived(s, only(t, c, "trial_ending", sdk.LetterStatusSent).ID)
		assert.NotContains(t, sent.Text, "every", "of one payment")
		assert.Contains(t, sent.Text, "no payments after that one", "of one payment")
	})
}

// A subscription that is cancelled, kept and cancelled while no letter gets through has one letter then.
func TestLetters_CancelledTwiceHasOneLetter(t *testing.T) {
	onEachAlone(t, func(t *testing.T, c *sdk.Client, s *harness.Server) {
		sub := subscription(t, c, monthly(t, c, 900))
		s.Mail.Refuse(errRefused)
		cancel := func() {
			ok[*sdk.Subscription](t)(c.Subscriptions.Cancel(background, sub.ID, &sdk.SubscriptionCancel{AtPeriodEnd: new(true)}))
			settledLetters(t, c, "subscription_canceled")
		}
		cancel()
		ok[*sdk.Subscription](t)(c.Subscriptions.Update(background, sub.ID, &sdk.SubscriptionUpdate{CancelAtPeriodEnd: new(false)}))
		cancel()
		s.Mail.Refuse(nil)
		s.Must(t, "UPDATE letters SET next_attempt_at = 0 WHERE kind = 'subscription_canceled'")
		letters := becomes(t, c, "subscription_canceled", sdk.LetterStatusSent, sdk.LetterStatusSkipped)
		require.Len(t, letters, 2, "the letters")
		assert.Nil(t, arrived(s, letters[1].ID), "the letters")
	})
}

// What a letter tells of may be deleted before it is sent.
func TestLetters_NotOfWhatWasDeleted(t *testing.T) {
	onEachAlone(t, func(t *testing.T, c *sdk.Client, s *harness.Server) {
		s.Mail.Refuse(errRefused)
		product, who := onSale(t, c, 1900).Product.ID, member(t, c)
		ok[*sdk.Grant](t)(c.Grants.Create(background, &sdk.GrantCreate{Customer: who.ID, Product: product}))
		l := only(t, c, "access_given", sdk.LetterStatusQueued)
		s.Mail.Refuse(nil)
		s.Must(t, "UPDATE letters SET next_attempt_at = 0, object_id = 'grant_gone' WHERE id = '"+l.ID+"'")
		if l := only(t, c, "access_given", sdk.LetterStatusSkipped); *l.LastError != "What it tells of was deleted." {
			t.Errorf("the letter is %+v", l)
		}
	})
}

// A seller gives access to any address without a payment. Beyond a thousand an hour the letters wait, and none is lost.
func TestLetters_OfAccessWaitForTheirHour(t *testing.T) {
	onEachAlone(t, func(t *testing.T, c *sdk.Client, s *harness.Server) {
		product, who := onSale(t, c, 1900).Product.ID, member(t, c)
		give := func() {
			ok[*sdk.Grant](t)(c.Grants.Create(background, &sdk.GrantCreate{Customer: who.ID, Product: product}))
			settledLetters(t, c, "access_given")
		}
		give()
		only(t, c, "access_given", sdk.LetterStatusSent)
		s.Must(t, "UPDATE throttles SET counted = 1000 WHERE subject = 'access'")
		give()
		give()
		letters := becomes(t, c, "access_given", sdk.LetterStatusQueued, sdk.LetterStatusQueued)
		require.Len(t, letters, 3, "the letters")
		require.Zero(t, letters[0].Attempts, "the letters")
		require.Zero(t, letters[1].Attempts, "the letters")
		require.NotNil(t, letters[0].LastError, "the letters")
		require.True(t, letters[0].NextAttemptAt.Time().After(time.Now().Add(50*time.Minute)), "the letters")
		s.Must(t, "UPDATE throttles SET ends_at = 0 WHERE subject = 'access'")
		s.Must(t, "UPDATE letters SET next_attempt_at = 0 WHERE status = 'queued'")
		if letters = becomes(t, c, "access_given", sdk.LetterStatusSent, sdk.LetterStatusSent); letters[0].LastError != nil {
			t.Errorf("an hour later the letters are %+v", letters)
		}
	})
}

// Whoever moves the clock past all of it has each letter sent on the way, as things are at its moment.
func TestLetters_AreSentOnTheWayOfAClock(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, s *harness.Server) {
		onTrial(t, c, "month", 14)
		advance(t, c, 40*aDay)
		only(t, c, "trial_ending", sdk.LetterStatusSent)
		receipts := settledLetters(t, c, "receipt")
		require.Len(t, receipts, 2, "the receipts")
		assert.Equal(t, sdk.LetterStatusSent, receipts[0].Status, "the receipts")
	})
}

func TestLetters_NotOfATrialThatWasCancelledOrExtended(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, s *harness.Server) {
		sub := onTrial(t, c, "month", 14)
		ok[*sdk.Subscription](t)(c.Subscriptions.Update(background, sub.ID, &sdk.SubscriptionUpdate{TrialEnd: new(sdk.TimeOf(sub.TrialEnd.Time().Add(10 * aDay)))}))
		advance(t, c, 12*aDay)
		letters := settledLetters(t, c, "trial_ending")
		require.Len(t, letters, 2, "the letters")
		require.Equal(t, sdk.LetterStatusSkipped, letters[1].Status, "the letters")
		require.Contains(t, *letters[1].LastError, "extended", "the letters")
		require.Equal(t, sdk.LetterStatusQueued, letters[0].Status, "the letters")
		ok[*sdk.Subscription](t)(c.Subscriptions.Cancel(background, sub.ID, &sdk.SubscriptionCancel{AtPeriodEnd: new(true)}))
		tells(t, s, only(t, c, "subscription_canceled", sdk.LetterStatusSent), "Your subscription at Test is cancelled",
			"It goes on until "+sub.TrialEnd.Time().Add(10*aDay).Format("2 January 2006"))
		advance(t, c, 13*aDay)
		letters = settledLetters(t, c, "trial_ending")
		assert.Equal(t, sdk.LetterStatusSkipped, letters[0].Status, "the letters")
		require.NotNil(t, letters[0].LastError, "the letters")
		assert.Nil(t, arrived(s, letters[0].ID), "the letters")
		tells(t, s, only(t, c, "subscription_ended", sdk.LetterStatusSent), "Your subscription at Test has ended", "Your access ended on ")
	})
}

func TestLetters_ARenewalWasDeclined(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, s *harness.Server) {
		ok[*sdk.Account](t)(c.Account.Update(background, &sdk.AccountUpdate{WebsiteURL: sdk.Set("https://shop.example.com/"), Dunning: &sdk.Dunning{IntervalsDays: []int64{2, 5}, OnExhausted: "cancel"}}))
		sub := subscription(t, c, monthly(t, c, 900))
		who := sub.Customer.ID
		bad := ok[*sdk.SavedPaymentMethod](t)(c.Customers.CreatePaymentMethod(background, who, &sdk.SavedPaymentMethodCreate{PaymentMethod: sdk.PaymentMethod{Token: "pm_card_chargeCustomerFail"}}))
		ok[*sdk.Subscription](t)(c.Subscriptions.Update(background, sub.ID, &sdk.SubscriptionUpdate{PaymentMethod: &bad.ID}))
		endPeriod(t, c, sub)
		invoice := ok[*sdk.Subscription](t)(c.Subscriptions.Get(background, sub.ID, sdk.Expand("latest_invoice"))).LatestInvoice.Object
		l := only(t, c, "payment_failed", sdk.LetterStatusSent)
		assert.Equal(t, "invoice", l.About.Object, "the letter")
		assert.Equal(t, invoice.ID, l.About.ID, "the letter")
		assert.Equal(t, who, l.Customer.ID, "the letter")
		tells(t, s, l, "Your payment to Test did not go through", "Amount due: $9.00\n", "Visa card ending in 0341", "Reason: ", "Next attempt: "+
			invoice.NextPaymentAttemptAt.Time().Format("2 January 2006")+"\n", *invoice.HostedURL)
		advance(t, c, 3*aDay)
		letters := settledLetters(t, c, "payment_failed")
		require.Len(t, letters, 2, "after the second attempt the letters")
		assert.Equal(t, sdk.LetterStatusSent, letters[0].Status, "after the second attempt the letters")
		advance(t, c, 6*aDay)
		if letters := settledLetters(t, c, "payment_failed"); len(letters) != 2 {
			t.Errorf("the last attempt has a letter of its own: %+v", letters)
		}
		tells(t, s, only(t, c, "subscription_ended", sdk.LetterStatusSent), "Your subscription at Test has ended", "because it could not be charged", "https://shop.example.com/\n")
	})
}

// The last invoice of a subscription that has ended is charged once. Who did not pay it is told where to.
func TestLetters_ALastInvoiceWasDeclined(t *testing.T) {
	onEachAlone(t, func(t *testing.T, c *sdk.Client, s *harness.Server) {
		declined, says := "Visa card ending in 0341", []string{"Your subscription is over.", "not charged again by itself"}
		for _, isDeclined := range []bool{true, false} {
			sub := subscription(t, c, monthly(t, c, 900))
			if isDeclined {
				bad := ok[*sdk.SavedPaymentMethod](t)(c.Customers.CreatePaymentMethod(background, sub.Customer.ID, &sdk.SavedPaymentMethodCreate{PaymentMethod: sdk.PaymentMethod{Token: "pm_card_chargeCustomerFail"}}))
				ok[*sdk.Subscription](t)(c.Subscriptions.Update(background, sub.ID, &sdk.SubscriptionUpdate{PaymentMethod: &bad.ID}))
			}
			ok[*sdk.Subscription](t)(c.Subscriptions.Update(background, sub.ID, &sdk.SubscriptionUpdate{Quantity: new(int64(20))}))
			ok[*sdk.Subscription](t)(c.Subscriptions.Cancel(background, sub.ID, &sdk.SubscriptionCancel{AtPeriodEnd: new(true)}))
			if !isDeclined {
				s.Must(t, "UPDATE subscriptions SET payment_method = NULL")
				s.Must(t, "UPDATE customers SET default_payment_method_id = NULL")
				declined = "There is no card that could be charged"
			}
			advance(t, c, 32*aDay)
			order := ok[*sdk.OrderList](t)(c.Orders.List(background, &sdk.ListOrdersParams{Subscription: &sub.ID}, sdk.Expand("invoice"))).Data[0]
			invoice := order.Invoice.Object
			l := becomes(t, c, "payment_failed", sdk.LetterStatusSent)[0]
			assert.Equal(t, "invoice", l.About.Object)
			assert.Equal(t, invoice.ID, l.About.ID)
			assert.Equal(t, sub.Customer.ID, l.Customer.ID)
			assert.Equal(t, sdk.InvoiceStatusPastDue, invoice.Status)
			tells(t, s, l, "Your payment to Test did not go through", append(says, declined, "Amount due: ", *invoice.HostedURL)...)
			text := arrived(s, l.ID).Text
			assert.NotContains(t, text, "Next attempt", "the letter")
			assert.NotContains(t, text, "in the end", "the letter")
		}
		if letters := settledLetters(t, c, "payment_failed"); len(letters) != 2 {
			t.Errorf("the letters are %+v", letters)
		}
	})
}

func TestLetters_NotOfAnInvoiceThatWasPaidMeanwhile(t *testing.T) {
	onEachAlone(t, func(t *testing.T, c *sdk.Client, s *harness.Server) {
		sub := subscription(t, c, monthly(t, c, 900))
		s.Must(t, "UPDATE subscriptions SET payment_method = NULL")
		s.Must(t, "UPDATE customers SET default_payment_method_id = NULL")
		s.Mail.Refuse(errRefused)
		advance(t, c, 31*aDay)
		l := only(t, c, "payment_failed", sdk.LetterStatusQueued)
		invoice := ok[*sdk.Subscription](t)(c.Subscriptions.Get(background, sub.ID)).LatestInvoice.ID
		ok[*sdk.Invoice](t)(c.Invoices.Pay(background, invoice, &sdk.InvoicePay{OutOfBand: new(true)}))
		s.Mail.Refuse(nil)
		s.Must(t, "UPDATE letters SET next_attempt_at = 0 WHERE id = '"+l.ID+"'")
		l = only(t, c, "payment_failed", sdk.LetterStatusSkipped)
		assert.Equal(t, "The invoice is paid now.", *l.LastError, "the letter")
		assert.Nil(t, arrived(s, l.ID), "the letter")
	})
}

func TestLetters_AccessWasGiven(t *testing.T) {
	onEachAlone(t, func(t *testing.T, c *sdk.Client, s *harness.Server) {
		product := onSale(t, c, 1900).Product.ID
		who := member(t, c)
		g := ok[*sdk.Grant](t)(c.Grants.Create(background, &sdk.GrantCreate{Customer: who.ID, Product: product}))
		l := only(t, c, "access_given", sdk.LetterStatusSent)
		assert.Equal(t, "grant", l.About.Object, "the letter")
		assert.Equal(t, g.ID, l.About.ID, "the letter")
		assert.Equal(t, who.Email, *l.To, "the letter")
		name := ok[*sdk.Product](t)(c.Products.Get(background, product)).Name
		tells(t, s, l, "You have access to "+name+" from Test", "Test has given you access to "+name+".")
		s.Mail.Refuse(errRefused)
		g = ok[*sdk.Grant](t)(c.Grants.Create(background, &sdk.GrantCreate{Customer: who.ID, Product: product}))
		settledLetters(t, c, "access_given")
		ok[*sdk.Grant](t)(c.Grants.Revoke(background, g.ID))
		s.Must(t, "UPDATE letters SET next_attempt_at = 0 WHERE object_id = '"+g.ID+"'")
		if l := becomes(t, c, "access_given", sdk.LetterStatusSkipped)[0]; *l.LastError != "The grant is revoked now." {
			t.Errorf("of what was revoked, the letter is %+v", l)
		}
	})
}

func TestLetters_MoneyWasGivenBack(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, s *harness.Server) {
		order := purchase(t, c, "ada@example.com", onSale(t, c, 1900))
		refund := ok[*sdk.Refund](t)(c.Refunds.Create(background, &sdk.RefundCreate{Order: order.ID, Amount: new(int64(500))}))
		l := only(t, c, "refund", sdk.LetterStatusSent)
		assert.Equal(t, "refund", l.About.Object, "the letter")
		assert.Equal(t, refund.ID, l.About.ID, "the letter")
		assert.Equal(t, "ada@example.com", *l.To, "the letter")
		tells(t, s, l, "Your refund from Test: order 1", "$5.00", order.ReceiptURL)
	})
}
