package ads

import (
	"slices"

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
		Bids:          metaBids(),
		DefaultBid:    advert.BidStrategyLowestCost, // Meta's own is a cap, which it then finds no amount for
		Promoted:      metaPromoted,
		Places:        []string{"geo_locations"},
		BoostOnly:     []advert.Goal{advert.GoalVideoViews},     // it shows videos only, and a creative has an image
		NeverBoost:    []advert.Goal{advert.GoalLeadGeneration}, // the form is a part of the creative
		BudgetLevels:  eitherLevel, MinimumDailyBudget: 1 * advert.AmountUnit,
		Money: MoneyMinor, currencies: metaCurrencies,
		PauseLevels: everyLevel, Switch: Switch{"ACTIVE", "PAUSED"}, StatusBatch: 1,
		Creative: CreativeRules{
			Required: []string{"headline", "body", "call_to_action", "link_url", "image_url"},
			Limits:   map[string]int{"headline": 255},
		},
		Users:        UserRules{Identifiers: emailAndPhone, Phone: PhoneDigits, Details: userDetails},
		UsersPerCall: 10_000,
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

// tiktokCaps returns the capabilities of TikTok.
func tiktokCaps() Caps {
	return Caps{
		Platform: advert.PlatformTikTok, Verified: VerifiedNone, Reconcile: ReconcileNone,
		Objectives: []Objective{
			{advert.GoalEngagement, "ENGAGEMENT"}, {advert.GoalTraffic, "TRAFFIC"}, {advert.GoalAwareness, "REACH"},
			{advert.GoalVideoViews, "VIDEO_VIEWS"}, {advert.GoalLeadGeneration, "LEAD_GENERATION"},
			{advert.GoalConversions, "WEB_CONVERSIONS"}, {advert.GoalAppPromotion, "APP_PROMOTION"},
		},
		CallsToAction: callsToAction,
		AudienceTypes: everyAudienceType,
		Bids:          bids("BID_TYPE_NO_BID", "BID_TYPE_CUSTOM", "BID_TYPE_MAX_CONVERSION", "VO_MIN_ROAS"),
		BudgetLevels:  eitherLevel, MinimumDailyBudget: 20 * advert.AmountUnit, MinimumEveryDay: true,
		Money: MoneyWhole, currencies: commonCurrencies(),
		PauseLevels: everyLevel, Switch: Switch{"ENABLE", "DISABLE"}, StatusBatch: 20, BusinessCenters: true,
		Creative:     CreativeRules{Required: []string{"body", "image_url"}, Ignored: []string{"headline"}},
		Users:        UserRules{Identifiers: emailAndPhone, Phone: PhoneE164},
		UsersPerCall: 10_000,
	}
}

// linkedInCaps returns the capabilities of LinkedIn.
func linkedInCaps() Caps {
	return Caps{
		Platform: advert.PlatformLinkedIn, Verified: VerifiedNone, Reconcile: ReconcileNone,
		Objectives: []Objective{
			{advert.GoalEngagement, "ENGAGEMENT"}, {advert.GoalTraffic, "WEBSITE_VISIT"},
			{advert.GoalAwareness, "BRAND_AWARENESS"}, {advert.GoalVideoViews, "VIDEO_VIEW"},
			{advert.GoalLeadGeneration, "LEAD_GENERATION"}, {advert.GoalConversions, "WEBSITE_CONVERSION"},
			{advert.GoalJobApplicants, "JOB_APPLICANT"},
		},
		CallsToAction: []string{
			"LEARN_MORE", "SIGN_UP", "DOWNLOAD", "SUBSCRIBE", "REGISTER", "JOIN", "ATTEND", "REQUEST_DEMO", "VIEW_QUOTE",
			"APPLY", "SEE_MORE", "SHOP_NOW", "BUY_NOW",
		},
		AudienceTypes: []advert.AudienceType{advert.AudienceTypeCustomerList, advert.AudienceTypeRetargeting},
		BudgetLevels:  eitherLevel, MinimumDailyBudget: 1 * advert.AmountUnit,
		Money: MoneyDecimal, currencies: commonCurrencies(),
		PauseLevels: everyLevel, Switch: Switch{"ACTIVE", "PAUSED"}, StatusBatch: 1,
		Creative: CreativeRules{
			Required: []string{"headline", "body", "image_url"}, Limits: map[string]int{"headline": 400},
		},
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
			{advert.GoalAwareness, "AWARENESS"}, {advert.GoalVideoViews, "VIDEO_COMPLETION"},
		},
		CallsToAction: []string{
			"GET_OFFER", "LEARN_MORE", "ORDER_NOW", "SHOP_NOW", "SIGN_UP", "SUBSCRIBE", "BUY_NOW", "CONTACT_US", "GET_QUOTE",
			"VISIT_SITE", "APPLY_NOW", "BOOK_NOW", "REQUEST_DEMO", "REGISTER_NOW", "FIND_A_DEALER", "ADD_TO_CART",
			"WATCH_NOW", "READ_MORE", "BUY_TICKETS", "DONATE_NOW", "DOWNLOAD", "EXPLORE_MORE", "FIND_A_LOCATION",
			"GET_DEAL", "GET_RECIPE", "GET_SHOWTIMES", "ON_SALE", "PLAY_GAME", "TRY_IT",
		},
		AudienceTypes: everyAudienceType,
		Bids:          pinterestBids(),
		DefaultBid:    advert.BidStrategyLowestCost,
		BoostOnly:     []advert.Goal{advert.GoalVideoViews}, // it shows videos only, and a creative has an image
		Places:        []string{"LOCATION", "GEO"},
		Lookalikes:    []string{"us", "ca", "gb"},
		BudgetLevels:  eitherLevel, MinimumDailyBudget: 5 * advert.AmountUnit,
		Money: MoneyMicros, currencies: pinterestCurrencies,
		PauseLevels: everyLevel, Switch: Switch{"ACTIVE", "PAUSED"}, StatusBatch: 30,
		Creative: CreativeRules{
			Required: []string{"headline", "body", "image_url"}, Limits: map[string]int{"headline": 100, "body": 500},
		},
		Users:        UserRules{Identifiers: emailOnly},
		UsersPerCall: 10_000,
	}
}

// pinterestBids are Pinterest's bid strategies. Its description says that video completions are bid for automatically.
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
		Objectives: []Objective{
			{advert.GoalTraffic, "DISPLAY"}, {advert.GoalEngagement, "DEMAND_GEN"}, {advert.GoalAwareness, "DISPLAY"},
			{advert.GoalVideoViews, "VIDEO"},
		},
		CallsToAction: callsToAction,
		AudienceTypes: []advert.AudienceType{advert.AudienceTypeCustomerList, advert.AudienceTypeRetargeting},
		Bids:          bids("TARGET_SPEND", "MANUAL_CPC", "TARGET_CPA", "TARGET_ROAS"),
		BudgetLevels:  []advert.BudgetLevel{advert.BudgetLevelCampaign}, MinimumDailyBudget: 1 * advert.AmountUnit,
		Money: MoneyMicros, currencies: commonCurrencies(),
		PauseLevels: everyLevel, Switch: Switch{"ENABLED", "PAUSED"}, StatusBatch: 1000,
		Creative: CreativeRules{
			Required: []string{"headline", "body", "image_url"}, Limits: map[string]int{"headline": 30, "body": 90},
		},
		Users:        UserRules{Identifiers: emailAndPhone, Phone: PhoneE164},
		UsersPerCall: 10_000,
	}
}

// twitterCaps returns the capabilities of Twitter.
func twitterCaps() Caps {
	return Caps{
		Platform: advert.PlatformTwitter, Verified: VerifiedNone, Reconcile: ReconcileNone,
		Objectives: []Objective{
			{advert.GoalEngagement, "ENGAGEMENTS"}, {advert.GoalTraffic, "WEBSITE_CLICKS"}, {advert.GoalAwareness, "REACH"},
			{advert.GoalVideoViews, "VIDEO_VIEWS"}, {advert.GoalAppPromotion, "APP_INSTALLS"},
		},
		CallsToAction: callsToAction,
		AudienceTypes: []advert.AudienceType{advert.AudienceTypeCustomerList, advert.AudienceTypeRetargeting},
		Bids:          bids("AUTO", "MAX", "TARGET", ""),
		BudgetLevels:  eitherLevel, MinimumDailyBudget: 1 * advert.AmountUnit,
		Money: MoneyMicros, currencies: commonCurrencies(),
		PauseLevels: []advert.Level{advert.LevelCampaign, advert.LevelGroup}, Switch: Switch{"ACTIVE", "PAUSED"}, StatusBatch: 1,
		Creative: CreativeRules{
			Required: []string{"body"}, Ignored: []string{"headline", "call_to_action"}, Limits: map[string]int{"body": 280},
		},
		Users:        UserRules{Identifiers: emailAndPhone, Phone: PhoneE164},
		UsersPerCall: 2_500,
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
