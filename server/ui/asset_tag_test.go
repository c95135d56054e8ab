package ui

import (
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestHas_ReadsIfNoneMatch(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		lines []string
		has   bool
	}{
		{[]string{`"ab"`}, true},
		{[]string{`W/"ab"`}, true},
		{[]string{`"x", W/"ab"`}, true},
		{[]string{`"a,b" , "ab"`}, true},
		{[]string{`"x"`, `"ab"`}, true},
		{[]string{`*`}, true},
		{[]string{` * `}, true},
		{nil, false},
		{[]string{``}, false},
		{[]string{`ab`}, false},
		{[]string{`"abc"`}, false},
		{[]string{`"xab"`}, false},
		{[]string{`"x "ab" y"`}, false},
		{[]string{`"*"`}, false},
		{[]string{`"ab`}, false},
		{[]string{`nonsense, "ab"`}, false},
	} {
		r := httptest.NewRequest("GET", "/", nil)
		r.Header["If-None-Match"] = c.lines
		for _, tag := range []string{`"ab"`, `W/"ab"`} {
			assert.Equal(t, c.has, Has(r, tag), "%q", c.lines)
		}
	}
}
