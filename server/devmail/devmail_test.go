package devmail

import (
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"

	"github.com/labstack/echo/v4"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/server/mail"
)

// visit asks for a path as a browser on this machine does, or otherwise if change says so. It returns what was answered and the error.
func visit(t *testing.T, b *Box, path, name string, change func(*http.Request)) (*httptest.ResponseRecorder, error) {
	t.Helper()
	r := httptest.NewRequest(http.MethodGet, "http://127.0.0.1:8080/", nil)
	r.RemoteAddr = "127.0.0.1:4711"
	if change != nil {
		change(r)
	}
	w := httptest.NewRecorder()
	c := echo.New().NewContext(r, w)
	c.SetParamNames("name")
	c.SetParamValues(name)
	return w, b.Routes()[path](c)
}

func TestBox_ShowsLettersOrThatThereAreNone(t *testing.T) {
	t.Parallel()
	folder := mail.Folder{Path: filepath.Join(t.TempDir(), "mail")}
	b, err := New(folder)
	require.NoError(t, err)
	w, err := visit(t, b, Path, "", nil)
	require.NoError(t, err)
	assert.Contains(t, w.Body.String(), "No letter was written yet.")

	require.NoError(t, folder.Send(t.Context(), mail.Letter{From: "Ada", To: "grace@example.com", Subject: "<b>Hello", Text: "One <i>& two", HTML: "<html><head></head><body><script>alert(1)</script></body></html>"}))
	all, err := folder.List(1)
	require.NoError(t, err)
	name := all[0].Name
	w, err = visit(t, b, Path, "", nil)
	require.NoError(t, err)
	assert.Contains(t, w.Body.String(), Path+"/"+name)
	assert.Contains(t, w.Body.String(), "&lt;b&gt;Hello")
	assert.Contains(t, w.Body.String(), "grace@example.com")

	w, err = visit(t, b, Path+"/:name", name, nil)
	require.NoError(t, err)
	assert.Contains(t, w.Body.String(), "One &lt;i&gt;&amp; two")
	assert.Contains(t, w.Body.String(), "Message-ID:")
	assert.Contains(t, w.Body.String(), `src="`+Path+"/"+name+`/html"`)
	assert.Contains(t, w.Body.String(), `sandbox="allow-popups allow-popups-to-escape-sandbox"`)
	assert.NotContains(t, w.Body.String(), "<script>")

	w, err = visit(t, b, Path+"/:name/html", name, nil)
	require.NoError(t, err)
	assert.Contains(t, w.Body.String(), "alert(1)")
	assert.Contains(t, w.Header().Get("Content-Security-Policy"), "sandbox allow-popups allow-popups-to-escape-sandbox; default-src 'none';")

	w, err = visit(t, b, Path+"/:name", "../"+name, nil)
	require.NoError(t, err)
	assert.Equal(t, http.StatusNotFound, w.Code)
	_, err = visit(t, b, Path+"/:name/html", "../"+name, nil)
	assert.Equal(t, missing(), err)
}

// Letters have links by which whoever reads them signs in.
func TestBox_AnswersABrowserOnThisMachineAlone(t *testing.T) {
	t.Parallel()
	b, err := New(mail.Folder{Path: t.TempDir()})
	require.NoError(t, err)
	others := map[string]func(*http.Request){
		"another machine":        func(r *http.Request) { r.RemoteAddr = "192.0.2.1:4711" },
		"a name that leads here": func(r *http.Request) { r.Host = "evil.example:8080" },
		"a name that begins so":  func(r *http.Request) { r.Host = "127.0.0.1.evil.example" },
		"nginx with proxy_pass":  func(r *http.Request) { r.Proto, r.ProtoMinor = "HTTP/1.0", 0 },
	}
	for _, header := range []string{"Forwarded", "Via", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Real-IP", "CF-Connecting-IP", "CF-Ray", "True-Client-IP"} {
		others[header] = func(r *http.Request) { r.Header.Set(header, "") }
	}
	for name, change := range others {
		for path := range b.Routes() {
			_, err := visit(t, b, path, "a.eml", change)
			assert.Equal(t, missing(), err, "%s, %s", name, path)
		}
	}
	for _, host := range []string{"localhost:8080", "LocalHost", "[::1]:8080", "127.0.0.1"} {
		_, err := visit(t, b, Path, "", func(r *http.Request) { r.Host = host })
		assert.NoError(t, err, host)
	}
}

func TestServes_WhereThePublicURLIsOfThisMachine(t *testing.T) {
	t.Parallel()
	for url, serves := range map[string]bool{
		"http://127.0.0.1:8080": true, "http://localhost:8080": true, "http://[::1]:8080": true,
		"https://demo.example": false, "http://192.0.2.1:8080": false, "http://localhost.example": false, "https://localhost": false, "": false,
	} {
		assert.Equal(t, serves, Serves(url), url)
	}
}
