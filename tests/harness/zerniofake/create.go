package zerniofake

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"
)

// platforms are the networks of accounts. Which of Meta's it is its posting account says.
var platforms = map[string]string{"linkedinads": "linkedin", "pinterestads": "pinterest", "tiktokads": "tiktok", "xads": "twitter", "googleads": "google"}

func (a *Account) platform() string {
	if a.Platform == "metaads" {
		return a.parent.Platform
	}
	return platforms[a.Platform]
}

// only says which networks take a field of a new ad. What is not here all take.
var only = map[string][]string{
	"campaignName": {"meta"}, "adSetName": {"meta"}, "adName": {"meta"}, "currency": {"meta"}, "budgetLevel": {"meta"}, "campaignStatus": {"meta"},
	"description": {"meta"}, "creatives": {"meta"}, "placements": {"meta"}, "specialAdCategories": {"meta"}, "specialAdCategoryCountry": {"meta"}, "startDate": {"meta"},
	"carouselCards": {"meta"}, "advantageAudience": {"meta"}, "dsaBeneficiary": {"meta"}, "dsaPayor": {"meta"}, "leadGenFormId": {"meta"},
	"status": {"meta", "tiktok"}, "promotedObject": {"meta", "tiktok"}, "bidStrategy": {"tiktok"}, "bidAmount": {"tiktok"}, "roasAverageFloor": {"tiktok"},
	"adSetId": {"meta", "tiktok", "linkedin"}, "video": {"meta", "linkedin"}, "platformSpecificData": {"meta", "linkedin"},
	"longHeadline": {"google", "linkedin"}, "keywords": {"google"}, "negativeKeywords": {"google"}, "images": {"google"}, "campaignType": {"google"}, "boardId": {"pinterest"},
	"headline": {"meta", "google", "pinterest", "linkedin"}, "callToAction": {"meta", "tiktok", "linkedin"}, "imageUrl": {"meta", "google", "pinterest", "linkedin", "tiktok"},
}

// needed are the fields that each network needs of an ad with one creative.
var needed = map[string][]string{
	"meta": {"headline", "body", "callToAction", "linkUrl"}, "google": {"headline", "body", "linkUrl"}, "pinterest": {"headline", "body", "linkUrl", "imageUrl"},
	"tiktok": {"body", "linkUrl", "imageUrl"}, "linkedin": {"headline", "body"}, "twitter": {"body"},
}

// longest are the most characters of a text.
var longest = map[string]map[string]int{
	"meta": {"headline": 255}, "google": {"headline": 30, "body": 90}, "pinterest": {"headline": 100, "body": 500}, "linkedin": {"headline": 400}, "twitter": {"body": 280},
}

// goals are those that each network has; a boost has fewer.
var goals = map[string][]string{
	"meta":      {"engagement", "traffic", "awareness", "video_views", "lead_generation", "lead_conversion", "conversions", "app_promotion", "catalog_sales"},
	"tiktok":    {"engagement", "traffic", "awareness", "video_views", "lead_generation", "conversions", "app_promotion"},
	"linkedin":  {"engagement", "traffic", "awareness", "video_views"},
	"pinterest": {"engagement", "traffic", "awareness", "video_views"},
	"google":    {"engagement", "traffic", "awareness", "video_views"},
	"twitter":   {"engagement", "traffic", "awareness", "video_views", "app_promotion"},
}

// words are the words of a targeting that each network follows; Zernio refuses all others.
var words = map[string][]string{
	"meta": {"countries", "regions", "cities", "zips", "metros", "customLocations", "excludedLocations", "ageMin", "ageMax", "gender", "incomeTier", "languages",
		"interests", "behaviors", "audienceInclude", "audienceExclude", "advantage_audience"},
	"tiktok":    {"countries", "regions", "cities", "zips", "metros", "ageMin", "ageMax", "gender", "incomeTier", "languages", "interests", "behaviors"},
	"linkedin":  {"countries", "regions"},
	"pinterest": {"countries", "regions", "zips", "ageMin", "ageMax", "gender", "interests"},
	"google":    {"countries", "zips"},
	"twitter":   {"countries", "zips"},
}

// family is the name that the tables have for a platform.
func family(platform string) string {
	if isMeta(platform) {
		return "meta"
	}
	return platform
}

// inAdAccount returns the account of a body, and refuses an ad account that it does not reach.
func (q *request) inAdAccount() (*Account, string, *refusal) {
	a, err := q.account(text(q.body, "accountId"))
	if err != nil {
		return nil, "", err
	}
	i := slices.IndexFunc(a.AdAccounts, func(o Object) bool { return o["id"] == q.body["adAccountId"] })
	switch {
	case i < 0:
		return nil, "", invalid("adAccountId", "The ad account is not one of this account's.")
	case a.AdAccounts[i]["selectable"] == false:
		return nil, "", invalid("adAccountId", "Ads cannot be made in this ad account.")
	}
	return a, a.platform(), nil
}

func (q *request) create() (Object, *refusal) {
	a, platform, err := q.inAdAccount()
	if err != nil {
		return nil, err
	}
	b, kind := q.body, family(platform)
	for field := range b {
		if takes := only[field]; takes != nil && !slices.Contains(takes, kind) {
			return nil, invalid(field, "%s is not supported on %s", field, platform)
		}
	}
	for _, check := range []func(Object, string) *refusal{checkShape, checkCreative, checkTargeting} {
		if err := check(b, kind); err != nil {
			return nil, err
		}
	}
	if id := text(b, "adSetId"); id != "" {
		c, set := q.n.findSet(id)
		if set == nil || c.account != a {
			return nil, missing("Ad set")
		}
		one := q.newAd(b, text(b, "name"), "standalone")
		one.Goal, one.Targeting = c.goal(), c.Sets[0].Ads[0].Targeting
		set.Ads = append(set.Ads, one)
		return Object{"ad": q.adObject(c, set, one, q.days()), "message": "Ad created"}, nil
	}
	if err := checkMoney(b, kind, number(b["budgetAmount"]), text(b, "budgetType"), text(b, "endDate")); err != nil {
		return nil, err
	}
	return q.hierarchy(a, platform)
}

// hierarchy makes a campaign with an ad set and one or more ads.
func (q *request) hierarchy(a *Account, platform string) (Object, *refusal) {
	b := q.body
	c, set := q.n.newCampaign(a, platform, b)
	set.Promoted = snake(b["promotedObject"])
	budget := Object{"amount": b["budgetAmount"], "type": b["budgetType"]}
	if b["budgetLevel"] == "campaign" || platform == "google" {
		c.Budget = budget
	} else {
		set.Budget = budget
	}
	bid, _ := b["platformSpecificData"].(Object)
	if bid == nil || bid["bidStrategy"] == nil {
		bid = b
	}
	set.Strategy, set.Bid, set.Floor = text(bid, "bidStrategy"), bid["bidAmount"], bid["roasAverageFloor"]
	if c.Budget != nil {
		c.Strategy = set.Strategy
	}
	if b["status"] == "PAUSED" { // which on Meta the campaign alone holds
		c.On = false
	}
	c.Name, set.Name = or(text(b, "campaignName"), c.Name), or(text(b, "adSetName"), set.Name)
	several, _ := b["creatives"].([]any)
	for i, one := range several {
		one := one.(Object)
		ad := q.newAd(one, or(text(one, "name"), fmt.Sprintf("%s #%d", b["name"], i+1)), "standalone")
		ad.Goal, ad.Targeting, ad.Schedule = text(b, "goal"), b["targeting"], schedule(b["startDate"], b["endDate"])
		set.Ads = append(set.Ads, ad)
	}
	q.n.campaigns = append(q.n.campaigns, c)
	if several == nil {
		ad := q.newAd(b, text(b, "name"), "standalone")
		ad.Goal, ad.Targeting, ad.Schedule = text(b, "goal"), b["targeting"], schedule(b["startDate"], b["endDate"])
		set.Ads = append(set.Ads, ad)
		return Object{"ad": q.adObject(c, set, ad, q.days()), "message": "Ad created"}, nil
	}
	rows := []Object{}
	for _, ad := range set.Ads {
		rows = append(rows, q.adObject(c, set, ad, q.days()))
	}
	return Object{"ads": rows, "platformCampaignId": c.ID, "platformAdSetId": set.ID, "message": "Ads created"}, nil
}

func or(texts ...string) string {
	for _, one := range texts {
		if one != "" {
			return one
		}
	}
	return ""
}

func schedule(start, end any) Object {
	if start == nil && end == nil {
		return nil
	}
	o := Object{}
	for name, at := range map[string]any{"startDate": start, "endDate": end} {
		if at != nil {
			o[name] = at
		}
	}
	return o
}

// snake writes the promoted object as the network does.
func snake(promoted any) any {
	o, _ := promoted.(Object)
	if o == nil {
		return nil
	}
	wire := Object{}
	for name, key := range map[string]string{"pixelId": "pixel_id", "customEventType": "custom_event_type", "pageId": "page_id"} {
		if o[name] != nil {
			wire[key] = o[name]
		}
	}
	return wire
}

func (n *Network) newCampaign(a *Account, platform string, b Object) (*Campaign, *AdSet) {
	set := &AdSet{ID: n.platformID(), Name: text(b, "name") + " - Ad Set", On: true}
	return &Campaign{
		ID: n.platformID(), Platform: platform, Name: text(b, "name") + " - Campaign", On: true, Objective: "OUTCOME_" + strings.ToUpper(text(b, "goal")), Sets: []*AdSet{set},
		account: a, adAccount: text(b, "adAccountId"),
	}, set
}

func (c *Campaign) goal() string { return c.ads()[0].Goal }

func (q *request) newAd(b Object, name, kind string) *Ad {
	creative := Object{}
	for field, at := range map[string]string{"body": "body", "linkUrl": "linkUrl", "imageUrl": "imageUrl"} {
		if b[field] != nil {
			creative[at] = b[field]
		}
	}
	if v, _ := b["video"].(Object); v != nil {
		creative["videoUrl"] = v["url"]
	}
	return &Ad{Own: q.n.id(), ID: q.n.platformID(), Name: name, On: true, Review: "in_review", Type: kind, Creative: creative}
}

// checkShape refuses what does not go together.
func checkShape(b Object, kind string) *refusal {
	joins, several := b["adSetId"] != nil, b["creatives"] != nil
	platform, _ := b["platformSpecificData"].(Object)
	for _, field := range []string{"goal", "budgetAmount", "budgetType"} {
		if !joins && b[field] == nil {
			return invalid(field, "%s is required", field)
		}
	}
	switch {
	case joins && several:
		return invalid("creatives", "creatives and adSetId are mutually exclusive")
	case joins && (b["budgetAmount"] != nil || b["targeting"] != nil || b["bidStrategy"] != nil || platform["bidStrategy"] != nil || b["promotedObject"] != nil):
		return invalid("adSetId", "The ad set has its own budget, targeting and bid.")
	case !joins && !slices.Contains(goals[kind], text(b, "goal")):
		return invalid("goal", "The goal is not available here.")
	case kind == "meta" && platform != nil && (platform["carousel"] != nil || platform["costType"] != nil), kind == "linkedin" && platform["bidStrategy"] != nil:
		return invalid("platformSpecificData", "These are options of another platform.")
	case b["specialAdCategoryCountry"] != nil && b["specialAdCategories"] == nil:
		return invalid("specialAdCategoryCountry", "It needs specialAdCategories.")
	}
	return checkPromoted(b, kind)
}

func checkPromoted(b Object, kind string) *refusal {
	p, _ := b["promotedObject"].(Object)
	goal := text(b, "goal")
	switch {
	case goal == "lead_generation" && kind == "meta" && b["leadGenFormId"] == nil:
		return invalid("leadGenFormId", "leadGenFormId is required")
	case (goal == "conversions" || goal == "lead_conversion") && p["pixelId"] == nil && p["customConversionId"] == nil:
		return invalid("promotedObject", "promotedObject.pixelId is required")
	case kind == "meta" && p["pixelId"] != nil && p["customEventType"] == nil:
		return invalid("promotedObject", "promotedObject.customEventType is required with a pixel")
	case goal == "app_promotion" && (p["applicationId"] == nil || p["objectStoreUrl"] == nil):
		return invalid("promotedObject", "promotedObject.applicationId is required")
	case goal == "catalog_sales" && p["productSetId"] == nil:
		return invalid("promotedObject", "promotedObject.productSetId is required")
	}
	return nil
}

// checkCreative refuses an ad that lacks something to show, or has two things.
func checkCreative(b Object, kind string) *refusal {
	if several, is := b["creatives"].([]any); is {
		for _, one := range several {
			one := one.(Object)
			if (one["imageUrl"] == nil) == (one["video"] == nil) {
				return invalid("creatives", "Each creative has exactly one of imageUrl and video.")
			}
		}
		return nil
	}
	for _, field := range needed[kind] {
		if b[field] == nil && !(field == "linkUrl" && b["goal"] == "lead_generation") && !(kind == "google" && field == "imageUrl") {
			return invalid(field, "%s is required", field)
		}
	}
	for field, most := range longest[kind] {
		if utf8.RuneCountInString(text(b, field)) > most {
			return invalid(field, "%s is too long", field)
		}
	}
	platform, _ := b["platformSpecificData"].(Object)
	shows := 0
	for _, is := range []bool{b["imageUrl"] != nil, b["video"] != nil, b["carouselCards"] != nil, platform["carousel"] != nil} {
		if is {
			shows++
		}
	}
	cards, _ := b["carouselCards"].([]any)
	switch {
	case shows > 1:
		return invalid("imageUrl", "An ad shows one thing.")
	case shows == 0 && (kind == "meta" && b["goal"] != "catalog_sales" || kind == "linkedin"):
		return invalid("imageUrl", "An ad shows an image or a video.")
	case b["carouselCards"] != nil && (len(cards) < 2 || b["adSetId"] != nil || b["leadGenFormId"] != nil || b["goal"] == "catalog_sales"):
		return invalid("carouselCards", "carouselCards cannot be used here")
	case kind == "google" && b["campaignType"] != "search":
		return invalid("images", "images.square is required for Google Display")
	case b["goal"] == "video_views" && (kind == "linkedin" || kind == "meta") && b["video"] == nil, kind == "pinterest" && b["goal"] == "video_views":
		return invalid("video", "video_views needs a video")
	case kind == "linkedin" && b["goal"] == "traffic" && b["linkUrl"] == nil:
		return invalid("linkUrl", "linkUrl is required")
	}
	return nil
}

// checkTargeting refuses a word that the network does not follow.
func checkTargeting(b Object, kind string) *refusal {
	t, _ := b["targeting"].(Object)
	for word := range t {
		if !slices.Contains(words[kind], word) {
			return &refusal{Error: word + " is not supported here", Code: "INVALID_FIELD_VALUE", Param: "targeting." + word, status: http.StatusBadRequest}
		}
	}
	cities, _ := t["cities"].([]any)
	for _, c := range cities {
		c := c.(Object)
		if (c["radius"] == nil) != (c["distanceUnit"] == nil) || c["radius"] != nil && kind != "meta" {
			return invalid("targeting.cities", "radius and distanceUnit go together, on Meta")
		}
	}
	return nil
}

func number(v any) float64 {
	n, _ := v.(float64)
	return n
}

// checkMoney refuses a budget that is too small or has no end, and bids that are not whole.
func checkMoney(b Object, kind string, amount float64, period, end string) *refusal {
	least := map[string]float64{"tiktok": 20, "pinterest": 5}[kind]
	bid, _ := b["platformSpecificData"].(Object)
	if bid == nil || bid["bidStrategy"] == nil && bid["bidAmount"] == nil {
		bid = b
	}
	strategy := text(bid, "bidStrategy")
	switch {
	case amount < max(least, 1):
		return invalid("budgetAmount", "The budget is below the minimum.")
	case period == "lifetime" && end == "":
		return invalid("endDate", "endDate is required for lifetime budgets")
	case strings.HasSuffix(strategy, "_CAP") && strategy != "LOWEST_COST_WITHOUT_CAP" && bid["bidAmount"] == nil:
		return invalid("bidAmount", "bidAmount is required")
	case strategy == "LOWEST_COST_WITH_MIN_ROAS" && bid["roasAverageFloor"] == nil, strategy == "" && bid["roasAverageFloor"] != nil:
		return invalid("roasAverageFloor", "roasAverageFloor goes with LOWEST_COST_WITH_MIN_ROAS")
	}
	return nil
}

func (q *request) boost() (Object, *refusal) {
	a, platform, err := q.inAdAccount()
	if err != nil {
		return nil, err
	}
	b, kind := q.body, family(platform)
	for field := range b {
		if takes := only[field]; takes != nil && field != "bidStrategy" && !slices.Contains(takes, kind) {
			return nil, invalid(field, "%s is not supported on %s", field, platform)
		}
	}
	budget, _ := b["budget"].(Object)
	when, _ := b["schedule"].(Object)
	targeting, _ := b["targeting"].(Object)
	switch {
	case b["platformPostId"] == nil || a.parent == nil || !slices.ContainsFunc(a.parent.posts, func(p Object) bool { return p["platforms"].([]Object)[0]["platformPostId"] == b["platformPostId"] }):
		return nil, missing("Post")
	case !slices.Contains(goals[kind], text(b, "goal")):
		return nil, invalid("goal", "The goal is not available here.")
	case budget == nil:
		return nil, invalid("budget", "budget is required")
	case kind == "tiktok" && targeting["countries"] == nil:
		return nil, invalid("targeting.countries", "countries is required")
	}
	if err := checkTargeting(b, kind); err != nil {
		return nil, err
	}
	if err := checkMoney(b, kind, number(budget["amount"]), text(budget, "type"), text(when, "endDate")); err != nil {
		return nil, err
	}
	c, set := q.n.newCampaign(a, platform, b)
	set.Budget = budget
	if platform == "google" {
		c.Budget, set.Budget = budget, nil
	}
	ad := q.newAd(b, text(b, "name"), "boost")
	ad.Goal, ad.Targeting, ad.Schedule = text(b, "goal"), b["targeting"], schedule(when["startDate"], when["endDate"])
	set.Ads = append(set.Ads, ad)
	q.n.campaigns = append(q.n.campaigns, c)
	return Object{"ad": q.adObject(c, set, ad, q.days()), "message": "Ad created"}, nil
}
