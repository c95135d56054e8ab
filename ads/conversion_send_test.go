package ads_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/store/core"
)

// destination makes a destination of the first pixel of an ad account.
func (w *world) destination(channel *advert.SocialAccount, token ads.Secret) *advert.ConversionDestination {
	w.t.Helper()
	account := w.adAccount(channel)
	pixels, _, err := w.ListPixels(w.t.Context(), w.by.Account, channel.ID, account.PlatformID)
	require.NoError(w.t, err)
	d, err := w.Service.CreateConversionDestination(w.t.Context(), w.by.Account, ads.CreateConversionDestination{
		AccountID: channel.ID, AdAccountID: account.PlatformID, PixelID: pixels[0].ID, Token: token,
		Events: []advert.ConversionKind{advert.ConversionPurchase, advert.ConversionLead}, Status: advert.DestinationActive,
	})
	require.NoError(w.t, err)
	return d
}

// sale is a sale that was made elsewhere just now, by somebody who consented.
func (w *world) sale(id string) ads.CreateConversion {
	return ads.CreateConversion{
		EventID: id, Kind: "purchase", OccurredAt: w.Advert.Now().String(), Value: "19.90", Currency: "USD", AdsConsent: true,
		User: ads.User{Email: "Ada@example.com"}, PageURL: "https://shop.example/thanks", UserAgent: "Mozilla/5.0", ClientIP: "203.0.113.7",
	}
}

// happen keeps sales that a destination is to be told of.
func (w *world) happen(d *advert.ConversionDestination, sales ...ads.CreateConversion) []ads.CreatedConversion {
	w.t.Helper()
	created, err := w.Service.CreateConversions(w.t.Context(), w.by.Account, d.ID, sales)
	require.NoError(w.t, err)
	return created
}

// told returns what became of the conversions, by event id.
func (w *world) told() map[string]advert.Conversion {
	w.t.Helper()
	list, _, err := w.Advert.ListConversions(w.t.Context(), w.by.Account, advert.ListConversions{Page: core.Page{Limit: 100}})
	require.NoError(w.t, err)
	all := map[string]advert.Conversion{}
	for _, c := range list {
		all[c.EventID] = c
	}
	return all
}

// counted returns how often the network has counted each event, by its id.
func (w *world) counted(channel *advert.SocialAccount) map[string]int64 {
	w.t.Helper()
	list, err := w.Advert.ListSandboxConversions(w.t.Context(), w.by.Account, channel.ID)
	require.NoError(w.t, err)
	all := map[string]int64{}
	for _, c := range list {
		all[c.EventID] += c.Counted
	}
	return all
}

func (w *world) tell() {
	w.t.Helper()
	require.NoError(w.t, w.TellConversions(w.t.Context()))
}

func TestTellConversions_TellsAndForgets(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		d := w.destination(w.channel, "")
		w.happen(d, w.sale("1"), w.sale("2"))
		w.tell()
		w.tell()
		assert.Equal(t, 1, w.line.of("SendConversions"), "in one call")
		assert.Equal(t, map[string]int64{"1": 1, "2": 1}, w.counted(w.channel))
		for id, c := range w.told() {
			assert.Equal(t, advert.ConversionSent, c.Status, id)
			assert.NotNil(t, c.SentAt)
			assert.Equal(t, 1, c.Attempts)
			assert.Equal(t, advert.ConversionUser{}, c.User.V, "nothing says who it was")
			assert.Nil(t, c.DueAt)
			assert.Equal(t, 19_900_000, int(c.Value))
		}
		created := w.happen(d, w.sale("1"))
		assert.True(t, created[0].IsDuplicate())
	})
}

func TestTellConversions_SharesAmongReplicas(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		d := w.destination(w.channel, "")
		for i := range 30 {
			w.happen(d, w.sale(fmt.Sprint(i)))
		}
		var replicas sync.WaitGroup
		for range 4 {
			replicas.Go(func() { assert.NoError(t, w.TellConversions(t.Context())) })
		}
		replicas.Wait()
		list, err := w.Advert.ListSandboxConversions(t.Context(), w.by.Account, w.channel.ID)
		require.NoError(t, err)
		assert.Len(t, list, 30)
		for _, c := range list {
			assert.EqualValues(t, 1, c.Told, "%s was told by one", c.EventID)
		}
	})
}

func TestTellConversions_AsksAgainWithinTheNetworksMemory(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		d := w.destination(w.channel, "")
		w.happen(d, w.sale("1"))
		w.line.lose.Store(true) // it arrives, and nobody hears of it
		w.tell()
		c := w.told()["1"]
		assert.Equal(t, advert.ConversionPending, c.Status)
		assert.NotNil(t, c.TriedAt)
		assert.NotEmpty(t, c.Reason)
		w.tell()
		assert.Equal(t, 1, w.line.of("SendConversions"), "not at once")
		w.line.lose.Store(false)
		w.advance.Add(int64(2 * time.Minute))
		w.tell()
		assert.Equal(t, advert.ConversionSent, w.told()["1"].Status)
		assert.Equal(t, map[string]int64{"1": 1}, w.counted(w.channel))
	})
}

func TestTellConversions_NeverAsksAgainBeyondIt(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		d := w.destination(w.channel, "")
		w.happen(d, w.sale("1"))
		w.line.lose.Store(true)
		w.tell()
		w.line.lose.Store(false)
		w.line.say("SendConversions", ads.ErrUnavailable) // which says nothing about the first time
		w.advance.Add(int64(time.Hour))
		w.tell()
		w.line.say("", nil)
		w.advance.Add(int64(47 * time.Hour))
		w.tell()
		c := w.told()["1"]
		assert.Equal(t, advert.ConversionExpired, c.Status)
		assert.Contains(t, c.Reason, "may have counted")
		assert.Equal(t, advert.ConversionUser{}, c.User.V)
		assert.Equal(t, map[string]int64{"1": 1}, w.counted(w.channel))
	})
}

func TestTellConversions_AsksForDaysWhileNothingArrives(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		d := w.destination(w.channel, "")
		w.happen(d, w.sale("1"))
		for _, err := range []error{ads.ErrUnavailable, &ads.RateLimited{After: 2 * time.Hour}, ads.ErrOperator} {
			w.line.say("SendConversions", err)
			said := w.TellConversions(t.Context())
			assert.Equal(t, errors.Is(err, ads.ErrOperator), said != nil, "whoever runs the service hears of their app")
			assert.Nil(t, w.told()["1"].TriedAt, "it did not arrive")
			var limited *ads.RateLimited
			if errors.As(err, &limited) {
				w.advance.Add(int64(90 * time.Minute))
				w.tell()
				assert.Equal(t, 2, w.line.of("SendConversions"), "not before the network allows it")
			}
			w.advance.Add(int64(50 * time.Hour))
		}
		w.line.say("", nil)
		w.tell()
		assert.Equal(t, advert.ConversionSent, w.told()["1"].Status, "after six days")
	})
}

func TestTellConversions_IsNeverLate(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		d := w.destination(w.channel, "")
		w.happen(d, w.sale("old"))
		w.line.say("SendConversions", ads.ErrUnavailable)
		w.tell()
		w.line.say("", nil)
		w.advance.Add(int64(7*24*time.Hour - 5*time.Minute))
		w.happen(d, w.sale("new"))
		w.tell()
		told := w.told()
		assert.Equal(t, advert.ConversionExpired, told["old"].Status, "minutes before its time, as the call takes some")
		assert.Equal(t, advert.ConversionSent, told["new"].Status)
		assert.Equal(t, map[string]int64{"new": 1}, w.counted(w.channel))
	})
}

func TestTellConversions_ForgetsWhatWaitsForNobody(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		d := w.destination(w.channel, "")
		w.happen(d, w.sale("1"))
		_, err := w.Service.DeactivateSocialAccount(t.Context(), w.by.Account, w.channel.ID)
		require.NoError(t, err)
		w.tell()
		assert.Equal(t, advert.ConversionPending, w.told()["1"].Status)
		w.advance.Add(int64(7 * 24 * time.Hour))
		w.tell()
		c := w.told()["1"]
		assert.Equal(t, advert.ConversionExpired, c.Status)
		assert.Contains(t, c.Reason, "seven days")
		assert.Equal(t, advert.ConversionUser{}, c.User.V)
		assert.Zero(t, w.line.of("SendConversions"))
	})
}

func TestTellConversions_ShowsWhatIsRefused(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		d := w.destination(w.channel, "")
		w.happen(d, w.sale("1"))
		w.line.say("SendConversions", &ads.Rejected{Message: "The pixel takes no such thing."})
		w.tell()
		w.tell()
		c := w.told()["1"]
		assert.Equal(t, advert.ConversionRefused, c.Status)
		assert.Equal(t, "The pixel takes no such thing.", c.Reason)
		assert.Equal(t, advert.ConversionUser{}, c.User.V)
		assert.Equal(t, 1, w.line.of("SendConversions"))
	})
}

func TestTellConversions_WaitsForAnAccess(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		d := w.destination(w.channel, "")
		w.happen(d, w.sale("1"))
		w.line.say("SendConversions", ads.ErrUnauthorized)
		w.tell()
		failed, err := w.Advert.GetConversionDestination(t.Context(), w.by.Account, d.ID)
		require.NoError(t, err)
		assert.Equal(t, advert.DestinationError, failed.Status)
		assert.NotEmpty(t, failed.LastError)
		channel, err := w.Advert.GetSocialAccount(t.Context(), w.by.Account, w.channel.ID)
		require.NoError(t, err)
		assert.Equal(t, advert.AdsStatusError, channel.AdsStatus, "it is the access of the channel")
		w.line.say("", nil)
		w.tell()
		assert.Equal(t, advert.ConversionPending, w.told()["1"].Status)

		_, err = w.Service.ActivateSocialAccount(t.Context(), w.by.Account, w.channel.ID)
		require.NoError(t, err)
		w.tell()
		assert.Equal(t, advert.ConversionSent, w.told()["1"].Status)
		revived, err := w.Advert.GetConversionDestination(t.Context(), w.by.Account, d.ID)
		require.NoError(t, err)
		assert.Equal(t, advert.DestinationActive, revived.Status)
		assert.Empty(t, revived.LastError)
	})
}

func TestTellConversions_LeavesTheChannelIfATokenOfTheDestinationIsRefused(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		channel := w.activate(advert.PlatformPinterest)
		d := w.destination(channel, "secret-conversion-token")
		w.happen(d, w.sale("1"))
		w.line.say("SendConversions", ads.ErrUnauthorized)
		w.tell()
		channel, err := w.Advert.GetSocialAccount(t.Context(), w.by.Account, channel.ID)
		require.NoError(t, err)
		assert.Equal(t, advert.AdsStatusActive, channel.AdsStatus)
		w.line.say("", nil)
		w.tell()
		assert.Equal(t, advert.ConversionPending, w.told()["1"].Status)

		d, err = w.Service.UpdateConversionDestination(t.Context(), w.by.Account, d.ID, advert.UpdateConversionDestination{Token: new("another-token")})
		require.NoError(t, err)
		assert.Equal(t, advert.DestinationActive, d.Status)
		w.tell()
		assert.Equal(t, advert.ConversionSent, w.told()["1"].Status)
	})
}

func TestTellConversions_TellsNothingOfADisabledAccountOrAPausedDestination(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		d := w.destination(w.channel, "")
		w.happen(d, w.sale("1"))
		_, _, err := w.Tenant.DisableAccount(t.Context(), w.by.Account)
		require.NoError(t, err)
		w.tell()
		assert.Equal(t, advert.ConversionPending, w.told()["1"].Status)
		_, _, err = w.Tenant.EnableAccount(t.Context(), w.by.Account)
		require.NoError(t, err)
		_, err = w.Service.UpdateConversionDestination(t.Context(), w.by.Account, d.ID, advert.UpdateConversionDestination{Status: new(advert.DestinationPaused)})
		require.NoError(t, err)
		w.tell()
		assert.Equal(t, advert.ConversionPending, w.told()["1"].Status)
		_, err = w.Service.CreateConversions(t.Context(), w.by.Account, d.ID, []ads.CreateConversion{w.sale("2")})
		refused(t, err, core.CodeInvalid, "destination_id")
		_, err = w.Service.UpdateConversionDestination(t.Context(), w.by.Account, d.ID, advert.UpdateConversionDestination{Status: new(advert.DestinationActive)})
		require.NoError(t, err)
		w.tell()
		assert.Equal(t, advert.ConversionSent, w.told()["1"].Status)
	})
}

func TestDeleteSocialAccount_ForgetsWhatWaits(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		d := w.destination(w.channel, "")
		w.happen(d, w.sale("sent"))
		w.tell()
		w.happen(d, w.sale("1"))
		_, err := w.Service.DeleteSocialAccount(t.Context(), w.by.Account, w.channel.ID)
		require.NoError(t, err)
		assert.Len(t, w.told(), 1, "what was told stays")
		paused, err := w.Advert.GetConversionDestination(t.Context(), w.by.Account, d.ID)
		require.NoError(t, err)
		assert.Equal(t, advert.DestinationPaused, paused.Status)
	})
}

func TestTellConversions_TellsEachNetworkByItsRules(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		sale := w.sale("1")
		sale.User = ads.User{Phone: "+1 616 954 7888"}
		sale.PageURL, sale.UserAgent, sale.ClientIP = "", "", ""
		for platform, want := range map[advert.Platform]advert.ConversionStatus{
			advert.PlatformInstagram: advert.ConversionSent, advert.PlatformTikTok: advert.ConversionSent, advert.PlatformPinterest: advert.ConversionRefused,
		} {
			token := ads.Secret("")
			if platform == advert.PlatformPinterest {
				token = "secret-conversion-token"
			}
			sale.EventID = string(platform)
			w.happen(w.destination(w.activate(platform), token), sale)
			w.tell()
			assert.Equal(t, want, w.told()[string(platform)].Status, platform)
		}
		assert.Contains(t, w.told()["pinterest"].Reason, "e-mail")
	})
}

func TestTellConversions_TellsOnceWhatANetworkCountsEachTime(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		channel := w.activate(advert.PlatformPinterest)
		d := w.destination(channel, "secret-conversion-token")
		offsite, onsite := w.sale("offsite"), w.sale("onsite")
		offsite.PageURL, offsite.UserAgent, offsite.ClientIP = "", "", ""
		w.happen(d, offsite, onsite)
		claim, err := w.Advert.ClaimConversions(t.Context(), w.by.Account, d.ID, advert.ConversionLimits{Most: 10, MaxAge: 7 * 24 * time.Hour, Dedupe: 24 * time.Hour})
		require.NoError(t, err)
		require.Len(t, claim.Conversions, 2) // and whoever claimed them is gone
		w.advance.Add(int64(2 * time.Minute))
		w.tell()
		told := w.told()
		assert.Equal(t, []advert.ConversionStatus{advert.ConversionExpired, advert.ConversionSent}, []advert.ConversionStatus{told["offsite"].Status, told["onsite"].Status})
		assert.Contains(t, told["offsite"].Reason, "may have counted")
	})
}

func TestPostponeConversions_LetsOthersGoFirst(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		d := w.destination(w.channel, "")
		w.happen(d, w.sale("1"))
		require.NoError(t, w.Advert.PostponeConversions(t.Context(), w.by.Account, d.ID, time.Hour))
		due, err := w.Advert.DueConversions(t.Context(), 10)
		require.NoError(t, err)
		for _, one := range due {
			assert.NotEqual(t, d.ID, one.ID)
		}
		w.advance.Add(int64(2 * time.Hour))
		w.tell()
		assert.Equal(t, advert.ConversionSent, w.told()["1"].Status)
	})
}
