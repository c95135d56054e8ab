package pages

import (
	"slices"
	"strings"
	"sync"
	"unicode"

	"golang.org/x/text/language"
	"golang.org/x/text/language/display"
	"golang.org/x/text/unicode/norm"
)

// country is one that a buyer may choose: an ISO 3166-1 code with its English name.
type country struct{ Code, Name string }

// countries returns all countries, sorted by name the way people look for them: accents do not count.
var countries = sync.OnceValue(func() []country {
	var all []country
	for a := 'A'; a <= 'Z'; a++ {
		for b := 'A'; b <= 'Z'; b++ {
			code := string([]rune{a, b})
			if name := countryName(code); name != code {
				all = append(all, country{code, name})
			}
		}
	}
	slices.SortFunc(all, func(a, b country) int { return strings.Compare(unaccented(a.Name), unaccented(b.Name)) })
	return all
})

// countryName returns the English name of a country. A code that has none, or that is no country's any more, is returned
// itself.
func countryName(code string) string {
	region, err := language.ParseRegion(code)
	if err != nil || !region.IsCountry() || region.M49() == 0 || region.Canonicalize() != region || region.String() != code {
		return code
	}
	if name := display.English.Regions().Name(region); name != "" {
		return name
	}
	return code
}

// unaccented returns a name without its accents.
func unaccented(name string) string {
	return strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Mn, r) {
			return -1
		}
		return r
	}, norm.NFD.String(name))
}
