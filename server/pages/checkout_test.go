package pages_test

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/server/billing"
	"github.com/tillwright/tillwright/server/caller"
	"github.com/tillwright/tillwright/server/domains"
	"github.com/tillwright/tillwright/server/mail"
	"github.com/tillwright/tillwright/server/pages"
	"github.com/tillwright/tillwright/server/payments"
	"github.com/tillwright/tillwright/server/payments/stripe"
	"github.com/tillwright/tillwright/server/payments/testpay"
	"github.com/tillwright/tillwright/server/transfer"
	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/store/checkout"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/offer"
	"github.com/tillwright/tillwright/store/tenant"
	"github.com/tillwright/tillwright/tests/harness/database"
	_ "github.com/tillwright/tillwright/tests/harness/migrated"
	"github.com/tillwright/tillwright/tests/harness/stripefake"
)

// shop is an account whose checkouts have pages.
type shop struct {
	*store.Store
	t       *testing.T
	billing *billing.Billing
	account string
	server  *httptest.Server
	bank    *stripefake.Fake
	now     time.Time
	pages   *pages.Pages
	browser *http.Client // which keeps cookies
	files   *transfer.Service
	letters []mail.Letter
	mail    sync.Mutex   // for letters: several are sent at the same time
	mailing func() error // what the mail server does, nil if it takes every letter
	asked   int          // how often the provider was told of a buyer's consent
}

// mailServer takes the letters of a shop.
type mailServer struct{ w *shop }

func (m mailServer) Send(_ context.Context, letter mail.Letter) error {
	if m.w.mailing != nil {
		return m.w.mailing()
	}
	m.w.mail.Lock()
	defer m.w.mail.Unlock()
	m.w.letters = append(m.w.letters, letter)
	return nil
}

// consent is the way of a buyer's consent to the provider, which must have a deadline.
type consent struct {
	payments.Authenticator
	w *shop
}

func (c *consent) Authenticate(ctx context.Context, account, ref string) (payments.Charge, error) {
	_, bounded := ctx.Deadline()
	assert.True(c.w.t, bounded, "the provider is asked past the guard of the seam")
	c.w.asked++
	return c.Authenticator.Authenticate(ctx, account, ref)
}

func newShop(t *testing.T) *shop {
	t.Helper()
	return newShopOn(t, database.URL(t, "sqlite"))
}

func newShopOn(t *testing.T, url string) *shop {
	t.Helper()
	return newShopThat(t, url, func(w *shop) mail.Mailer { return mailServer{w} })
}

// newShopThat is newShopOn with a mailer of its own, nil for none.
func newShopThat(t *testing.T, url string, mailer func(*shop) mail.Mailer) *shop {
	t.Helper()
	jar, err := cookiejar.New(nil)
	require.NoError(t, err)
	w := &shop{t: t, now: time.Now(), browser: &http.Client{Jar: jar}}
	e := echo.New()
	e.Use(func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			if address := c.Request().Header.Get("X-Forwarded-For"); address != "" {
				c.SetRequest(c.Request().WithContext(caller.With(c.Request().Context(), &caller.Caller{Address: address})))
			}
			return next(c)
		}
	})
	w.server = httptest.NewServer(e)
	t.Cleanup(w.server.Close)
	sealer, err := core.NewSealer(make([]byte, 32))
	require.NoError(t, err)
	w.Store, err = store.Open(t.Context(), store.Options{
		CloseTime: time.Minute,
		URL:       url, Sealer: sealer, Synchronous: "normal", PublicURL: w.server.URL,
		Now:    func() time.Time { return w.now },
		Render: func(_ string, v any) ([]byte, error) { return json.Marshal(v) },
	})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, w.Store.Close()) })
	require.NoError(t, w.Migrate(t.Context()))
	account, err := w.Tenant.CreateAccount(t.Context(), tenant.NewAccount{Name: "Ada <b>& sons</b>", Email: "ada@example.com"})
	require.NoError(t, err)
	w.account = account.ID

	test := testpay.New(w.TestBank)
	w.bank = stripefake.New(t)
	w.billing = billing.New(w.Store, payments.NewRegistry(test, stripe.New(stripe.Options{
		Client: w.bank.Client(), BaseURL: w.bank.URL, Credentials: stripe.Keys(w.Store),
	})))
	w.pages, err = pages.New(w.Store, w.billing, mail.NewPost(w.Store, mailer(w)), &consent{Authenticator: test, w: w}, nil, w.keepsFiles(e), domains.New(domains.Options{Store: w.Content, TLS: domains.TLSNone}))
	require.NoError(t, err)
	w.pages.BePatient()
	routes := w.pages.Routes()
	maps.Copy(routes, w.pages.Media())
	for pattern, handler := range routes {
		method, path, ok := strings.Cut(pattern, " ")
		if !ok {
			method, path = http.MethodGet, pattern
			e.HEAD(path, handler)
		}
		e.Add(method, path, handler)
	}
	return w
}

func (w *shop) checkout(v catalog.PriceVariant) *checkout.Checkout {
	w.t.Helper()
	p, err := w.Catalog.CreateProduct(w.t.Context(), w.account, catalog.NewProduct{
		Product: catalog.Product{Name: "Handbook", Status: catalog.ProductStatusActive}, PriceVariants: []catalog.PriceVariant{v},
	})
	require.NoError(w.t, err)
	c, err := w.Checkout.Create(w.t.Context(), w.account, checkout.Draft{
		Checkout: &checkout.Checkout{CustomerEmail: new("grace@example.com"), EmailVerified: true, SuccessURL: new("https://shop.example/thanks?c={CHECKOUT_ID}")},
		Lines:    []offer.NewLine{{PriceVariant: p.PriceVariantIDs.V[0], Quantity: 2}},
	})
	require.NoError(w.t, err)
	return c
}

func (w *shop) pay(c *checkout.Checkout, method string) {
	w.t.Helper()
	_, err := w.billing.ConfirmCheckout(w.t.Context(), w.account, c.ID, billing.CheckoutConfirm{Method: &payments.MethodInput{Ref: method}})
	if core.OutcomeOf(err) != core.Recorded {
		require.NoError(w.t, err)
	}
}

func (w *shop) page(url string, status int) string {
	w.t.Helper()
	response, err := http.Get(url)
	require.NoError(w.t, err)
	return w.read(response, status)
}

func (w *shop) read(response *http.Response, status int) string {
	w.t.Helper()
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	require.NoError(w.t, err)
	require.Equal(w.t, status, response.StatusCode)
	assert.Equal(w.t, "text/html; charset=UTF-8", response.Header.Get("Content-Type"))
	styles := ""
	for _, style := range regexp.MustCompile(`(?s)<style>(.*?)</style>`).FindAllSubmatch(body, -1) {
		hash := sha256.Sum256(style[1])
		styles += " 'sha256-" + base64.StdEncoding.EncodeToString(hash[:]) + "'"
	}
	assert.Contains(w.t, response.Header.Get("Content-Security-Policy"), "default-src 'none'; style-src"+styles+"; form-action 'self'")
	assert.Equal(w.t, "strict-origin", response.Header.Get("Referrer-Policy"))
	assert.Equal(w.t, "no-store", response.Header.Get("Cache-Control"))
	assert.Contains(w.t, string(body), `<link rel="icon" href="data:image/svg+xml,`, "a browser asks no address for it")
	assert.Regexp(w.t, `; img-src 'self' data:$`, response.Header.Get("Content-Security-Policy"))
	w.checkScripts(string(body), response.Header.Get("Content-Security-Policy"))
	return string(body)
}

func TestCheckoutPage_ShowsWhatIsBoughtAndHowItStands(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	c := w.checkout(catalog.PriceVariant{Amount: 123450})
	page := w.page(c.URL, http.StatusOK)
	assert.Contains(t, page, "Ada &lt;b&gt;&amp; sons&lt;/b&gt;")
	assert.Contains(t, page, "Handbook")
	assert.Contains(t, page, "$1,234.50")
	assert.Contains(t, page, "$2,469.00")
	assert.Contains(t, page, "Pay $")
	assert.NotContains(t, page, "grace@example.com", "whoever finds the address does not learn the buyer's")

	w.pay(c, "pm_card_chargeDeclined")
	assert.Contains(t, w.page(c.URL, http.StatusOK), "The card was declined.")
	w.pay(c, "pm_card_visa")
	page = w.page(c.URL, http.StatusOK)
	assert.Contains(t, page, "<h1>Thank you for your order</h1>")
	assert.Contains(t, page, `href="https://shop.example/thanks?c=`+c.ID+`"`)
}

func TestCheckoutPage_CurrencyWithoutMinorUnit(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	page := w.page(w.checkout(catalog.PriceVariant{Amount: 1900, Currency: "jpy"}).URL, http.StatusOK)
	assert.Contains(t, page, "¥3,800<")
}

func (w *shop) hasWebsite() {
	w.t.Helper()
	_, err := w.Tenant.UpdateAccount(w.t.Context(), w.account, func(a *tenant.AccountChange) { a.WebsiteURL = new("https://ada.example") })
	require.NoError(w.t, err)
}

func TestCheckoutPage_Expired(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	c := w.checkout(catalog.PriceVariant{Amount: 1900})
	w.hasWebsite()
	w.now = w.now.Add(25 * time.Hour)
	page := w.page(c.URL, http.StatusOK)
	assert.Contains(t, page, "has expired")
	assert.Contains(t, page, `href="https://ada.example">Back to the shop<`)
}

func TestCheckoutPage_BuyerAuthenticates(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		w := newShopOn(t, url)
		c := w.checkout(catalog.PriceVariant{Amount: 1900})
		w.pay(c, "pm_card_authenticationRequired")
		page := w.page(c.URL, http.StatusOK)
		require.Contains(t, page, `action="`+c.ClientSecret+`/authenticate"`)
		for range 2 { // the second time there is nothing left to do
			response, err := http.Post(c.URL+"/authenticate", "application/x-www-form-urlencoded", nil)
			require.NoError(t, err)
			assert.Contains(t, w.read(response, http.StatusOK), "<h1>Thank you for your order</h1>")
		}
		assert.Equal(t, 1, w.asked)
	})
}

// A bank of its own has a page of its own: the buyer goes there, comes back, and is told what became of it.
func TestCheckoutPage_BuyerAuthenticatesElsewhere(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	w.useStripe("")
	for _, agrees := range []bool{true, false} {
		c := w.checkout(catalog.PriceVariant{Amount: 1900})
		w.pay(c, "pm_card_authenticationRequiredOnSetup")
		page := w.page(c.URL, http.StatusOK)
		require.Contains(t, page, `href="https://hooks.stripe.test/3d_secure"`)
		require.NotContains(t, page, "/authenticate")
		response, err := http.Post(c.URL+"/authenticate", "application/x-www-form-urlencoded", nil)
		require.NoError(t, err)
		assert.Contains(t, w.read(response, http.StatusOK), "hooks.stripe.test", "saying so here is not enough")

		payment, err := w.Payment.OfCheckout(t.Context(), w.account, c.ID)
		require.NoError(t, err)
		assert.Contains(t, w.page(c.URL+"?redirect_status=succeeded", http.StatusOK), "hooks.stripe.test", "nor is coming back")
		w.bank.Settle(*payment.ProviderRef, agrees)
		page = w.page(c.URL+"?redirect_status=succeeded&payment_intent=pi_1", http.StatusOK)
		if agrees {
			assert.Contains(t, page, "<h1>Thank you for your order</h1>")
		} else {
			assert.Contains(t, page, "Your bank wanted you to confirm the payment, and that did not happen.")
		}
	}
	assert.Zero(t, w.asked)
	assert.EqualValues(t, 3800, w.bank.Taken())
}

func TestCheckoutPage_UnknownSecret(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	c := w.checkout(catalog.PriceVariant{Amount: 1900})
	for _, secret := range []string{c.ID, c.ID + "_secret_", c.ClientSecret + "a", "x"} {
		assert.Contains(t, w.page(w.server.URL+"/checkout/"+secret, http.StatusNotFound), "There is nothing here")
	}
}
