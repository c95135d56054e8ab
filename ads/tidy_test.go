package ads_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store/advert"
)

func (n watched) TidyNames(ctx context.Context, c ads.Conn, adAccount string, made []ads.MadeName) error {
	n.mu.Lock()
	n.named = append(n.named, made)
	n.mu.Unlock()
	if err := n.count("TidyNames"); err != nil {
		return err
	}
	return n.Network.TidyNames(ctx, c, adAccount, made)
}

// onPinterest lets a test run where tokens stand in names.
func onPinterest(t *testing.T, test func(t *testing.T, w *world)) {
	each(t, func(t *testing.T, w *world) {
		w.channel = w.activate(advert.PlatformPinterest)
		w.account = w.adAccount(w.channel)
		test(t, w)
	})
}

func TestTidyNames_FollowsEveryOutcome(t *testing.T) {
	onPinterest(t, func(t *testing.T, w *world) {
		w.line.lose.Store(true)
		_, err := w.keyed("k1")
		unknown(t, err)
		require.NoError(t, w.TidyNames(t.Context()))
		assert.Zero(t, w.line.of("TidyNames"), "as long as the outcome is not known, the token is needed")
		w.line.lose.Store(false)
		w.due()
		require.NoError(t, w.Reconcile(t.Context()))

		in := w.ad()
		in.Creatives = []ads.NamedCreative{{Name: "One", Creative: in.Creative}, {Name: "Two", Creative: in.Creative}}
		in.Creative = advert.Creative{}
		out, err := w.CreateAd(t.Context(), w.by, in)
		require.NoError(t, err)

		for range 2 {
			require.NoError(t, w.TidyNames(t.Context()))
		}
		require.Equal(t, 2, w.line.of("TidyNames"), "each once")
		var several []ads.MadeName
		for _, named := range w.line.named {
			if len(named) == 4 {
				several = named
			}
		}
		require.Len(t, several, 4)
		token := several[0].Token
		assert.Equal(t, []ads.MadeName{
			{Level: advert.LevelCampaign, ID: out.Ad.Row.CampaignID, Name: in.Name, Token: token},
			{Level: advert.LevelGroup, ID: out.Ad.Row.AdGroupID, Name: in.Name, Token: token},
			{Level: advert.LevelAd, ID: out.Ads[0].Row.PlatformID, Name: "One", Token: token},
			{Level: advert.LevelAd, ID: out.Ads[1].Row.PlatformID, Name: "Two", Token: ads.AdToken(token, 1)},
		}, several)
	})
}

func TestTidyNames_TriesAgainAndGivesUp(t *testing.T) {
	onPinterest(t, func(t *testing.T, w *world) {
		w.create(w.ad())
		w.line.say("TidyNames", &ads.RateLimited{})
		later := func() {
			require.NoError(t, w.TidyNames(t.Context()))
			require.NoError(t, w.Advert.YieldNames(t.Context(), w.by.Account, w.actions()[0].ID, -time.Second))
		}
		later()
		later()
		assert.Equal(t, 2, w.line.of("TidyNames"))
		w.advance.Add(int64(8 * 24 * time.Hour))
		later()
		later()
		assert.Equal(t, 3, w.line.of("TidyNames"), "who is not let in for a week does not ask for ever")
	})
}

func TestTidyNames_AsksNobodyWhereNoNameHasAToken(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.create(w.ad())
		require.NoError(t, w.TidyNames(t.Context()))
		assert.Zero(t, w.line.of("TidyNames"))
	})
}
