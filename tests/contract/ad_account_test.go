package contract

import (
	"net/http"
	"testing"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/tests/harness"
)

func TestListAdAccounts_SaysWhichCanBeUsed(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		channel := activated(t, c, sdk.AdPlatformTikTok)
		usable, disabled := 0, ""
		for account, err := range sdk.All(background, c.AdAccounts.List, &sdk.ListAdAccountsParams{AccountID: channel.ID, Limit: new(int64(1))}) {
			if err != nil {
				t.Fatal(err)
			}
			if account.Object != "ad_account" || account.AccountID != channel.ID || account.Timezone == "" || account.MinimumDailyBudget != "20.00" {
				t.Errorf("an ad account is %+v", account)
			}
			if account.Selectable != (account.UnusableReason == nil) {
				t.Errorf("%s is selectable %t because of %v", account.ID, account.Selectable, account.UnusableReason)
			}
			if account.Selectable {
				usable++
			} else {
				disabled = account.ID
			}
		}
		if usable == 0 || disabled == "" {
			t.Fatalf("%d ad accounts can be used, %q cannot", usable, disabled)
		}
		one := ok[*sdk.AdAccountList](t)(c.AdAccounts.List(background, &sdk.ListAdAccountsParams{AccountID: channel.ID, AdAccountID: &disabled}))
		if len(one.Data) != 1 || one.Data[0].ID != disabled || one.Data[0].Status == sdk.AdAccountStatusActive {
			t.Errorf("the list of one is %+v", one.Data)
		}
		a := advertiser{c, channel.ID, disabled}
		_, err := c.Ads.Create(background, a.draft("Nowhere"))
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "ad_account_id")
	})
}

func TestLists_NameTheChannelThatTheyNeed(t *testing.T) {
	onEach(t, func(t *testing.T, _ *sdk.Client, s *harness.Server) {
		c := s.Account(t)
		for path, param := range map[string]string{
			"/v1/ads/ad-accounts": "account_id", "/v1/ads/business-centers": "account_id", "/v1/ads/audiences": "account_id",
			"/v1/ads/audiences?account_id=" + randomID("sacct"): "ad_account_id",
		} {
			if f := c.Do(t, http.MethodGet, path, nil).Fault(t, http.StatusBadRequest, "parameter_missing"); f.Param != param {
				t.Errorf("%s: param is %q", path, f.Param)
			}
		}
	})
}
