package zernio_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store/advert"
)

// tour takes the driver through everything that it can do on a network and writes down all that came back. In the end it writes down what Zernio has.
// Two tours differ if anything that matters does.
type tour struct {
	*world
	ctx   context.Context
	caps  ads.Caps
	lines []string
	right []string // what the lines should be, if that is known: the first one that differs ends the tour
}

// note writes a line down. The first error ends the tour: the ones that follow from it say nothing more.
func (t *tour) note(what string, result any, err error) {
	if err != nil {
		panic(fmt.Errorf("%s: %w", what, err))
	}
	text, err := json.Marshal(result)
	if err != nil {
		panic(err)
	}
	line := what + " " + string(text)
	if place := len(t.lines); place < len(t.right) && line != t.right[place] {
		panic("another line: " + line)
	}
	t.lines = append(t.lines, line)
}

// unsupported expects that Zernio has no such thing.
func (t *tour) unsupported(what string, err error) {
	t.note(what, []any{errors.Is(err, ads.ErrUnsupported), errors.As(err, new(*ads.Rejected))}, nil)
	if err == nil || !errors.Is(err, ads.ErrUnsupported) && !errors.As(err, new(*ads.Rejected)) {
		panic(fmt.Errorf("%s: %w", what, err))
	}
}

func (t *tour) isMeta() bool {
	return t.caps.Platform == advert.PlatformFacebook || t.caps.Platform == advert.PlatformInstagram
}

// run returns the lines of a tour through a fresh world.
func (w *world) run(ctx context.Context, right []string) (lines []string) {
	t := &tour{world: w, ctx: ctx, caps: w.driver.Caps(), right: right}
	defer func() {
		if cause := recover(); cause != nil {
			lines = append(t.lines, fmt.Sprint("stopped: ", cause))
		}
	}()
	t.net.Few = 1
	t.connects()
	t.reads()
	made := t.creates()
	t.changes(made)
	t.reports(made)
	t.audiences()
	t.ends(made)
	return t.lines
}

// Whatever the driver asks for, Zernio takes.
func TestDriver_IsTakenInEverything(t *testing.T) {
	onEach(t, func(t *testing.T, w *world) {
		lines := w.run(t.Context(), nil)
		assert.NotContains(t, lines[len(lines)-1], "stopped: ")
		assert.Empty(t, w.net.Refused())
	})
}

func (t *tour) connects() {
	page, err := t.driver.Consent(t.ctx, ads.ConsentQuestion{Account: mine, State: "s", RedirectURI: "https://till.example/connect/" + string(t.caps.Platform)})
	t.note("consent", page, err)
	page, err = t.driver.Consent(t.ctx, ads.ConsentQuestion{Account: other, State: "s", RedirectURI: "https://till.example/connect"})
	t.note("first consent", page, err)
	profiles, err := t.driver.Profiles(t.ctx, t.conn)
	t.note("profiles", profiles, err)
}

func (t *tour) reads() {
	accounts, err := t.driver.AdAccounts(t.ctx, t.conn)
	t.note("accounts", accounts, err)
	posts, err := t.driver.Posts(t.ctx, t.conn)
	t.note("posts", posts, err)
	centers, err := t.driver.BusinessCenters(t.ctx, t.conn)
	if t.caps.BusinessCenters {
		t.note("centers", centers, err)
	} else {
		t.unsupported("centers", err)
	}
	for _, kind := range t.caps.SearchTypes {
		options, err := t.driver.SearchTargeting(t.ctx, t.conn, ads.Search{Type: kind, Text: "m", Country: "DE"})
		t.note("options", options, err)
		if len(options) == 0 {
			panic("no " + kind + " was found")
		}
	}
	p := t.plan("reach")
	reached, err := t.driver.Reach(t.ctx, t.conn, ads.ReachQuery{AdAccount: t.ad, Targeting: p.Targeting, Words: p.PlatformTargeting})
	if t.caps.Platform == advert.PlatformGoogle || t.caps.Platform == advert.PlatformTikTok {
		t.unsupported("reach", err)
	} else {
		t.note("reach", reached, err)
	}
	names, err := t.driver.Beneficiaries(t.ctx, t.conn, t.ad.PlatformID)
	pixels, noPixels := t.driver.Pixels(t.ctx, t.conn, t.ad.PlatformID)
	if t.isMeta() {
		t.note("beneficiaries", names, err)
		t.note("pixels", pixels, noPixels)
	} else {
		t.unsupported("beneficiaries", err)
		t.unsupported("pixels", noPixels)
	}
}

func (t *tour) changes(made []ads.Created) {
	update := func(what string, ref ads.Ref, patch ads.Patch) {
		patch.Currency = t.ad.Currency
		entity, err := t.driver.Update(t.ctx, t.conn, ref, patch)
		t.note("update "+what, entity, err)
	}
	group, ad := t.groupRef(made[0].Group), t.adRef(made[0].Ad)
	budget := ads.Patch{Budget: &ads.Budget{Amount: 41 * advert.AmountUnit, Type: advert.BudgetTypeDaily}}
	if t.caps.BudgetLevels[0] == advert.BudgetLevelGroup {
		update("budget", group, budget)
	} else {
		update("budget", t.campaignRef(made[0].Campaign), budget)
	}
	if t.isMeta() {
		update("campaign", t.campaignRef(made[1].Campaign), ads.Patch{
			Budget: &ads.Budget{Amount: 500 * advert.AmountUnit, Type: advert.BudgetTypeLifetime}, BidStrategy: new(advert.BidStrategyLowestCost),
		})
		update("end", group, ads.Patch{EndsAt: at(noon.AddDate(0, 0, 30)), BidStrategy: new(advert.BidStrategyMinROAS), RoasFloor: new(3 * advert.RatioOne)})
		update("name", ad, ads.Patch{Name: new("Renamed")})
	}
	if len(t.caps.Bids) > 0 {
		update("bid", group, ads.Patch{BidStrategy: new(advert.BidStrategyCostCap), BidAmount: new(2 * advert.AmountUnit)})
	}
	update("switch", ad, ads.Patch{Configured: new(advert.ConfiguredPaused)})
	if t.caps.Media.Replace {
		update("creative", ad, ads.Patch{Creative: new(t.plan("new").Creative)})
	}
	t.net.Review(made[0].Ad.PlatformID, "approved")
	refs := []ads.Ref{t.campaignRef(made[0].Campaign), group, ad, {AdAccount: t.ad.PlatformID, Level: advert.LevelCampaign, ID: "404"}}
	for _, to := range []advert.Configured{advert.ConfiguredActive, advert.ConfiguredPaused} {
		results, err := t.driver.SetStatus(t.ctx, t.conn, refs, to)
		t.note("switch "+string(to), results, err)
		for _, r := range results {
			t.note("switched", []any{r.State, r.Updated, r.Skipped, r.Message, errors.Is(r.Err, ads.ErrNotFound), errors.As(r.Err, new(*ads.Rejected))}, nil)
		}
	}
	t.net.Review(made[0].Ad.PlatformID, "rejected")
}

func (t *tour) reports(made []ads.Created) {
	for i, day := range []string{"2026-11-19", "2026-11-20"} {
		n := float64(i + 1)
		t.net.Deliver(made[0].Ad.PlatformID, day, map[string]any{
			"spend": 1.25 * n, "impressions": 1000 * n, "reach": 700 * n, "clicks": 30 * n, "engagement": 40 * n, "conversions": 0.5 * n, "purchaseValue": 19.99 * n,
			"videoPlayActions": 12 * n, "actions": map[string]any{"link_click": 29 * n},
		})
	}
	from, to := ads.Date{Year: 2026, Month: 11, Day: 18}, ads.Date{Year: 2026, Month: 11, Day: 20}
	ids := map[advert.Level]string{advert.LevelCampaign: made[0].Campaign.PlatformID, advert.LevelGroup: made[0].Group.PlatformID, advert.LevelAd: made[0].Ad.PlatformID}
	for _, level := range []advert.Level{advert.LevelCampaign, advert.LevelGroup, advert.LevelAd} {
		report, err := t.driver.Report(t.ctx, t.conn, t.ad.PlatformID, level, []string{ids[level], "404"}, from, to)
		t.note("report", report, err)
		for _, interval := range []ads.Interval{ads.IntervalTotal, ads.IntervalDay} {
			q := ads.SeriesQuery{Level: level, ID: ids[level], Interval: interval, Periods: []ads.Period{{From: from, To: from}, {From: from.AddDays(1), To: from.AddDays(1)}, {From: to, To: to}}}
			if interval == ads.IntervalTotal {
				q.Periods = []ads.Period{{From: from, To: to}}
			}
			series, err := t.driver.Series(t.ctx, t.conn, t.ad.PlatformID, q)
			t.note("series", series, err)
		}
	}
}

func (t *tour) audiences() {
	source := t.net.AddAudience(t.account, t.ad.PlatformID, "customer_list", "Buyers")
	t.net.AddAudience(t.account, t.ad.PlatformID, "saved_targeting", "None of the network's")
	visitors := ads.AudiencePlan{Token: token("visitors"), AdAccount: t.ad, Name: "Visitors", Type: advert.AudienceTypeRetargeting, PixelID: "1", RetentionDays: 30}
	alike := ads.AudiencePlan{Token: token("alike"), AdAccount: t.ad, Name: "Alike", Description: "Like buyers", Type: advert.AudienceTypeLookalike, SourceID: source, Country: "us", Ratio: 5 * advert.RatioOne / 100}
	for _, plan := range []ads.AudiencePlan{visitors, alike} {
		if !slices.Contains(t.caps.AudienceTypes, plan.Type) {
			continue
		}
		made, err := t.driver.CreateAudience(t.ctx, t.conn, plan)
		t.note("audience "+plan.Name, made, err)
		again, err := t.driver.Audience(t.ctx, t.conn, t.ad.PlatformID, *made.PlatformID)
		t.note("audience again", again, err)
		t.note("delete audience", nil, t.driver.DeleteAudience(t.ctx, t.conn, t.ad.PlatformID, *made.PlatformID))
	}
	rows, err := t.driver.Audiences(t.ctx, t.conn, t.ad.PlatformID)
	t.note("audiences", rows, err)
	t.note("delete audience", nil, t.driver.DeleteAudience(t.ctx, t.conn, t.ad.PlatformID, source))
	_, err = t.driver.UploadUsers(t.ctx, t.conn, ads.Upload{})
	t.unsupported("upload", err)
	_, err = t.driver.RemoveUsers(t.ctx, t.conn, ads.Upload{})
	t.unsupported("removal", err)
	_, err = t.driver.SendConversions(t.ctx, t.conn, ads.ConversionBatch{})
	t.unsupported("conversions", err)
}

// ends deletes what can be deleted and writes down how everything stands, as the driver and as Zernio see it.
func (t *tour) ends(made []ads.Created) {
	gone, err := t.driver.Delete(t.ctx, t.conn, t.adRef(made[0].Ad))
	t.note("delete ad", gone, err)
	gone, err = t.driver.Delete(t.ctx, t.conn, t.campaignRef(made[1].Campaign))
	if t.isMeta() {
		t.note("delete campaign", gone, err)
	} else {
		t.unsupported("delete campaign", err)
	}
	batch, err := t.walk(t.ctx)
	t.note("sync", batch, err)
	for _, c := range t.net.Campaigns() {
		t.note("campaign", c, nil)
	}
}
