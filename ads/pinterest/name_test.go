package pinterest_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/tests/harness/pinterestfake"
)

// namesOf are the names that people see at the network.
func namesOf(rows []pinterestfake.Object) []string {
	names := make([]string, len(rows))
	for i, row := range rows {
		names[i] = row.Text("name")
	}
	return names
}

// tidied are the names of what a plan with several ads made.
func tidied(plan ads.Plan, made ads.Created) []ads.MadeName {
	all := []ads.MadeName{
		{Level: advert.LevelCampaign, ID: made.Campaign.PlatformID, Name: plan.Name, Token: plan.Token},
		{Level: advert.LevelGroup, ID: made.Group.PlatformID, Name: plan.Name, Token: plan.Token},
	}
	for i, one := range plan.Ads() {
		ad := made.Ad
		if i > 0 {
			ad = made.More[one.Token]
		}
		all = append(all, ads.MadeName{Level: advert.LevelAd, ID: ad.PlatformID, Name: one.Name, Token: one.Token})
	}
	return all
}

func TestTidyNames_GivesPeopleTheNamesThatWereMeant(t *testing.T) {
	t.Parallel()
	w := newWorld("USD", nil)
	plan := w.standalone("several")
	plan.Name = strings.Repeat("é", 250) + "final" // which leaves no room for a token
	plan.Creatives = []ads.NamedCreative{{Name: plan.Name, Creative: plan.Creative}, {Name: "Second", Creative: plan.Creative}}
	made := w.create(t, plan)
	assert.Equal(t, plan.Name, made.Campaign.Name, "what is shown here is the name that was meant")
	assert.Equal(t, plan.Name, made.Ad.Name)
	for _, name := range namesOf(w.net.Campaigns(w.account)) {
		assert.True(t, strings.HasSuffix(name, plan.Token), name)
	}

	names := tidied(plan, made)
	require.NoError(t, w.driver.TidyNames(t.Context(), w.conn, w.account.ID, names))
	assert.Equal(t, []string{plan.Name}, namesOf(w.net.Campaigns(w.account)))
	assert.Equal(t, []string{plan.Name}, namesOf(w.net.Groups(w.account)))
	assert.ElementsMatch(t, []string{plan.Name, "Second"}, namesOf(w.net.Ads(w.account)))

	before := len(w.net.Calls())
	require.NoError(t, w.driver.TidyNames(t.Context(), w.conn, w.account.ID, names))
	for _, call := range w.net.Calls()[before:] {
		assert.True(t, strings.HasSuffix(call, "/list"), "%s changes what is tidy already", call)
	}
}

func TestTidyNames_LeavesWhatSomebodyRenamedOrEnded(t *testing.T) {
	t.Parallel()
	w := newWorld("USD", nil)
	plan := w.boost("renamed")
	made := w.create(t, plan)
	w.net.Rename(w.account, made.Group.PlatformID, "Somebody's own name")
	w.net.Rename(w.account, made.Ad.PlatformID, "Longer · "+plan.Token)
	require.NoError(t, w.driver.TidyNames(t.Context(), w.conn, w.account.ID, tidied(plan, made)))
	assert.Equal(t, []string{"Somebody's own name"}, namesOf(w.net.Groups(w.account)))
	assert.Equal(t, []string{"Longer"}, namesOf(w.net.Ads(w.account)))

	ended := w.boost("ended")
	over := w.create(t, ended)
	_, err := w.driver.Delete(t.Context(), w.conn, ads.Ref{AdAccount: w.account.ID, Level: advert.LevelCampaign, ID: over.Campaign.PlatformID})
	require.NoError(t, err)
	require.NoError(t, w.driver.TidyNames(t.Context(), w.conn, w.account.ID, tidied(ended, over)), "what is archived cannot be changed")
	assert.Empty(t, w.net.Refused())
}

func TestTidyNames_SaysWhatItCouldNotDo(t *testing.T) {
	t.Parallel()
	w := newWorld("USD", nil)
	plan := w.boost("late")
	made := w.create(t, plan)
	w.net.Revoke(secret)
	require.ErrorIs(t, w.driver.TidyNames(t.Context(), w.conn, w.account.ID, tidied(plan, made)), ads.ErrUnauthorized)
}
