package contract

import (
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/tests/harness"
	"github.com/tillwright/tillwright/tests/harness/database"
)

// clicked is the visit of somebody who came by an ad.
func clicked() *sdk.AdsVisit {
	return &sdk.AdsVisit{
		PageURL: new("https://ada.example/guide"), ClickIds: &sdk.ClickIDs{Fbclid: new("IwAR0_x"), Epik: new("dj0yJnU9")},
		ClientIP: new("203.0.113.7"), UserAgent: new("Mozilla/5.0"),
	}
}

// visits is how many visits a database keeps.
func visits(t *testing.T, url string) int {
	t.Helper()
	return len(harness.OpenDatabase(t, url).Strings(t, `SELECT id FROM checkouts WHERE ads_visit IS NOT NULL`))
}

// Nothing of a visit is kept that its buyer did not agree to, at every door.
func TestCheckout_KeepsAVisitWithConsentAlone(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		s := boot(t, url)
		c := s.SDK(t)
		guide := onSale(t, c, 1900)
		silent := checkout(t, c, "ada@example.com", guide)
		if silent.AdsConsent {
			t.Error("nobody was asked")
		}
		for _, consent := range []*bool{nil, new(false)} {
			_, err := c.Checkouts.Create(background, &sdk.CheckoutCreate{LineItems: lines(guide), AdsConsent: consent, AdsVisit: clicked()})
			refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "ads_visit")
			_, err = c.Checkouts.Update(background, silent.ID, &sdk.CheckoutUpdate{AdsConsent: consent, AdsVisit: sdk.Set(*clicked())})
			refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "ads_visit")
			_, err = c.PublicCheckouts.Update(background, silent.ClientSecret, &sdk.PublicCheckoutUpdate{AdsConsent: consent, AdsVisit: sdk.Set(*clicked())})
			refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "ads_visit")
			confirm := by("pm_card_visa")
			confirm.AdsConsent, confirm.AdsVisit = consent, clicked()
			_, err = c.Checkouts.Confirm(background, silent.ID, confirm)
			refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "ads_visit")
		}
		if n := visits(t, url); n != 0 {
			t.Fatalf("%d visits are kept without consent", n)
		}

		agreed := ok[*sdk.PublicCheckout](t)(c.PublicCheckouts.Update(background, silent.ClientSecret, &sdk.PublicCheckoutUpdate{AdsConsent: new(true), AdsVisit: sdk.Set(*clicked())}))
		assert.True(t, agreed.AdsConsent, "a buyer's yes is not kept")
		assert.Equal(t, 1, visits(t, url), "a buyer's yes is not kept")
		again := ok[*sdk.Checkout](t)(c.Checkouts.Update(background, silent.ID, &sdk.CheckoutUpdate{AdsVisit: sdk.Set(*clicked())}))
		read := ok[*sdk.Checkout](t)(c.Checkouts.Get(background, silent.ID))
		assert.True(t, read.AdsConsent, "the same visit changes something")
		assert.Equal(t, again.UpdatedAt, read.UpdatedAt, "the same visit changes something")
		assert.Equal(t, ok[*sdk.Checkout](t)(c.Checkouts.Update(background, silent.ID, &sdk.CheckoutUpdate{AdsConsent: new(true)})).UpdatedAt, again.UpdatedAt, "the same visit changes something")
		ok[*sdk.Checkout](t)(c.Checkouts.Update(background, silent.ID, &sdk.CheckoutUpdate{AdsVisit: sdk.Null[sdk.AdsVisit]()}))
		if visits(t, url) != 0 {
			t.Error("null does not erase a visit")
		}
		ok[*sdk.Checkout](t)(c.Checkouts.Update(background, silent.ID, &sdk.CheckoutUpdate{AdsVisit: sdk.Set(*clicked())}))
		back := ok[*sdk.Checkout](t)(c.Checkouts.Update(background, silent.ID, &sdk.CheckoutUpdate{AdsConsent: new(false)}))
		assert.False(t, back.AdsConsent, "a yes that was taken back leaves something")
		assert.Zero(t, visits(t, url), "a yes that was taken back leaves something")
		confirm := by("pm_card_visa")
		confirm.AdsConsent, confirm.AdsVisit = new(true), clicked()
		paid := ok[*sdk.Checkout](t)(c.Checkouts.Confirm(background, silent.ID, confirm))
		assert.True(t, paid.AdsConsent)
		assert.Zero(t, visits(t, url))
		_, err := c.Checkouts.Update(background, silent.ID, &sdk.CheckoutUpdate{AdsConsent: new(false)})
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "status")
	})
}

func TestCheckout_RefusesAVisitThatIsNone(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, s *harness.Server) {
		guide := onSale(t, c, 1900)
		for param, visit := range map[string]*sdk.AdsVisit{
			"ads_visit.client_ip":        {ClientIP: new("203.0.113.777")},
			"ads_visit.page_url":         {PageURL: new("https://ada:secret@ada.example/")},
			"ads_visit.user_agent":       {UserAgent: new(strings.Repeat("M", 513))},
			"ads_visit.click_ids.fbclid": {ClickIds: &sdk.ClickIDs{Fbclid: new("two words")}},
			"ads_visit.click_ids.gclid":  {ClickIds: &sdk.ClickIDs{Gclid: new(strings.Repeat("x", 513))}},
		} {
			_, err := c.Checkouts.Create(background, &sdk.CheckoutCreate{LineItems: lines(guide), AdsConsent: new(true), AdsVisit: visit})
			refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, param)
		}
		if a := ok[*sdk.Account](t)(c.Account.Get(background)); a.CheckoutAdsConsent {
			t.Error("the pages ask though nobody switched that on")
		}
		if a := ok[*sdk.Account](t)(c.Account.Update(background, &sdk.AccountUpdate{CheckoutAdsConsent: new(true)})); !a.CheckoutAdsConsent {
			t.Error("the pages do not ask")
		}
	})
}

// told are the conversions of an account, by what it was and of what, with their values.
func (n onNetwork) told(t *testing.T) map[string]string {
	t.Helper()
	told := map[string]string{}
	for _, c := range ok[*sdk.ConversionList](t)(n.AdConversions.List(background, &sdk.ListConversionsParams{})).Data {
		value := ""
		if c.Value != nil {
			value = c.Value.String() + " " + *c.Currency
		}
		told[string(c.Event)+" "+c.EventID] = value
		if c.Source != "order" {
			t.Errorf("%s is of the source %s", c.EventID, c.Source)
		}
	}
	return told
}

// A sale is told of by itself once it is paid, however that comes about, and nothing else is.
func TestCheckout_TellsAdNetworksOnceItIsPaid(t *testing.T) {
	onOneNetworkAlone(t, sdk.AdPlatformFacebook, func(t *testing.T, n onNetwork) {
		d := ok[*sdk.ConversionDestination](t)(n.AdConversions.CreateDestination(background, &sdk.ConversionDestinationCreate{
			AccountID: n.channel, AdAccountID: n.account, PixelID: n.pixel(t).ID,
			Events: []sdk.ConversionEventKind{sdk.ConversionEventKindPurchase, sdk.ConversionEventKindSubscriptionStarted, sdk.ConversionEventKindTrialStarted},
		}))
		guide, club, tried := onSale(t, n.Client, 1900), monthly(t, n.Client, 900), variantOnSale(t, n.Client, sdk.ProductPriceVariant{
			Type: new(sdk.PriceVariantTypeRecurring), Interval: new(sdk.PriceVariantIntervalMonth), Amount: new(int64(500)), Currency: new("usd"), TrialDays: new(int64(7)),
		})
		want := map[string]string{}
		agreed := func(email string, variants ...*sdk.PriceVariant) *sdk.Checkout {
			return ok[*sdk.Checkout](t)(n.Checkouts.Create(background, &sdk.CheckoutCreate{CustomerEmail: &email, LineItems: lines(variants...), AdsConsent: new(true), AdsVisit: clicked()}))
		}
		purchase(t, n.Client, "silent@example.com", guide, club)
		bank := agreed("bank@example.com", guide)
		waits := ok[*sdk.Checkout](t)(n.Checkouts.Confirm(background, bank.ID, by("pm_card_authenticationRequired")))
		told := n.told(t)
		require.LessOrEqual(t, len(told), 0)
		require.NotNil(t, waits.NextAction)
		payments := n.server.Strings(t, `SELECT id FROM payments WHERE status = 'requires_action'`)
		ok[*sdk.Payment](t)(n.TestHelpers.AuthenticatePayment(background, payments[0]))
		want["purchase "+ok[*sdk.Checkout](t)(n.Checkouts.Get(background, bank.ID)).Order.ID] = "19.00 usd"

		member := ok[*sdk.Checkout](t)(n.Checkouts.Confirm(background, agreed("member@example.com", guide, club).ID, by("pm_card_visa")))
		want["purchase "+member.Order.ID], want["subscription_started "+member.Subscription.ID] = "28.00 usd", "9.00 usd"
		trial := ok[*sdk.Checkout](t)(n.Checkouts.Confirm(background, agreed("trial@example.com", tried).ID, by("pm_card_visa")))
		want["trial_started "+trial.Subscription.ID] = ""
		if told := n.told(t); !maps.Equal(told, want) {
			t.Fatalf("told is %v, and should be %v", told, want)
		}
		advance(t, n.Client, 32*24*time.Hour)
		if told := n.told(t); len(told) != len(want) {
			t.Errorf("a renewal, to which nobody agreed, is told: %v", told)
		}
		n.work(t)
		sent := ok[*sdk.ConversionList](t)(n.AdConversions.List(background, &sdk.ListConversionsParams{DestinationID: &d.ID, Status: new(sdk.ConversionStatusSent)})).Data
		if len(sent) != len(want) {
			t.Errorf("the network took %+v", sent)
		}
	})
}
