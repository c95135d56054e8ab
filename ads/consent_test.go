package ads_test

import (
	"context"
	"io"
	"log/slog"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/ads/sandbox"
	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/store/core"
)

// asked is a network whose people consent, and which gives what the test says.
type asked struct {
	*sandbox.Driver
	mu       sync.Mutex
	err      error // of Exchange and Refresh
	life     time.Duration
	refresh  []string // by what it was asked to renew an access
	profiles []advert.SocialProfile
	slow     chan struct{} // Refresh waits for it, if it is there
}

func (n *asked) Exchange(context.Context, ads.ConsentAnswer) (ads.Grant, error) {
	return ads.Grant{Token: "token 1", Refresh: "refresh 1", Life: n.life, Scopes: []string{"ads_read"}}, n.err
}

func (n *asked) Refresh(_ context.Context, by ads.Secret) (ads.Grant, error) {
	n.mu.Lock()
	n.refresh = append(n.refresh, by.Reveal())
	n.mu.Unlock()
	if n.slow != nil {
		<-n.slow
	}
	return ads.Grant{Token: "token 2", Refresh: "refresh 2", Life: n.life}, n.err
}

func (n *asked) Profiles(context.Context, ads.Conn) ([]advert.SocialProfile, error) {
	return n.profiles, nil
}

// asking lets the world speak to a network that asks people, on facebook.
func (w *world) asking() *asked {
	n := &asked{
		Driver: sandbox.New(w.Advert, advert.PlatformFacebook, sandbox.Options{}), life: 60 * 24 * time.Hour,
		profiles: []advert.SocialProfile{{ID: "17", Username: "shop", Name: "Shop"}},
	}
	w.Service = ads.New(w.Advert, ads.Drivers{"meta": {advert.PlatformFacebook: n}},
		ads.Consents{PublicURL: "http://shop.test", Website: w.website}, slog.New(slog.NewTextHandler(io.Discard, nil)))
	return n
}

// begin begins a connection and returns it with its state.
func (w *world) begin() (*advert.SocialConnection, string) {
	w.t.Helper()
	begun, err := w.CreateSocialConnection(w.t.Context(), w.by.Account, ads.CreateSocialConnection{Platform: "facebook", ReturnURL: "https://shop.test/back"})
	require.NoError(w.t, err)
	page, err := url.Parse(begun.URL)
	require.NoError(w.t, err)
	return begun.SocialConnection, page.Query().Get("state")
}

func (w *world) follow(state string) *advert.SocialConnection {
	w.t.Helper()
	c, err := w.FollowConsent(w.t.Context(), ads.ConsentReturn{Platform: "facebook", State: state, Code: "code"})
	require.NoError(w.t, err)
	return c
}

func TestFollowConsent_ConnectsOnce(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.asking()
		begun, state := w.begin()
		c := w.follow(state)
		assert.Equal(t, advert.ConnectionConnected, c.Status)
		channel, err := w.Advert.GetSocialAccount(t.Context(), w.by.Account, c.ChannelID)
		require.NoError(t, err)
		assert.Equal(t, []any{"17", "shop", "Shop", []string{"ads_read"}}, []any{channel.PlatformID, channel.Username, channel.DisplayName, channel.Scopes.V})
		assert.InDelta(t, float64(w.Advert.Now().Add(60*24*time.Hour)), float64(*channel.TokenExpiresAt), float64(time.Minute.Microseconds()))
		assert.Nil(t, w.follow(state), "replayed")
		_, state = w.begin()
		again := w.follow(state)
		assert.Equal(t, channel.ID, again.ChannelID, "the same profile is the same channel")
		assert.NotEqual(t, begun.ID, again.ID)
	})
}

func TestFollowConsent_OfTwoTabsOneConnects(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.asking()
		_, state := w.begin()
		var tabs sync.WaitGroup
		got := make([]*advert.SocialConnection, 8)
		for i := range got {
			tabs.Go(func() {
				var err error
				got[i], err = w.FollowConsent(t.Context(), ads.ConsentReturn{Platform: "facebook", State: state, Code: "code"})
				assert.NoError(t, err)
			})
		}
		tabs.Wait()
		connected := 0
		for _, c := range got {
			if c != nil {
				connected++
			}
		}
		assert.Equal(t, 1, connected)
	})
}

func TestFollowConsent_TakesNoStateThatIsNotGood(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		n := w.asking()
		begun, state := w.begin()
		for what, in := range map[string]ads.ConsentReturn{
			"foreign":          {Platform: "facebook", State: "somebody's", Code: "code"},
			"none":             {Platform: "facebook", Code: "code"},
			"of another":       {Platform: "instagram", State: state, Code: "code"},
			"of none":          {Platform: "myspace", State: state, Code: "code"},
			"without a word":   {Platform: "facebook", State: state},
			"the stored hash":  {Platform: "facebook", State: begun.StateHash, Code: "code"},
			"with a NUL in it": {Platform: "facebook", State: "\x00", Code: "code"},
		} {
			c, err := w.FollowConsent(t.Context(), in)
			require.NoError(t, err, what)
			assert.Nil(t, c, what)
		}
		w.advance.Add(int64(10 * time.Minute))
		assert.Nil(t, w.follow(state), "late")
		c, err := w.GetSocialConnection(t.Context(), w.by.Account, begun.ID)
		require.NoError(t, err)
		assert.Equal(t, advert.ConnectionExpired, c.StatusAt(w.Advert.Now()))
		list, _, err := w.Advert.ListSocialAccounts(t.Context(), w.by.Account, advert.ListSocialAccounts{Page: core.Page{Limit: 10}, Platform: advert.PlatformFacebook})
		require.NoError(t, err)
		assert.Len(t, list, 1, "only the channel of the world")
		assert.Empty(t, n.refresh)
	})
}

func TestFollowConsent_OfADisabledAccountIsNone(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.asking()
		_, state := w.begin()
		_, _, err := w.Tenant.DisableAccount(t.Context(), w.by.Account)
		require.NoError(t, err)
		assert.Nil(t, w.follow(state))
		_, _, err = w.Tenant.EnableAccount(t.Context(), w.by.Account)
		require.NoError(t, err)
		assert.Equal(t, advert.ConnectionConnected, w.follow(state).Status, "nothing is lost by it")
	})
}

func TestFollowConsent_SaysWhatCameToNothing(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		n := w.asking()
		_, state := w.begin()
		denied, err := w.FollowConsent(t.Context(), ads.ConsentReturn{Platform: "facebook", State: state, Error: "access_denied"})
		require.NoError(t, err)
		assert.Equal(t, advert.ConnectionDenied, denied.Status)
		_, state = w.begin()
		wrong, err := w.FollowConsent(t.Context(), ads.ConsentReturn{Platform: "facebook", State: state, Error: "invalid_scope"})
		require.NoError(t, err)
		assert.Equal(t, advert.ConnectionFailed, wrong.Status)
		for _, refusal := range []error{ads.ErrUnauthorized, ads.ErrUnavailable} {
			n.err = refusal
			_, state = w.begin()
			failed := w.follow(state)
			assert.Equal(t, advert.ConnectionFailed, failed.Status)
			assert.NotEmpty(t, failed.Error)
			assert.Nil(t, w.follow(state))
		}
		n.err, n.profiles = nil, nil
		_, state = w.begin()
		assert.Contains(t, w.follow(state).Error, "no profile")
	})
}

func TestSelectSocialProfile_ConnectsWhatWasConsentedTo(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		n := w.asking()
		n.profiles = append(n.profiles, advert.SocialProfile{ID: "18", Name: "Other"})
		_, state := w.begin()
		c := w.follow(state)
		assert.Equal(t, advert.ConnectionChoose, c.Status)
		assert.NotContains(t, string(c.SealedAccess), "token 1")
		_, err := w.SelectSocialProfile(t.Context(), w.by.Account, c.ID, "19")
		refused(t, err, core.CodeInvalid, "platform_account_id")
		_, err = w.SelectSocialProfile(t.Context(), w.newAccount("Other").Account, c.ID, "18")
		refused(t, err, core.CodeMissing, "")
		c, err = w.SelectSocialProfile(t.Context(), w.by.Account, c.ID, "18")
		require.NoError(t, err)
		assert.Equal(t, advert.ConnectionConnected, c.Status)
		assert.Empty(t, c.SealedAccess)
		channel, err := w.Advert.GetSocialAccount(t.Context(), w.by.Account, c.ChannelID)
		require.NoError(t, err)
		assert.Equal(t, "Other", channel.DisplayName)
		_, err = w.SelectSocialProfile(t.Context(), w.by.Account, c.ID, "17")
		refused(t, err, core.CodeInvalid, "status")

		_, state = w.begin()
		c = w.follow(state)
		w.advance.Add(int64(10 * time.Minute))
		_, err = w.SelectSocialProfile(t.Context(), w.by.Account, c.ID, "17")
		refused(t, err, core.CodeInvalid, "status")
		_, err = w.Advert.DeleteOldConnections(t.Context(), 10)
		require.NoError(t, err)
		c, err = w.GetSocialConnection(t.Context(), w.by.Account, c.ID)
		require.NoError(t, err)
		assert.Empty(t, c.SealedAccess, "what nobody selected is forgotten")
		w.advance.Add(int64(8 * 24 * time.Hour))
		deleted, err := w.Advert.DeleteOldConnections(t.Context(), 10)
		require.NoError(t, err)
		assert.EqualValues(t, 2, deleted)
	})
}

func TestCreateSocialConnection_SendsPeopleHomeAlone(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.asking()
		for address, good := range map[string]bool{
			"https://shop.test/back?a=b": true, "https://SHOP.test": true, "http://shop.test/back": false, "https://shop.test.evil.example": false,
			"https://evil.example/shop.test": false, "https://shop.test@evil.example": false, "https://shop.test:444/": false, "http://127.0.0.1:3000/": false,
			"javascript:alert(1)": false, "/back": false, "https://shop.test\\@evil.example/": false, "https://shop.test/#x": false, "//shop.test/": false, "": false,
			"https://shop.test/?a=%zz": false, "https://shop.test/?a=b;c=d": false, "https://shop.test/?a=%25zz%3B": true, // all of it comes back
		} {
			_, err := w.CreateSocialConnection(t.Context(), w.by.Account, ads.CreateSocialConnection{Platform: "facebook", ReturnURL: address})
			if good {
				require.NoError(t, err, address)
			} else {
				require.Error(t, err, address)
			}
		}
		_, err := w.CreateSocialConnection(t.Context(), w.by.Account, ads.CreateSocialConnection{Platform: "tiktok", ReturnURL: "https://shop.test"})
		refused(t, err, core.CodeInvalid, "driver")
	})
}

func TestRefreshDue_RenewsInTimeAndOnce(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		n := w.asking()
		_, state := w.begin()
		id := w.follow(state).ChannelID
		require.NoError(t, w.RefreshDue(t.Context()))
		assert.Empty(t, n.refresh)
		w.advance.Add(int64(40*24*time.Hour + time.Minute)) // two thirds of sixty days
		var replicas sync.WaitGroup
		for range 4 {
			replicas.Go(func() { assert.NoError(t, w.RefreshDue(t.Context())) })
		}
		replicas.Wait()
		assert.Equal(t, []string{"refresh 1"}, n.refresh, "one asks")
		channel, err := w.Advert.GetSocialAccount(t.Context(), w.by.Account, id)
		require.NoError(t, err)
		token, err := w.Advert.ChannelToken(channel)
		require.NoError(t, err)
		assert.Equal(t, "token 2", token)
		assert.Equal(t, []string{"ads_read"}, channel.Scopes.V)

		n.err = ads.ErrUnavailable
		w.advance.Add(int64(40*24*time.Hour + time.Minute))
		require.Error(t, w.RefreshDue(t.Context()), "the log says so")
		require.NoError(t, w.RefreshDue(t.Context()))
		assert.Len(t, n.refresh, 2, "not again at once")
		w.advance.Add(int64(11 * time.Minute))
		require.Error(t, w.RefreshDue(t.Context()))
		assert.Equal(t, []string{"refresh 1", "refresh 2", "refresh 2"}, n.refresh)
		w.advance.Add(int64(20 * 24 * time.Hour))
		require.Error(t, w.RefreshDue(t.Context()))
		channel, err = w.Advert.GetSocialAccount(t.Context(), w.by.Account, id)
		require.NoError(t, err)
		assert.Contains(t, channel.LastError, "has ended")
		assert.Nil(t, channel.RefreshAt)
	})
}

func TestRefreshDue_LosesNothingWhenItIsRefused(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		n := w.asking()
		_, state := w.begin()
		channel, err := w.Service.ActivateSocialAccount(t.Context(), w.by.Account, w.follow(state).ChannelID)
		require.NoError(t, err)
		w.channel = channel
		w.account = w.adAccount(channel)
		kept := w.create(w.ad())
		n.err = ads.ErrUnauthorized
		w.advance.Add(int64(41 * 24 * time.Hour))
		require.NoError(t, w.RefreshDue(t.Context()))
		channel, err = w.Advert.GetSocialAccount(t.Context(), w.by.Account, channel.ID)
		require.NoError(t, err)
		assert.Equal(t, advert.AdsStatusError, channel.AdsStatus)
		assert.NotEmpty(t, channel.LastError)
		w.advance.Add(int64(time.Hour))
		require.NoError(t, w.RefreshDue(t.Context()))
		assert.Len(t, n.refresh, 1, "a refusal is final")

		n.err = nil
		_, state = w.begin()
		assert.Equal(t, channel.ID, w.follow(state).ChannelID)
		ad, err := w.Advert.GetAd(t.Context(), w.by.Account, "", kept.Row.PlatformID)
		require.NoError(t, err)
		assert.Equal(t, advert.SourceNative, ad.Source, "reconnected, all is there")
	})
}

func TestRefreshDue_LeavesAnAccessThatCameMeanwhile(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		n := w.asking()
		_, state := w.begin()
		id := w.follow(state).ChannelID
		w.advance.Add(int64(41 * 24 * time.Hour))
		n.slow = make(chan struct{})
		var worker sync.WaitGroup
		worker.Go(func() { assert.NoError(t, w.RefreshDue(t.Context())) })
		require.Eventually(t, func() bool { n.mu.Lock(); defer n.mu.Unlock(); return len(n.refresh) == 1 }, time.Minute, time.Millisecond)
		_, err := w.RenewSocialAccount(t.Context(), w.by.Account, id, "by hand")
		require.NoError(t, err)
		close(n.slow)
		worker.Wait()
		channel, err := w.Advert.GetSocialAccount(t.Context(), w.by.Account, id)
		require.NoError(t, err)
		token, err := w.Advert.ChannelToken(channel)
		require.NoError(t, err)
		assert.Equal(t, "by hand", token)
	})
}

func TestDeleteSocialAccount_EndsTheRenewal(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		n := w.asking()
		_, state := w.begin()
		_, err := w.Service.DeleteSocialAccount(t.Context(), w.by.Account, w.follow(state).ChannelID)
		require.NoError(t, err)
		w.advance.Add(int64(50 * 24 * time.Hour))
		require.NoError(t, w.RefreshDue(t.Context()))
		assert.Empty(t, n.refresh)
	})
}
