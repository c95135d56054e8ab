package zernio

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store/advert"
)

// spec is the part of Zernio's TargetingSpec that the unified targeting has words for.
type spec struct {
	Countries []string  `json:"countries,omitempty"`
	Regions   []key     `json:"regions,omitempty"`
	Cities    []city    `json:"cities,omitempty"`
	Zips      []key     `json:"zips,omitempty"`
	Metros    []key     `json:"metros,omitempty"`
	Excluded  *excluded `json:"excludedLocations,omitempty"`
	AgeMin    int       `json:"ageMin,omitempty"`
	AgeMax    int       `json:"ageMax,omitempty"`
	Gender    string    `json:"gender,omitempty"`
	Languages []string  `json:"languages,omitempty"`
	Interests []option  `json:"interests,omitempty"`
	Behaviors []option  `json:"behaviors,omitempty"`
	Include   []string  `json:"audienceInclude,omitempty"`
	Exclude   []string  `json:"audienceExclude,omitempty"`
}

type key struct {
	Key  string `json:"key"`
	Name string `json:"name,omitempty"`
}

type city struct {
	Key    string `json:"key"`
	Name   string `json:"name,omitempty"`
	Radius int    `json:"radius,omitempty"`
	Unit   string `json:"distanceUnit,omitempty"`
}

type option struct {
	ID   string `json:"id"`
	Name string `json:"name,omitempty"`
}

// excluded has no names of cities.
type excluded struct {
	Countries []string `json:"countries,omitempty"`
	Regions   []key    `json:"regions,omitempty"`
	Cities    []city   `json:"cities,omitempty"`
	Zips      []key    `json:"zips,omitempty"`
}

const kilometers = "kilometer"

// Target implements ads.Network. Placements, devices and expand are fields of the ad itself. What the caller says in Zernio's words is in
// those of its TargetingSpec; keywords of Google go beside it.
func (d *Driver) Target(t ads.Targeting, own advert.Object) (advert.Object, error) {
	said := spec{
		Countries: t.Countries, Regions: keys(t.Regions), Cities: cities(t.Cities, true), Zips: keys(t.Zips), Metros: keys(t.Metros),
		AgeMin: t.AgeMin, AgeMax: t.AgeMax, Interests: options(t.Interests), Behaviors: options(t.Behaviors), Languages: d.languages(t.Languages),
	}
	if len(t.Genders) == 1 {
		said.Gender = t.Genders[0]
	}
	if x := t.Excluded; x != nil {
		said.Excluded = &excluded{x.Countries, keys(x.Regions), cities(x.Cities, false), keys(x.Zips)}
	}
	if a := t.Audiences; a != nil {
		said.Include, said.Exclude = a.Include, a.Exclude
	}
	return ads.Overlay(said, own, nil)
}

// languages writes the codes of languages as Zernio does for Meta: pt_BR.
func (d *Driver) languages(codes []string) []string {
	if !d.isMeta() {
		return codes
	}
	var all []string
	for _, code := range codes {
		language, region, both := strings.Cut(code, "-")
		if language = strings.ToLower(language); both {
			language += "_" + strings.ToUpper(region)
		}
		all = append(all, language)
	}
	return all
}

func keys(all []ads.Option) []key {
	var wire []key
	for _, o := range all {
		wire = append(wire, key{o.ID, o.Name})
	}
	return wire
}

func options(all []ads.Option) []option {
	var wire []option
	for _, o := range all {
		wire = append(wire, option{o.ID, o.Name})
	}
	return wire
}

func cities(all []ads.City, named bool) []city {
	var wire []city
	for _, c := range all {
		w := city{Key: c.ID, Radius: c.RadiusKM}
		if c.RadiusKM > 0 {
			w.Unit = kilometers
		}
		if named {
			w.Name = c.Name
		}
		wire = append(wire, w)
	}
	return wire
}

// targetingOf reads the unified targeting from what Zernio keeps of an ad that was made through it. Of an ad from elsewhere it has the
// network's own words, and nothing is read.
func targetingOf(wire advert.Object) advert.Object {
	var s spec
	if wire == "" || wire.Decode(&s) != nil {
		return ""
	}
	t := ads.Targeting{AgeMin: s.AgeMin, AgeMax: s.AgeMax, Languages: s.Languages, Interests: unifiedOptions(s.Interests), Behaviors: unifiedOptions(s.Behaviors)}
	for i, code := range t.Languages {
		t.Languages[i] = strings.ReplaceAll(code, "_", "-")
	}
	t.Places = ads.Places{Countries: s.Countries, Regions: unified(s.Regions), Cities: unifiedCities(s.Cities), Zips: unified(s.Zips), Metros: unified(s.Metros)}
	if x := s.Excluded; x != nil {
		t.Excluded = &ads.Places{Countries: x.Countries, Regions: unified(x.Regions), Cities: unifiedCities(x.Cities), Zips: unified(x.Zips)}
	}
	if s.Gender != "" && s.Gender != "all" {
		t.Genders = []string{s.Gender}
	}
	if len(s.Include)+len(s.Exclude) > 0 {
		t.Audiences = &ads.TargetAudiences{Include: s.Include, Exclude: s.Exclude}
	}
	return advert.NewObject(t)
}

func unified(all []key) []ads.Option {
	var options []ads.Option
	for _, k := range all {
		options = append(options, ads.Option{ID: k.Key, Name: k.Name})
	}
	return options
}

func unifiedOptions(all []option) []ads.Option {
	var options []ads.Option
	for _, o := range all {
		options = append(options, ads.Option{ID: o.ID, Name: o.Name})
	}
	return options
}

func unifiedCities(all []city) []ads.City {
	var found []ads.City
	for _, c := range all {
		one := ads.City{Option: ads.Option{ID: c.Key, Name: c.Name}}
		if c.Unit == kilometers {
			one.RadiusKM = c.Radius
		}
		found = append(found, one)
	}
	return found
}

// placements are manual placements, as Zernio takes them for Meta.
type placements struct {
	Publishers []string `json:"publisherPlatforms,omitempty"`
	Facebook   []string `json:"facebookPositions,omitempty"`
	Instagram  []string `json:"instagramPositions,omitempty"`
	Network    []string `json:"audienceNetworkPositions,omitempty"`
	Devices    []string `json:"devicePlatforms,omitempty"`
}

// positions are Zernio's words for placements, by platform.
var positions = map[advert.Platform]map[string]string{
	advert.PlatformFacebook:  {"feed": "feed", "stories": "story", "reels": "facebook_reels", "search": "search", "marketplace": "marketplace"},
	advert.PlatformInstagram: {"feed": "stream", "stories": "story", "reels": "reels", "search": "ig_search"},
}

// placed returns where an ad is shown, nil for everywhere that the network chooses. Without a placement that is the whole of the channel's
// platform.
func (d *Driver) placed(t ads.Targeting) *placements {
	if !d.isMeta() {
		return nil
	}
	p := &placements{Publishers: []string{string(d.platform)}, Devices: t.Devices}
	var words []string
	for _, placement := range t.Placements {
		if word := positions[d.platform][placement]; word != "" {
			words = append(words, word)
		}
	}
	if d.platform == advert.PlatformFacebook {
		p.Facebook = words
	} else {
		p.Instagram = words
	}
	if slices.Contains(t.Placements, "network") {
		p.Publishers, p.Network = append(p.Publishers, "audience_network"), []string{"classic"}
	}
	return p
}

// Beneficiaries implements ads.Network.
func (d *Driver) Beneficiaries(ctx context.Context, c ads.Conn, adAccount string) ([]string, error) {
	if !d.isMeta() {
		return nil, fmt.Errorf("zernio: %w", ads.ErrUnsupported)
	}
	ctx, cancel := d.bound(ctx)
	defer cancel()
	query, err := within(c, adAccount)
	if err != nil {
		return nil, err
	}
	var answer struct {
		Names []string `json:"recommendations"`
	}
	_, err = d.read(ctx, path("ads", "dsa-recommendations"), query, &answer)
	return answer.Names, err
}

// search is what is searched for, in Zernio's words: the dimension, for places their kind, and the kind that the results then have.
type search struct{ dimension, geo, kind string }

var searches = map[string]search{
	ads.SearchCountry: {"geo", "country", "country"}, ads.SearchRegion: {"geo", "region", "region"}, ads.SearchCity: {"geo", "city", "city"},
	ads.SearchZip: {"geo", "zip", "zip"}, ads.SearchMetro: {"geo", "metro_area", "metro"}, ads.SearchInterest: {"interest", "", "interest"},
	ads.SearchBehavior: {"behavior", "", "behavior"},
}

// everywhere is the kind of all places at LinkedIn.
const everywhere = "location"

// SearchTargeting implements ads.Network. Some networks answer with places of every kind, of which those of the right one are returned.
func (d *Driver) SearchTargeting(ctx context.Context, c ads.Conn, q ads.Search) ([]ads.TargetingOption, error) {
	ctx, cancel := d.bound(ctx)
	defer cancel()
	if q.Text == "" {
		return nil, refused("q", "Zernio lists nothing without words to search for. Send the beginning of a name.")
	}
	query, err := of(c)
	if err != nil {
		return nil, err
	}
	s := searches[q.Type]
	query.Set("q", q.Text)
	query.Set("dimension", s.dimension)
	if s.geo != "" {
		query.Set("geoType", s.geo)
	}
	if q.Country != "" {
		query.Set("countryCode", q.Country)
	}
	var answer struct {
		Results []struct {
			ID   string   `json:"id"`
			Name string   `json:"name"`
			Type string   `json:"type"`
			Path []string `json:"path"`
			Size *int64   `json:"audienceSize"`
		} `json:"results"`
	}
	if _, err := d.read(ctx, path("ads", "targeting", "search"), query, &answer); err != nil {
		return nil, err
	}
	found := []ads.TargetingOption{}
	for _, r := range answer.Results {
		if r.Type == s.kind || r.Type == everywhere && d.platform == advert.PlatformLinkedIn {
			found = append(found, ads.TargetingOption{ID: r.ID, Name: r.Name, Type: q.Type, Path: r.Path, AudienceSize: r.Size, Country: q.Country})
		}
	}
	return found, nil
}

// Reach implements ads.Network.
func (d *Driver) Reach(ctx context.Context, c ads.Conn, q ads.ReachQuery) (ads.Reach, error) {
	ctx, cancel := d.bound(ctx)
	defer cancel()
	if _, err := of(c); err != nil {
		return ads.Reach{}, err
	}
	words, err := spoken(q.Words)
	if err != nil {
		return ads.Reach{}, err
	}
	var answer struct {
		Available bool   `json:"available"`
		Lower     *int64 `json:"lower"`
		Upper     *int64 `json:"upper"`
		Ready     *bool  `json:"estimateReady"` // of Meta; absent = yes
	}
	body := map[string]any{"accountId": c.PlatformID, "adAccountId": q.AdAccount.PlatformID, "spec": words}
	_, err = d.ask(ctx, request{method: http.MethodPost, path: path("ads", "targeting", "reach-estimate"), body: body}, &answer)
	switch {
	case err != nil:
		return ads.Reach{}, err
	case !answer.Available:
		return ads.Reach{}, fmt.Errorf("zernio: %w", ads.ErrUnsupported)
	}
	return ads.Reach{Lower: answer.Lower, Upper: answer.Upper, Ready: answer.Ready == nil || *answer.Ready}, nil
}

// keywordWords are the words of Google's search ads, which Zernio takes beside the targeting.
var keywordWords = []string{"keywords", "negativeKeywords"}

// spoken returns a targeting without the words that go beside it.
func spoken(words advert.Object) (map[string]json.RawMessage, error) {
	all := map[string]json.RawMessage{}
	if words.Decode(&all) != nil {
		return nil, refused("platform_targeting", "Send platform_targeting as a JSON object.")
	}
	for _, word := range keywordWords {
		delete(all, word)
	}
	return all, nil
}

// keywordsOf returns the keywords that are beside a targeting.
func keywordsOf(words advert.Object) (keywords, negative []string, err error) {
	var beside struct {
		Keywords []string `json:"keywords"`
		Negative []string `json:"negativeKeywords"`
	}
	if words.Decode(&beside) != nil {
		return nil, nil, refused("platform_targeting.keywords", "Send keywords and negativeKeywords as lists of texts.")
	}
	return beside.Keywords, beside.Negative, nil
}
