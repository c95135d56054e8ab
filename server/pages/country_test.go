package pages

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestCountries_AreThoseOfISO3166(t *testing.T) {
	t.Parallel()
	var codes, names []string
	for _, c := range countries() {
		codes, names = append(codes, c.Code), append(names, c.Name)
	}
	assert.Len(t, codes, 250, "Kosovo is one more")
	assert.Subset(t, codes, []string{"AX", "DE", "GB", "KR", "TW", "US", "ZW"})
	for _, none := range []string{"AA", "DD", "EU", "EZ", "SU", "UK", "UN", "XX", "ZZ"} {
		assert.NotContains(t, codes, none)
	}
	assert.Less(t, slices.Index(names, "Åland Islands"), slices.Index(names, "Albania"))
}

func TestCountryName_KeepsTheCodeOfWhatHasNone(t *testing.T) {
	t.Parallel()
	assert.Equal(t, "Germany", countryName("DE"))
	assert.Equal(t, "XX", countryName("XX"))
	assert.Equal(t, "de", countryName("de"))
	assert.Empty(t, countryName(""))
}
