package stripefake

import (
	"embed"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"testing"
)

//go:embed web
var web embed.FS

// numbers maps the card numbers that a buyer can type to the tokens of their cards. It is never changed.
var numbers = map[string]string{
	"4242424242424242": "pm_card_visa",
	"4000000000000002": "pm_card_chargeDeclined",
	"4000002500003155": "pm_card_authenticationRequiredOnSetup",
}

// Hosts serves what a buyer's browser sees of Stripe, until the test ends. That is Stripe.js and its frames, the API that takes a card, and a bank
// that asks whether a payment is theirs. It returns the address of each host.
func (f *Fake) Hosts(t testing.TB) map[string]string {
	t.Helper()
	files, err := fs.Sub(web, "web")
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET js.stripe.com/dahlia/stripe.js", func(w http.ResponseWriter, r *http.Request) { http.ServeFileFS(w, r, files, "stripe.js") })
	mux.HandleFunc("GET js.stripe.com/card.html", func(w http.ResponseWriter, r *http.Request) { http.ServeFileFS(w, r, files, "card.html") })
	mux.HandleFunc("OPTIONS api.stripe.com/", func(w http.ResponseWriter, _ *http.Request) { allowAll(w) })
	mux.HandleFunc("POST api.stripe.com/v1/payment_methods", f.takeCard)
	mux.HandleFunc("GET hooks.stripe.test/3d_secure", func(w http.ResponseWriter, r *http.Request) { http.ServeFileFS(w, r, files, "bank.html") })
	mux.HandleFunc("POST hooks.stripe.test/3d_secure", f.askBank)
	server := httptest.NewTLSServer(mux)
	t.Cleanup(server.Close)
	address := server.Listener.Addr().String()
	return map[string]string{"js.stripe.com": address, "api.stripe.com": address, "hooks.stripe.test": address}
}

// allowAll lets pages of every site call, as Stripe's API does.
func allowAll(w http.ResponseWriter) {
	w.Header().Set("Access-Control-Allow-Origin", "*")
	w.Header().Set("Access-Control-Allow-Headers", "Authorization")
}

// takeCard makes a payment method of a card that a browser sends with the publishable key.
func (f *Fake) takeCard(w http.ResponseWriter, r *http.Request) {
	allowAll(w)
	token := numbers[r.FormValue("card[number]")]
	if r.Header.Get("Authorization") != "Bearer "+f.PublishableKey {
		send(w, written(fail(401, "invalid_request_error", "", "", "Invalid API Key provided.")))
		return
	}
	if token == "" {
		send(w, written(fail(402, "card_error", "incorrect_number", "number", "Your card number is incorrect.")))
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	id, _ := f.findMethod(token)
	send(w, written(ok(f.objects[id])))
}

// askBank takes what the owner of a card tells the bank, which sends them back to where they came from.
func (f *Fake) askBank(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	asked := slices.IndexFunc(f.order, func(id string) bool { return f.objects[id]["status"] == "requires_action" })
	if asked < 0 {
		f.mu.Unlock()
		http.Error(w, "nothing waits for you", http.StatusNotFound)
		return
	}
	id := f.order[asked]
	back := f.objects[id]["next_action"].(object)["redirect_to_url"].(object)["return_url"].(string)
	f.mu.Unlock()
	answer := r.FormValue("answer")
	f.Settle(id, answer == "succeeded")
	address, err := url.Parse(back)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	query := address.Query()
	query.Set(kindOf(f.Object(id)), id)
	query.Set("redirect_status", answer)
	address.RawQuery = query.Encode()
	http.Redirect(w, r, address.String(), http.StatusSeeOther)
}
