package fault

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/tests/harness"
	"github.com/tillwright/tillwright/tests/harness/database"
	"github.com/tillwright/tillwright/tests/harness/metafake"
)

const (
	metaToken, metaAccount, metaPixel = "EAAGm0PX4ZCpsBAfakeToken", "act_1015000000000101", "1015000000000777"
	thinking                          = 100 * time.Millisecond
)

// TestKill_TellsAdNetworksOfEverySaleOnce has buyers of whom two in three agreed that ad networks are told. It kills the server under them, often
// after the network has counted something and before the server has heard so. Of each who agreed and paid the network counts the purchase and what it
// began, under one id each however often it was told. It hears of nobody else, and refuses nothing as late or wrong.
func TestKill_TellsAdNetworksOfEverySaleOnce(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		m := newAdvertised(t, url)
		m.run(count(6, 200), m.sale)
		report(t, m.campaign, append(m.differingReplays(), m.faults()...))
	})
}

// advertised is a campaign of sales of which Meta is told.
type advertised struct {
	*campaign
	meta       *metafake.Fake
	membership string // what some buy beside the guide
}

func newAdvertised(t *testing.T, url string) *advertised {
	t.Helper()
	m := &advertised{meta: metafake.New(metaToken)}
	m.meta.AddAccount(metafake.Account{ID: metaAccount, Name: "Dollars", Currency: "USD", Timezone: "America/New_York", Minimum: 100, Country: "US"})
	m.meta.AddPage("2020000000000001", "Northwind", metaToken+"OfThePage", "")
	m.meta.AddPixel(metaAccount, metaPixel, "Shop")
	network := httptest.NewServer(slow{m.meta})
	t.Cleanup(network.Close)
	b := harness.Build(t)
	b.Env = append(b.Env, "TILLWRIGHT_ADS_NETWORKS=facebook", "TILLWRIGHT_META_URL="+network.URL)
	m.campaign = newCampaign(t, b, url)
	m.offer()
	m.spared = 250 * time.Millisecond
	c := m.client(m.server.Load(), 0)
	club := c.Must(t, http.MethodPost, "/v1/products", map[string]any{
		"name": "Club", "status": "active", "price_variants": []any{map[string]any{"amount": 900, "currency": "usd", "type": "recurring", "interval": "month", "trial_days": 14}},
	})
	m.membership = club["price_variants"].([]any)[0].(string)
	channel := c.Must(t, http.MethodPost, "/v1/socials", map[string]any{"platform": "facebook", "token": metaToken})["id"]
	c.Must(t, http.MethodPost, "/v1/socials/activate", map[string]any{"account_id": channel})
	c.Must(t, http.MethodPost, "/v1/ads/conversion-destinations", map[string]any{
		"account_id": channel, "ad_account_id": metaAccount, "pixel_id": metaPixel, "events": []string{"purchase", "subscription_started", "trial_started"},
	})
	return m
}

// slow is a network that thinks after it has counted an event, so that kills meet the moment before it is heard.
type slow struct{ http.Handler }

func (s slow) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	answer := httptest.NewRecorder()
	s.Handler.ServeHTTP(answer, r)
	if strings.HasSuffix(r.URL.Path, "/events") {
		time.Sleep(thinking)
	}
	for name, values := range answer.Header() {
		w.Header()[name] = values
	}
	w.WriteHeader(answer.Code)
	_, _ = w.Write(answer.Body.Bytes()) // nobody is there any more, after a kill
}

// buyer is the address of a buyer.
func buyer(n int64) string { return fmt.Sprintf("buyer-%d@example.com", n) }

func agrees(n int64) bool { return n%3 != 0 }

// sale is a purchase. One in four begins a trial, one in five is declined first, and some answer only when they pay, or take a yes back.
func (m *advertised) sale(n int64) {
	lines := []any{map[string]any{"price_variant": m.price}}
	if n%4 == 0 {
		lines = append(lines, map[string]any{"price_variant": m.membership})
	}
	yes := map[string]any{"ads_consent": true, "ads_visit": map[string]any{
		"page_url": "https://shop.example/guide", "click_ids": map[string]any{"fbclid": fmt.Sprint("IwAR0-", n)}, "client_ip": "203.0.113.7", "user_agent": "Mozilla/5.0",
	}}
	body, pay := map[string]any{"customer_email": buyer(n), "line_items": lines}, map[string]any{"payment_method": "pm_card_visa"}
	saysSo := body
	if n%2 == 0 {
		saysSo = pay
	}
	if agrees(n) || n%6 == 3 { // who says it as the checkout is made, and takes it back
		for name, value := range yes {
			saysSo[name] = value
		}
	}
	checkout := m.insist(request{key: fmt.Sprint("checkout ", n), path: "/v1/checkouts", body: body}, http.StatusCreated)
	if checkout == nil {
		return
	}
	path := "/v1/checkouts/" + checkout["id"].(string)
	if !agrees(n) && n%6 == 3 {
		m.insist(request{key: fmt.Sprint("no ", n), method: http.MethodPatch, path: path, body: map[string]any{"ads_consent": false}}, http.StatusOK)
	}
	if n%5 == 0 {
		declined := map[string]any{"payment_method": "pm_card_chargeDeclined"}
		m.insist(request{key: fmt.Sprint("decline ", n), path: path + "/confirm", body: declined}, http.StatusUnprocessableEntity)
	}
	m.insist(request{key: fmt.Sprint("confirm ", n), path: path + "/confirm", body: pay}, http.StatusOK)
}

// faults compares what the network was told, by who it was told of, with what buyers were told.
func (m *advertised) faults() []string {
	m.t.Helper()
	wanted := map[string][]string{} // by the hash of the buyer's address
	for key, a := range m.answers {
		var n int64
		if _, err := fmt.Sscanf(key, "confirm %d", &n); err != nil {
			continue
		}
		var paid struct{ Order, Subscription string }
		if err := json.Unmarshal(a.text, &paid); err != nil {
			m.t.Fatal(err)
		}
		if agrees(n) {
			of := advert.HashOf(buyer(n))
			wanted[of] = append(wanted[of], "Purchase "+paid.Order)
			if paid.Subscription != "" {
				wanted[of] = append(wanted[of], "StartTrial "+paid.Subscription)
			}
		}
	}
	m.endLeases(m.t) // of the last kill
	db := harness.OpenDatabase(m.t, m.url)
	defer db.Close()
	await(m.t, "everything is told", func() bool {
		return len(db.Strings(m.t, `SELECT id FROM ad_conversions WHERE status = 'pending'`)) == 0
	})
	told, repeated := m.told()
	faults := compareTold(wanted, told)
	faults = append(faults, m.meta.Refused()...)
	for _, event := range m.meta.Events(metaPixel) {
		if late := event.At.Add(time.Hour).Before(time.Now()); late {
			faults = append(faults, fmt.Sprintf("%s is late", event))
		}
	}
	if left := db.Strings(m.t, `SELECT id FROM ad_conversions WHERE status <> 'sent' OR user_data <> '{}'`); len(left) > 0 {
		faults = append(faults, fmt.Sprintf("%d conversions are not sent, or still say who it was", len(left)))
	}
	m.t.Logf("%d buyers agreed; events were told again %d times", len(wanted), repeated)
	return append(faults, m.brokenInvariants(m.t)...)
}

// compareTold compares what a network was told of each buyer with what it should have been told.
func compareTold(wanted, told map[string][]string) (faults []string) {
	for of, events := range wanted {
		slices.Sort(events)
		if !slices.Equal(told[of], events) {
			faults = append(faults, fmt.Sprintf("somebody did %q, and the network was told %q", events, told[of]))
		}
	}
	for of, events := range told {
		if wanted[of] == nil {
			faults = append(faults, fmt.Sprintf("the network was told %q, to which nobody agreed", events))
		}
	}
	return faults
}

// TestToldBooks_ShowEveryFault gives the comparison books that are wrong, each in one way.
func TestToldBooks_ShowEveryFault(t *testing.T) {
	t.Parallel()
	for what, told := range map[string]map[string][]string{
		"a sale is not told":              {},
		"a trial is not told":             {"ada": {"Purchase 1"}},
		"a sale is told under two ids":    {"ada": {"Purchase 1", "Purchase 2", "StartTrial 1"}},
		"somebody is told of who said no": {"ada": {"Purchase 1", "StartTrial 1"}, "bob": {"Purchase 3"}},
	} {
		if faults := compareTold(map[string][]string{"ada": {"StartTrial 1", "Purchase 1"}}, told); len(faults) != 1 {
			t.Errorf("%s: the comparison sees %q", what, faults)
		}
	}
}

// told is what the network was told of each buyer, each event once and in order, and how often something was told again. That is the same event to
// the byte.
func (m *advertised) told() (told map[string][]string, repeated int) {
	m.t.Helper()
	told, texts := map[string][]string{}, map[string]json.RawMessage{}
	for _, call := range m.meta.Calls() {
		if call.Method != http.MethodPost || call.Edge != "events" || call.Refused != nil {
			continue
		}
		var events []json.RawMessage
		if err := json.Unmarshal([]byte(call.Params.Get("data")), &events); err != nil {
			m.t.Fatal(err)
		}
		for _, text := range events {
			var event struct {
				Name string `json:"event_name"`
				ID   string `json:"event_id"`
				User struct {
					Email []string `json:"em"`
				} `json:"user_data"`
			}
			if err := json.Unmarshal(text, &event); err != nil {
				m.t.Fatal(err)
			}
			name := event.Name + " " + event.ID
			if before, again := texts[name]; again {
				if repeated++; !bytes.Equal(before, text) {
					m.t.Errorf("%s was told as %s and then as %s", name, before, text)
				}
				continue
			}
			texts[name] = text
			told[event.User.Email[0]] = append(told[event.User.Email[0]], name)
		}
	}
	for _, events := range told {
		slices.Sort(events)
	}
	return told, repeated
}
