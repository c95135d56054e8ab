package zernio_test

import (
	"fmt"
	"slices"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store/advert"
)

// everything is all that a targeting can say on the network.
func (t *tour) everything() ads.Targeting {
	has := func(word string) bool { return slices.Contains(t.caps.Targeting.Words, word) }
	one := []ads.Option{{ID: "7", Name: "Seven"}}
	to := ads.Targeting{Places: ads.Places{Countries: []string{"US", "CA"}}, Expand: has("expand")}
	if has("regions") {
		to.Regions = one
	}
	if has("cities") {
		to.Cities = []ads.City{{Option: one[0]}}
		if t.caps.Targeting.Radius {
			to.Cities[0].RadiusKM = 25
		}
	}
	if has("zips") {
		to.Zips = one
	}
	if has("metros") {
		to.Metros = one
	}
	if has("excluded") {
		to.Excluded = &ads.Places{Countries: []string{"MX"}, Regions: one, Cities: []ads.City{{Option: one[0], RadiusKM: 20}}, Zips: one}
	}
	if has("age_min") {
		to.AgeMin, to.AgeMax = 25, 34
	}
	if has("genders") {
		to.Genders = []string{"female"}
	}
	if has("languages") {
		to.Languages = []string{"pt-br", "en"}
	}
	if has("interests") {
		to.Interests = one
	}
	if has("behaviors") {
		to.Behaviors = one
	}
	if has("audiences.include") {
		to.Audiences = &ads.TargetAudiences{Include: []string{"11"}, Exclude: []string{"12"}}
	}
	if has("placements") {
		to.Placements, to.Devices = t.caps.Targeting.Placements, []string{"mobile"}
	}
	return to
}

// creates makes ads in every way that there is.
func (t *tour) creates() []ads.Created {
	var all []ads.Created
	create := func(p ads.Plan) {
		t.note("check "+p.Name, nil, t.driver.Check(p))
		made, err := t.driver.Create(t.ctx, t.conn, p)
		t.note("create "+p.Name, made, err)
		all = append(all, made)
	}
	create(t.plan("plain"))
	whole := t.plan("whole")
	whole.Targeting, whole.BudgetType, whole.EndsAt = t.everything(), advert.BudgetTypeLifetime, at(noon.AddDate(0, 0, 8))
	whole.BudgetAmount = 300*advert.AmountUnit + advert.AmountUnit/2
	if t.isMeta() {
		whole.StartsAt, whole.BudgetLevel, whole.Configured = at(noon.AddDate(0, 0, 1)), advert.BudgetLevelCampaign, advert.ConfiguredPaused
		whole.Categories, whole.CategoryCountries, whole.DSABeneficiary, whole.DSAPayor = []string{"HOUSING"}, []string{"US"}, "Northwind", "Southwind"
	}
	create(t.targeted(whole))
	for _, rule := range t.caps.Bids {
		p := t.plan("bid" + fmt.Sprint(len(all)))
		p.BidStrategy = rule.Strategy
		if slices.Contains(rule.Requires, "bid_amount") {
			p.BidAmount = 3 * advert.AmountUnit / 2
		}
		if slices.Contains(rule.Requires, "roas_average_floor") {
			p.RoasFloor = 2 * advert.RatioOne
		}
		create(p)
	}
	for _, goal := range t.caps.Goals() {
		if !slices.Contains(t.caps.BoostOnly, goal) {
			create(t.aims(goal))
		}
		if t.account.Parent() != nil && !slices.Contains(t.caps.NeverBoost, goal) {
			p := t.boost("b" + string(goal))
			p.Goal = goal
			create(p)
		}
	}
	t.joins(all[0], create)
	t.shows(create)
	t.boosts(create)
	return all
}

// aims is a plan for a goal, with what it needs.
func (t *tour) aims(goal advert.Goal) ads.Plan {
	p := t.plan(string(goal))
	p.Goal = goal
	if slices.Contains(t.caps.VideoGoals, goal) {
		p.Creative.ImageURL, p.Creative.VideoURL = "", "https://shop.example/mug.mp4"
	}
	p.PromotedObject = map[advert.Goal]advert.Object{
		advert.GoalLeadGeneration: `{"lead_gen_form_id":"77"}`, advert.GoalLeadConversion: `{"pixel_id":"1","custom_event_type":"LEAD"}`,
		advert.GoalConversions: `{"pixel_id":"1","custom_event_type":"PURCHASE"}`, advert.GoalAppPromotion: `{"application_id":"9","object_store_url":"https://apps.example/9"}`,
		advert.GoalCatalogSales: `{"product_set_id":"4","product_catalog_id":"5","pixel_id":"1","custom_event_type":"PURCHASE"}`,
	}[goal]
	return p
}

// joins makes an ad in an ad group that is there, where Zernio can.
func (t *tour) joins(made ads.Created, create func(ads.Plan)) {
	p := t.plan("joins")
	p.CampaignID, p.AdGroupID = made.Campaign.PlatformID, made.Group.PlatformID
	if t.isMeta() || t.caps.Platform == advert.PlatformTikTok || t.caps.Platform == advert.PlatformLinkedIn {
		create(p)
	} else {
		t.unsupported("joins", t.driver.Check(p))
	}
}

// shows makes ads that show everything that there is to show.
func (t *tour) shows(create func(ads.Plan)) {
	is := func(m ads.Medium) bool { return slices.Contains(t.caps.Media.Kinds, m) }
	if is(ads.MediumVideo) {
		id, err := t.driver.UploadVideo(t.ctx, t.conn, t.ad.PlatformID, "https://shop.example/mug.mp4")
		t.note("upload", id, err)
		ready, err := t.driver.VideoReady(t.ctx, t.conn, t.ad.PlatformID, id)
		t.note("ready", ready, err)
		p := t.plan("film")
		p.Creative.ImageURL, p.Creative.VideoURL = "", id
		if t.isMeta() {
			p.Creative.ThumbnailURL = "https://shop.example/cover.jpg"
		}
		create(p)
	}
	if is(ads.MediumCarousel) {
		p := t.plan("cards")
		p.Creative.ImageURL = ""
		p.Creative.Cards = []advert.Card{{ImageURL: "https://shop.example/1.jpg", Headline: "One", LinkURL: "https://shop.example/one"}, {ImageURL: "https://shop.example/2.jpg"}}
		if t.isMeta() {
			p.Creative.Cards[0].Description = "First"
		}
		create(p)
	}
	described := t.plan("told")
	described.Creative.Description = "Of clay"
	create(described)
	several := t.plan("several")
	film := several.Creative
	film.ImageURL, film.VideoURL = "", "https://shop.example/mug.mp4"
	several.Creatives = []ads.NamedCreative{{Name: "first", Creative: several.Creative}, {Name: "second", Creative: film}}
	several.Creative = advert.Creative{}
	if t.isMeta() {
		create(several)
	} else {
		t.unsupported("several", t.driver.Check(several))
	}
}

// boosts makes an ad of a post with all that a boost can say.
func (t *tour) boosts(create func(ads.Plan)) {
	if t.account.Parent() == nil {
		return
	}
	p := t.boost("boosted")
	p.Targeting = t.everything()
	p.Targeting.Excluded, p.Targeting.Behaviors, p.Targeting.Audiences, p.Targeting.Placements, p.Targeting.Devices = nil, nil, nil, nil, nil
	if !t.isMeta() {
		p.Targeting.Languages, p.Targeting.Expand = nil, false
	}
	p.BudgetType, p.BudgetAmount, p.StartsAt, p.EndsAt = advert.BudgetTypeLifetime, 210*advert.AmountUnit, at(noon.AddDate(0, 0, 1)), at(noon.AddDate(0, 0, 8))
	if t.isMeta() {
		p.Categories, p.CategoryCountries, p.DSABeneficiary, p.DSAPayor = []string{"HOUSING"}, []string{"US"}, "Northwind", "Southwind"
	}
	if len(t.caps.Bids) > 0 {
		p.BidStrategy, p.BidAmount = advert.BidStrategyBidCap, advert.AmountUnit
	}
	create(t.targeted(p))
}
