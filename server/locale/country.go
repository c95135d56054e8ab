package locale

import (
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/language"
	"golang.org/x/text/language/display"
	"golang.org/x/text/unicode/norm"
)

// Country is one that a buyer may choose: an ISO 3166-1 code with its name.
type Country struct{ Code, Name string }

// Countries returns all countries, sorted by name the way people look for them: accents do not count.
func (l *Locale) Countries() []Country { return l.countries() }

func (l *Locale) listCountries() []Country {
	var all []Country
	for a := 'A'; a <= 'Z'; a++ {
		for b := 'A'; b <= 'Z'; b++ {
			if code := string([]rune{a, b}); IsCountry(code) {
				all = append(all, Country{code, l.Country(code)})
			}
		}
	}
	slices.SortFunc(all, func(a, b Country) int { return strings.Compare(unaccented(a.Name), unaccented(b.Name)) })
	return all
}

// Region returns the country that a browser names with the language it wants most, such as DE for de-DE, empty for none.
func Region(accept string) string {
	if accept == "" || len(accept) > maxAccept {
		return ""
	}
	wanted, _, err := language.ParseAcceptLanguage(accept)
	if err != nil || len(wanted) == 0 {
		return ""
	}
	_, _, region := wanted[0].Raw()
	if code := region.String(); IsCountry(code) {
		return code
	}
	return ""
}

// IsCountry reports whether a code is that of a country, and not of one that is no more.
func IsCountry(code string) bool {
	_, is := regionOf(code)
	return is
}

// Country returns the name of a country as of CLDR 48. A code that is no country's is returned itself.
func (l *Locale) Country(code string) string {
	region, is := regionOf(code)
	if !is {
		return code
	}
	name, isRenamed := renamed[l.language.String()][code]
	if !isRenamed {
		name = display.Regions(l.language).Name(region)
	}
	if l.names != nil {
		name = l.names(name)
	}
	return name
}

func regionOf(code string) (language.Region, bool) {
	region, err := language.ParseRegion(code)
	if err != nil || !region.IsCountry() || region.M49() == 0 || region.Canonicalize() != region || region.String() != code {
		return region, false
	}
	return region, display.English.Regions().Name(region) != ""
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
