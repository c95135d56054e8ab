package ads_test

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/ads/sandbox"
	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/tenant"
	"github.com/tillwright/tillwright/tests/harness/database"
	_ "github.com/tillwright/tillwright/tests/harness/migrated"
)

// world is an account with an activated channel of Facebook, at sandboxes that are watched.
type world struct {
	*store.Store
	*ads.Service
	t       *testing.T
	by      ads.Actor
	channel *advert.SocialAccount
	account advert.Account // in dollars
	line    *watch
	advance atomic.Int64
}

// each runs a test in a world of its own on every engine.
func each(t *testing.T, test func(t *testing.T, w *world)) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		w := open(t, url)
		w.channel = w.activate(advert.PlatformFacebook)
		w.account = w.adAccount(w.channel)
		test(t, w)
	})
}

func open(t *testing.T, url string) *world {
	t.Helper()
	sealer, err := core.NewSealer(make([]byte, 32))
	require.NoError(t, err)
	w := &world{t: t, line: &watch{calls: map[string]int{}}}
	w.Store, err = store.Open(t.Context(), store.Options{
		CloseTime: time.Minute,
		URL:       url, Sealer: sealer, Synchronous: "normal", PublicURL: "http://shop.test",
		Now:    func() time.Time { return time.Now().Add(time.Duration(w.advance.Load())) },
		Render: func(_ string, v any) ([]byte, error) { return json.Marshal(v) },
	})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, w.Store.Close()) })
	require.NoError(t, w.Migrate(t.Context()))
	networks := map[advert.Platform]ads.Network{}
	for _, platform := range advert.Platforms {
		networks[platform] = watched{sandbox.New(w.Advert, platform, sandbox.Options{AudienceDelay: -1}), w.line}
	}
	w.Service = ads.New(w.Advert, ads.Drivers{ads.DriverSandbox: networks}, ads.Consents{PublicURL: "http://shop.test", Website: w.website}, slog.New(slog.NewTextHandler(io.Discard, nil)))
	w.by = w.newAccount("Ada's shop")
	return w
}

func (w *world) newAccount(name string) ads.Actor {
	w.t.Helper()
	account, err := w.Tenant.CreateAccount(w.t.Context(), tenant.NewAccount{Name: name, Email: "ada@example.com"})
	require.NoError(w.t, err)
	return ads.Actor{Account: account.ID, Key: core.NewID(core.KindAPIKey), RequestID: "req_1"}
}

func (w *world) connect(by ads.Actor, platform advert.Platform) *advert.SocialAccount {
	w.t.Helper()
	channel, err := w.ConnectSocialAccount(w.t.Context(), by.Account, ads.ConnectSocialAccount{Platform: string(platform)})
	require.NoError(w.t, err)
	return channel
}

func (w *world) activate(platform advert.Platform) *advert.SocialAccount {
	w.t.Helper()
	channel, err := w.Service.ActivateSocialAccount(w.t.Context(), w.by.Account, w.connect(w.by, platform).ID)
	require.NoError(w.t, err)
	return channel
}

// adAccount returns the ad account of a channel that is in dollars.
func (w *world) adAccount(channel *advert.SocialAccount) advert.Account {
	w.t.Helper()
	accounts, err := w.Service.ListAdAccounts(w.t.Context(), channel.AccountID, ads.ListAdAccounts{AccountID: channel.ID})
	require.NoError(w.t, err)
	for _, a := range accounts.Items {
		if a.Currency == "usd" {
			return a
		}
	}
	w.t.Fatal("no ad account is in dollars")
	return advert.Account{}
}

// ad is a good ad of 20 dollars a day.
func (w *world) ad() ads.CreateAd {
	return ads.CreateAd{
		AccountID: w.channel.ID, AdAccountID: w.account.PlatformID, Name: "Spring", Goal: "traffic", BudgetAmount: "20", BudgetType: "daily",
		Creative: advert.Creative{
			Headline: "New course", Body: "Learn to bake.", CallToAction: "LEARN_MORE", LinkURL: "https://shop.example", ImageURL: "https://shop.example/a.png",
		},
	}
}

// create creates an ad.
func (w *world) create(in ads.CreateAd) *ads.ShownAd {
	w.t.Helper()
	out, err := w.CreateAd(w.t.Context(), w.by, in)
	require.NoError(w.t, err)
	require.NotNil(w.t, out.Ad)
	return out.Ad
}

// limit sets the guardrails in dollars.
func (w *world) limit(campaign, total int64) {
	w.t.Helper()
	_, err := w.UpdateLimits(w.t.Context(), w.by, func(l *advert.Limits) {
		l.Currencies.V = map[string]advert.Limit{"usd": {
			MaxDailyPerCampaign: advert.Amount(campaign) * advert.AmountUnit, MaxDailyTotal: advert.Amount(total) * advert.AmountUnit,
		}}
	})
	require.NoError(w.t, err)
}

// seeded is what may be spent by day, in dollars.
func (w *world) seeded() int64 {
	w.t.Helper()
	daily, err := w.spend()
	require.NoError(w.t, err)
	return daily
}

// spend returns what seeded does.
func (w *world) spend() (int64, error) {
	figures, err := w.Advert.CheckSpend(w.t.Context(), w.by.Account, advert.OpCreateAd, &w.account, advert.Change{
		Level: advert.LevelGroup, Platform: w.account.Platform, BudgetAmount: advert.AmountUnit, BudgetType: advert.BudgetTypeDaily, Paused: true,
	})
	if err != nil {
		return 0, err
	}
	return int64(figures.TotalBefore / advert.AmountUnit), nil
}

// actions returns the audit trail, newest first.
func (w *world) actions() []advert.Action {
	w.t.Helper()
	actions, _, err := w.Advert.ListActions(w.t.Context(), w.by.Account, advert.ListActions{Page: core.Page{Limit: 100}})
	require.NoError(w.t, err)
	return actions
}

// native returns the ads that were made here.
func (w *world) native() []ads.ShownAd {
	w.t.Helper()
	list, err := w.Service.ListAds(w.t.Context(), w.by.Account, ads.ListAds{Source: "native"})
	require.NoError(w.t, err)
	return list.Items
}

// request runs a write as the server does, with an Idempotency-Key.
func (w *world) request(key string, do func(context.Context) (any, error)) (string, bool, error) {
	w.t.Helper()
	answer, replayed, err := w.Store.Request(w.t.Context(), &core.Key{Account: w.by.Account, Key: key, External: true},
		func(ctx context.Context) (*core.Answer, error) {
			out, err := do(ctx)
			if err != nil {
				return nil, err
			}
			body, err := json.Marshal(out)
			return &core.Answer{Status: 200, Body: body}, err
		})
	if answer == nil {
		return "", replayed, err
	}
	return string(answer.Body), replayed, err
}

// refused asserts what kind of answer an error is, and what it is about.
func refused(t *testing.T, err error, code core.Code, param string) *core.Error {
	t.Helper()
	var e *core.Error
	require.ErrorAs(t, err, &e)
	assert.Equal(t, code, e.Code, e.Message)
	assert.Equal(t, param, e.Param, e.Message)
	if code == core.CodeInvalid || code == core.CodeSpendLimit {
		assert.Contains(t, e.Fields, param)
	}
	return e
}

// website is the own site of every account.
func (*world) website(context.Context, string) (string, error) { return "https://shop.test/start", nil }
