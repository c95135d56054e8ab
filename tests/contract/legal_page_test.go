package contract

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/tests/harness"
)

func legalPage(t *testing.T, c *sdk.Client, body *sdk.LegalPageCreate) *sdk.LegalPage {
	t.Helper()
	return ok[*sdk.LegalPage](t)(c.LegalPages.Create(background, body))
}

func TestLegalPage_HasAVersionForEachTextThatHeld(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		made := legalPage(t, c, &sdk.LegalPageCreate{Kind: sdk.LegalPageKindTerms, Title: "Our terms", Body: new("*1*"), Metadata: &sdk.Metadata{"k": "v"}})
		assert.Equal(t, "our-terms", made.Slug, "the page")
		assert.Equal(t, sdk.LegalPageStatusDraft, made.Status, "the page")
		assert.Zero(t, made.Version, "the page")
		require.Nil(t, made.PublishedAt, "the page")
		assert.Equal(t, "en", made.Locale, "the page")
		assert.Equal(t, "<p><em>1</em></p>\n", *made.BodyHTML, "the page")
		first := ok[*sdk.LegalPage](t)(c.LegalPages.Publish(background, made.Slug))
		assert.EqualValues(t, 1, first.Version, "the published page")
		assert.NotNil(t, first.PublishedAt, "the published page")
		ok[*sdk.LegalPage](t)(c.LegalPages.Unpublish(background, made.ID))
		again := ok[*sdk.LegalPage](t)(c.LegalPages.Publish(background, made.ID))
		assert.EqualValues(t, 1, again.Version, "the same text published")
		assert.Equal(t, *first.PublishedAt, *again.PublishedAt, "the same text published")
		second := ok[*sdk.LegalPage](t)(c.LegalPages.Update(background, made.ID, &sdk.LegalPageUpdate{Body: new("2"), Slug: new("terms"), Metadata: sdk.Set(sdk.MetadataUpdate{"k": nil})}))
		assert.EqualValues(t, 2, second.Version, "the changed page")
		assert.Equal(t, "terms", second.Slug, "the changed page")
		assert.Empty(t, second.Metadata, "the changed page")
		for _, ref := range []string{made.ID, "our-terms", "terms"} {
			same(t, ok[*sdk.LegalPage](t)(c.LegalPages.Get(background, ref)), second)
		}
		var found []string
		for _, v := range ok[*sdk.LegalPageVersionList](t)(c.LegalPages.ListVersions(background, made.ID)).Data {
			assert.Nil(t, v.Body, "the list")
			assert.Nil(t, v.BodyHTML, "the list")
			found = append(found, v.Title)
		}
		same(t, found, []string{"Our terms", "Our terms"})
		then := ok[*sdk.LegalPageVersion](t)(c.LegalPages.GetVersion(background, made.ID, "1"))
		assert.Equal(t, "*1*", *then.Body, "the first version")
		assert.Equal(t, "<p><em>1</em></p>\n", *then.BodyHTML, "the first version")
		_, err := c.LegalPages.GetVersion(background, made.ID, "3")
		refused(t, err, http.StatusNotFound, sdk.CodeResourceMissing, "version")
		ok[*sdk.Deleted](t)(c.LegalPages.Delete(background, made.ID))
		_, err = c.LegalPages.GetVersion(background, made.ID, "1")
		refused(t, err, http.StatusNotFound, sdk.CodeResourceMissing, "")
	})
}

func TestLegalPage_OfAKindAndLocaleHoldsAlone(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, s *harness.Server) {
		published := func(c *sdk.Client, kind sdk.LegalPageKind, locale string) (*sdk.LegalPage, error) {
			return c.LegalPages.Create(background, &sdk.LegalPageCreate{Kind: kind, Title: "x", Body: new("b"), Locale: &locale, Status: new(sdk.LegalPageStatusPublished)})
		}
		for _, kind := range []sdk.LegalPageKind{
			sdk.LegalPageKindTerms, sdk.LegalPageKindPrivacy, sdk.LegalPageKindRefundPolicy, sdk.LegalPageKindCookies, sdk.LegalPageKindImprint, sdk.LegalPageKindLicense,
		} {
			first := ok[*sdk.LegalPage](t)(published(c, kind, "en"))
			ok[*sdk.LegalPage](t)(published(c, kind, "de"))
			ok[*sdk.LegalPage](t)(published(s.SDK(t), kind, "en"))
			_, err := published(c, kind, "en")
			refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "status")
			twin := ok[*sdk.LegalPage](t)(c.LegalPages.Duplicate(background, first.ID))
			assert.Zero(t, twin.Version, "the twin")
			assert.Equal(t, sdk.LegalPageStatusDraft, twin.Status, "the twin")
			assert.NotEqual(t, first.Slug, twin.Slug, "the twin")
			_, err = c.LegalPages.Publish(background, twin.ID)
			refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "status")
			ok[*sdk.LegalPage](t)(c.LegalPages.Archive(background, first.ID))
			ok[*sdk.LegalPage](t)(c.LegalPages.Publish(background, twin.ID))
		}
		ok[*sdk.LegalPage](t)(published(c, sdk.LegalPageKindCustom, "en"))
		ok[*sdk.LegalPage](t)(published(c, sdk.LegalPageKindCustom, "en"))
	})
}

func TestLegalPageStates_FollowTheirArrows(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		l := c.LegalPages
		empty := legalPage(t, c, &sdk.LegalPageCreate{Kind: sdk.LegalPageKindTerms, Title: "x"})
		_, err := l.Publish(background, empty.ID)
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "body")
		made := legalPage(t, c, &sdk.LegalPageCreate{Kind: sdk.LegalPageKindTerms, Title: "x", Body: new("b")})
		for _, step := range []struct {
			do   func(context.Context, string, ...sdk.Option) (*sdk.LegalPage, error)
			want sdk.LegalPageStatus
		}{
			{l.Publish, sdk.LegalPageStatusPublished}, {l.Publish, sdk.LegalPageStatusPublished}, {l.Unpublish, sdk.LegalPageStatusDraft},
			{l.Archive, sdk.LegalPageStatusArchived}, {l.Unarchive, sdk.LegalPageStatusDraft}, {l.Archive, sdk.LegalPageStatusArchived},
		} {
			if got := ok[*sdk.LegalPage](t)(step.do(background, made.ID)); got.Status != step.want {
				t.Errorf("the status is %s, not %s", got.Status, step.want)
			}
		}
		for _, do := range []func(context.Context, string, ...sdk.Option) (*sdk.LegalPage, error){l.Publish, l.Unpublish} {
			_, err := do(background, made.ID)
			refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "status")
		}
	})
}

func TestListLegalPages_FiltersAndLeavesBodiesOut(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		first := legalPage(t, c, &sdk.LegalPageCreate{Kind: sdk.LegalPageKindTerms, Title: "Terms of use", Body: new("b")})
		second := legalPage(t, c, &sdk.LegalPageCreate{Kind: sdk.LegalPageKindPrivacy, Title: "Privacy", Body: new("b"), Status: new(sdk.LegalPageStatusPublished)})
		for name, want := range map[string]struct {
			params sdk.ListLegalPagesParams
			ids    []string
		}{
			"all, newest first": {sdk.ListLegalPagesParams{}, []string{second.ID, first.ID}},
			"by status":         {sdk.ListLegalPagesParams{Status: new(sdk.LegalPageStatusPublished)}, []string{second.ID}},
			"by kind":           {sdk.ListLegalPagesParams{Kind: new(sdk.LegalPageKindTerms)}, []string{first.ID}},
			"by title":          {sdk.ListLegalPagesParams{Q: new("USE")}, []string{first.ID}},
		} {
			var found []string
			for l, err := range sdk.All(background, c.LegalPages.List, &want.params) {
				if err != nil {
					t.Fatal(err)
				}
				assert.Nil(t, l.Body, "the list shows the body")
				assert.Nil(t, l.BodyHTML, "the list shows the body")
				found = append(found, l.ID)
			}
			if !slices.Equal(found, want.ids) {
				t.Errorf("%s: %s", name, strings.Join(found, " "))
			}
		}
	})
}

func TestGetLegalPageVersion_TakesPlainDigits(t *testing.T) {
	onEach(t, func(t *testing.T, _ *sdk.Client, s *harness.Server) {
		w := newWorld(t, s)
		page := w.Must(t, http.MethodPost, "/v1/legal_pages", map[string]any{"title": "Terms", "body": "1", "kind": "terms"})
		path := "/v1/legal_pages/" + page["id"].(string) + "/versions/"
		w.Do(t, http.MethodGet, path+"1", nil).Fault(t, http.StatusNotFound, "resource_missing") // it is a draft
		for _, version := range []string{"01", "+1", "-0", "1.0", "one"} {
			if f := w.Do(t, http.MethodGet, path+version, nil).Fault(t, http.StatusBadRequest, "bad_request"); f.Param != "version" {
				t.Errorf("%s is refused with %q", version, f.Param)
			}
		}
	})
}

// TestPublish_ByManyAtOnceIsOneVersion has callers publish the same text at the same time, and two pages of which one alone can be published.
func TestPublish_ByManyAtOnceIsOneVersion(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		atOnce := func(n int, do func(i int) error) (errs []error) {
			results := make(chan error, n)
			for i := range n {
				go func() { results <- do(i) }()
			}
			for range n {
				if err := <-results; err != nil {
					errs = append(errs, err)
				}
			}
			return errs
		}
		post := ok[*sdk.BlogPost](t)(c.BlogPosts.Create(background, &sdk.BlogPostCreate{Title: "Tides", Body: new("b")}))
		page := ok[*sdk.LegalPage](t)(c.LegalPages.Create(background, &sdk.LegalPageCreate{Kind: "terms", Title: "Terms", Body: new("b")}))
		errs := atOnce(12, func(i int) error {
			var err error
			if i%2 == 0 {
				_, err = c.BlogPosts.Publish(background, post.Slug)
			} else {
				_, err = c.LegalPages.Publish(background, page.Slug)
			}
			return err
		})
		post = ok[*sdk.BlogPost](t)(c.BlogPosts.Get(background, post.ID))
		assert.LessOrEqual(t, len(errs), 0)
		assert.EqualValues(t, 1, post.Version)
		if all := ok[*sdk.LegalPageVersionList](t)(c.LegalPages.ListVersions(background, page.ID)).Data; len(all) != 1 {
			t.Errorf("the page has %d versions", len(all))
		}

		var rivals []string
		for range 4 {
			rivals = append(rivals, ok[*sdk.LegalPage](t)(c.LegalPages.Create(background, &sdk.LegalPageCreate{Kind: "privacy", Title: "Privacy", Body: new("b")})).ID)
		}
		errs = atOnce(len(rivals), func(i int) error {
			_, err := c.LegalPages.Publish(background, rivals[i])
			return err
		})
		if len(errs) != len(rivals)-1 {
			t.Errorf("%d of %d are refused: %v", len(errs), len(rivals), errs)
		}
		for _, err := range errs {
			refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "status")
		}
	})
}
