package dashboard

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/server/ui"
	"github.com/tillwright/tillwright/store/core"
)

// home shows how the shop does, and what to do before it sells.
func (d *Dashboard) home(v *visit) error {
	p := ui.Page{Heading: "Home"}
	orders, err := d.api.Orders.List(v.ctx(), &sdk.ListOrdersParams{Limit: new(int64(10)), Expand: sdk.Expand("customer", "line_items")})
	if err != nil {
		return err
	}
	if len(orders.Data) == 0 && !v.may("account:write") {
		p.Lead = "Nothing was sold yet."
		return v.show(http.StatusOK, p)
	}
	if len(orders.Data) == 0 {
		p.Steps, err = d.steps(v)
		if err != nil {
			return err
		}
		return v.show(http.StatusOK, p)
	}
	currency, others := v.currencies(orders.Data)
	if p.Stats, err = d.stats(v, currency); err != nil {
		return err
	}
	if len(others) > 1 {
		p.Filter = &ui.Form{Get: true, Inline: true, Submit: "Show", Controls: []ui.Control{{Kind: "select", Name: "currency", Label: "Currency", Options: others}}}
	}
	p.Sections = []ui.Section{{Title: "Newest orders", Table: d.orderTable(v, orders.Data)}}
	return v.show(http.StatusOK, p)
}

// currencies returns the currency whose figures are shown, and those that there are to choose from: the shop's own, and those of its newest orders.
func (v *visit) currencies(orders []sdk.Order) (string, []ui.Option) {
	all := []string{orders[0].Currency}
	for i := range orders {
		if !slices.Contains(all, orders[i].Currency) {
			all = append(all, orders[i].Currency)
		}
	}
	current := all[0]
	if slices.Contains(all, v.shop.DefaultCurrency) {
		current = v.shop.DefaultCurrency
	} else {
		all = append(all, v.shop.DefaultCurrency)
	}
	if asked := v.QueryParam("currency"); slices.Contains(all, asked) {
		current = asked
	}
	var options []ui.Option
	for _, currency := range all {
		options = append(options, ui.Option{Value: currency, Text: strings.ToUpper(currency), Chosen: currency == current})
	}
	return current, options
}

// stats returns the figures of the last 30 days, each with what it was in the 30 days before.
func (d *Dashboard) stats(v *visit, currency string) ([]ui.Stat, error) {
	const days = 30
	today := d.store.Now().Time().In(v.zone)
	figures := func(ago int) (*sdk.MetricsFigures, error) {
		from, to := today.AddDate(0, 0, -ago-days+1).Format(time.DateOnly), today.AddDate(0, 0, -ago).Format(time.DateOnly)
		m, err := d.api.Metrics.Get(v.ctx(), &sdk.GetMetricsParams{From: &from, To: &to, Interval: new(sdk.MetricsIntervalMonth), Currency: &currency})
		if err != nil {
			return nil, err
		}
		return &m.Totals, nil
	}
	now, err := figures(0)
	if err != nil {
		return nil, err
	}
	before, err := figures(days)
	if err != nil {
		return nil, err
	}
	money := func(amount int64) string { return core.FormatAmount(amount, currency) }
	was := func(text string) string { return text + " in the 30 days before" }
	return []ui.Stat{
		{Name: "Revenue in 30 days", Figure: money(now.Revenue), Change: was(money(before.Revenue)), Address: ordersPage},
		{Name: "Recurring a month", Figure: money(now.Mrr), Change: was(money(before.Mrr))},
		{Name: "Orders in 30 days", Figure: strconv.FormatInt(now.Orders, 10), Change: was(strconv.FormatInt(before.Orders, 10)), Address: ordersPage},
		{Name: "Checkouts that were paid", Figure: share(now.CheckoutConversionBps), Change: was(share(before.CheckoutConversionBps))},
		{Name: "Refunds in 30 days", Figure: money(now.Refunds), Change: was(money(before.Refunds))},
	}, nil
}

// steps returns what a shop needs before its first sale, and what of it is done.
func (d *Dashboard) steps(v *visit) ([]ui.Step, error) {
	products, err := d.api.Products.List(v.ctx(), &sdk.ListProductsParams{Limit: new(int64(1))})
	if err != nil {
		return nil, err
	}
	keys, err := d.api.APIKeys.List(v.ctx(), &sdk.ListAPIKeysParams{Limit: new(int64(1))})
	if err != nil {
		return nil, err
	}
	links, err := d.api.CheckoutLinks.List(v.ctx(), &sdk.ListCheckoutLinksParams{Limit: new(int64(1))})
	if err != nil {
		return nil, err
	}
	hooks, err := d.api.WebhookEndpoints.List(v.ctx(), &sdk.ListWebhookEndpointsParams{Limit: new(int64(1))})
	if err != nil {
		return nil, err
	}
	takesMoney := v.shop.PaymentsProvider == sdk.PaymentsProviderTest || v.shop.StripeSecretKeyLast4 != nil && v.shop.StripeWebhookSecretLast4 != nil
	return []ui.Step{
		{Text: "Make a product", Address: "/app/products/new", Done: len(products.Data) > 0},
		{Text: "Say how you are paid", Address: "/app/settings/payments", Done: takesMoney},
		{Text: "Show your logo", Address: "/app/settings/branding", Done: v.shop.LogoURL != nil},
		{Text: "Make a checkout link", Address: linksPage + "/new", Done: len(links.Data) > 0},
		{Text: "Make an API token", Address: "/app/developers/tokens/new", Done: len(keys.Data) > 0},
		{Text: "Have your programs told by webhooks", Address: "/app/developers/webhooks", Done: len(hooks.Data) > 0},
	}, nil
}
