package e2e

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/tests/harness"
	"github.com/tillwright/tillwright/tests/harness/browser"
	"github.com/tillwright/tillwright/tests/harness/database"
	"github.com/tillwright/tillwright/tests/harness/metafake"
)

// TestMeta_IsToldOfLeadsWhoAgreed has two visitors come to a site by an ad, of whom one ticks the box in its form. The network hears of that one's
// lead, with the ad that they clicked, and of nothing else.
func TestMeta_IsToldOfLeadsWhoAgreed(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		a := newAdvertiser(t, url, sdk.AdPlatformFacebook)
		meta, pixel := a.stage.(onMeta), "1015000000000777"
		meta.AddPixel(a.adAccount, pixel, "Shop")
		_, err := a.AdConversions.CreateDestination(background, &sdk.ConversionDestinationCreate{
			AccountID: a.channel, AdAccountID: a.adAccount, PixelID: pixel, Events: []sdk.ConversionEventKind{sdk.ConversionEventKindLead},
		})
		require.NoError(t, err)
		_, err = a.Account.Update(background, &sdk.AccountUpdate{LeadAdsConsent: new(true)})
		require.NoError(t, err)
		var content sdk.AISiteContent
		require.NoError(t, json.Unmarshal([]byte(`{"blocks": [{"type": "lead_form", "heading": "Join"}]}`), &content))
		site, err := a.AISites.Create(background, &sdk.AISiteCreate{Name: "Ships", IsLive: new(true), Content: &content})
		require.NoError(t, err)

		page := browser.Open(t, nil)
		for _, visitor := range []string{"silent@private.example", "agrees@private.example"} {
			page.Go(site.URL + "?fbclid=IwAR0-" + visitor[:6])
			page.WaitText("Tell Meta (Facebook, Instagram) that I left my address here")
			assert.Equal(t, "false", page.Value(`document.querySelector('[name=ads_consent]').checked`), "nobody but the visitor ticks it")
			if visitor == "agrees@private.example" {
				page.Click("[name=ads_consent]")
			}
			time.Sleep(2 * time.Second) // programs are faster
			page.Fill("[name=email]", visitor)
			page.Click("button")
			page.WaitText("this has arrived")
		}
		assert.Empty(t, page.Refused(), "the browser refused something")

		leads, err := a.Leads.List(background, &sdk.ListLeadsParams{})
		require.NoError(t, err)
		require.Len(t, leads.Data, 2)
		var events []metafake.Event
		require.Eventually(t, func() bool { events = meta.Events(pixel); return len(events) > 0 }, harness.Patience, 50*time.Millisecond)
		time.Sleep(2 * time.Second) // for what must not come
		events = meta.Events(pixel)
		require.Len(t, events, 1)
		assert.Equal(t, []string{"Lead", leads.Data[0].ID, "website", site.URL}, []string{events[0].Name, events[0].ID, events[0].Source, events[0].URL})
		assert.Contains(t, fmt.Sprint(events[0].User["fbc"]), ".IwAR0-agrees")
		assert.Contains(t, events[0].User["client_user_agent"], "Mozilla/5.0")
		assert.Nil(t, events[0].Custom["value"])
		assert.Empty(t, meta.Refused())
		assert.NotContains(t, a.heard.text(), "silent")
		assert.NotContains(t, a.heard.text(), "private.example")
		assert.NotContains(t, a.heard.text(), "_secret_")
	})
}
