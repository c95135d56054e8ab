package tenant

import "strings"

// Elsewhere is the state of buyers who said on a page that they live in none of the regions which have a rate of tax. No rate is for it.
const Elsewhere = "-"

// regionNames are the names of regions as of ISO 3166-2, by country and code, where rates of tax often go by region.
var regionNames = map[string]map[string]string{
	"CA": {
		"AB": "Alberta", "BC": "British Columbia", "MB": "Manitoba", "NB": "New Brunswick", "NL": "Newfoundland and Labrador", "NS": "Nova Scotia", "NT": "Northwest Territories",
		"NU": "Nunavut", "ON": "Ontario", "PE": "Prince Edward Island", "QC": "Québec", "SK": "Saskatchewan", "YT": "Yukon",
	},
	"US": {
		"AL": "Alabama", "AK": "Alaska", "AZ": "Arizona", "AR": "Arkansas", "CA": "California", "CO": "Colorado", "CT": "Connecticut", "DE": "Delaware", "DC": "District of Columbia",
		"FL": "Florida", "GA": "Georgia", "HI": "Hawaii", "ID": "Idaho", "IL": "Illinois", "IN": "Indiana", "IA": "Iowa", "KS": "Kansas", "KY": "Kentucky", "LA": "Louisiana", "ME": "Maine",
		"MD": "Maryland", "MA": "Massachusetts", "MI": "Michigan", "MN": "Minnesota", "MS": "Mississippi", "MO": "Missouri", "MT": "Montana", "NE": "Nebraska", "NV": "Nevada",
		"NH": "New Hampshire", "NJ": "New Jersey", "NM": "New Mexico", "NY": "New York", "NC": "North Carolina", "ND": "North Dakota", "OH": "Ohio", "OK": "Oklahoma", "OR": "Oregon",
		"PA": "Pennsylvania", "RI": "Rhode Island", "SC": "South Carolina", "SD": "South Dakota", "TN": "Tennessee", "TX": "Texas", "UT": "Utah", "VT": "Vermont", "VA": "Virginia",
		"WA": "Washington", "WV": "West Virginia", "WI": "Wisconsin", "WY": "Wyoming",
	},
}

// regionCodes are the codes of regionNames by country and name, as regionKey writes both.
var regionCodes = codesOf(regionNames)

func codesOf(names map[string]map[string]string) map[string]map[string]string {
	all := map[string]map[string]string{}
	for country, regions := range names {
		all[country] = map[string]string{}
		for code, name := range regions {
			all[country][plainRegion(name)] = code
		}
	}
	return all
}

// RegionName returns the name of a region, whose code or name this is. One that is not known is returned itself.
func RegionName(country, region string) string {
	if name, known := regionNames[strings.ToUpper(country)][regionKey(country, region)]; known {
		return name
	}
	return region
}

// KnowsRegion reports whether a text is the code or the name of a region of the country that has a name of its own here.
func KnowsRegion(country, region string) bool {
	_, known := regionNames[strings.ToUpper(country)][regionKey(country, region)]
	return known
}

// SameRegion reports whether two texts mean the same region of a country: CA, US-CA and California do. Upper and lower case are the same.
func SameRegion(country, a, b string) bool {
	return strings.EqualFold(a, b) || regionKey(country, a) == regionKey(country, b)
}

// regionKey returns the code of a region that has a name here, and otherwise the text in lower case, without white space around it.
func regionKey(country, region string) string {
	country = strings.ToUpper(country)
	if code, known := regionCodes[country][plainRegion(region)]; known {
		return code
	}
	code := strings.TrimPrefix(strings.ToUpper(strings.TrimSpace(region)), country+"-")
	if _, known := regionNames[country][code]; known {
		return code
	}
	return strings.ToLower(strings.TrimSpace(region))
}

// plainRegion returns a name in lower case and without an accent.
func plainRegion(name string) string {
	return strings.ReplaceAll(strings.ToLower(strings.TrimSpace(name)), "é", "e")
}
