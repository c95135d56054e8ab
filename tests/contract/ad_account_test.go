package contract

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

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
			assert.Equal(t, "ad_account", account.Object, "an ad account")
			assert.Equal(t, channel.ID, account.AccountID, "an ad account")
			assert.NotEmpty(t, account.Timezone, "an ad account")
			assert.EqualValues(t, "20.00", account.MinimumDailyBudget, "an ad account")
			if account.Selectable != (account.UnusableReason == nil) {
				t.Errorf("%s is selectable %t because of %v", account.ID, account.Selectable, account.UnusableReason)
			}
			if account.Selectable {
				usable++
			} else {
				disabled = account.ID
			}
		}
		require.NotZero(t, usable)
		require.NotEmpty(t, disabled)
		one := ok[*sdk.AdAccountList](t)(c.AdAccounts.List(background, &sdk.ListAdAccountsParams{AccountID: channel.ID, AdAccountID: &disabled}))
		require.Len(t, one.Data, 1, "the list of one")
		assert.Equal(t, disabled, one.Data[0].ID, "the list of one")
		assert.NotEqual(t, sdk.AdAccountStatusActive, one.Data[0].Status, "the list of one")
		a := advertiser{c, channel.ID, disabled, false}
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

// ofEU returns the ad account that the network knows to be in the EU.
func (n onNetwork) ofEU(t *testing.T) sdk.AdAccount {
	t.Helper()
	for _, a := range ok[*sdk.AdAccountList](t)(n.AdAccounts.List(background, &sdk.ListAdAccountsParams{AccountID: n.channel})).Data {
		require.NotNil(t, a.Country, a.ID)
		assert.Len(t, *a.Country, 2, a.ID)
		if *a.Country == "DE" {
			return a
		}
	}
	t.Fatal("there is none")
	return sdk.AdAccount{}
}

func said(a *sdk.AdAccount) string {
	words := "-"
	for _, name := range []*string{a.DsaBeneficiary, a.DsaPayor} {
		if words += "-"; name != nil {
			words += *name
		}
	}
	return words
}

func TestUpdateAdAccount_SaysWhoProfitsFromItsAdsAndWhoPays(t *testing.T) {
	onNetworks(t, func(t *testing.T, n onNetwork) {
		before := n.ofEU(t)
		update := func(change sdk.AdAccountUpdate) (*sdk.AdAccount, error) {
			return n.AdAccounts.Update(background, before.ID, &change)
		}
		if n.platform != sdk.AdPlatformFacebook && n.platform != sdk.AdPlatformInstagram {
			_, err := update(sdk.AdAccountUpdate{DsaPayor: sdk.Set("Ada Ltd")})
			refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "dsa_payor")
			_, err = update(sdk.AdAccountUpdate{DsaBeneficiary: sdk.Null[string]()})
			refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "dsa_beneficiary")
			ok[*sdk.AdAccount](t)(update(sdk.AdAccountUpdate{}))
			return
		}
		require.NotNil(t, before.DsaBeneficiary, "the network's own")
		require.NotNil(t, before.DsaPayor, "the network's own")
		changed := ok[*sdk.AdAccount](t)(update(sdk.AdAccountUpdate{DsaBeneficiary: sdk.Set("Ada Ltd")}))
		if said(changed) != "--Ada Ltd-"+*before.DsaPayor {
			t.Errorf("with one of ours it is %s", said(changed))
		}
		changed = ok[*sdk.AdAccount](t)(update(sdk.AdAccountUpdate{AccountID: &n.channel, Platform: &n.platform, DsaPayor: sdk.Set("Bob Ltd")}))
		ok[*sdk.SocialAccount](t)(n.Socials.Deactivate(background, n.channel))
		_, err := update(sdk.AdAccountUpdate{DsaPayor: sdk.Set("Cy Ltd")})
		refused(t, err, http.StatusConflict, sdk.CodeAccountNotActivated, "account_id")
		ok[*sdk.SocialAccount](t)(n.Socials.Activate(background, &sdk.SocialAccountActivate{AccountID: n.channel})) // reads the ad accounts again
		now := n.ofEU(t)
		assert.Equal(t, "--Ada Ltd-Bob Ltd", said(&now), "once the network")
		assert.Equal(t, said(&now), said(changed), "once the network")
		assert.Equal(t, before.ID, now.ID, "once the network")
		for _, change := range []sdk.AdAccountUpdate{{DsaPayor: sdk.Null[string]()}, {DsaBeneficiary: sdk.Null[string]()}, {}} {
			changed = ok[*sdk.AdAccount](t)(update(change))
		}
		if said(changed) != said(&before) {
			t.Errorf("without ours it is %s", said(changed))
		}
		_, err = update(sdk.AdAccountUpdate{DsaPayor: sdk.Set(strings.Repeat("x", 513))})
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "dsa_payor")
	})
}

func TestUpdateAdAccount_SaysWhichOneIsMeant(t *testing.T) {
	onOneNetwork(t, sdk.AdPlatformFacebook, func(t *testing.T, n onNetwork) {
		other, change := n.otherPlatform(), sdk.AdAccountUpdate{DsaPayor: sdk.Set("Ada Ltd")}
		_, err := n.AdAccounts.Update(background, "act_404", &change)
		refused(t, err, http.StatusNotFound, sdk.CodeResourceMissing, "")
		change.Platform = &other
		_, err = n.AdAccounts.Update(background, n.account, &change)
		refused(t, err, http.StatusNotFound, sdk.CodeResourceMissing, "")
		change.AccountID = &n.channel
		_, err = n.AdAccounts.Update(background, n.account, &change)
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "platform")
		change.AccountID = new(randomID("sacct"))
		_, err = n.AdAccounts.Update(background, n.account, &change)
		refused(t, err, http.StatusNotFound, sdk.CodeResourceMissing, "account_id")
	})
}
