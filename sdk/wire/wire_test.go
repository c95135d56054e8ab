package wire

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/tillwright/tillwright/sdk/internal/require"
)

type thing struct {
	ID   string            `json:"id"`
	Name string            `json:"name"`
	Next Expandable[thing] `json:"next"`
}

func TestExpandable_WritesWhatItReads(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]Expandable[thing]{
		`null`:                                 {},
		`"th_1"`:                               {ID: "th_1"},
		`{"id":"th_1","name":"a","next":null}`: {ID: "th_1", Object: &thing{ID: "th_1", Name: "a"}},
		`{"id":"th_1","name":"a","next":{"id":"th_2","name":"b","next":"th_3"}}`: {ID: "th_1", Object: &thing{ID: "th_1", Name: "a",
			Next: Expandable[thing]{ID: "th_2", Object: &thing{ID: "th_2", Name: "b", Next: Expandable[thing]{ID: "th_3"}}}}},
		`{"id":"th_1","object":"thing","deleted":true}`: {ID: "th_1", Deleted: &Deleted{ID: "th_1", Object: "thing", Deleted: true}},
	} {
		got := Expandable[thing]{ID: "left over", Object: &thing{}, Deleted: &Deleted{}}
		require.NoError(t, json.Unmarshal([]byte(" "+text), &got))
		require.Equal(t, want, got, text)
		written, err := json.Marshal(want)
		require.NoError(t, err)
		require.Equal(t, text, string(written))
	}
}

func TestExpandable_RefusesWhatIsNoReference(t *testing.T) {
	t.Parallel()
	for _, text := range []string{`7`, `true`, `["th_1"]`, `{"id":7}`, `{"id":"th_1","name":7}`} {
		var got Expandable[thing]
		require.Error(t, json.Unmarshal([]byte(text), &got), text)
	}
}

func TestReference_ReadsAsAnExpandable(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		reference Reference
		want      Expandable[thing]
	}{
		{nil, Expandable[thing]{}},
		{RefTo("th_1"), Expandable[thing]{ID: "th_1"}},
		{&thing{ID: "th_2", Name: "b"}, Expandable[thing]{ID: "th_2", Object: &thing{ID: "th_2", Name: "b"}}},
		{&Deleted{ID: "th_3", Object: "thing", Deleted: true}, Expandable[thing]{ID: "th_3", Deleted: &Deleted{ID: "th_3", Object: "thing", Deleted: true}}},
	} {
		text, err := json.Marshal(c.reference)
		require.NoError(t, err)
		var got Expandable[thing]
		require.NoError(t, json.Unmarshal(text, &got))
		require.Equal(t, c.want, got)
	}
}

func TestRefTos_OfNothingReadsAsAnEmptyList(t *testing.T) {
	t.Parallel()
	text, err := json.Marshal(RefTos(nil))
	require.NoError(t, err)
	require.Equal(t, "[]", string(text))
}

func TestTime_IsUTCWithMilliseconds(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 21, 1, 2, 3, 4_999_999, time.FixedZone("CET", 3600))
	require.Equal(t, Time("2026-11-21T00:02:03.004Z"), TimeOf(at))
	require.True(t, TimeOf(at).Time().Equal(at.Truncate(time.Millisecond)))
	require.Equal(t, "2026-11-21T00:02:03.004Z", fmt.Sprint(new(TimeOf(at))), "a pointer to one is printed as its text")
	require.True(t, Time("2026-11-21T01:02:03+01:00").Time().Equal(at.Truncate(time.Second)))
	require.Equal(t, time.Date(2017, 1, 1, 0, 0, 0, 0, time.UTC), Time("2016-12-31t23:59:60z").Time().UTC())
	require.Zero(t, Time("yesterday").Time())
	require.Zero(t, Time("").Time())
}

func TestPaymentMethod_IsATokenOrACard(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]PaymentMethod{
		`"pm_card_visa"`: {Token: "pm_card_visa"},
		`{"type":"card","card":{"number":"4242424242424242","exp_month":12,"exp_year":2030,"cvc":"123"}}`: {
			Card: &Card{Number: "4242424242424242", ExpMonth: 12, ExpYear: 2030, CVC: "123"}},
	} {
		got := PaymentMethod{Token: "left over", Card: &Card{}}
		require.NoError(t, json.Unmarshal([]byte(text), &got))
		require.Equal(t, want, got)
		written, err := json.Marshal(want)
		require.NoError(t, err)
		require.Equal(t, text, string(written))
	}
}

func TestAdCampaignRef_IsATextOrAnObject(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]AdCampaignRef{
		`"120"`:                        {ID: "120"},
		`{"id":"120"}`:                 {ID: "120"},
		`{"campaign_id":"120"}`:        {ID: "120"},
		`{"platform_campaign_id":"1"}`: {ID: "1"},
		` {"id":"120","platform":"x"}`: {ID: "120", Platform: "x"},
		`{}`:                           {},
	} {
		got := AdCampaignRef{ID: "left over", Platform: "left over"}
		require.NoError(t, json.Unmarshal([]byte(text), &got), text)
		require.Equal(t, want, got, text)
		written, err := json.Marshal(want)
		require.NoError(t, err)
		var again AdCampaignRef
		require.NoError(t, json.Unmarshal(written, &again))
		require.Equal(t, want, again)
	}
	require.Error(t, new(AdCampaignRef).UnmarshalJSON([]byte(`7`)))
}

func TestExpandable_GetNeverPanics(t *testing.T) {
	t.Parallel()
	type thing struct{ Name string }
	for text, want := range map[string]bool{
		`null`: false, `"cus_1"`: false, `{"id":"cus_1","object":"customer","deleted":true}`: false, `{"id":"cus_1","name":"Ada"}`: true,
	} {
		var reference Expandable[thing]
		require.NoError(t, json.Unmarshal([]byte(text), &reference))
		got, ok := reference.Get()
		require.Equal(t, want, ok, text)
		require.Equal(t, want, got.Name == "Ada", text)
	}
}
