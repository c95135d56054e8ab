package e2e

import (
	"fmt"
	"path/filepath"

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

// TestMeta_IsToldOfWhoAgreed has two buyers come by an ad, of whom one ticks the box. The network hears of that one's purchase, with the ad
// that they clicked, and of nothing else.
func TestMeta_IsToldOfWhoAgreed(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		a := newAdvertiser(t, url, sdk.AdPlatformFacebook)
		meta, pixel := a.stage.(onMeta), "1015000000000777"
		meta.AddPixel(a.adAccount, pixel, "Shop")
		_, err := a.AdConversions.CreateDestination(background, &sdk.ConversionDestinationCreate{
			AccountID: a.channel, AdAccountID: a.adAccount, PixelID: pixel, Events: []sdk.ConversionEventKind{sdk.ConversionEventKindPurchase},
		})
		require.NoError(t, err)
		_, err = a.Account.Update(background, &sdk.AccountUpdate{CheckoutAdsConsent: new(true)})
		require.NoError(t, err)
		p, err := a.Products.Create(background, &sdk.ProductCreate{
			Name: "Guide", Status: new(sdk.ProductStatusActive), PriceVariants: []sdk.ProductPriceVariant{{Amount: new(int64(1900)), Currency: new("usd")}},
		})
		require.NoError(t, err)
		link, err := a.CheckoutLinks.Create(background, &sdk.CheckoutLinkCreate{PriceVariants: []string{p.PriceVariants[0].ID}})
		require.NoError(t, err)

		page := browser.Open(t, nil)
		buy := func(email, card string) {
			page.Fill("#email", email)
			page.Fill("#card_number", card)
			page.Fill("#card_expiry", "12/99")
			page.Fill("#card_cvc", "123")
			page.Click("button.pay")
		}
		ticked := func() string { return page.Value(`document.querySelector('#ads_consent').checked`) }
		for _, buyer := range []string{"silent@private.example", "agrees@private.example"} {
			page.Go(link.URL + "?fbclid=IwAR0-" + buyer[:6])
			page.WaitText("Tell Meta (Facebook, Instagram) of this purchase")
			assert.Equal(t, "false", ticked(), "nobody but the buyer ticks it")
			page.Look(filepath.Join(t.TempDir(), "page.png"), 360)
			assert.Equal(t, "360", page.Value(`document.documentElement.scrollWidth`))
			if buyer == "agrees@private.example" {
				page.Click("label[for=ads_consent]")
				buy(buyer, "4000000000000002")
				page.WaitText("declined")
				page.Wait(`document.querySelector('#ads_consent')`) // which comes after that
				assert.Equal(t, "true", ticked(), "what the buyer ticked")
			}
			buy(buyer, "4242424242424242")
			page.WaitText("Thank you")
		}
		assert.Empty(t, page.Refused(), "the browser refused something")

		orders, err := a.Orders.List(background, &sdk.ListOrdersParams{})
		require.NoError(t, err)
		require.Len(t, orders.Data, 2)
		var events []metafake.Event
		require.Eventually(t, func() bool { events = meta.Events(pixel); return len(events) > 0 }, harness.Patience, 50*time.Millisecond)
		time.Sleep(2 * time.Second) // for what must not come
		events = meta.Events(pixel)
		require.Len(t, events, 1)
		assert.Equal(t, []string{"Purchase", orders.Data[0].ID, "website", link.URL}, []string{events[0].Name, events[0].ID, events[0].Source, events[0].URL})
		assert.Contains(t, fmt.Sprint(events[0].User["fbc"]), ".IwAR0-agrees")
		assert.Contains(t, events[0].User["client_user_agent"], "Mozilla/5.0")
		assert.Equal(t, "19.00", fmt.Sprint(events[0].Custom["value"]))
		assert.Empty(t, meta.Refused())
		assert.NotContains(t, a.heard.text(), "silent")
		assert.NotContains(t, a.heard.text(), "private.example")
		assert.NotContains(t, a.heard.text(), "_secret_")
	})
}
