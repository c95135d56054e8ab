package contract

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/tests/harness"
)

// blocks returns content with these blocks, as JSON.
func blocks(t *testing.T, list string) *sdk.AISiteContent {
	t.Helper()
	c := &sdk.AISiteContent{}
	if err := json.Unmarshal([]byte(`{"blocks": [`+list+`]}`), c); err != nil {
		t.Fatal(err)
	}
	return c
}

func TestAISiteContent_IsRefusedByThePathOfWhatIsWrong(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		made := site(t, c, &sdk.AISiteCreate{Name: "a"})
		for list, param := range map[string]string{
			`{"type": "script"}`:                               "content.blocks.0.type",
			`{"type": "hero"}`:                                 "content.blocks.0.heading",
			`{"type": "hero", "heading": " "}`:                 "content.blocks.0.heading",
			`{"type": "hero", "heading": "a", "onclick": "x"}`: "content.blocks.0.onclick",
			`{"type": "hero", "heading": "a", "caption": "x"}`: "content.blocks.0.caption",
			`{"type": "hero", "heading": "a", "button": {"label": "b", "url": "javascript:x"}}`:     "content.blocks.0.button.url",
			`{"type": "hero", "heading": "a", "button": {"label": "b", "url": "/x", "style": "c"}}`: "content.blocks.0.button.style",
			`{"type": "hero", "heading": "a", "image_url": "http://a.example/b.png"}`:               "content.blocks.0.image_url",
			`{"type": "links", "items": []}`:                                                             "content.blocks.0.items",
			`{"type": "links", "items": [{"label": "a"}]}`:                                               "content.blocks.0.items.0.url",
			`{"type": "links", "items": [{"label": "a", "url": "/x", "quote": "b"}]}`:                    "content.blocks.0.items.0.quote",
			`{"type": "links", "items": [{"label": "a", "url": "//a.example"}]}`:                         "content.blocks.0.items.0.url",
			`{"type": "links", "items": [{"label": "a", "url": "data:text/html,x"}]}`:                    "content.blocks.0.items.0.url",
			`{"type": "links", "items": [{"label": "a", "url": "http://a.example"}]}`:                    "content.blocks.0.items.0.url",
			`{"type": "links", "items": [{"label": "a", "url": "https://paypal.com@evil.example/"}]}`:    "content.blocks.0.items.0.url",
			`{"type": "hero", "heading": "a"}, {"type": "image", "url": "/a", "alt": "b"}`:               "content.blocks.1.url",
			`{"type": "video", "url": "https://youtube.com.evil.example/watch"}`:                         "content.blocks.0.url",
			`{"type": "posts", "tag": " "}`:                                                              "content.blocks.0.tag",
			`{"type": "posts", "limit": 0}`:                                                              "content.blocks.0.limit",
			strings.Repeat(`{"type": "posts"},`, 10) + `{"type": "posts"}`:                               "content.blocks.10.type",
			`{"type": "lead_form", "text": "a"}`:                                                         "content.blocks.0.heading",
			`{"type": "lead_form", "heading": "a", "consent_text": ""}`:                                  "content.blocks.0.consent_text",
			`{"type": "lead_form", "heading": "a", "products": []}`:                                      "content.blocks.0.products",
			`{"type": "products", "limit": 51}`:                                                          "content.blocks.0.limit",
			`{"type": "faq", "items": [{"question": "a", "answer": ""}]}`:                                "content.blocks.0.items.0.answer",
			`{"type": "countdown", "ends_at": "2027-01-01T00:00:00Z"}`:                                   "content.blocks.0.label",
			`{"id": "a", "type": "products"}, {"id": "a", "type": "products"}`:                           "content.blocks.1.id",
			`{"id": "a b", "type": "products"}`:                                                          "content.blocks.0.id",
			strings.TrimSuffix(strings.Repeat(`{"type": "products"},`, 101), ","):                        "content.blocks",
			strings.Repeat(`{"type": "products", "limit": 50},`, 4) + `{"type": "products", "limit": 1}`: "content.blocks.4.limit",
			strings.Repeat(`{"type": "products"},`, 16) + `{"type": "products"}`:                         "content.blocks.16.limit",
			`{"type": "hero", "heading": "` + strings.Repeat("a", 201) + `"}`:                            "content.blocks.0.heading",
			`{"type": "hero", "heading": "a", "text": "\u0007"}`:                                         "content.blocks.0.text",
			strings.TrimSuffix(strings.Repeat(faqs(t, 50, 5000), 2), ","):                                "content",
		} {
			_, err := c.AISites.Update(background, made.ID, &sdk.AISiteUpdate{Content: sdk.Set(*blocks(t, list))})
			refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, param)
		}
		theme := blocks(t, "")
		theme.Theme = &sdk.AISiteTheme{Accent: new("red"), Mode: new("neon")}
		_, err := c.AISites.Update(background, made.ID, &sdk.AISiteUpdate{Content: sdk.Set(*theme)})
		if e := refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "content.theme.accent"); len(e.Errors["content.theme.mode"]) == 0 {
			t.Errorf("nothing is said about the mode: %v", e.Errors)
		}
		unknown := blocks(t, `{"type": "products", "products": ["prod_01k0000000000000000000000a"]}`)
		_, err = c.AISites.Update(background, made.ID, &sdk.AISiteUpdate{Content: sdk.Set(*unknown)})
		refused(t, err, http.StatusNotFound, sdk.CodeResourceMissing, "content.blocks.0.products.0")
		unknown = blocks(t, `{"type": "lead_form", "heading": "a", "product": "prod_01k0000000000000000000000a"}`)
		_, err = c.AISites.Update(background, made.ID, &sdk.AISiteUpdate{Content: sdk.Set(*unknown)})
		refused(t, err, http.StatusNotFound, sdk.CodeResourceMissing, "content.blocks.0.product")
		still := ok[*sdk.AISite](t)(c.AISites.Get(background, made.ID))
		assert.Zero(t, still.Version, "what was refused is stored")
		assert.Nil(t, still.Content, "what was refused is stored")
	})
}

// faqs returns a block with so many answers of a length, and a comma.
func faqs(t *testing.T, items, length int) string {
	t.Helper()
	one := `{"question": "a", "answer": "` + strings.Repeat("b", length) + `"},`
	return `{"type": "faq", "items": [` + strings.TrimSuffix(strings.Repeat(one, items), ",") + `]},`
}

func TestAISiteContent_MakesVersionsOfWhichOneIsPublished(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		made := site(t, c, &sdk.AISiteCreate{Name: "Ada's", Content: blocks(t, `{"type": "hero", "heading": "First page", "text": "by Ada"}`)})
		assert.EqualValues(t, 1, made.Version, "the new site")
		require.Nil(t, made.PublishedVersion, "the new site")
		require.Nil(t, made.PublishedAt, "the new site")
		assert.Equal(t, "block-1", *made.Content.Blocks[0].ID, "the new site")
		assert.Equal(t, "auto", *made.Content.Theme.Mode, "the new site")
		assert.False(t, made.IsLive, "the new site")
		assert.True(t, strings.HasSuffix(made.URL, "/sites/"+made.Subdomain), "the new site")
		live := ok[*sdk.AISite](t)(c.AISites.Publish(background, made.ID, &sdk.AISitePublish{}))
		assert.True(t, live.IsLive, "the published site")
		assert.EqualValues(t, 1, *live.PublishedVersion, "the published site")
		assert.NotNil(t, live.PublishedAt, "the published site")

		second := sdk.AISiteUpdate{Content: sdk.Set(*blocks(t, `{"type": "hero", "heading": "Second page"}, {"type": "faq", "hidden": true, "items": [{"question": "q", "answer": "not shown"}]}`))}
		changed := ok[*sdk.AISite](t)(c.AISites.Update(background, made.ID, &second))
		assert.EqualValues(t, 2, changed.Version, "the changed site")
		assert.EqualValues(t, 1, *changed.PublishedVersion, "the changed site")
		same := ok[*sdk.AISite](t)(c.AISites.Update(background, made.ID, &second))
		assert.EqualValues(t, 2, same.Version, "the same content made another version")
		assert.Equal(t, changed.UpdatedAt, same.UpdatedAt, "the same content made another version")
		ok[*sdk.AISite](t)(c.AISites.Publish(background, made.ID, &sdk.AISitePublish{}))
		back := ok[*sdk.AISite](t)(c.AISites.Publish(background, made.ID, &sdk.AISitePublish{Version: new(int64(1))}))
		assert.EqualValues(t, 1, back.Version, "with its first version again the site")
		assert.EqualValues(t, 1, *back.PublishedVersion, "with its first version again the site")
		assert.Equal(t, "First page", *back.Content.Blocks[0].Heading, "with its first version again the site")
		_, err := c.AISites.Publish(background, made.ID, &sdk.AISitePublish{Version: new(int64(9))})
		refused(t, err, http.StatusNotFound, sdk.CodeResourceMissing, "version")

		hidden := ok[*sdk.AISite](t)(c.AISites.Unpublish(background, made.ID))
		assert.False(t, hidden.IsLive, "the unpublished site")
		assert.EqualValues(t, 1, *hidden.PublishedVersion, "the unpublished site")
		composed := ok[*sdk.AISite](t)(c.AISites.Update(background, made.ID, &sdk.AISiteUpdate{Content: sdk.Null[sdk.AISiteContent](), IsLive: new(true)}))
		assert.True(t, composed.IsLive, "the composed site")
		require.Nil(t, composed.Content, "the composed site")
		assert.Zero(t, composed.Version, "the composed site")
		assert.Nil(t, composed.PublishedVersion, "the composed site")
	})
}

func TestAISiteContent_IsSentAgainAsItIsRead(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		all := blocks(t, `{"type": "hero", "heading": "h", "text": "t", "image_url": "https://ada.example/a.png", "button": {"label": "l", "url": "/x"}},
			{"type": "links", "items": [{"label": "l", "url": "mailto:ada@example.com"}]}, {"type": "products", "limit": 3}, {"type": "text", "markdown": "**m**", "hidden": true},
			{"type": "image", "url": "https://ada.example/a.png", "alt": "a", "caption": "c"}, {"type": "video", "url": "https://youtu.be/x"},
			{"type": "faq", "items": [{"question": "q", "answer": "a"}]}, {"type": "testimonials", "items": [{"quote": "q", "name": "n"}]},
			{"type": "countdown", "ends_at": "2030-01-01T00:00:00Z", "label": "l"}`)
		made := site(t, c, &sdk.AISiteCreate{Name: "Ada's", Content: all})
		again := ok[*sdk.AISite](t)(c.AISites.Update(background, made.ID, &sdk.AISiteUpdate{Content: sdk.Set(*made.Content)}))
		if again.Version != made.Version {
			t.Errorf("what was read makes version %d, not the %d that it is", again.Version, made.Version)
		}
	})
}

func TestAISiteVersions_AreRead(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, s *harness.Server) {
		made := site(t, c, &sdk.AISiteCreate{Name: "a", Content: blocks(t, `{"type": "hero", "heading": "Only a draft"}`)})
		ok[*sdk.AISite](t)(c.AISites.Update(background, made.ID, &sdk.AISiteUpdate{Content: sdk.Set(*blocks(t, `{"type": "products"}`))}))
		list := ok[*sdk.List[sdk.AISiteVersion]](t)(c.AISites.ListVersions(background, made.Subdomain, &sdk.ListAISiteVersionsParams{}))
		require.Len(t, list.Data, 2, "the versions")
		require.EqualValues(t, 2, list.Data[0].Version, "the versions")
		require.EqualValues(t, 1, list.Data[1].Version, "the versions")
		require.Nil(t, list.Data[0].Content, "the versions")
		first := ok[*sdk.AISiteVersion](t)(c.AISites.GetVersion(background, made.ID, "1"))
		assert.Equal(t, list.Data[1].ID, first.ID, "the first version")
		assert.Equal(t, made.ID, first.AISite, "the first version")
		assert.EqualValues(t, "edited", first.Origin, "the first version")
		assert.Equal(t, "Only a draft", *first.Content.Blocks[0].Heading, "the first version")
		if !strings.Contains(first.PreviewURL, "/sites/preview/") {
			t.Errorf("the preview is at %s", first.PreviewURL)
		}
		_, err := s.SDK(t).AISites.GetVersion(background, made.ID, "1")
		refused(t, err, http.StatusNotFound, sdk.CodeResourceMissing, "")
	})
}

func TestGenerateAISite_MakesAVersionThatNobodySeesYet(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		made := site(t, c, &sdk.AISiteCreate{Name: "Ada ships"})
		version := ok[*sdk.AISiteVersion](t)(c.AISites.Generate(background, made.ID, &sdk.AISiteGeneration{Prompt: "A dark page"}))
		assert.EqualValues(t, 1, version.Version, "the version")
		assert.EqualValues(t, "generated", version.Origin, "the version")
		assert.Equal(t, "A dark page", *version.Prompt, "the version")
		assert.Equal(t, "dark", *version.Content.Theme.Mode, "the version")
		assert.NotEmpty(t, version.PreviewURL, "the version")
		still := ok[*sdk.AISite](t)(c.AISites.Get(background, made.ID))
		assert.Zero(t, still.Version, "the site")
		require.Nil(t, still.Content, "the site")
		assert.False(t, still.IsLive, "the site")
		live := ok[*sdk.AISite](t)(c.AISites.Publish(background, made.ID, &sdk.AISitePublish{Version: &version.Version}))
		assert.EqualValues(t, 1, live.Version, "the published site")
		assert.EqualValues(t, 1, *live.PublishedVersion, "the published site")
		assert.Equal(t, "Ada ships", *live.Content.Blocks[0].Heading, "the published site")
		for range 19 {
			ok[*sdk.AISiteVersion](t)(c.AISites.Generate(background, made.ID, &sdk.AISiteGeneration{Prompt: "Another"}))
		}
		_, err := c.AISites.Generate(background, made.ID, &sdk.AISiteGeneration{Prompt: "One too many"})
		var e *sdk.Error
		require.ErrorAs(t, err, &e, "the 21st page in an hour")
		assert.Equal(t, http.StatusTooManyRequests, e.Status, "the 21st page in an hour")
		assert.Equal(t, sdk.CodeRateLimitExceeded, e.Code, "the 21st page in an hour")
	})
}
