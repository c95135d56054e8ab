package advert

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
)

// destination makes a destination that is told of purchases.
func (a *advertiser) destination(t *testing.T, pixel string, change func(*NewConversionDestination)) *ConversionDestination {
	t.Helper()
	in := NewConversionDestination{AdAccountID: "act_1", PixelID: pixel, Events: []ConversionKind{ConversionPurchase}, Status: DestinationActive}
	if change != nil {
		change(&in)
	}
	d, err := a.CreateConversionDestination(t.Context(), a.account, a.channel, in)
	require.NoError(t, err)
	return d
}

// queue keeps what happened in a transaction of its own.
func (a *advertiser) queue(t *testing.T, h Happening) {
	t.Helper()
	_, err := db.Tx(t.Context(), a.db, func(ctx context.Context, u *db.Unit) (any, error) { return nil, a.QueueConversions(ctx, u, h) })
	require.NoError(t, err)
}

func (a *advertiser) conversions(t *testing.T, d *ConversionDestination) []Conversion {
	t.Helper()
	rows, err := db.Select[Conversion](t.Context(), a.db, conversionColumns.SelectSQL+` WHERE account_id = ? AND destination_id = ? ORDER BY id`, a.account, d.ID)
	require.NoError(t, err)
	return rows
}

// purchase is a purchase by somebody of whom all is known.
func (a *advertiser) purchase(order string) Happening {
	now := a.Now() / 1000 * 1000 // what is told has milliseconds
	return Happening{
		Account: a.account, Kind: ConversionPurchase, EventID: order, At: now, Value: 19 * AmountUnit, Currency: "usd",
		Items: []ConversionItem{{ID: "prod_1", Quantity: 1, Price: 19 * AmountUnit}}, ProductIDs: []string{"prod_1"}, CustomerID: "cus_1",
		Email: " Ada@Example.com", Phone: "+1 (616) 954-7888", FirstName: "Ada", LastName: "Lovelace", City: "San José", Zip: "98 121-9431", Country: "US",
		ClientIP: "203.0.113.7", UserAgent: "Mozilla/5.0", PageURL: "https://shop.example.com/buy",
		Clicks: map[string]string{"fbclid": "click-of-meta", "epik": "click-of-pinterest"}, ClickAt: now,
	}
}

func TestQueueConversions_KeepsHashesAlone(t *testing.T) {
	eachAdvertiser(t, func(t *testing.T, a *advertiser) {
		d := a.destination(t, "1", nil)
		h := a.purchase("order_1")
		a.queue(t, h)
		rows := a.conversions(t, d)
		require.Len(t, rows, 1)
		assert.Equal(t, ConversionEvent{
			EventID: "order_1", Kind: ConversionPurchase, At: h.At, Value: h.Value, Currency: "usd", Items: h.Items,
			User: ConversionUser{
				Email: HashOf("ada@example.com"), Phone: HashOf("16169547888"), FirstName: HashOf("ada"), LastName: HashOf("lovelace"),
				City: HashOf("sanjosé"), Zip: HashOf("98121"), Country: HashOf("us"), ExternalID: HashOf("cus_1"),
				ClientIP: "203.0.113.7", UserAgent: "Mozilla/5.0", PageURL: "https://shop.example.com/buy", ClickID: "click-of-meta", ClickAt: h.ClickAt,
			},
		}, rows[0].Event())
		assert.Equal(t, "cus_1", *rows[0].CustomerID)
		assert.LessOrEqual(t, *rows[0].DueAt, rows[0].CreatedAt)
		assert.Equal(t, h.At.Add(conversionLife), *rows[0].ExpiresAt)
	})
}

func TestQueueConversions_LeavesOutWhatMatchesNobody(t *testing.T) {
	eachAdvertiser(t, func(t *testing.T, a *advertiser) {
		d := a.destination(t, "1", nil)
		h := a.purchase("order_1")
		h.Email, h.Phone, h.Country, h.Clicks, h.UserAgent, h.CustomerID = "nobody", "616 954 7888", "Germany", nil, "", ""
		a.queue(t, h)
		rows := a.conversions(t, d)
		require.Len(t, rows, 1)
		got := rows[0].Event()
		assert.Empty(t, got.User.Email+got.User.Phone+got.User.Country+got.User.ClickID+got.User.ExternalID)
		assert.Zero(t, got.User.ClickAt)
		assert.Nil(t, rows[0].CustomerID)
		assert.True(t, got.Offsite, "a network takes no event of a page without a user agent")
	})
}

func TestQueueConversions_TellsEachDestinationOnceOfWhatItIsAbout(t *testing.T) {
	eachAdvertiser(t, func(t *testing.T, a *advertiser) {
		all := a.destination(t, "1", nil)
		leads := a.destination(t, "2", func(in *NewConversionDestination) { in.Events = []ConversionKind{ConversionLead} })
		paused := a.destination(t, "3", func(in *NewConversionDestination) { in.Status = DestinationPaused })
		failed := a.destination(t, "4", func(in *NewConversionDestination) { in.Status = DestinationError })
		other := a.destination(t, "5", func(in *NewConversionDestination) { in.ProductIDs = &[]string{"prod_2"} })
		same := a.destination(t, "6", func(in *NewConversionDestination) { in.ProductIDs = &[]string{"prod_2", "prod_1"} })
		a.queue(t, a.purchase("order_1"))
		a.queue(t, a.purchase("order_1"))
		for d, want := range map[*ConversionDestination]int{all: 1, leads: 0, paused: 0, failed: 1, other: 0, same: 1} {
			assert.Len(t, a.conversions(t, d), want, d.PixelID)
		}
		a.queue(t, a.purchase("order_2"))
		assert.Len(t, a.conversions(t, all), 2)

		twin := a.destination(t, "1", nil)
		a.queue(t, a.purchase("order_3"))
		assert.Equal(t, 3, len(a.conversions(t, all))+len(a.conversions(t, twin)), "a pixel is told once")
	})
}

func TestQueueConversions_IsOfItsAccountAlone(t *testing.T) {
	eachAdvertiser(t, func(t *testing.T, a *advertiser) {
		d := a.destination(t, "1", nil)
		h := a.purchase("order_1")
		h.Account = "acct_other"
		a.queue(t, h)
		assert.Empty(t, a.conversions(t, d))
	})
}

func TestForgetConversions_DeletesWhatWaits(t *testing.T) {
	eachAdvertiser(t, func(t *testing.T, a *advertiser) {
		d := a.destination(t, "1", nil)
		a.queue(t, a.purchase("order_1"))
		other := a.purchase("order_2")
		other.CustomerID = "cus_2"
		a.queue(t, other)
		_, err := db.Tx(t.Context(), a.db, func(ctx context.Context, u *db.Unit) (any, error) {
			return nil, a.ForgetConversions(ctx, u, a.account, "cus_1")
		})
		require.NoError(t, err)
		rows := a.conversions(t, d)
		require.Len(t, rows, 1)
		assert.Equal(t, "order_2", rows[0].EventID)
	})
}

func TestCreateConversionDestination_SealsItsTokenAndIsOneOfFifty(t *testing.T) {
	eachAdvertiser(t, func(t *testing.T, a *advertiser) {
		first := a.destination(t, "1", func(in *NewConversionDestination) { in.Token = "secret-conversion-token" })
		assert.NotContains(t, string(first.SealedToken), "secret")
		token, err := a.DestinationToken(first)
		require.NoError(t, err)
		assert.Equal(t, "secret-conversion-token", token)

		for i := 1; i < maxDestinations; i++ {
			a.destination(t, nth("p", i), nil)
		}
		_, err = a.CreateConversionDestination(t.Context(), a.account, a.channel, NewConversionDestination{AdAccountID: "act_1", PixelID: "x", Status: DestinationActive})
		var invalid *core.Error
		require.ErrorAs(t, err, &invalid)
		assert.Equal(t, "pixel_id", invalid.Param)
	})
}

func TestErasePerson_DeletesWhatWaitsOfThemHoweverItCame(t *testing.T) {
	eachAdvertiser(t, func(t *testing.T, a *advertiser) {
		d := a.destination(t, "1", nil)
		by := func(id, email string) ConversionEvent {
			return ConversionEvent{EventID: id, Kind: ConversionPurchase, At: a.Now(), User: ConversionUser{Email: HashOf(email)}}
		}
		_, err := a.CreateConversions(t.Context(), d, []ConversionEvent{by("1", "gone@example.com"), by("2", "stays@example.com")})
		require.NoError(t, err)
		require.NoError(t, a.ErasePerson(t.Context(), a.account, new("Gone@Example.com "), nil))
		rows := a.conversions(t, d)
		require.Len(t, rows, 1)
		assert.Equal(t, "2", rows[0].EventID)
	})
}
