package fault

import (
	"cmp"
	"fmt"
	"math"
	"net/http"
	"testing"
	"time"

	"github.com/tillwright/tillwright/tests/harness"
	"github.com/tillwright/tillwright/tests/harness/database"
)

// adWrite is a write whose answer never comes.
type adWrite struct {
	request
	status int
	done   string // a query of the network's own tables that finds one row when, and only if, it did it once
}

// TestKill_BetweenTheNetworkAndTheAnswerSpendsOnce lets every network do what it is asked for and keep its answer. It
// kills the server while it waits, and sends the same requests again. Each ad, audience, upload and change is there once.
func TestKill_BetweenTheNetworkAndTheAnswerSpendsOnce(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		c := newCampaign(t, harness.Build(t), url)
		db := harness.OpenDatabase(t, url)
		client := c.client(c.server.Load(), 0)
		var writes []adWrite
		var all []advertiser
		for i, platform := range adNetworks {
			all = append(all, advertise(t, client, platform))
			writes = append(writes, all[i].writes(t, client)...)
		}
		before := all[0].committed(t, client)
		c.hang(db, writes)
		c.server.Load().Kill()
		if open := db.Strings(t, `SELECT id FROM ad_actions WHERE state IN ('begun', 'unknown')`); len(open) != len(writes) {
			t.Errorf("of %d writes %d have no outcome after the kill", len(writes), len(open))
		}
		c.endLeases(c.t)
		c.server.Store(c.binary.Serve(t, c.addr))
		for _, w := range writes {
			c.insist(w.request, w.status)
			if rows := db.Strings(t, w.done); len(rows) != 1 {
				t.Errorf("%s: the network has done it %d times: %v", w.key, len(rows), rows)
			}
		}
		for _, fault := range append(c.differingReplays(), c.brokenInvariants(c.t)...) {
			t.Error(fault)
		}
		if open := db.Strings(t, `SELECT id FROM ad_actions WHERE state <> 'done'`); len(open) != 0 {
			t.Errorf("these actions are not done: %v", open)
		}
		added := len(adNetworks) * (20 + 20 + 15 - 20) // by the ad, the boost, the change, and the pause
		if after := all[0].committed(t, c.client(c.server.Load(), 0)); math.Round(after-before) != float64(added) {
			t.Errorf("what may be spent in a day went from %.2f to %.2f, by %d is expected", before, after, added)
		}
	})
}

// writes are of every kind. What they are done to is made first.
func (a advertiser) writes(t *testing.T, c *harness.Client) []adWrite {
	t.Helper()
	budgeted := a.ad("Budgeted", 20)
	budgeted["budget_level"] = "campaign"
	changed := a.creates(t, c, budgeted)["campaign_id"].(string)
	paused := a.creates(t, c, a.ad("Paused", 20))["campaign_id"].(string)
	audience := func(kind string) map[string]any {
		return map[string]any{"account_id": a.channel, "ad_account_id": a.account, "name": "A " + kind, "type": kind, "pixel_id": "1"}
	}
	list := audience("customer_list")
	delete(list, "pixel_id")
	users := "/v1/ads/audiences/" + c.Must(t, http.MethodPost, "/v1/ads/audiences", list)["id"].(string) + "/users"
	entity := `SELECT id FROM sandbox_entities WHERE channel_id = '` + a.channel + `' AND `
	all := []adWrite{
		{request{path: "/v1/ads", body: a.ad("Killed ad", 20)}, 201, entity + `kind = 'ad' AND detail LIKE '%"Killed ad"%'`},
		{request{path: "/v1/ads/boost", body: a.boost("Killed boost", 20)}, 201, entity + `kind = 'ad' AND detail LIKE '%"Killed boost"%'`},
		{request{path: "/v1/ads/audiences", body: audience("retargeting")}, 201, `SELECT id FROM sandbox_audiences WHERE channel_id = '` + a.channel + `' AND detail LIKE '%A retargeting%'`},
		{request{path: users, body: people(7)}, 200, `SELECT DISTINCT audience_id FROM sandbox_members WHERE channel_id = '` + a.channel + `'`},
		{request{method: http.MethodPatch, path: "/v1/ads/campaigns/" + changed, body: map[string]any{"budget": map[string]any{"amount": 35, "type": "daily"}}}, 200, entity + `id = '` + changed + `' AND detail LIKE '%"budget":35000000,%'`},
		{request{path: "/v1/ads/campaigns/bulk-pause", body: map[string]any{"campaigns": []string{paused}}}, 200, entity + `id = '` + paused + `' AND detail LIKE '%"off":true%'`},
	}
	for i := range all {
		all[i].key = fmt.Sprint(a.platform, " ", i)
	}
	return all
}

// committed is what may be spent in a day by everything that is on.
func (a advertiser) committed(t *testing.T, c *harness.Client) float64 {
	t.Helper()
	plan := c.Must(t, http.MethodPost, "/v1/ads?dry_run=true", a.ad("Nothing", 1))
	return plan["figures"].([]any)[0].(map[string]any)["daily_total_before"].(float64)
}

// hang sends the writes to networks that do them and do not answer, and returns when all are done. The connections break
// with the server.
func (c *campaign) hang(db *harness.Database, writes []adWrite) {
	c.t.Helper()
	for i, w := range writes {
		client := c.client(c.server.Load(), i)
		go func() {
			ask := func() (*harness.Response, error) {
				return client.Try(cmp.Or(w.method, http.MethodPost), w.path, w.body, "Idempotency-Key", w.key, "X-Sandbox-Fault", "hang_after_commit")
			}
			resp, err := ask()
			for ; err == nil && resp.Status == http.StatusConflict; resp, err = ask() { // the network works on the video
				time.Sleep(20 * time.Millisecond)
			}
			if err == nil && resp.Status < http.StatusInternalServerError { // which says that nobody knows, after a long time
				c.t.Errorf("%s was answered %d %s", w.key, resp.Status, resp.Body)
			}
		}()
	}
	begin := time.Now()
	for _, w := range writes {
		for len(db.Strings(c.t, w.done)) == 0 {
			if time.Since(begin) > harness.Patience {
				c.t.Fatalf("%s is not done", w.key)
			}
			time.Sleep(20 * time.Millisecond)
		}
	}
}

// TestKill_MakesEveryAdOnce kills the server again and again under clients that make ads on all networks.
func TestKill_MakesEveryAdOnce(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		c := newCampaign(t, harness.Build(t), url)
		var all []advertiser
		for _, platform := range adNetworks {
			all = append(all, advertise(t, c.client(c.server.Load(), 0), platform))
		}
		before := len(harness.OpenDatabase(t, url).Strings(t, `SELECT id FROM sandbox_entities`))
		c.run(count(5, 100), func(n int64) {
			a, name := all[int(n)%len(all)], fmt.Sprint("ad ", n)
			body := a.ad(name, 20)
			body["status"] = "paused"
			c.insist(request{key: name, path: "/v1/ads", body: body}, http.StatusCreated)
		})
		report(t, c, append(c.differingReplays(), c.adFaults(before)...))
	})
}

// adFaults holds what the networks have, beside what they had before, and the mirror against the answers.
func (c *campaign) adFaults(before int) (faults []string) {
	c.t.Helper()
	db := harness.OpenDatabase(c.t, c.url)
	defer db.Close()
	for what, query := range map[string]string{
		"ads":          `SELECT platform_id FROM ads WHERE source = 'native'`,
		"actions":      `SELECT DISTINCT target_id FROM ad_actions WHERE state = 'done'`,
		"ads answered": `SELECT platform_id FROM ads WHERE source = 'native' AND name LIKE 'ad %'`,
	} {
		if n := len(db.Strings(c.t, query)); n != len(c.answers) {
			faults = append(faults, fmt.Sprintf("%d were told of their ad, but there are %d %s", len(c.answers), n, what))
		}
	}
	if n := len(db.Strings(c.t, `SELECT id FROM sandbox_entities`)); n != before+3*len(c.answers) {
		faults = append(faults, fmt.Sprintf("the networks have %d things more, %d ads have three each", n-before, len(c.answers)))
	}
	return append(faults, c.brokenInvariants(c.t)...)
}
