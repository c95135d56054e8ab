package locale

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestCountries_AreThoseOfISO3166(t *testing.T) {
	t.Parallel()
	for _, l := range All() {
		var codes, names []string
		for _, c := range l.Countries() {
			codes, names = append(codes, c.Code), append(names, c.Name)
			assert.NotEmpty(t, c.Name, "%s in %s", c.Code, l.Tag)
		}
		assert.Len(t, codes, 250, "Kosovo is one more")
		assert.Subset(t, codes, []string{"AX", "DE", "GB", "KR", "TW", "US", "ZW"})
		for _, none := range []string{"AA", "DD", "EU", "EZ", "SU", "UK", "UN", "XX", "ZZ"} {
			assert.NotContains(t, codes, none)
		}
		assert.Less(t, slices.Index(names, l.Country("AX")), slices.Index(names, l.Country("ZW")), l.Tag)
	}
}

func TestCountry_IsNamedInEachLanguage(t *testing.T) {
	t.Parallel()
	var named []string
	for _, l := range All() {
		named = append(named, l.Country("DE"))
	}
	assert.Equal(t, []string{"Germany", "Deutschland", "Allemagne", "Alemania", "Alemanha", "ドイツ"}, named)
	for _, none := range []string{"XX", "de", ""} {
		assert.Equal(t, none, English.Country(none))
		assert.False(t, IsCountry(none))
	}
}

// What countries call themselves now is in the list and on invoices, whatever the library had years ago.
func TestCountry_HasTheNamesOfToday(t *testing.T) {
	t.Parallel()
	for code, want := range map[string][]string{
		"MK": {"North Macedonia", "Nordmazedonien", "Macédoine du Nord", "Macedonia del Norte", "Macedônia do Norte", "北マケドニア"},
		"SZ": {"Eswatini", "Eswatini", "Eswatini", "Esuatini", "Essuatíni", "エスワティニ"},
		"TR": {"Türkiye", "Türkei", "Turquie", "Turquía", "Turquia", "トルコ"},
		"CZ": {"Czechia", "Tschechien", "Tchéquie", "Chequia", "Tchéquia", "チェコ"},
		"CV": {"Cape Verde", "Cabo Verde", "Cap-Vert", "Cabo Verde", "Cabo Verde", "カーボベルデ"},
	} {
		var named []string
		for _, l := range All() {
			named = append(named, l.Country(code))
		}
		assert.Equal(t, want, named, code)
	}
	for tag, names := range renamed {
		for code, name := range names {
			assert.True(t, IsCountry(code), code)
			assert.Contains(t, Find(tag).Countries(), Country{code, name}, tag)
		}
	}
}
