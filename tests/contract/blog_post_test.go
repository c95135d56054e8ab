package contract

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/tests/harness"
)

func post(t *testing.T, c *sdk.Client, body *sdk.BlogPostCreate) *sdk.BlogPost {
	t.Helper()
	return ok[*sdk.BlogPost](t)(c.BlogPosts.Create(background, body))
}

func TestBlogPost_IsKeptRenderedAndCleared(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		made := post(t, c, &sdk.BlogPostCreate{
			Title: "How I write", Body: new("Every *day*, " + strings.Repeat("word ", 250)), Excerpt: new("e"), CoverURL: new("https://example.com/c.png"),
			AuthorName: new("Ada"), Tags: []string{"craft", "Days"}, SEOTitle: new("s"), SEODescription: new("d"), Metadata: &sdk.Metadata{"k": "v"},
		})
		assert.Equal(t, "how-i-write", made.Slug, "the post")
		assert.Equal(t, sdk.BlogPostStatusDraft, made.Status, "the post")
		assert.Equal(t, sdk.BlogPostAccessPublic, made.Access, "the post")
		assert.Zero(t, made.Version, "the post")
		require.Nil(t, made.PublishedAt, "the post")
		assert.EqualValues(t, 2, made.ReadingMinutes, "the post")
		assert.True(t, strings.HasPrefix(*made.BodyHTML, "<p>Every <em>day</em>, word"), "the post")
		assert.True(t, slices.Equal(made.Tags, []string{"craft", "Days"}), "the post")
		same(t, ok[*sdk.BlogPost](t)(c.BlogPosts.Get(background, "how-i-write")), made)
		changed := ok[*sdk.BlogPost](t)(c.BlogPosts.Update(background, made.Slug, &sdk.BlogPostUpdate{
			Title: new("Why"), Slug: new("why"), Body: new(""), Excerpt: sdk.Null[string](), CoverURL: sdk.Null[string](), AuthorName: sdk.Null[string](),
			Tags: []string{}, SEOTitle: sdk.Null[string](), SEODescription: sdk.Null[string](), Metadata: sdk.Set(sdk.MetadataUpdate{"k": nil}),
		}))
		assert.Equal(t, "Why", changed.Title, "the post")
		assert.Equal(t, "why", changed.Slug, "the post")
		assert.Empty(t, *changed.Body, "the post")
		assert.Empty(t, *changed.BodyHTML, "the post")
		require.Nil(t, changed.Excerpt, "the post")
		require.Nil(t, changed.CoverURL, "the post")
		require.Nil(t, changed.AuthorName, "the post")
		require.Empty(t, changed.Tags, "the post")
		require.Nil(t, changed.SEOTitle, "the post")
		require.Nil(t, changed.SEODescription, "the post")
		assert.Zero(t, changed.ReadingMinutes, "the post")
		assert.Empty(t, changed.Metadata, "the post")
		for _, ref := range []string{made.ID, "how-i-write", "why"} {
			same(t, ok[*sdk.BlogPost](t)(c.BlogPosts.Get(background, ref)), changed)
		}
	})
}

func TestBlogPost_RefusesWhatItCannotBe(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, s *harness.Server) {
		theirs := ok[*sdk.Product](t)(s.SDK(t).Products.Create(background, sellable("Theirs")))
		for _, wrong := range []struct {
			body   sdk.BlogPostCreate
			status int
			code   string
			field  string
		}{
			{sdk.BlogPostCreate{Title: " "}, 422, sdk.CodeValidationFailed, "title"},
			{sdk.BlogPostCreate{Title: "x", Body: new(strings.Repeat("é", 200_001))}, 422, sdk.CodeValidationFailed, "body"},
			{sdk.BlogPostCreate{Title: "x", Body: new(strings.Repeat("> ", 21) + "x")}, 422, sdk.CodeValidationFailed, "body"},
			{sdk.BlogPostCreate{Title: "x", Tags: []string{"a", "a"}}, 422, sdk.CodeValidationFailed, "tags.1"},
			{sdk.BlogPostCreate{Title: "x", Tags: []string{" a"}}, 422, sdk.CodeValidationFailed, "tags.0"},
			{sdk.BlogPostCreate{Title: "x", Access: new(sdk.BlogPostAccessProduct)}, 422, sdk.CodeValidationFailed, "product"},
			{sdk.BlogPostCreate{Title: "x", Access: new(sdk.BlogPostAccessProduct), Product: &theirs.ID}, 404, sdk.CodeResourceMissing, "product"},
			{sdk.BlogPostCreate{Title: "x", Access: new(sdk.BlogPostAccessProduct), Product: &theirs.Slug}, 404, sdk.CodeResourceMissing, "product"},
			{sdk.BlogPostCreate{Title: "x", Status: new(sdk.BlogPostStatusPublished)}, 422, sdk.CodeValidationFailed, "body"},
		} {
			_, err := c.BlogPosts.Create(background, &wrong.body)
			refused(t, err, wrong.status, wrong.code, wrong.field)
		}
		post(t, c, &sdk.BlogPostCreate{Title: "x", Body: new(strings.Repeat("é ", 100_000))})
	})
}

func TestBlogPost_OfAProductNamesIt(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		p := ok[*sdk.Product](t)(c.Products.Create(background, sellable("Club")))
		made := post(t, c, &sdk.BlogPostCreate{Title: "x", Access: new(sdk.BlogPostAccessProduct), Product: &p.Slug})
		if made.Product.ID != p.ID {
			t.Errorf("the product is %+v", made.Product)
		}
		shown := ok[*sdk.BlogPost](t)(c.BlogPosts.Get(background, made.ID, sdk.Expand("product")))
		require.NotNil(t, shown.Product.Object, "the product")
		assert.Equal(t, "Club", shown.Product.Object.Name, "the product")
		_, err := c.BlogPosts.Update(background, made.ID, &sdk.BlogPostUpdate{Product: sdk.Null[string]()})
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "product")
		open := ok[*sdk.BlogPost](t)(c.BlogPosts.Update(background, made.ID, &sdk.BlogPostUpdate{Product: sdk.Null[string](), Access: new(sdk.BlogPostAccessCustomers)}))
		assert.Empty(t, open.Product.ID, "the post")
		assert.Equal(t, sdk.BlogPostAccessCustomers, open.Access, "the post")
	})
}

func TestBlogPostStates_FollowTheirArrows(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		made := post(t, c, &sdk.BlogPostCreate{Title: "x", Body: new("b")})
		b := c.BlogPosts
		for _, step := range []struct {
			do   func(context.Context, string, ...sdk.Option) (*sdk.BlogPost, error)
			want sdk.BlogPostStatus
		}{
			{b.Publish, sdk.BlogPostStatusPublished}, {b.Publish, sdk.BlogPostStatusPublished}, {b.Unpublish, sdk.BlogPostStatusDraft},
			{b.Archive, sdk.BlogPostStatusArchived}, {b.Unarchive, sdk.BlogPostStatusDraft}, {b.Publish, sdk.BlogPostStatusPublished}, {b.Archive, sdk.BlogPostStatusArchived},
		} {
			if got := ok[*sdk.BlogPost](t)(step.do(background, made.ID)); got.Status != step.want {
				t.Errorf("the status is %s, not %s", got.Status, step.want)
			}
		}
		for _, do := range []func(context.Context, string, ...sdk.Option) (*sdk.BlogPost, error){b.Publish, b.Unpublish} {
			_, err := do(background, made.ID)
			refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "status")
		}
	})
}

func TestBlogPostVersions_AreTheTextsThatWerePublished(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		made := post(t, c, &sdk.BlogPostCreate{Title: "One", Body: new("1"), Status: new(sdk.BlogPostStatusPublished)})
		assert.EqualValues(t, 1, made.Version, "the published post")
		require.NotNil(t, made.PublishedAt, "the published post")
		require.NotNil(t, made.URL, "the published post")
		assert.True(t, strings.HasSuffix(*made.URL, "/"+made.Slug), "the published post")
		update := func(body sdk.BlogPostUpdate, version int64) {
			t.Helper()
			if got := ok[*sdk.BlogPost](t)(c.BlogPosts.Update(background, made.ID, &body)); got.Version != version {
				t.Errorf("the version is %d, not %d", got.Version, version)
			}
		}
		update(sdk.BlogPostUpdate{Excerpt: sdk.Set("e")}, 1)
		update(sdk.BlogPostUpdate{Body: new("2")}, 2)
		update(sdk.BlogPostUpdate{Title: new("Two")}, 3)
		ok[*sdk.BlogPost](t)(c.BlogPosts.Unpublish(background, made.ID))
		update(sdk.BlogPostUpdate{Body: new("draft")}, 3)
		update(sdk.BlogPostUpdate{Body: new("2")}, 3)
		if again := ok[*sdk.BlogPost](t)(c.BlogPosts.Publish(background, made.ID)); again.Version != 3 {
			t.Errorf("the same text was published as version %d", again.Version)
		}
		list := ok[*sdk.BlogPostVersionList](t)(c.BlogPosts.ListVersions(background, made.Slug))
		var found []string
		for _, v := range list.Data {
			assert.Nil(t, v.Body, "the list")
			assert.Nil(t, v.BodyHTML, "the list")
			full := ok[*sdk.BlogPostVersion](t)(c.BlogPosts.GetVersion(background, made.ID, strconv.FormatInt(v.Version, 10)))
			found = append(found, full.Title+" "+*full.Body+" "+*full.BodyHTML)
		}
		same(t, found, []string{"Two 2 <p>2</p>\n", "One 2 <p>2</p>\n", "One 1 <p>1</p>\n"})
		_, err := c.BlogPosts.GetVersion(background, made.ID, "4")
		refused(t, err, http.StatusNotFound, sdk.CodeResourceMissing, "version")
		twin := ok[*sdk.BlogPost](t)(c.BlogPosts.Duplicate(background, made.ID))
		assert.Zero(t, twin.Version, "the twin")
		require.Nil(t, twin.PublishedAt, "the twin")
		assert.Equal(t, sdk.BlogPostStatusDraft, twin.Status, "the twin")
		assert.Equal(t, "2", *twin.Body, "the twin")
		assert.Equal(t, "two", twin.Slug, "the twin")
		ok[*sdk.Deleted](t)(c.BlogPosts.Delete(background, made.ID))
		_, err = c.BlogPosts.ListVersions(background, made.ID)
		refused(t, err, http.StatusNotFound, sdk.CodeResourceMissing, "")
	})
}

func TestListBlogPosts_FiltersAndLeavesBodiesOut(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		first := post(t, c, &sdk.BlogPostCreate{Title: "Reading room", Body: new("b"), Tags: []string{"craft"}, AuthorName: new("Grace Hopper")})
		second := post(t, c, &sdk.BlogPostCreate{Title: "Second", Body: new("b"), Status: new(sdk.BlogPostStatusPublished), Access: new(sdk.BlogPostAccessCustomers), Tags: []string{"craft", "news"}})
		for name, want := range map[string]struct {
			params sdk.ListBlogPostsParams
			ids    []string
		}{
			"all, newest first": {sdk.ListBlogPostsParams{}, []string{second.ID, first.ID}},
			"by status":         {sdk.ListBlogPostsParams{Status: new(sdk.BlogPostStatusPublished)}, []string{second.ID}},
			"by access":         {sdk.ListBlogPostsParams{Access: new(sdk.BlogPostAccessPublic)}, []string{first.ID}},
			"by tag":            {sdk.ListBlogPostsParams{Tag: new("craft")}, []string{second.ID, first.ID}},
			"by another tag":    {sdk.ListBlogPostsParams{Tag: new("news")}, []string{second.ID}},
			"by author":         {sdk.ListBlogPostsParams{Q: new("hopper")}, []string{first.ID}},
			"by none":           {sdk.ListBlogPostsParams{Tag: new("none")}, nil},
		} {
			var found []string
			for b, err := range sdk.All(background, c.BlogPosts.List, &want.params) {
				if err != nil {
					t.Fatal(err)
				}
				assert.Nil(t, b.Body, "the list shows the body")
				assert.Nil(t, b.BodyHTML, "the list shows the body")
				found = append(found, b.ID)
			}
			if !slices.Equal(found, want.ids) {
				t.Errorf("%s: %s", name, strings.Join(found, " "))
			}
		}
	})
}
