package tiktok

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store/advert"
)

// spec is the part of an ad group that the unified targeting has words for. Placements are apart: they are set once, and never changed.
type spec struct {
	Locations   []string `json:"location_ids,omitempty"`
	Zips        []string `json:"zipcode_ids,omitempty"`
	Languages   []string `json:"languages,omitempty"`
	Gender      string   `json:"gender,omitempty"`
	Ages        []string `json:"age_groups,omitempty"`
	Interests   []string `json:"interest_category_ids,omitempty"`
	Actions     []action `json:"actions,omitempty"`
	Include     []string `json:"audience_ids,omitempty"`
	Exclude     []string `json:"excluded_audience_ids,omitempty"`
	Wider       bool     `json:"smart_audience_enabled,omitempty"`
	WiderByTags bool     `json:"smart_interest_behavior_enabled,omitempty"`
}

// action says what people did lately.
type action struct {
	Scene      string   `json:"action_scene"`
	Period     int      `json:"action_period"` // days
	Categories []string `json:"action_category_ids"`
	Deeds      []string `json:"video_user_actions"`
}

// scenes are what people can have done, by the scene in which they did it.
var scenes = map[string]action{
	"VIDEO_RELATED":   {Period: 15, Deeds: []string{"WATCHED_TO_END", "LIKED", "COMMENTED", "SHARED"}},
	"CREATOR_RELATED": {Period: 0, Deeds: []string{"FOLLOWING", "VIEW_HOMEPAGE"}},
	"HASHTAG_RELATED": {Period: 15, Deeds: []string{"VIEW_HASHTAG"}},
}

// ownWords are the keys that platform_targeting may have: those that say whom an ad is shown to. It may have no others, or a budget could go round
// the account's limits.
var ownWords = []string{
	"location_ids", "zipcode_ids", "languages", "gender", "age_groups", "spending_power", "household_income", "audience_ids",
	"excluded_audience_ids", "interest_category_ids", "interest_keyword_ids", "purchase_intention_keyword_ids", "actions",
	"smart_audience_enabled", "smart_interest_behavior_enabled", "operating_systems", "min_android_version", "min_ios_version",
	"device_model_ids", "device_price_ranges", "network_types", "carrier_ids", "isp_ids", "contextual_tag_ids",
}

// bands are TikTok's words for ages.
var bands = []struct {
	from, to int
	word     string
}{
	{13, 17, "AGE_13_17"}, {18, 24, "AGE_18_24"}, {25, 34, "AGE_25_34"}, {35, 44, "AGE_35_44"}, {45, 54, "AGE_45_54"}, {55, ads.OldestAge, "AGE_55_100"},
}

// genders are TikTok's words for one gender. Both of them are everybody.
var genders = map[string]string{"female": "GENDER_FEMALE", "male": "GENDER_MALE"}

// anyGender is everybody.
const anyGender = "GENDER_UNLIMITED"

// Target implements ads.Network. Placements are fields of the ad group itself, and all who see TikTok hold a phone.
func (d *Driver) Target(t ads.Targeting, own advert.Object) (advert.Object, error) {
	said := spec{
		Locations: slices.Concat(ids(t.Regions), cities(t.Cities)), Zips: ids(t.Zips), Languages: t.Languages, Interests: ids(t.Interests),
		Wider: t.Expand, WiderByTags: t.Expand,
	}
	for _, code := range t.Countries {
		id, known := locationOf(code)
		if !known {
			return "", rejected("targeting.countries", fmt.Sprintf("TikTok has no ads in %s.", code))
		}
		said.Locations = append(said.Locations, id)
	}
	if len(t.Genders) == 1 {
		said.Gender = genders[t.Genders[0]]
	}
	if t.AgeMin > 0 || t.AgeMax > 0 {
		for _, b := range bands {
			if b.to >= t.AgeMin && (t.AgeMax == 0 || b.from <= t.AgeMax) {
				said.Ages = append(said.Ages, b.word)
			}
		}
	}
	if a := t.Audiences; a != nil {
		said.Include, said.Exclude = a.Include, a.Exclude
	}
	if slices.Contains(t.Placements, "search") && !slices.Contains(t.Placements, "feed") {
		return "", rejected("targeting.placements", "TikTok shows an ad among what is searched for only if it shows it in the feed, too. Send feed and search.")
	}
	var err error
	if said.Actions, err = actionsOf(t.Behaviors); err != nil {
		return "", err
	}
	if err := checkOwn(own); err != nil {
		return "", err
	}
	return ads.Overlay(said, own, nil)
}

// checkOwn refuses a key that does not say whom an ad is shown to.
func checkOwn(own advert.Object) error {
	words := map[string]json.RawMessage{}
	_ = own.Decode(&words) // Overlay says what is wrong with it
	for word := range words {
		if !slices.Contains(ownWords, word) {
			return rejected("platform_targeting."+word, "On TikTok platform_targeting can have: "+strings.Join(ownWords, ", ")+".")
		}
	}
	return nil
}

// actionsOf returns what people of the behaviours did, one for each scene. The id of a behaviour has its scene before it.
func actionsOf(behaviors []ads.Option) ([]action, error) {
	var said []action
	for _, b := range behaviors {
		scene, id, _ := strings.Cut(b.ID, ":")
		kind, known := scenes[scene]
		if !known || id == "" {
			return nil, rejected("targeting.behaviors", "Send ids of behaviours as GET /ads/targeting/search has them, such as VIDEO_RELATED:28.")
		}
		i := slices.IndexFunc(said, func(a action) bool { return a.Scene == scene })
		if i < 0 {
			kind.Scene = scene
			said, i = append(said, kind), len(said)
		}
		said[i].Categories = append(said[i].Categories, id)
	}
	return said, nil
}

// ids returns the ids of options.
func ids(all []ads.Option) []string {
	var texts []string
	for _, o := range all {
		texts = append(texts, o.ID)
	}
	return texts
}

func cities(all []ads.City) []string {
	var texts []string
	for _, o := range all {
		texts = append(texts, o.ID)
	}
	return texts
}

// targetingOf reads the unified targeting from an ad group, and all of it in TikTok's words. A place that is no country is a region: TikTok
// does not say which of them are cities.
func targetingOf(w group) (unified, own advert.Object) {
	s := w.spec
	t := ads.Targeting{
		Places: ads.Places{Zips: named(s.Zips)}, Languages: s.Languages, Interests: named(s.Interests), Expand: s.Wider && s.WiderByTags,
		Placements: w.placements(),
	}
	for _, id := range s.Locations {
		if code := countryOf(id); code != "" {
			t.Countries = append(t.Countries, code)
		} else {
			t.Regions = append(t.Regions, ads.Option{ID: id})
		}
	}
	for _, a := range s.Actions {
		for _, id := range a.Categories {
			t.Behaviors = append(t.Behaviors, ads.Option{ID: a.Scene + ":" + id})
		}
	}
	for word, name := range map[string]string{"GENDER_FEMALE": "female", "GENDER_MALE": "male"} {
		if s.Gender == word {
			t.Genders = []string{name}
		}
	}
	for _, b := range bands {
		if slices.Contains(s.Ages, b.word) {
			t.AgeMax = b.to
			if t.AgeMin == 0 {
				t.AgeMin = b.from
			}
		}
	}
	if len(s.Include)+len(s.Exclude) > 0 {
		t.Audiences = &ads.TargetAudiences{Include: s.Include, Exclude: s.Exclude}
	}
	if s.Gender == anyGender {
		s.Gender = ""
	}
	return advert.NewObject(t), advert.NewObject(s)
}

func named(all []string) []ads.Option {
	var options []ads.Option
	for _, id := range all {
		options = append(options, ads.Option{ID: id})
	}
	return options
}

// Beneficiaries implements ads.Network.
func (d *Driver) Beneficiaries(context.Context, ads.Conn, string) ([]string, error) {
	return nil, unsupported()
}

// Reach implements ads.Network. The estimate that TikTok documents is for its sales partners.
func (d *Driver) Reach(context.Context, ads.Conn, ads.ReachQuery) (ads.Reach, error) {
	return ads.Reach{}, unsupported()
}

// number reads the id of a page, which TikTok wants as a number here.
func number(text string) (int64, error) { return strconv.ParseInt(text, 10, 64) }
