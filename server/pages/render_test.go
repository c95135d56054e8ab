package pages

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/tillwright/tillwright/server/locale"
)

func TestCountryOptions_SelectOne(t *testing.T) {
	t.Parallel()
	options := countryOptions([]locale.Country{{Code: "BA", Name: "Bosnia & Herzegovina"}, {Code: "DE", Name: "Germany"}})
	assert.EqualValues(t, `<option value="BA">Bosnia &amp; Herzegovina</option><option value="DE" selected>Germany</option>`, options("DE"))
	assert.EqualValues(t, `<option value="BA" selected>Bosnia &amp; Herzegovina</option><option value="DE">Germany</option>`, options("BA"))
	for _, none := range []string{"", "XX", `"><script>`} {
		assert.EqualValues(t, `<option value="BA">Bosnia &amp; Herzegovina</option><option value="DE">Germany</option>`, options(none))
	}
}
