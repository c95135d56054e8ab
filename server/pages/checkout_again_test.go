package pages_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/store/checkout"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/tenant"
)

// Whoever was reminded is reminded once more, a day later: of a checkout of their own, since theirs has expired.
func TestCheckoutPage_RemindsAgainAfterADay(t *testing.T) {
	eachNews(t, func(t *testing.T, w *shop) {
		link := w.link(catalog.PriceVariant{Amount: 1900}, nil)
		expires := func() {
			due, err := w.Checkout.Due(t.Context(), "", 100)
			require.NoError(t, err)
			for _, d := range due {
				_, err := w.Checkout.End(t.Context(), d.AccountID, d.ID)
				require.NoError(t, err)
			}
		}
		for n, d := range []struct {
			why  string
			does func(c *checkout.Checkout, email string)
		}{
			{"", func(*checkout.Checkout, string) {}},
			{"The checkout is paid, or is being paid.", func(c *checkout.Checkout, _ string) { w.post(c, http.StatusOK, card(accepted, "3800")) }},
			{"The customer has bought since.", func(_ *checkout.Checkout, email string) {
				other := w.vouched(email)
				w.post(other, http.StatusOK, card(accepted, "3800"))
			}},
			{"The customer does not want news.", func(*checkout.Checkout, string) { w.posts(w.reminders()[len(w.reminders())-1].Leave, http.StatusOK) }},
			{"The checkout has expired.", func(c *checkout.Checkout, _ string) {
				_, err := w.Checkout.Expire(t.Context(), w.account, c.ID)
				require.NoError(t, err)
			}},
			{"Its day was more than two days ago.", func(*checkout.Checkout, string) { // the account was disabled, say
				w.now = w.now.Add(4 * 24 * time.Hour)
				expires()
			}},
			{"The account has switched letters of this kind off.", func(*checkout.Checkout, string) {
				_, err := w.Tenant.UpdateAccount(t.Context(), w.account, func(a *tenant.AccountChange) { a.SwitchLetters(map[string]bool{"checkout_abandoned": false}) })
				require.NoError(t, err)
			}},
		} {
			email := fmt.Sprintf("reader%d@example.com", n)
			c, err := w.Checkout.Update(t.Context(), w.account, w.vouched(email).ID, func(d *checkout.Draft) { d.Source.V = &checkout.Source{CheckoutLink: &link.ID} })
			require.NoError(t, err)
			w.post(c, http.StatusOK, addressed(email, wantsNews(declined)))
			before := len(w.reminders())
			w.abandoned(c, 2*time.Hour)
			require.Len(t, w.reminders(), before+1, d.why)
			d.does(c, email)
			w.abandoned(c, 23*time.Hour)
			expires()
			assert.Len(t, w.reminders(), before+1, "an address has one a day at most")
			letters := w.abandoned(c, 2*time.Hour)
			require.Len(t, letters, 2)
			assert.Equal(t, d.why, core.Deref(letters[0].LastError))
			if d.why != "" {
				assert.Len(t, w.reminders(), before+1, d.why)
				continue
			}
			w.abandoned(c, 48*time.Hour)
			require.Len(t, w.reminders(), before+2, "there is no third")
			assert.Contains(t, w.reminders()[before+1].Text, link.URL)
			assert.NotContains(t, w.reminders()[before+1].Text, c.ClientSecret)
		}
	})
}
