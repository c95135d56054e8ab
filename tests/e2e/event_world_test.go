package e2e

import (
	"cmp"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/tests/harness"
)

// shop is an account of its own, with a receiver that all its events go to.
type shop struct {
	*sdk.Client
	t        *testing.T
	account  string
	receiver *harness.Receiver
	secret   string
}

func newShop(t *testing.T, client *harness.Client) *shop {
	t.Helper()
	s := &shop{Client: client.SDK(), t: t, account: client.Account, receiver: harness.NewReceiver(t)}
	endpoint, err := s.WebhookEndpoints.Create(background, &sdk.WebhookEndpointCreate{URL: s.receiver.URL})
	require.NoError(t, err)
	s.secret = *endpoint.Secret
	return s
}

// told is what the receiver was told of one bill, or of one checkout, in the order in which it arrived.
type told struct {
	first  sdk.Time
	events []string // in the words of describe
	ids    []string
}

// arrived waits until nothing is under way to the receiver, and returns what it was told, bill by bill.
func (s *shop) arrived(db *harness.Database) []*told {
	s.t.Helper()
	require.Eventually(s.t, func() bool {
		waiting := db.Strings(s.t, `SELECT id FROM webhook_deliveries WHERE account_id = '`+s.account+`' AND state NOT IN ('succeeded', 'failed')`)
		return len(waiting) == 0
	}, harness.Patience, 10*time.Millisecond, "events are under way")
	bills := map[string]*told{}
	for _, d := range s.receiver.Deliveries() {
		event, err := sdk.VerifyWebhook(d.Body, d.Header, s.secret)
		require.NoError(s.t, err)
		if event.Type == "product.created" || event.Type == "product.updated" {
			continue
		}
		bill, text := describe(s.t, event)
		if bills[bill] == nil {
			bills[bill] = &told{first: event.CreatedAt}
		}
		bills[bill].events, bills[bill].ids = append(bills[bill].events, text), append(bills[bill].ids, event.ID)
	}
	all := make([]*told, 0, len(bills))
	for _, bill := range bills {
		all = append(all, bill)
	}
	slices.SortFunc(all, func(a, b *told) int {
		return cmp.Or(a.first.Time().Compare(b.first.Time()), cmp.Compare(a.ids[0], b.ids[0]))
	})
	return all
}

// describe names the bill that an event is about, by its invoice, and says what the payload says of it.
func describe(t *testing.T, event *sdk.Event) (bill, text string) {
	t.Helper()
	switch event.Type {
	case "checkout.created":
		checkout, err := event.Checkout()
		require.NoError(t, err)
		return checkout.ID, fmt.Sprintf("checkout.created %s %s", checkout.Status, checkout.PaymentStatus)
	case "order.created", "order.paid":
		order, err := event.Order()
		require.NoError(t, err)
		return order.Invoice.ID, fmt.Sprintf("%s %s %s %d/%d", event.Type, order.Status, order.BillingReason, order.PaidAmount, order.TotalAmount)
	case "refund.created", "refund.updated":
		order, err := event.Order()
		require.NoError(t, err)
		refund, err := event.Refund()
		require.NoError(t, err)
		return order.Invoice.ID, fmt.Sprintf("%s %s %d of %s %d/%d", event.Type, refund.Status, refund.Amount, order.Status, order.RefundedAmount, order.PaidAmount)
	}
	invoice, err := event.Invoice()
	require.NoError(t, err)
	return invoice.ID, fmt.Sprintf("%s %s %d/%d", event.Type, invoice.Status, invoice.AmountPaid, invoice.TotalAmount)
}

// requireCounted holds the count of each bill's events against the order in which they arrived.
func (s *shop) requireCounted(db *harness.Database, bills []*told) {
	s.t.Helper()
	for _, bill := range bills {
		for i, id := range bill.ids {
			seq := db.Strings(s.t, `SELECT CAST(key_seq AS TEXT) FROM events WHERE account_id = '`+s.account+`' AND id = '`+id+`'`)
			assert.Equal(s.t, []string{fmt.Sprint(i + 1)}, seq, "the count of %s", bill.events[i])
		}
	}
	emitted := db.Strings(s.t, `SELECT id FROM events WHERE account_id = '`+s.account+`'`)
	assert.Len(s.t, s.receiver.Deliveries(), len(emitted), "every event arrives once")
}

// price puts a product on sale and returns its one price variant.
func (s *shop) price(v sdk.ProductPriceVariant) string {
	s.t.Helper()
	v.Currency = new("usd")
	product, err := s.Products.Create(background, &sdk.ProductCreate{
		Name: "Membership", Status: new(sdk.ProductStatusActive), PriceVariants: []sdk.ProductPriceVariant{v},
	})
	require.NoError(s.t, err)
	return product.PriceVariants[0].ID
}

func monthly(amount int64) sdk.ProductPriceVariant {
	return sdk.ProductPriceVariant{
		Type: new(sdk.PriceVariantTypeRecurring), Interval: new(sdk.PriceVariantIntervalMonth), IntervalCount: new(int64(1)), Amount: &amount,
	}
}

// buy pays for a price with a method, which is empty where there is nothing to pay, and returns the checkout.
func (s *shop) buy(v sdk.ProductPriceVariant, method string) *sdk.Checkout {
	s.t.Helper()
	made, err := s.Checkouts.Create(background, &sdk.CheckoutCreate{
		CustomerEmail: new("grace@example.com"), CustomerEmailVerified: new(true), LineItems: []sdk.CheckoutLine{{PriceVariant: s.price(v)}},
	})
	require.NoError(s.t, err)
	how := &sdk.CheckoutConfirm{PaymentMethod: &sdk.PaymentMethod{Token: method}}
	if method == "" {
		how.PaymentMethod = nil
	}
	paid, err := s.Checkouts.Confirm(background, made.ID, how)
	require.NoError(s.t, err)
	require.Equal(s.t, sdk.CheckoutStatusCompleted, paid.Status)
	return paid
}

func (s *shop) subscribe(v sdk.ProductPriceVariant, method string) *sdk.Subscription {
	s.t.Helper()
	return s.now(s.buy(v, method).Subscription.ID)
}

// now is a subscription as it is now.
func (s *shop) now(id string) *sdk.Subscription {
	s.t.Helper()
	sub, err := s.Subscriptions.Get(background, id)
	require.NoError(s.t, err)
	return sub
}

// until moves the account's clock to a moment, and is back when all that is due by then is done.
func (s *shop) until(at time.Time) {
	s.t.Helper()
	clock, err := s.TestHelpers.AdvanceClock(background, &sdk.TestClockCreate{Now: new(sdk.TimeOf(at.Add(time.Second)))})
	require.NoError(s.t, err)
	require.True(s.t, clock.Done)
}

// renew moves the clock to the end of a subscription's period.
func (s *shop) renew(id string) *sdk.Subscription {
	s.t.Helper()
	s.until(s.now(id).CurrentPeriodEnd.Time())
	return s.now(id)
}

// retry moves the clock to the next attempt at what a subscription owes.
func (s *shop) retry(id string) *sdk.Subscription {
	s.t.Helper()
	sub := s.now(id)
	require.Equal(s.t, sdk.SubscriptionStatusPastDue, sub.Status)
	require.NotNil(s.t, sub.NextPaymentAttemptAt)
	s.until(sub.NextPaymentAttemptAt.Time())
	return s.now(id)
}
