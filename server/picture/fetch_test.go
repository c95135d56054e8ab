package picture

import (
	"bytes"
	"context"
	"encoding/json"
	"image/color"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/picture"
	"github.com/tillwright/tillwright/store/tenant"
	"github.com/tillwright/tillwright/tests/harness/database"
	_ "github.com/tillwright/tillwright/tests/harness/migrated" // the database that every test gets has its tables
)

// world is an account whose pictures are at a seller's server, and two replicas that fetch them.
type world struct {
	*store.Store
	t        *testing.T
	database string
	account  string
	now      time.Time
	seller   *httptest.Server
	replicas [2]*Fetcher

	mu    sync.Mutex
	serve map[string]http.HandlerFunc // by path
	asked map[string]int
}

func each(t *testing.T, test func(t *testing.T, w *world)) {
	t.Helper()
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		noon := time.Now().Truncate(24 * time.Hour).Add(12 * time.Hour) // fetches are counted by the day, and no test is to run into the next one by chance
		w := &world{t: t, database: url, now: noon, serve: map[string]http.HandlerFunc{}, asked: map[string]int{}}
		sealer, err := core.NewSealer(make([]byte, 32))
		require.NoError(t, err)
		w.Store, err = store.Open(t.Context(), store.Options{
			URL: url, Sealer: sealer, Synchronous: "normal", PublicURL: "http://shop.test", CloseTime: time.Minute,
			Now:      func() time.Time { return w.now },
			Pictures: picture.Bounds{Pictures: 100, Bytes: 1 << 30, Fetches: 50},
			Render:   func(_ string, v any) ([]byte, error) { return json.Marshal(v) },
		})
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, w.Close()) })
		require.NoError(t, w.Migrate(t.Context()))
		a, err := w.Tenant.CreateAccount(t.Context(), tenant.NewAccount{Name: "Ada", Email: "ada@example.com"})
		require.NoError(t, err)
		w.account = a.ID
		w.seller = httptest.NewTLSServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			w.mu.Lock()
			w.asked[r.URL.Path]++
			serve := w.serve[r.URL.Path]
			w.mu.Unlock()
			if serve == nil {
				serve = http.NotFound
			}
			serve(rw, r)
		}))
		t.Cleanup(w.seller.Close)
		for i := range w.replicas {
			w.replicas[i] = New(w.Pictures, w.seller.Client(), slog.New(slog.DiscardHandler))
			w.replicas[i].patience, w.replicas[i].lookEvery = time.Minute, time.Millisecond
			w.replicas[i].turns.now = func() time.Time { return w.now }
		}
		test(t, w)
	})
}

// at has the seller's server answer a path, and returns its address.
func (w *world) at(path string, serve http.HandlerFunc) *string {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.serve[path] = serve
	return new(w.seller.URL + path)
}

// times is how often the seller's server was asked for a path.
func (w *world) times(path string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.asked[path]
}

func sends(file []byte) http.HandlerFunc {
	return func(rw http.ResponseWriter, _ *http.Request) {
		rw.Header().Set("Content-Type", "text/html") // which says nothing of what it is
		_, _ = rw.Write(file)
	}
}

func answers(status int) http.HandlerFunc {
	return func(rw http.ResponseWriter, _ *http.Request) { rw.WriteHeader(status) }
}

// sells returns the id of a new product.
func (w *world) sells(p catalog.Product) string {
	w.t.Helper()
	p.Name = "Handbook"
	made, err := w.Catalog.CreateProduct(w.t.Context(), w.account, catalog.NewProduct{Product: p})
	require.NoError(w.t, err)
	return made.ID
}

// fetch has both replicas fetch what is to be fetched, and returns the picture of an owner.
func (w *world) fetch(owner string) *picture.Picture {
	w.t.Helper()
	var both sync.WaitGroup
	for _, f := range w.replicas {
		both.Go(func() { assert.NoError(w.t, f.Fetch(w.t.Context())) })
	}
	both.Wait()
	p, err := w.Pictures.Of(w.t.Context(), w.account, owner)
	require.NoError(w.t, err)
	return p
}

func (w *world) file(p *picture.Picture, name string) []byte {
	w.t.Helper()
	file, err := w.Pictures.File(w.t.Context(), p.AccountID, strings.TrimPrefix(p.Path(name), "/media/"+p.AccountID+"/"))
	require.NoError(w.t, err)
	return file
}

func TestFetch_KeepsAPictureForAsLongAsItIsUsed(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		logo, cover := sends(drawn(t, 200, 100, color.NRGBA{R: 9, A: 99})), sends(drawn(t, 200, 150, color.White))
		_, err := w.Tenant.UpdateAccount(t.Context(), w.account, func(a *tenant.AccountChange) { a.LogoURL = w.at("/logo", logo) })
		require.NoError(t, err)
		ids := map[string]string{
			"/cover": w.sells(catalog.Product{CoverURL: w.at("/cover", cover), Images: core.JSONOf([]string{*w.at("/unused", cover)})}),
			"/first": w.sells(catalog.Product{Images: core.JSONOf([]string{*w.at("/first", cover), w.seller.URL + "/unused"})}),
			"/logo":  w.account,
		}
		before, err := w.Pictures.Of(t.Context(), w.account, w.account)
		require.NoError(t, err)
		assert.Nil(t, before.Name)
		w.fetch(w.account)
		w.now = w.now.Add(24 * time.Hour)
		for path, owner := range ids {
			p := w.fetch(owner)
			require.NotNil(t, p.Name, path)
			assert.Nil(t, p.DueAt)
			assert.Nil(t, p.Problem)
			assert.Equal(t, 1, w.times(path), "it is fetched once, by one of the replicas: %s", path)
			assert.NotEmpty(t, w.file(p, picture.Card))
		}
		assert.Zero(t, w.times("/unused"))
		letter, err := w.Pictures.LetterLogo(t.Context(), w.account)
		require.NoError(t, err)
		assert.True(t, bytes.HasPrefix(letter, []byte("\x89PNG")))

		former, err := w.Pictures.Of(t.Context(), w.account, ids["/cover"])
		require.NoError(t, err)
		another := *former
		another.AccountID = "acct_01k0000000000000000000000a"
		assert.Nil(t, w.file(&another, picture.Card), "no account has the files of another")

		change := func(by func(*catalog.Product)) {
			t.Helper()
			_, err := w.Catalog.UpdateProduct(t.Context(), w.account, ids["/cover"], by)
			require.NoError(t, err)
		}
		change(func(p *catalog.Product) { p.Name, p.Images.V = "Guide", nil })
		assert.Equal(t, *former.Name, *w.fetch(ids["/cover"]).Name, "its address is the same")
		first, err := w.Pictures.Of(t.Context(), w.account, ids["/first"])
		require.NoError(t, err)
		_, err = w.Catalog.UpdateProduct(t.Context(), w.account, ids["/first"], func(p *catalog.Product) { p.Images.V = p.Images.V[:1] })
		require.NoError(t, err)
		assert.Equal(t, *first.Name, *w.fetch(ids["/first"]).Name, "the first of its images is the same")
		change(func(p *catalog.Product) { p.CoverURL = new(w.seller.URL + "/nowhere") })
		still := w.fetch(ids["/cover"])
		assert.Equal(t, "Its server answered 404.", *still.Problem)
		assert.NotEmpty(t, w.file(still, picture.Card), "it is kept until another is there")
		change(func(p *catalog.Product) { p.CoverURL = w.at("/another", cover) })
		assert.NotEmpty(t, w.file(former, picture.Card))
		assert.NotEqual(t, *former.Name, *w.fetch(ids["/cover"]).Name)
		assert.Empty(t, w.file(former, picture.Card), "nobody needs it any more")
		change(func(p *catalog.Product) { p.CoverURL = nil })
		assert.Nil(t, w.fetch(ids["/cover"]))
		_, err = w.Catalog.DeleteProduct(t.Context(), w.account, ids["/first"])
		require.NoError(t, err)
		_, err = w.Tenant.UpdateAccount(t.Context(), w.account, func(a *tenant.AccountChange) { a.LogoURL = nil })
		require.NoError(t, err)
		var rows int
		require.NoError(t, database.Behind(t, w.database).QueryRowContext(t.Context(), `
			SELECT (SELECT count(*) FROM pictures) + (SELECT count(*) FROM picture_files) + (SELECT sum(pictures + bytes) FROM picture_usage) - (SELECT sum(1 + bytes) FROM picture_removed)`).Scan(&rows))
		assert.Zero(t, rows)
	})
}

func TestFetch_SaysWhyThereIsNoPicture(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		away := func(rw http.ResponseWriter, r *http.Request) {
			http.Redirect(rw, r, "http://"+r.Host+"/plain", http.StatusFound)
		}
		var round http.HandlerFunc = func(rw http.ResponseWriter, r *http.Request) { http.Redirect(rw, r, "/round", http.StatusFound) }
		final, passing := map[string]string{}, map[string]string{}
		for problem, address := range map[string]*string{
			"This is no PNG, JPEG, GIF or WebP picture.":                 w.at("/svg", sends([]byte("<svg/>"))),
			"The picture has more than 10 MB.":                           w.at("/large", sends(append(drawn(t, 9, 9, color.White), make([]byte, mostBytes)...))),
			"Its server answered 404.":                                   w.at("/missing", nil),
			"The address leads on to another one that is not asked for.": w.at("/away", away),
			"The address does not begin with https://.":                  new(strings.Replace(w.seller.URL, "https", "http", 1) + "/plain"),
		} {
			final[problem] = w.sells(catalog.Product{CoverURL: address})
		}
		turned := w.sells(catalog.Product{CoverURL: w.at("/round", round)})
		for problem, address := range map[string]*string{
			"Its server answered 503.": w.at("/busy", answers(http.StatusServiceUnavailable)),
			"Its server could not be reached, or did not send the picture in time.": new("https://127.0.0.1:1/logo.png"),
		} {
			passing[problem] = w.sells(catalog.Product{CoverURL: address})
		}
		for problem, owner := range final {
			p := w.fetch(owner)
			require.NotNil(t, p.Problem, problem)
			assert.Equal(t, problem, *p.Problem)
			assert.Nil(t, p.DueAt, "it is not asked for again: %s", problem)
			assert.Nil(t, p.Name)
		}
		assert.Nil(t, w.fetch(turned).DueAt)
		assert.Zero(t, w.times("/plain"))
		assert.Equal(t, mostHops+1, w.times("/round"))
		assert.Equal(t, 1, w.times("/missing"))
		for problem, owner := range passing {
			p := w.fetch(owner)
			require.NotNil(t, p.Problem, problem)
			assert.Equal(t, problem, *p.Problem)
			assert.NotNil(t, p.DueAt, "it is asked for again: %s", problem)
		}
		assert.Equal(t, 1, w.times("/busy"), "not at once")
		for range 10 {
			w.now = w.now.Add(24 * time.Hour)
			w.fetch(w.account)
		}
		assert.Equal(t, 5, w.times("/busy"), "not for ever")
		assert.Nil(t, w.fetch(passing["Its server answered 503."]).DueAt)
	})
}

// An account whose server never answers has one worker at most, and the others do not wait for it.
func TestRun_DoesNotWaitForASilentServer(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		const patience = 5 * time.Minute // as that of other tests, whose package imports this one
		w.replicas[0].patience = 2 * patience
		ends := make(chan struct{})
		end := sync.OnceFunc(func() { close(ends) })
		t.Cleanup(end) // before the server is closed, which waits for its answers
		for range 5 {
			w.sells(catalog.Product{CoverURL: w.at("/silent", func(http.ResponseWriter, *http.Request) { <-ends })})
		}
		other, err := w.Tenant.CreateAccount(t.Context(), tenant.NewAccount{Name: "Bea", Email: "bea@example.com"})
		require.NoError(t, err)
		var owners []string
		for range 3 {
			made, err := w.Catalog.CreateProduct(t.Context(), other.ID, catalog.NewProduct{Product: catalog.Product{Name: "Guide", CoverURL: w.at("/quick", sends(drawn(t, 9, 9, color.White)))}})
			require.NoError(t, err)
			owners = append(owners, made.ID)
		}
		ctx, stop := context.WithCancel(t.Context())
		stopped := make(chan struct{})
		go func() {
			w.replicas[0].Run(ctx)
			close(stopped)
		}()
		require.Eventually(t, func() bool {
			shown, err := w.Pictures.Shown(t.Context(), other.ID, owners)
			return assert.NoError(t, err) && len(shown) == len(owners) && w.times("/silent") == 1
		}, patience, 5*time.Millisecond)
		stop()
		end()
		<-stopped
		var attempts, fetches int
		require.NoError(t, database.Behind(t, w.database).QueryRowContext(t.Context(), `
			SELECT (SELECT sum(attempts) FROM pictures WHERE account_id = u.account_id), fetches FROM picture_usage AS u WHERE account_id = '`+w.account+`'`).Scan(&attempts, &fetches))
		assert.Zero(t, attempts, "a server that stops costs no attempt")
		assert.Zero(t, fetches)
	})
}
