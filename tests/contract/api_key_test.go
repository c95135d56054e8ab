package contract

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/tests/harness"
)

func TestCreateAPIKey_ShowsItsTokenOnce(t *testing.T) {
	onEach(t, func(t *testing.T, _ *sdk.Client, s *harness.Server) {
		owner := s.Account(t)
		c := owner.SDK()
		made := ok[*sdk.APIKey](t)(c.APIKeys.Create(background, &sdk.APIKeyCreate{Name: new("till")}))
		if made.Token == nil || !strings.HasPrefix(*made.Token, "sk_") || !strings.HasSuffix(*made.Token, made.TokenLast4) {
			t.Fatalf("the key is %+v", made)
		}
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
			if !errors.As(err, &e) || e.Status != http.StatusForbidden || e.Code != sdk.CodeForbidden {
				t.Errorf("a key grants %v, which it lacks: %v", scopes, err)
			}
		}
	})
}

func TestDeleteAPIKey_WorksOnTheKeyInUse(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		own := ok[*sdk.APIKeyList](t)(c.APIKeys.List(background, nil)).Data[0]
		deleted := ok[*sdk.Deleted](t)(c.APIKeys.Delete(background, own.ID))
		if deleted.ID != own.ID || deleted.Object != "api_key" || !deleted.Deleted {
			t.Errorf("the confirmation is %+v", deleted)
		}
		_, err := c.APIKeys.List(background, nil)
		refused(t, err, http.StatusUnauthorized, sdk.CodeAuthentication, "")
	})
}

func TestUpdateAPIKey_RefusesAnExpiryInThePast(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		made := ok[*sdk.APIKey](t)(c.APIKeys.Create(background, &sdk.APIKeyCreate{Name: new("till")}))
		_, err := c.APIKeys.Update(background, made.ID, &sdk.APIKeyUpdate{ExpiresAt: sdk.Set(sdk.Time("2020-01-01T00:00:00.000Z"))})
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "expires_at")
		later := ok[*sdk.APIKey](t)(c.APIKeys.Update(background, made.ID, &sdk.APIKeyUpdate{ExpiresAt: sdk.Set(sdk.Time("2100-01-01T00:00:00+02:00"))}))
		if later.ExpiresAt == nil || *later.ExpiresAt != "2099-12-31T22:00:00.000Z" {
			t.Errorf("the key expires at %v", later.ExpiresAt)
		}
	})
}
