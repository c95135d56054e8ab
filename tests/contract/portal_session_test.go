package contract

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/tests/harness"
)

func TestCreatePortalSession_OpensForADayAndIsShownOnce(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, s *harness.Server) {
		ada := ok[*sdk.Customer](t)(c.Customers.Create(background, &sdk.CustomerCreate{Email: "ada@example.com"}))
		made := ok[*sdk.PortalSession](t)(c.Customers.CreatePortalSession(background, ada.ID, &sdk.PortalSessionCreate{ReturnURL: new("https://shop.example/account")}))
		switch {
		case made.Customer != ada.ID, made.ReturnURL == nil, *made.ReturnURL != "https://shop.example/account":
			t.Errorf("the session is %+v", made)
		case made.URL != "http://shop.test/portal/"+made.Token, !strings.HasPrefix(made.Token, made.ID+"_"), len(made.Token) < len(made.ID)+50:
			t.Errorf("the token is %s at %s", made.Token, made.URL)
		case made.ExpiresAt.Time().Sub(made.CreatedAt.Time()) != 24*time.Hour:
			t.Errorf("it opens from %s to %s", made.CreatedAt, made.ExpiresAt)
		}
		again := ok[*sdk.PortalSession](t)(c.Customers.CreatePortalSession(background, ada.ID, &sdk.PortalSessionCreate{}))
		assert.NotEqual(t, made.Token, again.Token, "a second session")
		assert.Nil(t, again.ReturnURL, "a second session")
		for _, stored := range s.Strings(t, "SELECT token_hash FROM portal_sessions") {
			if strings.Contains(made.Token+again.Token, stored) {
				t.Error("a token is stored")
			}
		}
	})
}

func TestCreatePortalSession_LeadsBackToAPageOnly(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, s *harness.Server) {
		ada := ok[*sdk.Customer](t)(c.Customers.Create(background, &sdk.CustomerCreate{Email: "ada@example.com"}))
		for _, wrong := range []string{"javascript:alert(1)", "shop.example", "", "https://shop.example/" + strings.Repeat("a", 2048)} {
			_, err := c.Customers.CreatePortalSession(background, ada.ID, &sdk.PortalSessionCreate{ReturnURL: &wrong})
			refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "return_url")
		}
		_, err := s.SDK(t).Customers.CreatePortalSession(background, ada.ID, &sdk.PortalSessionCreate{})
		refused(t, err, http.StatusNotFound, sdk.CodeResourceMissing, "")
	})
}

func TestDeletePortalSession_EndsOneOfTheCustomers(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, s *harness.Server) {
		ada := ok[*sdk.Customer](t)(c.Customers.Create(background, &sdk.CustomerCreate{Email: "ada@example.com"}))
		grace := ok[*sdk.Customer](t)(c.Customers.Create(background, &sdk.CustomerCreate{Email: "grace@example.com"}))
		stolen := ok[*sdk.PortalSession](t)(c.Customers.CreatePortalSession(background, ada.ID, &sdk.PortalSessionCreate{}))
		ok[*sdk.PortalSession](t)(c.Customers.CreatePortalSession(background, ada.ID, &sdk.PortalSessionCreate{}))
		for _, other := range []string{grace.ID, "cus_01k0000000000000000000000z"} {
			_, err := c.Customers.DeletePortalSession(background, other, stolen.ID)
			refused(t, err, http.StatusNotFound, sdk.CodeResourceMissing, "")
		}
		_, err := s.SDK(t).Customers.DeletePortalSession(background, ada.ID, stolen.ID)
		refused(t, err, http.StatusNotFound, sdk.CodeResourceMissing, "")
		ended := ok[*sdk.Deleted](t)(c.Customers.DeletePortalSession(background, ada.ID, stolen.ID))
		assert.Equal(t, stolen.ID, ended.ID, "ended")
		assert.Equal(t, "portal_session", ended.Object, "ended")
		assert.True(t, ended.Deleted, "ended")
		_, err = c.Customers.DeletePortalSession(background, ada.ID, stolen.ID)
		refused(t, err, http.StatusNotFound, sdk.CodeResourceMissing, "")
		left := s.Strings(t, "SELECT id FROM portal_sessions WHERE customer_id = '"+ada.ID+"'")
		require.Len(t, left, 1)
		assert.NotEqual(t, stolen.ID, left[0])
	})
}
