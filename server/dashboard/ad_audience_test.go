package dashboard_test

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/person"
)

func TestAudiences_AreFilledFromAFile(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		sees(t, w.owner, "/app/ads/audiences", "Connect a channel")
		channel, campaign := w.advertises("Shop")
		account := channel.ID + " " + campaign.AdAccountID
		sees(t, w.owner, "/app/ads/audiences?ad_account="+url.QueryEscape(account), "This ad account has none yet.")
		status, page := w.owner.Post("/app/ads/audiences/new", url.Values{"ad_account_id": {account}, "name": {""}, "description": {"<b>"}})
		require.Equal(t, http.StatusUnprocessableEntity, status)
		require.Contains(t, page, `href="#name"`)
		require.Contains(t, page, `value="&lt;b&gt;"`)
		at := sends(t, w.owner, "/app/ads/audiences/new", url.Values{"ad_account_id": {account}, "name": {"Buyers </script>"}})
		require.NotContains(t, sees(t, w.owner, at, "The audience was made.", "Add people"), "</script>")
		sees(t, w.owner, "/app/ads/audiences?ad_account="+url.QueryEscape(account), "Buyers &lt;/script&gt;", "Customer list")

		status, page = upload(t, w.owner, at+"/people", "people", "people.csv", "name,email\n")
		require.Equal(t, http.StatusUnprocessableEntity, status)
		require.Contains(t, page, "There is no address in this file.")
		status, page = upload(t, w.owner, at+"/people", "people", "people.csv", "name,Email\nAda,ada@example.com\nAda,ADA@example.com\nNobody,none\n")
		require.Equal(t, http.StatusSeeOther, status, page)
		sees(t, w.owner, at, "Of 3 people 1 were given to the network.", "1 had no usable address.")
		reader := w.Member(t, w.api.Account, person.RoleReadOnly)
		require.NotContains(t, sees(t, reader, at, "Buyers"), "/delete")

		other := newStranger(w)
		other.advertises("Theirs")
		for _, address := range []string{at, at + "/delete"} {
			status, _ = other.owner.Get(address)
			assert.Equal(t, http.StatusNotFound, status)
		}
		status, _ = other.owner.Post(at+"/delete", nil)
		assert.Equal(t, http.StatusNotFound, status)
		status, _ = upload(t, other.owner, at+"/people", "people", "people.csv", "ada@example.com\n")
		assert.Equal(t, http.StatusNotFound, status)
		require.Equal(t, "/app/ads/audiences", sends(t, w.owner, at+"/delete", nil))
		sees(t, w.owner, "/app/ads/audiences", "The audience was deleted.")
	})
}
