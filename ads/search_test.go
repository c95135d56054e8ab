package ads_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/tillwright/tillwright/ads"
)

func TestSearch_MatchesTheBeginningsOfWords(t *testing.T) {
	t.Parallel()
	const name = "São José dos Campos (Brasil)"
	for text, matches := range map[string]bool{
		"": true, "sao": true, "SÃO jose": true, "campos br": true, "jos cam": true, "sao\u0303": true, // the accent written apart
		"ampos": false, "sao paulo": false, "dos santos": false,
	} {
		assert.Equal(t, matches, ads.Search{Text: text}.Matches(name), text)
	}
}
