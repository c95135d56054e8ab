package contract

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/tests/harness"
	"github.com/tillwright/tillwright/tests/harness/database"
)

// film makes a draft show a video.
func film(draft *sdk.AdCreate, address string) {
	draft.ImageURL, draft.VideoURL = nil, &address
}

// shows are the kinds of media, and what makes a draft show each.
var shows = map[sdk.AdMediaRulesKinds]func(*sdk.AdCreate){
	"image": func(d *sdk.AdCreate) { d.ImageURL, d.VideoURL = new("https://example.com/go.png"), nil },
	"video": func(d *sdk.AdCreate) { film(d, "https://example.com/go.mp4") },
	"carousel": func(d *sdk.AdCreate) {
		d.ImageURL, d.VideoURL = nil, nil
		d.Cards = []sdk.AdCardInput{{ImageURL: new("https://example.com/1.png"), Headline: new("One")}, {ImageURL: new("https://example.com/2.png"), LinkURL: new("https://example.com/two")}}
	},
}

var mediaFields = map[sdk.AdMediaRulesKinds]string{"image": "image_url", "video": "video_url", "carousel": "cards"}

// TestMedia_AreWhatTheCapabilitiesSay holds every yes against an ad that is made, and every no against a refusal.
func TestMedia_AreWhatTheCapabilitiesSay(t *testing.T) {
	onNetworks(t, func(t *testing.T, n onNetwork) {
		for kind, show := range shows {
			draft := n.draft("Shows " + string(kind))
			show(draft)
			ad, err := n.Ads.Create(background, draft)
			if !slices.Contains(n.can.Media.Kinds, kind) {
				refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, mediaFields[kind])
				continue
			}
			if err != nil {
				t.Errorf("%s: %v", kind, err)
				continue
			}
			c := ad.Creative
			assert.False(t, kind == "video" && (c.VideoURL == nil || *c.VideoURL != *draft.VideoURL))
			assert.False(t, kind == "carousel" && (len(c.Cards) != 2 || *c.Cards[1].LinkURL != "https://example.com/two"))
			read := ok[*sdk.Ad](t)(n.Ads.Get(background, ad.ID, nil))
			if string(harness.Encode(read.Creative)) != string(harness.Encode(ad.Creative)) {
				t.Errorf("read again, it shows %+v", read.Creative)
			}
		}
		none := n.draft("Shows nothing")
		none.ImageURL, none.VideoURL = nil, nil
		_, err := n.Ads.Create(background, none)
		if n.can.Media.Optional {
			if err != nil {
				t.Errorf("text alone: %v", err)
			}
		} else {
			refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, n.can.Creative.Required[len(n.can.Creative.Required)-1])
		}
		n.holdsCards(t)
		n.replaces(t)
	})
}

// holdsCards tries how many cards a carousel has, and of which kind.
func (n onNetwork) holdsCards(t *testing.T) {
	t.Helper()
	most := int(n.can.Media.MaxCards)
	for _, cards := range []int{1, 2, most, most + 1} {
		draft := n.draft("Cards")
		shows["carousel"](draft)
		draft.Cards = slices.Repeat(draft.Cards[:1], max(cards, 1))
		_, err := n.Ads.Create(background, draft)
		switch {
		case cards >= 2 && cards <= most:
			if err != nil {
				t.Errorf("%d cards: %v", cards, err)
			}
		case cards <= 10:
			refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "cards")
		}
	}
	draft := n.draft("Video cards")
	shows["carousel"](draft)
	draft.Cards[1] = sdk.AdCardInput{VideoURL: new("https://example.com/go.mp4")}
	_, err := n.Ads.Create(background, draft)
	switch {
	case n.can.Media.VideoCards:
		if err != nil {
			t.Errorf("a card with a video: %v", err)
		}
	case most > 0:
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "cards.1.video_url")
	default:
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "cards")
	}
}

// replaces gives an ad another creative.
func (n onNetwork) replaces(t *testing.T) {
	t.Helper()
	draft := n.draft("Replaced")
	ad := ok[*sdk.Ad](t)(n.Ads.Create(background, draft))
	next := &sdk.AdCreativeInput{Headline: new("Other"), Body: new("Other words."), CallToAction: draft.CallToAction, LinkURL: draft.LinkURL, ImageURL: draft.ImageURL, VideoURL: draft.VideoURL}
	change := &sdk.AdUpdate{Platform: &n.platform, Creative: next}
	changed, err := n.Ads.Update(background, ad.ID, change)
	if !n.can.Media.Replaceable {
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "creative")
		return
	}
	require.NoError(t, err)
	require.Equal(t, "Other words.", *changed.Creative.Body)
	require.True(t, slices.ContainsFunc(changed.Warnings, func(w string) bool { return strings.HasPrefix(w, "creative: ") }))
	again := ok[*sdk.Ad](t)(n.Ads.Update(background, ad.ID, change, unreachable))
	if len(again.Warnings) != 0 {
		t.Errorf("the same once more warns of %v", again.Warnings)
	}
	next.Body = nil
	_, err = n.Ads.Update(background, ad.ID, change)
	refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "creative.body")
	if plan := ok[*sdk.AdPlan](t)(n.Ads.PlanUpdate(background, ad.ID, &sdk.AdUpdate{Platform: &n.platform, Name: new("x")})); len(plan.Calls) != 1 {
		t.Errorf("the plan is %+v", plan)
	}
}

// TestVideo_IsWaitedForUnderOneKey makes an ad with a video that takes the network a minute.
func TestVideo_IsWaitedForUnderOneKey(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		s := boot(t, url)
		n := newOnNetwork(t, s, sdk.AdPlatformTikTok)
		draft := n.draft("Slow")
		film(draft, "https://example.com/[slow].mp4")
		before := len(n.natives(t))
		for range 2 {
			resp := n.sendUnder(t, "slow video", draft)
			f := resp.Fault(t, http.StatusConflict, sdk.CodeMediaProcessing)
			assert.NotEmpty(t, resp.Header.Get("Retry-After"))
			assert.Contains(t, f.Message, "Idempotency-Key")
		}
		if made := len(n.natives(t)); made != before {
			t.Errorf("%d ads were made meanwhile", made-before)
		}
		s.Clock.SetAhead(2 * time.Minute)
		for range 2 {
			if resp := n.sendUnder(t, "slow video", draft); resp.Status != http.StatusCreated {
				t.Fatalf("it is answered %d %s", resp.Status, resp.Body)
			}
		}
		if made := len(n.natives(t)); made != before+1 {
			t.Errorf("%d ads were made", made-before)
		}
		film(draft, "https://example.com/[broken].mp4")
		_, err := n.Ads.Create(background, draft)
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "video_url")
	})
}

func TestCreatives_MakeSeveralAdsOrNone(t *testing.T) {
	onNetworks(t, func(t *testing.T, n onNetwork) {
		draft := n.draft("Several")
		one := sdk.AdNamedCreative{Body: draft.Body, Headline: draft.Headline, CallToAction: draft.CallToAction, LinkURL: draft.LinkURL, ImageURL: draft.ImageURL, VideoURL: draft.VideoURL}
		draft.Body, draft.Headline, draft.CallToAction, draft.LinkURL, draft.ImageURL, draft.VideoURL = nil, nil, nil, nil, nil, nil
		for _, name := range []string{"First", "Second", "Third"} {
			one.Name, one.Body = name, new(name+" words.")
			draft.Creatives = append(draft.Creatives, one)
		}
		if plan := ok[*sdk.AdPlan](t)(n.Ads.PlanCreate(background, draft, unreachable)); strings.Count(string(harness.Encode(plan.Calls)), `"create_ad"`) != 3 {
			t.Errorf("the plan is %+v", plan.Calls)
		}
		before := len(n.natives(t))
		wrong := *draft
		wrong.Creatives = slices.Clone(draft.Creatives)
		wrong.Creatives[1].Body = nil
		_, err := n.Ads.Create(background, &wrong)
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "creatives.1.body")
		wrong = *draft
		wrong.Body = new("Words beside them.")
		_, err = n.Ads.Create(background, &wrong)
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "creatives")
		_, err = n.Ads.Create(background, draft, fault("partial:3"))
		if err == nil {
			t.Error("made although the network refused one of them")
		}
		if made := len(n.natives(t)); made != before {
			t.Errorf("%d ads were made though one was refused", made-before)
		}
		made := ok[*sdk.Ad](t)(n.Ads.Create(background, draft))
		require.Equal(t, "First", made.Name)
		require.Len(t, made.Ads, 3)
		require.Equal(t, made.ID, made.Ads[0].ID)
		for i, ad := range made.Ads {
			assert.Equal(t, draft.Creatives[i].Name, ad.Name)
			assert.Equal(t, *draft.Creatives[i].Body, *ad.Creative.Body)
			assert.Equal(t, made.AdGroupID, ad.AdGroupID)
			assert.Equal(t, "Several", ad.CampaignName)
		}
		if now := len(n.natives(t)); now != before+3 {
			t.Errorf("%d ads were made", now-before)
		}
	})
}

// TestCreatives_AreFoundAgain loses the answer to several ads, and asks again.
func TestCreatives_AreFoundAgain(t *testing.T) {
	onOneNetwork(t, sdk.AdPlatformPinterest, func(t *testing.T, n onNetwork) {
		body := map[string]any{}
		if err := json.Unmarshal(harness.Encode(n.draft("Found")), &body); err != nil {
			t.Fatal(err)
		}
		one := map[string]any{}
		for _, field := range []string{"headline", "body", "link_url", "image_url", "call_to_action"} {
			one[field] = body[field]
			delete(body, field)
		}
		one["name"] = "Twin"
		body["creatives"] = []any{one, one}
		resp := n.raw.Do(t, http.MethodPost, "/v1/ads", body, "Idempotency-Key", "twins", "X-Sandbox-Fault", "timeout_after_commit")
		if resp.Status < 500 {
			t.Fatalf("it is answered %d %s", resp.Status, resp.Body)
		}
		made := n.raw.Do(t, http.MethodPost, "/v1/ads", body, "Idempotency-Key", "twins")
		assert.Equal(t, http.StatusCreated, made.Status)
		assert.Len(t, n.natives(t), 2)
	})
}
