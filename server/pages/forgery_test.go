package pages_test

import (
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	chromium "github.com/tillwright/tillwright/tests/harness/browser"
)

// No other site has a browser send one of our forms. Those of the two that may be elsewhere, and all that come from here, are read.
func TestRoutes_RefuseFormsOfOtherSites(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	parameter := regexp.MustCompile(`:\w+`)
	sends := func(route, header, value string) (status int, page string) {
		request, err := http.NewRequest(http.MethodPost, w.server.URL+parameter.ReplaceAllString(route, "x"), strings.NewReader("email=grace@example.com"))
		require.NoError(t, err)
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		request.Header.Set(header, value)
		response, err := http.DefaultTransport.RoundTrip(request)
		require.NoError(t, err)
		defer response.Body.Close()
		text, err := io.ReadAll(response.Body)
		require.NoError(t, err)
		return response.StatusCode, string(text)
	}
	elsewhere := map[string]bool{"/leads/:account/:site/:block": true, "/unsubscribe/:token": true}
	forms := 0
	for route := range w.pages.Routes() {
		route, isForm := strings.CutPrefix(route, "POST ")
		if !isForm {
			continue
		}
		forms++
		for header, value := range map[string]string{"Sec-Fetch-Site": "cross-site", "Origin": "https://mallory.example"} {
			status, page := sends(route, header, value)
			assert.Equal(t, !elsewhere[route], status == http.StatusForbidden, "%s %d", route, status)
			assert.Equal(t, !elsewhere[route], strings.Contains(page, "<h1>Not allowed</h1>"), route)
		}
		for header, value := range map[string]string{"Sec-Fetch-Site": "same-origin", "Origin": w.server.URL} {
			status, _ := sends(route, header, value)
			assert.NotEqual(t, http.StatusForbidden, status, route)
		}
	}
	require.Greater(t, forms, 20)
}

// A proxy may ask for another host than browsers do, or leave out the port of it. They name the address that the server knows as its own.
func TestRoutes_TakeFormsBehindAProxy(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	for origin, status := range map[string]int{w.server.URL: http.StatusOK, "http://mallory.example": http.StatusForbidden, "null": http.StatusForbidden} {
		request, err := http.NewRequest(http.MethodPost, w.server.URL+"/portal", strings.NewReader("email=grace@example.com"))
		require.NoError(t, err)
		request.Host = "127.0.0.1"
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		request.Header.Set("Origin", origin)
		response, err := http.DefaultClient.Do(request)
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		assert.Equal(t, status, response.StatusCode, origin)
	}
	w.pages.Wait()
}

// Without https a browser says nothing of where a form is from but its origin, which our pages let it say.
func TestPages_AreNotTakenForOtherSites(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	page := chromium.Open(t, map[string]string{"shop.test": strings.TrimPrefix(w.server.URL, "http://")})
	page.Go("http://shop.test/portal")
	page.WaitText("Your purchases")
	require.Equal(t, "false", page.Value("isSecureContext"))
	page.Fill("#email", "grace@example.com")
	page.Click("button.primary")
	page.WaitText("Check your e-mail")
	w.pages.Wait()
}
