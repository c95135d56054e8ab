package meta

import (
	"context"
	"encoding/json"
	"maps"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store/advert"
)

// spec is the part of Meta's Targeting that the unified targeting has words for.
type spec struct {
	Geo        *geo         `json:"geo_locations,omitempty"`
	Excluded   *geo         `json:"excluded_geo_locations,omitempty"`
	AgeMin     int          `json:"age_min,omitempty"`
	AgeMax     int          `json:"age_max,omitempty"`
	Genders    []int        `json:"genders,omitempty"`
	Locales    []int        `json:"locales,omitempty"`
	Flexible   []flexible   `json:"flexible_spec,omitempty"`
	Interests  []ads.Option `json:"interests,omitempty"` // an older form of flexible_spec, read only
	Include    []ads.Option `json:"custom_audiences,omitempty"`
	Exclude    []ads.Option `json:"excluded_custom_audiences,omitempty"`
	Publishers []string     `json:"publisher_platforms,omitempty"`
	Facebook   []string     `json:"facebook_positions,omitempty"`
	Instagram  []string     `json:"instagram_positions,omitempty"`
	Devices    []string     `json:"device_platforms,omitempty"`
	Automation *automation  `json:"targeting_automation,omitempty"`
}

// geo is where people are.
type geo struct {
	Countries []string `json:"countries,omitempty"`
	Regions   []keyed  `json:"regions,omitempty"`
	Cities    []keyed  `json:"cities,omitempty"`
	Zips      []keyed  `json:"zips,omitempty"`
	Markets   []keyed  `json:"geo_markets,omitempty"`
}

// keyed is a place. Only a city has a radius.
type keyed struct {
	Key    string      `json:"key"`
	Name   string      `json:"name,omitempty"`
	Radius json.Number `json:"radius,omitempty"`
	Unit   string      `json:"distance_unit,omitempty"` // kilometer | mile
}

// flexible is a group of things of which people have at least one.
type flexible struct {
	Interests []ads.Option `json:"interests,omitempty"`
	Behaviors []ads.Option `json:"behaviors,omitempty"`
}

type automation struct {
	Advantage int `json:"advantage_audience"`
}

// genders are Meta's words for genders.
var genders = map[string]int{"male": 1, "female": 2}

// positions are Meta's words for placements, in the field of each of its platforms.
var positions = map[advert.Platform]map[string]string{
	advert.PlatformFacebook:  {"feed": "feed", "stories": "story", "reels": "facebook_reels", "search": "search", "marketplace": "marketplace"},
	advert.PlatformInstagram: {"feed": "stream", "stories": "story", "reels": "reels", "search": "ig_search"},
}

// others is Meta's word for apps and sites of others.
const others = "audience_network"

// Target implements ads.Network. Meta wants to be told whether it may show the ad to more people. The platforms that this channel is not of are left
// out.
func (n *Network) Target(t ads.Targeting, own advert.Object) (advert.Object, error) {
	said := spec{
		Geo: geoOf(&t.Places), Excluded: geoOf(t.Excluded), AgeMin: t.AgeMin, AgeMax: t.AgeMax, Devices: t.Devices,
		Facebook: n.positionsOn(advert.PlatformFacebook, t.Placements), Instagram: n.positionsOn(advert.PlatformInstagram, t.Placements),
	}
	for _, gender := range t.Genders {
		said.Genders = append(said.Genders, genders[gender])
	}
	for _, language := range t.Languages {
		word, ok := n.caps.Targeting.Languages[strings.ToLower(language)]
		if !ok {
			word = language // its own id
		}
		id, err := strconv.Atoi(word)
		if err != nil {
			return "", &ads.Rejected{Field: "targeting.languages", Message: "Meta knows no language " + language + "."}
		}
		said.Locales = append(said.Locales, id)
	}
	if len(t.Interests)+len(t.Behaviors) > 0 {
		said.Flexible = []flexible{{t.Interests, t.Behaviors}}
	}
	if a := t.Audiences; a != nil {
		said.Include, said.Exclude = options(a.Include), options(a.Exclude)
	}
	if len(t.Placements) > 0 {
		if len(said.Facebook)+len(said.Instagram) > 0 {
			said.Publishers = append(said.Publishers, string(n.caps.Platform))
		}
		if slices.Contains(t.Placements, "network") {
			said.Publishers = append(said.Publishers, others)
		}
	}
	if t.Expand {
		said.Automation = &automation{1}
	}
	return ads.Overlay(said, own, map[string]any{
		"targeting_automation": automation{0}, "publisher_platforms": []string{string(n.caps.Platform)},
	})
}

// positionsOn returns the words for placements on a platform, none if the channel is of the other one.
func (n *Network) positionsOn(p advert.Platform, placements []string) []string {
	var words []string
	for _, placement := range placements {
		if word := positions[p][placement]; word != "" && p == n.caps.Platform {
			words = append(words, word)
		}
	}
	return words
}

// options returns ids as Meta lists them.
func options(ids []string) []ads.Option {
	var all []ads.Option
	for _, id := range ids {
		all = append(all, ads.Option{ID: id})
	}
	return all
}

// geoOf returns places in Meta's words, nil for none.
func geoOf(p *ads.Places) *geo {
	if p == nil {
		return nil
	}
	g := &geo{Countries: p.Countries, Regions: keyedBy(p.Regions), Zips: keyedBy(p.Zips), Markets: keyedBy(p.Metros)}
	for _, city := range p.Cities {
		k := keyed{Key: city.ID}
		if city.RadiusKM > 0 {
			k.Radius, k.Unit = json.Number(strconv.Itoa(city.RadiusKM)), "kilometer"
		}
		g.Cities = append(g.Cities, k)
	}
	if len(g.Countries)+len(g.Regions)+len(g.Cities)+len(g.Zips)+len(g.Markets) == 0 {
		return nil
	}
	return g
}

func keyedBy(all []ads.Option) []keyed {
	var places []keyed
	for _, o := range all {
		places = append(places, keyed{Key: o.ID})
	}
	return places
}

// targetingOf reads the unified targeting from Meta's. What it has no word for is left out; so is all of it if it cannot be read.
func (n *Network) targetingOf(words advert.Object) advert.Object {
	var s spec
	if words.Decode(&s) != nil {
		return ""
	}
	t := ads.Targeting{AgeMin: s.AgeMin, AgeMax: min(s.AgeMax, ads.OldestAge), Devices: s.Devices, Interests: s.Interests}
	if s.Geo != nil {
		t.Places = s.Geo.places()
	}
	if s.Excluded != nil {
		places := s.Excluded.places()
		t.Excluded = &places
	}
	for gender, word := range genders {
		if slices.Contains(s.Genders, word) {
			t.Genders = append(t.Genders, gender)
		}
	}
	slices.Sort(t.Genders)
	for _, id := range s.Locales {
		t.Languages = append(t.Languages, n.languageOf(id))
	}
	if len(s.Flexible) == 1 {
		t.Interests, t.Behaviors = append(t.Interests, s.Flexible[0].Interests...), s.Flexible[0].Behaviors
	}
	if len(s.Include)+len(s.Exclude) > 0 {
		t.Audiences = &ads.TargetAudiences{Include: idsOf(s.Include), Exclude: idsOf(s.Exclude)}
	}
	t.Placements = n.placementsOf(&s)
	t.Expand = s.Automation != nil && s.Automation.Advantage == 1
	return advert.NewObject(t)
}

func (g *geo) places() ads.Places {
	p := ads.Places{Countries: g.Countries, Regions: named(g.Regions), Zips: named(g.Zips), Metros: named(g.Markets)}
	for _, k := range g.Cities {
		radius, _ := k.Radius.Float64()
		if k.Unit != "kilometer" {
			radius *= 1.609344
		}
		p.Cities = append(p.Cities, ads.City{Option: ads.Option{ID: k.Key, Name: k.Name}, RadiusKM: int(math.Round(radius))})
	}
	return p
}

func named(places []keyed) []ads.Option {
	var all []ads.Option
	for _, k := range places {
		all = append(all, ads.Option{ID: k.Key, Name: k.Name})
	}
	return all
}

func idsOf(all []ads.Option) []string {
	var ids []string
	for _, o := range all {
		ids = append(ids, o.ID)
	}
	return ids
}

// languageOf returns the code of a language, or Meta's id if there is none.
func (n *Network) languageOf(id int) string {
	word := strconv.Itoa(id)
	for _, code := range slices.Sorted(maps.Keys(n.caps.Targeting.Languages)) {
		if n.caps.Targeting.Languages[code] == word {
			language, country, has := strings.Cut(code, "-")
			if has {
				return language + "-" + strings.ToUpper(country)
			}
			return code
		}
	}
	return word
}

// placementsOf returns the placements on the platform of this channel.
func (n *Network) placementsOf(s *spec) []string {
	words := s.Facebook
	if n.caps.Platform == advert.PlatformInstagram {
		words = s.Instagram
	}
	var placements []string
	for placement, word := range positions[n.caps.Platform] {
		if slices.Contains(words, word) {
			placements = append(placements, placement)
		}
	}
	if slices.Contains(s.Publishers, others) {
		placements = append(placements, "network")
	}
	slices.Sort(placements)
	return placements
}

// Beneficiaries implements ads.Network.
func (n *Network) Beneficiaries(ctx context.Context, c ads.Conn, adAccount string) ([]string, error) {
	ctx, cancel := n.bounded(ctx)
	defer cancel()
	found, err := list[struct{ Recommendations []string }](ctx, n.graph, c.Token, place{adAccount, "dsa_recommendations"}, url.Values{})
	var names []string
	for _, f := range found {
		names = append(names, f.Recommendations...)
	}
	return names, err
}
