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

func TestCreateAPIKey_ShowsItsTokenOnce(t *testing.T) {
	onEach(t, func(t *testing.T, _ *sdk.Client, s *harness.Server) {
		owner := s.Account(t)
		c := owner.SDK()
		made := ok[*sdk.APIKey](t)(c.APIKeys.Create(background, &sdk.APIKeyCreate{Name: new("till")}))
		require.NotNil(t, made.Token, "the key")
		require.True(t, strings.HasPrefix(*made.Token, "sk_"), "the key")
		require.True(t, strings.HasSuffix(*made.Token, made.TokenLast4), "the key")
		ok[*sdk.Account](t)(owner.As(*made.Token).SDK().Account.Get(background))
		if read := ok[*sdk.APIKey](t)(c.APIKeys.Get(background, made.ID)); read.Token != nil {
			t.Error("the token is shown again")
		}
		for _, column := range s.Strings(t, "SELECT CAST(token_hash AS text) || token_last4 FROM api_keys") {
			if strings.Contains(column, *made.Token) {
				t.Error("the database holds the token")
			}
		}
	})
}

func TestCreateAPIKey_CannotGrantWhatItLacks(t *testing.T) {
	onEach(t, func(t *testing.T, _ *sdk.Client, s *harness.Server) {
		owner := s.Account(t)
		limited := owner.As(s.Key(t, owner.Account, "keys:write", "products:read")).SDK()
		ok[*sdk.APIKey](t)(limited.APIKeys.Create(background, &sdk.APIKeyCreate{Scopes: []sdk.APIKeyScope{sdk.APIKeyScopeProductsRead}}))
		for _, scopes := range [][]sdk.APIKeyScope{{sdk.APIKeyScopeProductsWrite}, nil} { // no scopes are all scopes
			_, err := limited.APIKeys.Create(background, &sdk.APIKeyCreate{Scopes: scopes})
			var e *sdk.Error
			require.ErrorAs(t, err, &e, "a key grants %v, which it lacks", scopes)
			assert.Equal(t, http.StatusForbidden, e.Status, "a key grants %v, which it lacks", scopes)
			assert.Equal(t, sdk.CodeForbidden, e.Code, "a key grants %v, which it lacks", scopes)
		}
	})
}

func TestDeleteAPIKey_WorksOnTheKeyInUse(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		own := ok[*sdk.APIKeyList](t)(c.APIKeys.List(background, nil)).Data[0]
		deleted := ok[*sdk.Deleted](t)(c.APIKeys.Delete(background, own.ID, nil))
		assert.Equal(t, own.ID, deleted.ID, "the confirmation")
		assert.Equal(t, "api_key", deleted.Object, "the confirmation")
		assert.True(t, deleted.Deleted, "the confirmation")
		_, err := c.APIKeys.List(background, nil)
		refused(t, err, http.StatusUnauthorized, sdk.CodeAuthentication, "")
	})
}

func TestDeleteAPIKey_NeedsNoScopeForTheKeyInUse(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, s *harness.Server) {
		owner := s.Account(t)
		limited := owner.As(s.Key(t, owner.Account, "orders:read")).SDK()
		keys := ok[*sdk.APIKeyList](t)(owner.SDK().APIKeys.List(background, nil)).Data
		_, err := limited.APIKeys.Delete(background, keys[1].ID, nil)
		refused(t, err, http.StatusForbidden, sdk.CodeForbidden, "keys:write")
		ok[*sdk.Deleted](t)(limited.APIKeys.Delete(background, keys[0].ID, nil))
		_, err = limited.Orders.List(background, nil)
		refused(t, err, http.StatusUnauthorized, sdk.CodeAuthentication, "")
	})
}

func TestCreateAPIKey_LastsNoLongerThanItsMaker(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, s *harness.Server) {
		owner := s.Account(t)
		soon := sdk.TimeOf(time.Now().Add(time.Hour).Truncate(time.Second))
		made := ok[*sdk.APIKey](t)(owner.SDK().APIKeys.Create(background, &sdk.APIKeyCreate{ExpiresAt: sdk.Set(soon)}))
		expiring := owner.As(*made.Token).SDK()
		child := ok[*sdk.APIKey](t)(expiring.APIKeys.Create(background, &sdk.APIKeyCreate{Name: new("child")}))
		require.NotNil(t, child.ExpiresAt, "the child")
		assert.Equal(t, *made.ExpiresAt, *child.ExpiresAt, "the child")
		require.NotNil(t, child.CreatedBy, "the child")
		assert.Equal(t, made.ID, *child.CreatedBy, "the child")
		_, err := expiring.APIKeys.Create(background, &sdk.APIKeyCreate{ExpiresAt: sdk.Null[sdk.Time]()})
		refused(t, err, http.StatusForbidden, sdk.CodeForbidden, "expires_at")
		_, err = expiring.APIKeys.Update(background, child.ID, &sdk.APIKeyUpdate{ExpiresAt: sdk.Null[sdk.Time]()})
		refused(t, err, http.StatusForbidden, sdk.CodeForbidden, "expires_at")
		_, err = expiring.APIKeys.Delete(background, *made.CreatedBy, nil)
		refused(t, err, http.StatusForbidden, sdk.CodeForbidden, "id")

		// Who may do less, or does it for a shorter time, gets no answer that another key got.
		body := map[string]any{"name": "once"}
		owner.Must(t, http.MethodPost, "/v1/auth/keys", body, "Idempotency-Key", "once")
		owner.As(*made.Token).Do(t, http.MethodPost, "/v1/auth/keys", body, "Idempotency-Key", "once").Fault(t, http.StatusUnprocessableEntity, "idempotency_key_reused")
	})
}

func TestDeleteAPIKey_RevokesOrAdoptsWhatItMade(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, s *harness.Server) {
		owner := s.Account(t)
		for _, adopt := range []bool{false, true} {
			old := ok[*sdk.APIKey](t)(owner.SDK().APIKeys.Create(background, &sdk.APIKeyCreate{Name: new("old")}))
			child := ok[*sdk.APIKey](t)(owner.As(*old.Token).SDK().APIKeys.Create(background, &sdk.APIKeyCreate{Scopes: []sdk.APIKeyScope{sdk.APIKeyScopeAccountRead}}))
			next := ok[*sdk.APIKey](t)(owner.SDK().APIKeys.Create(background, &sdk.APIKeyCreate{Name: new("new")}))
			var params *sdk.DeleteAPIKeyParams
			if adopt {
				params = &sdk.DeleteAPIKeyParams{Descendants: new(sdk.APIKeyDescendantsAdopt)}
			}
			caller := owner.As(*next.Token).SDK()
			ok[*sdk.Deleted](t)(caller.APIKeys.Delete(background, old.ID, params))
			_, err := owner.As(*child.Token).SDK().Account.Get(background)
			if !adopt {
				refused(t, err, http.StatusUnauthorized, sdk.CodeAuthentication, "")
				continue
			}
			if err != nil {
				t.Errorf("the adopted key is refused: %v", err)
			}
			read := ok[*sdk.APIKey](t)(caller.APIKeys.Get(background, child.ID))
			require.NotNil(t, read.CreatedBy)
			assert.Equal(t, next.ID, *read.CreatedBy)
			_, err = caller.APIKeys.Delete(background, next.ID, params)
			refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "descendants")
		}
	})
}

func TestUpdateAPIKey_RefusesAnExpiryInThePast(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		made := ok[*sdk.APIKey](t)(c.APIKeys.Create(background, &sdk.APIKeyCreate{Name: new("till")}))
		_, err := c.APIKeys.Update(background, made.ID, &sdk.APIKeyUpdate{ExpiresAt: sdk.Set(sdk.Time("2020-01-01T00:00:00.000Z"))})
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "expires_at")
		later := ok[*sdk.APIKey](t)(c.APIKeys.Update(background, made.ID, &sdk.APIKeyUpdate{ExpiresAt: sdk.Set(sdk.Time("2100-01-01T00:00:00+02:00"))}))
		require.NotNil(t, later.ExpiresAt, "the key expires")
		assert.EqualValues(t, "2099-12-31T22:00:00.000Z", *later.ExpiresAt, "the key expires")
	})
}
