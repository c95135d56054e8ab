package pages_test

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/labstack/echo/v4"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/server/caller"
	"github.com/tillwright/tillwright/server/picture"
	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/store/content"
	"github.com/tillwright/tillwright/store/core"
	kept "github.com/tillwright/tillwright/store/picture"
	"github.com/tillwright/tillwright/store/tenant"
	"github.com/tillwright/tillwright/tests/harness/database"
)

// pixels returns a JPEG with shades and edges, as a photograph has them.
func pixels(w, h int) []byte {
	p := image.NewRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			fx, fy := float64(x)/float64(w), float64(y)/float64(h)
			shade := 120 + 60*math.Sin(9*fx+5*fy) + 30*math.Sin(70*fx)*math.Cos(50*fy) + float64((x*7919+y*104729)%13)
			p.SetRGBA(x, y, color.RGBA{R: uint8(shade), G: uint8(shade * (0.5 + fy/2)), B: uint8(shade * (0.5 + fx/2)), A: 255})
		}
	}
	var file bytes.Buffer
	if err := jpeg.Encode(&file, p, nil); err != nil {
		panic(err)
	}
	return file.Bytes()
}

// pictured gives the account, or one of its products or posts, a picture, which was fetched.
func (w *shop) pictured(owner string, file []byte) *kept.Picture {
	w.t.Helper()
	address := new("https://shop.example/" + owner + ".jpg")
	if owner == w.account {
		_, err := w.Tenant.UpdateAccount(w.t.Context(), w.account, func(a *tenant.AccountChange) { a.LogoURL = address })
		require.NoError(w.t, err)
	} else if strings.HasPrefix(owner, core.KindBlogPost.Prefix()) {
		_, err := w.Content.UpdateBlogPost(w.t.Context(), w.account, owner, func(b *content.BlogPost) { b.CoverURL = address })
		require.NoError(w.t, err)
	} else {
		_, err := w.Catalog.UpdateProduct(w.t.Context(), w.account, owner, func(p *catalog.Product) { p.CoverURL = address })
		require.NoError(w.t, err)
	}
	claimed, err := w.Pictures.Claim(w.t.Context(), w.account)
	require.NoError(w.t, err)
	require.NotNil(w.t, claimed)
	require.Equal(w.t, owner, claimed.OwnerID)
	made, err := picture.Make(file, owner == w.account)
	require.NoError(w.t, err)
	_, err = w.Pictures.Keep(w.t.Context(), claimed, made)
	require.NoError(w.t, err)
	p, err := w.Pictures.Of(w.t.Context(), w.account, owner)
	require.NoError(w.t, err)
	return p
}

// loaded returns what a browser reads from an address: how much, and what is said of it.
func (w *shop) loaded(address string, status int, headers ...string) (size int, header http.Header) {
	w.t.Helper()
	request, err := http.NewRequest(http.MethodGet, address, nil)
	require.NoError(w.t, err)
	for i := 0; i < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	response, err := http.DefaultClient.Do(request)
	require.NoError(w.t, err)
	defer response.Body.Close()
	require.Equal(w.t, status, response.StatusCode, address)
	body, err := io.ReadAll(response.Body)
	require.NoError(w.t, err)
	return len(body), response.Header
}

// mostOfCheckout is how many bytes the page of a checkout may have, as it is sent, with its pictures.
const mostOfCheckout = 100_000

func TestPages_ShowPicturesThatThisServerKeeps(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, engine string) {
		w := newShopOn(t, engine)
		link := w.link(catalog.PriceVariant{Amount: 1900, Currency: "usd"}, nil)
		variant, err := w.Catalog.GetPriceVariant(t.Context(), w.account, link.PriceVariantIDs.V[0])
		require.NoError(t, err)
		i := w.billed()
		pictures := regexp.MustCompile(`<img [^>]*>`)
		plain := w.page(link.URL, http.StatusOK)
		assert.Empty(t, pictures.FindAllString(plain, -1))
		assert.NotContains(t, plain, "og:image")
		assert.Contains(t, plain, `<meta name="twitter:card" content="summary">`)

		logo, cover := w.pictured(w.account, pixels(1000, 250)), w.pictured(variant.ProductID, pixels(1600, 1200))
		head := fmt.Sprintf(`<img src="%s" alt="Ada &lt;b&gt;&amp; sons&lt;/b&gt;" width="320" height="80">`, logo.Path("320.jpg"))
		body := fmt.Sprintf(`<img src="%s" srcset="%s 320w, %s 640w, %s 1280w" sizes="(min-width: 60rem) 28rem, 100vw" width="640" height="480" alt="">`,
			cover.Path("640.jpg"), cover.Path("320.jpg"), cover.Path("640.jpg"), cover.Path("1280.jpg"))
		teaser := strings.Replace(body, "(min-width: 60rem) 28rem, 100vw", "4rem", 1) // above the folded order
		page := w.page(link.URL, http.StatusOK)
		assert.Equal(t, []string{head, teaser, body}, pictures.FindAllString(page, -1))
		for _, said := range []string{`property="og:title" content="Handbook"`, `property="og:url" content="` + link.URL + `"`, `property="og:image" content="` + w.server.URL + cover.Path(kept.Card) + `"`, `content="summary_large_image"`} {
			assert.Contains(t, page, said)
		}
		next := w.begun(link.URL, url.Values{"once": {onceOf.FindStringSubmatch(page)[1]}})
		checkout := w.page(strings.TrimSuffix(next, "/pay"), http.StatusOK)
		assert.Equal(t, []string{head, teaser, body}, pictures.FindAllString(checkout, -1))
		assert.NotContains(t, checkout, "og:title", "its address is a secret")
		assert.Equal(t, []string{head}, pictures.FindAllString(w.page(i.HostedURL, http.StatusOK), -1))

		site := w.visit(w.publish("").URL)
		for _, said := range []string{`<img src="` + logo.Path("640.jpg") + `" width="640" height="160" alt="">`, `src="` + cover.Path("640.jpg") + `"`, `property="og:image" content="` + w.server.URL + logo.Path(kept.Card) + `"`} {
			assert.Contains(t, site, said)
		}
		assert.NotContains(t, site, "https://shop.example/")

		post := w.writes(content.BlogPost{Title: "First", Body: "a", CoverURL: new("https://shop.example/former.jpg")})
		assert.Empty(t, pictures.FindAllString(w.visit(*post.URL), -1))
		shown := w.pictured(post.ID, pixels(400, 300))
		first := w.visit(*post.URL)
		assert.Contains(t, first, fmt.Sprintf(`<img src="%s" srcset="%s 320w, %s 400w"`, shown.Path("400.jpg"), shown.Path("320.jpg"), shown.Path("400.jpg")))
		assert.Contains(t, first, `property="og:image" content="`+w.server.URL+shown.Path(kept.Card)+`"`)

		sum, _ := w.loaded(link.URL, http.StatusOK, "Accept-Encoding", "gzip")
		for _, path := range []string{logo.Path("320.jpg"), cover.Path("640.jpg")} {
			size, header := w.loaded(w.server.URL+path, http.StatusOK)
			assert.Equal(t, []string{"image/jpeg", "nosniff", "public, max-age=86400"}, []string{header.Get("Content-Type"), header.Get("X-Content-Type-Options"), header.Get("Cache-Control")})
			assert.Equal(t, fmt.Sprint(size), header.Get("Content-Length"))
			assert.Empty(t, header.Get("X-Robots-Tag"), "search engines may show a shop's pictures")
			again, _ := w.loaded(w.server.URL+path, http.StatusNotModified, "If-None-Match", header.Get("ETag"))
			assert.Zero(t, again)
			head, err := http.Head(w.server.URL + path)
			require.NoError(t, err)
			assert.Equal(t, int64(size), head.ContentLength)
			sum += size
		}
		assert.Less(t, sum, mostOfCheckout)

		w.holds(cover.Path("640.jpg"))
		_, letter := w.loaded(w.server.URL+logo.Path(kept.Letter), http.StatusOK)
		assert.Equal(t, "image/png", letter.Get("Content-Type"))
		other := strings.Replace(cover.Path("640.jpg"), w.account, "acct_01k0000000000000000000000a", 1)
		for _, path := range []string{other, cover.Path("641.jpg"), cover.Path("640.html"), cover.Path("640"), "/media/" + w.account + "/-640.jpg", "/media/x/y"} {
			w.page(w.server.URL+path, http.StatusNotFound)
		}
		_, err = database.Behind(t, engine).ExecContext(t.Context(), `UPDATE pictures SET sizes = '[]'`) // as nobody writes it
		require.NoError(t, err)
		assert.Empty(t, pictures.FindAllString(w.page(link.URL, http.StatusOK), -1))
	})
}

// holds claims that a file is held while it is sent. Nothing is held, or read, for who has it already or asks for its size alone.
func (w *shop) holds(path string) {
	w.t.Helper()
	parts := strings.Split(path, "/")
	var held []int64
	var refusal error
	ask := func(method, etag string) (*httptest.ResponseRecorder, error) {
		held = nil
		r := httptest.NewRequest(method, path, nil)
		r.Header.Set("If-None-Match", etag)
		count := func(n int64) (func(), error) {
			held = append(held, n)
			return func() { held = append(held, -n) }, refusal
		}
		answer := httptest.NewRecorder()
		c := echo.New().NewContext(r.WithContext(caller.With(r.Context(), &caller.Caller{Bytes: count})), answer)
		c.SetParamNames("account", "file")
		c.SetParamValues(parts[2], parts[3])
		return answer, w.pages.Media()["/media/:account/:file"](c)
	}
	whole, err := ask(http.MethodGet, "")
	require.NoError(w.t, err)
	size := int64(whole.Body.Len())
	assert.Equal(w.t, []int64{size, -size}, held)
	for method, etag := range map[string]string{http.MethodHead: "", http.MethodGet: whole.Header().Get("ETag")} {
		_, err := ask(method, etag)
		require.NoError(w.t, err)
		assert.Empty(w.t, held, method)
	}
	refusal = errors.New("too much")
	refused, err := ask(http.MethodGet, "")
	require.ErrorIs(w.t, err, refusal)
	assert.Equal(w.t, "no-store", refused.Header().Get("Cache-Control"))
}
