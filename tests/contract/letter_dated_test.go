package contract

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/tests/harness"
)

// none expects no letter of a kind to have been sent.
func none(t *testing.T, c *sdk.Client, kind sdk.LetterKind) {
	t.Helper()
	for _, l := range settledLetters(t, c, kind) {
		if l.Status == sdk.LetterStatusSent {
			t.Errorf("there is a letter: %+v", l)
		}
	}
}

// sentOf returns the letters of a kind that were sent, newest first.
func sentOf(t *testing.T, c *sdk.Client, kind sdk.LetterKind) (sent []sdk.Letter) {
	t.Helper()
	for _, l := range settledLetters(t, c, kind) {
		if l.Status == sdk.LetterStatusSent {
			sent = append(sent, l)
		}
	}
	return sent
}

// issued issues an invoice that is due in ten days.
func issued(t *testing.T, c *sdk.Client) *sdk.Invoice {
	t.Helper()
	due := sdk.TimeOf(ok[*sdk.TestClock](t)(c.TestHelpers.AdvanceClock(background, &sdk.TestClockCreate{AdvanceSeconds: new(int64(0))})).Now.Time().Add(10 * aDay))
	made := ok[*sdk.Invoice](t)(c.Invoices.Create(background, &sdk.InvoiceCreate{Customer: member(t, c).ID, DueAt: &due, Lines: []sdk.InvoiceLineCreate{workshop(4000)}}))
	return ok[*sdk.Invoice](t)(c.Invoices.Finalize(background, made.ID))
}

func TestLetters_AnInvoiceIsDue(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, s *harness.Server) {
		invoice := issued(t, c)
		day := invoice.DueAt.Time().Format("2 January 2006")
		told := map[string]bool{} // the letters of earlier steps
		for n, step := range []struct {
			after time.Duration
			says  string
		}{{7*aDay + time.Minute, " is due on "}, {3 * aDay, " is due on "}, {7 * aDay, " was due on "}} {
			advance(t, c, step.after-time.Hour)
			if sent := sentOf(t, c, "invoice_reminder"); len(sent) != n {
				t.Fatalf("an hour before, %d are sent: %+v", len(sent), sent)
			}
			advance(t, c, time.Hour)
			sent := sentOf(t, c, "invoice_reminder")
			require.Len(t, sent, n+1)
			require.Equal(t, "invoice", sent[0].About.Object)
			require.Equal(t, invoice.ID, sent[0].About.ID)
			for _, l := range sent {
				text := arrived(s, l.ID)
				assert.Contains(t, text.Text, *invoice.HostedURL)
				assert.Contains(t, text.Text, "Amount due: $40.00")
				assert.Contains(t, text.Subject, day)
			}
			for _, l := range sent {
				if !told[l.ID] && !strings.Contains(*l.Subject, step.says) {
					t.Errorf("the one of step %d says %q, not %q", n, *l.Subject, step.says)
				}
				told[l.ID] = true
			}
		}
		advance(t, c, 60*aDay)
		if sent := sentOf(t, c, "invoice_reminder"); len(sent) != 3 {
			t.Errorf("two months later they are %+v", sent)
		}
	})
}

// What is paid, or due on another day, is not asked for on the day of before.
func TestLetters_NotOfAnInvoiceThatIsPaidOrDueLater(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		invoice := issued(t, c)
		later := sdk.TimeOf(invoice.DueAt.Time().Add(30 * aDay))
		ok[*sdk.Invoice](t)(c.Invoices.Update(background, invoice.ID, &sdk.InvoiceUpdate{DueAt: sdk.Set(later)}))
		advance(t, c, 11*aDay)
		none(t, c, "invoice_reminder")
		advance(t, c, 27*aDay)
		if sent := sentOf(t, c, "invoice_reminder"); len(sent) != 1 {
			t.Errorf("before the later day they are %+v", sent)
		}
		ok[*sdk.Invoice](t)(c.Invoices.Pay(background, invoice.ID, &sdk.InvoicePay{OutOfBand: new(true)}))
		advance(t, c, 60*aDay)
		if sent := sentOf(t, c, "invoice_reminder"); len(sent) != 1 {
			t.Errorf("of a paid one they are %+v", sent)
		}
	})
}

// When a server, or its mail server, comes back late, the customer is told how things stand, not of each day that is over.
func TestLetters_AnInvoiceIsRemindedOfOnceAfterARest(t *testing.T) {
	onEachAlone(t, func(t *testing.T, c *sdk.Client, s *harness.Server) {
		issued(t, c)
		s.Mail.Refuse(errRefused)
		retry := func() {
			settledLetters(t, c, "invoice_reminder") // each was tried, and its end is stored
			s.Mail.Refuse(nil)
			s.Must(t, "UPDATE letters SET next_attempt_at = 0, last_error = NULL WHERE status = 'queued' AND due_at IS NULL") // without an error, one that is being sent is seen to be
		}
		advance(t, c, 11*aDay)
		retry()
		sent := sentOf(t, c, "invoice_reminder")
		require.Len(t, sent, 1, "a day after it was due they")
		require.Contains(t, *sent[0].Subject, " is due on ", "a day after it was due they")
		issued(t, c)
		s.Mail.Refuse(errRefused)
		advance(t, c, 60*aDay)
		retry()
		sent = sentOf(t, c, "invoice_reminder")
		require.Len(t, sent, 3, "weeks later they")
		assert.Contains(t, *sent[0].Subject, " was due on ", "weeks later they")
	})
}

// What is asked for again is sent as things stand.
func TestResendLetter_AReminderSaysThatItsDayIsOver(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		issued(t, c)
		advance(t, c, 8*aDay)
		first := sentOf(t, c, "invoice_reminder")[0]
		advance(t, c, 5*aDay)
		ok[*sdk.Letter](t)(c.Letters.Resend(background, first.ID))
		settledLetters(t, c, "invoice_reminder")
		l := ok[*sdk.Letter](t)(c.Letters.Get(background, first.ID))
		assert.Equal(t, sdk.LetterStatusSent, l.Status)
		assert.Contains(t, *l.Subject, " was due on ")
	})
}

// A customer who has many invoices is reminded of each. Beyond ten letters an hour to a mailbox they wait, and nobody else's do.
func TestLetters_RemindersToOneMailboxWait(t *testing.T) {
	onEachAlone(t, func(t *testing.T, c *sdk.Client, s *harness.Server) {
		invoice := issued(t, c)
		advance(t, c, 8*aDay)
		s.Must(t, "UPDATE throttles SET counted = 10 WHERE subject LIKE 'unasked:%'")
		other := ok[*sdk.Invoice](t)(c.Invoices.Update(background, issued(t, c).ID, &sdk.InvoiceUpdate{DueAt: sdk.Set(sdk.TimeOf(invoice.DueAt.Time().Add(3 * aDay)))}))
		advance(t, c, 2*aDay+time.Hour)
		var waits sdk.Letter
		for _, l := range settledLetters(t, c, "invoice_reminder") {
			if l.LastError != nil && l.Status == sdk.LetterStatusQueued {
				waits = l
			}
		}
		require.NotEmpty(t, waits.ID)
		require.Equal(t, invoice.ID, waits.About.ID)
		require.Zero(t, waits.Attempts)
		require.True(t, waits.NextAttemptAt.Time().After(time.Now().Add(50*time.Minute)))
		require.Contains(t, *waits.LastError, "to this address")
		sent := sentOf(t, c, "invoice_reminder")
		require.Len(t, sent, 2, "those")
		assert.Equal(t, other.ID, sent[0].About.ID, "those")
		s.Must(t, "UPDATE throttles SET ends_at = 0 WHERE subject LIKE 'unasked:%'")
		s.Must(t, "UPDATE letters SET next_attempt_at = 0 WHERE id = '"+waits.ID+"'")
		assert.True(t, comes(func() bool { // while it is tried again it looks as if it waited
			waits = *ok[*sdk.Letter](t)(c.Letters.Get(background, waits.ID))
			return waits.Status != sdk.LetterStatusQueued
		}), "an hour later")
		assert.Equal(t, sdk.LetterStatusSent, waits.Status, "an hour later")
		assert.Nil(t, waits.LastError, "an hour later")
	})
}

// yearly puts a plan of a year on sale.
func yearly(t *testing.T, c *sdk.Client) *sdk.PriceVariant {
	t.Helper()
	return variantOnSale(t, c, sdk.ProductPriceVariant{
		Type: new(sdk.PriceVariantTypeRecurring), Interval: new(sdk.PriceVariantIntervalYear), IntervalCount: new(int64(1)), Amount: new(int64(9000)), Currency: new("usd"),
	})
}

func TestLetters_AYearRenewsSoon(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, s *harness.Server) {
		sub := subscription(t, c, yearly(t, c))
		end := sub.CurrentPeriodEnd.Time()
		advance(t, c, time.Until(end)-14*aDay-time.Hour)
		none(t, c, "renewal_upcoming")
		advance(t, c, 2*time.Hour)
		l := sentOf(t, c, "renewal_upcoming")[0]
		day := end.Format("2 January 2006")
		tells(t, s, l, "Your subscription at Test renews on "+day, "On "+day+": $90.00\n", "every year\n", "Visa card ending in 4242", "/portal?shop=")
		advance(t, c, 30*aDay)
		if sent := sentOf(t, c, "renewal_upcoming"); len(sent) != 1 {
			t.Errorf("they are %+v", sent)
		}
		ok[*sdk.Subscription](t)(c.Subscriptions.Cancel(background, sub.ID, &sdk.SubscriptionCancel{AtPeriodEnd: new(true)}))
		advance(t, c, 365*aDay)
		if sent := sentOf(t, c, "renewal_upcoming"); len(sent) != 1 {
			t.Errorf("of one that is cancelled they are %+v", sent)
		}
	})
}

// expiresSoon has the card of a subscription expire in some months, and returns when that is.
func expiresSoon(t *testing.T, s *harness.Server, sub *sdk.Subscription) time.Time {
	t.Helper()
	now := time.Now().UTC()
	last := time.Date(now.Year(), now.Month()+3, 1, 0, 0, 0, 0, time.UTC) // its month is the one of which this is in the next
	s.Must(t, fmt.Sprintf(`UPDATE payment_methods SET card = replace(replace(CAST(card AS TEXT), '2099', '%d'), '"exp_month":12', '"exp_month":%d') WHERE customer_id = '%s'`,
		last.AddDate(0, 0, -1).Year(), int(last.AddDate(0, 0, -1).Month()), sub.Customer.ID))
	return last
}

func TestLetters_ACardExpires(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, s *harness.Server) {
		sub := subscription(t, c, monthly(t, c, 900))
		last := expiresSoon(t, s, sub)
		advance(t, c, time.Until(last)-30*aDay-time.Hour)
		none(t, c, "card_expiring")
		advance(t, c, 2*time.Hour)
		sent := sentOf(t, c, "card_expiring")
		if len(sent) != 1 {
			t.Fatalf("they are %+v", settledLetters(t, c, "card_expiring"))
		}
		tells(t, s, sent[0], "Your card for Test expires soon", "Visa card ending in 4242", last.AddDate(0, 0, -1).Format("01/2006"), "/portal?shop=")
		advance(t, c, 40*aDay)
		if sent := sentOf(t, c, "card_expiring"); len(sent) != 1 {
			t.Errorf("they are %+v", sent)
		}
	})
}

// Who chooses a card in the middle of a long period is told before it expires, once however often they choose it.
func TestLetters_ACardExpiresThatWasChosenSince(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, s *harness.Server) {
		sub := subscription(t, c, yearly(t, c))
		other := ok[*sdk.SavedPaymentMethod](t)(c.Customers.CreatePaymentMethod(background, sub.Customer.ID, &sdk.SavedPaymentMethodCreate{PaymentMethod: sdk.PaymentMethod{Token: "pm_card_mastercard"}}))
		last := expiresSoon(t, s, sub)
		for _, card := range []string{other.ID, sub.PaymentMethod.ID, other.ID} {
			ok[*sdk.Subscription](t)(c.Subscriptions.Update(background, sub.ID, &sdk.SubscriptionUpdate{PaymentMethod: &card}))
		}
		advance(t, c, time.Until(last)-30*aDay-time.Hour)
		none(t, c, "card_expiring")
		advance(t, c, 2*time.Hour)
		sent := sentOf(t, c, "card_expiring")
		if len(sent) != 1 {
			t.Fatalf("they are %+v", settledLetters(t, c, "card_expiring"))
		}
		tells(t, s, sent[0], "Your card for Test expires soon", "Mastercard card ending in 4444")

		// The other card was left on the day of its letter, and is chosen again before it expires.
		ok[*sdk.Subscription](t)(c.Subscriptions.Update(background, sub.ID, &sdk.SubscriptionUpdate{PaymentMethod: &sub.PaymentMethod.ID}))
		advance(t, c, time.Hour)
		again := sentOf(t, c, "card_expiring")
		if len(again) != 2 {
			t.Fatalf("they are %+v", settledLetters(t, c, "card_expiring"))
		}
		tells(t, s, again[0], "Your card for Test expires soon", "Visa card ending in 4242")
		advance(t, c, aDay)
		if sent := sentOf(t, c, "card_expiring"); len(sent) != 2 {
			t.Errorf("they are %+v", sent)
		}
	})
}

// asksFor asks for a change of plan with the next period, or at once.
func asksFor(t *testing.T, c *sdk.Client, sub *sdk.Subscription, to *sdk.PriceVariant, behavior sdk.ProrationBehavior) {
	t.Helper()
	ok[*sdk.Subscription](t)(c.Subscriptions.Change(background, sub.ID, &sdk.SubscriptionChangeCreate{PriceVariant: &to.ID, ProrationBehavior: &behavior}))
}

// planLetters returns the letters about changed plans that were sent, newest first, once their time has come.
func planLetters(t *testing.T, c *sdk.Client, want int) []sdk.Letter {
	t.Helper()
	advance(t, c, 10*time.Minute)
	sent := sentOf(t, c, "plan_changed")
	if len(sent) != want {
		t.Fatalf("of changed plans there are %+v", settledLetters(t, c, "plan_changed"))
	}
	return sent
}

func TestLetters_APlanChangesAndASubscriptionIsKept(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, s *harness.Server) {
		cheap, dear := monthly(t, c, 900), yearly(t, c)
		sub := subscription(t, c, cheap)
		asksFor(t, c, sub, dear, sdk.ProrationBehaviorNextPeriod)
		day := sub.CurrentPeriodEnd.Time().Format("2 January 2006")
		tells(t, s, planLetters(t, c, 1)[0], "Your subscription at Test changes", "on "+day+". Until then", "On "+day+": $90.00", "every year", "/portal?shop=")
		asksFor(t, c, sub, cheap, sdk.ProrationBehaviorNextPeriod)
		tells(t, s, planLetters(t, c, 2)[0], "Your subscription at Test changes", "Your subscription is ", " now.", "every month")
		asksFor(t, c, sub, cheap, sdk.ProrationBehaviorNextPeriod)
		planLetters(t, c, 2)
		asksFor(t, c, sub, dear, sdk.ProrationBehaviorInvoiceImmediately)
		tells(t, s, planLetters(t, c, 3)[0], "Your subscription at Test changes", "Your subscription is ", " now.", "every year")

		ok[*sdk.Subscription](t)(c.Subscriptions.Cancel(background, sub.ID, &sdk.SubscriptionCancel{AtPeriodEnd: new(true)}))
		becomes(t, c, "subscription_canceled", sdk.LetterStatusSent)
		none(t, c, "subscription_kept")
		ok[*sdk.Subscription](t)(c.Subscriptions.Uncancel(background, sub.ID))
		tells(t, s, only(t, c, "subscription_kept", sdk.LetterStatusSent), "Your subscription at Test goes on", "was taken back", "/portal?shop=")
	})
}

// Whoever changes the number of seats again and again is told of the last one.
func TestLetters_ChangesOfAPlanThatFollowEachOtherHaveOneLetter(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, s *harness.Server) {
		sub := subscription(t, c, monthly(t, c, 900))
		for seats := range int64(5) {
			ok[*sdk.Subscription](t)(c.Subscriptions.Change(background, sub.ID, &sdk.SubscriptionChangeCreate{Quantity: new(seats + 2)}))
			settledLetters(t, c, "plan_changed")
		}
		tells(t, s, planLetters(t, c, 1)[0], "Your subscription at Test changes", "Quantity: 6")
	})
}

// A plan that changes after a pause is charged when that is over.
func TestLetters_APlanChangesAfterAPause(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, s *harness.Server) {
		cheap, dear := monthly(t, c, 900), yearly(t, c)
		sub := subscription(t, c, cheap)
		end := sub.CurrentPeriodEnd.Time()
		resumes := sdk.TimeOf(end.Add(20 * aDay))
		ok[*sdk.Subscription](t)(c.Subscriptions.Pause(background, sub.ID, &sdk.SubscriptionPause{AtPeriodEnd: new(true), ResumesAt: &resumes}))
		asksFor(t, c, sub, dear, sdk.ProrationBehaviorNextPeriod)
		day := resumes.Time().Format("2 January 2006")
		l := planLetters(t, c, 1)[0]
		tells(t, s, l, "Your subscription at Test changes", " on "+day+". Until then", "On "+day+": $90.00")

		ok[*sdk.Subscription](t)(c.Subscriptions.Resume(background, sub.ID))
		ok[*sdk.Subscription](t)(c.Subscriptions.Pause(background, sub.ID, &sdk.SubscriptionPause{AtPeriodEnd: new(true)}))
		ok[*sdk.Letter](t)(c.Letters.Resend(background, l.ID))
		becomes(t, c, "plan_changed", sdk.LetterStatusSent)
		tells(t, s, l, "Your subscription at Test changes")
		var again string
		for _, sent := range s.Mail.Listed() {
			if strings.HasPrefix(sent.ID, l.ID+"-1") {
				again = sent.Text
			}
		}
		assert.Contains(t, again, "when it is resumed", "without a day")
		assert.NotContains(t, again, end.Format("2 January 2006"), "without a day")
		assert.NotContains(t, again, "90.00", "without a day")
	})
}

// A card that is charged no more is not asked to be changed.
func TestLetters_NoCardExpiresOfAPlanThatIsPaid(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, s *harness.Server) {
		sub := subscription(t, c, monthly(t, c, 900))
		last := expiresSoon(t, s, sub)
		advance(t, c, time.Until(last)-30*aDay-time.Hour)
		s.Must(t, "UPDATE subscriptions SET billing_cycles = cycles_billed WHERE id = '"+sub.ID+"'")
		advance(t, c, 2*time.Hour)
		if l := only(t, c, "card_expiring", sdk.LetterStatusSkipped); !strings.Contains(*l.LastError, "will not be renewed") {
			t.Errorf("it is %+v", l)
		}
	})
}

// The seller's own invoices are reminded of. Those of subscriptions have letters about payments that failed.
func TestLetters_NoReminderOfAnInvoiceOfASubscription(t *testing.T) {
	onEachAlone(t, func(t *testing.T, c *sdk.Client, s *harness.Server) {
		sub := subscription(t, c, monthly(t, c, 900))
		s.Must(t, "UPDATE subscriptions SET payment_method = NULL")
		s.Must(t, "UPDATE customers SET default_payment_method_id = NULL")
		end := advance(t, c, 31*aDay).Now.Time()
		invoice := ok[*sdk.Subscription](t)(c.Subscriptions.Get(background, sub.ID)).LatestInvoice.ID
		ok[*sdk.Invoice](t)(c.Invoices.Update(background, invoice, &sdk.InvoiceUpdate{DueAt: sdk.Set(sdk.TimeOf(end.Add(10 * aDay)))}))
		if letters := ok[*sdk.LetterList](t)(c.Letters.List(background, &sdk.ListLettersParams{Kind: new(sdk.LetterKind("invoice_reminder"))})).Data; len(letters) != 0 {
			t.Errorf("they are %+v", letters)
		}
	})
}
