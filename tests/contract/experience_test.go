package contract

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/tests/harness"
)

func experience(t *testing.T, c *sdk.Client, body *sdk.ExperienceCreate) *sdk.Experience {
	t.Helper()
	return ok[*sdk.Experience](t)(c.Experiences.Create(background, body))
}

// same fails the test if two values are not the same on the wire.
func same(t *testing.T, got, want any) {
	t.Helper()
	g, w := ok[[]byte](t)(json.Marshal(got)), ok[[]byte](t)(json.Marshal(want))
	if string(g) != string(w) {
		t.Errorf("%s is not %s", g, w)
	}
}

// completeContents are contents of every type that can be published.
func completeContents() map[sdk.ExperienceType]sdk.ExperienceContent {
	starts := sdk.Time("2026-12-01T18:00:00.000Z")
	return map[sdk.ExperienceType]sdk.ExperienceContent{
		sdk.ExperienceTypeCourse: {Modules: []sdk.ExperienceModule{{Title: "One", Lessons: []sdk.ExperienceLesson{
			{Title: "Begin", Body: new("# Hello"), VideoURL: new("https://videos.example.com/1")}, {Title: "End"},
		}}}},
		sdk.ExperienceTypeCommunity: {URL: new("https://chat.example.com"), Platform: new("discord")},
		sdk.ExperienceTypeLink:      {URL: new("https://example.com/secret")},
		sdk.ExperienceTypeEvent:     {StartsAt: &starts, Timezone: new("Europe/Berlin"), Location: new("Hall 3")},
		sdk.ExperienceTypeEmbed:     {URL: new("https://www.youtube.com/embed/x")},
	}
}

func TestExperience_OfEveryTypeIsKeptAndPublished(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		for kind, content := range completeContents() {
			made := experience(t, c, &sdk.ExperienceCreate{Name: "The " + string(kind), Type: kind, Content: &content})
			assert.Equal(t, "the-"+string(kind), made.Slug, "the new experience")
			assert.Equal(t, sdk.ExperienceStatusDraft, made.Status, "the new experience")
			assert.Equal(t, sdk.ExperienceAccessPurchase, made.Access, "the new experience")
			same(t, made.Content, content)
			published := ok[*sdk.Experience](t)(c.Experiences.Publish(background, made.Slug))
			assert.Equal(t, made.ID, published.ID, "the published experience")
			assert.Equal(t, sdk.ExperienceStatusPublished, published.Status, "the published experience")
		}
	})
}

func TestExperience_HasTheContentOfItsType(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		starts := sdk.Time("2026-12-01T18:00:00.000Z")
		for _, wrong := range []struct {
			kind    sdk.ExperienceType
			content sdk.ExperienceContent
			field   string
		}{
			{sdk.ExperienceTypeCourse, sdk.ExperienceContent{URL: new("https://example.com")}, "content.url"},
			{sdk.ExperienceTypeLink, sdk.ExperienceContent{URL: new("javascript:alert(1)")}, "content.url"},
			{sdk.ExperienceTypeLink, sdk.ExperienceContent{Platform: new("discord")}, "content.platform"},
			{sdk.ExperienceTypeEvent, sdk.ExperienceContent{StartsAt: &starts, EndsAt: &starts}, "content.ends_at"},
			{sdk.ExperienceTypeEvent, sdk.ExperienceContent{Timezone: new("Middle/Earth")}, "content.timezone"},
			{sdk.ExperienceTypeEmbed, sdk.ExperienceContent{URL: new("https://youtube.com.example.net/x")}, "content.url"},
			{sdk.ExperienceTypeEmbed, sdk.ExperienceContent{URL: new("http://youtube.com/x")}, "content.url"},
			{sdk.ExperienceTypeCourse, sdk.ExperienceContent{Modules: []sdk.ExperienceModule{{Title: " "}}}, "content.modules.0.title"},
			{sdk.ExperienceTypeCourse, sdk.ExperienceContent{Modules: []sdk.ExperienceModule{{Title: "a", Lessons: []sdk.ExperienceLesson{{Title: "\t"}}}}}, "content.modules.0.lessons.0.title"},
		} {
			_, err := c.Experiences.Create(background, &sdk.ExperienceCreate{Name: "x", Type: wrong.kind, Content: &wrong.content})
			refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, wrong.field)
		}
		for kind, field := range map[sdk.ExperienceType]string{
			sdk.ExperienceTypeCourse: "content.modules", sdk.ExperienceTypeCommunity: "content.platform", sdk.ExperienceTypeLink: "content.url",
			sdk.ExperienceTypeEvent: "content.starts_at", sdk.ExperienceTypeEmbed: "content.url",
		} {
			draft := experience(t, c, &sdk.ExperienceCreate{Name: "empty", Type: kind})
			_, err := c.Experiences.Publish(background, draft.ID)
			refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, field)
		}
	})
}

func TestUpdateExperience_ReplacesTheContentAndClearsFields(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		made := experience(t, c, &sdk.ExperienceCreate{
			Name: "Readers", Type: sdk.ExperienceTypeLink, Content: &sdk.ExperienceContent{URL: new("https://example.com")}, Description: new("d"),
			CoverURL: new("https://example.com/c.png"), Access: new(sdk.ExperienceAccessPublic), Position: new(int64(3)), Metadata: &sdk.Metadata{"k": "v"},
		})
		_, err := c.Experiences.Update(background, made.ID, &sdk.ExperienceUpdate{Type: new(sdk.ExperienceTypeCourse)})
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "content.url")
		event := completeContents()[sdk.ExperienceTypeEvent]
		changed := ok[*sdk.Experience](t)(c.Experiences.Update(background, made.Slug, &sdk.ExperienceUpdate{
			Name: new("Meeting"), Slug: new("meeting"), Type: new(sdk.ExperienceTypeEvent), Content: &event, Description: sdk.Null[string](),
			CoverURL: sdk.Null[string](), Position: new(int64(1)), Status: new(sdk.ExperienceStatusPublished),
		}))
		same(t, changed.Content, event)
		assert.Equal(t, "Meeting", changed.Name, "the experience")
		require.Nil(t, changed.Description, "the experience")
		require.Nil(t, changed.CoverURL, "the experience")
		assert.EqualValues(t, 1, changed.Position, "the experience")
		assert.Equal(t, sdk.ExperienceStatusPublished, changed.Status, "the experience")
		for _, ref := range []string{"readers", "meeting", made.ID} {
			same(t, ok[*sdk.Experience](t)(c.Experiences.Get(background, ref)), changed)
		}
		_, err = c.Experiences.Update(background, made.ID, &sdk.ExperienceUpdate{Content: &sdk.ExperienceContent{}})
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "content.starts_at")
	})
}

func TestExperienceStates_FollowTheirArrows(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		made := experience(t, c, &sdk.ExperienceCreate{Name: "x", Type: sdk.ExperienceTypeLink, Content: &sdk.ExperienceContent{URL: new("https://example.com")}})
		e := c.Experiences
		for _, step := range []struct {
			do   func(context.Context, string, ...sdk.Option) (*sdk.Experience, error)
			want sdk.ExperienceStatus
		}{
			{e.Publish, sdk.ExperienceStatusPublished}, {e.Publish, sdk.ExperienceStatusPublished}, {e.Unpublish, sdk.ExperienceStatusDraft},
			{e.Archive, sdk.ExperienceStatusArchived}, {e.Archive, sdk.ExperienceStatusArchived}, {e.Unarchive, sdk.ExperienceStatusDraft},
			{e.Publish, sdk.ExperienceStatusPublished}, {e.Archive, sdk.ExperienceStatusArchived},
		} {
			if got := ok[*sdk.Experience](t)(step.do(background, made.ID)); got.Status != step.want {
				t.Errorf("the status is %s, not %s", got.Status, step.want)
			}
		}
		for _, refusedStep := range []func(context.Context, string, ...sdk.Option) (*sdk.Experience, error){e.Publish, e.Unpublish} {
			_, err := refusedStep(background, made.ID)
			refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "status")
		}
		_, err := e.Update(background, made.ID, &sdk.ExperienceUpdate{Status: new(sdk.ExperienceStatusPublished)})
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "status")
	})
}

func TestDuplicateAndDeleteExperience(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		content := completeContents()[sdk.ExperienceTypeCourse]
		made := experience(t, c, &sdk.ExperienceCreate{Name: "Course", Type: sdk.ExperienceTypeCourse, Content: &content, Status: new(sdk.ExperienceStatusPublished), Position: new(int64(7))})
		twin := ok[*sdk.Experience](t)(c.Experiences.Duplicate(background, made.Slug))
		assert.NotEqual(t, made.ID, twin.ID, "the twin")
		assert.Equal(t, "course-2", twin.Slug, "the twin")
		assert.Equal(t, sdk.ExperienceStatusDraft, twin.Status, "the twin")
		assert.EqualValues(t, 7, twin.Position, "the twin")
		same(t, twin.Content, content)
		gone := ok[*sdk.Deleted](t)(c.Experiences.Delete(background, made.Slug))
		assert.Equal(t, made.ID, gone.ID, "the confirmation")
		assert.Equal(t, "experience", gone.Object, "the confirmation")
		_, err := c.Experiences.Get(background, "course")
		refused(t, err, http.StatusNotFound, sdk.CodeResourceMissing, "")
		if again := experience(t, c, &sdk.ExperienceCreate{Name: "Course", Type: sdk.ExperienceTypeLink}); again.Slug != "course" {
			t.Errorf("the freed slug is %s", again.Slug)
		}
	})
}

func TestListExperiences_Filters(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		link := experience(t, c, &sdk.ExperienceCreate{Name: "Reading room", Type: sdk.ExperienceTypeLink, Access: new(sdk.ExperienceAccessPublic)})
		course := experience(t, c, &sdk.ExperienceCreate{Name: "Course", Type: sdk.ExperienceTypeCourse, Status: new(sdk.ExperienceStatusArchived), Metadata: &sdk.Metadata{"lang": "de"}})
		for name, want := range map[string]struct {
			params sdk.ListExperiencesParams
			ids    []string
		}{
			"all, newest first": {sdk.ListExperiencesParams{}, []string{course.ID, link.ID}},
			"oldest first":      {sdk.ListExperiencesParams{Sort: new("created_at")}, []string{link.ID, course.ID}},
			"by type":           {sdk.ListExperiencesParams{Type: new(sdk.ExperienceTypeLink)}, []string{link.ID}},
			"by status":         {sdk.ListExperiencesParams{Status: new(sdk.ExperienceStatusArchived)}, []string{course.ID}},
			"by access":         {sdk.ListExperiencesParams{Access: new(sdk.ExperienceAccessPublic)}, []string{link.ID}},
			"by name":           {sdk.ListExperiencesParams{Q: new("ROOM")}, []string{link.ID}},
			"by metadata":       {sdk.ListExperiencesParams{Metadata: sdk.MetadataFilter{"lang": "de"}}, []string{course.ID}},
			"by neither":        {sdk.ListExperiencesParams{Type: new(sdk.ExperienceTypeEvent)}, nil},
		} {
			var found []string
			for e, err := range sdk.All(background, c.Experiences.List, &want.params) {
				if err != nil {
					t.Fatal(err)
				}
				found = append(found, e.ID)
			}
			if !slices.Equal(found, want.ids) {
				t.Errorf("%s: %s", name, strings.Join(found, " "))
			}
		}
	})
}
