package sandbox

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/tests/harness/database"
	_ "github.com/tillwright/tillwright/tests/harness/migrated"
)

// network is a sandbox with one channel and a clock that only the test moves.
type network struct {
	*Driver
	t     *testing.T
	store *store.Store
	url   string
	conn  ads.Conn
	now   time.Time
}

const (
	testAccount = "acct_01kap00000000000000000000a"
	testChannel = "sacct_01kap00000000000000000000b" // of 2025-11-22
)

// begin is when tests begin: long after the channel was connected, in the middle of a day everywhere.
var begin = time.Date(2025, time.December, 10, 15, 4, 5, 678901000, time.UTC)

// each runs a test on both engines.
func each(t *testing.T, p advert.Platform, o Options, test func(t *testing.T, n *network)) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		n := connect(t, url, p, o)
		require.NoError(t, n.store.Migrate(t.Context()))
		test(t, n)
	})
}

// connect returns another replica over a database.
func connect(t *testing.T, url string, p advert.Platform, o Options) *network {
	t.Helper()
	sealer, err := core.NewSealer(make([]byte, 32))
	require.NoError(t, err)
	s, err := store.Open(t.Context(), store.Options{URL: url, Sealer: sealer, CloseTime: time.Minute, Synchronous: "normal"})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, s.Close()) })
	n := &network{Driver: New(s.Advert, p, o), t: t, store: s, url: url, now: begin}
	n.conn = ads.Conn{Account: testAccount, Channel: testChannel, Platform: p, Now: func() time.Time { return n.now }}
	return n
}

// mine returns the ad account in dollars.
func (n *network) mine() advert.Account { return n.accounts(n.conn)[0] }

// plan returns a campaign whose ad group has 20.00 a day.
func (n *network) plan(token string) ads.Plan {
	return ads.Plan{
		Token: token, AdAccount: n.mine(), Name: "Spring", Goal: advert.GoalTraffic, BudgetLevel: advert.BudgetLevelGroup,
		BudgetAmount: 20 * advert.AmountUnit, BudgetType: advert.BudgetTypeDaily, Configured: advert.ConfiguredActive,
		Creative: advert.Creative{Headline: "Hello", Body: "World"},
	}
}

// create makes what a plan says.
func (n *network) create(plan ads.Plan) ads.Created {
	n.t.Helper()
	created, err := n.Create(n.t.Context(), n.conn, plan)
	require.NoError(n.t, err)
	return created
}

// join makes another ad in an ad group.
func (n *network) join(group *advert.Group, headline string) *advert.Ad {
	n.t.Helper()
	created := n.create(ads.Plan{
		Token: "adact_" + headline, AdAccount: n.mine(), Name: headline, CampaignID: group.CampaignID, AdGroupID: group.PlatformID,
		Configured: advert.ConfiguredActive, Creative: advert.Creative{Headline: headline},
	})
	require.Nil(n.t, created.Campaign)
	require.Nil(n.t, created.Group)
	return created.Ad
}

// report returns how one thing stands, and what it did on all days.
func (n *network) report(level advert.Level, id string) ads.Report {
	n.t.Helper()
	reports := n.reports(level, id)
	require.Contains(n.t, reports, id)
	return reports[id]
}

func (n *network) reports(level advert.Level, ids ...string) map[string]ads.Report {
	n.t.Helper()
	reports, err := n.Report(n.t.Context(), n.conn, n.mine().PlatformID, level, ids, ads.Date{Year: 2024, Month: 1, Day: 1}, ads.Date{Year: 2030, Month: 1, Day: 1})
	require.NoError(n.t, err)
	return reports
}

// walk returns the whole of an ad account.
func (n *network) walk(adAccount string) advert.Batch {
	n.t.Helper()
	var all advert.Batch
	for cursor := ""; ; {
		page, next, err := n.Sync(n.t.Context(), n.conn, adAccount, cursor)
		require.NoError(n.t, err)
		all.Campaigns = append(all.Campaigns, page.Campaigns...)
		all.Groups = append(all.Groups, page.Groups...)
		all.Ads = append(all.Ads, page.Ads...)
		if cursor = next; next == "" {
			return all
		}
	}
}

func (n *network) campaignRef(id string) ads.Ref {
	return ads.Ref{AdAccount: n.mine().PlatformID, Level: advert.LevelCampaign, ID: id}
}

func (n *network) groupRef(g *advert.Group) ads.Ref {
	return ads.Ref{AdAccount: n.mine().PlatformID, Level: advert.LevelGroup, ID: g.PlatformID, CampaignID: g.CampaignID}
}

// turn turns one switch.
func (n *network) turn(ref ads.Ref, to advert.Configured) ads.ItemResult {
	n.t.Helper()
	results, err := n.SetStatus(n.t.Context(), n.conn, []ads.Ref{ref}, to)
	require.NoError(n.t, err)
	require.Len(n.t, results, 1)
	require.NoError(n.t, results[0].Err)
	return results[0]
}

func text(t *testing.T, v any) string {
	t.Helper()
	written, err := json.Marshal(v)
	require.NoError(t, err)
	return string(written)
}
