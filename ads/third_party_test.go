package ads_test

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/ads/zernio"
	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/tests/harness/zerniofake"
)

// thirdParty is a world whose service has a key at Zernio, and the sandbox beside it.
type thirdParty struct {
	*world
	net *zerniofake.Network
}

func withZernio(w *world) *thirdParty {
	net := zerniofake.New("key", func() time.Time { return w.Advert.Now().Time() })
	drivers := ads.Drivers{ads.DriverSandbox: {}, ads.DriverZernio: zernio.All(zernio.Config{
		Client: &http.Client{Transport: net}, Key: "key", BaseURL: "https://zernio.example" + zerniofake.Prefix, Pause: time.Microsecond,
	})}
	w.Service = ads.New(w.Advert, drivers, ads.Consents{PublicURL: "http://shop.test", Website: w.website}, slog.New(slog.NewTextHandler(io.Discard, nil)))
	return &thirdParty{w, net}
}

// consents lets somebody consent for an account, and returns what they come back with.
func (w *thirdParty) consents(by ads.Actor, platform string) (connection string, back url.Values) {
	w.t.Helper()
	begun, err := w.CreateSocialConnection(w.t.Context(), by.Account, ads.CreateSocialConnection{Platform: platform, Driver: ads.DriverZernio, ReturnURL: "https://shop.test/back"})
	require.NoError(w.t, err)
	page, err := url.Parse(begun.URL)
	require.NoError(w.t, err)
	r := httptest.NewRequest(http.MethodGet, page.Path+"?"+page.RawQuery+"&answer=yes", nil)
	answer := httptest.NewRecorder()
	w.net.ServeHTTP(answer, r)
	to, err := url.Parse(answer.Header().Get("Location"))
	require.NoError(w.t, err)
	return begun.ID, to.Query()
}

// follows brings back what somebody was sent back with.
func (w *thirdParty) follows(platform string, back url.Values) *advert.SocialConnection {
	w.t.Helper()
	c, err := w.FollowConsent(w.t.Context(), ads.ConsentReturn{Platform: platform, State: back.Get("state"), Code: ads.Secret(back.Get("accountId"))})
	require.NoError(w.t, err)
	require.NotNil(w.t, c)
	return c
}

// advertises activates the channel of a connection for the world's account.
func (w *thirdParty) advertises(platform string) {
	w.t.Helper()
	_, back := w.consents(w.by, platform)
	c := w.follows(platform, back)
	require.Equal(w.t, advert.ConnectionConnected, c.Status, c.Error)
	channel, err := w.Service.ActivateSocialAccount(w.t.Context(), w.by.Account, c.ChannelID)
	require.NoError(w.t, err)
	require.Equal(w.t, ads.DriverZernio, channel.Driver)
	w.channel, w.account = channel, w.adAccount(channel)
}

// asked sends the same request under one key.
func (w *thirdParty) asked(key string) (string, error) {
	in := w.ad()
	in.Targeting.Targeting = `{"countries":["US"]}`
	body, _, err := w.request(key, func(ctx context.Context) (any, error) { return w.CreateAd(ctx, w.by, in) })
	return body, err
}

func TestCreateAd_IsRepeatedUnderItsKey(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		w := withZernio(world)
		w.advertises("facebook")
		for i, fault := range []zerniofake.Fault{zerniofake.FaultDropAfter, zerniofake.FaultDrop, zerniofake.FaultUnavailableAfter} {
			key := string(rune('a' + i))
			w.net.Break("POST /v1/ads/create", 0, fault)
			_, err := w.asked(key)
			unknown(t, err)
			before := len(w.net.Writes())
			w.due()
			require.NoError(t, w.Reconcile(t.Context()))
			assert.Len(t, w.net.Writes(), before, "the reconciler spends nothing")
			w.advance.Add(int64(2 * time.Hour))
			_, err = w.asked(key)
			require.NoError(t, err)
			assert.Len(t, w.net.Campaigns(), i+1)
		}
		assert.Len(t, w.native(), 3)

		newYork, err := time.LoadLocation("America/New_York") // where the ad account is
		require.NoError(t, err)
		in := w.ad()
		in.Targeting.Targeting, in.StartDate = `{"countries":["US"]}`, w.Advert.Now().Time().In(newYork).AddDate(0, 0, 1).Format(time.DateOnly)
		w.net.Break("POST /v1/ads/create", 0, zerniofake.FaultDropAfter)
		_, _, err = w.request("d", func(ctx context.Context) (any, error) { return w.CreateAd(ctx, w.by, in) })
		unknown(t, err)
		w.advance.Add(int64(22 * time.Hour)) // as a rule that is the day itself, for which an ad is drafted without a start
		_, _, err = w.request("d", func(ctx context.Context) (any, error) { return w.CreateAd(ctx, w.by, in) })
		require.NoError(t, err)
		assert.Len(t, w.net.Campaigns(), 4)
		for _, action := range w.actions() {
			assert.Equal(t, advert.ActionDone, action.State)
		}
	})
}

// Once Zernio has forgotten the key, a second ad could be made: then nobody asks again, and a person settles it.
func TestCreateAd_IsNotRepeatedForTooLong(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		w := withZernio(world)
		w.advertises("facebook")
		w.net.Break("POST /v1/ads/create", 0, zerniofake.FaultDropAfter)
		_, err := w.asked("k")
		unknown(t, err)
		w.advance.Add(int64(23*time.Hour + time.Minute))
		_, err = w.asked("k")
		unknown(t, err)
		w.giveUp()
		assert.Len(t, w.net.Campaigns(), 1)
		assert.False(t, w.actions()[0].IsFinal())
	})
}

// What Zernio has no way to pass on is said in a dry run too, and begins no action.
func TestCreateAd_IsCheckedBeforeItBegins(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		w := withZernio(world)
		w.advertises("linkedin")
		in := w.ad()
		in.Status, in.Targeting.Targeting = "paused", `{"countries":["US"]}`
		for _, in.DryRun = range []bool{true, false} {
			_, err := w.CreateAd(t.Context(), w.by, in)
			refused(t, err, core.CodeInvalid, "status")
		}
		assert.Empty(t, w.actions())
	})
}

// Two accounts share the installation's key, and nothing else.
func TestZernio_KeepsAccountsApart(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		w := withZernio(world)
		eve := w.newAccount("Eve's shop")
		w.advertises("facebook")
		_, own := w.consents(w.by, "facebook")

		_, stolen := w.consents(eve, "facebook")
		stolen.Set("accountId", own.Get("accountId"))
		c := w.follows("facebook", stolen)
		assert.Equal(t, advert.ConnectionFailed, c.Status)
		assert.Empty(t, c.ChannelID)

		var answers []string
		for _, id := range []string{own.Get("accountId"), w.channel.PlatformID, "66a0ffffffffffffffffffff"} {
			_, err := w.ConnectSocialAccount(t.Context(), eve.Account, ads.ConnectSocialAccount{Platform: "facebook", Driver: ads.DriverZernio, Token: id})
			answers = append(answers, refused(t, err, core.CodeInvalid, "token").Message)
		}
		assert.Equal(t, answers[2], answers[0], "it can be told that there is such an account")
		assert.Equal(t, answers[2], answers[1])
		_, err := w.ConnectSocialAccount(t.Context(), eve.Account, ads.ConnectSocialAccount{Platform: "facebook", Driver: ads.DriverZernio, PlatformID: w.channel.PlatformID})
		assert.NotContains(t, refused(t, err, core.CodeInvalid, "platform_account_id").Message, w.channel.DisplayName)
		channels, _, err := w.Advert.ListSocialAccounts(t.Context(), eve.Account, advert.ListSocialAccounts{Page: core.Page{Limit: 10}})
		require.NoError(t, err)
		assert.Empty(t, channels)

		mine, err := w.ConnectSocialAccount(t.Context(), eve.Account, ads.ConnectSocialAccount{Platform: "facebook", Driver: ads.DriverZernio})
		require.NoError(t, err, "what eve has connected herself")
		assert.NotEqual(t, w.channel.PlatformID, mine.PlatformID)
		_, err = w.RenewSocialAccount(t.Context(), eve.Account, mine.ID, w.channel.PlatformID)
		refused(t, err, core.CodeInvalid, "token")
		_, err = w.Service.ActivateSocialAccount(t.Context(), eve.Account, mine.ID)
		require.NoError(t, err)
		_, err = w.asked("k")
		require.NoError(t, err)
		writes := len(w.net.Writes())
		_, err = w.SyncSocialAccount(t.Context(), eve.Account, mine.ID)
		require.NoError(t, err)
		_, err = w.PauseAdGroup(t.Context(), eve, w.net.Campaigns()[0].Sets[0].ID, "facebook")
		refused(t, err, core.CodeMissing, "")
		assert.Len(t, w.net.Writes(), writes)
	})
}

// Nobody's ads go to a third party unless they ask for it by name; and who asks again has the same channel.
func TestZernio_HasToBeNamed(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		w := withZernio(world)
		for _, p := range advert.Platforms {
			_, err := w.ConnectSocialAccount(t.Context(), w.by.Account, ads.ConnectSocialAccount{Platform: string(p), Token: "a-token"})
			refused(t, err, core.CodeInvalid, "driver")
			_, err = w.CreateSocialConnection(t.Context(), w.by.Account, ads.CreateSocialConnection{Platform: string(p), ReturnURL: "https://shop.test/back"})
			refused(t, err, core.CodeInvalid, "driver")
		}
		assert.Empty(t, w.net.Calls())
		_, err := w.ConnectSocialAccount(t.Context(), w.by.Account, ads.ConnectSocialAccount{Platform: "google", Driver: ads.DriverZernio})
		refused(t, err, core.CodeInvalid, "platform")
		w.consents(w.by, "google") // from where nobody comes back
		channel, err := w.ConnectSocialAccount(t.Context(), w.by.Account, ads.ConnectSocialAccount{Platform: "google", Driver: ads.DriverZernio})
		require.NoError(t, err)
		again, err := w.ConnectSocialAccount(t.Context(), w.by.Account, ads.ConnectSocialAccount{Platform: "google", Driver: ads.DriverZernio})
		require.NoError(t, err)
		assert.Equal(t, channel.ID, again.ID)
	})
}

func TestConnectSocialAccount_TakesNoProfileThatAThirdPartyDoesNotShow(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		w := withZernio(world)
		for _, call := range []string{"GET /v1/profiles", "GET /v1/accounts"} {
			w.net.Break(call, 0, zerniofake.FaultUnsupported)
			_, err := w.Service.ConnectSocialAccount(t.Context(), w.by.Account, ads.ConnectSocialAccount{
				Platform: "facebook", Driver: ads.DriverZernio, PlatformID: "somebodyElses",
			})
			require.Error(t, err, call)
		}
		channels, _, err := w.Advert.ListSocialAccounts(t.Context(), w.by.Account, advert.ListSocialAccounts{})
		require.NoError(t, err)
		for _, channel := range channels {
			assert.NotEqual(t, "somebodyElses", channel.PlatformID)
		}
	})
}
