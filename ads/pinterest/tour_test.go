package pinterest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store/advert"
)

// tour takes the driver through everything that it can do and writes down all that came back, and in the end what the
// network has. Two tours differ if anything that matters does.
type tour struct {
	*world
	ctx   context.Context
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

// everything is all of the ad groups' targeting that the network knows at once, and theRest what does not go with it.
const everything = `{"AGE_BUCKET":["18-24"],"APPTYPE":["web"],"AUDIENCE_EXCLUDE":["11"],"AUDIENCE_INCLUDE":["12"],` +
	`"GENDER":["female"],"INTEREST":["925056443165"],"LOCALE":["de"],"LOCATION":["DE"],` +
	`"SHOPPING_RETARGETING":[{"exclusion_window":14,"lookback_window":30,"tag_types":[0,6]}],` +
	`"TARGETING_STRATEGY":["CHOOSE_YOUR_OWN"]}`

const theRest = `{"GEO":["BE-VOV"],"MAXIMUM_AGE":"65+","MINIMUM_AGE":"18"}`

// withPeople is everything, with audiences that there are.
func (t *tour) withPeople() advert.Object {
	people := make([]advert.Member, 100)
	for i := range people {
		people[i] = advert.Member{Kind: advert.IdentifierEmail, Hash: fmt.Sprintf("%064x", i), Index: i}
	}
	words := everything
	for _, id := range []string{"11", "12"} {
		made, err := t.driver.UploadUsers(t.ctx, t.conn, ads.Upload{Members: people, Audience: advert.Audience{ID: "aud_" + strings.Repeat("0", 24) + id, AdAccountID: t.account.ID, Name: "People"}})
		t.note("people", made, err)
		words = strings.Replace(words, `"`+id+`"`, `"`+*made.Audience.PlatformID+`"`, 1)
	}
	return advert.Object(words)
}

// run returns the lines of a tour through a fresh world.
func (t *tour) run() (lines []string) {
	defer func() {
		if cause := recover(); cause != nil {
			lines = append(t.lines, fmt.Sprint("stopped: ", cause))
		}
	}()
	t.net.LimitPages(1) // so that every list has more than one page
	for range 2 {
		t.net.AddBoard(secret, "Mugs")
		t.net.AddAccount(secret, "Other", "JPY", "ANALYST")
		t.net.AddPin(secret, "REGULAR", "Cup")
	}
	t.reads()
	made := t.creates()
	t.changes(made)
	t.reports(made)
	t.finds()
	t.audiences()
	t.conversions()
	t.previews(made)
	t.ends(made)
	return t.lines
}

func (t *tour) reads() {
	accounts, err := t.driver.AdAccounts(t.ctx, t.conn)
	t.note("accounts", accounts, err)
	posts, err := t.driver.Posts(t.ctx, t.conn)
	t.note("posts", posts, err)
	profiles, err := t.driver.Profiles(t.ctx, t.conn)
	t.note("profiles", profiles, err)
	for _, kind := range t.driver.Caps().SearchTypes {
		options, err := t.driver.SearchTargeting(t.ctx, t.conn, ads.Search{Type: kind, Text: "a", Country: "CA"})
		t.note("options", options, err)
	}
	t.sizes()
}

// sizes asks for the reach of a targeting with everything in it, and of another one.
func (t *tour) sizes() {
	for i, words := range []advert.Object{everything, theRest} {
		to := ads.Targeting{Placements: []string{"feed"}, Expand: i > 0}
		reached, err := t.driver.Reach(t.ctx, t.conn, ads.ReachQuery{AdAccount: t.ad, Targeting: to, Words: words})
		t.note("reach", reached, err)
	}
}

// creates makes ads in every way that there is.
func (t *tour) creates() []ads.Created {
	optimized := t.boost("optimized")
	optimized.Goal, optimized.Configured = advert.GoalVideoViews, advert.ConfiguredPaused
	optimized.BudgetLevel, optimized.BudgetType = advert.BudgetLevelCampaign, advert.BudgetTypeLifetime
	optimized.StartsAt, optimized.EndsAt = at(noon.AddDate(0, 0, 1)), at(noon.AddDate(0, 0, 8))
	optimized.Targeting, optimized.PlatformTargeting = ads.Targeting{Placements: []string{"search"}}, t.withPeople()

	shared := t.standalone("shared")
	shared.BudgetLevel, shared.PlatformTargeting = advert.BudgetLevelCampaign, theRest

	capped := t.standalone("capped")
	capped.BudgetType = advert.BudgetTypeLifetime
	capped.BidStrategy, capped.BidAmount = advert.BidStrategyBidCap, 3*advert.AmountUnit/2
	capped.StartsAt, capped.EndsAt = at(noon), at(noon.AddDate(0, 0, 30))

	sold := t.boost("sold")
	sold.Goal, sold.PromotedObject = advert.GoalConversions, advert.NewObject(map[string]string{"pixel_id": t.net.AddTag(t.account), "custom_event_type": "SIGNUP"})

	for name, words := range map[string]advert.Object{"low": everything, "lower": theRest} { // than the least bid
		low := t.boost(name)
		low.BidStrategy, low.BidAmount, low.PlatformTargeting = advert.BidStrategyBidCap, advert.AmountUnit/2, words
		_, err := t.driver.Create(t.ctx, t.conn, low)
		var refused *ads.Rejected
		if !errors.As(err, &refused) || refused.Field != "bid_amount" {
			t.note("create "+name, nil, fmt.Errorf("a bid that is too low: %w", err))
		}
	}

	var all []ads.Created
	for _, plan := range []ads.Plan{optimized, shared, capped, sold} {
		made, err := t.driver.Create(t.ctx, t.conn, plan)
		t.note("create "+plan.Name, made, err)
		all = append(all, made)
	}
	joins := ads.Plan{
		Token: token("joins"), AdAccount: t.ad, Name: "joins", AdGroupID: all[2].Group.PlatformID,
		CampaignID: all[2].Campaign.PlatformID, Configured: advert.ConfiguredActive, Post: &advert.SocialPost{PlatformID: t.pin},
	}
	made, err := t.driver.Create(t.ctx, t.conn, joins)
	t.note("create joins", made, err)

	film := t.film("film", ads.Media{})
	id, err := t.driver.UploadVideo(t.ctx, t.conn, t.account.ID, clip)
	t.note("upload video", id, err)
	done, err := t.driver.VideoReady(t.ctx, t.conn, t.account.ID, id)
	t.note("video", done, err)
	cover := t.film("cover", ads.Media{clip: id})
	film.Media, cover.Creative.ThumbnailURL = cover.Media, "https://shop.example/cover.jpg"
	cards := t.standalone("cards")
	cards.Creative.ImageURL = ""
	cards.Creative.Cards = []advert.Card{
		{ImageURL: "https://shop.example/1.jpg", Headline: "One", Description: "First", LinkURL: "https://shop.example/one"}, {ImageURL: "https://shop.example/2.jpg"},
	}
	for _, p := range []ads.Plan{film, cover, cards} {
		made, err := t.driver.Create(t.ctx, t.conn, p)
		t.note("create "+p.Name, made, err)
	}

	lost := t.standalone("lost") // the Pin is made, and the ad is refused
	lost.AdGroupID = "404"
	made, err = t.driver.Create(t.ctx, t.conn, lost)
	var refused *ads.Rejected
	t.note("create lost", []any{made, errors.As(err, &refused), refused}, nil)
	return append(all[:3], ads.Created{Campaign: all[2].Campaign, Group: all[2].Group, Ad: made.Ad})
}

func (t *tour) changes(made []ads.Created) {
	update := func(what string, ref ads.Ref, patch ads.Patch) {
		patch.Currency = t.ad.Currency
		entity, err := t.driver.Update(t.ctx, t.conn, ref, patch)
		t.note("update "+what, entity, err)
	}
	later := at(noon.AddDate(0, 0, 60))
	update("lifetime", t.ref(made[0].Campaign), ads.Patch{Budget: &ads.Budget{Amount: 400 * advert.AmountUnit, Type: advert.BudgetTypeLifetime}, EndsAt: later})
	update("daily", t.ref(made[1].Campaign), ads.Patch{Budget: &ads.Budget{Amount: 40 * advert.AmountUnit, Type: advert.BudgetTypeDaily}})
	update("group", t.groupRef(made[2].Group), ads.Patch{
		Budget: &ads.Budget{Amount: 41 * advert.AmountUnit, Type: advert.BudgetTypeLifetime}, EndsAt: later,
		BidStrategy: pointer(advert.BidStrategyCostCap), BidAmount: pointer(2 * advert.AmountUnit),
	})
	for what, targeting := range []advert.Object{t.withPeople(), theRest} {
		update(fmt.Sprint("targeting ", what), t.groupRef(made[2].Group), ads.Patch{
			Targeting: &ads.Targeting{Expand: true, Placements: []string{"feed"}}, PlatformTargeting: targeting,
		})
	}
	update("ad", t.adRef(made[0].Ad), ads.Patch{Name: pointer("Renamed"), Configured: pointer(advert.ConfiguredPaused)})
	t.net.Review(t.account, made[1].Ad.PlatformID, "REJECTED", "LANDING_PAGE", "URGENCY")
	refs := []ads.Ref{
		t.ref(made[1].Campaign), t.groupRef(made[2].Group), t.adRef(made[1].Ad), t.adRef(made[2].Ad),
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

func (t *tour) adRef(a *advert.Ad) ads.Ref {
	return ads.Ref{AdAccount: t.account.ID, Level: advert.LevelAd, ID: a.PlatformID, CampaignID: a.CampaignID, AdGroupID: a.AdGroupID}
}

func (t *tour) ref(c *advert.Campaign) ads.Ref {
	return ads.Ref{AdAccount: t.account.ID, Level: advert.LevelCampaign, ID: c.PlatformID}
}

func (t *tour) groupRef(g *advert.Group) ads.Ref {
	return ads.Ref{AdAccount: t.account.ID, Level: advert.LevelGroup, ID: g.PlatformID, CampaignID: g.CampaignID}
}

func (t *tour) reports(made []ads.Created) {
	for i, id := range []string{made[1].Ad.PlatformID, made[2].Ad.PlatformID} {
		for day := range 3 {
			n := float64(i + day + 1)
			sums := map[string]float64{
				"SPEND_IN_MICRO_DOLLAR": 1_234_567 * n, "TOTAL_IMPRESSION": 1000 * n, "TOTAL_IMPRESSION_USER": 700 * n,
				"TOTAL_CLICKTHROUGH": 30 * n, "TOTAL_ENGAGEMENT": 50 * n, "TOTAL_CONVERSIONS": 1.5 * n,
				"TOTAL_CHECKOUT_VALUE_IN_MICRO_DOLLAR": 9_000_000 * n, "TOTAL_VIDEO_MRC_VIEWS": 12 * n,
			}
			at := noon.AddDate(0, 0, -day).Format("2006-01-02")
			t.net.Deliver(t.account, id, at, sums)
			for _, by := range [][2]string{{"AGE_BUCKET", "25-34"}, {"AGE_BUCKET", "35-44"}, {"GENDER", "female"}, {"COUNTRY", "US"}, {"PLACEMENT", "SEARCH"}, {"APPTYPE", "web"}} {
				t.net.DeliverTo(t.account, id, at, by[0], by[1], sums)
			}
		}
	}
	to := ads.DateOf(noon)
	t.net.SlowReports(1)
	report := func(level advert.Level, id func(ads.Created) string) {
		ids := []string{id(made[1]), id(made[2])}
		reports, err := t.driver.Report(t.ctx, t.conn, t.account.ID, level, ids, to.AddDays(-1), to)
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
	for _, level := range []advert.Level{advert.LevelCampaign, advert.LevelGroup, advert.LevelAd} {
		order, err := t.driver.OrderReport(t.ctx, t.conn, t.account.ID, level, ads.Period{From: to.AddDays(-1), To: to})
		t.note("order "+string(level), order, err)
		for range 2 {
			figures, made, err := t.driver.ReadReport(t.ctx, t.conn, t.account.ID, level, order)
			t.note(fmt.Sprint("old figures ", made), figures, err)
		}
	}
	report(advert.LevelCampaign, func(c ads.Created) string { return c.Campaign.PlatformID })
	report(advert.LevelGroup, func(c ads.Created) string { return c.Group.PlatformID })
	report(advert.LevelAd, func(c ads.Created) string { return c.Ad.PlatformID })
}

func (t *tour) finds() {
	for _, name := range []string{"optimized", "shared", "joins", "nobody"} {
		made, found, err := t.driver.Find(t.ctx, t.conn, t.account.ID, token(name))
		t.note(fmt.Sprint("find ", name, " ", found), made, err)
	}
}

func (t *tour) audiences() {
	people := make([]advert.Member, 150)
	for i := range people {
		people[i] = advert.Member{Kind: advert.IdentifierEmail, Hash: fmt.Sprintf("%064x", i), Index: i}
	}
	list := advert.Audience{ID: "aud_" + strings.Repeat("1", 26), AdAccountID: t.account.ID, Name: "Buyers", Description: "Who bought"}
	for _, some := range [][]advert.Member{people[:60], people[60:]} {
		uploaded, err := t.driver.UploadUsers(t.ctx, t.conn, ads.Upload{Audience: list, Members: some})
		t.note("upload", uploaded, err)
		list.PlatformID = uploaded.Audience.PlatformID
	}
	visitors := ads.AudiencePlan{
		Token: token("visitors"), AdAccount: t.ad, Name: "Visitors", Type: advert.AudienceTypeRetargeting,
		PixelID: t.net.AddTag(t.account), RetentionDays: 30,
	}
	alike := ads.AudiencePlan{
		Token: token("alike"), AdAccount: t.ad, Name: "Alike", Description: "Like buyers", Type: advert.AudienceTypeLookalike,
		SourceID: *list.PlatformID, Country: "us", Ratio: 5 * advert.RatioOne / 100,
	}
	for _, plan := range []ads.AudiencePlan{visitors, alike} {
		made, err := t.driver.CreateAudience(t.ctx, t.conn, plan)
		t.note("audience "+plan.Name, made, err)
		again, err := t.driver.Audience(t.ctx, t.conn, t.account.ID, *made.PlatformID)
		t.note("audience again", again, err)
	}
	found, ok, err := t.driver.Find(t.ctx, t.conn, t.account.ID, token("visitors"))
	t.note(fmt.Sprint("find visitors ", ok), found, err)
	rows, err := t.driver.Audiences(t.ctx, t.conn, t.account.ID)
	t.note("audiences", rows, err)
	t.note("delete audience", nil, t.driver.DeleteAudience(t.ctx, t.conn, t.account.ID, *list.PlatformID))
	rows, err = t.driver.Audiences(t.ctx, t.conn, t.account.ID)
	t.note("audiences", rows, err)
}

// previews shows an ad before it is made, and one that is there.
func (t *tour) previews(made []ads.Created) {
	for _, q := range []ads.PreviewQuery{{Plan: t.standalone("shown")}, {Ad: new(t.adRef(made[0].Ad))}} {
		shown, err := t.driver.Preview(t.ctx, t.conn, q)
		t.note("preview", shown, err)
	}
}

// conversions tells the network of an event with everything, and of one with little.
func (t *tour) conversions() {
	t.net.AddTag(t.account)
	t.net.AddConversionToken(t.account, ownToken)
	pixels, err := t.driver.Pixels(t.ctx, t.conn, t.account.ID)
	t.note("pixels", pixels, err)
	lead := sale("lead", func(e *advert.ConversionEvent) {
		e.Kind, e.Offsite, e.Value, e.Currency, e.Items, e.User = advert.ConversionLead, true, 0, "", nil, advert.ConversionUser{Email: e.User.Email}
	})
	results, err := t.tell(t.ctx, sale("order_1", nil), lead)
	t.note("told", results, err)
	t.note("events", t.net.Events(t.account), nil)
}

// ends archives a campaign and writes down how everything stands, as the driver and as the network see it.
func (t *tour) ends(made []ads.Created) {
	for _, ref := range []ads.Ref{t.adRef(made[0].Ad), t.ref(made[2].Campaign)} {
		gone, err := t.driver.Delete(t.ctx, t.conn, ref)
		t.note("delete "+string(ref.Level), gone, err)
	}
	t.net.Rename(t.account, made[1].Ad.PlatformID, "not made here")
	var names []ads.MadeName
	for i, of := range []string{"optimized", "shared"} {
		names = append(names, ads.MadeName{Level: advert.LevelGroup, ID: made[i].Group.PlatformID, Name: of, Token: token(of)},
			ads.MadeName{Level: advert.LevelCampaign, ID: made[i].Campaign.PlatformID, Name: of, Token: token(of)})
	}
	t.note("names", names, t.driver.TidyNames(t.ctx, t.conn, t.account.ID, names))
	batch, err := t.walk(t.ctx)
	t.note("sync", batch, err)
	t.note("campaigns", t.net.Campaigns(t.account), nil)
	t.note("groups", t.net.Groups(t.account), nil)
	t.note("ads", t.net.Ads(t.account), nil)
	t.note("pins", t.net.Pins(secret), nil)
}
