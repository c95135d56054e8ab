package contract

import (
	"net/http"
	"testing"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/tests/harness"
)

func TestAttachExperience_IsOneRelationWithTheDeliverables(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		club := experience(t, c, &sdk.ExperienceCreate{Name: "Club", Type: sdk.ExperienceTypeLink, Content: &sdk.ExperienceContent{URL: new("https://example.com")}})
		guide := delivering(t, c)
		delivers := func(want ...string) {
			t.Helper()
			var got []string
			for _, d := range ok[*sdk.Product](t)(c.Products.Get(background, guide.ID)).Deliverables {
				got = append(got, *d.Ref)
			}
			same(t, got, want)
		}
		link := "https://example.com/chat"
		_, err := c.Experiences.Attach(background, club.ID, &sdk.ExperienceProduct{Product: guide.ID})
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "deliverables")
		ok[*sdk.Experience](t)(c.Experiences.Publish(background, club.ID))
		for range 2 {
			if e := ok[*sdk.Experience](t)(c.Experiences.Attach(background, club.Slug, &sdk.ExperienceProduct{Product: guide.Slug})); e.ID != club.ID {
				t.Errorf("the attached experience is %+v", e)
			}
			delivers(link, club.ID)
		}
		_, err = c.Experiences.Unpublish(background, club.ID)
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "base")
		for range 2 {
			ok[*sdk.Experience](t)(c.Experiences.Detach(background, club.Slug, &sdk.ExperienceProduct{Product: guide.Slug}))
			delivers(link)
		}
		ok[*sdk.Experience](t)(c.Experiences.Unpublish(background, club.ID))

		for _, do := range []func() error{
			func() error {
				_, err := c.Experiences.Attach(background, club.ID, &sdk.ExperienceProduct{Product: "nothing"})
				return err
			},
			func() error {
				_, err := c.Experiences.Detach(background, club.ID, &sdk.ExperienceProduct{Product: "nothing"})
				return err
			},
		} {
			refused(t, do(), http.StatusNotFound, sdk.CodeResourceMissing, "product")
		}
	})
}

func TestAttachExperience_KeepsToTheLengthOfTheList(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		club := experience(t, c, &sdk.ExperienceCreate{Name: "Club", Type: sdk.ExperienceTypeLink})
		full := sellable("Guide")
		for range 100 {
			full.Deliverables = append(full.Deliverables, sdk.Deliverable{Type: "link", Ref: new("https://example.com/chat")})
		}
		_, err := c.Experiences.Attach(background, club.ID, &sdk.ExperienceProduct{Product: ok[*sdk.Product](t)(c.Products.Create(background, full)).ID})
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "product")
	})
}
