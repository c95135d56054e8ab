package dashboard_test

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/store/person"
)

// subscribed has a customer subscribe to something for 10 euros a month.
func (w *world) subscribed() *sdk.Subscription {
	w.t.Helper()
	api := w.api.SDK()
	p, err := api.Products.Create(w.t.Context(), &sdk.ProductCreate{Name: "Letters <i>", Status: new(sdk.ProductStatusActive), PriceVariants: []sdk.ProductPriceVariant{{
		Amount: new(int64(1000)), Currency: new("eur"), Type: new(sdk.PriceVariantTypeRecurring), Interval: new(sdk.PriceVariantIntervalMonth),
	}}})
	require.NoError(w.t, err)
	c, err := api.Checkouts.Create(w.t.Context(), &sdk.CheckoutCreate{LineItems: []sdk.CheckoutLine{{PriceVariant: p.PriceVariants[0].ID}}, CustomerEmail: new("linus@example.com")})
	require.NoError(w.t, err)
	_, err = api.Checkouts.Confirm(w.t.Context(), c.ID, &sdk.CheckoutConfirm{PaymentMethod: &sdk.PaymentMethod{Card: &sdk.Card{Number: "4242424242424242", ExpMonth: 12, ExpYear: 2034, CVC: "123"}}})
	require.NoError(w.t, err)
	list, err := api.Subscriptions.List(w.t.Context(), nil)
	require.NoError(w.t, err)
	return &list.Data[0]
}

func TestCustomers_AreShownChangedAndForgotten(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		sees(t, w.owner, "/app/customers", "There is nobody yet.")
		o, s := w.sold(), w.subscribed()
		page := sees(t, w.owner, "/app/customers", "Grace &lt;/script&gt;", "EUR\u00a020.00", "linus@example.com")
		require.NotContains(t, page, "</script>")
		require.NotContains(t, sees(t, w.owner, "/app/customers?q=linus", "linus@example.com"), "Grace")
		sees(t, w.owner, "/app/customers?q=nobody", "Nothing matches.")

		at, linus := "/app/customers/"+o.Customer.ID, "/app/customers/"+s.Customer.ID
		sees(t, w.owner, at, "Order 1", "They have no subscription.", "They owe nothing.", "/app/products/")
		sees(t, w.owner, linus, "Letters &lt;i&gt;", "EUR\u00a010.00 every month")
		support := w.Member(t, w.api.Account, person.RoleSupport)
		status, page := support.Post(at+"/edit", url.Values{"email": {"<b>"}, "name": {"Grace"}, "tags": {"a, b"}})
		require.Equal(t, http.StatusUnprocessableEntity, status)
		for _, piece := range []string{`href="#email"`, `value="&lt;b&gt;"`, `value="a, b"`} {
			require.Contains(t, page, piece)
		}
		sees(t, support, at+"/edit", "E-mail address")
		require.Equal(t, at, sends(t, support, at+"/edit", url.Values{"email": {"grace@example.com"}, "name": {"Grace"}, "tags": {"vip, b"}, "notes": {"Likes owls"}}))
		sees(t, support, at, "The customer was changed.", "vip, b", "Likes owls")
		sees(t, support, "/app/customers?tag=vip", "Grace")

		require.Equal(t, at, sends(t, support, at+"/portal", nil))
		link := between(t, sees(t, support, at, "Link to their purchases"), `class="key" value="`, `"`)
		require.Contains(t, link, "/portal/")
		require.NotContains(t, sees(t, support, at), link)

		card, err := w.api.SDK().Customers.CreatePaymentMethod(t.Context(), o.Customer.ID, &sdk.SavedPaymentMethodCreate{PaymentMethod: sdk.PaymentMethod{Card: &sdk.Card{Number: "4242424242424242", ExpMonth: 12, ExpYear: 2034, CVC: "123"}}})
		require.NoError(t, err)
		sees(t, support, at, "Remove visa …4242")
		status, _ = support.Get(linus + "/cards/" + card.ID)
		require.Equal(t, http.StatusNotFound, status, "it is somebody else's")
		status, _ = support.Post(linus+"/cards/"+card.ID, nil)
		require.Equal(t, http.StatusNotFound, status)
		sees(t, support, at+"/cards/"+card.ID, "Remove visa …4242", "Remove card")
		require.Equal(t, at, sends(t, support, at+"/cards/"+card.ID, nil))
		sees(t, support, at, "The card was removed.", "They have saved no card.")

		sees(t, w.owner, linus+"/delete", "for good")
		status, page = w.owner.Post(linus+"/delete", nil)
		require.Equal(t, http.StatusUnprocessableEntity, status)
		require.Contains(t, page, "There is a problem")
		require.Equal(t, "/app/customers", sends(t, w.owner, linus+"/delete", url.Values{"cancel_subscriptions": {"yes"}}))
		status, _ = w.owner.Get(linus)
		require.Equal(t, http.StatusNotFound, status)

		reader := w.Member(t, w.api.Account, person.RoleReadOnly)
		page = sees(t, reader, at, "Grace")
		require.NotContains(t, page, "/edit")
		require.NotContains(t, page, "/portal")
		require.NotContains(t, page, "/delete")
	})
}

func TestCustomers_AreGivenABalance(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		at := "/app/customers/" + w.sold().Customer.ID
		sees(t, w.owner, at, `href="`+at+`/balance"`, "Nothing")
		sees(t, w.owner, at+"/balance", "They never had anything to their credit.", "Give them", "Why")
		status, page := w.owner.Post(at+"/balance", url.Values{"direction": {"take"}, "amount": {"5,00"}, "currency": {"eur"}, "description": {"<b>Sorry"}})
		require.Equal(t, http.StatusUnprocessableEntity, status)
		for _, piece := range []string{`href="#amount"`, "There is nothing to take", "&lt;b&gt;Sorry", `value="5,00"`} {
			require.Contains(t, page, piece)
		}
		status, page = w.owner.Post(at+"/balance", url.Values{"direction": {"give"}, "amount": {"much"}, "currency": {"eur"}})
		require.Equal(t, http.StatusUnprocessableEntity, status)
		require.Contains(t, page, "Type an amount like 12.50.")
		support := w.Member(t, w.api.Account, person.RoleSupport)
		require.Equal(t, at+"/balance", sends(t, support, at+"/balance", url.Values{"direction": {"give"}, "amount": {"5"}, "currency": {"eur"}, "description": {"<b>Sorry"}}))
		sees(t, support, at+"/balance", "EUR\u00a05.00 was given.", "&lt;b&gt;Sorry", "By hand")
		sends(t, support, at+"/balance", url.Values{"direction": {"take"}, "amount": {"1.50"}, "currency": {"eur"}, "description": {"Too much"}})
		sees(t, support, at+"/balance", "EUR\u00a01.50 was taken.", "EUR\u00a0-1.50", "EUR\u00a03.50")
		sees(t, support, at, "EUR\u00a03.50")
		page = sees(t, w.Member(t, w.api.Account, person.RoleReadOnly), at+"/balance", "Too much")
		require.NotContains(t, page, "Give them")
	})
}

func TestSubscriptions_ArePausedAndCancelled(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		sees(t, w.owner, "/app/subscriptions", "There is none yet.")
		s := w.subscribed()
		at := "/app/subscriptions/" + s.ID
		sees(t, w.owner, "/app/subscriptions?status=active", "Letters &lt;i&gt;", "linus@example.com", "EUR\u00a010.00 every month")
		sees(t, w.owner, "/app/subscriptions?status=paused", "Nothing matches.")
		sees(t, w.owner, at, "Next invoice", "To be charged", "Order 1", "Pause at the end of the period")
		sends(t, w.owner, at+"/pause", nil)
		sees(t, w.owner, at, "It is paused at the end of its period.", "Do not pause", "It is paused when its period ends.")
		sends(t, w.owner, at+"/resume", nil)
		sees(t, w.owner, at, "It goes on.")
		status, _ := w.owner.Post(at+"/end", nil)
		require.Equal(t, http.StatusNotFound, status)

		sees(t, w.owner, at+"/cancel", "At the end of the period")
		status, page := w.owner.Post(at+"/cancel", url.Values{"at_period_end": {""}, "comment": {"<b>bye"}})
		require.Equal(t, http.StatusUnprocessableEntity, status)
		require.Contains(t, page, `href="#at_period_end"`)
		require.Contains(t, page, "&lt;b&gt;bye")
		form := url.Values{"at_period_end": {"yes"}, "reason": {"unused"}}
		require.Equal(t, at, sends(t, w.owner, at+"/cancel", form))
		sees(t, w.owner, at, "ends with its period", "Ends soon", "It is not used", "Keep it", "it will not be renewed.", `href="/app/customers/`+s.Customer.ID+`"`)
		sends(t, w.owner, at+"/uncancel", nil)
		sees(t, w.owner, at, "not cancelled any more")
		form.Set("at_period_end", "no")
		sends(t, w.owner, at+"/cancel", form)
		require.NotContains(t, sees(t, w.owner, at, "The subscription has ended.", "Cancelled"), "/cancel\"")
		status, _ = w.Member(t, w.api.Account, person.RoleDeveloper).Get(at + "/cancel")
		require.Equal(t, http.StatusForbidden, status)
	})
}
