package sdk

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/tillwright/tillwright/sdk/internal/require"
)

func TestCall_SendsWhatTheOperationNames(t *testing.T) {
	t.Parallel()
	s, replies := scripted(answered(201, `{"id":"prod_1","object":"product","name":"Guide"}`))
	c := New(" "+testKey+"\n", replies, WithBaseURL("https://shop.example/v1/"), WithUserAgent("shop/2"))

	product, err := c.Products.Create(t.Context(), &ProductCreate{Name: "Guide", Headline: new("A <small> book")})

	require.NoError(t, err)
	require.Equal(t, "prod_1", product.ID)
	sent := s.sent[0]
	require.Equal(t, "POST https://shop.example/v1/products", sent.Method+" "+sent.URL.String())
	require.JSONEq(t, `{"name":"Guide","headline":"A <small> book"}`, s.bodies[0])
	require.Equal(t, "Bearer "+testKey, sent.Header.Get("Authorization"))
	require.Equal(t, "application/json", sent.Header.Get("Content-Type"))
	require.Equal(t, "application/json", sent.Header.Get("Accept"))
	require.Equal(t, "shop/2", sent.Header.Get("User-Agent"))
	require.Len(t, sent.Header.Get("Idempotency-Key"), 26)
}

func TestCall_ReadsCarryNoBodyAndNoIdempotencyKey(t *testing.T) {
	t.Parallel()
	s, replies := scripted(answered(200, `{}`))
	_, err := New(testKey, replies).Products.Get(t.Context(), "guide", WithIdempotencyKey("mine"))
	require.NoError(t, err)
	require.Empty(t, s.bodies[0])
	require.NotContains(t, s.sent[0].Header, "Idempotency-Key")
	require.NotContains(t, s.sent[0].Header, "Content-Type")
}

func TestCall_EveryWriteHasItsOwnIdempotencyKey(t *testing.T) {
	t.Parallel()
	s, replies := scripted(answered(200, `{}`))
	c := New(testKey, replies)
	for range 2 {
		_, err := c.Products.Publish(t.Context(), "guide")
		require.NoError(t, err)
	}
	_, err := c.Products.Delete(t.Context(), "guide", WithIdempotencyKey("mine"))
	require.NoError(t, err)
	require.NotEqual(t, s.sent[0].Header.Get("Idempotency-Key"), s.sent[1].Header.Get("Idempotency-Key"))
	require.Equal(t, "mine", s.sent[2].Header.Get("Idempotency-Key"))
}

func TestCall_OptionsReachTheServer(t *testing.T) {
	t.Parallel()
	s, replies := scripted(answered(200, `{}`, "Idempotent-Replayed", "true"))
	var response Response
	_, err := New(testKey, replies).Orders.List(t.Context(), &ListOrdersParams{Expand: Expand("checkout"), Limit: new(int64(3))},
		Expand("customer", "line_items.product"), WithHeader("traceparent", "00-a-b-01"), WithResponse(&response))
	require.NoError(t, err)
	require.Equal(t, "checkout,customer,line_items.product", s.sent[0].URL.Query().Get("expand"))
	require.Equal(t, "3", s.sent[0].URL.Query().Get("limit"))
	require.Equal(t, "00-a-b-01", s.sent[0].Header.Get("Traceparent"))
	require.Equal(t, Response{Status: 200, Header: response.Header, Body: []byte(`{}`), RequestID: "req_1", Replayed: true, Attempts: 1}, response)
	require.Equal(t, "true", response.Header.Get("Idempotent-Replayed"))
}

// What a newer server says and takes is neither an error nor out of reach.
func TestCall_KnowsNoEndOfFieldsAndValues(t *testing.T) {
	t.Parallel()
	const answer = `{"id":"prod_1","status":"resting","mood":{"today":"good"}}`
	s, replies := scripted(answered(200, answer))
	var response Response
	product, err := New(testKey, replies).Products.Create(t.Context(), &ProductCreate{Name: "Guide", Headline: new("Old")}, WithResponse(&response),
		WithField("mood", map[string]string{"today": "good"}), WithField("headline", nil), WithQuery("weather", "rain & sun"))
	require.NoError(t, err)
	require.Equal(t, ProductStatus("resting"), product.Status)
	require.Equal(t, answer, string(response.Body))
	require.JSONEq(t, `{"name":"Guide","headline":null,"mood":{"today":"good"}}`, s.bodies[0])
	require.Equal(t, "weather=rain+%26+sun", s.sent[0].URL.RawQuery)

	_, err = New(testKey, replies).Products.Publish(t.Context(), "guide", WithField("quietly", true))
	require.NoError(t, err)
	require.Equal(t, `{"quietly":true}`, s.bodies[1])
	require.Equal(t, "application/json", s.sent[1].Header.Get("Content-Type"))

	_, err = New(testKey, replies).Products.Get(t.Context(), "guide", WithField("a", 1))
	require.EqualError(t, err, "sdk: getProduct: WithField: a read has no body: use WithQuery")
	_, err = New(testKey, replies).Products.Publish(t.Context(), "guide", WithField("a", func() {}))
	require.ErrorContains(t, err, "sdk: publishProduct: WithField: a: json: unsupported type")
	require.Len(t, s.sent, 2)
}

func TestCall_PublicOperationsAreUnderTheRootAndSendNoKey(t *testing.T) {
	t.Parallel()
	s, replies := scripted(answered(200, `{}`))
	c := New("", replies, WithBaseURL("https://shop.example/api/v1"))
	_, err := c.PublicCheckouts.Confirm(t.Context(), "chk_1_secret_x", &CheckoutConfirm{})
	require.NoError(t, err)
	require.Equal(t, "https://shop.example/api/public/checkouts/chk_1_secret_x/confirm", s.sent[0].URL.String())
	require.NotContains(t, s.sent[0].Header, "Authorization")
	require.NotEmpty(t, s.sent[0].Header.Get("Idempotency-Key"))
}

func TestCall_EscapesIDs(t *testing.T) {
	t.Parallel()
	s, replies := scripted(answered(200, `{}`))
	_, err := New(testKey, replies).Customers.GetByExternalID(t.Context(), "a/b?c#d e")
	require.NoError(t, err)
	require.Equal(t, "/v1/customers/external/a%2Fb%3Fc%23d%20e", s.sent[0].URL.EscapedPath())
	require.Empty(t, s.sent[0].URL.RawQuery)
}

func TestCall_MisuseIsFoundWithoutARequest(t *testing.T) {
	t.Parallel()
	s, replies := scripted(answered(200, `{}`))
	c := New(testKey, replies)
	ctx := t.Context()
	cases := map[string]func() error{
		`sdk: getProduct: id is ""`:                        func() error { _, err := c.Products.Get(ctx, ""); return err },
		`sdk: deleteProduct: id is ".."`:                   func() error { _, err := c.Products.Delete(ctx, ".."); return err },
		`sdk: createProduct: the body is nil`:              func() error { _, err := c.Products.Create(ctx, nil); return err },
		`sdk: publishProduct: WithIdempotencyKey: the key`: func() error { _, err := c.Products.Publish(ctx, "x", WithIdempotencyKey("")); return err },
		`sdk: getAccount: the API key is empty`:            func() error { _, err := New(" ", replies).Account.Get(ctx); return err },
		`sdk: getAccount: the header Authorization holds a control character`: func() error {
			_, err := New("sk_a\nb", replies).Account.Get(ctx)
			return err
		},
		`sdk: getProduct: the header X-Note holds a control character`: func() error {
			_, err := c.Products.Get(ctx, "x", WithHeader("x-note", "a\r\nb"))
			return err
		},
		`sdk: getAccount: the base URL "shop.example/v1"`: func() error {
			_, err := New(testKey, replies, WithBaseURL("shop.example/v1")).Account.Get(ctx)
			return err
		},
		`sdk: getAccount: the base URL "https://u:xxxxx@h/v1?a=b"`: func() error {
			_, err := New(testKey, replies, WithBaseURL("https://u:p@h/v1?a=b")).Account.Get(ctx)
			return err
		},
		`sdk: getAccount: the base URL cannot be parsed`: func() error {
			_, err := New(testKey, replies, WithBaseURL("http://a b:c")).Account.Get(ctx)
			return err
		},
	}
	for message, call := range cases {
		require.ErrorContains(t, call(), message)
	}
	require.Empty(t, s.sent)
}

func TestCall_AnAnswerThatIsNoJSONIsAnError(t *testing.T) {
	t.Parallel()
	s, replies := scripted(answered(200, `<html>`))
	_, err := New(testKey, replies).Account.Get(t.Context())
	require.ErrorContains(t, err, "sdk: getAccount: read the answer (status 200)")
	require.Len(t, s.sent, 1)
}

func TestDo_TakesNoNullForAnAnswer(t *testing.T) {
	t.Parallel()
	_, replies := scripted(answered(200, " null\n"))
	account, err := New(testKey, replies).Account.Get(t.Context())
	require.EqualError(t, err, "sdk: getAccount: the answer (status 200) is null")
	require.Nil(t, account)
}

func TestCall_AnAnswerWithoutEndIsNotReadWhole(t *testing.T) {
	t.Parallel()
	s, replies := scripted(func(r *http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: 200, Body: io.NopCloser(endless{}), Request: r}, nil
	})
	_, err := New(testKey, replies).Account.Get(t.Context())
	require.ErrorIs(t, err, errAnswerTooLarge)
	require.Len(t, s.sent, 1)
}

// What follows a switch to another protocol would end with no timeout.
func TestCall_ReadsNothingAfterASwitchOfProtocols(t *testing.T) {
	t.Parallel()
	_, replies := scripted(func(r *http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: 101, Header: http.Header{}, Body: io.NopCloser(iotest.ErrReader(errors.New("was read"))), Request: r}, nil
	})
	_, err := New(testKey, replies).Account.Get(t.Context())
	require.Equal(t, 101, refusal(t, err).Status)
}

type endless struct{}

func (endless) Read(p []byte) (int, error) { return copy(p, bytes.Repeat([]byte(" "), len(p))), nil }

func TestCall_DoesNotFollowARedirect(t *testing.T) {
	t.Parallel()
	_, replies := scripted(answered(302, ``, "Location", "https://elsewhere.example/"))
	_, err := New(testKey, replies).Account.Get(t.Context())
	require.Equal(t, 302, refusal(t, err).Status)
}

func TestCall_ReusesConnections(t *testing.T) {
	t.Parallel()
	addresses := map[string]bool{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		addresses[r.RemoteAddr] = true
		if r.URL.Path == "/v1/account" {
			w.WriteHeader(http.StatusNotFound)
			_, _ = io.WriteString(w, strings.Repeat("refused ", 10_000))
			return
		}
		_, _ = io.WriteString(w, `{}`)
	}))
	defer server.Close()
	c := New(testKey, WithBaseURL(server.URL+"/v1"))
	for range 5 {
		_, err := c.Account.Get(t.Context())
		require.Error(t, err)
		_, err = c.Products.Get(t.Context(), "guide")
		require.NoError(t, err)
	}
	require.Len(t, addresses, 1)
}

func TestNew_HasAServiceForEveryTag(t *testing.T) {
	t.Parallel()
	c := New(testKey)
	for field, value := range reflect.ValueOf(c).Elem().Fields() {
		if field.IsExported() {
			require.Same(t, c, (*service)(value.UnsafePointer()).client, field.Name)
		}
	}
}

func TestOperations_AreAllDescribed(t *testing.T) {
	t.Parallel()
	require.Greater(t, len(Operations), 40)
	for id, op := range Operations {
		require.Equal(t, id, op.ID)
		require.Contains(t, []string{"allow", "ask"}, op.Approval, id)
		require.Equal(t, op.Public, op.Scope == "", id)
		require.Equal(t, op.Public, strings.HasPrefix(op.Path, "/public/"), id)
	}
	require.Equal(t, Operation{ID: "deleteProduct", Method: "DELETE", Path: "/products/{id}", Approval: "ask", Scope: "products:write"},
		Operations["deleteProduct"])
}

func TestHook_SeesEveryAttemptAndNoSecret(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		type ctxKey struct{}
		ctx := context.WithValue(t.Context(), ctxKey{}, "span")
		slowly := func(r *http.Request) (*http.Response, error) {
			time.Sleep(2 * time.Second)
			return refused(500, CodeAPIError)(r)
		}
		_, replies := scripted(slowly, answered(200, `{}`))
		var seen []Attempt
		c := New(testKey, replies, WithHook(func(ctx context.Context, a Attempt) {
			require.Equal(t, "span", ctx.Value(ctxKey{}))
			seen = append(seen, a)
		}))
		begun := time.Now()
		_, err := c.PublicCheckouts.Confirm(ctx, "chk_1_secret_x", &CheckoutConfirm{PaymentMethod: &PaymentMethod{Token: "pm_card_visa"}})
		require.NoError(t, err)
		answeredAt := time.Now()
		_, err = c.Products.List(ctx, &ListProductsParams{Q: new("private")})
		require.NoError(t, err)

		require.Len(t, seen, 3)
		require.Equal(t, CodeAPIError, CodeOf(seen[0].Err))
		first := Attempt{Operation: "confirmPublicCheckout", Method: "POST", Path: "/public/checkouts/{client_secret}/confirm",
			Number: 1, StartedAt: begun, Duration: 2 * time.Second, Status: 500, RequestID: "req_1", Err: seen[0].Err}
		second := first
		second.Number, second.StartedAt, second.Duration, second.Status, second.Err = 2, answeredAt, 0, 200, nil
		third := Attempt{Operation: "listProducts", Method: "GET", Path: "/products", Number: 1, StartedAt: answeredAt, Status: 200, RequestID: "req_1"}
		require.Equal(t, []Attempt{first, second, third}, seen)
	})
}

func TestNetworkErrors_DoNotShowTheClientSecret(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.NotFoundHandler())
	server.Close()
	_, err := New("", WithBaseURL(server.URL+"/v1"), WithRetries(0)).PublicCheckouts.Get(t.Context(), "chk_1_secret_x")
	require.ErrorContains(t, err, "sdk: getPublicCheckout: ")
	require.ErrorContains(t, err, "connection refused")
	require.NotContains(t, err.Error(), "secret")
}
