package ads

import (
	"slices"

	"github.com/tillwright/tillwright/store"
)

// CapsOf returns the capabilities of a platform. A driver that was checked against something else, or reconciles in
// another way, changes that in its own copy. It panics on an unknown platform: one that comes from outside must have
// been checked with Platform.IsKnown.
func CapsOf(p store.Platform) Caps {
	switch p {
	case store.PlatformFacebook, store.PlatformInstagram:
		return metaCaps(p)
	case store.PlatformTikTok:
		return tiktokCaps()
	case store.PlatformLinkedIn:
		return linkedInCaps()
	case store.PlatformPinterest:
		return pinterestCaps()
	case store.PlatformGoogle:
		return googleCaps()
	case store.PlatformTwitter:
		return twitterCaps()
	}
	panic("ads: there is no network " + string(p))
}

// metaCaps returns the capabilities of Meta's two platforms. Objectives, calls to action, bid strategies and currencies
// are from its published API specifications. Meta keeps our token as an ad label on what was made with it.
func metaCaps(p store.Platform) Caps {
	return Caps{
		Platform: p, Verified: VerifiedSpec, Reconcile: ReconcileToken,
		Objectives: []Objective{
			{store.AdGoalEngagement, "OUTCOME_ENGAGEMENT"}, {store.AdGoalTraffic, "OUTCOME_TRAFFIC"},
			{store.AdGoalAwareness, "OUTCOME_AWARENESS"}, {store.AdGoalVideoViews, "OUTCOME_ENGAGEMENT"},
			{store.AdGoalLeadGeneration, "OUTCOME_LEADS"}, {store.AdGoalLeadConversion, "OUTCOME_LEADS"},
			{store.AdGoalConversions, "OUTCOME_SALES"}, {store.AdGoalAppPromotion, "OUTCOME_APP_PROMOTION"},
			{store.AdGoalCatalogSales, "OUTCOME_SALES"},
		},
		CallsToAction: metaCallsToAction,
		AudienceTypes: everyAudienceType,
		Bids:          bids("LOWEST_COST_WITHOUT_CAP", "LOWEST_COST_WITH_BID_CAP", "COST_CAP", "LOWEST_COST_WITH_MIN_ROAS"),
		BudgetLevels:  eitherLevel, MinimumDailyBudget: 1 * store.AdUnit,
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

// tiktokCaps returns the capabilities of TikTok.
func tiktokCaps() Caps {
	return Caps{
		Platform: store.PlatformTikTok, Verified: VerifiedNone, Reconcile: ReconcileNone,
		Objectives: []Objective{
			{store.AdGoalEngagement, "ENGAGEMENT"}, {store.AdGoalTraffic, "TRAFFIC"}, {store.AdGoalAwareness, "REACH"},
			{store.AdGoalVideoViews, "VIDEO_VIEWS"}, {store.AdGoalLeadGeneration, "LEAD_GENERATION"},
			{store.AdGoalConversions, "WEB_CONVERSIONS"}, {store.AdGoalAppPromotion, "APP_PROMOTION"},
		},
		CallsToAction: callsToAction,
		AudienceTypes: everyAudienceType,
		Bids:          bids("BID_TYPE_NO_BID", "BID_TYPE_CUSTOM", "BID_TYPE_MAX_CONVERSION", "VO_MIN_ROAS"),
		BudgetLevels:  eitherLevel, MinimumDailyBudget: 20 * store.AdUnit, MinimumEveryDay: true,
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
		Platform: store.PlatformLinkedIn, Verified: VerifiedNone, Reconcile: ReconcileNone,
		Objectives: []Objective{
			{store.AdGoalEngagement, "ENGAGEMENT"}, {store.AdGoalTraffic, "WEBSITE_VISIT"},
			{store.AdGoalAwareness, "BRAND_AWARENESS"}, {store.AdGoalVideoViews, "VIDEO_VIEW"},
			{store.AdGoalLeadGeneration, "LEAD_GENERATION"}, {store.AdGoalConversions, "WEBSITE_CONVERSION"},
			{store.AdGoalJobApplicants, "JOB_APPLICANT"},
		},
		CallsToAction: []string{
			"LEARN_MORE", "SIGN_UP", "DOWNLOAD", "SUBSCRIBE", "REGISTER", "JOIN", "ATTEND", "REQUEST_DEMO", "VIEW_QUOTE",
			"APPLY", "SEE_MORE", "SHOP_NOW", "BUY_NOW",
		},
		AudienceTypes: []store.AudienceType{store.AudienceTypeCustomerList, store.AudienceTypeRetargeting},
		BudgetLevels:  eitherLevel, MinimumDailyBudget: 1 * store.AdUnit,
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
		Platform: store.PlatformPinterest, Verified: VerifiedSpec, Reconcile: ReconcileName,
		Objectives: []Objective{
			{store.AdGoalTraffic, "CONSIDERATION"}, {store.AdGoalEngagement, "CONSIDERATION"},
			{store.AdGoalAwareness, "AWARENESS"}, {store.AdGoalVideoViews, "VIDEO_COMPLETION"},
		},
		CallsToAction: []string{
			"GET_OFFER", "LEARN_MORE", "ORDER_NOW", "SHOP_NOW", "SIGN_UP", "SUBSCRIBE", "BUY_NOW", "CONTACT_US", "GET_QUOTE",
			"VISIT_SITE", "APPLY_NOW", "BOOK_NOW", "REQUEST_DEMO", "REGISTER_NOW", "FIND_A_DEALER", "ADD_TO_CART",
			"WATCH_NOW", "READ_MORE", "BUY_TICKETS", "DONATE_NOW", "DOWNLOAD", "EXPLORE_MORE", "FIND_A_LOCATION",
			"GET_DEAL", "GET_RECIPE", "GET_SHOWTIMES", "ON_SALE", "PLAY_GAME", "TRY_IT",
		},
		AudienceTypes: everyAudienceType,
		Bids:          bids("AUTOMATIC_BID", "MAX_BID", "TARGET_AVG", ""),
		BudgetLevels:  eitherLevel, MinimumDailyBudget: 5 * store.AdUnit,
		Money: MoneyMicros, currencies: pinterestCurrencies,
		PauseLevels: everyLevel, Switch: Switch{"ACTIVE", "PAUSED"}, StatusBatch: 30,
		Creative: CreativeRules{
			Required: []string{"headline", "body", "image_url"}, Limits: map[string]int{"headline": 100, "body": 500},
		},
		Users:        UserRules{Identifiers: emailOnly},
		UsersPerCall: 10_000,
	}
}

// googleCaps returns the capabilities of Google Ads.
func googleCaps() Caps {
	return Caps{
		Platform: store.PlatformGoogle, Verified: VerifiedNone, Reconcile: ReconcileNone,
		Objectives: []Objective{
			{store.AdGoalTraffic, "DISPLAY"}, {store.AdGoalEngagement, "DEMAND_GEN"}, {store.AdGoalAwareness, "DISPLAY"},
			{store.AdGoalVideoViews, "VIDEO"},
		},
		CallsToAction: callsToAction,
		AudienceTypes: []store.AudienceType{store.AudienceTypeCustomerList, store.AudienceTypeRetargeting},
		Bids:          bids("TARGET_SPEND", "MANUAL_CPC", "TARGET_CPA", "TARGET_ROAS"),
		BudgetLevels:  []store.BudgetLevel{store.BudgetLevelCampaign}, MinimumDailyBudget: 1 * store.AdUnit,
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
		Platform: store.PlatformTwitter, Verified: VerifiedNone, Reconcile: ReconcileNone,
		Objectives: []Objective{
			{store.AdGoalEngagement, "ENGAGEMENTS"}, {store.AdGoalTraffic, "WEBSITE_CLICKS"}, {store.AdGoalAwareness, "REACH"},
			{store.AdGoalVideoViews, "VIDEO_VIEWS"}, {store.AdGoalAppPromotion, "APP_INSTALLS"},
		},
		CallsToAction: callsToAction,
		AudienceTypes: []store.AudienceType{store.AudienceTypeCustomerList, store.AudienceTypeRetargeting},
		Bids:          bids("AUTO", "MAX", "TARGET", ""),
		BudgetLevels:  eitherLevel, MinimumDailyBudget: 1 * store.AdUnit,
		Money: MoneyMicros, currencies: commonCurrencies(),
		PauseLevels: []store.AdLevel{store.AdLevelCampaign, store.AdLevelGroup}, Switch: Switch{"ACTIVE", "PAUSED"}, StatusBatch: 1,
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
	everyLevel        = []store.AdLevel{store.AdLevelCampaign, store.AdLevelGroup, store.AdLevelAd}
	eitherLevel       = []store.BudgetLevel{store.BudgetLevelGroup, store.BudgetLevelCampaign}
	everyAudienceType = []store.AudienceType{store.AudienceTypeCustomerList, store.AudienceTypeRetargeting, store.AudienceTypeLookalike}
	emailAndPhone     = []store.AdIdentifier{store.AdIdentifierEmail, store.AdIdentifierPhone}
	emailOnly         = []store.AdIdentifier{store.AdIdentifierEmail}
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
		{store.BidStrategyLowestCost, lowestCost, nil, []string{fieldBidAmount, fieldRoasFloor}},
		{store.BidStrategyBidCap, bidCap, amount, floor},
		{store.BidStrategyCostCap, costCap, amount, floor},
		{store.BidStrategyMinROAS, minROAS, floor, amount},
	}, func(rule BidRule) bool { return rule.Word == "" })
}
