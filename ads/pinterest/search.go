package pinterest

import (
	"cmp"
	"context"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tillwright/tillwright/ads"
)

// Pinterest searches nothing: it lists everything that it knows of a kind, in the language of whoever asks. So a list is kept
// for an hour, by channel, and searched here.

// catalogs are Pinterest's words for the lists. Countries and metros are in one. There is none of post codes.
var catalogs = map[string]string{
	ads.SearchCountry: "LOCATION", ads.SearchMetro: "LOCATION", ads.SearchRegion: "GEO", ads.SearchInterest: "INTEREST", ads.SearchLanguage: "LOCALE",
}

// catalogTime is how long a list is good.
const catalogTime = time.Hour

// shelf holds the lists that were read lately.
type shelf struct {
	mu   sync.Mutex
	kept map[shelfKey]catalog
}

type shelfKey struct{ channel, kind string }

// catalog is a list: names by id.
type catalog struct {
	names map[string]string
	until time.Time
}

// get returns a list that is still good.
func (s *shelf) get(key shelfKey, now time.Time) (map[string]string, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	found, ok := s.kept[key]
	return found.names, ok && now.Before(found.until)
}

// put keeps a list, and forgets those that are not good any more.
func (s *shelf) put(key shelfKey, names map[string]string, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.kept == nil {
		s.kept = map[shelfKey]catalog{}
	}
	maps.DeleteFunc(s.kept, func(_ shelfKey, c catalog) bool { return !now.Before(c.until) })
	s.kept[key] = catalog{names, now.Add(catalogTime)}
}

// catalog returns a list. The network may answer with it in several parts.
func (d *Driver) catalog(ctx context.Context, c ads.Conn, kind string) (map[string]string, error) {
	key := shelfKey{c.Channel, kind}
	if names, ok := d.shelf.get(key, c.Now()); ok {
		return names, nil
	}
	var parts []map[string]string
	if err := d.read(ctx, c, path("resources", "targeting", kind), nil, &parts); err != nil {
		return nil, err
	}
	names := map[string]string{}
	for _, part := range parts {
		maps.Copy(names, part)
	}
	d.shelf.put(key, names, c.Now())
	return names, nil
}

// SearchTargeting implements ads.Network. Options are in the order of their names.
func (d *Driver) SearchTargeting(ctx context.Context, c ads.Conn, q ads.Search) ([]ads.TargetingOption, error) {
	if q.Type == ads.SearchZip {
		return postCode(q), nil
	}
	ctx, cancel := d.bound(ctx)
	defer cancel()
	names, err := d.catalog(ctx, c, catalogs[q.Type])
	if err != nil {
		return nil, err
	}
	var options []ads.TargetingOption
	countries := countriesOf(names)
	for id, name := range names {
		o, ok := option(q.Type, id, name, countries)
		if ok && q.Matches(o.Name) && (q.Country == "" || q.Country == o.Country) {
			options = append(options, o)
		}
	}
	slices.SortFunc(options, func(a, b ads.TargetingOption) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.ID, b.ID))
	})
	return options, nil
}

var postCodes = regexp.MustCompile(`^[0-9A-Z][0-9A-Z -]{1,9}$`)

// postCode returns the post code that was asked for, as a targeting takes it. Whether there is such a one the network says when it
// gets it.
func postCode(q ads.Search) []ads.TargetingOption {
	code := strings.ToUpper(q.Text)
	if !postCodes.MatchString(code) {
		return nil
	}
	return []ads.TargetingOption{{ID: q.Country + "-" + code, Name: code, Type: q.Type, Country: q.Country}}
}

var (
	countryID = regexp.MustCompile(`^[A-Z]{2}$`)
	regionID  = regexp.MustCompile(`^([A-Z]{2})-`)
)

// countriesOf returns the ids of the countries in a list by their names. That of the United States is written differently in
// front of its metros.
func countriesOf(names map[string]string) map[string]string {
	countries := map[string]string{"U.S.": "US"}
	for id, name := range names {
		if countryID.MatchString(id) {
			countries[name] = id
		}
	}
	return countries
}

// option converts an entry of a list, or returns false for one of another type. A place comes after its country, as in "U.S.: Reno".
func option(kind, id, name string, countries map[string]string) (ads.TargetingOption, bool) {
	o := ads.TargetingOption{ID: id, Name: name, Type: kind}
	country, place, parted := strings.Cut(name, ": ")
	if parted && (kind == ads.SearchMetro || kind == ads.SearchRegion) {
		o.Name, o.Path, o.Country = place, []string{country}, countries[country]
	}
	switch kind {
	case ads.SearchCountry:
		o.Country = id
		return o, countryID.MatchString(id)
	case ads.SearchMetro:
		return o, !countryID.MatchString(id)
	case ads.SearchRegion:
		if code := regionID.FindStringSubmatch(id); code != nil {
			o.Country = code[1]
		}
	}
	return o, true
}
