package ads

import (
	"slices"
	"time"

	"github.com/tillwright/tillwright/store/advert"
)

// CapsOf returns the capabilities of a platform. A driver that was checked against something else, or reconciles in
// another way, changes that in its own copy. It panics on an unknown platform: one that comes from outside must have
// been checked with Platform.IsKnown.
func CapsOf(p advert.Platform) Caps {
	switch p {
	case advert.PlatformFacebook, advert.PlatformInstagram:
		return metaCaps(p)
	case advert.PlatformTikTok:
		return tiktokCaps()
	case advert.PlatformLinkedIn:
		return linkedInCaps()
	case advert.PlatformPinterest:
		return pinterestCaps()
	case advert.PlatformGoogle:
		return googleCaps()
	case advert.PlatformTwitter:
		return twitterCaps()
	}
	panic("ads: there is no network " + string(p))
}

// metaCaps returns the capabilities of Meta's two platforms. Objectives, calls to action, bid strategies and currencies
// are from its published API specifications. Meta keeps our token as an ad label on what was made with it.
func metaCaps(p advert.Platform) Caps {
	return Caps{
		Platform: p, Verified: VerifiedSpec, Reconcile: ReconcileToken,
		Objectives: []Objective{
			{advert.GoalEngagement, "OUTCOME_ENGAGEMENT"}, {advert.GoalTraffic, "OUTCOME_TRAFFIC"},
			{advert.GoalAwareness, "OUTCOME_AWARENESS"}, {advert.GoalVideoViews, "OUTCOME_ENGAGEMENT"},
			{advert.GoalLeadGeneration, "OUTCOME_LEADS"}, {advert.GoalLeadConversion, "OUTCOME_LEADS"},
			{advert.GoalConversions, "OUTCOME_SALES"}, {advert.GoalAppPromotion, "OUTCOME_APP_PROMOTION"},
			{advert.GoalCatalogSales, "OUTCOME_SALES"},
		},
		CallsToAction: metaCallsToAction,
		AudienceTypes: everyAudienceType,
		LookalikeMax:  maxRatio,
		Bids:          metaBids(),
		DefaultBid:    advert.BidStrategyLowestCost, // Meta's own is a cap, which it then finds no amount for
		Promoted:      metaPromoted,
		Places:        []string{"geo_locations"},
		Targeting:     metaTargeting(p),
		VideoGoals:    []advert.Goal{advert.GoalVideoViews},
		NeverBoost:    []advert.Goal{advert.GoalLeadGeneration}, // the form is a part of the creative
		SearchTypes:   []string{SearchCountry, SearchRegion, SearchCity, SearchZip, SearchMetro, SearchInterest, SearchBehavior, SearchLanguage},
		BudgetLevels:  eitherLevel, MinimumDailyBudget: 1 * advert.AmountUnit,
		Money: MoneyMinor, currencies: metaCurrencies,
		PauseLevels: everyLevel, Switch: Switch{"ACTIVE", "PAUSED"}, StatusBatch: 1,
		Figures:     Figures{Months: 37, Breakdowns: everyBreakdown},
		Conversions: metaConversions(),
		Creative: CreativeRules{
			Required: []string{"headline", "body", "call_to_action", "link_url"},
			Limits:   map[string]int{"headline": 255},
		},
		Media:        MediaRules{Kinds: []Medium{MediumImage, MediumVideo, MediumCarousel}, MaxCards: 10, VideoCards: true, Replace: true},
		Previews:     []Medium{MediumImage, MediumCarousel},
		Users:        UserRules{Identifiers: emailAndPhone, Phone: PhoneDigits, Details: userDetails},
		UsersPerCall: 10_000,
		UserRemoval:  true,
	}
}

// metaBids are Meta's bid strategies. A smallest ROAS is for those who optimize for value, from "Bid Strategy".
func metaBids() []BidRule {
	rules := bids("LOWEST_COST_WITHOUT_CAP", "LOWEST_COST_WITH_BID_CAP", "COST_CAP", "LOWEST_COST_WITH_MIN_ROAS")
	for i := range rules {
		if rules[i].Strategy == advert.BidStrategyMinROAS {
			rules[i].Goals = []advert.Goal{advert.GoalConversions, advert.GoalCatalogSales, advert.GoalAppPromotion}
		}
	}
	return rules
}

// metaPromoted is what each goal promotes on Meta, from its "Objective Mapping" and its reference of the ad set.
var metaPromoted = map[advert.Goal]Promoted{
	advert.GoalLeadGeneration: {Requires: [][]string{{"lead_gen_form_id"}}},
	advert.GoalLeadConversion: {Requires: [][]string{{"pixel_id", "custom_conversion_id"}}, Events: []string{
		"LEAD", "COMPLETE_REGISTRATION", "CONTACT", "FIND_LOCATION", "SCHEDULE", "START_TRIAL", "SUBMIT_APPLICATION", "SUBSCRIBE", "OTHER"}},
	advert.GoalConversions:  {Requires: [][]string{{"pixel_id", "custom_conversion_id"}}, Events: metaSales},
	advert.GoalCatalogSales: {Requires: [][]string{{"product_set_id"}, {"product_catalog_id"}}, Events: metaSales},
	advert.GoalAppPromotion: {Requires: [][]string{{"application_id"}, {"object_store_url"}}},
}

var metaSales = []string{
	"PURCHASE", "INITIATED_CHECKOUT", "ADD_PAYMENT_INFO", "ADD_TO_CART", "COMPLETE_REGISTRATION", "DONATE", "START_TRIAL", "SUBSCRIBE", "CONTENT_VIEW", "OTHER",
}

// tiktokCaps returns the capabilities of TikTok, from the published tables of its Business API, version 1.3. An ad group costs at least 20 a
// day there. It has no cap of a bid, only one of the cost of a result.
func tiktokCaps() Caps {
	return Caps{
		Platform: advert.PlatformTikTok, Verified: VerifiedNone, Reconcile: ReconcileName,
		Targeting: tiktokTargeting(),
		Objectives: []Objective{
			{advert.GoalEngagement, "ENGAGEMENT"}, {advert.GoalTraffic, "TRAFFIC"}, {advert.GoalAwareness, "REACH"},
			{advert.GoalVideoViews, "VIDEO_VIEWS"}, {advert.GoalLeadGeneration, "LEAD_GENERATION"},
			{advert.GoalConversions, "WEB_CONVERSIONS"}, {advert.GoalAppPromotion, "APP_PROMOTION"},
		},
		CallsToAction: callsToAction,
		AudienceTypes: everyAudienceType,
		LookalikeMax:  maxRatio,
		Bids:          tiktokBids(),
		Promoted:      tiktokPromoted,
		Places:        []string{"location_ids", "zipcode_ids"},
		NeverBoost:    []advert.Goal{advert.GoalTraffic, advert.GoalLeadGeneration, advert.GoalConversions, advert.GoalAppPromotion}, // they lead to what a post has no link to
		SearchTypes:   []string{SearchCountry, SearchRegion, SearchCity, SearchZip, SearchInterest, SearchBehavior, SearchLanguage},
		BudgetLevels:  eitherLevel, MinimumDailyBudget: 20 * advert.AmountUnit, MinimumEveryDay: true,
		Figures: Figures{Breakdowns: everyBreakdown},
		Money:   MoneyWhole, currencies: commonCurrencies(),
		PauseLevels: everyLevel, Switch: Switch{"ENABLE", "DISABLE"}, StatusBatch: 20, BusinessCenters: true,
		Conversions:  tiktokConversions,
		Creative:     CreativeRules{Required: []string{"body"}, Ignored: []string{"headline", "description"}},
		Media:        MediaRules{Kinds: []Medium{MediumVideo}, Replace: true},
		Users:        UserRules{Identifiers: emailAndPhone, Phone: PhoneE164},
		UsersPerCall: 10_000,
		UserRemoval:  true,
	}
}

// tiktokBids are TikTok's bid strategies. A smallest ROAS is for those who optimize for value.
func tiktokBids() []BidRule {
	rules := bids("BID_TYPE_NO_BID", "", "BID_TYPE_CUSTOM", "VO_MIN_ROAS")
	for i := range rules {
		if rules[i].Strategy == advert.BidStrategyMinROAS {
			rules[i].Goals = []advert.Goal{advert.GoalConversions}
		}
	}
	return rules
}

// tiktokPromoted is what each goal promotes on TikTok.
var tiktokPromoted = map[advert.Goal]Promoted{
	advert.GoalLeadGeneration: {Requires: [][]string{{"page_id"}}},
	advert.GoalConversions:    {Requires: [][]string{{"pixel_id"}, {"optimization_event"}}},
	advert.GoalAppPromotion:   {Requires: [][]string{{"app_id"}}},
}

// tiktokConversions are from "Events API 2.0".
var tiktokConversions = ConversionRules{
	Words: map[advert.ConversionKind]string{
		advert.ConversionPurchase: "CompletePayment", advert.ConversionLead: "SubmitForm", advert.ConversionSubscriptionStarted: "Subscribe",
		advert.ConversionTrialStarted: "StartTrial",
	},
	PerCall: 1000, MaxAge: 7 * 24 * time.Hour, Dedupe: 48 * time.Hour, ClickID: "ttclid", Phone: PhoneE164,
}

// linkedInCaps returns the capabilities of LinkedIn.
func linkedInCaps() Caps {
	return Caps{
		Platform: advert.PlatformLinkedIn, Verified: VerifiedNone, Reconcile: ReconcileNone,
		Targeting: linkedInTargeting(),
		Objectives: []Objective{
			{advert.GoalEngagement, "ENGAGEMENT"}, {advert.GoalTraffic, "WEBSITE_VISIT"},
			{advert.GoalAwareness, "BRAND_AWARENESS"}, {advert.GoalVideoViews, "VIDEO_VIEW"},
			{advert.GoalLeadGeneration, "LEAD_GENERATION"}, {advert.GoalConversions, "WEBSITE_CONVERSION"},
			{advert.GoalJobApplicants, "JOB_APPLICANT"},
		},
		VideoGoals: []advert.Goal{advert.GoalVideoViews},
		CallsToAction: []string{
			"LEARN_MORE", "SIGN_UP", "DOWNLOAD", "SUBSCRIBE", "REGISTER", "JOIN", "ATTEND", "REQUEST_DEMO", "VIEW_QUOTE",
			"APPLY", "SEE_MORE", "SHOP_NOW", "BUY_NOW",
		},
		AudienceTypes: []advert.AudienceType{advert.AudienceTypeCustomerList, advert.AudienceTypeRetargeting},
		SearchTypes:   []string{SearchCountry, SearchRegion, SearchInterest, SearchLanguage},
		BudgetLevels:  eitherLevel, MinimumDailyBudget: 1 * advert.AmountUnit,
		Figures: Figures{Breakdowns: []Breakdown{BreakdownCountry}},
		Money:   MoneyDecimal, currencies: commonCurrencies(),
		PauseLevels: everyLevel, Switch: Switch{"ACTIVE", "PAUSED"}, StatusBatch: 1,
		Creative: CreativeRules{
			Required: []string{"headline", "body"}, Limits: map[string]int{"headline": 400},
		},
		Media:        MediaRules{Kinds: []Medium{MediumImage, MediumVideo, MediumCarousel}, MaxCards: 10, Replace: true},
		Users:        UserRules{Identifiers: emailOnly},
		UsersPerCall: 5_000,
	}
}

// pinterestCaps returns the capabilities of Pinterest, from its published OpenAPI description, version 5.23.
func pinterestCaps() Caps {
	return Caps{
		Platform: advert.PlatformPinterest, Verified: VerifiedSpec, Reconcile: ReconcileName,
		Objectives: []Objective{
			{advert.GoalTraffic, "CONSIDERATION"}, {advert.GoalEngagement, "CONSIDERATION"},
			{advert.GoalAwareness, "AWARENESS"}, {advert.GoalVideoViews, "VIDEO_COMPLETION"}, {advert.GoalConversions, "WEB_CONVERSION"},
		},
		Promoted: pinterestPromoted,
		CallsToAction: []string{
			"GET_OFFER", "LEARN_MORE", "ORDER_NOW", "SHOP_NOW", "SIGN_UP", "SUBSCRIBE", "BUY_NOW", "CONTACT_US", "GET_QUOTE",
			"VISIT_SITE", "APPLY_NOW", "BOOK_NOW", "REQUEST_DEMO", "REGISTER_NOW", "FIND_A_DEALER", "ADD_TO_CART",
			"WATCH_NOW", "READ_MORE", "BUY_TICKETS", "DONATE_NOW", "DOWNLOAD", "EXPLORE_MORE", "FIND_A_LOCATION",
			"GET_DEAL", "GET_RECIPE", "GET_SHOWTIMES", "ON_SALE", "PLAY_GAME", "TRY_IT",
		},
		AudienceTypes: everyAudienceType,
		Bids:          pinterestBids(),
		DefaultBid:    advert.BidStrategyLowestCost,
		GroupBids:     true,
		VideoGoals:    []advert.Goal{advert.GoalVideoViews},
		Places:        []string{"LOCATION", "GEO"},
		Targeting:     pinterestTargeting(),
		Lookalikes:    []string{"us", "ca", "gb"},
		LookalikeMax:  maxRatio / 2, LookalikeStep: minRatio, // its AudienceRule counts in percent, from 1 to 10
		SearchTypes:  []string{SearchCountry, SearchRegion, SearchZip, SearchMetro, SearchInterest, SearchLanguage},
		BudgetLevels: eitherLevel, MinimumDailyBudget: 5 * advert.AmountUnit,
		Money: MoneyMicros, currencies: pinterestCurrencies,
		PauseLevels: everyLevel, Switch: Switch{"ACTIVE", "PAUSED"}, StatusBatch: 30,
		Figures:     Figures{UTC: true, Days: 90, ReportDays: 914, Breakdowns: everyBreakdown},
		Conversions: pinterestConversions(),
		Creative: CreativeRules{
			Required: []string{"headline", "body"}, Ignored: []string{"description"}, Limits: map[string]int{"headline": 100, "body": 500},
		},
		Media:        MediaRules{Kinds: []Medium{MediumImage, MediumVideo, MediumCarousel}, MaxCards: 5}, // the Pin of an ad stays the same, unless it is a draft
		Previews:     []Medium{MediumImage},
		Users:        UserRules{Identifiers: emailOnly},
		UsersPerCall: 10_000,
		UserRemoval:  true,
	}
}

// pinterestPromoted is what a conversion happens at, a tag, and the events of its OptimizationGoalMetadata.
var pinterestPromoted = map[advert.Goal]Promoted{advert.GoalConversions: {Requires: [][]string{{"pixel_id"}}, Events: []string{
	"CHECKOUT", "ADD_TO_CART", "LEAD", "SIGNUP", "PAGE_VISIT", "VIEW_CATEGORY", "SEARCH", "WATCH_VIDEO", "CUSTOM", "APP_INSTALL"}}}

// pinterestBids are Pinterest's bid strategies. Its description says that video completions are bid for automatically, and names no bid
// for conversions.
func pinterestBids() []BidRule {
	rules := bids("AUTOMATIC_BID", "MAX_BID", "TARGET_AVG", "")
	for i := range rules {
		if rules[i].Strategy != advert.BidStrategyLowestCost {
			rules[i].Goals = []advert.Goal{advert.GoalTraffic, advert.GoalEngagement, advert.GoalAwareness}
		}
	}
	return rules
}

// googleCaps returns the capabilities of Google Ads.
func googleCaps() Caps {
	return Caps{
		Platform: advert.PlatformGoogle, Verified: VerifiedNone, Reconcile: ReconcileNone,
		Targeting: googleTargeting(),
		Objectives: []Objective{
			{advert.GoalTraffic, "DISPLAY"}, {advert.GoalEngagement, "DEMAND_GEN"}, {advert.GoalAwareness, "DISPLAY"},
			{advert.GoalVideoViews, "VIDEO"},
		},
		BoostOnly:     []advert.Goal{advert.GoalVideoViews}, // its videos are YouTube's
		CallsToAction: callsToAction,
		AudienceTypes: []advert.AudienceType{advert.AudienceTypeCustomerList, advert.AudienceTypeRetargeting},
		Bids:          bids("TARGET_SPEND", "MANUAL_CPC", "TARGET_CPA", "TARGET_ROAS"),
		SearchTypes:   []string{SearchCountry, SearchRegion, SearchCity, SearchZip, SearchInterest, SearchLanguage},
		BudgetLevels:  []advert.BudgetLevel{advert.BudgetLevelCampaign}, MinimumDailyBudget: 1 * advert.AmountUnit,
		Figures: Figures{Breakdowns: []Breakdown{BreakdownAge, BreakdownGender, BreakdownCountry, BreakdownDevice}},
		Money:   MoneyMicros, currencies: commonCurrencies(),
		PauseLevels: everyLevel, Switch: Switch{"ENABLED", "PAUSED"}, StatusBatch: 1000,
		Creative: CreativeRules{
			Required: []string{"headline", "body"}, Limits: map[string]int{"headline": 30, "body": 90},
		},
		Media:        MediaRules{Kinds: []Medium{MediumImage}, Replace: true},
		Users:        UserRules{Identifiers: emailAndPhone, Phone: PhoneE164},
		UsersPerCall: 10_000,
		UserRemoval:  true,
	}
}

// twitterCaps returns the capabilities of Twitter.
func twitterCaps() Caps {
	return Caps{
		Platform: advert.PlatformTwitter, Verified: VerifiedNone, Reconcile: ReconcileNone,
		Targeting: twitterTargeting(),
		Objectives: []Objective{
			{advert.GoalEngagement, "ENGAGEMENTS"}, {advert.GoalTraffic, "WEBSITE_CLICKS"}, {advert.GoalAwareness, "REACH"},
			{advert.GoalVideoViews, "VIDEO_VIEWS"}, {advert.GoalAppPromotion, "APP_INSTALLS"},
		},
		VideoGoals:    []advert.Goal{advert.GoalVideoViews},
		CallsToAction: callsToAction,
		AudienceTypes: []advert.AudienceType{advert.AudienceTypeCustomerList, advert.AudienceTypeRetargeting},
		Bids:          bids("AUTO", "MAX", "TARGET", ""),
		SearchTypes:   []string{SearchCountry, SearchRegion, SearchZip, SearchInterest},
		BudgetLevels:  eitherLevel, MinimumDailyBudget: 1 * advert.AmountUnit,
		Figures: Figures{Breakdowns: []Breakdown{BreakdownAge, BreakdownGender, BreakdownDevice}},
		Money:   MoneyMicros, currencies: commonCurrencies(),
		PauseLevels: []advert.Level{advert.LevelCampaign, advert.LevelGroup}, Switch: Switch{"ACTIVE", "PAUSED"}, StatusBatch: 1,
		Creative: CreativeRules{
			Required: []string{"body"}, Ignored: []string{"headline", "call_to_action", "description"}, Limits: map[string]int{"body": 280},
		},
		Media:        MediaRules{Kinds: []Medium{MediumImage, MediumVideo}, IsOptional: true, Replace: true},
		Users:        UserRules{Identifiers: emailAndPhone, Phone: PhoneE164},
		UsersPerCall: 2_500,
		UserRemoval:  true,
	}
}

// callsToAction are the calls to action of a network for which no list of its own is known.
var callsToAction = []string{
	"LEARN_MORE", "SHOP_NOW", "SIGN_UP", "BOOK_TRAVEL", "CONTACT_US", "DOWNLOAD", "GET_OFFER", "GET_QUOTE", "SUBSCRIBE",
	"WATCH_MORE", "ADD_TO_CART", "APPLY_NOW", "BOOK_NOW", "BUY_TICKETS", "DONATE", "DONATE_NOW", "GET_DIRECTIONS",
	"GET_SHOWTIMES", "LISTEN_NOW", "ORDER_NOW", "PLAY_GAME", "REQUEST_TIME", "SEE_MENU", "START_ORDER",
	"INSTALL_MOBILE_APP", "USE_APP", "REGISTER", "JOIN", "ATTEND", "REQUEST_DEMO", "VIEW_QUOTE", "APPLY", "SEE_MORE",
	"BUY_NOW",
}

// metaCallsToAction are those among callsToAction that Meta's specification of a call to action lists.
var metaCallsToAction = slices.DeleteFunc(slices.Clone(callsToAction), func(word string) bool {
	return slices.Contains([]string{"SEE_MENU", "REGISTER", "JOIN", "ATTEND", "REQUEST_DEMO", "VIEW_QUOTE", "APPLY"}, word)
})

// What several networks have in common. The first of eitherLevel is used when a request names no budget level.
var (
	everyLevel        = []advert.Level{advert.LevelCampaign, advert.LevelGroup, advert.LevelAd}
	eitherLevel       = []advert.BudgetLevel{advert.BudgetLevelGroup, advert.BudgetLevelCampaign}
	everyAudienceType = []advert.AudienceType{advert.AudienceTypeCustomerList, advert.AudienceTypeRetargeting, advert.AudienceTypeLookalike}
	emailAndPhone     = []advert.Identifier{advert.IdentifierEmail, advert.IdentifierPhone}
	emailOnly         = []advert.Identifier{advert.IdentifierEmail}
)

// The fields that belong to bid strategies.
const (
	fieldBidAmount = "bid_amount"
	fieldRoasFloor = "roas_average_floor"
)

// bids returns the rules of the four bid strategies with the network's words for them. A strategy whose word is "" is
// one that the network does not know, and is left out.
func bids(lowestCost, bidCap, costCap, minROAS string) []BidRule {
	amount, floor := []string{fieldBidAmount}, []string{fieldRoasFloor}
	return slices.DeleteFunc([]BidRule{
		{Strategy: advert.BidStrategyLowestCost, Word: lowestCost, Forbids: []string{fieldBidAmount, fieldRoasFloor}},
		{Strategy: advert.BidStrategyBidCap, Word: bidCap, Requires: amount, Forbids: floor},
		{Strategy: advert.BidStrategyCostCap, Word: costCap, Requires: amount, Forbids: floor},
		{Strategy: advert.BidStrategyMinROAS, Word: minROAS, Requires: floor, Forbids: amount},
	}, func(rule BidRule) bool { return rule.Word == "" })
}
