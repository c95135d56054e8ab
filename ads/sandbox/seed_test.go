package sandbox

import (
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/store/core"
)

func TestAdAccounts_AreTwoAndADisabledOneInThreeCurrencies(t *testing.T) {
	each(t, advert.PlatformTikTok, Options{}, func(t *testing.T, n *network) {
		found, err := n.AdAccounts(t.Context(), n.conn)
		require.NoError(t, err)
		var currencies []string
		usable := 0
		for _, a := range found {
			currencies = append(currencies, a.Currency)
			if a.IsSelectable() {
				usable++
			}
			assert.Positive(t, a.AmountSpent, "what the seeded campaigns have spent")
			assert.NotEmpty(t, a.BusinessCenterID)
			assert.Equal(t, 20*advert.AmountUnit, a.MinimumDailyBudget)
		}
		assert.Equal(t, 2, usable)
		assert.Equal(t, "usd", currencies[0])
		slices.Sort(currencies)
		assert.Equal(t, []string{"eur", "jpy", "usd"}, currencies)

		n.conn.AdAccounts = []string{found[1].PlatformID}
		limited, err := n.AdAccounts(t.Context(), n.conn)
		require.NoError(t, err)
		assert.Equal(t, found[1:2], limited)
		_, _, err = n.Sync(t.Context(), n.conn, found[0].PlatformID, "")
		assert.ErrorIs(t, err, ads.ErrNotFound)
	})
}

func TestBusinessCenters_AreTwoOnTikTokAlone(t *testing.T) {
	each(t, advert.PlatformTikTok, Options{}, func(t *testing.T, n *network) {
		centers, err := n.BusinessCenters(t.Context(), n.conn)
		require.NoError(t, err)
		require.Len(t, centers, 2)
		assert.Equal(t, int64(3), *centers[0].AdvertiserCount)
		assert.Nil(t, centers[1].AdvertiserCount)
		_, err = New(n.store.Advert, advert.PlatformGoogle, Options{}).BusinessCenters(t.Context(), n.conn)
		assert.ErrorIs(t, err, ads.ErrUnsupported)
	})
}

func TestPosts_AreThreeAndADraft(t *testing.T) {
	each(t, advert.PlatformInstagram, Options{}, func(t *testing.T, n *network) {
		posts, err := n.Posts(t.Context(), n.conn)
		require.NoError(t, err)
		var published, drafts int
		for _, p := range posts {
			if p.Status == advert.SocialPostPublished {
				published++
				assert.Less(t, p.PublishedAt.Time(), n.now)
			} else {
				drafts++
				assert.Nil(t, p.PublishedAt)
			}
		}
		assert.Equal(t, []int{3, 1}, []int{published, drafts})

		plan := n.plan("adact_1")
		plan.Post, plan.Creative = &posts[0], advert.Creative{}
		boost := n.create(plan)
		assert.Equal(t, advert.TypeBoost, boost.Ad.Type)
		assert.Equal(t, posts[0].PlatformID, boost.Ad.PlatformPostID)
		plan.Post = &posts[3]
		_, err = n.Create(t.Context(), n.conn, plan)
		requireRejected(t, err, "post_id")
	})
}

func requireRejected(t *testing.T, err error, field string) {
	t.Helper()
	var rejected *ads.Rejected
	require.ErrorAs(t, err, &rejected)
	require.Equal(t, field, rejected.Field, rejected.Message)
}

func TestSeed_HasEveryStateInEveryAdAccount(t *testing.T) {
	each(t, advert.PlatformFacebook, Options{}, func(t *testing.T, n *network) {
		for _, account := range n.accounts(n.conn) {
			all := n.walk(account.PlatformID)
			assert.Len(t, all.Campaigns, 3)
			assert.Len(t, all.Groups, 6)
			assert.Len(t, all.Ads, 12)
			states := map[advert.Status]bool{}
			for _, ad := range all.Ads {
				states[ad.Status] = true
			}
			want := map[advert.Status]bool{advert.StatusActive: true, advert.StatusPaused: true, advert.StatusRejected: true, advert.StatusCompleted: true}
			if account.Status == advert.AccountDisabled {
				want = map[advert.Status]bool{advert.StatusError: true, advert.StatusRejected: true, advert.StatusCompleted: true}
			}
			assert.Equal(t, want, states)
			ran, err := n.Report(t.Context(), n.conn, account.PlatformID, advert.LevelCampaign, []string{all.Campaigns[0].PlatformID, "1"}, ads.Date{Year: 2025, Month: 11, Day: 1}, ads.DateOf(n.now))
			require.NoError(t, err)
			require.Len(t, ran, 1)
			metrics := ran[all.Campaigns[0].PlatformID].Metrics
			assert.Less(t, *metrics.Reach, *metrics.Impressions)
			assert.Positive(t, *metrics.PurchaseValue)
			ran, err = n.Report(t.Context(), n.conn, account.PlatformID, advert.LevelAd, []string{all.Campaigns[0].PlatformID}, ads.Date{}, ads.DateOf(n.now))
			require.NoError(t, err)
			assert.Empty(t, ran, "it is no ad")
		}
	})
}

func TestSeed_IsAFunctionOfAccountAndChannel(t *testing.T) {
	t.Parallel()
	d := New(nil, advert.PlatformTwitter, Options{})
	conn := ads.Conn{Account: testAccount, Channel: testChannel, Now: func() time.Time { return begin }}
	now := core.TimeOf(begin)
	first := text(t, d.seed(conn, now))
	assert.Equal(t, first, text(t, New(nil, advert.PlatformTwitter, Options{}).seed(conn, now.Add(time.Hour))))
	for _, other := range []ads.Conn{{Account: "acct_2", Channel: testChannel}, {Account: testAccount, Channel: "sacct_2"}} {
		assert.NotEqual(t, d.seed(conn, now).Entities[0].ID, d.seed(other, now).Entities[0].ID)
	}
}

func TestIDs_LookLikeTheNetworksOwnAndDiffer(t *testing.T) {
	t.Parallel()
	forms := map[advert.Platform][3]string{ // ad account, ad group, post
		advert.PlatformFacebook:  {`^act_\d{15}$`, `^1202\d{14}$`, `^1\d{14}_1\d{16}$`},
		advert.PlatformInstagram: {`^act_\d{15}$`, `^1202\d{14}$`, `^17\d{15}$`},
		advert.PlatformTikTok:    {`^7\d{18}$`, `^7\d{18}$`, `^7\d{18}$`},
		advert.PlatformLinkedIn:  {`^urn:li:sponsoredAccount:\d{9}$`, `^urn:li:sponsoredCampaign:\d{9}$`, `^urn:li:share:7\d{18}$`},
		advert.PlatformPinterest: {`^\d{12}$`, `^626\d{10}$`, `^\d{18}$`},
		advert.PlatformGoogle:    {`^\d{10}$`, `^2\d{11}$`, `^[0-9a-z]{11}$`},
		advert.PlatformTwitter:   {`^[0-9a-z]{8}$`, `^[0-9a-z]{8}$`, `^1\d{18,19}$`},
	}
	for _, p := range advert.Platforms {
		seen := map[string]bool{}
		for i, k := range []kind{kindAccount, kindGroup, kindPost} {
			form := regexp.MustCompile(forms[p][i])
			for n := range int64(2000) {
				id := platformID(p, testAccount, testChannel, k, n)
				require.True(t, form.MatchString(id), id)
				require.False(t, seen[id], "%s twice", id)
				seen[id] = true
			}
		}
	}
}
