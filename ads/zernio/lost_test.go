package zernio_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/tests/harness/zerniofake"
)

// silent are the faults after which nobody knows what was done.
var silent = []zerniofake.Fault{
	zerniofake.FaultDrop, zerniofake.FaultDropAfter, zerniofake.FaultUnavailable, zerniofake.FaultUnavailableAfter, zerniofake.FaultGarbageAfter,
	zerniofake.FaultInFlight, zerniofake.FaultUpstream,
}

// An ad whose answer was lost is asked for again, and is there once.
func TestCreate_MakesOneAdHoweverOftenItIsAsked(t *testing.T) {
	onEach(t, func(t *testing.T, w *world) {
		plans := map[string]func(string) ads.Plan{"POST /v1/ads/create": w.plan}
		if w.account.Parent() != nil {
			plans["POST /v1/ads/boost"] = w.boost
		}
		for call, plan := range plans {
			for i, fault := range silent {
				p := plan(fmt.Sprint(call[13:14], i))
				before := len(w.net.Campaigns())
				w.net.Break(call, 0, fault)
				_, err := w.driver.Create(t.Context(), w.conn, p)
				require.ErrorIs(t, err, ads.ErrIndeterminate, "%s %d", call, fault)
				made := w.create(t, p)
				again := w.create(t, p)
				assert.Equal(t, made, again)
				assert.Len(t, w.net.Campaigns(), before+1, "%s %d", call, fault)
				p.Token = token(fmt.Sprint("x", call[13:14], i))
				require.NotEqual(t, made.Ad.PlatformID, w.create(t, p).Ad.PlatformID, "another key makes another ad")
			}
		}
		w.now = w.now.Add(w.driver.Caps().RepeatFor)
		before := len(w.net.Campaigns())
		p := w.plan("c0")
		w.create(t, p)
		assert.Len(t, w.net.Campaigns(), before, "Zernio keeps a key for as long as the driver says")
	})
}

// A key that stands for another request says nothing of this one.
func TestCreate_DoesNotTakeAnotherAdForItsOwn(t *testing.T) {
	t.Parallel()
	w := newWorld(advert.PlatformFacebook, nil)
	p := w.plan("first")
	w.create(t, p)
	p.BudgetAmount += advert.AmountUnit
	_, err := w.driver.Create(t.Context(), w.conn, p)
	require.ErrorIs(t, err, ads.ErrIndeterminate)
	assert.Len(t, w.net.Campaigns(), 1)
}

// Changes may be repeated: after a lost answer they are as they were asked for.
func TestChanges_AreRepeated(t *testing.T) {
	onEach(t, func(t *testing.T, w *world) {
		made := w.create(t, w.plan("one"))
		budget := ads.Patch{Currency: "usd", Budget: &ads.Budget{Amount: 44 * advert.AmountUnit, Type: advert.BudgetTypeDaily}}
		ref, call := w.groupRef(made.Group), "PUT /v1/ads/{adId}"
		switch w.driver.Caps().Platform {
		case advert.PlatformFacebook, advert.PlatformInstagram, advert.PlatformTikTok:
			call = "PUT /v1/ads/ad-sets/{adSetId}"
		case advert.PlatformGoogle:
			ref = w.campaignRef(made.Campaign)
		}
		for _, fault := range silent[:4] {
			w.net.Break(call, 0, fault)
			_, err := w.driver.Update(t.Context(), w.conn, ref, budget)
			require.Error(t, err)
			entity, err := w.driver.Update(t.Context(), w.conn, ref, budget)
			require.NoError(t, err)
			if entity.Group != nil {
				assert.Equal(t, 44*advert.AmountUnit, entity.Group.BudgetAmount)
			} else {
				assert.Equal(t, 44*advert.AmountUnit, entity.Campaign.BudgetAmount)
			}
			w.net.Break("PUT /v1/ads/campaigns/{campaignId}/status", 0, fault)
			results, err := w.driver.SetStatus(t.Context(), w.conn, []ads.Ref{w.campaignRef(made.Campaign)}, advert.ConfiguredPaused)
			require.NoError(t, err)
			require.ErrorIs(t, results[0].Err, ads.ErrIndeterminate)
			results, err = w.driver.SetStatus(t.Context(), w.conn, []ads.Ref{w.campaignRef(made.Campaign)}, advert.ConfiguredPaused)
			require.NoError(t, err)
			require.NoError(t, results[0].Err)
			require.Len(t, results[0].State.Campaigns, 1)
			assert.Equal(t, advert.ConfiguredPaused, results[0].State.Campaigns[0].ConfiguredStatus)
		}
		w.net.Break("DELETE /v1/ads/{adId}", 0, zerniofake.FaultDropAfter)
		_, err := w.driver.Delete(t.Context(), w.conn, w.adRef(made.Ad))
		require.ErrorIs(t, err, ads.ErrIndeterminate)
		_, err = w.driver.Delete(t.Context(), w.conn, w.adRef(made.Ad))
		require.ErrorIs(t, err, ads.ErrNotFound)
	})
}

// An audience has no key. It is sent once, and whether it was made nobody knows.
func TestCreateAudience_IsSentOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(advert.PlatformFacebook, nil)
	w.net.Break("POST /v1/ads/audiences", 0, zerniofake.FaultDropAfter)
	_, err := w.driver.CreateAudience(t.Context(), w.conn, ads.AudiencePlan{Token: token("a"), AdAccount: w.ad, Name: "Visitors", Type: advert.AudienceTypeRetargeting, PixelID: "1"})
	require.ErrorIs(t, err, ads.ErrIndeterminate)
	rows, err := w.driver.Audiences(t.Context(), w.conn, w.ad.PlatformID)
	require.NoError(t, err)
	assert.Len(t, rows, 1)
	_, _, err = w.driver.Find(t.Context(), w.conn, w.ad.PlatformID, token("a"))
	require.ErrorIs(t, err, ads.ErrIndeterminate, "no token can be looked for")
}

// Two requests that begin to connect make one profile.
func TestConsent_MakesOneProfile(t *testing.T) {
	t.Parallel()
	w := newWorld(advert.PlatformFacebook, nil)
	q := ads.ConsentQuestion{Account: "acct_new", State: "s", RedirectURI: "https://till.example/connect/facebook"}
	w.net.Break("POST /v1/profiles", 0, zerniofake.FaultDropAfter)
	for range 2 {
		_, err := w.driver.Consent(t.Context(), q)
		require.NoError(t, err)
	}
	made := 0
	for _, call := range w.net.Writes() {
		if call == "POST /v1/profiles" {
			made++
		}
	}
	assert.Equal(t, 1, made)
}
