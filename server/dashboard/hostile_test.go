package dashboard_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"testing/iotest"

	"github.com/labstack/echo/v4"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/server/dashboard"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/tests/harness"
	"github.com/tillwright/tillwright/tests/harness/database"
)

func TestForms_RefuseWhatIsNoText(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		for _, wrong := range []string{"a\x00", "\xff"} {
			for path, form := range map[string]url.Values{
				"/sign-in":         {"email": {wrong + "@example.com"}, "password": {"x"}},
				"/sign-up":         {"name": {wrong}, "email": {"ada@example.com"}, "password": {"correct horse battery"}},
				"/app/you/account": {"account": {wrong}},
			} {
				status, page := w.owner.Post(path, form)
				require.Equal(t, http.StatusUnprocessableEntity, status, path)
				require.Contains(t, page, "Nothing was done.", path)
			}
		}
		status, page := w.owner.Post("/app/you/account", url.Values{"account": {strings.Repeat("x", 2<<20)}})
		require.Equal(t, http.StatusRequestEntityTooLarge, status)
		require.Contains(t, page, "Nothing was done.")
		for _, path := range []string{"/app/orders/..", "/app/products/%2e", "/app/orders?q=%00", "/app/orders?q=a&q=%ff"} {
			status, page = w.owner.Get(path)
			require.Equal(t, http.StatusNotFound, status, path)
			require.Contains(t, page, "<h1", path)
		}
	})
}

// A form that came while too much was under way is answered by the server, which says to send it again.
func TestForms_AreLeftToTheServerIfTooMuchIsUnderWay(t *testing.T) {
	t.Parallel()
	d, err := dashboard.New(dashboard.Options{PublicURL: "https://shop.test"})
	require.NoError(t, err)
	forms := 0
	for route, serve := range d.Routes() {
		if !strings.HasPrefix(route, "POST ") || strings.HasPrefix(route, "POST /app/") { // those first look who sends them
			continue
		}
		forms++
		for _, refusal := range []error{&core.CrowdedError{}, &core.CrowdedError{ByAll: true}} {
			r := httptest.NewRequest(http.MethodPost, "/", io.MultiReader(strings.NewReader("email=ada"), iotest.ErrReader(refusal)))
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			w := httptest.NewRecorder()
			require.Equal(t, refusal, serve(echo.New().NewContext(r, w)), route)
			require.Zero(t, w.Body.Len(), route)
		}
	}
	require.Equal(t, 6, forms)
}

func TestSignIn_TakesABrowserThatCallsItselfBytes(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, address string) {
		ada := harness.Boot(t, address).Stranger(t)
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, ada.URL+"/sign-up", strings.NewReader(newcomer("ada@example.com").Encode()))
		require.NoError(t, err)
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("User-Agent", "Browser \xff")
		response, err := ada.HTTP.Do(r)
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		require.Equal(t, http.StatusSeeOther, response.StatusCode)
		sees(t, ada, "/app/you", "Browser \uFFFD")
	})
}

func TestSignUp_IsClosedByNoStranger(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, address string) {
		s := harness.Boot(t, address)
		for range 11 {
			_, _ = s.Stranger(t).Post("/sign-in", url.Values{"email": {""}, "password": {"x"}})
		}
		sends(t, s.Stranger(t), "/sign-up", newcomer("ada@example.com"))
	})
}

func TestUploads_AreOfAProduct(t *testing.T) {
	t.Parallel()
	w := newWorld(t, database.URL(t, "sqlite"))
	for _, id := range []string{"..", "%ff", "prod_x"} {
		status, _ := upload(t, w.owner, "/app/products/"+id+"/files", "file", "a.txt", "abc")
		require.Equal(t, http.StatusNotFound, status, id)
	}
}

// Of forms that come at once one is obeyed, and whoever sent the others is told so in words.
func TestForms_ThatComeAtOnceAreObeyedOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, database.URL(t, "sqlite"))
	form := handbook()
	form.Set("once", strings.Repeat("o", 26))
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			status, page := w.owner.Post("/app/products/new", form)
			assert.Contains(t, []int{http.StatusSeeOther, http.StatusConflict}, status)
			assert.True(t, status == http.StatusSeeOther || strings.Contains(page, "It is being done"), page)
		})
	}
	all.Wait()
	list, err := w.api.SDK().Products.List(t.Context(), nil)
	require.NoError(t, err)
	require.Len(t, list.Data, 1)
}
