package e2e

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/tests/harness"
	"github.com/tillwright/tillwright/tests/harness/database"
)

// eventRow is something that happens to money, and what a receiver is told of every bill of it, in this order.
type eventRow struct {
	name string
	play func(s *shop)
	want [][]string
}

// TestEvents_ArriveInTheirOrder plays everything that moves money against the built program and its test clock, with a receiver that verifies what it
// is told. The receiver is told of each bill in the order of what happened. Each payload shows the order and the invoice as they were at that step.
// The steps are counted without a gap.
func TestEvents_ArriveInTheirOrder(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		s := newSite(t, url)
		accounts := harness.Accounts(t, url, len(eventRows()))
		program, db := s.binary.Serve(t, ""), harness.OpenDatabase(t, url)
		for i, row := range eventRows() {
			t.Run(row.name, func(t *testing.T) {
				st := newShop(t, accounts[i].At(program.URL))
				row.play(st)
				bills := st.arrived(db)
				events := make([][]string, len(bills))
				for j, bill := range bills {
					events[j] = bill.events
				}
				assert.Equal(t, row.want, events)
				st.requireCounted(db, bills)
			})
		}
		_, code := program.Terminate(t)
		assert.Zero(t, code)
	})
}

// of are the bills of a row.
func of(bills ...[]string) [][]string { return bills }

// checkoutCreated is told of every checkout, which is a row of its own.
func checkoutCreated() []string { return []string{"checkout.created open unpaid"} }

// issued are the events of a bill that is made for so much, in units of its currency, and not paid yet.
func issued(reason string, total int64, then ...string) []string {
	return append([]string{
		fmt.Sprintf("order.created pending %s 0/%d", reason, total), fmt.Sprintf("invoice.created open 0/%d", total),
	}, then...)
}

// paid are the events of a bill when its money comes.
func paid(reason string, amount int64) []string {
	return []string{fmt.Sprintf("order.paid paid %s %d/%d", reason, amount, amount), fmt.Sprintf("invoice.paid paid %d/%d", amount, amount)}
}

// charged is a bill that is paid when it is made.
func charged(reason string, total int64) []string {
	return issued(reason, total, paid(reason, total)...)
}

func eventRows() []eventRow {
	const create, cycle, update = "subscription_create", "subscription_cycle", "subscription_update"
	return []eventRow{
		{"purchase", func(s *shop) { s.buy(sdk.ProductPriceVariant{Amount: new(int64(1900))}, "pm_card_visa") },
			of(checkoutCreated(), charged("purchase", 1900))},
		{"purchase of nothing", func(s *shop) { s.buy(sdk.ProductPriceVariant{AmountType: new(sdk.PriceVariantAmountTypeFree)}, "") },
			of(checkoutCreated(), charged("purchase", 0))},
		{"purchase after a decline", declinedFirst, of(checkoutCreated(), charged("purchase", 1900))},
		{"trial", trial, of(checkoutCreated(), charged(create, 0), charged(cycle, 900))},
		{"trial with a setup fee", func(s *shop) {
			fee := monthly(900)
			fee.TrialDays, fee.SetupFeeAmount = new(int64(14)), new(int64(500))
			s.subscribe(fee, "pm_card_visa")
		}, of(checkoutCreated(), charged(create, 500))},
		{"renewal", func(s *shop) { s.renew(s.renew(s.subscribe(monthly(900), "pm_card_visa").ID).ID) },
			of(checkoutCreated(), charged(create, 900), charged(cycle, 900), charged(cycle, 900))},
		{"failed renewal and recovery", recovery,
			of(checkoutCreated(), charged(create, 900), issued(cycle, 900, append([]string{"invoice.past_due past_due 0/900"}, paid(cycle, 900)...)...))},
		{"failed renewal that is paid by hand", func(s *shop) {
			sub := s.renew(s.subscribe(monthly(900), "tok_fail_on_renewal").ID)
			_, err := s.Invoices.Pay(background, sub.LatestInvoice.ID, &sdk.InvoicePay{PaymentMethod: &sdk.PaymentMethod{Token: "pm_card_visa"}})
			require.NoError(s.t, err)
			assert.Equal(s.t, sdk.SubscriptionStatusActive, s.now(sub.ID).Status)
		}, of(checkoutCreated(), charged(create, 900), issued(cycle, 900, append([]string{"invoice.past_due past_due 0/900"}, paid(cycle, 900)...)...))},
		{"exhaustion", exhaustion,
			of(checkoutCreated(), charged(create, 900), issued(cycle, 900, "invoice.past_due past_due 0/900", "invoice.voided void 0/900"))},
		{"plan change up", func(s *shop) { s.change(s.subscribe(monthly(900), "pm_card_visa"), 2900) },
			of(checkoutCreated(), charged(create, 900), charged(update, 2000))},
		{"plan change that is declined", func(s *shop) {
			sub := s.subscribe(monthly(900), "tok_fail_on_renewal")
			assert.ErrorContains(s.t, s.tryChange(sub, 2900), "declined")
			assert.EqualValues(s.t, 900, s.now(sub.ID).Amount)
		}, of(checkoutCreated(), charged(create, 900), issued(update, 2000, "invoice.voided void 0/2000"))},
		{"plan change down", planDown, of(checkoutCreated(), charged(create, 2900),
			issued(cycle, 900, "order.paid paid subscription_cycle 0/900", "invoice.paid paid 0/900"))},
		{"cancellation", func(s *shop) {
			sub := s.subscribe(monthly(900), "pm_card_visa")
			_, err := s.Subscriptions.Cancel(background, sub.ID, &sdk.SubscriptionCancel{})
			require.NoError(s.t, err)
			assert.Equal(s.t, sdk.SubscriptionStatusCanceled, s.renew(sub.ID).Status)
		}, of(checkoutCreated(), charged(create, 900))},
		{"cancellation that gives back the rest", func(s *shop) {
			sub := s.subscribe(monthly(900), "pm_card_visa")
			_, err := s.Subscriptions.Cancel(background, sub.ID, &sdk.SubscriptionCancel{
				AtPeriodEnd: new(false), Refund: new(sdk.SubscriptionCancelRefundProrated),
			})
			require.NoError(s.t, err)
		}, of(checkoutCreated(), append(charged(create, 900),
			"refund.created pending 900 of refunded 900/900", "refund.updated succeeded 900 of refunded 900/900"))},
		{"manual invoice that is paid", func(s *shop) {
			draft := s.draft()
			_, err := s.Invoices.Finalize(background, draft)
			require.NoError(s.t, err)
			_, err = s.Invoices.Pay(background, draft, &sdk.InvoicePay{PaymentMethod: &sdk.PaymentMethod{Token: "pm_card_visa"}})
			require.NoError(s.t, err)
		}, of(append([]string{"invoice.created draft 0/700", "order.created pending manual 0/700"}, paid("manual", 700)...))},
		{"manual invoice that is late and void", lateInvoice, of([]string{
			"invoice.created draft 0/700", "order.created pending manual 0/700", "invoice.past_due past_due 0/700", "invoice.voided void 0/700",
		})},
		{"partial and full refund", func(s *shop) {
			order := s.buy(sdk.ProductPriceVariant{Amount: new(int64(1900))}, "pm_card_visa").Order.ID
			s.refund(order, new(int64(500)))
			s.refund(order, nil)
		}, of(checkoutCreated(), append(charged("purchase", 1900),
			"refund.created pending 500 of partially_refunded 500/1900", "refund.updated succeeded 500 of partially_refunded 500/1900",
			"refund.created pending 1400 of refunded 1900/1900", "refund.updated succeeded 1400 of refunded 1900/1900"))},
		{"refund that fails", failingRefund, of(checkoutCreated(), append(charged("purchase", 1900),
			"refund.created pending 1900 of refunded 1900/1900", "refund.updated failed 1900 of paid 0/1900"))},
	}
}

func declinedFirst(s *shop) {
	made, err := s.Checkouts.Create(background, &sdk.CheckoutCreate{
		CustomerEmail: new("grace@example.com"), LineItems: []sdk.CheckoutLine{{PriceVariant: s.price(sdk.ProductPriceVariant{Amount: new(int64(1900))})}},
	})
	require.NoError(s.t, err)
	for _, method := range []string{"pm_card_chargeDeclined", "pm_card_visa"} {
		_, err = s.Checkouts.Confirm(background, made.ID, &sdk.CheckoutConfirm{PaymentMethod: &sdk.PaymentMethod{Token: method}})
		assert.Equal(s.t, method == "pm_card_chargeDeclined", err != nil, err)
	}
}

func trial(s *shop) {
	v := monthly(900)
	v.TrialDays = new(int64(14))
	sub := s.subscribe(v, "pm_card_visa")
	require.Equal(s.t, sdk.SubscriptionStatusTrialing, sub.Status)
	assert.Equal(s.t, sdk.SubscriptionStatusActive, s.renew(sub.ID).Status)
}

// recovery declines a renewal and its first retry.
func recovery(s *shop) {
	sub := s.renew(s.subscribe(monthly(900), "tok_recover_on_3rd").ID)
	sub = s.retry(sub.ID)
	assert.Equal(s.t, sdk.SubscriptionStatusPastDue, sub.Status)
	assert.Equal(s.t, sdk.SubscriptionStatusActive, s.retry(sub.ID).Status)
}

func exhaustion(s *shop) {
	sub := s.renew(s.subscribe(monthly(900), "tok_fail_on_renewal").ID)
	for range 4 {
		sub = s.retry(sub.ID)
	}
	assert.Equal(s.t, sdk.SubscriptionStatusCanceled, sub.Status)
	invoice, err := s.Invoices.Get(background, sub.LatestInvoice.ID, sdk.Expand("order"))
	require.NoError(s.t, err)
	assert.Equal(s.t, sdk.OrderStatusVoid, invoice.Order.Object.Status)
}

// tryChange changes a subscription to a plan that costs another amount.
func (s *shop) tryChange(sub *sdk.Subscription, amount int64) error {
	s.t.Helper()
	_, err := s.Subscriptions.Change(background, sub.ID, &sdk.SubscriptionChangeCreate{PriceVariant: new(s.price(monthly(amount)))})
	return err
}

func (s *shop) change(sub *sdk.Subscription, amount int64) {
	s.t.Helper()
	require.NoError(s.t, s.tryChange(sub, amount))
	assert.Equal(s.t, amount, s.now(sub.ID).Amount)
}

// planDown pays the next period with what is left of the first one.
func planDown(s *shop) {
	sub := s.subscribe(monthly(2900), "pm_card_visa")
	s.change(sub, 900)
	s.renew(sub.ID)
}

// draft makes an invoice about 7 dollars, due in a week.
func (s *shop) draft() string {
	s.t.Helper()
	customer, err := s.Customers.Create(background, &sdk.CustomerCreate{Email: "grace@example.com"})
	require.NoError(s.t, err)
	invoice, err := s.Invoices.Create(background, &sdk.InvoiceCreate{
		Customer: customer.ID, CollectionMethod: new(sdk.CollectionMethodSendInvoice), DueAt: new(sdk.TimeOf(time.Now().Add(7 * 24 * time.Hour))),
		Currency: new("usd"), Lines: []sdk.InvoiceLineCreate{{Description: new("An hour"), UnitAmount: new(int64(700))}},
	})
	require.NoError(s.t, err)
	return invoice.ID
}

func lateInvoice(s *shop) {
	invoice, err := s.Invoices.Finalize(background, s.draft())
	require.NoError(s.t, err)
	s.until(invoice.DueAt.Time())
	_, err = s.Invoices.Void(background, invoice.ID)
	require.NoError(s.t, err)
}

func (s *shop) refund(order string, amount *int64) *sdk.Refund {
	s.t.Helper()
	refund, err := s.Refunds.Create(background, &sdk.RefundCreate{Order: order, Amount: amount})
	require.NoError(s.t, err)
	return refund
}

func failingRefund(s *shop) {
	refund := s.refund(s.buy(sdk.ProductPriceVariant{Amount: new(int64(1900))}, "pm_card_refundFail").Order.ID, nil)
	_, err := s.TestHelpers.SettleRefund(background, refund.ID, &sdk.RefundSettlement{Status: "failed"})
	require.NoError(s.t, err)
}
