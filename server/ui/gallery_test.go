package ui

import (
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/server/locale"
	"github.com/tillwright/tillwright/tests/harness/axe"
	"github.com/tillwright/tillwright/tests/harness/browser"
)

// gallery serves the gallery and what its pages need.
func gallery(t *testing.T) *httptest.Server {
	t.Helper()
	sheet, err := DeskSheet()
	require.NoError(t, err)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == sheet.Address {
			assert.NoError(t, sheet.Serve(w, r))
			return
		}
		assert.NoError(t, ServeGallery(w, r))
	}))
	t.Cleanup(server.Close)
	return server
}

// Whoever looks at the gallery has seen all that a sheet knows.
func TestGallery_HasEveryPart(t *testing.T) {
	t.Parallel()
	var pages strings.Builder
	require.NoError(t, writeGallery(&pages, locale.English))
	require.NoError(t, writeDeskGallery(&pages, locale.English))
	shown := map[string]bool{}
	for _, found := range regexp.MustCompile(`class="([^"]*)"`).FindAllStringSubmatch(pages.String(), -1) {
		for name := range strings.FieldsSeq(found[1]) {
			shown[name] = true
		}
	}
	_, parts, _ := strings.Cut(sheet, "@layer parts {")
	parts, _, found := strings.Cut(parts, "@layer page {")
	require.True(t, found)
	shown["inset"] = true // a frame with a page of somebody else's, into which axe cannot look
	for _, rule := range regexp.MustCompile(`(?m)^[^{@]*\{`).FindAllString(parts+deskSheet, -1) {
		for _, class := range regexp.MustCompile(`\.([a-z][a-z-]*)`).FindAllStringSubmatch(rule, -1) {
			assert.True(t, shown[class[1]], "the gallery does not show %s", class[1])
		}
	}
}

// No part is a barrier, in the light, in the dark, or from right to left, and none stands beside the page. It draws them too: see make screenshots.
func TestGallery_FitsANarrowPhoneAndEverybody(t *testing.T) {
	t.Parallel()
	server, window := gallery(t), browser.Open(t, nil)
	for name, path := range map[string]string{"parts": GalleryPath, "parts-dashboard": DeskGalleryPath} {
		for _, l := range []*locale.Locale{locale.English, locale.Mirrored} {
			address, name := path+"?locale="+l.Tag, name+"-"+l.Dir
			window.Go(server.URL + address)
			window.Wait("location.pathname + location.search === '" + address + "' && document.readyState === 'complete'")
			for _, width := range []int{320, 1440} {
				window.Width(width)
				assert.Equal(t, "0", window.Value(`document.documentElement.scrollWidth - document.documentElement.clientWidth`), "%s %d", name, width)
			}
			axe.Check(t, window, name)
			window.Scheme("dark")
			axe.CheckColours(t, window, name+" in the dark")
			window.Scheme("light")
			window.Draw(name)
		}
	}
	window.Go(server.URL + GalleryPath + "?locale=ja")
	window.Wait("document.documentElement.lang === 'ja' && document.readyState === 'complete'")
	assert.Contains(t, window.Value("getComputedStyle(document.querySelector('h1')).fontFamily"), "Hiragino Sans")
	assert.Empty(t, window.Refused())
}
