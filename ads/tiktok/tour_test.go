package tiktok_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/tests/harness/tiktokfake"
)

// tour takes the driver through everything that it can do and writes down all that came back, and in the end what the network has. Two tours
// differ if anything that matters does.
type tour struct {
	*world
	ctx   context.Context
	pixel string
	video string
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

// everything is all of the unified targeting that TikTok knows at once, and own what only TikTok has words for.
var everything = ads.Targeting{
	Places: ads.Places{
		Countries: []string{"DE"}, Regions: []ads.Option{{ID: "5332921"}}, Cities: []ads.City{{Option: ads.Option{ID: "5128581"}}},
	},
	AgeMin: 18, AgeMax: 44, Genders: []string{"female"}, Languages: []string{"en"}, Interests: []ads.Option{{ID: "15"}},
	Behaviors: []ads.Option{{ID: "VIDEO_RELATED:28"}, {ID: "VIDEO_RELATED:28101"}, {ID: "CREATOR_RELATED:35"}},
	Audiences: &ads.TargetAudiences{Include: []string{"12"}, Exclude: []string{"11"}}, Placements: []string{"feed", "network", "search"}, Expand: true,
}

const own = `{"spending_power":"HIGH","network_types":["WIFI"]}`

// run returns the lines of a tour through a fresh world.
func (t *tour) run() (lines []string) {
	defer func() {
		if cause := recover(); cause != nil {
			lines = append(t.lines, fmt.Sprint("stopped: ", cause))
		}
	}()
	t.net.Most = 1 // so that every list has more than one page
	t.net.Own(t.net.AddCenter("Ours", false), t.net.AddAccount(secret, "Other", "JPY", "JP"))
	t.net.AddCenter("Closed", true)
	t.net.AddIdentity(t.account, "CUSTOMIZED_USER", "A name")
	for i := range 3 {
		t.net.AddPost(t.account, t.who, fmt.Sprint("Cup ", i))
	}
	t.pixel, _ = t.net.AddPixel(t.account, "Shop")
	t.net.AddPixel(t.account, "Blog")
	t.reads()
	made := t.creates()
	t.changes(made)
	t.reports(made)
	t.finds()
	t.audiences()
	t.conversions()
	t.ends(made)
	return t.lines
}

func (t *tour) reads() {
	accounts, err := t.driver.AdAccounts(t.ctx, t.conn)
	t.note("accounts", accounts, err)
	centers, err := t.driver.BusinessCenters(t.ctx, t.conn)
	t.note("centers", centers, err)
	posts, err := t.driver.Posts(t.ctx, t.conn)
	t.note("posts", posts, err)
	profiles, err := t.driver.Profiles(t.ctx, t.conn)
	t.note("profiles", profiles, err)
	pixels, err := t.driver.Pixels(t.ctx, t.conn, t.account.ID)
	t.note("pixels", pixels, err)
	for _, text := range []string{"new", "1", "puzzle", "tea", "ja"} {
		for _, kind := range []string{ads.SearchRegion, ads.SearchCity, ads.SearchZip, ads.SearchInterest, ads.SearchBehavior, ads.SearchLanguage} {
			options, err := t.driver.SearchTargeting(t.ctx, t.conn, ads.Search{Type: kind, Text: text, Country: "US"})
			t.note("options "+kind, options, err)
		}
	}
}

// plan returns a plan for a goal, with words for the United States.
func (t *tour) plan(name string, goal advert.Goal, promoted advert.Object) ads.Plan {
	home := ads.Targeting{Places: ads.Places{Countries: []string{"US"}}}
	words, err := t.driver.Target(home, "")
	t.note("words", words, err)
	return ads.Plan{
		Token: token(name), AdAccount: t.ad, Name: name, Goal: goal, BudgetLevel: advert.BudgetLevelGroup, BudgetAmount: 20 * advert.AmountUnit,
		BudgetType: advert.BudgetTypeDaily, Configured: advert.ConfiguredActive, Targeting: home, PlatformTargeting: words, PromotedObject: promoted,
		Creative: creative(), Media: ads.Media{clip: t.video},
	}
}

// creates makes ads in every way that there is.
func (t *tour) creates() []ads.Created {
	video, err := t.driver.UploadVideo(t.ctx, t.conn, t.account.ID, clip)
	t.note("upload video", video, err)
	ready, err := t.driver.VideoReady(t.ctx, t.conn, t.account.ID, video)
	t.note("video", ready, err)
	t.video = video

	wide := t.plan("wide", advert.GoalTraffic, "")
	wide.Targeting, wide.BidStrategy, wide.BidAmount = everything, advert.BidStrategyCostCap, 3*advert.AmountUnit/2
	wide.PlatformTargeting, err = t.driver.Target(everything, own)
	t.note("words", wide.PlatformTargeting, err)
	wide.Creatives = []ads.NamedCreative{{Name: "wide", Creative: creative()}, {Name: "wider", Creative: creative()}}
	wide.Creatives[1].Creative.ThumbnailURL, wide.Creative = "https://shop.example/cover.jpg", advert.Creative{}

	shared := t.plan("shared", advert.GoalTraffic, "")
	shared.BudgetLevel, shared.BudgetType, shared.BudgetAmount = advert.BudgetLevelCampaign, advert.BudgetTypeLifetime, 400*advert.AmountUnit
	shared.StartsAt, shared.EndsAt, shared.Categories = at(noon.AddDate(0, 0, 1)), at(noon.AddDate(0, 0, 8)), []string{"HOUSING"}

	value := t.plan("value", advert.GoalConversions, advert.NewObject(map[string]string{"pixel_id": t.pixel, "optimization_event": "SHOPPING"}))
	value.BidStrategy, value.RoasFloor = advert.BidStrategyMinROAS, 5*advert.RatioOne/2
	leads := t.plan("leads", advert.GoalLeadGeneration, `{"page_id":"77"}`)
	leads.Creative.LinkURL, leads.Configured = "", advert.ConfiguredPaused
	leads.BidStrategy, leads.BidAmount = advert.BidStrategyCostCap, 3*advert.AmountUnit
	local := t.plan("local", advert.GoalAwareness, "")
	local.Targeting = ads.Targeting{Places: ads.Places{Zips: []ads.Option{{ID: "10001"}}}}
	local.PlatformTargeting, err = t.driver.Target(local.Targeting, "")
	t.note("words", local.PlatformTargeting, err)
	boost := t.plan("boost", advert.GoalEngagement, "")
	boost.Creative, boost.Media, boost.Post = advert.Creative{}, nil, &advert.SocialPost{PlatformID: t.post}

	var all []ads.Created
	for _, p := range []ads.Plan{wide, shared, value, leads, local, boost, t.plan("views", advert.GoalVideoViews, ""), t.plan("app", advert.GoalAppPromotion, `{"app_id":"9"}`)} {
		made, err := t.driver.Create(t.ctx, t.conn, p)
		t.note("create "+p.Name, made, err)
		all = append(all, made)
	}
	joins := t.plan("joins", advert.GoalTraffic, "")
	joins.AdGroupID, joins.CampaignID = all[0].Group.PlatformID, all[0].Campaign.PlatformID
	made, err := t.driver.Create(t.ctx, t.conn, joins)
	t.note("create joins", made, err)
	for _, step := range []string{"POST ad/create", "POST adgroup/create"} { // what is made before a refusal is removed
		t.net.Break(step, 0, tiktokfake.FaultReject)
		_, err = t.driver.Create(t.ctx, t.conn, t.plan("refused", advert.GoalTraffic, ""))
		t.note("refused "+step, []any{errors.As(err, new(*ads.Rejected)), errors.Is(err, ads.ErrIndeterminate)}, nil)
	}
	return append(all, ads.Created{Campaign: all[0].Campaign, Group: all[0].Group, Ad: made.Ad})
}

func (t *tour) campaign(of ads.Created) ads.Ref {
	return ads.Ref{AdAccount: t.account.ID, Level: advert.LevelCampaign, ID: of.Campaign.PlatformID}
}

func (t *tour) group(of ads.Created) ads.Ref {
	return ads.Ref{AdAccount: t.account.ID, Level: advert.LevelGroup, ID: of.Group.PlatformID, CampaignID: of.Group.CampaignID}
}

func (t *tour) adOf(of ads.Created) ads.Ref {
	return ads.Ref{AdAccount: t.account.ID, Level: advert.LevelAd, ID: of.Ad.PlatformID, CampaignID: of.Ad.CampaignID, AdGroupID: of.Ad.AdGroupID}
}

func (t *tour) changes(made []ads.Created) {
	update := func(what string, ref ads.Ref, patch ads.Patch) {
		patch.Currency = t.ad.Currency
		entity, err := t.driver.Update(t.ctx, t.conn, ref, patch)
		t.note("update "+what, entity, err)
	}
	later := at(noon.AddDate(0, 0, 60))
	update("campaign", t.campaign(made[1]), ads.Patch{Budget: &ads.Budget{Amount: 2000 * advert.AmountUnit, Type: advert.BudgetTypeLifetime}, EndsAt: later})
	update("roas", t.group(made[2]), ads.Patch{RoasFloor: new(3 * advert.RatioOne), Budget: &ads.Budget{Amount: 41 * advert.AmountUnit, Type: advert.BudgetTypeDaily}})
	update("bid", t.group(made[3]), ads.Patch{BidAmount: new(4 * advert.AmountUnit)})
	update("group", t.group(made[0]), ads.Patch{BidStrategy: new(advert.BidStrategyCostCap), BidAmount: new(2 * advert.AmountUnit), EndsAt: later})
	narrow := ads.Targeting{Places: ads.Places{Countries: []string{"US"}}}
	for i, to := range []ads.Targeting{narrow, everything, narrow} {
		words, err := t.driver.Target(to, "")
		t.note("words", words, err)
		update(fmt.Sprint("targeting ", i), t.group(made[0]), ads.Patch{Targeting: &to, PlatformTargeting: words})
	}
	update("name", t.adOf(made[0]), ads.Patch{Name: new("Renamed"), Configured: new(advert.ConfiguredPaused)})
	other := creative()
	other.Body, other.CallToAction, other.LinkURL = "It holds coffee.", "LEARN_MORE", "https://shop.example/cup"
	update("creative", t.adOf(made[1]), ads.Patch{Creative: &other, Media: ads.Media{clip: t.video}})
	other.LinkURL = ""
	update("form", t.adOf(made[3]), ads.Patch{Creative: &other, Media: ads.Media{clip: t.video}})
	t.net.Review(t.account, made[2].Ad.PlatformID, "AUDIT_DENY")
	refs := []ads.Ref{
		t.campaign(made[0]), t.group(made[1]), t.adOf(made[2]), t.adOf(made[4]),
		{AdAccount: t.account.ID, Level: advert.LevelCampaign, ID: "404"}, {AdAccount: t.account.ID, Level: advert.LevelGroup, ID: "404"},
	}
	for _, to := range []advert.Configured{advert.ConfiguredPaused, advert.ConfiguredActive} {
		results, err := t.driver.SetStatus(t.ctx, t.conn, refs, to)
		t.note("switch "+string(to), results, err)
		for _, r := range results {
			t.note("switched", []any{r.State, fmt.Sprint(r.Err), errors.As(r.Err, new(*ads.Rejected))}, nil)
		}
	}
}

func (t *tour) reports(made []ads.Created) {
	to := ads.DateOf(noon)
	for i, id := range []string{made[1].Ad.PlatformID, made[2].Ad.PlatformID} {
		for day := range 3 {
			n := i + day + 1
			figures := map[string]string{
				"spend": fmt.Sprintf("%d.25", n), "impressions": fmt.Sprint(1000 * n), "reach": fmt.Sprint(700 * n), "clicks": fmt.Sprint(30 * n),
				"engagements": fmt.Sprint(50 * n), "conversion": fmt.Sprint(2 * n), "total_complete_payment_rate": fmt.Sprintf("%d.5", 9*n), "video_play_actions": fmt.Sprint(12 * n),
			}
			t.net.Deliver(t.account, id, to.AddDays(-day).String(), figures, nil)
			t.net.Deliver(t.account, id, to.AddDays(-day).String(), figures, map[string]string{
				"age": "AGE_25_34", "gender": "FEMALE", "country_code": "US", "placement": "TikTok", "platform": "ANDROID",
			})
		}
	}
	report := func(level advert.Level, id func(ads.Created) string) {
		reports, err := t.driver.Report(t.ctx, t.conn, t.account.ID, level, []string{id(made[1]), id(made[2])}, to.AddDays(-1), to)
		t.note("report "+string(level), reports, err)
		days := []ads.Period{{From: to.AddDays(-1), To: to.AddDays(-1)}, {From: to, To: to}}
		for _, interval := range []ads.Interval{ads.IntervalDay, ads.IntervalTotal} {
			for _, by := range []ads.Breakdown{"", ads.BreakdownAge, ads.BreakdownGender, ads.BreakdownCountry, ads.BreakdownPlacement, ads.BreakdownDevice} {
				q := ads.SeriesQuery{Level: level, ID: id(made[1]), Interval: interval, Breakdown: by, Periods: days}
				if interval == ads.IntervalTotal {
					q.Periods = []ads.Period{{From: to.AddDays(-1), To: to}}
				}
				figures, err := t.driver.Series(t.ctx, t.conn, t.account.ID, q)
				t.note(fmt.Sprint("series ", level, interval, by), figures, err)
			}
		}
	}
	report(advert.LevelCampaign, func(c ads.Created) string { return c.Campaign.PlatformID })
	report(advert.LevelGroup, func(c ads.Created) string { return c.Group.PlatformID })
	report(advert.LevelAd, func(c ads.Created) string { return c.Ad.PlatformID })
}

func (t *tour) finds() {
	for _, name := range []string{"wide", "shared", "joins", "nobody"} {
		made, found, err := t.driver.Find(t.ctx, t.conn, t.account.ID, token(name))
		t.note(fmt.Sprint("find ", name, " ", found), made, err)
	}
	dated := t.plan("dated", advert.GoalTraffic, "")
	dated.Token = "adact_01kag7t0000000000000000000" // which says that it was minted in November of 2025
	made, err := t.driver.Create(t.ctx, t.conn, dated)
	t.note("create dated", made, err)
	_, found, err := t.driver.Find(t.ctx, t.conn, t.account.ID, dated.Token)
	t.note("find dated", found, err)
}

// people are hashes of addresses.
func people(n int) []advert.Member {
	all := make([]advert.Member, n)
	for i := range all {
		all[i] = advert.Member{Kind: advert.IdentifierEmail, Hash: fmt.Sprintf("%064x", i), Index: i}
	}
	return all
}

func (t *tour) audiences() {
	list := advert.Audience{ID: "aud_" + strings.Repeat("1", 26), AdAccountID: t.account.ID, Name: "Buyers", Description: "Who bought"}
	all := people(15)
	for _, some := range [][]advert.Member{all[:6], all[6:]} {
		uploaded, err := t.driver.UploadUsers(t.ctx, t.conn, ads.Upload{Audience: list, Members: some})
		t.note("upload", uploaded, err)
		list.PlatformID = uploaded.Audience.PlatformID
	}
	removed, err := t.driver.RemoveUsers(t.ctx, t.conn, ads.Upload{Audience: list, Members: all[:3]})
	t.note("remove", removed, err)
	t.note("people", t.net.People(t.account, *list.PlatformID), nil)
	phones := advert.Audience{ID: "aud_" + strings.Repeat("2", 26), AdAccountID: t.account.ID, Name: "Callers"}
	for i := range 3 { // the second time the list is found by its name
		called := people(2)
		for j := range called {
			called[j].Kind = advert.IdentifierPhone
		}
		uploaded, err := t.driver.UploadUsers(t.ctx, t.conn, ads.Upload{Audience: phones, Members: called})
		t.note("upload phones", uploaded, err)
		if i > 0 {
			phones.PlatformID = uploaded.Audience.PlatformID
		}
	}
	visitors := ads.AudiencePlan{
		Token: token("visitors"), AdAccount: t.ad, Name: "Visitors", Type: advert.AudienceTypeRetargeting, PixelID: t.pixel, RetentionDays: 30,
	}
	alike := ads.AudiencePlan{
		Token: token("alike"), AdAccount: t.ad, Name: "Alike", Type: advert.AudienceTypeLookalike, SourceID: *list.PlatformID, Country: "us",
		Ratio: 5 * advert.RatioOne / 100,
	}
	for size, plan := range []ads.AudiencePlan{visitors, alike} {
		made, err := t.driver.CreateAudience(t.ctx, t.conn, plan)
		t.note("audience "+plan.Name, made, err)
		t.net.Settle(t.account, *made.PlatformID, 1000-1001*size)
		again, err := t.driver.Audience(t.ctx, t.conn, t.account.ID, *made.PlatformID)
		t.note("audience again", again, err)
	}
	found, ok, err := t.driver.Find(t.ctx, t.conn, t.account.ID, token("visitors"))
	t.note(fmt.Sprint("find visitors ", ok), found, err)
	for range 2 {
		rows, err := t.driver.Audiences(t.ctx, t.conn, t.account.ID)
		t.note("audiences", rows, err)
		if len(rows) == 4 {
			t.note("delete audience", nil, t.driver.DeleteAudience(t.ctx, t.conn, t.account.ID, *list.PlatformID))
		}
	}
}

func (t *tour) conversions() {
	results, err := t.driver.SendConversions(t.ctx, t.conn, ads.ConversionBatch{AdAccount: t.account.ID, PixelID: t.pixel, Events: []advert.ConversionEvent{happened()}})
	t.note("conversions", results, err)
	t.note("events", t.net.Events(), nil)
}

// happened is a purchase with everything that can be told of it.
func happened() advert.ConversionEvent {
	return advert.ConversionEvent{
		EventID: "evt_1", Kind: advert.ConversionPurchase, At: *at(noon), Value: 25 * advert.AmountUnit / 2, Currency: "usd",
		Items: []advert.ConversionItem{{ID: "prod_1", Quantity: 2, Price: 25 * advert.AmountUnit / 4}},
		User: advert.ConversionUser{
			Email: strings.Repeat("a", 64), Phone: strings.Repeat("b", 64), ExternalID: strings.Repeat("c", 64), ClientIP: "192.0.2.1", UserAgent: "Browser",
			PageURL: "https://shop.example/thanks", ClickID: "E.C.P.1",
		},
	}
}

// ends deletes some, and writes down how everything stands, as the driver and as the network see it.
func (t *tour) ends(made []ads.Created) {
	for _, ref := range []ads.Ref{t.adOf(made[0]), t.campaign(made[2])} {
		gone, err := t.driver.Delete(t.ctx, t.conn, ref)
		t.note("delete "+string(ref.Level), gone, err)
	}
	t.net.Rename(t.account, made[1].Group.PlatformID, "not made here")
	var names []ads.MadeName
	for i, of := range []string{"wide", "shared"} {
		names = append(names, ads.MadeName{Level: advert.LevelGroup, ID: made[i].Group.PlatformID, Name: of, Token: token(of)},
			ads.MadeName{Level: advert.LevelCampaign, ID: made[i].Campaign.PlatformID, Name: of, Token: token(of)},
			ads.MadeName{Level: advert.LevelAd, ID: made[i].Ad.PlatformID, Name: of, Token: token(of)})
	}
	t.note("names", names, t.driver.TidyNames(t.ctx, t.conn, t.account.ID, names))
	batch, err := t.walk(t.ctx)
	t.note("sync", batch, err)
	t.note("campaigns", t.net.Campaigns(t.account), nil)
	t.note("groups", t.net.Groups(t.account), nil)
	t.note("ads", t.net.Ads(t.account), nil)
	for _, refused := range t.net.Refused() {
		t.note("refused", refused, nil)
	}
}
