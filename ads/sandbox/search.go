package sandbox

import (
	"context"
	"slices"
	"strings"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store/advert"
)

// entry is something that a targeting can name. Pinterest has ids of its own, the other networks have Meta's, except that a
// language is a code everywhere but at Meta. Who has the id "" does not have the entry.
type entry struct {
	kind, id, pinterest, name, country string
	path                               string // with " > " between its parts
	size                               int64  // 0 = not known
}

// entries are the world of the sandbox, with real ids of Meta and Pinterest as far as they are known from their pages.
var entries = []entry{
	{kind: ads.SearchCountry, id: "CA", pinterest: "CA", name: "Canada", country: "CA"},
	{kind: ads.SearchCountry, id: "FR", pinterest: "FR", name: "France", country: "FR"},
	{kind: ads.SearchCountry, id: "DE", pinterest: "DE", name: "Germany", country: "DE"},
	{kind: ads.SearchCountry, id: "JP", pinterest: "JP", name: "Japan", country: "JP"},
	{kind: ads.SearchCountry, id: "GB", pinterest: "GB", name: "United Kingdom", country: "GB"},
	{kind: ads.SearchCountry, id: "US", pinterest: "US", name: "United States", country: "US"},
	{kind: ads.SearchRegion, id: "527", pinterest: "CA-AB", name: "Alberta", country: "CA", path: "Canada"},
	{kind: ads.SearchRegion, id: "3847", pinterest: "US-CA", name: "California", country: "US", path: "United States"},
	{kind: ads.SearchRegion, id: "3859", pinterest: "US-KS", name: "Kansas", country: "US", path: "United States"},
	{kind: ads.SearchCity, id: "2420379", name: "Los Angeles", country: "US", path: "United States > California"},
	{kind: ads.SearchCity, id: "2447439", name: "Manhattan", country: "US", path: "United States > Kansas"},
	{kind: ads.SearchCity, id: "2421846", name: "San José", country: "US", path: "United States > California"},
	{kind: ads.SearchZip, id: "US:90028", name: "90028", country: "US", path: "United States > California > Los Angeles"},
	{kind: ads.SearchZip, id: "US:94110", name: "94110", country: "US", path: "United States > California > San Francisco"},
	{kind: ads.SearchMetro, id: "COMSCORE_MARKET:2051", name: "New Orleans, LA", country: "US", path: "United States"},
	{kind: ads.SearchMetro, id: "COMSCORE_MARKET:2001", pinterest: "501", name: "New York, NY", country: "US", path: "United States"},
	{kind: ads.SearchMetro, id: "COMSCORE_MARKET:2011", pinterest: "811", name: "Reno", country: "US", path: "United States"},
	{kind: ads.SearchInterest, id: "6002839660079", pinterest: "945391946569", name: "Cosmetics", path: "Interests > Shopping and fashion > Beauty", size: 336_332_120},
	{kind: ads.SearchInterest, id: "6003139266461", pinterest: "925056443165", name: "Movies", path: "Interests > Entertainment", size: 890_000_000},
	{kind: ads.SearchInterest, id: "6003022269556", pinterest: "961238559656", name: "Rugby football", path: "Interests > Sports and outdoors", size: 13_214_830},
	{kind: ads.SearchBehavior, id: "6002714895372", name: "Frequent travelers", path: "Behaviors > Travel", size: 63_000_000},
	{kind: ads.SearchBehavior, id: "6071631541183", name: "Engaged shoppers", path: "Behaviors > Purchase behavior", size: 501_000_000},
	{kind: ads.SearchLanguage, id: "24", name: "English (UK)"},
	{kind: ads.SearchLanguage, id: "6", pinterest: "en", name: "English (US)"},
	{kind: ads.SearchLanguage, id: "5", pinterest: "de", name: "German"},
	{kind: ads.SearchLanguage, id: "16", pinterest: "pt", name: "Portuguese (Brazil)"},
}

// retired is the id of an interest that could be named once. No search finds it.
const retired = "6003000000000"

// checkPlaces refuses a targeting that names an interest which is no more or, on Meta's platforms, a city of a country that it names too.
func checkPlaces(caps ads.Caps, t *ads.Targeting) error {
	isMeta := caps.Platform == advert.PlatformFacebook || caps.Platform == advert.PlatformInstagram
	for _, e := range entries {
		named := slices.ContainsFunc(t.Cities, func(c ads.City) bool { return c.ID == e.id })
		if isMeta && e.kind == ads.SearchCity && named && slices.Contains(t.Countries, e.country) {
			return refuse("targeting", e.name+" lies in a country that is named too.")
		}
	}
	if slices.ContainsFunc(t.Interests, func(o ads.Option) bool { return o.ID == retired }) {
		return refuse("targeting", "The interest "+retired+" is no more.")
	}
	return nil
}

// idOn returns the id that a network has for an entry.
func (e entry) idOn(p advert.Platform) string {
	isMeta := p == advert.PlatformFacebook || p == advert.PlatformInstagram
	if p == advert.PlatformPinterest || e.kind == ads.SearchLanguage && !isMeta {
		return e.pinterest
	}
	return e.id
}

// SearchTargeting implements ads.Network. Pinterest has no list of post codes, but takes any.
func (d *Driver) SearchTargeting(ctx context.Context, c ads.Conn, q ads.Search) ([]ads.TargetingOption, error) {
	if _, err := d.enter(ctx, c, false); err != nil {
		return nil, err
	}
	if d.platform == advert.PlatformPinterest && q.Type == ads.SearchZip {
		code := strings.ToUpper(q.Text)
		return []ads.TargetingOption{{ID: q.Country + "-" + code, Name: code, Type: q.Type, Country: q.Country}}, nil
	}
	var options []ads.TargetingOption
	for _, e := range entries {
		id := e.idOn(d.platform)
		if e.kind != q.Type || id == "" || !q.Matches(e.name) || q.Country != "" && q.Country != e.country {
			continue
		}
		o := ads.TargetingOption{ID: id, Name: e.name, Type: e.kind, Country: e.country}
		if e.path != "" {
			o.Path = strings.Split(e.path, " > ")
		}
		if e.size != 0 {
			o.AudienceSize = &e.size
		}
		options = append(options, o)
	}
	return options, nil
}
