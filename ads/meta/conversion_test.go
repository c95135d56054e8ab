package meta_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/ads/meta"
	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/tests/harness/metafake"
)

func sha(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// sale is a purchase an hour ago, of which everything is known.
func sale(id string, change func(*advert.ConversionEvent)) advert.ConversionEvent {
	e := advert.ConversionEvent{
		EventID: id, Kind: advert.ConversionPurchase, At: core.TimeOf(now.Add(-time.Hour)), Value: 41_990_000, Currency: "usd",
		Items: []advert.ConversionItem{{ID: "prod_1", Quantity: 2, Price: 19_990_000}, {ID: "prod_2", Quantity: 1, Price: 2_010_000}},
		User: advert.ConversionUser{
			Email: sha("ada@example.com"), Phone: sha("15551234567"), FirstName: sha("ada"), LastName: sha("lovelace"), City: sha("london"), State: sha("ln"),
			Zip: sha("nr95al"), Country: sha("gb"), ExternalID: sha("cus_1"), ClientIP: "203.0.113.9", UserAgent: "Mozilla/5.0",
			PageURL: "https://shop.example/checkout?a=1&b=<2>", ClickID: "IwAR2F4-dbP0l7", ClickAt: core.TimeOf(now.Add(-2*time.Hour + 5*time.Millisecond)),
		},
	}
	if change != nil {
		change(&e)
	}
	return e
}

func (w *world) tell(t *testing.T, events ...advert.ConversionEvent) ([]error, error) {
	t.Helper()
	return w.net.SendConversions(t.Context(), w.conn, ads.ConversionBatch{AdAccount: dollars, PixelID: pixelID, Events: events})
}

func TestSendConversions_SaysAllThatIsKnown(t *testing.T) {
	t.Parallel()
	w := newWorld(t, advert.PlatformFacebook)
	results, err := w.tell(t, sale("order_1", nil))
	require.NoError(t, err)
	assert.Equal(t, []error{nil}, results)
	assert.JSONEq(t, fmt.Sprintf(`[{"event_name":"Purchase","event_time":%d,"event_id":"order_1","action_source":"website",
		"event_source_url":"https://shop.example/checkout?a=1&b=<2>",
		"user_data":{"em":[%q],"ph":[%q],"fn":[%q],"ln":[%q],"ct":[%q],"st":[%q],"zp":[%q],"country":[%q],"external_id":[%q],
			"client_ip_address":"203.0.113.9","client_user_agent":"Mozilla/5.0","fbc":"fb.1.%d.IwAR2F4-dbP0l7"},
		"custom_data":{"value":41.99,"currency":"usd","content_ids":["prod_1","prod_2"],"content_type":"product","num_items":3,"order_id":"order_1",
			"contents":[{"id":"prod_1","quantity":2,"item_price":19.99},{"id":"prod_2","quantity":1,"item_price":2.01}]}}]`,
		now.Add(-time.Hour).Unix(), sha("ada@example.com"), sha("15551234567"), sha("ada"), sha("lovelace"), sha("london"), sha("ln"), sha("nr95al"),
		sha("gb"), sha("cus_1"), now.Add(-2*time.Hour).UnixMilli()+5), w.sent(t, "POST", "events").Get("data"))
}

// Each kind has its word, and what did not happen on a page says so.
func TestSendConversions_KnowsEachKind(t *testing.T) {
	t.Parallel()
	w := newWorld(t, advert.PlatformInstagram)
	for kind, word := range map[advert.ConversionKind]string{
		advert.ConversionPurchase: "Purchase", advert.ConversionLead: "Lead", advert.ConversionSubscriptionStarted: "Subscribe", advert.ConversionTrialStarted: "StartTrial",
	} {
		results, err := w.tell(t, sale(word, func(e *advert.ConversionEvent) {
			e.Kind, e.Offsite, e.User.PageURL, e.User.UserAgent = kind, true, "", ""
		}))
		require.NoError(t, err)
		require.NoError(t, results[0])
	}
	for _, e := range w.fake.Events(pixelID) {
		assert.Equal(t, e.ID, e.Name)
		assert.Equal(t, "other", e.Source)
		assert.Equal(t, e.Name == "Purchase", e.Custom["order_id"] != nil, "only a purchase has an order")
	}
	assert.Len(t, w.fake.Events(pixelID), 4)
}

// Money is written exactly, as its currency has it.
func TestSendConversions_WritesMoneyExactly(t *testing.T) {
	t.Parallel()
	w := newWorld(t, advert.PlatformFacebook)
	for i, c := range []struct {
		value    advert.Amount
		currency string
		want     string
	}{
		{2_000_000_000, "jpy", "2000"}, {33_510_000, "usd", "33.51"}, {1_234_000, "kwd", "1.234"}, {9_007_199_254_740_993_000, "usd", "9007199254740.993"}, {0, "usd", "0.00"},
	} {
		results, err := w.tell(t, sale(fmt.Sprint(i), func(e *advert.ConversionEvent) { e.Value, e.Currency, e.Items = c.value, c.currency, nil }))
		require.NoError(t, err)
		require.NoError(t, results[0])
		assert.Equal(t, json.Number(c.want), w.fake.Events(pixelID)[i].Custom["value"])
	}
}

// What Meta is known to refuse is not sent, because it would take the others with it: rule P1.
func TestSendConversions_KeepsBackWhatWouldSpoilTheOthers(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*advert.ConversionEvent)
		says   string
	}{
		"too old":          {func(e *advert.ConversionEvent) { e.At = core.TimeOf(now.Add(-7*24*time.Hour - time.Second)) }, "7 days"},
		"without a page":   {func(e *advert.ConversionEvent) { e.User.PageURL = "" }, "address of the page"},
		"without an agent": {func(e *advert.ConversionEvent) { e.User.UserAgent = "" }, "user agent"},
		"about nobody": {func(e *advert.ConversionEvent) {
			e.User = advert.ConversionUser{PageURL: "https://shop.example", UserAgent: "Mozilla", Country: sha("gb"), Zip: sha("nr95al")}
		}, "who it was"},
		"a first name alone": {func(e *advert.ConversionEvent) {
			e.Offsite, e.User = true, advert.ConversionUser{FirstName: sha("ada")}
		}, "who it was"},
		"a purchase for no money": {func(e *advert.ConversionEvent) { e.Currency = "" }, "value"},
		"an unknown kind":         {func(e *advert.ConversionEvent) { e.Kind = "refund" }, "refund"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, advert.PlatformFacebook)
			results, err := w.tell(t, sale("good", nil), sale("bad", c.change), sale("good too", nil))
			require.NoError(t, err)
			var refused *ads.Rejected
			require.ErrorAs(t, results[1], &refused)
			assert.Contains(t, refused.Message, c.says)
			assert.NoError(t, results[0])
			assert.NoError(t, results[2])
			assert.Len(t, w.calls("POST", "events"), 1)
			assert.Len(t, w.fake.Events(pixelID), 2)
		})
	}
}

// The oldest event that Meta takes, and the least that it takes of a person.
func TestSendConversions_TakesWhatMetaTakes(t *testing.T) {
	t.Parallel()
	w := newWorld(t, advert.PlatformFacebook)
	users := []advert.ConversionUser{
		{Email: sha("a")}, {Phone: sha("1")}, {ExternalID: sha("cus_1")}, {ClientIP: "203.0.113.9"}, {ClickID: "x", ClickAt: core.TimeOf(now)},
		{FirstName: sha("a"), LastName: sha("b")}, {LastName: sha("b"), Zip: sha("c")},
	}
	events := []advert.ConversionEvent{sale("old", func(e *advert.ConversionEvent) { e.At = core.TimeOf(now.Add(-7 * 24 * time.Hour)) })}
	for i, u := range users {
		events = append(events, sale(fmt.Sprint(i), func(e *advert.ConversionEvent) { e.Offsite, e.User = true, u }))
	}
	results, err := w.tell(t, events...)
	require.NoError(t, err)
	assert.Equal(t, make([]error, len(events)), results)
	assert.Len(t, w.calls("POST", "events"), 1)
}

// Meta refuses all events for one, and does not say which. Each other one counts, and is sent once only after it was taken.
func TestSendConversions_FindsWhatMetaRefuses(t *testing.T) {
	t.Parallel()
	w := newWorld(t, advert.PlatformFacebook)
	var events []advert.ConversionEvent
	for i := range 100 {
		events = append(events, sale(fmt.Sprint(i), nil))
	}
	events[37].User.Email, events[80].User.City = "ada@example.com", "London"
	results, err := w.tell(t, events...)
	require.NoError(t, err)
	for i, result := range results {
		var refused *ads.Rejected
		assert.Equal(t, i == 37 || i == 80, assert.ObjectsAreEqual(true, result != nil), "%d %v", i, result)
		if result != nil {
			require.ErrorAs(t, result, &refused)
			assert.Contains(t, refused.Raw, "100/")
		}
	}
	assert.Len(t, w.fake.Events(pixelID), 98)
	for _, e := range w.fake.Events(pixelID) {
		assert.Equal(t, 1, e.Told, e)
	}
	assert.Less(t, len(w.calls("POST", "events")), 30)
}

// After a lost answer the same events are told again, and count once.
func TestSendConversions_CountOnceHoweverOftenTheyAreTold(t *testing.T) {
	t.Parallel()
	for _, fault := range []metafake.FaultKind{metafake.FaultCutAfter, metafake.FaultErrorAfter, metafake.FaultGarbageAfter, metafake.FaultTimeoutAfter} {
		w := newWorld(t, advert.PlatformFacebook)
		w.fake.Fail(metafake.Fault{Kind: fault, Method: "POST", Edge: "events"})
		_, err := w.tell(t, sale("1", nil), sale("2", nil))
		require.ErrorIs(t, err, ads.ErrIndeterminate, fault)
		results, err := w.tell(t, sale("1", nil), sale("2", nil))
		require.NoError(t, err)
		assert.Equal(t, []error{nil, nil}, results)
		events := w.fake.Events(pixelID)
		require.Len(t, events, 2, fault)
		assert.Equal(t, 2, events[0].Told)
	}
}

// A fault while the bad one is looked for leaves what is known already.
func TestSendConversions_AFaultOnTheWayKeepsWhatIsKnown(t *testing.T) {
	t.Parallel()
	w := newWorld(t, advert.PlatformFacebook)
	w.fake.Fail(metafake.Fault{Kind: metafake.FaultRateLimit, Method: "POST", Edge: "events", Code: 80004, Minutes: 3, Skip: 1})
	events := []advert.ConversionEvent{sale("1", nil), sale("2", nil), sale("3", nil), sale("4", nil)}
	events[3].User.Email = "ada@example.com"
	results, err := w.tell(t, events...)
	require.NoError(t, err)
	assert.NoError(t, results[0])
	assert.NoError(t, results[1])
	for _, result := range results[2:] {
		var limited *ads.RateLimited
		require.ErrorAs(t, result, &limited)
		assert.Equal(t, 3*time.Minute, limited.After)
	}
}

func TestSendConversions_ErrorsHaveTheirClass(t *testing.T) {
	t.Parallel()
	for class, fault := range map[error]metafake.Fault{
		ads.ErrUnauthorized:  {Kind: metafake.FaultCode, Code: 190},
		ads.ErrForbidden:     {Kind: metafake.FaultCode, Code: 200},
		ads.ErrIndeterminate: {Kind: metafake.FaultServerError},
	} {
		w := newWorld(t, advert.PlatformFacebook)
		fault.Edge = "events"
		w.fake.Fail(fault)
		results, err := w.tell(t, sale("1", nil))
		require.ErrorIs(t, err, class)
		assert.Nil(t, results)
	}
	w := newWorld(t, advert.PlatformFacebook)
	_, err := w.net.SendConversions(t.Context(), w.conn, ads.ConversionBatch{PixelID: "6060000000000002", Events: []advert.ConversionEvent{sale("1", nil)}})
	require.ErrorIs(t, err, ads.ErrNotFound, "there is no such pixel")
	w.fake.Secret = "of the app"
	_, err = w.tell(t, sale("1", nil))
	require.ErrorIs(t, err, ads.ErrOperator)
	w.net = meta.New(advert.PlatformFacebook, meta.Options{Client: &http.Client{Transport: w.transport}, BaseURL: w.address, Secret: "of the app", Backoff: time.Millisecond})
	results, err := w.tell(t, sale("1", nil))
	require.NoError(t, err)
	assert.Equal(t, []error{nil}, results)
}

// short answers that one event fewer was received.
type short struct{ next http.RoundTripper }

func (s short) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := s.next.RoundTrip(r)
	if err == nil && strings.HasSuffix(r.URL.Path, "/events") {
		answer.Body = io.NopCloser(strings.NewReader(`{"events_received":1,"messages":[]}`))
		answer.Header.Del("Content-Length")
	}
	return answer, err
}

func TestSendConversions_BelieveNoAnswerThatLacksSome(t *testing.T) {
	t.Parallel()
	w := worldThrough(t, advert.PlatformFacebook, func(_ *metafake.Fake, next http.RoundTripper) http.RoundTripper { return short{next} })
	_, err := w.tell(t, sale("1", nil), sale("2", nil))
	require.ErrorIs(t, err, ads.ErrIndeterminate)
	results, err := w.tell(t, sale("1", nil))
	require.NoError(t, err)
	assert.Equal(t, []error{nil}, results)
}
