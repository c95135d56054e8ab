package fault

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/tests/harness"
	"github.com/tillwright/tillwright/tests/harness/database"
	"github.com/tillwright/tillwright/tests/harness/stripefake"
)

// unheard is a charge of a customer who is not there, in whose middle the server dies, and what must have come of it.
type unheard struct {
	name    string
	prepare func(p *payer)       // all that comes before
	charge  func(p *payer) error // its answer never comes
	again   bool                 // whoever asked for it does so again
	refused bool                 // and is told that it was declined

	status   sdk.SubscriptionStatus
	amount   int64    // what the subscription costs then
	orders   []string // of the subscription, the oldest first
	events   string   // of the last order
	attempts string   // to charge the last invoice
}

const toldOnce = "order.created invoice.created order.paid invoice.paid"

func unheards() []unheard {
	first, second := "subscription_create paid 900", "subscription_cycle paid 900"
	change := func(p *payer) error {
		_, err := p.sdk().Subscriptions.Change(p.t.Context(), p.sub, &sdk.SubscriptionChangeCreate{PriceVariant: &p.dearer}, sdk.WithIdempotencyKey("change"))
		return err
	}
	return []unheard{
		{"renewal", func(*payer) {}, (*payer).renew, false, false,
			sdk.SubscriptionStatusActive, 900, []string{first, second}, toldOnce, "1"},
		{"first charge after a trial", func(p *payer) { p.trialing() }, (*payer).renew, false, false,
			sdk.SubscriptionStatusActive, 900, []string{"subscription_create paid 0", second}, toldOnce, "1"},
		{"retry that succeeds", func(p *payer) { p.fall(1); p.block("") }, (*payer).retry, false, false,
			sdk.SubscriptionStatusActive, 900, []string{first, second}, "order.created invoice.created invoice.past_due order.paid invoice.paid", "2"},
		{"first attempt that fails", func(p *payer) { p.block("generic_decline") }, (*payer).renew, false, false,
			sdk.SubscriptionStatusPastDue, 900, []string{first, "subscription_cycle pending 900"}, "order.created invoice.created invoice.past_due", "1"},
		{"last attempt that fails", func(p *payer) { p.fall(4) }, (*payer).retry, false, false,
			sdk.SubscriptionStatusCanceled, 900, []string{first, "subscription_cycle void 900"}, "order.created invoice.created invoice.past_due invoice.voided", "5"},
		{"change of plan", func(*payer) {}, change, true, false,
			sdk.SubscriptionStatusActive, 2900, []string{first, "subscription_update paid 2000"}, toldOnce, "1"},
		{"change of plan that nobody asks for again", func(*payer) {}, change, false, false,
			sdk.SubscriptionStatusActive, 2900, []string{first, "subscription_update paid 2000"}, toldOnce, "1"},
		{"change of plan that is declined", func(p *payer) { p.block("generic_decline") }, change, true, true,
			sdk.SubscriptionStatusActive, 900, []string{first, "subscription_update void 2000"}, "order.created invoice.created invoice.voided", "1"},
	}
}

// TestKill_BetweenTheChargeAndTheCommitBillsOnce kills the server while a provider elsewhere has heard of a charge and keeps its answer: once after
// it has charged, and once before. After the next start every period and every change is billed once and told of once. It is charged once, or
// declined as often as it was tried.
func TestKill_BetweenTheChargeAndTheCommitBillsOnce(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		bank := stripefake.New(t)
		s := newSite(t, harness.Build(t), url, 0)
		s.binary.Env = append(s.binary.Env, "TILLWRIGHT_STRIPE_URL="+bank.URL)
		moments := []string{"/confirm", "/payment_intents"}
		accounts := harness.Accounts(t, url, len(moments)*len(unheards()))
		server := s.binary.Serve(t, "")
		for i, moment := range moments {
			payers := make([]*payer, len(unheards()))
			for j, u := range unheards() {
				payers[j] = newPayer(t, s, server, bank, accounts[i*len(payers)+j], u)
			}
			hang(t, bank, moment, payers)
			server.Kill()
			s.endLeases(t)
			server = s.binary.Serve(t, server.Addr)
			for _, p := range payers {
				p.repeat()
			}
			db := harness.OpenDatabase(t, url)
			await(t, "every payment has an outcome", func() bool {
				return len(db.Strings(t, `SELECT id FROM payments WHERE status NOT IN ('succeeded', 'failed', 'canceled')`)) == 0
			})
			for _, p := range payers {
				p.check(db, moment)
			}
			assert.Equal(t, db.Count(t, "payments")-len(db.Strings(t, `SELECT id FROM payments WHERE amount = 0`)), bank.Count("payment_intent"))
			assert.Equal(t, db.Strings(t, `SELECT CAST(SUM(paid_amount) AS TEXT) FROM orders`), []string{fmt.Sprint(bank.Taken())})
		}
		assert.Empty(t, s.brokenInvariants(t))
	})
}

// hang begins all the charges, and returns when the provider has each and answers none. The connections break with the server.
func hang(t *testing.T, bank *stripefake.Fake, moment string, payers []*payer) {
	t.Helper()
	asked := func() (n int) {
		for _, call := range bank.Calls() {
			if strings.HasPrefix(call, "POST ") && strings.HasSuffix(call, moment) {
				n++
			}
		}
		return n
	}
	before := asked()
	for range payers {
		bank.Spoil(stripefake.Fault{Path: moment})
	}
	for _, p := range payers {
		go func() { _ = p.charge(p) }()
	}
	await(t, "the provider has heard of every charge", func() bool { return asked() == before+len(payers) })
}

// payer is an account that is paid through a provider elsewhere, and has one subscriber.
type payer struct {
	unheard
	t      *testing.T
	client *harness.Client
	bank   *stripefake.Fake
	db     *harness.Database
	sub    string
	dearer string // another plan
}

func newPayer(t *testing.T, s *site, server *harness.Process, bank *stripefake.Fake, client *harness.Client, u unheard) *payer {
	t.Helper()
	p := &payer{unheard: u, t: t, client: client.At(server.URL), bank: bank, db: harness.OpenDatabase(t, s.url)}
	_, err := p.sdk().Account.Update(t.Context(), &sdk.AccountUpdate{
		PaymentsProvider: new(sdk.PaymentsProviderStripe), StripeSecretKey: sdk.Set(bank.Key), StripeWebhookSecret: sdk.Set(bank.WebhookSecret),
	})
	require.NoError(t, err)
	p.dearer = p.price(2900, nil)
	p.subscribe(p.price(900, nil))
	p.prepare(p)
	return p
}

func (p *payer) sdk() *sdk.Client { return p.client.SDK() }

// price puts a membership on sale that costs so much a month.
func (p *payer) price(amount int64, trialDays *int64) string {
	p.t.Helper()
	made, err := p.sdk().Products.Create(p.t.Context(), &sdk.ProductCreate{
		Name: "Membership", Status: new(sdk.ProductStatusActive), PriceVariants: []sdk.ProductPriceVariant{{
			Type: new(sdk.PriceVariantTypeRecurring), Interval: new(sdk.PriceVariantIntervalMonth), IntervalCount: new(int64(1)),
			Amount: &amount, Currency: new("usd"), TrialDays: trialDays,
		}},
	})
	require.NoError(p.t, err)
	return made.PriceVariants[0].ID
}

func (p *payer) subscribe(price string) {
	p.t.Helper()
	made, err := p.sdk().Checkouts.Create(p.t.Context(), &sdk.CheckoutCreate{
		CustomerEmail: new("grace@example.com"), CustomerEmailVerified: new(true), LineItems: []sdk.CheckoutLine{{PriceVariant: price}},
	})
	require.NoError(p.t, err)
	paid, err := p.sdk().Checkouts.Confirm(p.t.Context(), made.ID, &sdk.CheckoutConfirm{PaymentMethod: &sdk.PaymentMethod{Token: "pm_card_visa"}})
	require.NoError(p.t, err)
	p.sub = paid.Subscription.ID
}

// trialing makes the payer's subscription one that begins with a trial.
func (p *payer) trialing() { p.subscribe(p.price(900, new(int64(14)))) }

func (p *payer) now() *sdk.Subscription {
	p.t.Helper()
	sub, err := p.sdk().Subscriptions.Get(p.t.Context(), p.sub)
	require.NoError(p.t, err)
	return sub
}

func (p *payer) until(at sdk.Time) error {
	_, err := p.sdk().TestHelpers.AdvanceClock(p.t.Context(), &sdk.TestClockCreate{Now: new(sdk.TimeOf(at.Time().Add(time.Second)))})
	return err
}

func (p *payer) renew() error { return p.until(p.now().CurrentPeriodEnd) }

func (p *payer) retry() error { return p.until(*p.now().NextPaymentAttemptAt) }

// fall lets so many attempts to charge the next period fail.
func (p *payer) fall(attempts int) {
	p.t.Helper()
	p.block("generic_decline")
	require.NoError(p.t, p.renew())
	for range attempts - 1 {
		require.NoError(p.t, p.retry())
	}
	require.Equal(p.t, sdk.SubscriptionStatusPastDue, p.now().Status)
}

// block lets the bank decline what is charged to the subscriber from now on; with no code it does not any more.
func (p *payer) block(code string) {
	p.t.Helper()
	saved := p.db.Strings(p.t, `SELECT provider_ref FROM payment_methods WHERE account_id = '`+p.client.Account+`'`)
	require.Len(p.t, saved, 1)
	p.bank.Block(saved[0], code)
}

// repeat sends a request again that broke with the server, where somebody does.
func (p *payer) repeat() {
	p.t.Helper()
	if !p.again {
		return
	}
	err := p.charge(p)
	if p.refused {
		assert.ErrorContains(p.t, err, "declined", p.name)
		return
	}
	assert.NoError(p.t, err, p.name)
}

// check compares what has become of the subscription with what must have.
func (p *payer) check(db *harness.Database, moment string) {
	p.t.Helper()
	name := p.name + ", killed in " + moment
	sub := p.now()
	assert.Equal(p.t, p.status, sub.Status, name)
	assert.Equal(p.t, p.amount, sub.Amount, name)
	mine := ` WHERE account_id = '` + p.client.Account + `' AND subscription_id = '` + p.sub + `'`
	assert.Equal(p.t, p.orders, db.Strings(p.t, `SELECT billing_reason || ' ' || status || ' ' || total_amount FROM orders`+mine+` ORDER BY number`), name)
	events := db.Strings(p.t, `
		SELECT type FROM events WHERE account_id = '`+p.client.Account+`'
			AND ordering_key = (SELECT id FROM orders`+mine+` ORDER BY number DESC LIMIT 1)
		ORDER BY key_seq`)
	assert.Equal(p.t, p.events, strings.Join(events, " "), name)
	assert.Equal(p.t, []string{p.attempts}, db.Strings(p.t, `SELECT CAST(attempt_count AS TEXT) FROM invoices`+mine+` ORDER BY sequence DESC LIMIT 1`), name)
}
