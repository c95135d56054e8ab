package store

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/store/checkout"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/internal/dbtest"
	"github.com/tillwright/tillwright/store/payment"
	"github.com/tillwright/tillwright/store/tenant"
	"github.com/tillwright/tillwright/tests/harness/database"
)

// destination is a pixel that is told of all that happens, or of what happens to some products.
func (s *shop) destination(t *testing.T, platform advert.Platform, products *[]string) *advert.ConversionDestination {
	t.Helper()
	d, err := s.Advert.CreateConversionDestination(t.Context(), s.account, &advert.SocialAccount{ID: "sacct_1", Platform: platform}, advert.NewConversionDestination{
		AdAccountID: "act_1", PixelID: core.NewID(core.KindConversionDestination), Name: "Pixel", Events: advert.ConversionKinds, ProductIDs: products, Status: advert.DestinationActive,
	})
	require.NoError(t, err)
	return d
}

// told is what waits to be told to a destination, in the order in which it was queued.
func (s *shop) told(t *testing.T, d *advert.ConversionDestination) []advert.ConversionEvent {
	t.Helper()
	rows, err := db.Select[advert.Conversion](t.Context(), s.db, db.ColumnsOf[advert.Conversion]("ad_conversions").SelectSQL+`
		WHERE account_id = ? AND destination_id = ? ORDER BY id`, s.account, d.ID)
	require.NoError(t, err)
	var events []advert.ConversionEvent
	for i := range rows {
		source := advert.ConversionFromOrder
		if rows[i].Kind == advert.ConversionLead {
			source = advert.ConversionFromLead
		}
		assert.Equal(t, source, rows[i].Source)
		events = append(events, rows[i].Event())
	}
	return events
}

// agreed opens a checkout whose buyer agreed, and came by an ad.
func (s *shop) agreed(t *testing.T, variants ...*catalog.PriceVariant) *checkout.Checkout {
	t.Helper()
	c, err := s.Checkout.Create(t.Context(), s.account, checkout.Draft{Checkout: &checkout.Checkout{
		CustomerEmail: ref("Grace@Example.com"), EmailVerified: true, CustomerName: ref("Grace Brewster Hopper"),
		BillingAddress: core.JSONOf(&core.Address{City: ref("San José"), State: ref("CA"), PostalCode: ref("98 121-9431"), Country: ref("US")}),
		AdsConsent:     true, AdsVisit: core.JSONOf(visit()),
	}, Lines: pieceOf(variants...)})
	require.NoError(t, err)
	return c
}

func visit() *advert.Visit {
	return &advert.Visit{
		PageURL: "https://ada.example/guide", ClickIDs: map[string]string{"fbclid": "IwAR0", "epik": "dj0"}, ClientIP: "::ffff:203.0.113.7", UserAgent: "Mozilla/5.0",
	}
}

func (s *shop) read(t *testing.T, c *checkout.Checkout) *checkout.Checkout {
	t.Helper()
	stored, err := s.Checkout.Get(t.Context(), s.account, c.ID)
	require.NoError(t, err)
	return stored
}

func TestConfirm_TellsAdNetworksWhatWasBought(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		s.taxed(t, tenant.TaxBehaviorExclusive, tenant.TaxRate{Country: ref("US"), RateBps: 1000, Name: "Tax"})
		guide, course := s.onSale(t, fixedPrice(1900)), s.onSale(t, fixedPrice(100))
		meta, pinterest := s.destination(t, advert.PlatformFacebook, nil), s.destination(t, advert.PlatformPinterest, nil)
		ofCourse, ofOther := s.destination(t, advert.PlatformFacebook, &[]string{course.ProductID}), s.destination(t, advert.PlatformFacebook, &[]string{"prod_1"})
		c := s.agreed(t, guide, course)
		clicked := s.read(t, c).AdsVisit.V.At

		begun, err := s.BeginConfirm(t.Context(), s.account, c.ID, byCard)
		require.NoError(t, err)
		_, err = s.SettlePayment(t.Context(), begun.Payment, payment.ChargeResult{Status: payment.StatusFailed, Failure: &payment.Failure{Code: "card_declined", Message: "No."}})
		require.NoError(t, err)
		require.Empty(t, s.told(t, meta), "nothing was paid")
		require.NotNil(t, s.read(t, c).AdsVisit.V)

		s.at(time.Now().Add(time.Minute))
		paid := s.confirm(t, c)
		_, err = s.SettlePayment(t.Context(), paid.Payment, payment.ChargeResult{Status: payment.StatusSucceeded})
		require.NoError(t, err)
		order, err := s.Order.Get(t.Context(), s.account, *paid.Checkout.OrderID)
		require.NoError(t, err)
		told := s.told(t, meta)
		require.Len(t, told, 1, "however often it is said that it is paid")
		assert.Equal(t, advert.ConversionEvent{
			EventID: order.ID, Kind: advert.ConversionPurchase, At: *order.PaidAt, Value: 22 * advert.AmountUnit, Currency: "usd",
			Items: []advert.ConversionItem{{ID: guide.ProductID, Quantity: 1, Price: 19 * advert.AmountUnit}, {ID: course.ProductID, Quantity: 1, Price: advert.AmountUnit}},
			User: advert.ConversionUser{
				Email: advert.HashOf("grace@example.com"), FirstName: advert.HashOf("grace"), LastName: advert.HashOf("brewster hopper"),
				City: advert.HashOf("sanjosé"), State: advert.HashOf("ca"), Zip: advert.HashOf("98121"), Country: advert.HashOf("us"), ExternalID: advert.HashOf(order.CustomerID),
				ClientIP: "203.0.113.7", UserAgent: "Mozilla/5.0", PageURL: "https://ada.example/guide", ClickID: "IwAR0", ClickAt: clicked,
			},
		}, told[0])
		require.Len(t, s.told(t, pinterest), 1)
		assert.Equal(t, "dj0", s.told(t, pinterest)[0].User.ClickID, "a network is told its own click alone")
		assert.Len(t, s.told(t, ofCourse), 1)
		assert.Empty(t, s.told(t, ofOther))
		assert.True(t, s.read(t, c).AdsConsent)
		assert.Nil(t, s.read(t, c).AdsVisit.V, "it is of no more use")
	})
}

// Without a yes nothing is told, whatever the checkout knows.
func TestConfirm_TellsNobodyWithoutConsent(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		guide, club := s.onSale(t, fixedPrice(1900)), s.onSale(t, monthly(500, 0))
		s.destination(t, advert.PlatformFacebook, nil)
		s.confirm(t, s.checkout(t, guide, club))
		takenBack := s.agreed(t, guide)
		s.confirm(t, s.change(t, takenBack, func(d *checkout.Draft) { d.AnswerAds(ref(false)) }))
		atLast := byCard
		atLast.AdsConsent = ref(false)
		begun, err := s.BeginConfirm(t.Context(), s.account, s.agreed(t, guide).ID, atLast)
		require.NoError(t, err)
		_, err = s.SettlePayment(t.Context(), begun.Payment, payment.ChargeResult{Status: payment.StatusSucceeded})
		require.NoError(t, err)
		require.Zero(t, s.count(t, `SELECT COUNT(*) FROM ad_conversions`))
		require.Zero(t, s.count(t, `SELECT COUNT(*) FROM checkouts WHERE ads_visit IS NOT NULL OR ads_consent`))
	})
}

func monthly(amount, trialDays int64) catalog.PriceVariant {
	return catalog.PriceVariant{
		Type: catalog.PriceVariantTypeRecurring, Amount: amount, Currency: "usd", Interval: ref("month"), IntervalCount: ref(int64(1)), TrialDays: trialDays,
	}
}

func TestConfirm_TellsWhatASubscriptionBeginsWith(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		trial := monthly(700, 14)
		trial.SetupFeeAmount = 300
		club, tried, gift := s.onSale(t, monthly(500, 0)), s.onSale(t, trial), s.onSale(t, catalog.PriceVariant{AmountType: catalog.PriceVariantAmountTypeFree})
		d := s.destination(t, advert.PlatformFacebook, nil)
		kinds := func(from int) (kinds []advert.ConversionKind, values []advert.Amount) {
			for _, e := range s.told(t, d)[from:] {
				kinds, values = append(kinds, e.Kind), append(values, e.Value)
				assert.Equal(t, e.Value == 0, e.Currency == "")
			}
			return kinds, values
		}
		both := s.confirm(t, s.agreed(t, club, tried)).Checkout
		k, v := kinds(0)
		assert.Equal(t, []advert.ConversionKind{advert.ConversionSubscriptionStarted, advert.ConversionTrialStarted, advert.ConversionPurchase}, k)
		assert.Equal(t, []advert.Amount{5 * advert.AmountUnit, 0, 8 * advert.AmountUnit}, v)
		events := s.told(t, d)
		assert.Equal(t, *both.SubscriptionID, events[0].EventID)
		assert.Equal(t, []advert.ConversionItem{{ID: club.ProductID, Quantity: 1, Price: 5 * advert.AmountUnit}}, events[2].Items, "a trial is not bought yet")

		s.confirm(t, s.agreed(t, gift))
		assert.Len(t, s.told(t, d), 3, "what costs nothing is no purchase")
	})
}

func TestCheckout_ForgetsAVisitThatIsOfNoUse(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		guide := s.onSale(t, fixedPrice(1900))
		c := s.agreed(t, guide)
		_, err := s.Checkout.Update(t.Context(), s.account, c.ID, func(d *checkout.Draft) { d.AdsConsent = false })
		dbtest.RequireInvalid(t, err, "ads_visit")
		_, err = s.Checkout.Update(t.Context(), s.account, c.ID, func(d *checkout.Draft) { d.AdsVisit.V = &advert.Visit{ClientIP: "fe80::1%eth0"} })
		dbtest.RequireInvalid(t, err, "ads_visit.client_ip")
		again := s.change(t, c, func(d *checkout.Draft) { d.AdsVisit.V = visit() })
		require.Equal(t, c.UpdatedAt, again.UpdatedAt, "the same visit changes nothing")

		require.Nil(t, s.change(t, c, func(d *checkout.Draft) { d.AnswerAds(ref(false)) }).AdsVisit.V)
		ended, err := s.Checkout.Expire(t.Context(), s.account, s.agreed(t, guide).ID)
		require.NoError(t, err)
		require.Nil(t, s.read(t, ended).AdsVisit.V)
		late := s.agreed(t, guide)
		s.at(late.ExpiresAt.Time())
		_, err = s.Checkout.End(t.Context(), s.account, late.ID)
		require.NoError(t, err)
		require.Zero(t, s.count(t, `SELECT COUNT(*) FROM checkouts WHERE ads_visit IS NOT NULL`))
	})
}

func TestDeleteCustomer_TellsAdNetworksNothingMore(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		guide, d := s.onSale(t, fixedPrice(1900)), s.destination(t, advert.PlatformFacebook, nil)
		bought := s.confirm(t, s.agreed(t, guide)).Checkout
		other := s.customer(t, "ada@example.com", nil)
		named, err := s.Checkout.Create(t.Context(), s.account, checkout.Draft{Checkout: &checkout.Checkout{CustomerID: bought.CustomerID, AdsConsent: true, AdsVisit: core.JSONOf(visit())}, Lines: pieceOf(guide)})
		require.NoError(t, err)
		typed := s.agreed(t, guide)
		_, err = s.MergeCustomer(t.Context(), s.account, other.ID, *bought.CustomerID)
		require.NoError(t, err)
		require.Len(t, s.told(t, d), 1, "a merge forgets nothing")

		_, err = s.DeleteCustomer(t.Context(), s.account, other.ID, false)
		require.NoError(t, err)
		require.Empty(t, s.told(t, d), "the one who has it now was deleted")
		require.True(t, s.read(t, bought).AdsConsent, "what they said then")
		require.False(t, s.read(t, named).AdsConsent)
		require.Nil(t, s.read(t, named).AdsVisit.V)
		require.True(t, s.read(t, typed).AdsConsent, "it is another address")

		stranger := s.customer(t, "grace@example.com", nil)
		_, err = s.DeleteCustomer(t.Context(), s.account, stranger.ID, false)
		require.NoError(t, err)
		require.False(t, s.read(t, typed).AdsConsent, "whoever has their address")
		require.Nil(t, s.read(t, typed).AdsVisit.V)
		s.confirm(t, typed)
		require.Empty(t, s.told(t, d))
	})
}

// A sale pays nothing for what it does not ask for. Without consent it runs the statements that it runs with it, but those about ads.
func TestConfirm_CostsNoStatementWithoutConsent(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		s := newShop(t, url)
		var statements []string
		sealer, err := core.NewSealer(make([]byte, 32))
		require.NoError(t, err)
		s.Store, err = Open(t.Context(), Options{URL: url, Sealer: sealer, Synchronous: "normal", Render: renderJSON, Trace: func(_ context.Context, text string, _ []any) { statements = append(statements, text) }})
		require.NoError(t, err)
		defer s.Close()
		guide := s.onSale(t, fixedPrice(1900))
		s.destination(t, advert.PlatformFacebook, nil)
		sold := func(agrees bool) (about, others int) {
			c := s.change(t, s.checkout(t, guide), func(d *checkout.Draft) { d.AnswerAds(&agrees) })
			statements = nil
			s.confirm(t, c)
			for _, text := range statements {
				if about++; !strings.Contains(text, "ad_conversion") {
					about, others = about-1, others+1
				}
			}
			return about, others
		}
		sold(false) // makes the customer
		about, others := sold(false)
		require.Zero(t, about)
		withAbout, withOthers := sold(true)
		require.NotZero(t, withAbout)
		require.Equal(t, withOthers, others)
	})
}
