package contract

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/tests/harness"
)

// asked is a value for a field of a new ad, with what a dry run says of it.
type asked struct {
	value any
	says  string         // a part of the calls, "" if they show nothing of it
	with  map[string]any // what goes with it, without which it is refused
}

// everyField has a value for each field of a new ad, but for those that every ad has.
func (n onNetwork) everyField(t *testing.T) map[string]asked {
	t.Helper()
	end := time.Now().AddDate(0, 0, 40).Format(time.DateOnly)
	people := n.audience(t, "Shown")
	_ = ok[*sdk.AdAudienceUpload](t)(n.upload(people.ID, people500()))
	card := func(name string) map[string]any {
		return map[string]any{"headline": name, "image_url": "https://example.com/c.png", "link_url": "https://example.com/c"}
	}
	one := func(name string) map[string]any {
		return map[string]any{"name": name, "headline": "Headline", "body": "Body", "call_to_action": "SHOP_NOW", "link_url": "https://example.com/x", "image_url": "https://example.com/y.png"}
	}
	valued := map[string]any{"pixel_id": "1"}
	if n.platform == sdk.AdPlatformTikTok {
		valued["optimization_event"] = "SHOPPING"
	}
	option := func(id string) []any { return []any{map[string]any{"id": id, "name": "N"}} }
	return map[string]asked{
		"platform": {n.platform, "", nil}, "currency": {"usd", "", nil}, "campaign_id": {"17", "", nil}, "ad_group_id": {"18", "", nil},
		"start_date": {time.Now().AddDate(0, 0, 20).Format(time.DateOnly), "starts_at", nil}, "end_date": {end, "ends_at", nil},
		"budget_level": {"campaign", "budget_amount", nil}, "status": {"paused", n.paused(), nil},
		"bid_strategy":       {"COST_CAP", "bid_strategy", map[string]any{"bid_amount": 2}},
		"bid_amount":         {3, "3.00", map[string]any{"bid_strategy": "COST_CAP"}},
		"roas_average_floor": {1.5, "1.5", map[string]any{"bid_strategy": "LOWEST_COST_WITH_MIN_ROAS", "goal": "conversions", "promoted_object": valued}},
		"headline":           {"Read on", "Read on", nil}, "body": {"A tale", "A tale", nil}, "call_to_action": {"SHOP_NOW", "SHOP_NOW", nil},
		"link_url": {"https://example.com/x", "example.com/x", nil}, "image_url": {"https://example.com/y.png", "example.com/y.png", nil},
		"description":   {"In other words", "In other words", nil},
		"video_url":     {"https://example.com/v.mp4", "example.com/v.mp4", map[string]any{"image_url": nil}},
		"thumbnail_url": {"https://example.com/t.png", "example.com/t.png", map[string]any{"image_url": nil, "video_url": "https://example.com/v.mp4"}},
		"cards":         {[]any{card("Card one"), card("Card two")}, "Card two", map[string]any{"image_url": nil}},
		"creatives": {[]any{one("Ad one"), one("Ad two")}, "Ad two", map[string]any{
			"headline": nil, "body": nil, "call_to_action": nil, "link_url": nil, "image_url": nil,
		}},
		"promoted_object": {map[string]any{"some_id": "4711"}, "4711", nil},
		"targeting":       {map[string]any{"countries": []string{"CA"}}, "CA", nil}, "platform_targeting": {map[string]any{"own": "word"}, "own", nil},
		"special_ad_categories": {[]string{"employment"}, "EMPLOYMENT", nil},
		"special_ad_countries":  {[]string{"us"}, "US", map[string]any{"special_ad_categories": []string{"employment"}}},
		"dsa_beneficiary":       {"Ada", "Ada", nil}, "dsa_payor": {"Grace", "Grace", nil},
		"countries": {[]string{"CA"}, "CA", nil}, "regions": {option("r-1"), "r-1", nil}, "cities": {option("c-1"), "c-1", nil}, "zips": {option("z-1"), "z-1", nil},
		"metros": {option("m-1"), "m-1", nil}, "excluded": {map[string]any{"countries": []string{"GB"}}, "GB", nil}, "age_min": {18, "18", nil}, "age_max": {54, "54", nil},
		"genders": {[]string{"female"}, "female", nil}, "languages": {[]string{"fr"}, "fr", nil}, "interests": {option("i-1"), "i-1", nil},
		"behaviors": {option("b-1"), "b-1", nil}, "audiences": {map[string]any{"include": []string{people.ID}}, "include", nil},
		"placements": {[]string{"feed"}, "feed", nil}, "devices": {[]string{"mobile"}, "mobile", nil}, "expand": {true, `"expand":"true"`, nil},
	}
}

// paused is the network's word for it.
func (n onNetwork) paused() string {
	if n.platform == sdk.AdPlatformTikTok {
		return "DISABLE"
	}
	return "PAUSED"
}

// people500 are as many as a network needs.
func people500() []sdk.AdAudienceUser { return people(500) }

// TestCreateAd_DropsNoField walks every field of a new ad that the specification has. What is asked for is sent, or refused by name, or a warning
// begins with the field's name.
func TestCreateAd_DropsNoField(t *testing.T) {
	onNetworks(t, func(t *testing.T, n onNetwork) {
		fields := n.everyField(t)
		always := []string{"account_id", "ad_account_id", "name", "goal", "budget_amount", "budget_type"}
		for field := range schemas()["AdCreate"].(map[string]any)["properties"].(map[string]any) {
			c, known := fields[field]
			if slices.Contains(always, field) {
				continue
			}
			if !known {
				t.Errorf("nothing is known of the field %s: say here what a network is sent for it", field)
				continue
			}
			extra := map[string]any{field: c.value}
			for name, value := range c.with {
				extra[name] = value
			}
			answer := n.raw.Do(t, http.MethodPost, "/v1/ads?dry_run=true", n.with(t, "All of it", extra))
			if !n.isSaid(t, field, c, answer) {
				t.Errorf("%s of %s is dropped: %d %.700s", field, harness.Encode(c.value), answer.Status, answer.Body)
			}
		}
	})
}

// isSaid reports whether a dry run shows what was asked for in its calls or its warnings. It is said, too, if the run refuses by name what was asked
// for or what goes with it.
func (n onNetwork) isSaid(t *testing.T, field string, c asked, answer *harness.Response) bool {
	t.Helper()
	about := func(name string) bool {
		_, goesAlong := c.with[name]
		return goesAlong || name == field || strings.HasPrefix(name, field+".") || strings.HasSuffix(name, "."+field)
	}
	switch answer.Status {
	case http.StatusOK:
		var plan sdk.AdPlan
		if err := json.Unmarshal(answer.Body, &plan); err != nil {
			t.Fatal(err)
		}
		isWarned := slices.ContainsFunc(plan.Warnings, func(w string) bool { return strings.HasPrefix(w, field) })
		calls := strings.ReplaceAll(string(harness.Encode(plan.Calls)), `\"`, `"`)
		return isWarned || c.says == "" || strings.Contains(calls, c.says)
	case http.StatusNotFound, http.StatusUnprocessableEntity, http.StatusBadRequest:
		var refusal struct {
			Error struct {
				Param  string
				Errors map[string][]string
			}
		}
		if err := json.Unmarshal(answer.Body, &refusal); err != nil {
			t.Fatal(err)
		}
		for name := range refusal.Error.Errors {
			if about(name) {
				return true
			}
		}
		return about(refusal.Error.Param) || field == "campaign_id" && refusal.Error.Param == "ad_group_id"
	}
	return false
}

// TestAdTargeting_HasTheWordsThatItIsSaidToHave asks each network for each word: what its capabilities name makes an ad, anything else is
// refused by its name.
func TestAdTargeting_HasTheWordsThatItIsSaidToHave(t *testing.T) {
	onNetworks(t, func(t *testing.T, n onNetwork) {
		fields := n.everyField(t)
		for word := range schemas()["AdTargeting"].(map[string]any)["properties"].(map[string]any) {
			targeting := map[string]any{word: fields[word].value}
			name := word
			if word == "audiences" {
				name = "audiences.include"
			}
			answer := n.raw.Do(t, http.MethodPost, "/v1/ads", n.with(t, "Word "+word, map[string]any{"targeting": targeting, "status": "paused"}))
			has := slices.Contains(n.can.Targeting.Words, name)
			refusal := `"targeting.` + name
			assert.Equal(t, answer.Status == http.StatusCreated, has, "%s is said to be", word)
			assert.False(t, !has && !strings.Contains(string(answer.Body), refusal), "%s is said to be", word)
		}
	})
}

// TestAdTargeting_IsShownAsItWasSent makes an ad for narrow people and reads its ad group, then changes whom it is for.
func TestAdTargeting_IsShownAsItWasSent(t *testing.T) {
	onOneNetwork(t, sdk.AdPlatformFacebook, func(t *testing.T, n onNetwork) {
		people := n.audience(t, "Shown")
		_ = ok[*sdk.AdAudienceUpload](t)(n.upload(people.ID, people500()))
		draft := n.draft("Narrow")
		draft.AgeMin = new(int64(25))
		draft.Targeting = &sdk.AdTargeting{
			Countries: []string{"us"}, Genders: []sdk.AdGender{"female"}, Audiences: &sdk.AdTargetingAudiences{Include: []string{people.ID}},
			Cities: []sdk.AdTargetingCity{{ID: "2418779", Name: new("Berlin"), RadiusKm: new(int64(25))}},
		}
		draft.PlatformTargeting = new(json.RawMessage(`{"user_os":["iOS"]}`))
		ad := ok[*sdk.Ad](t)(n.Ads.Create(background, draft))
		group := ok[*sdk.AdGroup](t)(n.AdGroups.Get(background, ad.AdGroupID, nil))
		wants := `{"age_min":25,"audiences":{"include":["` + people.ID + `"]},"cities":[{"id":"2418779","name":"Berlin","radius_km":25}],"countries":["US"],"genders":["female"]}`
		if got := string(harness.Encode(group.Targeting)); got != wants {
			t.Errorf("it is shown to %s, not %s", got, wants)
		}
		own := string(group.PlatformTargeting)
		assert.Contains(t, own, `"user_os":["iOS"]`, "in the network's words it is shown")
		assert.Contains(t, own, `"age_min":25`, "in the network's words it is shown")
		changed := ok[*sdk.AdGroup](t)(n.AdGroups.Update(background, group.ID, &sdk.AdGroupUpdate{Targeting: &sdk.AdTargeting{Countries: []string{"CA"}}}))
		if got := string(harness.Encode(changed.Targeting)); got != `{"countries":["CA"]}` {
			t.Errorf("then it is shown to %s", got)
		}
		_, err := n.AdGroups.Update(background, group.ID, &sdk.AdGroupUpdate{Targeting: &sdk.AdTargeting{AgeMin: new(int64(30))}})
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "targeting")
	})
}

// TestAdTargeting_NamesWhatIsWrong sends what no network takes.
func TestAdTargeting_NamesWhatIsWrong(t *testing.T) {
	onOneNetwork(t, sdk.AdPlatformFacebook, func(t *testing.T, n onNetwork) {
		small := n.audience(t, "Nobody yet")
		for param, change := range map[string]func(*sdk.AdCreate){
			"age_min": func(c *sdk.AdCreate) {
				c.AgeMin, c.Targeting = new(int64(20)), &sdk.AdTargeting{AgeMin: new(int64(21))}
			},
			"targeting.geo_locations": func(c *sdk.AdCreate) {
				c.Targeting = &sdk.AdTargeting{AdditionalProperties: map[string]json.RawMessage{"geo_locations": json.RawMessage(`{}`)}}
			},
			"targeting.age_max":     func(c *sdk.AdCreate) { c.Targeting = &sdk.AdTargeting{AgeMin: new(int64(40)), AgeMax: new(int64(30))} },
			"special_ad_countries":  func(c *sdk.AdCreate) { c.SpecialAdCategories = []string{"Issues_Elections_Politics"} },
			"special_ad_categories": func(c *sdk.AdCreate) { c.SpecialAdCategories = []string{"toys"} },
			"genders": func(c *sdk.AdCreate) {
				c.SpecialAdCategories, c.Genders = []string{"HOUSING"}, []sdk.AdGender{"female"}
			},
			"platform_targeting.countries": func(c *sdk.AdCreate) {
				c.Countries, c.PlatformTargeting = []string{"US"}, new(json.RawMessage(`{"countries":["CA"]}`))
			},
			"dsa_beneficiary": func(c *sdk.AdCreate) { c.Countries = []string{"US", "fr"} },
			"targeting.audiences.include": func(c *sdk.AdCreate) {
				c.Targeting = &sdk.AdTargeting{Audiences: &sdk.AdTargetingAudiences{Include: []string{small.ID}}}
			},
		} {
			draft := n.draft("Wrong")
			change(draft)
			_, err := n.Ads.Create(background, draft)
			refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, param)
		}
		stranger := n.draft("A stranger's")
		stranger.Audiences = &sdk.AdTargetingAudiences{Exclude: []string{"aud_01k0000000000000000000000a"}}
		_, err := n.Ads.Create(background, stranger)
		refused(t, err, http.StatusNotFound, sdk.CodeResourceMissing, "audiences.exclude")

		europe := n.draft("In the EU")
		europe.Countries, europe.DsaBeneficiary, europe.DsaPayor = []string{"FR"}, new("Ada"), new("Grace")
		_ = ok[*sdk.Ad](t)(n.Ads.Create(background, europe))
	})
}
