package contract

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/tests/harness"
)

// leave has buyers tick that they want news, and leave a checkout. They are reminded, and the one who has bought nothing before ends the news.
func leave(t *testing.T, s *harness.Server, c *sdk.Client) {
	t.Helper()
	ok[*sdk.Account](t)(c.Account.Update(background, &sdk.AccountUpdate{Letters: map[string]bool{"checkout_abandoned": true}}))
	had, v := onSale(t, c, 1900), onSale(t, c, 1900)
	bought := checkout(t, c, "has@example.com", had)
	ok[*sdk.Checkout](t)(c.Checkouts.Confirm(background, bought.ID, by("pm_card_visa")))
	for _, email := range []string{"has@example.com", "leaves@example.com"} {
		left := checkout(t, c, email, v)
		submit(t, s.URL+strings.TrimPrefix(left.URL, "http://shop.test")+"/pay", url.Values{
			"do": {"pay"}, "shown": {"another total"}, "card_number": {"4242424242424242"}, "card_expiry": {"12/40"}, "card_cvc": {"123"}, "news": {"true", "false"},
		})
	}
	advance(t, c, 61*time.Minute)
	link := ""
	if !comes(func() bool {
		for _, l := range s.Mail.Listed() {
			if l.Leave != "" && l.To == "leaves@example.com" {
				link = l.Leave
			}
		}
		return link != ""
	}) {
		t.Fatal("nobody was reminded of the checkout that they left")
	}
	submitted(t, s.URL+strings.TrimPrefix(link, "http://shop.test"), http.StatusOK, nil)
}
