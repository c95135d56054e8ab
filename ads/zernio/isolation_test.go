package zernio_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store/advert"
)

// The installation's key reaches everything of everybody. An account of ours reaches the Zernio accounts in its own profile alone, also
// if Zernio hands out more than it was asked for.
func TestProfiles_AreOfWhoeverConnectedThem(t *testing.T) {
	onEach(t, func(t *testing.T, w *world) {
		p := w.driver.Caps().Platform
		theirs := w.net.Connect(other, nameOf(p))
		for _, w.net.IgnoreFilters = range []bool{false, true} {
			profiles, err := w.driver.Profiles(t.Context(), w.conn)
			require.NoError(t, err)
			require.Len(t, profiles, 1)
			assert.Equal(t, w.account.ID, profiles[0].ID)

			var answers []string
			all := w.conn
			all.Token = ""
			profiles, err = w.driver.Profiles(t.Context(), all)
			require.NoError(t, err)
			require.Len(t, profiles, 1, "all that the account has connected")
			assert.Equal(t, w.account.ID, profiles[0].ID)

			for _, token := range []string{theirs.ID, "66a0ffffffffffffffffffff", other} {
				stolen := w.connTo(mine, p, theirs)
				stolen.Token = ads.Secret(token)
				found, err := w.driver.Profiles(t.Context(), stolen)
				require.ErrorIs(t, err, ads.ErrUnauthorized)
				assert.Empty(t, found)
				answers = append(answers, err.Error())
			}
			assert.Equal(t, answers[1], answers[0], "it can be told that there is such a Zernio account")

			nobody := w.connTo("acct_00000000000000000000000003", p, w.account)
			_, err = w.driver.Profiles(t.Context(), nobody)
			require.ErrorIs(t, err, ads.ErrUnauthorized, "an account that has connected nothing")
			for _, name := range []string{nobody.Account, ""} {
				nobody.Account, nobody.Token = name, ""
				found, err := w.driver.Profiles(t.Context(), nobody)
				require.NoError(t, err)
				assert.Empty(t, found)
			}
		}
	})
}

// Where people post is the way to the account with which ads are made, of the same owner.
func TestProfiles_FindTheAccountForAds(t *testing.T) {
	t.Parallel()
	w := newWorld(advert.PlatformFacebook, nil)
	onInstagram := w.net.Connect(mine, "instagram")
	theirs := w.net.Connect(other, "facebook")
	posting := w.conn
	posting.Token = ads.Secret(w.account.Parent().ID)
	profiles, err := w.driver.Profiles(t.Context(), posting)
	require.NoError(t, err)
	require.Len(t, profiles, 1)
	assert.Equal(t, advert.SocialProfile{ID: w.account.ID, AlsoID: w.account.Parent().ID, Username: profiles[0].Username, Name: w.account.Name}, profiles[0])

	posting.Token = ads.Secret(onInstagram.ID)
	profiles, err = w.driver.Profiles(t.Context(), posting)
	require.NoError(t, err)
	assert.Empty(t, profiles, "Instagram's account is none of Facebook's")
	posting.Token = ads.Secret(theirs.Parent().ID)
	_, err = w.driver.Profiles(t.Context(), posting)
	require.ErrorIs(t, err, ads.ErrUnauthorized)
}

// Zernio takes the ids of campaigns, ad groups, ads and audiences as they are, whoever's they are. So a channel finds only its own.
func TestDriver_ChangesNothingOfOthers(t *testing.T) {
	onEach(t, func(t *testing.T, w *world) {
		made := w.create(t, w.plan("mine"))
		audience := w.net.AddAudience(w.account, w.ad.PlatformID, "lookalike", "Mine")
		p := w.driver.Caps().Platform
		theirs := w.net.Connect(other, nameOf(p))
		conn, adAccount := w.connTo(other, p, theirs), theirs.AdAccounts[0]["id"].(string)
		before := w.net.Writes()
		for _, w.net.IgnoreFilters = range []bool{false, true} {
			for _, ref := range []ads.Ref{w.campaignRef(made.Campaign), w.groupRef(made.Group), w.adRef(made.Ad)} {
				ref.AdAccount = adAccount
				for _, to := range []advert.Configured{advert.ConfiguredPaused, advert.ConfiguredActive} {
					results, err := w.driver.SetStatus(t.Context(), conn, []ads.Ref{ref}, to)
					require.NoError(t, err)
					require.ErrorIs(t, results[0].Err, ads.ErrNotFound)
				}
				_, err := w.driver.Update(t.Context(), conn, ref, ads.Patch{Currency: "usd", Budget: &ads.Budget{Amount: 900 * advert.AmountUnit, Type: advert.BudgetTypeDaily}})
				require.ErrorIs(t, err, ads.ErrNotFound)
				_, err = w.driver.Delete(t.Context(), conn, ref)
				require.ErrorIs(t, err, ads.ErrNotFound)
				ids := []string{ref.ID}
				reports, err := w.driver.Report(t.Context(), conn, adAccount, ref.Level, ids, ads.DateOf(noon), ads.DateOf(noon))
				require.NoError(t, err)
				assert.Empty(t, reports)
			}
			batch, _, err := w.driver.Sync(t.Context(), conn, adAccount, "")
			require.NoError(t, err)
			assert.Empty(t, batch.Campaigns)
			posts, err := w.driver.Posts(t.Context(), conn)
			require.NoError(t, err)
			assert.Empty(t, posts)
		}
		w.net.IgnoreFilters = false
		require.ErrorIs(t, w.driver.DeleteAudience(t.Context(), conn, adAccount, audience), ads.ErrNotFound)
		_, err := w.driver.Audience(t.Context(), conn, adAccount, audience)
		require.ErrorIs(t, err, ads.ErrNotFound)
		assert.Equal(t, before, w.net.Writes(), "something of another account was changed")
		accounts, err := w.driver.AdAccounts(t.Context(), conn)
		require.NoError(t, err)
		for _, a := range accounts {
			assert.NotEqual(t, w.ad.PlatformID, a.PlatformID)
		}
	})
}

// A channel that Profiles did not make is of no Zernio account, and reaches nothing, instead of everything.
func TestDriver_AsksForNothingWithoutAnAccount(t *testing.T) {
	onEach(t, func(t *testing.T, w *world) {
		plan, made := w.plan("first"), w.create(t, w.plan("made"))
		w.conn.PlatformID = ""
		calls := len(w.net.Calls())
		_, created := w.driver.Create(t.Context(), w.conn, plan)
		_, accounts := w.driver.AdAccounts(t.Context(), w.conn)
		_, _, synced := w.driver.Sync(t.Context(), w.conn, w.ad.PlatformID, "")
		_, audiences := w.driver.Audiences(t.Context(), w.conn, w.ad.PlatformID)
		_, deleted := w.driver.Delete(t.Context(), w.conn, w.adRef(made.Ad))
		_, found := w.driver.SearchTargeting(t.Context(), w.conn, ads.Search{Type: ads.SearchCountry, Text: "g"})
		_, reach := w.driver.Reach(t.Context(), w.conn, ads.ReachQuery{AdAccount: w.ad})
		_, reported := w.driver.Report(t.Context(), w.conn, w.ad.PlatformID, advert.LevelAd, []string{"1"}, ads.DateOf(noon), ads.DateOf(noon))
		for i, err := range []error{created, accounts, synced, audiences, deleted, found, reach, reported} {
			require.ErrorIs(t, err, ads.ErrUnauthorized, fmt.Sprint(i))
		}
		assert.Len(t, w.net.Calls(), calls, "Zernio was asked")
	})
}
