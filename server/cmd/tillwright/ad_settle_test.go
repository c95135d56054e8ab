package main

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/tests/harness/database"
)

// lostAd asks for an ad of which nothing is heard, and returns its action, which cannot be on its way any more.
func (a *advertiser) lostAd(t *testing.T, url, key string) (s *store.Store, action *advert.Action) {
	t.Helper()
	_, err := a.Client.Ads.Create(t.Context(), a.draft("Lost"), sdk.WithHeader("X-Sandbox-Fault", "timeout"), sdk.WithIdempotencyKey(key))
	require.Error(t, err)
	sealer, err := core.NewSealer(make([]byte, 32))
	require.NoError(t, err)
	s, err = store.Open(t.Context(), store.Options{URL: url, Sealer: sealer, CloseTime: time.Minute})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	open, _, err := s.Advert.ListActions(t.Context(), a.account.Account, advert.ListActions{Page: core.Page{Limit: 1}, State: advert.ActionUnknown})
	require.NoError(t, err)
	require.Len(t, open, 1)
	failure := &advert.Failure{Code: "api_error", OpenUntil: s.Now().Add(-time.Second)}
	require.NoError(t, s.Advert.YieldAction(t.Context(), a.account.Account, open[0].ID, time.Hour, failure))
	return s, &open[0]
}

// settle runs `tillwright ads settle` where nobody can be asked.
func (a *advertiser) settle(t *testing.T, url string, args ...string) (string, error) {
	t.Helper()
	return tillwright(t, t.TempDir(), append([]string{"ads", "settle", "--database-url", url, "--account", a.account.Account}, args...)...)
}

func TestAdsSettle_FreesWhatNobodyKnowsAnythingOf(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		a := newAdvertiserAt(t, url, sdk.AdPlatformFacebook)
		s, action := a.lostAd(t, url, "k1")
		_, err := a.settle(t, url, action.ID, "--not-done")
		require.ErrorContains(t, err, "pass --yes")
		_, err = a.settle(t, url, action.ID, "--yes")
		require.ErrorContains(t, err, "done not-done")
		_, err = a.settle(t, url, action.ID, "--yes", "--done")
		require.ErrorContains(t, err, "send the id that facebook gave it")
		now, err := s.Advert.GetAction(t.Context(), a.account.Account, action.ID)
		require.NoError(t, err)
		require.Equal(t, advert.ActionUnknown, now.State, "nothing was written so far")

		out, err := a.settle(t, url, action.ID, "--yes", "--not-done")
		require.NoError(t, err)
		require.Equal(t, action.ID+" is refused.\n", out)
		_, err = a.settle(t, url, action.ID, "--yes", "--not-done")
		require.ErrorContains(t, err, "has its outcome already: it is refused")

		_, err = a.Client.Ads.Create(t.Context(), a.draft("Lost"), sdk.WithIdempotencyKey("k1"))
		require.ErrorContains(t, err, "did not do it")
		_, err = a.Client.Ads.Create(t.Context(), a.draft("Lost"), sdk.WithIdempotencyKey("k1"))
		require.NoError(t, err, "the key is free again")
	})
}

func TestAdsSettle_TakesOverWhatTheNetworkMade(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		a := newAdvertiserAt(t, url, sdk.AdPlatformFacebook)
		_, action := a.lostAd(t, url, "k1")
		out, err := a.settle(t, url, action.ID, "--done", "--platform-id", "9", "--campaign-id", "7", "--ad-group-id", "8", "--yes", "--json")
		require.NoError(t, err)
		var object map[string]any
		require.NoError(t, json.Unmarshal([]byte(out), &object))
		require.Equal(t, "done", object["state"])
		require.Equal(t, "hand", object["after"].(map[string]any)["settled_by"])
		ad, err := a.Client.Ads.Create(t.Context(), a.draft("Lost"), sdk.WithIdempotencyKey("k1"))
		require.NoError(t, err)
		require.Equal(t, "9", ad.ID)
		require.Equal(t, "7", ad.CampaignID)
	})
}

func TestAdsSettle_AsksFirst(t *testing.T) {
	t.Parallel()
	url := database.URL(t, "sqlite")
	a := newAdvertiserAt(t, url, sdk.AdPlatformFacebook)
	s, action := a.lostAd(t, url, "k1")
	o := settleOptions{account: a.account.Account, notDone: true}
	answer := func(text string) (string, error) {
		out := &safeText{}
		_, err := o.settleAction(context.Background(), s, action.ID, &console{in: strings.NewReader(text), out: out, answers: true})
		return out.String(), err
	}
	shown, err := answer("n\n")
	require.EqualError(t, err, "nothing was settled")
	require.Contains(t, shown, action.ID+": create_ad on facebook")
	require.Contains(t, shown, "reserves 20.00 USD a day")
	require.Contains(t, shown, "Settle it as not done? [y/N] ")
	now, err := s.Advert.GetAction(t.Context(), a.account.Account, action.ID)
	require.NoError(t, err)
	require.Equal(t, advert.ActionUnknown, now.State)
	_, err = answer("y\n")
	require.NoError(t, err)
}
