package adwalk

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tillwright/tillwright/sdk"
)

// audience makes an audience, with some changes to a customer list.
func (w *World) audience(change object) (*sdk.AdAudience, error) {
	body := object{"account_id": w.Channel, "ad_account_id": w.AdAccount, "name": "Walk", "type": "customer_list"}
	for name, value := range change {
		body[name] = value
	}
	made := &sdk.AdAudienceCreate{}
	into(body, made)
	return w.AdAudiences.Create(background, made)
}

// buyers makes a customer list of so many people.
func (w *World) buyers(t *testing.T, people int) string {
	t.Helper()
	list, err := w.audience(nil)
	if err == nil && people > 0 {
		_, err = w.AdAudiences.UploadUsers(background, list.ID, known(people))
	}
	if err != nil {
		t.Fatalf("%s makes no customer list: %s", w.Can.Platform, said(err))
	}
	return list.ID
}

// known are so many people with an address.
func known(people int) *sdk.AdAudienceUsers {
	users := make([]sdk.AdAudienceUser, people)
	for i := range users {
		users[i].Email = new(fmt.Sprintf("walker-%d@private.example", i))
	}
	return &sdk.AdAudienceUsers{Users: users}
}

func (w *World) audiences(t *testing.T) {
	for kind, change := range map[string]object{"customer_list": {}, "retargeting": {"pixel_id": w.Pixel}} {
		change["type"] = kind
		_, err := w.audience(change)
		w.is(t, has(w.Can.AudienceTypes, kind), "type", "audiences of the type "+kind, err)
	}
	if has(w.Can.AudienceTypes, "retargeting") {
		for days, can := range map[int]bool{1: true, 180: true, 181: false} {
			_, err := w.audience(object{"type": "retargeting", "pixel_id": w.Pixel, "retention_days": days})
			w.is(t, can, "retention_days", fmt.Sprint("visitors of ", days, " days"), err)
		}
	}
	list := w.buyers(t, 400)
	for identifier, user := range map[string]sdk.AdAudienceUser{"email": {Email: new("one@private.example")}, "phone": {Phone: new("+15551234567")}} {
		one := &sdk.AdAudienceUsers{Users: []sdk.AdAudienceUser{user}}
		_, err := w.AdAudiences.UploadUsers(background, list, one)
		w.is(t, has(w.Can.AudienceUsers.Identifiers, identifier), "users", "people by their "+identifier, err)
	}
	_, err := w.AdAudiences.RemoveUsers(background, list, known(1))
	w.is(t, w.Can.AudienceUsers.Removal, "users", "the removal of people", err)
}

func (w *World) lookalikes(t *testing.T) {
	source := w.buyers(t, 400)
	like := func(change object) error {
		body := object{"type": "lookalike", "source_audience_id": source, "country": "US", "ratio": 0.05}
		for name, value := range change {
			body[name] = value
		}
		_, err := w.audience(body)
		return err
	}
	if !has(w.Can.AudienceTypes, "lookalike") {
		w.no(t, "type", "lookalikes", like(nil))
		return
	}
	countries := w.Can.AudienceUsers.LookalikeCountries
	for _, country := range countries {
		w.yes(t, "lookalikes in "+country, like(object{"country": strings.ToLower(country)}))
	}
	w.is(t, len(countries) == 0, "country", "lookalikes in DE", like(object{"country": "DE"}))
	w.yes(t, "lookalikes of the widest kind", like(object{"ratio": w.Can.AudienceUsers.LookalikeRatioMax}))
	w.no(t, "ratio", "wider lookalikes", like(object{"ratio": 0.21}))
	for _, size := range []int{0, 3} {
		w.no(t, "source_audience_id", fmt.Sprint("lookalikes of ", size, " people"), like(object{"source_audience_id": w.buyers(t, size)}))
	}
}
