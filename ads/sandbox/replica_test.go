package sandbox

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/tests/harness/database"
)

func TestReplicas_AnswerAlikeToTheByte(t *testing.T) {
	each(t, advert.PlatformLinkedIn, Options{ReviewDelay: time.Hour}, func(t *testing.T, n *network) {
		other := connect(t, n.url, advert.PlatformLinkedIn, Options{ReviewDelay: time.Hour})
		made := n.create(n.planCampaign("adact_1"))
		n.now = n.now.Add(50 * time.Hour)
		n.turn(n.campaignRef(made.Campaign.PlatformID), advert.ConfiguredPaused)
		n.now = n.now.Add(time.Hour)
		other.now = n.now
		assert.Equal(t, n.everything(), other.everything())
	})
}

func TestTwoNetworks_WithTheSameSeedAndClockAreAlikeToTheByte(t *testing.T) {
	t.Parallel()
	var told []string
	for _, engine := range slices.Repeat(database.Engines(), 2) {
		n := connect(t, database.URL(t, engine), advert.PlatformPinterest, Options{})
		require.NoError(t, n.store.Migrate(t.Context()))
		made := n.create(n.planCampaign("adact_1"))
		n.join(made.Group, "second")
		n.now = n.now.Add(30*time.Hour + 123*time.Microsecond)
		n.turn(n.groupRef(made.Group), advert.ConfiguredPaused)
		n.now = n.now.Add(30 * time.Hour)
		n.turn(n.groupRef(made.Group), advert.ConfiguredActive)
		n.now = n.now.Add(7 * time.Hour)
		told = append(told, n.everything())
	}
	for _, other := range told[1:] {
		assert.Equal(t, told[0], other)
	}
}

func (n *network) everything() string {
	n.t.Helper()
	accounts, err := n.AdAccounts(n.t.Context(), n.conn)
	require.NoError(n.t, err)
	posts, err := n.Posts(n.t.Context(), n.conn)
	require.NoError(n.t, err)
	all := n.walk(n.mine().PlatformID)
	var ids [3][]string
	for _, c := range all.Campaigns {
		ids[0] = append(ids[0], c.PlatformID)
	}
	for _, g := range all.Groups {
		ids[1] = append(ids[1], g.PlatformID)
	}
	for _, a := range all.Ads {
		ids[2] = append(ids[2], a.PlatformID)
	}
	told := []any{accounts, posts, all}
	for i, level := range []advert.Level{advert.LevelCampaign, advert.LevelGroup, advert.LevelAd} {
		told = append(told, n.reports(level, ids[i]...))
	}
	return text(n.t, told)
}

func TestReplicas_ChangeThingsAtTheSameTime(t *testing.T) {
	each(t, advert.PlatformFacebook, Options{}, func(t *testing.T, n *network) {
		replicas := []*network{n, connect(t, n.url, n.platform, n.options)}
		var all sync.WaitGroup
		for i := range 16 {
			all.Go(func() {
				r := replicas[i%2]
				made, err := r.Create(t.Context(), r.conn, r.plan(fmt.Sprint("adact_", i)))
				if !assert.NoError(t, err) {
					return
				}
				_, err = r.SetStatus(t.Context(), r.conn, []ads.Ref{r.groupRef(made.Group)}, advert.ConfiguredPaused)
				assert.NoError(t, err)
			})
		}
		all.Wait()
		found := n.walk(n.mine().PlatformID)
		assert.Len(t, found.Campaigns, 3+16)
		assert.Len(t, found.Ads, 12+16)
		for _, campaign := range found.Campaigns[3:] {
			assert.Equal(t, advert.StatusPaused, campaign.Status)
		}
	})
}
