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
