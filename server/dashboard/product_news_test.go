package dashboard_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/store/person"
	"github.com/tillwright/tillwright/tests/harness"
)

// letterForm is what somebody writes about a product.
func letterForm() url.Values {
	return url.Values{"subject": {`New <img src=x onerror=alert(1)>`}, "body": {"It is **here**.\r\n\r\n<script>alert(2)</script>"}, "audience": {"everyone"}, "send_at": {""}}
}

// agreed makes customers who agreed to news.
func (w *world) agreed(emails ...string) {
	w.t.Helper()
	for _, email := range emails {
		_, err := w.api.SDK().Customers.Create(w.t.Context(), &sdk.CustomerCreate{Email: email, MarketingConsent: &sdk.MarketingConsent{Status: sdk.MarketingConsentStatusSubscribed}})
		require.NoError(w.t, err)
	}
}

// with returns a form with one more field.
func with(form url.Values, name, value string) url.Values {
	all := url.Values{name: {value}}
	for key, values := range form {
		if key != name {
			all[key] = values
		}
	}
	return all
}

// News is written on the page of a product, looked at, tried out, and sent once it was confirmed to how many.
func TestProductNews_IsWrittenTriedAndSent(t *testing.T) {
	t.Parallel()
	eachAlone(t, func(t *testing.T, w *world) {
		product := sends(t, w.owner, "/app/products/new", handbook())
		sees(t, w.owner, product, "Tell customers", product+"/news")
		sees(t, w.owner, "/app/emails", "/app/emails/news")
		sees(t, w.owner, "/app/emails/news", "None was written yet.")
		address := product + "/news"
		sees(t, w.owner, address, "Tell customers</h1>", `name="subject"`, "Send me a test")

		refuses := func(form url.Values, why string) {
			t.Helper()
			status, page := w.owner.Post(address, form)
			require.Equal(t, http.StatusUnprocessableEntity, status)
			require.Contains(t, page, why)
			require.Contains(t, page, "It is **here**.", "what was typed is lost")
		}
		refuses(letterForm(), "None of them has agreed to your news yet.")
		w.agreed("grace@example.com", "ada@example.com")
		refuses(with(letterForm(), "subject", " "), "Type a subject.")
		refuses(with(letterForm(), "send_at", "2020-01-01T09:00"), "Send a time in the future")
		refuses(with(letterForm(), "audience", "nobody"), "There is a problem")

		shows := func(form url.Values) string {
			t.Helper()
			status, page := w.owner.Post(address, form)
			require.Equal(t, http.StatusOK, status, page)
			assert.NotContains(t, page, "<img src=x")
			assert.NotContains(t, page, "<script>alert")
			return page
		}
		page := shows(with(letterForm(), "preview", "yes"))
		for _, piece := range []string{"2 customers", "<strong>here</strong>", "because you wanted news from", "Go on"} {
			assert.Contains(t, page, piece)
		}
		page = shows(with(letterForm(), "test", "yes"))
		assert.Contains(t, page, "A test was sent to "+w.owner.Email)
		test := w.told(t, w.owner.Email, "New <img src=x onerror=alert(1)>")
		assert.Contains(t, test.Text, "It is **here**.")
		assert.Empty(t, test.Leave)
		assert.Empty(t, w.Mail.Listed(), "nobody else was written to")

		page = shows(letterForm())
		require.Contains(t, page, "This letter goes to 2 customers at once.")
		confirmed := with(with(letterForm(), "confirmed", "yes"), "once", between(t, page, `name="once" value="`, `"`))
		require.Contains(t, shows(with(confirmed, "change", "yes")), `name="subject"`)
		news := sends(t, w.owner, address, confirmed)
		require.Equal(t, news, sends(t, w.owner, address, confirmed), "a double click sends it once")
		require.Eventually(t, func() bool {
			_, page := w.owner.Get(news)
			return strings.Contains(page, "Sent</span>")
		}, harness.Patience, 20*time.Millisecond)
		page = sees(t, w.owner, news, "New &lt;img", "All customers", "<strong>here</strong>")
		assert.NotContains(t, page, "Cancel the rest")
		require.Len(t, w.Mail.Listed(), 2)
		sees(t, w.owner, "/app/emails/news?status=sent", news)
		sees(t, w.owner, "/app/emails/news?status=canceled", "Nothing matches.")
		letters, err := w.api.SDK().Letters.List(t.Context(), nil)
		require.NoError(t, err)
		page = sees(t, w.owner, "/app/emails/"+letters.Data[0].ID, "Product news", news)
		assert.NotContains(t, page, "Send it again")
	})
}

// What waits for its day can be cancelled, also by who may send none. Only owners and admins see the form, and nobody sees another shop's news.
func TestProductNews_CanBeCanceled(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		product := sends(t, w.owner, "/app/products/new", handbook())
		later := with(letterForm(), "send_at", time.Now().AddDate(0, 0, 2).UTC().Format("2006-01-02T15:04"))
		_, page := w.owner.Post(product+"/news", later)
		require.Contains(t, page, "Send it then")
		news := sends(t, w.owner, product+"/news", with(later, "confirmed", "yes"))
		sees(t, w.owner, news, "Scheduled</span>", "Cancel the rest")

		support := w.Member(t, w.api.Account, person.RoleSupport)
		sees(t, support, news, "Scheduled</span>", "Cancel the rest")
		assert.NotContains(t, sees(t, support, product), "Tell customers")
		status, _ := support.Post(product+"/news", with(later, "confirmed", "yes"))
		require.Equal(t, http.StatusForbidden, status)
		status, _ = w.Member(t, w.api.Account, person.RoleReadOnly).Post(news+"/cancel", nil)
		require.Equal(t, http.StatusForbidden, status)
		status, _ = newMemberElsewhere(t, w).Get(news)
		require.Equal(t, http.StatusNotFound, status)

		sends(t, w.owner, news+"/cancel", nil)
		assert.NotContains(t, sees(t, w.owner, news, "Cancelled</span>", "No more of it is sent."), "Cancel the rest")
	})
}
