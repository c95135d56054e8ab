package caller

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"
)

// A server behind a proxy knows its forms by its public URL, however that is written.
func TestNewForms_KnowsThePublicURL(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		public, origin string
		isOurs         bool
	}{
		{"https://shop.example", "https://shop.example", true},
		{"https://Shop.Example:443", "https://shop.example", true},
		{"http://shop.example:80", "http://shop.example", true},
		{"http://[2001:db8::1]:8080", "http://[2001:db8::1]:8080", true},
		{"https://shop.example", "http://shop.example", false},
		{"https://shop.example", "https://shop.example.mallory.example", false},
		{"https://shop.example:8443", "https://shop.example", false},
		{"https://shop.example", "null", false},
		{"", "https://shop.example", false},
		{"", "http://inside:8080", true}, // what the request was sent to
	} {
		r := httptest.NewRequest(http.MethodPost, "http://inside:8080/portal", nil)
		r.Header.Set("Origin", c.origin)
		assert.Equal(t, c.isOurs, NewForms(c.public).Check(r) == nil, "%s of %q", c.origin, c.public)
	}
}
