package contract

import (
	"net/http"
	"testing"
	"time"
)

// sell makes one order, with a saved payment method and a refund of a part that stays pending, and leaves a second, open
// checkout.
func (w *world) sell(t testing.TB) {
	t.Helper()
	sold := w.Must(t, http.MethodPost, "/v1/products", map[string]any{
		"name": "Sold", "status": "active", "price_variants": []any{map[string]any{"amount": 1900, "currency": "usd"}},
	})
	w.IDs["sold"], w.IDs["sold price"] = sold["id"].(string), sold["price_variants"].([]any)[0].(string)
	lines := []any{map[string]any{"price_variant": w.IDs["sold price"]}}
	w.Code = "CODE-" + unique()
	w.make(t, "disc", "/v1/discounts", map[string]any{"code": w.Code, "type": "percent", "percent_bps": 1000})
	paid := w.make(t, "chk", "/v1/checkouts", map[string]any{"customer": w.IDs["cus"], "discount_code": w.Code, "line_items": lines})
	paid = w.Must(t, http.MethodPost, "/v1/checkouts/"+paid["id"].(string)+"/confirm", map[string]any{
		"payment_method": "pm_card_pendingRefund", "save_payment_method": true,
	})
	w.IDs["pm"] = w.first(t, "/v1/customers/"+w.IDs["cus"]+"/payment_methods", nil)
	w.make(t, "bal", "/v1/customers/"+w.IDs["cus"]+"/balance_transactions", map[string]any{"amount": 700, "currency": "eur", "description": "Sorry"})
	w.make(t, "psess", "/v1/customers/"+w.IDs["cus"]+"/portal_sessions", map[string]any{})
	w.IDs["order"] = paid["order"].(string)
	w.IDs["pay"] = w.Must(t, http.MethodGet, "/v1/orders/"+w.IDs["order"], nil)["payments"].([]any)[0].(string)
	w.make(t, "re", "/v1/refunds", map[string]any{"order": w.IDs["order"], "amount": 500})
	w.IDs["redm"] = w.first(t, "/v1/discounts/"+w.IDs["disc"]+"/redemptions", nil)
	open := w.make(t, "chk", "/v1/checkouts", map[string]any{"customer_email": unique() + "@example.com", "line_items": lines})
	w.Secret = open["client_secret"].(string)
}

// bill issues an invoice, whose order is pending, and leaves a draft.
func (w *world) bill(t testing.TB) {
	t.Helper()
	invoice := map[string]any{
		"customer": w.IDs["cus"], "due_at": "2099-12-31T00:00:00.000Z", "finalize": true,
		"lines": []any{map[string]any{"description": "Workshop", "unit_amount": 120000}},
	}
	issued := w.make(t, "inv", "/v1/invoices", invoice)
	w.IDs["issued invoice"], w.IDs["pending order"] = issued["id"].(string), issued["order"].(string)
	delete(invoice, "finalize")
	w.IDs["li"] = w.make(t, "inv", "/v1/invoices", invoice)["lines"].([]any)[0].(string)
}

// hear waits until the endpoint has been told of the order, so that nothing moves by itself any more.
func (w *world) hear(t testing.TB) {
	t.Helper()
	path := "/v1/webhook_endpoints/" + w.IDs["we"] + "/deliveries?status=succeeded"
	if !comes(func() bool {
		deliveries := w.Must(t, http.MethodGet, path, nil)["data"].([]any)
		if len(deliveries) == 1 {
			delivery := deliveries[0].(map[string]any)
			w.IDs["whd"], w.IDs["whev"] = delivery["id"].(string), delivery["event"].(string)
		}
		return len(deliveries) == 1
	}) {
		t.Fatal("the order was not delivered")
	}
}

// comes reports whether something becomes so in over a minute. A request each time takes half of the key's quota at most.
func comes(isSo func() bool) bool {
	for i := range 300 {
		if isSo() {
			return true
		}
		time.Sleep(min(time.Duration(i+1)*5, 250) * time.Millisecond)
	}
	return false
}

// subscribe makes two subscriptions, of which the first is going to pause and to end with its period.
func (w *world) subscribe(t testing.TB) {
	t.Helper()
	product := w.Must(t, http.MethodPost, "/v1/products", map[string]any{
		"name": "Club", "status": "active", "price_variants": []any{map[string]any{"type": "recurring", "interval": "month", "interval_count": 1, "amount": 900, "currency": "usd"}},
	})
	w.IDs["recurring price"] = product["price_variants"].([]any)[0].(string)
	other := w.Must(t, http.MethodPost, "/v1/customers", map[string]any{"email": unique() + "@example.com"}) // who has one is not deleted
	member := map[string]any{"customer": other["id"], "price_variant": w.IDs["recurring price"], "payment_method": "pm_card_visa"}
	w.make(t, "sub", "/v1/subscriptions", member)
	w.IDs["ending sub"] = w.IDs["sub"]
	w.Must(t, http.MethodPost, "/v1/subscriptions/"+w.IDs["sub"]+"/pause", map[string]any{})
	w.Must(t, http.MethodPatch, "/v1/subscriptions/"+w.IDs["sub"], map[string]any{"cancel_at_period_end": true})
	w.make(t, "sub", "/v1/subscriptions", member)
}
