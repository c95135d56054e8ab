package server

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/labstack/echo/v4"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/store/checkout"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/offer"
	"github.com/tillwright/tillwright/store/tenant"
)

const goodWidget = `{"name":"a","amount":1}`

func TestIdempotency_RefusesMalformedKeys(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	for name, values := range map[string][]string{
		"empty": {""}, "long": {strings.Repeat("k", 256)}, "not ASCII": {"schlüssel"}, "tab": {"a\tb"}, "two": {"a", "b"},
	} {
		r, err := http.NewRequest("POST", f.url+"/v1/widgets", strings.NewReader(goodWidget))
		require.NoError(t, err)
		r.Header = http.Header{"Authorization": {"Bearer " + f.token}, "Content-Type": {"application/json"}, "Idempotency-Key": values}
		a := do(t, r)
		require.Equal(t, 400, a.StatusCode, name)
		assert.Equal(t, "Idempotency-Key", a.problem(t).Param, name)
	}
	assert.Equal(t, 201, f.send("POST", "/v1/widgets", goodWidget, "Idempotency-Key", strings.Repeat("k", 255)).StatusCode)
	assert.Equal(t, 200, f.send("GET", "/v1/widgets", "", "Idempotency-Key", strings.Repeat("k", 256)).StatusCode, "a read needs none")
}

func TestIdempotency_ReplaysByteForByte(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	first := f.send("POST", "/v1/widgets?", goodWidget, "Idempotency-Key", "k1")
	require.Equal(t, 201, first.StatusCode)
	assert.Empty(t, first.Header.Get("Idempotent-Replayed"))

	second := f.send("POST", "/v1/widgets", "{ \"amount\":1,\n\"name\":\"a\"}", "Idempotency-Key", "k1")
	assert.Equal(t, 201, second.StatusCode)
	assert.Equal(t, first.body, second.body)
	assert.Equal(t, "application/json", second.Header.Get("Content-Type"))
	assert.Equal(t, "true", second.Header.Get("Idempotent-Replayed"))
	assert.NotEqual(t, first.Header.Get("X-Request-Id"), second.Header.Get("X-Request-Id"))
	assert.NotEqual(t, first.Header.Get("RateLimit"), second.Header.Get("RateLimit"))
	assert.Equal(t, 1, f.calls.of("createWidget"))
}

func TestIdempotency_TellsRequestsApart(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	require.Equal(t, 200, f.send("PATCH", "/v1/widgets/w", `{"name":"a"}`, "Idempotency-Key", "k").StatusCode)
	for _, c := range [][3]string{
		{"PATCH", "/v1/widgets/w", `{"name":"b"}`},
		{"PATCH", "/v1/widgets/w", `{}`},
		{"PATCH", "/v1/widgets/v", `{"name":"a"}`},
		{"POST", "/v1/widgets/w/publish", ``},
	} {
		a := f.send(c[0], c[1], c[2], "Idempotency-Key", "k")
		require.Equal(t, 422, a.StatusCode, c)
		problem := a.problem(t)
		assert.Equal(t, core.CodeKeyReused, problem.Code)
		assert.Equal(t, typeValidation, problem.Type)
		assert.NotEmpty(t, problem.Param)
		assert.NotEmpty(t, problem.Errors["idempotency_key"])
	}
	_, other := makeKey(t, f.store)
	a := f.send("PATCH", "/v1/widgets/w", `{"name":"b"}`, "Idempotency-Key", "k", "Authorization", "Bearer "+other)
	assert.Equal(t, 200, a.StatusCode, "another account has its own keys")
}

func TestIdempotency_FreesTheKeyOfARefusal(t *testing.T) {
	t.Parallel()
	refusal := error(core.Invalid("name", "is taken"))
	f := newFixture(t, map[string]echo.HandlerFunc{"createWidget": func(c echo.Context) error {
		if refusal != nil {
			return refusal
		}
		return echoBack(c, "createWidget", 201)
	}})
	send := func() *answer { return f.send("POST", "/v1/widgets", goodWidget, "Idempotency-Key", "k") }
	assert.Equal(t, 422, send().StatusCode)
	refusal = errors.New("out of luck")
	assert.Equal(t, 500, send().StatusCode)
	refusal = nil
	a := send()
	assert.Equal(t, 201, a.StatusCode)
	assert.Empty(t, a.Header.Get("Idempotent-Replayed"))
	assert.Equal(t, 3, f.calls.of("createWidget"))
}

func TestIdempotency_RecordsADeclinedCharge(t *testing.T) {
	t.Parallel()
	f := newFixture(t, map[string]echo.HandlerFunc{"publishWidget": func(echo.Context) error {
		return &core.Error{Code: core.CodeInvalid, Param: "card", Message: "Declined.", Fields: map[string][]string{"card": {"Declined."}}, Outcome: core.Recorded}
	}})
	first := f.send("POST", "/v1/widgets/w/publish", "", "Idempotency-Key", "k")
	second := f.send("POST", "/v1/widgets/w/publish", "", "Idempotency-Key", "k")
	require.Equal(t, 422, first.StatusCode)
	assert.Equal(t, 422, second.StatusCode)
	assert.Equal(t, first.body, second.body)
	assert.Equal(t, "true", second.Header.Get("Idempotent-Replayed"))
	assert.Equal(t, 1, f.calls.of("publishWidget"))
}

func TestIdempotency_RefusesWhileTheFirstIsRunning(t *testing.T) {
	t.Parallel()
	inside, goOn := make(chan struct{}), make(chan struct{})
	var once sync.Once
	f := newFixture(t, map[string]echo.HandlerFunc{"publishWidget": func(c echo.Context) error {
		once.Do(func() { close(inside) })
		<-goOn
		return echoBack(c, "publishWidget", 200)
	}})
	done := make(chan *answer, 1)
	go func() { done <- f.send("POST", "/v1/widgets/w/publish", "", "Idempotency-Key", "k") }()
	<-inside
	a := f.send("POST", "/v1/widgets/w/publish", "", "Idempotency-Key", "k")
	assert.Equal(t, 409, a.StatusCode)
	assert.Equal(t, core.CodeInProgress, a.problem(t).Code)
	assert.Equal(t, "1", a.Header.Get("Retry-After"))
	close(goOn)
	assert.Equal(t, 200, (<-done).StatusCode)
	assert.Equal(t, "true", f.send("POST", "/v1/widgets/w/publish", "", "Idempotency-Key", "k").Header.Get("Idempotent-Replayed"))
}

func TestIdempotency_FinishesWhenTheClientHangsUp(t *testing.T) {
	t.Parallel()
	inside, goOn := make(chan struct{}), make(chan struct{})
	f := newFixture(t, map[string]echo.HandlerFunc{"publishWidget": func(c echo.Context) error {
		close(inside)
		<-goOn
		if err := c.Request().Context().Err(); err != nil {
			return err
		}
		return echoBack(c, "publishWidget", 200)
	}})
	ctx, hangUp := context.WithCancel(t.Context())
	r := httptest.NewRequest("POST", "/v1/widgets/w/publish", nil).WithContext(ctx)
	r.Header.Set("Authorization", "Bearer "+f.token)
	r.Header.Set("Idempotency-Key", "k")
	done := make(chan struct{})
	go func() {
		defer close(done)
		f.server.ServeHTTP(httptest.NewRecorder(), r)
	}()
	<-inside
	hangUp()
	close(goOn)
	<-done
	a := f.send("POST", "/v1/widgets/w/publish", "", "Idempotency-Key", "k")
	assert.Equal(t, "true", a.Header.Get("Idempotent-Replayed"))
}

func TestIdempotency_ShowsAnAnswerToKeysWithTheSameScopesOnly(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	keyWith := func(scopes ...string) string {
		_, token, err := f.store.Tenant.CreateAPIKey(t.Context(), f.account, tenant.Granted{}, tenant.NewAPIKey{Scopes: scopes})
		require.NoError(t, err)
		return "Bearer " + token
	}
	send := func(key, authorization string) *answer {
		return f.send("POST", "/v1/widgets", goodWidget, "Idempotency-Key", key, "Authorization", authorization)
	}
	require.Equal(t, 201, send("full", keyWith()).StatusCode)
	assert.Equal(t, "true", send("full", keyWith()).Header.Get("Idempotent-Replayed"), "two keys with all scopes are alike")
	a := send("full", keyWith("products:write", "keys:write"))
	assert.Equal(t, 422, a.StatusCode)
	assert.Equal(t, core.CodeKeyReused, a.problem(t).Code)

	require.Equal(t, 201, send("limited", keyWith("products:write", "keys:write")).StatusCode)
	assert.Equal(t, "true", send("limited", keyWith("keys:write", "products:write")).Header.Get("Idempotent-Replayed"), "in any order")
	assert.Equal(t, core.CodeKeyReused, send("limited", keyWith("products:write")).problem(t).Code)
	assert.Equal(t, core.CodeKeyReused, send("limited", keyWith()).problem(t).Code)
}

func TestIdempotency_OfAPublicSecret(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	secret, other := openCheckout(t, f), openCheckout(t, f)
	use := func(secret, key string) *answer {
		return f.send("POST", "/public/tickets/"+secret, "", "Authorization", "", "Idempotency-Key", key)
	}
	require.Equal(t, 200, use(secret, "k").StatusCode)
	assert.Equal(t, "true", use(secret, "k").Header.Get("Idempotent-Replayed"))
	again := f.send("POST", "/v1/public/tickets/"+secret, "", "Authorization", "", "Idempotency-Key", "k")
	assert.Equal(t, "true", again.Header.Get("Idempotent-Replayed"), "at whichever path")
	assert.Empty(t, use(other, "k").Header.Get("Idempotent-Replayed"), "each secret has its own keys")
	a := f.send("POST", "/v1/widgets/w/publish", "", "Idempotency-Key", "k")
	assert.Equal(t, 200, a.StatusCode, "and so has the account")

	assert.Equal(t, 404, use("nothing", "k").StatusCode)
	assert.Equal(t, 200, f.send("POST", "/public/tickets/nothing", "", "Authorization", "").StatusCode, "without a key nobody asks")
}

// openCheckout returns the client secret of a checkout of the fixture's account.
func openCheckout(t *testing.T, f *fixture) string {
	t.Helper()
	product, err := f.store.Catalog.CreateProduct(t.Context(), f.account, catalog.NewProduct{
		Product:       catalog.Product{Name: "Guide", Type: "digital", Status: "active", Visibility: "public"},
		PriceVariants: []catalog.PriceVariant{{Type: "one_time", AmountType: "free", Currency: "usd", Status: "active"}},
	})
	require.NoError(t, err)
	checkout, err := f.store.Checkout.Create(t.Context(), f.account, checkout.Draft{
		Checkout: &checkout.Checkout{}, Lines: []offer.NewLine{{PriceVariant: product.PriceVariantIDs.V[0], Quantity: 1}},
	})
	require.NoError(t, err)
	return checkout.ClientSecret
}
