package contract

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"

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
		if made.Slug != "our-terms" || made.Status != sdk.LegalPageStatusDraft || made.Version != 0 || made.PublishedAt != nil || made.Locale != "en" || *made.BodyHTML != "<p><em>1</em></p>\n" {
			t.Errorf("the page is %+v", made)
		}
		first := ok[*sdk.LegalPage](t)(c.LegalPages.Publish(background, made.Slug))
		if first.Version != 1 || first.PublishedAt == nil {
			t.Errorf("the published page is %+v", first)
		}
		ok[*sdk.LegalPage](t)(c.LegalPages.Unpublish(background, made.ID))
		again := ok[*sdk.LegalPage](t)(c.LegalPages.Publish(background, made.ID))
		if again.Version != 1 || *again.PublishedAt != *first.PublishedAt {
			t.Errorf("the same text published again is %+v", again)
		}
		second := ok[*sdk.LegalPage](t)(c.LegalPages.Update(background, made.ID, &sdk.LegalPageUpdate{Body: new("2"), Slug: new("terms"), Metadata: sdk.Set(sdk.MetadataUpdate{"k": nil})}))
		if second.Version != 2 || second.Slug != "terms" || len(second.Metadata) != 0 {
			t.Errorf("the changed page is %+v", second)
		}
		for _, ref := range []string{made.ID, "our-terms", "terms"} {
			same(t, ok[*sdk.LegalPage](t)(c.LegalPages.Get(background, ref)), second)
		}
		var found []string
		for _, v := range ok[*sdk.LegalPageVersionList](t)(c.LegalPages.ListVersions(background, made.ID)).Data {
			if v.Body != nil || v.BodyHTML != nil {
				t.Errorf("the list shows %+v", v)
			}
			found = append(found, v.Title)
		}
		same(t, found, []string{"Our terms", "Our terms"})
		if then := ok[*sdk.LegalPageVersion](t)(c.LegalPages.GetVersion(background, made.ID, "1")); *then.Body != "*1*" || *then.BodyHTML != "<p><em>1</em></p>\n" {
			t.Errorf("the first version is %+v", then)
		}
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
			if twin.Version != 0 || twin.Status != sdk.LegalPageStatusDraft || twin.Slug == first.Slug {
				t.Errorf("the twin is %+v", twin)
			}
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
				if l.Body != nil || l.BodyHTML != nil {
					t.Errorf("the list shows the body of %+v", l)
				}
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
		if post = ok[*sdk.BlogPost](t)(c.BlogPosts.Get(background, post.ID)); len(errs) > 0 || post.Version != 1 {
			t.Errorf("the post has version %d: %v", post.Version, errs)
		}
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
