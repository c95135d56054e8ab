package pinterest

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store/advert"
)

// spec is the part of Pinterest's TargetingSpec that the unified targeting has words for.
type spec struct {
	Locations []string `json:"LOCATION,omitempty"` // countries, and metros of the US
	Geo       []string `json:"GEO,omitempty"`      // regions or postal codes
	MinAge    string   `json:"MINIMUM_AGE,omitempty"`
	MaxAge    string   `json:"MAXIMUM_AGE,omitempty"`
	Genders   []string `json:"GENDER,omitempty"`
	Locales   []string `json:"LOCALE,omitempty"`
	Interests []string `json:"INTEREST,omitempty"`
	Include   []string `json:"AUDIENCE_INCLUDE,omitempty"`
	Exclude   []string `json:"AUDIENCE_EXCLUDE,omitempty"`
	Devices   []string `json:"APPTYPE,omitempty"`
}

// Pinterest's words for devices, and for an age without an upper end.
const (
	desktop = "web"
	open    = "65+"
)

var mobile = []string{"android_mobile", "android_tablet", "ipad", "iphone", "web_mobile"}

// Target implements ads.Network. Placements and expand are fields of the ad group itself.
func (d *Driver) Target(t ads.Targeting, own advert.Object) (advert.Object, error) {
	said := spec{
		Locations: slices.Concat(t.Countries, ids(t.Metros)), Geo: slices.Concat(ids(t.Regions), ids(t.Zips)),
		Genders: t.Genders, Interests: ids(t.Interests),
	}
	for _, language := range t.Languages {
		said.Locales = append(said.Locales, strings.ToLower(language))
	}
	if t.AgeMin > 0 || t.AgeMax > 0 { // the two go together
		said.MinAge, said.MaxAge = strconv.Itoa(max(t.AgeMin, d.caps.Targeting.Youngest)), strconv.Itoa(t.AgeMax)
		if t.AgeMax == 0 || t.AgeMax == ads.OldestAge {
			said.MaxAge = open
		}
	}
	if a := t.Audiences; a != nil {
		said.Include, said.Exclude = a.Include, a.Exclude
	}
	if slices.Contains(t.Devices, "mobile") {
		said.Devices = append(said.Devices, mobile...)
	}
	if slices.Contains(t.Devices, "desktop") {
		said.Devices = append(said.Devices, desktop)
	}
	return ads.Overlay(said, own, nil)
}

// ids returns the ids of options.
func ids(all []ads.Option) []string {
	var texts []string
	for _, o := range all {
		texts = append(texts, o.ID)
	}
	return texts
}

// placementGroup returns the word for placements, "" for automatic ones.
func placementGroup(placements []string) string {
	feed, search := slices.Contains(placements, "feed"), slices.Contains(placements, "search")
	switch {
	case feed && !search:
		return "BROWSE"
	case search && !feed:
		return "SEARCH"
	}
	return ""
}

// The forms of the network's codes: of a country, and of a postal code with its country.
var (
	countryCode = regexp.MustCompile(`^[A-Z]{2}$`)
	postalCode  = regexp.MustCompile(`^[A-Z]{2}-.*[0-9]`)
)

// targetingOf reads the unified targeting from an ad group. What it has no word for is left out; so is all of it if it cannot be read.
func targetingOf(w group) advert.Object {
	var s spec
	if w.Targeting.Decode(&s) != nil {
		return ""
	}
	t := ads.Targeting{Genders: s.Genders, Languages: s.Locales, Interests: named(s.Interests), Expand: w.Widens}
	for _, code := range s.Locations {
		if countryCode.MatchString(code) {
			t.Countries = append(t.Countries, code)
		} else {
			t.Metros = append(t.Metros, ads.Option{ID: code})
		}
	}
	for _, code := range s.Geo {
		if postalCode.MatchString(code) {
			t.Zips = append(t.Zips, ads.Option{ID: code})
		} else {
			t.Regions = append(t.Regions, ads.Option{ID: code})
		}
	}
	t.AgeMin, _ = strconv.Atoi(s.MinAge)
	if t.AgeMax, _ = strconv.Atoi(s.MaxAge); s.MaxAge == open {
		t.AgeMax = ads.OldestAge
	}
	if len(s.Include)+len(s.Exclude) > 0 {
		t.Audiences = &ads.TargetAudiences{Include: s.Include, Exclude: s.Exclude}
	}
	if slices.ContainsFunc(s.Devices, func(device string) bool { return slices.Contains(mobile, device) }) {
		t.Devices = append(t.Devices, "mobile")
	}
	if slices.Contains(s.Devices, desktop) {
		t.Devices = append(t.Devices, "desktop")
	}
	t.Placements = map[string][]string{"BROWSE": {"feed"}, "SEARCH": {"search"}}[w.Placement]
	return advert.NewObject(t)
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
	return nil, fmt.Errorf("pinterest: %w", ads.ErrUnsupported)
}
