package metafake

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
)

// places are what a search for locations can find, by kind. Keys and names are those of the reference's examples.
var places = map[string][]map[string]any{
	"country": {
		{"key": "GB", "name": "United Kingdom"}, {"key": "AE", "name": "United Arab Emirates"}, {"key": "US", "name": "United States"},
		{"key": "UM", "name": "United States Minor Outlying Islands"}, {"key": "CA", "name": "Canada"}, {"key": "FR", "name": "France"},
		{"key": "DE", "name": "Germany"}, {"key": "JP", "name": "Japan"}, {"key": "BR", "name": "Brazil"}, {"key": "BH", "name": "Bahrain"},
	},
	"region": {
		{"key": "3843", "name": "Alabama", "country_code": "US", "country_name": "United States"},
		{"key": "3844", "name": "Alaska", "country_code": "US", "country_name": "United States"},
		{"key": "527", "name": "Alberta", "country_code": "CA", "country_name": "Canada"},
		{"key": "1089", "name": "Alsace", "country_code": "FR", "country_name": "France"},
	},
	"city": {
		{"key": "2447439", "name": "Manhattan", "country_code": "US", "country_name": "United States", "region": "Kansas", "region_id": 3859},
		{"key": "2439596", "name": "Manhattan", "country_code": "US", "country_name": "United States", "region": "Illinois", "region_id": 3856},
		{"key": "2420379", "name": "Los Angeles", "country_code": "US", "country_name": "United States", "region": "California", "region_id": 3847},
	},
	"zip": {
		{"key": "US:90028", "name": "90028", "country_code": "US", "country_name": "United States", "region": "California", "region_id": 3847,
			"primary_city": "Los Angeles", "primary_city_id": 2420379},
		{"key": "US:94110", "name": "94110", "country_code": "US", "country_name": "United States", "region": "California", "region_id": 3847,
			"primary_city": "San Francisco", "primary_city_id": 2421836},
	},
	"geo_market": {
		{"key": "COMSCORE_MARKET:2051", "name": "New Orleans, LA", "country_code": "US", "country_name": "United States"},
		{"key": "COMSCORE_MARKET:2001", "name": "New York, NY", "country_code": "US", "country_name": "United States"},
	},
}

var interestOptions = []map[string]any{
	{"id": "6002839660079", "name": "Cosmetics", "path": []string{"Interests", "Shopping and fashion", "Beauty", "Cosmetics"},
		"audience_size_lower_bound": 336_332_120, "audience_size_upper_bound": 395_526_573, "topic": "Shopping and fashion"},
	{"id": "6003139266461", "name": "Movies", "path": []string{"Interests", "Entertainment", "Movies"},
		"audience_size_lower_bound": 890_000_000, "audience_size_upper_bound": 1_046_640_000, "topic": "Entertainment"},
	{"id": "6003022269556", "name": "Rugby football", "path": []string{}, "audience_size_lower_bound": 13_214_830, "audience_size_upper_bound": 15_540_640},
}

var behaviorOptions = []map[string]any{
	{"id": "6002714895372", "name": "Frequent Travelers", "type": "behaviors", "path": []string{"Behaviors", "Travel"}, "description": "Who travel often.",
		"audience_size_lower_bound": 63_000_000, "audience_size_upper_bound": 74_088_000},
	{"id": "6071631541183", "name": "Engaged Shoppers", "type": "behaviors", "path": []string{"Behaviors", "Purchase behavior"}, "description": "Who shop.",
		"audience_size_lower_bound": 501_000_000, "audience_size_upper_bound": 589_176_000},
}

var localeOptions = []map[string]any{
	{"key": 51, "name": "English (Upside Down)"}, {"key": 6, "name": "English (US)"}, {"key": 24, "name": "English (UK)"}, {"key": 5, "name": "German"},
	{"key": 1001, "name": "English (All)"}, {"key": 16, "name": "Portuguese (Brazil)"}, {"key": 11, "name": "Japanese"}, {"key": 9, "name": "French (France)"},
	{"key": 44, "name": "French (Canada)"},
}

// suited lists the parameters of each type of search, beside those of all. Meta ignores any other.
var suited = map[string][]string{
	"adgeolocation": {"q", "location_types", "country_code"}, "adinterest": {"q"}, "adlocale": {"q"}, "adTargetingCategory": {"class"},
}

// search finds what a targeting can name. Without a limit it finds 8.
func search(r *request) (any, *Error) {
	kind := r.params.Get("type")
	for name := range r.params {
		if name != "type" && name != "limit" && !slices.Contains(suited[kind], name) {
			return nil, invalid("Param %s does not go with type %s", name, kind)
		}
	}
	if !r.params.Has(suited[kind][0]) {
		return nil, invalid("The parameter %s is required", suited[kind][0])
	}
	among, whole := localeOptions, true
	switch kind {
	case "adinterest":
		among, whole = interestOptions, false
	case "adTargetingCategory":
		if among = behaviorOptions; r.params.Get("class") != "behaviors" {
			return nil, invalid("class %s is not part of this fake", r.params.Get("class"))
		}
	case "adgeolocation":
		var kinds []string
		if json.Unmarshal([]byte(r.params.Get("location_types")), &kinds) != nil || len(kinds) != 1 {
			return nil, invalid("This fake searches one of location_types at a time")
		}
		among, whole = places[kinds[0]], kinds[0] == "country" || kinds[0] == "region"
	}
	if r.params.Get("q") == "" && !whole {
		return nil, invalid("q must not be empty here")
	}
	return map[string]any{"data": r.found(among)}, nil
}

// found returns those whose name begins with what is looked for, as far as the limit lets them through.
func (r *request) found(among []map[string]any) []map[string]any {
	most := 8
	if r.params.Has("limit") {
		most, _ = strconv.Atoi(r.params.Get("limit"))
	}
	found := []map[string]any{}
	for _, one := range among {
		name, _ := one["name"].(string)
		country := r.params.Get("country_code")
		if len(found) < most && strings.HasPrefix(strings.ToLower(name), strings.ToLower(r.params.Get("q"))) && (country == "" || country == one["country_code"]) {
			found = append(found, one)
		}
	}
	return found
}
