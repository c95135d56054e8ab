package sandbox

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/store/core"
)

// told is a batch of events that every network takes, for the first pixel of the ad account in dollars.
func (n *network) told(ids ...string) ads.ConversionBatch {
	n.t.Helper()
	account := n.mine().PlatformID
	pixels, err := n.Pixels(n.t.Context(), n.conn, account)
	require.NoError(n.t, err)
	b := ads.ConversionBatch{AdAccount: account, PixelID: pixels[0].ID}
	if n.Caps().Conversions.OwnToken {
		b.Token = "conversion-token"
	}
	for _, id := range ids {
		b.Events = append(b.Events, advert.ConversionEvent{
			EventID: id, Kind: advert.ConversionPurchase, At: core.TimeOf(n.now), Value: advert.AmountUnit, Currency: "usd",
			User: advert.ConversionUser{Email: advert.HashOf("ada@example.com"), PageURL: "https://shop.example", UserAgent: "Mozilla/5.0"},
		})
	}
	return b
}

// counted returns how often each event was told and counted.
func (n *network) counted() map[string][2]int64 {
	n.t.Helper()
	list, err := n.store.Advert.ListSandboxConversions(n.t.Context(), n.conn.Account, n.conn.Channel)
	require.NoError(n.t, err)
	all := map[string][2]int64{}
	for _, c := range list {
		all[c.EventID] = [2]int64{c.Told, c.Counted}
	}
	return all
}

func TestPixels_AreOfTheirAdAccount(t *testing.T) {
	each(t, advert.PlatformFacebook, Options{}, func(t *testing.T, n *network) {
		seen := map[string]bool{}
		for _, a := range n.accounts(n.conn) {
			pixels, err := n.Pixels(t.Context(), n.conn, a.PlatformID)
			require.NoError(t, err)
			for _, p := range pixels {
				assert.False(t, seen[p.ID], p.ID)
				seen[p.ID] = true
			}
		}
		assert.Len(t, seen, 6)
		_, err := n.Pixels(t.Context(), n.conn, "act_1")
		assert.ErrorIs(t, err, ads.ErrNotFound)
	})
}

func TestPixels_AreNotThereOnNetworksThatAreToldOfNothing(t *testing.T) {
	each(t, advert.PlatformLinkedIn, Options{}, func(t *testing.T, n *network) {
		_, err := n.Pixels(t.Context(), n.conn, n.mine().PlatformID)
		require.ErrorIs(t, err, ads.ErrUnsupported)
		_, err = n.SendConversions(t.Context(), n.conn, ads.ConversionBatch{AdAccount: n.mine().PlatformID})
		assert.ErrorIs(t, err, ads.ErrUnsupported)
	})
}

func TestSendConversions_CountsAnEventOnceForTwoDays(t *testing.T) {
	each(t, advert.PlatformFacebook, Options{}, func(t *testing.T, n *network) {
		b := n.told("1", "2")
		for range 2 {
			results, err := n.SendConversions(t.Context(), n.conn, b)
			require.NoError(t, err)
			assert.Equal(t, []error{nil, nil}, results)
		}
		lead := n.told("1")
		lead.Events[0].Kind = advert.ConversionLead
		_, err := n.SendConversions(t.Context(), n.conn, lead)
		require.NoError(t, err)
		n.now = n.now.Add(48*time.Hour + time.Second)
		b.Events = b.Events[:1]
		_, err = n.SendConversions(t.Context(), n.conn, b)
		require.NoError(t, err)
		assert.Equal(t, [2]int64{2, 1}, n.counted()["2"])
		assert.Equal(t, [2]int64{3, 2}, n.counted()["1"], "too late, it is another one")
	})
}

func TestSendConversions_RefusesAllForOneThatIsTooOld(t *testing.T) {
	each(t, advert.PlatformFacebook, Options{}, func(t *testing.T, n *network) {
		b := n.told("new", "old")
		b.Events[1].At = core.TimeOf(n.now.Add(-7*24*time.Hour - time.Second))
		_, err := n.SendConversions(t.Context(), n.conn, b)
		var rejected *ads.Rejected
		require.ErrorAs(t, err, &rejected)
		assert.Contains(t, rejected.Message, "old")
		assert.Empty(t, n.counted())
	})
}

func TestSendConversions_RefusesWhatItsNetworkRefuses(t *testing.T) {
	for platform, changes := range map[advert.Platform]map[string]func(*advert.ConversionEvent){
		advert.PlatformFacebook: {
			"no page":        func(e *advert.ConversionEvent) { e.User.PageURL = "" },
			"no user agent":  func(e *advert.ConversionEvent) { e.User.UserAgent = "" },
			"nobody":         func(e *advert.ConversionEvent) { e.User.Email = "" },
			"a plain e-mail": func(e *advert.ConversionEvent) { e.User.Email = "ada@example.com" },
			"the future":     func(e *advert.ConversionEvent) { e.At = e.At.Add(time.Second) },
			"no currency":    func(e *advert.ConversionEvent) { e.Currency = "" },
			"no such event":  func(e *advert.ConversionEvent) { e.Kind = "refund" },
		},
		advert.PlatformTikTok: {
			"no page": func(e *advert.ConversionEvent) { e.User.PageURL = "" },
			"nobody":  func(e *advert.ConversionEvent) { e.User.Email = "" },
		},
		advert.PlatformPinterest: {
			"a phone alone": func(e *advert.ConversionEvent) { e.User.Email, e.User.Phone = "", advert.HashOf("16169547888") },
			"half a browser": func(e *advert.ConversionEvent) {
				e.User.Email, e.User.ClientIP, e.User.UserAgent = "", "203.0.113.7", ""
			},
		},
	} {
		t.Run(string(platform), func(t *testing.T) {
			each(t, platform, Options{}, func(t *testing.T, n *network) {
				for what, change := range changes {
					b := n.told("good", "bad")
					change(&b.Events[1])
					results, err := n.SendConversions(t.Context(), n.conn, b)
					require.NoError(t, err, what)
					var rejected *ads.Rejected
					require.ErrorAs(t, results[1], &rejected, what)
					assert.NoError(t, results[0], what)
				}
				assert.Len(t, n.counted(), 1)
			})
		})
	}
}

func TestSendConversions_NeedsATokenOfItsOwnOnPinterest(t *testing.T) {
	each(t, advert.PlatformPinterest, Options{}, func(t *testing.T, n *network) {
		b := n.told("1")
		b.Token = ""
		_, err := n.SendConversions(t.Context(), n.conn, b)
		require.ErrorIs(t, err, ads.ErrUnauthorized)
		b.Token, b.PixelID = "conversion-token", "1"
		_, err = n.SendConversions(t.Context(), n.conn, b)
		assert.ErrorIs(t, err, ads.ErrNotFound)
	})
}

func TestSendConversions_FailsByTheFaultOfItsCall(t *testing.T) {
	each(t, advert.PlatformFacebook, Options{}, func(t *testing.T, n *network) {
		lost, err := ParseFault("timeout_after_commit")
		require.NoError(t, err)
		_, err = n.SendConversions(WithFault(t.Context(), lost), n.conn, n.told("lost"))
		require.ErrorIs(t, err, ads.ErrIndeterminate)
		partial, err := ParseFault("partial:1")
		require.NoError(t, err)
		results, err := n.SendConversions(WithFault(t.Context(), partial), n.conn, n.told("first", "second"))
		require.NoError(t, err)
		assert.NoError(t, results[0])
		assert.Error(t, results[1])
		assert.Len(t, n.counted(), 2)
	})
}
