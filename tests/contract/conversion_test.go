package contract

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/sdk"
)

// event is a sale that was made elsewhere just now, by somebody who consented.
func (n onNetwork) event(id string) sdk.ConversionInput {
	return sdk.ConversionInput{
		EventID: &id, Event: new("purchase"), OccurredAt: new(time.Now().UTC().Format(time.RFC3339)), AdsConsent: new(true), Value: new(json.Number("19.90")), Currency: new("USD"),
		User: &sdk.ConversionPerson{Email: new("Ada@private.example")}, PageURL: new("https://shop.example/thanks"), UserAgent: new("Mozilla/5.0"), ClientIP: new("203.0.113.7"),
	}
}

// tell sends events, and returns what became of each.
func (n onNetwork) tell(t *testing.T, destination string, events ...sdk.ConversionInput) []sdk.ConversionResult {
	t.Helper()
	result := ok[*sdk.ConversionsResult](t)(n.AdConversions.Create(background, &sdk.ConversionsCreate{DestinationID: destination, Events: events}))
	assert.Equal(t, "conversions_result", result.Object, "the result")
	assert.Equal(t, int64(len(events)), result.Received, "the result")
	assert.Equal(t, result.Received, result.Queued+result.Duplicates+result.Failed, "the result")
	return result.Results
}

// later makes an event wait, as its clock is ahead of ours. It waits for the rest of a test in which the workers of ads rest.
func later(e sdk.ConversionInput) sdk.ConversionInput {
	e.OccurredAt = new(ago(-45 * time.Second))
	return e
}

// work waits until all that has happened was told. The server's own worker may be at it as well.
func (n onNetwork) work(t *testing.T) {
	t.Helper()
	if err := n.server.Ads.TellConversions(background); err != nil {
		t.Fatal(err)
	}
	if !comes(func() bool {
		waits := ok[*sdk.ConversionList](t)(n.AdConversions.List(background, &sdk.ListConversionsParams{Status: new(sdk.ConversionStatusPending)})).Data
		return !slices.ContainsFunc(waits, func(c sdk.Conversion) bool { return c.OccurredAt.Time().Before(time.Now()) })
	}) {
		t.Fatal("not all is told")
	}
}

func TestCreateConversions_TellsEveryNetworkThatListens(t *testing.T) {
	onNetworksAlone(t, func(t *testing.T, n onNetwork) {
		if len(n.can.Conversions.Events) == 0 {
			return
		}
		d := n.destination(t)
		lead := n.event("lead")
		lead.Event, lead.Value, lead.Currency = new("lead"), nil, nil
		results := n.tell(t, d.ID, n.event("1"), lead, n.event("1"))
		outcomes := []sdk.ConversionResultOutcome{results[0].Outcome, results[1].Outcome, results[2].Outcome}
		if !slices.Equal(outcomes, []sdk.ConversionResultOutcome{"queued", "queued", "duplicate"}) {
			t.Fatalf("the outcomes are %v", outcomes)
		}
		waits := ok[*sdk.Conversion](t)(n.AdConversions.Get(background, *results[0].ConversionID))
		assert.EqualValues(t, "purchase", waits.Event, "the conversion")
		assert.Equal(t, "1", waits.EventID, "the conversion")
		assert.EqualValues(t, "19.90", *waits.Value, "the conversion")
		assert.Equal(t, "usd", *waits.Currency, "the conversion")
		assert.EqualValues(t, "api", waits.Source, "the conversion")
		assert.Equal(t, d.ID, waits.DestinationID, "the conversion")
		n.work(t)
		sent := ok[*sdk.ConversionList](t)(n.AdConversions.List(background, &sdk.ListConversionsParams{DestinationID: &d.ID, Status: new(sdk.ConversionStatusSent)})).Data
		require.Len(t, sent, 2, "what")
		require.NotNil(t, sent[0].SentAt, "what")
		require.Nil(t, sent[0].NextAttemptAt, "what")
		assert.EqualValues(t, 1, sent[0].Attempts, "what")
		assert.Nil(t, sent[0].Reason, "what")
		if again := n.tell(t, d.ID, n.event("1")); again[0].Outcome != sdk.ConversionResultOutcomeDuplicate {
			t.Errorf("the same event is %+v", again[0])
		}
		if counted := n.server.Strings(t, `SELECT counted FROM sandbox_conversions WHERE channel_id = '`+n.channel+`'`); !slices.Equal(counted, []string{"1", "1"}) {
			t.Errorf("the network has counted %v", counted)
		}
	})
}

func TestCreateConversions_SaysWhatIsWrongWithEach(t *testing.T) {
	onOneNetwork(t, sdk.AdPlatformFacebook, func(t *testing.T, n onNetwork) {
		d := n.destination(t)
		long := strings.Repeat("x", 1001)
		wrong := []struct {
			param  string
			change func(*sdk.ConversionInput)
		}{
			{"ads_consent", func(e *sdk.ConversionInput) { e.AdsConsent = nil }},
			{"ads_consent", func(e *sdk.ConversionInput) { e.AdsConsent = new(false) }},
			{"event_id", func(e *sdk.ConversionInput) { e.EventID = nil }},
			{"event_id", func(e *sdk.ConversionInput) { e.EventID = new(long[:201]) }},
			{"event", func(e *sdk.ConversionInput) { e.Event = nil }},
			{"event", func(e *sdk.ConversionInput) { e.Event = new("refund") }},
			{"event", func(e *sdk.ConversionInput) { e.Event = new("trial_started") }},
			{"occurred_at", func(e *sdk.ConversionInput) { e.OccurredAt = nil }},
			{"occurred_at", func(e *sdk.ConversionInput) { e.OccurredAt = new("yesterday") }},
			{"occurred_at", func(e *sdk.ConversionInput) { e.OccurredAt = new(ago(7*24*time.Hour + time.Minute)) }},
			{"occurred_at", func(e *sdk.ConversionInput) { e.OccurredAt = new(ago(-2 * time.Minute)) }},
			{"value", func(e *sdk.ConversionInput) { e.Value = nil }},
			{"value", func(e *sdk.ConversionInput) { e.Value = new(json.Number("-1")) }},
			{"currency", func(e *sdk.ConversionInput) { e.Currency = nil }},
			{"currency", func(e *sdk.ConversionInput) { e.Currency = new("dollars") }},
			{"user.email", func(e *sdk.ConversionInput) { e.User.Email = new("ada") }},
			{"user.phone", func(e *sdk.ConversionInput) { e.User.Phone = new("12") }},
			{"user.email_sha256", func(e *sdk.ConversionInput) { e.User.EmailSHA256 = new("abc") }},
			{"user.country", func(e *sdk.ConversionInput) { e.User.Country = new("Germany") }},
			{"user", func(e *sdk.ConversionInput) { e.User, e.ClientIP = nil, nil }},
			{"page_url", func(e *sdk.ConversionInput) { e.PageURL = new("shop.example") }},
			{"page_url", func(e *sdk.ConversionInput) { e.PageURL = new("javascript:alert(1)") }},
			{"client_ip", func(e *sdk.ConversionInput) { e.ClientIP = new("here") }},
			{"client_ip", func(e *sdk.ConversionInput) { e.ClientIP = new("fe80::1%eth0") }},
			{"currency", func(e *sdk.ConversionInput) { e.Event, e.Value, e.Currency = new("lead"), nil, new("zzzz") }},
			{"user_agent", func(e *sdk.ConversionInput) { e.UserAgent = &long }},
			{"click_id", func(e *sdk.ConversionInput) { e.ClickID = &long }},
			{"items.0.id", func(e *sdk.ConversionInput) { e.Items = []sdk.ConversionItem{{}} }},
			{"items.0.quantity", func(e *sdk.ConversionInput) { e.Items = []sdk.ConversionItem{{ID: "a", Quantity: new(int64(0))}} }},
			{"items.0.price", func(e *sdk.ConversionInput) { e.Items = []sdk.ConversionItem{{ID: "a", Price: new(json.Number("-1"))}} }},
			{"items", func(e *sdk.ConversionInput) { e.Items = make([]sdk.ConversionItem, 101) }},
		}
		events := make([]sdk.ConversionInput, len(wrong), len(wrong)+1)
		for i := range wrong {
			events[i] = n.event(fmt.Sprint(i))
			wrong[i].change(&events[i])
		}
		results := n.tell(t, d.ID, append(events, n.event("good"))...)
		for i, w := range wrong {
			r := results[i]
			assert.Equal(t, int64(i), r.Index)
			assert.Equal(t, sdk.ConversionResultOutcomeFailed, r.Outcome)
			require.Nil(t, r.ConversionID)
			require.NotNil(t, r.Error)
			assert.False(t, r.Error.Param != nil && *r.Error.Param != w.param)
			assert.Equal(t, sdk.CodeValidationFailed, r.Error.Code)
		}
		if last := results[len(wrong)]; last.Outcome != sdk.ConversionResultOutcomeQueued {
			t.Errorf("what is right became %+v", last)
		}
	})
}

// ago is a time in RFC 3339.
func ago(d time.Duration) string { return time.Now().Add(-d).UTC().Format(time.RFC3339) }

func TestCreateConversions_KeepsNothingThatIdentifies(t *testing.T) {
	onOneNetworkAlone(t, sdk.AdPlatformFacebook, func(t *testing.T, n onNetwork) {
		d := n.destination(t)
		defer n.server.RestAds()()
		e := later(n.event("1"))
		e.User = &sdk.ConversionPerson{Email: new("Ada@private.example"), Phone: new("+1 616 954 7888"), LastName: new("Lovelace"), PhoneSHA256: new(hashed("16169547888"))}
		n.tell(t, d.ID, e)
		kept := n.server.Strings(t, `SELECT user_data FROM ad_conversions`)[0]
		for _, hash := range []string{hashed("ada@private.example"), hashed("16169547888"), hashed("lovelace")} {
			if !strings.Contains(kept, hash) {
				t.Errorf("%s has no %s", kept, hash)
			}
		}
		for _, plain := range []string{"private.example", "9547888", "ovelace"} {
			if strings.Contains(kept, plain) {
				t.Errorf("%s says %s", kept, plain)
			}
		}
		e.EventID, e.OccurredAt = new("2"), n.event("2").OccurredAt
		n.tell(t, d.ID, e)
		n.work(t)
		if left := n.server.Strings(t, `SELECT user_data FROM ad_conversions WHERE event_id = '2'`)[0]; left != "{}" {
			t.Errorf("%s is left", left)
		}
	})
}

func TestListConversions_Filters(t *testing.T) {
	onOneNetworkAlone(t, sdk.AdPlatformPinterest, func(t *testing.T, n onNetwork) {
		d := n.destination(t)
		anonymous := n.event("anonymous") // the network takes nobody without an address or a browser
		anonymous.User, anonymous.ClientIP = &sdk.ConversionPerson{Phone: new("+16169547888")}, nil
		lead := n.event("lead")
		lead.Event = new("lead")
		n.tell(t, d.ID, n.event("1"), lead, anonymous)
		n.work(t)
		defer n.server.RestAds()()
		n.tell(t, d.ID, later(n.event("2")))
		for _, c := range []struct {
			filter sdk.ListConversionsParams
			want   []string
		}{
			{sdk.ListConversionsParams{}, []string{"2", "anonymous", "lead", "1"}},
			{sdk.ListConversionsParams{Status: new(sdk.ConversionStatusPending)}, []string{"2"}},
			{sdk.ListConversionsParams{Status: new(sdk.ConversionStatusRefused)}, []string{"anonymous"}},
			{sdk.ListConversionsParams{Event: new(sdk.ConversionEventKindLead)}, []string{"lead"}},
			{sdk.ListConversionsParams{EventID: new("1")}, []string{"1"}},
			{sdk.ListConversionsParams{DestinationID: new(d.ID), Event: new(sdk.ConversionEventKindPurchase), Limit: new(int64(2))}, []string{"2", "anonymous"}},
			{sdk.ListConversionsParams{DestinationID: new("cdest_none")}, nil},
		} {
			var got []string
			for _, one := range ok[*sdk.ConversionList](t)(n.AdConversions.List(background, &c.filter)).Data {
				got = append(got, one.EventID)
				if one.Status == sdk.ConversionStatusRefused && (one.Reason == nil || !strings.Contains(*one.Reason, "e-mail")) {
					t.Errorf("the refused one says %v", one.Reason)
				}
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("%+v lists %v, not %v", c.filter, got, c.want)
			}
		}
	})
}

func TestCreateConversions_NeedsAnActiveDestination(t *testing.T) {
	onOneNetwork(t, sdk.AdPlatformFacebook, func(t *testing.T, n onNetwork) {
		d := n.destination(t)
		events := []sdk.ConversionInput{n.event("1")}
		ok[*sdk.ConversionDestination](t)(n.AdConversions.UpdateDestination(background, d.ID, &sdk.ConversionDestinationUpdate{Status: new(sdk.ConversionDestinationUpdateStatusPaused)}))
		_, err := n.AdConversions.Create(background, &sdk.ConversionsCreate{DestinationID: d.ID, Events: events})
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "destination_id")
		ok[*sdk.DeletedSocialAccount](t)(n.Socials.Delete(background, n.channel))
		_, err = n.AdConversions.Create(background, &sdk.ConversionsCreate{DestinationID: d.ID, Events: events})
		refused(t, err, http.StatusConflict, sdk.CodeAccountNotActivated, "account_id")
		_, err = n.AdConversions.Create(background, &sdk.ConversionsCreate{DestinationID: d.ID, Events: slices.Repeat(events, 1001)})
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "events")
	})
}
