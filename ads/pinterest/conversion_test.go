package pinterest_test

import (
	"bytes"
	"context"
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
	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/tests/harness/pinterestfake"
)

// ownToken is a conversion token, which is looked for where it must not be.
const ownToken = "conversion_SECRETSECRETSECRET"

func sha(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// sale is a purchase an hour ago, of which everything is known.
func sale(id string, change func(*advert.ConversionEvent)) advert.ConversionEvent {
	e := advert.ConversionEvent{
		EventID: id, Kind: advert.ConversionPurchase, At: core.TimeOf(noon.Add(-time.Hour)), Value: 41_990_000, Currency: "usd",
		Items: []advert.ConversionItem{{ID: "prod_1", Quantity: 2, Price: 19_990_000}, {ID: "prod_2", Quantity: 1, Price: 2_010_000}},
		User: advert.ConversionUser{
			Email: sha("ada@example.com"), Phone: sha("15551234567"), FirstName: sha("ada"), LastName: sha("lovelace"), City: sha("london"), State: sha("ln"),
			Zip: sha("nr95al"), Country: sha("gb"), ExternalID: sha("cus_1"), ClientIP: "203.0.113.9", UserAgent: "Mozilla/5.0",
			PageURL: "https://shop.example/checkout", ClickID: "dj0yJnU9bl", ClickAt: core.TimeOf(noon.Add(-2 * time.Hour)),
		},
	}
	if change != nil {
		change(&e)
	}
	return e
}

func offline(e *advert.ConversionEvent) { e.Offsite = true }

func (w *world) tell(ctx context.Context, events ...advert.ConversionEvent) ([]error, error) {
	return w.driver.SendConversions(ctx, w.conn, ads.ConversionBatch{AdAccount: w.account.ID, PixelID: "1", Token: ownToken, Events: events})
}

// keeper keeps the bodies of what is sent to the events of an ad account, and answers itself if it is told how.
type keeper struct {
	next   http.RoundTripper
	bodies []string
	status int
	answer string
}

func (k *keeper) RoundTrip(r *http.Request) (*http.Response, error) {
	if !strings.HasSuffix(r.URL.Path, "/events") {
		return k.next.RoundTrip(r)
	}
	body, _ := io.ReadAll(r.Body)
	k.bodies = append(k.bodies, string(body))
	if k.answer != "" {
		return &http.Response{StatusCode: k.status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(k.answer)), Request: r}, nil
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	return k.next.RoundTrip(r)
}

func newTeller() (*world, *keeper) {
	k := &keeper{}
	w := newWorld("USD", func(next http.RoundTripper) http.RoundTripper {
		k.next = next
		return k
	})
	w.net.AddConversionToken(w.account, ownToken)
	return w, k
}

func TestSendConversions_SaysAllThatIsKnown(t *testing.T) {
	t.Parallel()
	w, k := newTeller()
	results, err := w.tell(t.Context(), sale("order_1", nil))
	require.NoError(t, err)
	assert.Equal(t, []error{nil}, results)
	require.Len(t, k.bodies, 1)
	assert.JSONEq(t, fmt.Sprintf(`{"data":[{"event_name":"checkout","event_time":%d,"event_id":"order_1","action_source":"web",
		"event_source_url":"https://shop.example/checkout",
		"user_data":{"em":[%q],"ph":[%q],"fn":[%q],"ln":[%q],"ct":[%q],"st":[%q],"zp":[%q],"country":[%q],"external_id":[%q],
			"client_ip_address":"203.0.113.9","client_user_agent":"Mozilla/5.0","click_id":"dj0yJnU9bl"},
		"custom_data":{"value":"41.99","currency":"USD","content_ids":["prod_1","prod_2"],"num_items":3,"order_id":"order_1",
			"contents":[{"id":"prod_1","quantity":2,"item_price":"19.99"},{"id":"prod_2","quantity":1,"item_price":"2.01"}]}}]}`,
		noon.Add(-time.Hour).Unix(), sha("ada@example.com"), sha("15551234567"), sha("ada"), sha("lovelace"), sha("london"), sha("ln"), sha("nr95al"),
		sha("gb"), sha("cus_1")), k.bodies[0])
}

func TestSendConversions_KnowsEachKind(t *testing.T) {
	t.Parallel()
	w, _ := newTeller()
	for kind, word := range map[advert.ConversionKind]string{
		advert.ConversionPurchase: "checkout", advert.ConversionLead: "lead", advert.ConversionSubscriptionStarted: "subscribe", advert.ConversionTrialStarted: "signup",
	} {
		results, err := w.tell(t.Context(), sale(word, func(e *advert.ConversionEvent) { e.Kind = kind }))
		require.NoError(t, err)
		require.NoError(t, results[0])
	}
	for _, e := range w.net.Events(w.account) {
		assert.Equal(t, e.ID, e.Name)
		assert.Equal(t, e.Name == "checkout", e.Custom["order_id"] != nil, "only a purchase has an order")
	}
	assert.Len(t, w.net.Events(w.account), 4)
}

// Money is a text, written exactly as its currency has it.
func TestSendConversions_WritesMoneyExactly(t *testing.T) {
	t.Parallel()
	w, _ := newTeller()
	for i, c := range []struct {
		value          advert.Amount
		currency, want string
	}{{2_000_000_000, "jpy", "2000"}, {33_510_000, "usd", "33.51"}, {1_234_000, "kwd", "1.234"}, {9_007_199_254_740_993_000, "usd", "9007199254740.993"}} {
		results, err := w.tell(t.Context(), sale(fmt.Sprint(i), func(e *advert.ConversionEvent) { e.Value, e.Currency, e.Items = c.value, c.currency, nil }))
		require.NoError(t, err)
		require.NoError(t, results[0])
		assert.Equal(t, c.want, w.net.Events(w.account)[i].Custom.Text("value"))
	}
}

// Events have a token of their own, which the channel's does not stand in for: rule P14.
func TestSendConversions_NeedsTheTokenOfTheDestination(t *testing.T) {
	t.Parallel()
	w, k := newTeller()
	for _, token := range []ads.Secret{"", ads.Secret(secret), "conversion_OTHEROTHER"} {
		_, err := w.driver.SendConversions(t.Context(), w.conn, ads.ConversionBatch{AdAccount: w.account.ID, Token: token, Events: []advert.ConversionEvent{sale("1", nil)}})
		require.ErrorIs(t, err, ads.ErrForbidden)
		require.NotErrorIs(t, err, ads.ErrUnauthorized, "the channel is well")
		assert.Contains(t, err.Error(), "conversion token")
		assert.NotContains(t, err.Error(), "OTHEROTHER")
		assert.NotContains(t, err.Error(), secret)
	}
	assert.Len(t, k.bodies, 2, "without a token nothing is sent")
	assert.Empty(t, w.net.Events(w.account))
	_, err := w.driver.AdAccounts(t.Context(), w.conn)
	require.NoError(t, err)
}

// The network says of each event what became of it, so that one call is enough.
func TestSendConversions_TellsWhichWereRefused(t *testing.T) {
	t.Parallel()
	w, k := newTeller()
	results, err := w.tell(t.Context(), sale("1", nil), sale("2", func(e *advert.ConversionEvent) { e.User.City = "London" }),
		sale("3", func(e *advert.ConversionEvent) { e.User = advert.ConversionUser{ClientIP: "203.0.113.9"} }),
		sale("4", func(e *advert.ConversionEvent) { e.At = core.TimeOf(noon.Add(-7*24*time.Hour - time.Second)) }),
		sale("5", func(e *advert.ConversionEvent) {
			e.User = advert.ConversionUser{ClientIP: "203.0.113.9", UserAgent: "Mozilla/5.0"}
		}))
	require.NoError(t, err)
	for i, says := range map[int]string{1: "user_data.ct", 2: "e-mail", 3: "7 days"} {
		var refused *ads.Rejected
		require.ErrorAs(t, results[i], &refused)
		assert.Contains(t, refused.Message, says)
	}
	assert.NoError(t, results[0])
	assert.NoError(t, results[4])
	assert.Len(t, k.bodies, 1)
	assert.Len(t, w.net.Events(w.account), 2)
}

// Where the outcomes stand in an answer is not described: beside the code, or in its details.
func TestSendConversions_ReadsBothFormsOfAnAnswer(t *testing.T) {
	t.Parallel()
	const each = `"events":[{"status":"processed"},{"status":"failed","error_message":"No such event."}]`
	for _, c := range []struct {
		status int
		answer string
		known  bool
	}{
		{200, `{"num_events_received":2,"num_events_processed":1,` + each + `}`, true},
		{422, `{"num_events_received":2,"num_events_processed":1,` + each + `}`, true},
		{422, `{"code":1,"message":"Not all.","details":{` + each + `}}`, true},
		{200, `{"events":[{"status":"processed"}]}`, false},
		{200, `<html>`, false},
	} {
		w, k := newTeller()
		k.status, k.answer = c.status, c.answer
		results, err := w.tell(t.Context(), sale("1", nil), sale("2", nil))
		if !c.known {
			require.ErrorIs(t, err, ads.ErrIndeterminate, c.answer)
			continue
		}
		require.NoError(t, err, c.answer)
		var refused *ads.Rejected
		require.ErrorAs(t, results[1], &refused)
		assert.Equal(t, "No such event.", refused.Message)
		assert.NoError(t, results[0])
	}
}

// A refusal that names no event is looked into by halves.
func TestSendConversions_FindsWhatIsRefusedWithoutAName(t *testing.T) {
	t.Parallel()
	w, k := newTeller()
	k.status, k.answer = http.StatusBadRequest, `{"code":1,"message":"Invalid request."}`
	results, err := w.tell(t.Context(), sale("1", nil), sale("2", nil))
	require.NoError(t, err)
	assert.Len(t, k.bodies, 3)
	for _, result := range results {
		var refused *ads.Rejected
		require.ErrorAs(t, result, &refused)
		assert.Equal(t, "Invalid request.", refused.Message)
	}
}

// After a lost answer the same events are told again, and count once.
func TestSendConversions_CountOnceHoweverOftenTheyAreTold(t *testing.T) {
	t.Parallel()
	for _, fault := range []pinterestfake.Fault{pinterestfake.FaultDropAfter, pinterestfake.FaultUnavailableAfter, pinterestfake.FaultGarbageAfter, pinterestfake.FaultHangAfter} {
		w, _ := newTeller()
		w.net.Break("events/create", 0, fault)
		_, err := w.tell(t.Context(), sale("1", nil), sale("2", nil))
		require.ErrorIs(t, err, ads.ErrIndeterminate)
		results, err := w.tell(t.Context(), sale("1", nil), sale("2", nil))
		require.NoError(t, err)
		assert.Equal(t, []error{nil, nil}, results)
		events := w.net.Events(w.account)
		require.Len(t, events, 2)
		assert.Equal(t, 2, events[0].Told)
	}
}

// What did not happen on a page is counted whenever it is told. So it is told once, and in a call of its own.
func TestSendConversions_NeverRepeatWhatDidNotHappenOnAPage(t *testing.T) {
	t.Parallel()
	for _, fault := range []pinterestfake.Fault{pinterestfake.FaultDropAfter, pinterestfake.FaultUnavailableAfter, pinterestfake.FaultGarbageAfter} {
		w, k := newTeller()
		w.net.Break("events/create", 1, fault)
		results, err := w.tell(t.Context(), sale("1", offline), sale("2", nil), sale("3", offline))
		require.NoError(t, err)
		assert.Len(t, k.bodies, 2)
		assert.NoError(t, results[1])
		for _, i := range []int{0, 2} {
			var refused *ads.Rejected
			require.ErrorAs(t, results[i], &refused)
			assert.Contains(t, refused.Message, "not told again")
		}
		assert.Len(t, w.net.Events(w.account), 3)
	}
	w, _ := newTeller()
	w.net.Break("events/create", 0, pinterestfake.FaultDropAfter)
	_, err := w.tell(t.Context(), sale("1", nil), sale("2", offline))
	require.ErrorIs(t, err, ads.ErrIndeterminate)
	assert.Len(t, w.net.Events(w.account), 1, "the other one was not told yet, and may be with the first")
}

func TestSendConversions_ErrorsHaveTheirClass(t *testing.T) {
	t.Parallel()
	for fault, class := range map[pinterestfake.Fault]error{
		pinterestfake.FaultForbidden: ads.ErrForbidden, pinterestfake.FaultUnavailable: ads.ErrIndeterminate, pinterestfake.FaultDrop: ads.ErrIndeterminate,
	} {
		w, _ := newTeller()
		w.net.Break("events/create", 0, fault)
		results, err := w.tell(t.Context(), sale("1", nil))
		require.ErrorIs(t, err, class)
		assert.Nil(t, results)
	}
	for _, change := range []func(*advert.ConversionEvent){nil, offline} {
		w, _ := newTeller()
		w.net.Break("events/create", 0, pinterestfake.FaultRateLimit)
		_, err := w.tell(t.Context(), sale("1", change))
		var limited *ads.RateLimited
		require.ErrorAs(t, err, &limited)
		assert.Equal(t, pinterestfake.RetryAfter, limited.After)
	}
}

func TestPixels_AreTheTags(t *testing.T) {
	t.Parallel()
	w, _ := newTeller()
	pixels, err := w.driver.Pixels(t.Context(), w.conn, w.account.ID)
	require.NoError(t, err)
	assert.Empty(t, pixels)
	first, second := w.net.AddTag(w.account), w.net.AddTag(w.account)
	pixels, err = w.driver.Pixels(t.Context(), w.conn, w.account.ID)
	require.NoError(t, err)
	assert.Equal(t, []ads.Pixel{{ID: first, Name: "Tag 1"}, {ID: second, Name: "Tag 2"}}, pixels)
	text, err := json.Marshal(pixels)
	require.NoError(t, err)
	assert.NotContains(t, string(text), ownToken)
}
