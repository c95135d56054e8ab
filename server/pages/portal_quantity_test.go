package pages_test

import (
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/activity"
	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/store/checkout"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/customer"
	"github.com/tillwright/tillwright/store/offer"
	"github.com/tillwright/tillwright/store/order"
	"github.com/tillwright/tillwright/store/outbox"
	"github.com/tillwright/tillwright/store/subscription"
	"github.com/tillwright/tillwright/store/tenant"
)

// seats is a price variant that is sold by the piece.
func seats(most int64) catalog.PriceVariant {
	return catalog.PriceVariant{Amount: 1000, QuantityMax: &most}
}

// asking is the address, below the portal, of the page that shows what another quantity costs.
func asking(sub *subscription.Subscription, pieces string) string {
	return "/subscriptions/" + sub.ID + "/plan?plan=" + sub.PriceVariantID + "&quantity=" + url.QueryEscape(pieces)
}

// takes confirms another quantity, and returns the page after it.
func (g *guest) takes(sub *subscription.Subscription, pieces int64) string {
	g.t.Helper()
	return g.does("/subscriptions/"+sub.ID+"/plan", confirming(g.see(asking(sub, strconv.FormatInt(pieces, 10)), http.StatusOK)), http.StatusOK)
}

// paid sums up what the guest has paid for a subscription from the card, in how many orders.
func (g *guest) paid(sub *subscription.Subscription) (amount int64, orders int) {
	g.t.Helper()
	all, _, err := g.Order.List(g.t.Context(), g.account, order.List{Page: core.Page{Limit: 100}, Subscription: sub.ID})
	require.NoError(g.t, err)
	for _, o := range all {
		if o.Status == order.StatusPaid {
			amount, orders = amount+o.PaidAmount, orders+1
		}
	}
	return amount, orders
}

// credit returns what the guest has of dollars for later.
func (g *guest) credit() int64 {
	g.t.Helper()
	c, err := g.Customer.Get(g.t.Context(), g.account, g.customer.ID)
	require.NoError(g.t, err)
	return c.Balance.V["usd"]
}

// prorates sets what becomes of a difference in the middle of a period.
func (g *guest) prorates(behavior tenant.ProrationBehavior) {
	g.t.Helper()
	_, err := g.Tenant.UpdateAccount(g.t.Context(), g.account, func(a *tenant.AccountChange) { a.ProrationBehavior = behavior })
	require.NoError(g.t, err)
}

// sound checks what holds whatever anybody does.
func (g *guest) sound() {
	g.t.Helper()
	broken, err := g.Audit.Check(g.t.Context(), outbox.DeliveryRetention{Succeeded: time.Hour, Failed: time.Hour})
	require.NoError(g.t, err)
	assert.Empty(g.t, broken)
}

func TestPortal_CustomerChangesTheQuantity(t *testing.T) {
	eachGuest(t, func(t *testing.T, g *guest) {
		sub := g.subscribesFor(2, seats(10), "pm_card_visa")
		path := "/subscriptions/" + sub.ID
		page := g.see(path, http.StatusOK)
		assert.Contains(t, page, `<label for="quantity">Quantity, at most 10</label>`)
		assert.Regexp(t, `<input id="quantity" name="quantity" type="text" value="2"`, page)
		german := g.see(path+"?locale=de", http.StatusOK)
		assert.Contains(t, german, `<label for="quantity">Anzahl, höchstens 10</label>`)
		assert.Contains(t, german, `<input type="hidden" name="locale" value="de">`, "the form makes a new end of the address")

		page = g.see(asking(sub, " 5 "), http.StatusOK)
		assert.Contains(t, page, "<h1 dir=\"auto\">Change to 5 × Club &amp; more</h1>")
		assert.Contains(t, page, "<strong>$30.00 now</strong>")
		assert.Contains(t, page, ": $50.00 every month, with taxes")
		assert.Contains(t, page, "The change takes effect as soon as it is paid.")
		assert.Equal(t, int64(2), g.subscription(sub.ID).Quantity, "looking changes nothing")

		low := confirming(page)
		low.Set("shown", strings.Replace(low.Get("shown"), "3000", "2999", 1))
		refused := g.does(path+"/plan", low, http.StatusUnprocessableEntity)
		assert.Contains(t, refused, "The amount has changed.")
		assert.Contains(t, refused, "Change and pay $30.00")
		assert.Equal(t, int64(2), g.subscription(sub.ID).Quantity)
		assert.Contains(t, g.does(path+"/plan", confirming(refused), http.StatusOK), "Your subscription is 5 × Club &amp; more now.")
		after := g.subscription(sub.ID)
		assert.Equal(t, int64(5), after.Quantity)
		assert.Equal(t, sub.PriceVariantID, after.PriceVariantID)
		amount, orders := g.paid(sub)
		assert.Equal(t, int64(5000), amount)
		assert.Equal(t, 2, orders)
		lines, _, err := g.Activity.ListActivities(t.Context(), g.account, activity.ListActivities{Page: core.Page{Limit: 10}, Actor: g.customer.ID})
		require.NoError(t, err)
		require.NotEmpty(t, lines)
		assert.Equal(t, "changeSubscription", lines[0].Operation)
		assert.Contains(t, g.see("?locale=de", http.StatusOK), "Wechsel von 2 × Club &amp; more zu 5 × Club &amp; more, bis ")

		page = g.see(asking(sub, "1"), http.StatusOK)
		assert.Contains(t, page, "Change to 1 × Club &amp; more")
		assert.Contains(t, page, "Nothing is charged now.")
		assert.Contains(t, page, "$40.00 of what you have paid becomes your credit")
		assert.Contains(t, page, `<button class="primary">Change the quantity</button>`)
		assert.Contains(t, g.takes(sub, 1), "Your subscription is 1 × Club &amp; more now.")
		assert.Equal(t, int64(4000), g.credit())
		assert.Contains(t, g.takes(sub, 3), "3 × Club")
		assert.Equal(t, int64(2000), g.credit(), "it pays for more pieces")
		g.sound()
	})
}

// What is shown is charged, at whatever moment of the period, and a lower quantity gives back no more than was paid.
func TestPortal_ChargesForAQuantityWhatItShowed(t *testing.T) {
	eachGuest(t, func(t *testing.T, g *guest) {
		_, err := g.Tenant.UpdateAccount(t.Context(), g.account, func(a *tenant.AccountChange) {
			a.Tax.V = tenant.TaxSettings{Mode: tenant.TaxModeFlatTable, Behavior: tenant.TaxBehaviorExclusive, Rates: []tenant.TaxRate{{Country: new("DE"), RateBps: 1900, Name: "VAT"}}}
		})
		require.NoError(t, err)
		_, err = g.UpdateCustomer(t.Context(), g.account, g.customer.ID, func(c *customer.Customer) { c.BillingAddress = core.JSONOf(&core.Address{Country: new("DE")}) })
		require.NoError(t, err)
		sub := g.subscribesFor(2, catalog.PriceVariant{Amount: 999, QuantityMax: new(int64(10))}, "pm_card_visa")
		for _, pieces := range []int64{5, 3, 10, 1, 2, 9, 8, 1} {
			g.now = g.now.Add(67*time.Hour + 13*time.Minute)
			g.renew()
			before, _ := g.paid(sub)
			had := g.credit()
			page := g.see(asking(sub, strconv.FormatInt(pieces, 10)), http.StatusOK)
			shown, err := strconv.ParseInt(strings.Fields(confirming(page).Get("shown"))[0], 10, 64)
			require.NoError(t, err)
			g.takes(sub, pieces)
			after, _ := g.paid(sub)
			assert.Equal(t, shown, after-before, "%d pieces", pieces)
			if shown > 0 {
				assert.Zero(t, g.credit(), "it is taken first")
			}
			if gives := strings.Contains(page, "becomes your credit"); gives {
				assert.Greater(t, g.credit(), had)
			}
			assert.LessOrEqual(t, g.credit(), after)
			assert.Equal(t, pieces, g.subscription(sub.ID).Quantity)
			g.sound()
		}
	})
}

// Whatever is not sold by the piece, or cannot be changed now, has no field. No address or form that somebody makes up changes it.
func TestPortal_OffersAQuantityOfWhatIsSoldByThePiece(t *testing.T) {
	eachGuest(t, func(t *testing.T, g *guest) {
		label := regexp.MustCompile(`<label for="quantity">([^<]*)</label>`)
		offers := func(sub *subscription.Subscription, want, why string) {
			t.Helper()
			said := ""
			if found := label.FindStringSubmatch(g.see("/subscriptions/"+sub.ID, http.StatusOK)); found != nil {
				said = found[1]
			}
			assert.Equal(t, want, said, why)
			if want != "" {
				return
			}
			for _, pieces := range []string{"1", "2", "3", ""} {
				assert.Contains(t, g.see(asking(sub, pieces), http.StatusUnprocessableEntity), "This subscription cannot be changed now.", why)
				if pieces == strconv.FormatInt(sub.Quantity, 10) {
					continue // a form that says what is there was sent before
				}
				g.does("/subscriptions/"+sub.ID+"/plan", url.Values{"plan": {sub.PriceVariantID}, "quantity": {pieces}, "shown": {anyPrice(sub)}}, http.StatusUnprocessableEntity)
			}
			after := g.subscription(sub.ID)
			assert.Equal(t, sub.Quantity, after.Quantity, why)
		}
		for _, c := range []struct {
			pieces  int64
			variant catalog.PriceVariant
			says    string
		}{
			{1, catalog.PriceVariant{Amount: 900}, ""}, // a newsletter
			{1, seats(1), ""},
			{1, seats(10), "Quantity, at most 10"},
			{2, catalog.PriceVariant{Amount: 900, QuantityMin: 2}, "Quantity, at least 2, at most 100"},
			{2, catalog.PriceVariant{Amount: 900, QuantityMin: 2, QuantityMax: new(int64(2))}, ""},
			{3, catalog.PriceVariant{Amount: 900}, "Quantity, at most 100"},
			{150, catalog.PriceVariant{Amount: 900}, "Quantity, at most 150"},
			{150, catalog.PriceVariant{Amount: 900, QuantityMin: 150}, ""},
			{2, catalog.PriceVariant{AmountType: catalog.PriceVariantAmountTypeFree, QuantityMax: new(int64(10))}, ""},
			{2, catalog.PriceVariant{AmountType: catalog.PriceVariantAmountTypeCustom, MinAmount: new(int64(100)), SuggestedAmount: new(int64(100)), QuantityMax: new(int64(10))}, ""},
		} {
			offers(g.subscribesFor(c.pieces, c.variant, "pm_card_visa"), c.says, "")
		}

		lowered := g.subscribesFor(150, catalog.PriceVariant{Amount: 900}, "pm_card_visa")
		g.takes(lowered, 1)
		offers(lowered, "Quantity, at most 150", "the way back is open")

		archived := g.subscribesFor(2, seats(10), "pm_card_visa")
		g.offers(archived, catalog.PriceVariant{Amount: 100})
		_, err := g.Catalog.UpdatePriceVariant(t.Context(), g.account, archived.PriceVariantID, func(v *catalog.PriceVariant) { v.Status = catalog.PriceVariantStatusArchived })
		require.NoError(t, err)
		offers(archived, "", "it is not sold any more")
		withdrawn := g.subscribesFor(2, seats(10), "pm_card_visa")
		_, err = g.Catalog.UpdateProduct(t.Context(), g.account, withdrawn.ProductID, func(p *catalog.Product) { p.Status = catalog.ProductStatusArchived })
		require.NoError(t, err)
		offers(withdrawn, "", "nor is its product")
		pausing, ending, changing := g.subscribesFor(2, seats(10), "pm_card_visa"), g.subscribesFor(2, seats(10), "pm_card_visa"), g.subscribesFor(2, seats(10), "pm_card_visa")
		g.does("/subscriptions/"+pausing.ID+"/pause", nil, http.StatusOK)
		offers(pausing, "", "it is going to pause")
		g.does("/subscriptions/"+ending.ID+"/cancel", nil, http.StatusOK)
		offers(ending, "", "it is going to end")
		_, err = g.billing.ChangeSubscription(t.Context(), g.account, changing.ID, store.ChangeSubscription{Quantity: new(int64(4)), Behavior: tenant.ProrationBehaviorNextPeriod})
		require.NoError(t, err)
		offers(changing, "", "a change waits")
		stranger := g.shop.guest("other@example.com")
		mine := g.subscribesFor(2, seats(10), "pm_card_visa")
		stranger.see(asking(mine, "5"), http.StatusNotFound)
		stranger.does("/subscriptions/"+mine.ID+"/plan", url.Values{"plan": {mine.PriceVariantID}, "quantity": {"5"}, "shown": {anyPrice(mine)}}, http.StatusNotFound)
		assert.Equal(t, int64(2), g.subscription(mine.ID).Quantity)
	})
}

// What is wrong with a number stands at its field, in the customer's language, and what they typed stays.
func TestPortal_RefusesAQuantityAtItsField(t *testing.T) {
	eachGuest(t, func(t *testing.T, g *guest) {
		sub := g.subscribesFor(3, catalog.PriceVariant{Amount: 5_000_000_000, QuantityMin: 2, QuantityMax: new(int64(1000))}, "pm_card_visa")
		path := "/subscriptions/" + sub.ID
		for typed, says := range map[string][2]string{
			"": {"Write a whole number, such as 2.", "2のように"}, "abc": {"Write a whole number, such as 2.", "2のように"}, "0": {"Write a whole number", "2のように"}, "-1": {"Write a whole number", "2のように"},
			"1e9": {"Write a whole number", "2のように"}, "2.5": {"Write a whole number", "2のように"}, "99999999999999999999": {"Write a whole number", "2のように"}, `"><b id=x>`: {"Write a whole number", "2のように"},
			"1000000000": {"Choose a quantity: at least 2, at most 1000.", "数量を選択してください：2以上、1000以下。"}, "1": {"Choose a quantity: at least 2, at most 1000.", "数量を選択してください"},
			"3": {"You have this quantity already. Choose another.", "すでにこの数量です。"}, "900": {"Choose fewer.", "数量を減らしてください。"},
		} {
			kept := `value="` + strings.NewReplacer(`"`, "&#34;", "<", "&lt;", ">", "&gt;").Replace(typed) + `"`
			for i, language := range []string{"en", "ja"} {
				pages := []string{g.see(asking(sub, typed)+"&locale="+language, http.StatusUnprocessableEntity)}
				if typed != "3" { // a form that says what is there was sent before
					form := url.Values{"plan": {sub.PriceVariantID}, "quantity": {typed}, "shown": {anyPrice(sub)}}
					pages = append(pages, g.does(path+"/plan?locale="+language, form, http.StatusUnprocessableEntity))
				}
				for _, page := range pages {
					assert.Regexp(t, `(?s)id="quantity-problem">.{0,400}`+says[i], page, typed)
					assert.Regexp(t, `(?s)role="alert".*<li><a href="#quantity">[^:：]+(: |：)`+says[i], page, typed)
					if typed != "" {
						assert.Regexp(t, `<input id="quantity" [^>]*`+regexp.QuoteMeta(kept), page, typed)
					}
				}
			}
		}
		assert.NotRegexp(t, `<input id="quantity" [^>]*value=`, g.see(asking(sub, ""), http.StatusUnprocessableEntity))
		assert.Equal(t, int64(3), g.subscription(sub.ID).Quantity)
	})
}

// A subscription takes from the stock what it has not taken before. Its customer reads how many they can have.
func TestPortal_SaysHowManyPiecesCanBeHad(t *testing.T) {
	eachGuest(t, func(t *testing.T, g *guest) {
		variant := seats(10)
		variant.Stock = new(int64(5))
		sub := g.subscribesFor(2, variant, "pm_card_visa")
		scarce := func(pieces, says string) {
			t.Helper()
			assert.Regexp(t, `(?s)id="quantity-problem">.{0,400}`+says, g.see(asking(sub, pieces), http.StatusUnprocessableEntity), pieces)
		}
		scarce("6", "You can have 5 at most: no more are left.")
		late := confirming(g.see(asking(sub, "4"), http.StatusOK))
		c, err := g.Checkout.Create(t.Context(), g.account, checkout.Draft{
			Checkout: &checkout.Checkout{CustomerEmail: new("ada@example.com")}, Lines: []offer.NewLine{{PriceVariant: sub.PriceVariantID, Quantity: 2}},
		})
		require.NoError(t, err)
		g.pay(c, "pm_card_authenticationRequired")
		scarce("5", "You can have 3 at most at the moment: others are paying for some.")
		assert.Regexp(t, `id="quantity-problem">`, g.does("/subscriptions/"+sub.ID+"/plan", late, http.StatusUnprocessableEntity))
		g.takes(sub, 3)
		scarce("4", "You can have 3 at most at the moment: others are paying for some.")
		g.takes(sub, 1)
		g.takes(sub, 3)
		scarce("4", "You can have 3 at most at the moment: others are paying for some.")
		g.sound()
	})
}

// Of two windows that show different changes, the later form does what its page said, or nothing.
func TestPortal_AQuantityOfAnotherWindowChangesNothingUnseen(t *testing.T) {
	eachGuest(t, func(t *testing.T, g *guest) {
		sub := g.subscribesFor(2, seats(10), "pm_card_visa")
		gold := g.offers(sub, catalog.PriceVariant{Amount: 2900})
		path := "/subscriptions/" + sub.ID + "/plan"
		g.prorates(tenant.ProrationBehaviorNextInvoice)
		other := confirming(g.see(path+"?plan="+gold, http.StatusOK))
		more, many := confirming(g.see(asking(sub, "4"), http.StatusOK)), confirming(g.see(asking(sub, "7"), http.StatusOK))
		g.takes(sub, 5)
		assert.Contains(t, g.does(path, other, http.StatusUnprocessableEntity), "Choose one of the plans that are there.", "its page showed the price of 2")
		assert.Equal(t, int64(5), g.subscription(sub.ID).Quantity)
		assert.Equal(t, sub.PriceVariantID, g.subscription(sub.ID).PriceVariantID)
		g.does(path, more, http.StatusOK)
		assert.Equal(t, int64(4), g.subscription(sub.ID).Quantity, "what its page said")
		assert.Contains(t, g.does(path, more, http.StatusOK), "Your subscription is 4 × Club &amp; more now.", "it was sent before")
		g.does(path, confirming(g.see(path+"?plan="+gold, http.StatusOK)), http.StatusOK)
		after := g.subscription(sub.ID)
		assert.Equal(t, gold, after.PriceVariantID)
		assert.Equal(t, int64(4), after.Quantity)
		assert.Contains(t, g.does(path, many, http.StatusUnprocessableEntity), "Choose one of the plans that are there.", "of the plan before")
		g.sound()
	})
}

// However often the button is pressed, more pieces are paid once.
func TestPortal_AQuantityIsPaidOnce(t *testing.T) {
	eachGuest(t, func(t *testing.T, g *guest) {
		sub := g.subscribesFor(2, seats(10), "pm_card_visa")
		form := confirming(g.see(asking(sub, "5"), http.StatusOK))
		var all sync.WaitGroup
		for range 6 {
			all.Go(func() {
				response, err := http.PostForm(g.session.URL+"/subscriptions/"+sub.ID+"/plan", form)
				if assert.NoError(t, err) {
					assert.NoError(t, response.Body.Close())
				}
			})
		}
		all.Wait()
		assert.Equal(t, int64(5), g.subscription(sub.ID).Quantity)
		amount, orders := g.paid(sub)
		assert.Equal(t, int64(5000), amount)
		assert.Equal(t, 2, orders)
		g.sound()
	})
}

func TestPortal_SaysWhenTheQuantityChanges(t *testing.T) {
	eachGuest(t, func(t *testing.T, g *guest) {
		sub := g.subscribesFor(2, seats(10), "pm_card_visa")
		g.prorates(tenant.ProrationBehaviorNextInvoice)
		page := g.see(asking(sub, "5"), http.StatusOK)
		assert.Contains(t, page, "Nothing is charged now.")
		assert.Contains(t, page, "$30.00 more with your next payment")
		g.takes(sub, 5)
		assert.NotContains(t, g.see(asking(sub, "2"), http.StatusOK), "your credit", "nothing was paid for the others")
		g.takes(sub, 2)
		assert.Zero(t, g.credit())
		g.prorates(tenant.ProrationBehaviorNextPeriod)
		assert.Contains(t, g.see(asking(sub, "1"), http.StatusOK), "all stays as it is.")
		page = g.takes(sub, 1)
		assert.Contains(t, page, "Your subscription changes to 1 × Club &amp; more on ")
		assert.Contains(t, page, "It changes to 1 × Club &amp; more on ")
		assert.Equal(t, int64(2), g.subscription(sub.ID).Quantity)
		assert.Zero(t, g.credit())
		amount, _ := g.paid(sub)
		assert.Equal(t, int64(2000), amount)

		variant := seats(10)
		variant.TrialDays = 14
		trial := g.subscribesFor(1, variant, "pm_card_visa")
		assert.Contains(t, g.see(asking(trial, "4"), http.StatusOK), "The change takes effect at once.")
		assert.Contains(t, g.takes(trial, 4), "Your subscription is 4 × Club &amp; more now.")
		assert.Contains(t, g.takes(trial, 1), "Your subscription is Club &amp; more now.")
		assert.Zero(t, g.credit())
		g.sound()
	})
}

func TestPortal_AQuantityThatCannotBePaidStays(t *testing.T) {
	eachGuest(t, func(t *testing.T, g *guest) {
		sub := g.subscribesFor(2, seats(10), "tok_fail_on_renewal")
		path := "/subscriptions/" + sub.ID + "/plan"
		page := g.does(path, confirming(g.see(asking(sub, "5"), http.StatusOK)), http.StatusUnprocessableEntity)
		assert.Contains(t, page, "There is a problem")
		assert.Contains(t, page, "Change and pay $30.00", "to be tried again")
		assert.Equal(t, int64(2), g.subscription(sub.ID).Quantity)

		late := g.subscribesFor(2, seats(10), "pm_card_visa")
		g.now = g.now.AddDate(0, 1, 1)
		g.renew()
		form := confirming(g.see(asking(late, "5"), http.StatusOK))
		_, err := g.AdvanceSubscription(t.Context(), g.account, late.ID) // whose charge has no outcome yet
		require.NoError(t, err)
		assert.Contains(t, g.does("/subscriptions/"+late.ID+"/plan", form, http.StatusUnprocessableEntity), "A payment for this subscription is under way. Try again in a moment.")
		assert.Equal(t, int64(2), g.subscription(late.ID).Quantity)
		g.run()
		g.sound()
	})
}
