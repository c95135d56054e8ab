package composer

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/store/content"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/tenant"
	"github.com/tillwright/tillwright/tests/harness/database"
	_ "github.com/tillwright/tillwright/tests/harness/migrated"
)

// studio is an account with a site and a product, and a model that answers what it is told to.
type studio struct {
	*Composer
	t       *testing.T
	account string
	site    *content.AISite
	product string
	log     bytes.Buffer
	stopped atomic.Pointer[time.Time] // nil: the clock goes

	mu     sync.Mutex
	bodies []string // that the model was asked, by requests that may be given up while another begins
}

// asked returns the bodies that have reached the model.
func (w *studio) asked() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.bodies)
}

// now is when the clock was stopped, or the time.
func (w *studio) now() time.Time {
	if at := w.stopped.Load(); at != nil {
		return *at
	}
	return time.Now()
}

func newStudio(t *testing.T, url string, answer http.HandlerFunc) *studio {
	t.Helper()
	w := &studio{t: t}
	sealer, err := core.NewSealer(make([]byte, 32))
	require.NoError(t, err)
	s, err := store.Open(t.Context(), store.Options{
		URL: url, Sealer: sealer, Synchronous: "normal", PublicURL: "http://shop.test", CloseTime: time.Minute, Now: w.now,
		Render: func(_ string, v any) ([]byte, error) { return json.Marshal(v) },
	})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, s.Close()) })
	require.NoError(t, s.Migrate(t.Context()))
	a, err := s.Tenant.CreateAccount(t.Context(), tenant.NewAccount{Name: "Ada", Email: "ada@example.com"})
	require.NoError(t, err)
	w.account = a.ID
	p, err := s.Catalog.CreateProduct(t.Context(), a.ID, catalog.NewProduct{
		Product: catalog.Product{Name: "Handbook", Headline: new("On ships"), Status: catalog.ProductStatusActive}, PriceVariants: []catalog.PriceVariant{{Amount: 1900, Currency: "usd"}},
	})
	require.NoError(t, err)
	w.product = p.ID
	w.site, err = s.Content.CreateAISite(t.Context(), a.ID, content.AISiteDraft{AISite: &content.AISite{Name: "Ada ships"}})
	require.NoError(t, err)
	o := Options{Store: s, Log: slog.New(slog.NewTextHandler(&w.log, nil))}
	if answer != nil {
		model := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			var body bytes.Buffer
			_, _ = body.ReadFrom(r.Body)
			w.mu.Lock()
			w.bodies = append(w.bodies, body.String())
			w.mu.Unlock()
			assert.Equal(t, "/v1/chat/completions", r.URL.Path)
			assert.Equal(t, "Bearer very-secret", r.Header.Get("Authorization"))
			answer(rw, r)
		}))
		t.Cleanup(model.Close)
		o.URL, o.Key, o.Model = model.URL+"/v1", "very-secret", "small"
	}
	w.Composer = New(o)
	return w
}

// says answers as a model that writes this.
func says(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(map[string]any{"choices": []any{map[string]any{"message": map[string]any{"role": "assistant", "content": text}}}})
	}
}

func (w *studio) generate(prompt string) (*content.AISiteVersion, error) {
	return w.Generate(w.t.Context(), w.account, w.site.ID, prompt)
}

func (w *studio) refused(err error) {
	w.t.Helper()
	var e *core.Error
	require.ErrorAs(w.t, err, &e)
	require.Equal(w.t, core.CodeInvalid, e.Code)
	require.Equal(w.t, "prompt", e.Param)
	_, err = w.Store.Content.GetAISiteVersion(w.t.Context(), w.account, w.site.ID, 1)
	require.Error(w.t, err, "a version is there all the same")
	require.NotContains(w.t, w.log.String(), "very-secret")
}

func TestGenerate_ByRulesMakesTheSameOfTheSame(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		w := newStudio(t, url, nil)
		const prompt = "A dark page for my handbook. See ada.example/blog, or write to ada@example.com."
		first, err := w.generate(prompt)
		require.NoError(t, err)
		second, err := w.generate(prompt)
		require.NoError(t, err)
		require.Equal(t, first.Content, second.Content)
		require.Equal(t, []int64{1, 2}, []int64{first.Version, second.Version})
		require.Equal(t, content.AISiteOriginGenerated, first.Origin)
		require.Equal(t, prompt, *first.Prompt)
		require.Equal(t, "dark", first.Content.Theme.Mode)
		require.Equal(t, "Ada ships", *first.Content.Blocks[0].Heading)
		require.Equal(t, []string{w.product}, first.Content.Blocks[1].Products)
		require.Equal(t, "https://ada.example/blog", *first.Content.Blocks[2].Items[0].URL)
		require.Equal(t, "mailto:ada@example.com", *first.Content.Blocks[2].Items[1].URL)

		site, err := w.Store.Content.GetAISite(t.Context(), w.account, w.site.ID)
		require.NoError(t, err)
		require.Zero(t, site.Version, "a generated page is no draft")
		require.False(t, site.IsLive)
		_, err = w.Store.Content.PublishAISite(t.Context(), w.account, w.site.ID, new(int64(1)))
		require.NoError(t, err)
		_, err = w.Store.Content.UpdateAISite(t.Context(), w.account, w.site.ID, func(d *content.AISiteDraft) { d.Sent = json.RawMessage(core.JSONText(first.Content)) })
		require.NoError(t, err, "what was generated can be sent")
	})
}

func TestGenerate_ByRulesShowsPostsAndAForm(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		w := newStudio(t, url, nil)
		_, err := w.Store.Content.CreateBlogPost(t.Context(), w.account, content.BlogPost{Title: "On ships", Body: "a", Status: content.BlogPostStatusPublished, Access: content.BlogPostAccessPublic})
		require.NoError(t, err)
		_, err = w.Store.Tenant.UpdateAccount(t.Context(), w.account, func(a *tenant.AccountChange) { a.Locale = "de-AT" })
		require.NoError(t, err)
		v, err := w.generate("A page with a newsletter.")
		require.NoError(t, err)
		var types []string
		for _, b := range v.Content.Blocks {
			types = append(types, b.Type)
		}
		require.Equal(t, []string{"hero", "products", "posts", "lead_form"}, types)
		assert.Equal(t, "In Kontakt bleiben", *v.Content.Blocks[3].Heading, "as the seller speaks")
		assert.Equal(t, "Schreiben Sie mir, was es bei Ada Neues gibt.", *v.Content.Blocks[3].ConsentText)
		_, err = w.Store.Content.UpdateAISite(t.Context(), w.account, w.site.ID, func(d *content.AISiteDraft) { d.Sent = json.RawMessage(core.JSONText(v.Content)) })
		require.NoError(t, err, "what was generated can be sent")
	})
}

func TestGenerate_KeepsOfAnAnswerWhatIsAPage(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		var answer string
		w := newStudio(t, url, func(rw http.ResponseWriter, r *http.Request) { says("```json\n"+answer+"\n```")(rw, r) })
		answer = `{"theme": {"accent": "url(https://evil.example)"}, "tools": ["rm -rf"], "blocks": [
			{"type": "hero", "heading": "<script>alert(1)</script>", "button": {"label": "Go", "url": "javascript:alert(1)"}},
			{"type": "hero", "heading": "Ships", "image_url": "https://track.example/a.png", "button": {"label": "Go", "url": "https://phish.example/"}},
			{"type": "script", "src": "https://evil.example/x.js"},
			{"type": "hero", "heading": "x", "onload": "alert(1)"},
			{"type": "links", "items": [{"label": "Mine", "url": "https://ada.example/a"}, {"label": "Theirs", "url": "https://ada.example.evil.example/a"}, {"label": "Path", "url": "/sites/somebody"}]},
			{"type": "products", "products": ["` + w.product + `", "prod_01k0000000000000000000000a"]},
			{"type": "products", "products": ["prod_01k0000000000000000000000a"]}, "text", null, 7,
			{"type": "text", "markdown": "See [this](https://phish.example/b)"}, {"type": "text", "markdown": "See [mine](https://ada.example/a)"}]}`
		v, err := w.generate("Link to https://ada.example/a.")
		require.NoError(t, err)
		require.Len(t, v.Content.Blocks, 4)
		hero, links, products := v.Content.Blocks[0], v.Content.Blocks[1], v.Content.Blocks[2]
		require.Equal(t, "Ships", *hero.Heading)
		require.Nil(t, hero.ImageURL)
		require.Nil(t, hero.Button)
		require.Len(t, links.Items, 1)
		require.Equal(t, "https://ada.example/a", *links.Items[0].URL)
		require.Equal(t, []string{w.product}, products.Products)
		dropped := strings.Join(v.Dropped.V, "\n")
		for _, named := range []string{
			"content.theme.accent", "blocks.0.button.url", "blocks.1.image_url: https://track.example/a.png", "blocks.1.button.url: https://phish.example/",
			"blocks.2.type", "blocks.3.onload", "blocks.4.items.1.url: https://ada.example.evil.example/a", "blocks.4.items.2.url: /sites/somebody",
			"blocks.5.products.1", "blocks.6.products.0", "blocks.7", "blocks.8", "blocks.9", "blocks.10.markdown: https://phish.example/b",
		} {
			assert.Contains(t, dropped, named)
		}
		assert.Contains(t, w.asked()[0], "Handbook")
		assert.Contains(t, w.asked()[0], "json_schema")
		assert.NotContains(t, w.asked()[0], "ada@example.com", "people are told of")

		answer = `{"blocks": [` + strings.Repeat(`{"type": "products", "limit": 50},`, 5) + `{"type": "products", "limit": 1}]}`
		v, err = w.generate("All of them.")
		require.NoError(t, err)
		require.Len(t, v.Content.Blocks, 4)
		require.Equal(t, []string{"blocks.4: products behind the first 200", "blocks.5: products behind the first 200"}, v.Dropped.V)
	})
}

func TestGenerate_RefusesWhatIsNoPage(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]http.HandlerFunc{
		"no JSON":    says("I am sorry, I cannot do that."),
		"no blocks":  says(`{"blocks": []}`),
		"no answer":  func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(`{"choices": []}`)) },
		"other JSON": func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(`[1, 2`)) },
		"an error":   func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) },
		"another place": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://127.0.0.1:1/steal", http.StatusTemporaryRedirect)
		},
		"50 MB": func(w http.ResponseWriter, _ *http.Request) {
			for range 50 {
				if _, err := w.Write(bytes.Repeat([]byte(" "), 1<<20)); err != nil {
					return
				}
			}
		},
		"no end": func(w http.ResponseWriter, r *http.Request) {
			for r.Context().Err() == nil {
				if _, err := w.Write(bytes.Repeat([]byte(`{"a":`), 1<<12)); err != nil {
					return
				}
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newStudio(t, database.URL(t, "sqlite"), answer)
			_, err := w.generate("A page")
			w.refused(err)
			require.Len(t, w.asked(), asks)
		})
	}
}

func TestGenerate_WaitsForNobodyForEver(t *testing.T) {
	t.Parallel()
	w := newStudio(t, database.URL(t, "sqlite"), func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	require.Equal(t, askTime, w.client.Timeout)
	w.client.Timeout = 100 * time.Millisecond
	_, err := w.generate("A page")
	w.refused(err)
}

func TestGenerate_AsksWithoutASchemaWhereNoneIsTaken(t *testing.T) {
	t.Parallel()
	taken := says(`{"blocks": [{"type": "hero", "heading": "Ships"}]}`)
	var w *studio
	w = newStudio(t, database.URL(t, "sqlite"), func(rw http.ResponseWriter, r *http.Request) {
		if bodies := w.asked(); strings.Contains(bodies[len(bodies)-1], "response_format") {
			rw.WriteHeader(http.StatusBadRequest)
			return
		}
		taken(rw, r)
	})
	v, err := w.generate("A page")
	require.NoError(t, err)
	require.Equal(t, "Ships", *v.Content.Blocks[0].Heading)
	require.Len(t, w.asked(), 2)
}

func TestGenerate_IsLimited(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		w := newStudio(t, url, nil)
		w.stopped.Store(new(time.Now())) // the count begins anew with the hour
		for range 20 {
			_, err := w.generate("A page")
			require.NoError(t, err)
		}
		_, err := w.generate("A page")
		var e *core.Error
		require.ErrorAs(t, err, &e)
		require.Equal(t, core.CodeRateLimit, e.Code)
		require.Positive(t, e.After)
		_, err = w.Generate(context.Background(), w.account, "nobodys", "A page")
		require.ErrorAs(t, err, &e)
		require.Equal(t, core.CodeMissing, e.Code)
	})
}
