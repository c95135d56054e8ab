package meta

import (
	"cmp"
	"context"
	"encoding/json"
	"net/url"
	"slices"
	"strings"

	"github.com/tillwright/tillwright/ads"
)

// searchPlace is where options are searched for. It is no node, and no id that a caller can send leads there.
var searchPlace = place{edge: "search"}

// How many options are asked for. Without a number Meta answers with 8, and its reference, "Targeting Search", asks for 1000
// where all are wanted.
const (
	allOptions  = "1000"
	someOptions = "100"
)

// locationTypes are Meta's words for kinds of places.
var locationTypes = map[string]string{
	ads.SearchCountry: "country", ads.SearchRegion: "region", ads.SearchCity: "city", ads.SearchZip: "zip", ads.SearchMetro: "geo_market",
}

// optionNode is what a search finds: a place, a language, an interest or a behavior. Places and languages have a key, the others an id,
// each of them now a number and now a text.
type optionNode struct {
	Key, ID     json.RawMessage
	Name        string
	CountryCode string `json:"country_code"`
	CountryName string `json:"country_name"`
	Region      string
	PrimaryCity string `json:"primary_city"`
	Path        []string
	Least       *int64 `json:"audience_size_lower_bound"`
}

// SearchTargeting implements ads.Network.
func (n *Network) SearchTargeting(ctx context.Context, c ads.Conn, q ads.Search) ([]ads.TargetingOption, error) {
	ctx, cancel := n.bounded(ctx)
	defer cancel()
	var found page[optionNode]
	if err := n.graph.get(ctx, c.Token, searchPlace, searchParams(q), &found); err != nil {
		return nil, err
	}
	var options []ads.TargetingOption
	for _, node := range found.Data {
		if q.Type == ads.SearchBehavior && !q.Matches(node.Name) { // Meta ignores the text there
			continue
		}
		options = append(options, node.option(q.Type))
	}
	return options, nil
}

// searchParams returns a search in Meta's words. A text that is empty is sent, too: it asks for everything.
func searchParams(q ads.Search) url.Values {
	switch q.Type {
	case ads.SearchBehavior:
		return url.Values{"type": {"adTargetingCategory"}, "class": {"behaviors"}, "limit": {allOptions}}
	case ads.SearchInterest:
		return url.Values{"type": {"adinterest"}, "q": {q.Text}, "limit": {someOptions}}
	case ads.SearchLanguage:
		return url.Values{"type": {"adlocale"}, "q": {q.Text}, "limit": {allOptions}}
	}
	params := url.Values{"type": {"adgeolocation"}, "location_types": {jsonText([]string{locationTypes[q.Type]})}, "q": {q.Text}, "limit": {someOptions}}
	if q.Type == ads.SearchCountry {
		params.Set("limit", allOptions)
	}
	if q.Country != "" {
		params.Set("country_code", q.Country)
	}
	return params
}

// option converts what was found. Meta's path of an interest ends with the interest itself, ours before it.
func (o optionNode) option(kind string) ads.TargetingOption {
	path := slices.DeleteFunc([]string{o.CountryName, o.Region, o.PrimaryCity}, func(part string) bool { return part == "" })
	if last := len(o.Path) - 1; last >= 0 {
		path = o.Path
		if path[last] == o.Name {
			path = path[:last]
		}
	}
	found := ads.TargetingOption{
		ID: cmp.Or(unquoted(o.Key), unquoted(o.ID)), Name: o.Name, Type: kind, Path: path, AudienceSize: o.Least, Country: o.CountryCode,
	}
	if kind == ads.SearchCountry {
		found.Country = found.ID
	}
	return found
}

// unquoted returns a number or a text as a text.
func unquoted(value json.RawMessage) string { return strings.Trim(string(value), `"`) }
