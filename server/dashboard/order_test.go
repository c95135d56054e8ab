package dashboard_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/store/person"
)

// sold has a customer buy a product for 20 euros, and returns the order.
func (w *world) sold() *sdk.Order {
	w.t.Helper()
	api := w.api.SDK()
	p, err := api.Products.Create(w.t.Context(), &sdk.ProductCreate{
		Name: "Handbook", Status: new(sdk.ProductStatusActive), PriceVariants: []sdk.ProductPriceVariant{{Amount: new(int64(2000)), Currency: new("eur")}},
	})
	require.NoError(w.t, err)
	c, err := api.Checkouts.Create(w.t.Context(), &sdk.CheckoutCreate{
		LineItems: []sdk.CheckoutLine{{PriceVariant: p.PriceVariants[0].ID}}, CustomerEmail: new("grace@example.com"), CustomerName: new(`Grace </script><b>`),
	})
	require.NoError(w.t, err)
	c, err = api.Checkouts.Confirm(w.t.Context(), c.ID, &sdk.CheckoutConfirm{PaymentMethod: &sdk.PaymentMethod{Card: &sdk.Card{Number: "4242424242424242", ExpMonth: 12, ExpYear: 2034, CVC: "123"}}})
	require.NoError(w.t, err)
	o, err := api.Orders.Get(w.t.Context(), c.Order.ID)
	require.NoError(w.t, err)
	return o
}

func TestOrders_AreShownAndRefunded(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		sees(t, w.owner, "/app/orders", "There is no order yet.")
		o := w.sold()
		list := sees(t, w.owner, "/app/orders", "Order 1", "EUR\u00a020.00", "Paid", "Grace &lt;/script&gt;", "Handbook")
		require.NotContains(t, list, "</script>")
		sees(t, w.owner, "/app/orders?number=1&status=paid&email=grace@example.com", "Order 1")
		sees(t, w.owner, "/app/orders?number=2", "Nothing matches.")
		sees(t, w.owner, "/app", "Revenue in 30 days", "Newest orders", "Order 1")

		address := "/app/orders/" + o.ID
		sees(t, w.owner, address, "Order 1</h1>", "Refund</a>", "Succeeded", "Handbook", "Grace")
		page := sees(t, w.owner, address+"/refund", "Amount", "Reason", `value="20.00"`, "Up to EUR\u00a020.00")
		once := between(t, page, `name="once" value="`, `"`)
		for _, wrong := range []string{"", "x", "0", "20.01", "-1", "99999999999999999999"} {
			status, page := w.owner.Post(address+"/refund", url.Values{"amount": {wrong}, "reason": {"duplicate"}})
			require.Equal(t, http.StatusUnprocessableEntity, status, wrong)
			require.Contains(t, page, `href="#amount"`, wrong)
		}
		form := url.Values{"amount": {"5.00"}, "reason": {"customer_request"}, "comment": {"hers"}, "once": {once}}
		for range 2 { // a double click
			require.Equal(t, address, sends(t, w.owner, address+"/refund", form))
		}
		sees(t, w.owner, address, "EUR\u00a05.00 was refunded.", "Refunded in part", "The customer asked")
		form = url.Values{"amount": {"15"}, "reason": {"other"}, "revoke_access": {"yes"}}
		support := w.Member(t, w.api.Account, person.RoleSupport)
		sends(t, support, address+"/refund", form)
		page = sees(t, support, address, "Refunded</span>")
		require.NotContains(t, page, "/refund\"")
		refunds, err := w.api.SDK().Refunds.List(t.Context(), nil)
		require.NoError(t, err)
		require.Len(t, refunds.Data, 2)

		sends(t, support, address+"/receipt", nil)
		status, _ := w.Member(t, w.api.Account, person.RoleReadOnly).Get(address + "/refund")
		require.Equal(t, http.StatusForbidden, status)
		status, foreign := w.Member(t, w.Account(t).Account, person.RoleOwner).Get(address)
		require.Equal(t, http.StatusNotFound, status)
		require.False(t, strings.Contains(foreign, o.ID))
	})
}

// What a change of plan gave of an order to the balance is neither kept nor refunded: without it the sums would not add up.
func TestOrder_ShowsWhatWentToTheBalance(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		api := w.api.SDK()
		p, err := api.Products.Create(t.Context(), &sdk.ProductCreate{Name: "Club", Status: new(sdk.ProductStatusActive), PriceVariants: []sdk.ProductPriceVariant{
			{Name: new("Large"), Amount: new(int64(5000)), Currency: new("eur"), Type: new(sdk.PriceVariantTypeRecurring), Interval: new(sdk.PriceVariantIntervalYear)},
			{Name: new("Small"), Amount: new(int64(1000)), Currency: new("eur"), Type: new(sdk.PriceVariantTypeRecurring), Interval: new(sdk.PriceVariantIntervalMonth)},
		}})
		require.NoError(t, err)
		c, err := api.Customers.Create(t.Context(), &sdk.CustomerCreate{Email: "grace@example.com"})
		require.NoError(t, err)
		sub, err := api.Subscriptions.Create(t.Context(), &sdk.SubscriptionCreate{Customer: c.ID, PriceVariant: p.PriceVariants[0].ID, PaymentMethod: new("pm_card_visa")})
		require.NoError(t, err)
		orders, err := api.Orders.List(t.Context(), nil)
		require.NoError(t, err)
		address := "/app/orders/" + orders.Data[0].ID
		require.NotContains(t, sees(t, w.owner, address, "Sums"), "Credited")
		_, err = api.Subscriptions.Change(t.Context(), sub.ID, &sdk.SubscriptionChangeCreate{PriceVariant: &p.PriceVariants[1].ID})
		require.NoError(t, err)
		sees(t, w.owner, address, "Credited to the customer&#39;s balance", "EUR\u00a0-40.00")
		sees(t, w.owner, address+"/refund", "Up to EUR\u00a010.00 can be refunded. A change of plan gave EUR\u00a040.00 of the order to the customer&#39;s balance.")
	})
}
