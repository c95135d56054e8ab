package billing_test

import (
	"context"
	"encoding/json"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/server/billing"
	"github.com/tillwright/tillwright/server/payments"
	"github.com/tillwright/tillwright/server/payments/testpay"
	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/store/checkout"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/offer"
	"github.com/tillwright/tillwright/store/order"
	"github.com/tillwright/tillwright/store/outbox"
	"github.com/tillwright/tillwright/store/payment"
	"github.com/tillwright/tillwright/store/tenant"
	"github.com/tillwright/tillwright/tests/harness/database"
	_ "github.com/tillwright/tillwright/tests/harness/migrated"
)

// world is a shop with one account, and a provider that can be made to fail.
type world struct {
	*store.Store
	*billing.Billing
	t        *testing.T
	url      string
	account  string
	provider *flaky
	advance  atomic.Int64
	standing atomic.Int64 // where the clock stands, in nanoseconds, but for what it was advanced; 0: it goes
}

// stand has the clock stand, for a test whose minutes count.
func (w *world) stand() { w.standing.Store(time.Now().UnixNano()) }

func (w *world) clock() time.Time {
	now := time.Now()
	if at := w.standing.Load(); at != 0 {
		now = time.Unix(0, at)
	}
	return now.Add(time.Duration(w.advance.Load()))
}

// flaky is the test provider behind a bad line.
type flaky struct {
	payments.Provider
	lost     atomic.Bool // the answer to a confirmation or a refund gets lost: the money is moved
	down     atomic.Bool // nothing gets through
	declines atomic.Bool // every card is declined
	refuses  atomic.Bool // no card can be saved
	confirms atomic.Int64
	attaches atomic.Int64
	charging atomic.Pointer[func(payments.ChargeInput)] // called before a charge is prepared
}

var errLine = errors.New("the line went dead")

func (f *flaky) PrepareCharge(ctx context.Context, in payments.ChargeInput) (string, error) {
	if f.down.Load() {
		return "", errLine
	}
	if charging := f.charging.Load(); charging != nil {
		(*charging)(in)
	}
	if f.declines.Load() {
		in.MethodRef = "pm_card_chargeDeclined"
	}
	return f.Provider.PrepareCharge(ctx, in)
}

func (f *flaky) ConfirmCharge(ctx context.Context, account, ref, back string) (payments.Charge, error) {
	f.confirms.Add(1)
	charge, err := f.Provider.ConfirmCharge(ctx, account, ref, back)
	if f.lost.Load() {
		return payments.Charge{}, errLine
	}
	return charge, err
}

func (f *flaky) CreateCustomer(ctx context.Context, in payments.CustomerInput) (string, error) {
	if f.down.Load() {
		return "", errLine
	}
	return f.Provider.CreateCustomer(ctx, in)
}

func (f *flaky) AttachMethod(ctx context.Context, in payments.AttachInput) (payments.Method, error) {
	if f.down.Load() {
		return payments.Method{}, errLine
	}
	f.attaches.Add(1)
	if f.refuses.Load() {
		return payments.Method{}, core.Invalid("payment_method", "The card was declined.")
	}
	return f.Provider.AttachMethod(ctx, in)
}

func (f *flaky) Refund(ctx context.Context, in payments.RefundInput) (payments.Refund, error) {
	if f.down.Load() {
		return payments.Refund{}, errLine
	}
	refund, err := f.Provider.Refund(ctx, in)
	if f.lost.Load() {
		return payments.Refund{}, errLine
	}
	return refund, err
}

func (f *flaky) GetRefund(ctx context.Context, account, chargeRef, token string) (payments.Refund, bool, error) {
	if f.down.Load() {
		return payments.Refund{}, false, errLine
	}
	return f.Provider.GetRefund(ctx, account, chargeRef, token)
}

// authenticate is what the buyer does on the provider's page.
func (f *flaky) authenticate(ctx context.Context, p *payment.Payment) (payments.Charge, error) {
	return f.Provider.(*testpay.Provider).Authenticate(ctx, p.AccountID, *p.ProviderRef)
}

// each runs a test in a world of its own on every engine. When it is over, no promise may be broken.
func each(t *testing.T, test func(t *testing.T, w *world)) { eachOf(t, open, test) }

// eachWithClock is each on a server whose accounts have clocks of their own.
func eachWithClock(t *testing.T, test func(t *testing.T, w *world)) { eachOf(t, openWithClock, test) }

func eachOf(t *testing.T, open func(*testing.T, string) *world, test func(t *testing.T, w *world)) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		w := open(t, url)
		account, err := w.Tenant.CreateAccount(t.Context(), tenant.NewAccount{Name: "Ada's shop", Email: "ada@example.com"})
		require.NoError(t, err)
		w.account = account.ID
		test(t, w)
		violations, err := w.Audit.Check(t.Context(), outbox.DeliveryRetention{Succeeded: time.Hour, Failed: time.Hour})
		require.NoError(t, err)
		assert.Empty(t, violations)
	})
}

func open(t *testing.T, url string) *world { return openAs(t, url, false) }

func openWithClock(t *testing.T, url string) *world { return openAs(t, url, true) }

func openAs(t *testing.T, url string, clock bool) *world {
	t.Helper()
	sealer, err := core.NewSealer(make([]byte, 32))
	require.NoError(t, err)
	w := &world{t: t, url: url}
	w.Store, err = store.Open(t.Context(), store.Options{
		CloseTime: time.Minute,
		URL:       url, Sealer: sealer, Synchronous: "normal", PublicURL: "http://shop.test", TestClock: clock,
		Now:    w.clock,
		Render: func(_ string, v any) ([]byte, error) { return json.Marshal(v) },
	})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, w.Store.Close()) })
	require.NoError(t, w.Migrate(t.Context()))
	w.provider = &flaky{Provider: testpay.New(w.TestBank)}
	w.Billing = billing.New(w.Store, payments.NewRegistry(w.provider)).Patient()
	return w
}

// variant makes an active product with one price variant.
func (w *world) variant(v catalog.PriceVariant) *catalog.PriceVariant {
	w.t.Helper()
	p, err := w.Catalog.CreateProduct(w.t.Context(), w.account, catalog.NewProduct{
		Product: catalog.Product{Name: "Handbook", Status: catalog.ProductStatusActive}, PriceVariants: []catalog.PriceVariant{v},
	})
	require.NoError(w.t, err)
	found, err := w.Catalog.GetPriceVariant(w.t.Context(), w.account, p.PriceVariantIDs.V[0])
	require.NoError(w.t, err)
	return found
}

// handbook costs 19 dollars.
func (w *world) handbook() *catalog.PriceVariant {
	return w.variant(catalog.PriceVariant{Amount: 1900})
}

func (w *world) checkout(lines ...offer.NewLine) *checkout.Checkout {
	w.t.Helper()
	c, err := w.Checkout.Create(w.t.Context(), w.account, checkout.Draft{
		Checkout: &checkout.Checkout{CustomerEmail: new("grace@example.com"), EmailVerified: true}, Lines: lines,
	})
	require.NoError(w.t, err)
	return c
}

func one(v *catalog.PriceVariant) offer.NewLine {
	return offer.NewLine{PriceVariant: v.ID, Quantity: 1}
}

// pay confirms with a test method.
func (w *world) pay(checkout, method string) (*checkout.Checkout, error) {
	return w.ConfirmCheckout(w.t.Context(), w.account, checkout, with(method))
}

func with(method string) billing.CheckoutConfirm {
	return billing.CheckoutConfirm{Method: &payments.MethodInput{Ref: method}}
}

func (w *world) orders() []order.Order {
	w.t.Helper()
	orders, _, err := w.Order.List(w.t.Context(), w.account, order.List{Page: core.Page{Limit: 100}})
	require.NoError(w.t, err)
	return orders
}

func (w *world) get(checkout string) *checkout.Checkout {
	w.t.Helper()
	c, err := w.Checkout.Get(w.t.Context(), w.account, checkout)
	require.NoError(w.t, err)
	return c
}

// refused asserts a CodeInvalid on a field.
func refused(t *testing.T, err error, field string) {
	t.Helper()
	var e *core.Error
	require.ErrorAs(t, err, &e)
	assert.Equal(t, core.CodeInvalid, e.Code)
	assert.Contains(t, e.Fields, field)
}
