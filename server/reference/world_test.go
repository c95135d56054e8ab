package reference

import (
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/labstack/echo/v4"
	"github.com/stretchr/testify/require"
	"golang.org/x/net/html"
)

var shared = sync.OnceValues(func() (*Reference, error) {
	return New(Options{PublicURL: "https://shop.example", Develops: true})
})

// whole returns the pages of a development server, which all tests share.
func whole(t *testing.T) *Reference {
	t.Helper()
	r, err := shared()
	require.NoError(t, err)
	return r
}

// drawnPages has every page of the real document by its path.
func drawnPages(t *testing.T, r *Reference) map[string]string {
	t.Helper()
	d, err := read(r.text, r.develops)
	require.NoError(t, err)
	pages := map[string]string{}
	around := r.frame(d, "")
	for _, path := range slices.Concat([]link{{Address: "/docs"}, {Address: "/docs/events"}, {Address: "/docs/guide"}}, around.Guides, around.Groups) {
		pages[path.Address] = drawnAt(t, r, strings.TrimPrefix(strings.TrimPrefix(path.Address, "/docs"), "/"))
	}
	return pages
}

// drawnAt returns the text of what has a name.
func drawnAt(t *testing.T, r *Reference, name string) string {
	t.Helper()
	page, _, err := r.page(name)
	require.NoError(t, err, name)
	w := httptest.NewRecorder()
	require.NoError(t, page.Write(w, httptest.NewRequest(http.MethodGet, "/", nil), http.StatusOK))
	text, err := io.ReadAll(w.Body)
	require.NoError(t, err)
	return string(text)
}

func newReference(t *testing.T, o Options) *Reference {
	t.Helper()
	if o.PublicURL == "" {
		o.PublicURL = "https://shop.example"
	}
	r, err := New(o)
	require.NoError(t, err)
	return r
}

// serve serves the pages, and whatever else routes has.
func serve(t *testing.T, r *Reference, routes map[string]http.HandlerFunc) string {
	t.Helper()
	e := echo.New()
	for path, h := range r.Routes() {
		e.GET(path, h)
	}
	for path, h := range routes {
		e.Any(path, echo.WrapHandler(h))
	}
	server := httptest.NewServer(e)
	t.Cleanup(server.Close)
	return server.URL
}

// textOf returns the text in an element.
func textOf(node *html.Node) string {
	var s strings.Builder
	for inner := range node.Descendants() {
		if inner.Type == html.TextNode {
			s.WriteString(inner.Data)
		}
	}
	return s.String()
}
