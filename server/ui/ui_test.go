package ui

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestWrite_SaysFirstWhatIsWrong(t *testing.T) {
	t.Parallel()
	pages, err := New(fstest.MapFS{
		"none.html": {Data: []byte(`{{define "part"}}{{end}}`)},
		"page.html": {Data: []byte(`{{define "main"}}<h1>{{.}}</h1>{{end}}`)},
	}, nil, []string{"none.html"}, []string{"page.html"})
	require.NoError(t, err)
	var page strings.Builder
	require.NoError(t, pages.Write(&page, "page.html", Frame{
		Title: "Checkout", Shop: &Shop{Name: `<b>"Ada"</b>`, Support: "ada@example.com"},
		Problems: []Problem{{Text: "The card was declined."}, {Field: "country", Label: "Country", Text: "Choose one."}},
	}, "Order"))
	assert.Contains(t, page.String(), "<title>Error: Checkout · &lt;b&gt;")
	assert.Less(t, strings.Index(page.String(), `role="alert" tabindex="-1" autofocus`), strings.Index(page.String(), "<h1>Order</h1>"))
	assert.Contains(t, page.String(), `<a href="#country">Country: Choose one.</a>`)
	assert.Contains(t, page.String(), "<li>The card was declined.</li>")
	assert.Error(t, pages.Write(&page, "other.html", Frame{}, nil))
}

func TestPicture_LetsNoAddressSayMoreThanItsHost(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{
		"http://a.example/x.png", "javascript:alert(1)", "//a.example/x.png", "https://a.example;script-src */x", "https://a@b.example/x", "https:///x", "https://*/x",
		"https://a.example 'unsafe-inline'/x", "data:image/png;base64,AA",
	} {
		assert.Empty(t, Picture(&bad), bad)
	}
	assert.Empty(t, Picture(nil))
	good := "https://cdn.example:8443/a/b.png?w=1"
	assert.Equal(t, good, Picture(&good))
}
