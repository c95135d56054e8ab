package dashboard_test

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/server/mail"
	"github.com/tillwright/tillwright/store/person"
	"github.com/tillwright/tillwright/tests/harness"
	"github.com/tillwright/tillwright/tests/harness/markup"
)

// Owners choose what their team is told of, are told of it, and see that they were.
func TestTeamLetters_AreChosenAndListed(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		const page = "/app/settings/letters"
		sees(t, w.owner, "/app/settings", page)
		sees(t, w.owner, page, "None was written yet.", `name="sale"`, `name="sales_daily"`)
		_, form := markup.Form(t, sees(t, w.owner, page), "Save")
		form.Set("sale", "yes")
		form.Del("sales_daily")
		require.Equal(t, page, sends(t, w.owner, page, form))
		a, err := w.api.SDK().Account.Get(t.Context())
		require.NoError(t, err)
		require.Equal(t, []bool{true, false, true}, []bool{a.Letters.Sale, a.Letters.SalesDaily, a.Letters.WebhookFailing})

		sold := w.sold()
		var letter mail.Letter
		require.Eventually(t, func() bool {
			sent := w.Mail.Listed()
			at := slices.IndexFunc(sent, func(l mail.Letter) bool { return l.To == w.owner.Email })
			if at >= 0 {
				letter = sent[at]
			}
			return at >= 0
		}, harness.Patience, 20*time.Millisecond)
		require.Equal(t, "1 new sale: €20.00", letter.Subject)
		require.Contains(t, letter.Text, "/app/orders/"+sold.ID+"\n")
		require.Contains(t, letter.HTML, "Bought by Grace &lt;/script&gt;&lt;b&gt;")
		require.Contains(t, letter.Text, "/app/settings/letters\n")
		require.NotEmpty(t, letter.HTML)
		require.Eventually(t, func() bool {
			_, text := w.owner.Get(page)
			return strings.Contains(text, "Sent</span>")
		}, harness.Patience, 20*time.Millisecond)
		sees(t, w.owner, page, "Each sale")

		support := w.Member(t, w.api.Account, person.RoleSupport)
		require.NotContains(t, sees(t, support, page, "Each sale"), `name="sale"`)
		status, _ := support.Post(page, url.Values{})
		require.Equal(t, http.StatusForbidden, status)
	})
}
