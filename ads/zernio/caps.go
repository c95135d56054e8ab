package zernio

import (
	"slices"
	"time"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store/advert"
)

// keyLife is for how long Zernio answers a request with the same key as before, less an hour for clocks that differ.
const keyLife = 23 * time.Hour

// figureDays is how many days ago the first figures may be.
const figureDays = 730

// capsOf returns the capabilities of a platform, narrowed to what Zernio passes on. It takes whole currency units and has goals and states
// in words of its own, which are ours.
func capsOf(p advert.Platform) ads.Caps {
	c := ads.CapsOf(p)
	c.Verified, c.Reconcile, c.RepeatFor = ads.VerifiedSpec, ads.ReconcileRepeat, keyLife
	c.Money = ads.MoneyWhole
	c.PauseLevels, c.Switch, c.StatusBatch = []advert.Level{advert.LevelCampaign, advert.LevelGroup, advert.LevelAd}, ads.Switch{Active: "ACTIVE", Paused: "PAUSED"}, 1
	c.Places = []string{"countries", "regions", "cities", "zips", "metros", "customLocations"}
	c.Figures = ads.Figures{Days: figureDays}
	c.Conversions, c.Previews = ads.ConversionRules{}, nil // a conversion is told by plain addresses, which are not stored here
	c.UserRemoval = false
	narrow(&c)
	c.Objectives = objectives(c.Goals())
	return c
}

// objectives are goals in Zernio's words.
func objectives(goals []advert.Goal) []ads.Objective {
	all := make([]ads.Objective, len(goals))
	for i, g := range goals {
		all[i] = ads.Objective{Goal: g, Word: string(g)}
	}
	return all
}

// narrow takes away what Zernio does not pass on to a network, as its description says field by field. Audiences made of people's addresses
// are not offered anywhere: Zernio hashes addresses itself, and we have only hashes.
func narrow(c *ads.Caps) {
	if c.Platform == advert.PlatformFacebook || c.Platform == advert.PlatformInstagram {
		c.AudienceTypes = []advert.AudienceType{advert.AudienceTypeRetargeting, advert.AudienceTypeLookalike}
		// A boost has no promoted object, and no form.
		c.NeverBoost = []advert.Goal{advert.GoalLeadGeneration, advert.GoalLeadConversion, advert.GoalConversions, advert.GoalAppPromotion, advert.GoalCatalogSales}
		c.Targeting.Excluded = []string{"countries", "regions", "cities", "zips"}
		c.Targeting.Languages = nil // Zernio takes codes
		c.SearchTypes = without(c.SearchTypes, ads.SearchLanguage)
		c.Media.VideoCards = false
		return
	}
	c.AudienceTypes, c.DefaultBid, c.Promoted = nil, "", nil
	c.BudgetLevels = []advert.BudgetLevel{advert.BudgetLevelGroup}
	c.Targeting.Categories, c.Targeting.DSA = nil, false
	c.Media.Replace = false
	keep := []advert.Goal{advert.GoalTraffic, advert.GoalEngagement, advert.GoalAwareness, advert.GoalVideoViews}
	switch c.Platform {
	case advert.PlatformTikTok:
		keep = append(keep, advert.GoalConversions)
		c.NeverBoost = []advert.Goal{advert.GoalConversions}
		c.Promoted = map[advert.Goal]ads.Promoted{advert.GoalConversions: {Requires: [][]string{{"pixel_id"}}}}
		c.Bids = ads.CapsOf(advert.PlatformFacebook).Bids
		words(c, "cities", "zips", "metros", "regions", "age_min", "age_max", "genders", "languages", "interests", "behaviors")
		c.SearchTypes = []string{ads.SearchCountry, ads.SearchRegion, ads.SearchCity, ads.SearchMetro, ads.SearchInterest, ads.SearchBehavior}
		c.Creative.Required = []string{"body", "link_url"}
		c.Media.Replace = true
	case advert.PlatformLinkedIn:
		c.Bids = nil
		words(c, "regions")
		c.SearchTypes = []string{ads.SearchRegion}
	case advert.PlatformPinterest:
		c.Bids, c.VideoGoals, c.BoostOnly = nil, nil, []advert.Goal{advert.GoalVideoViews}
		words(c, "regions", "zips", "age_min", "age_max", "genders", "interests")
		c.Targeting.Genders = []string{"female", "male"}
		c.SearchTypes = []string{ads.SearchCountry, ads.SearchRegion, ads.SearchInterest}
		c.Creative.Ignored = append(c.Creative.Ignored, "call_to_action")
		c.Creative.Required = []string{"headline", "body", "link_url"}
		c.Media = ads.MediaRules{Kinds: []ads.Medium{ads.MediumImage}}
	case advert.PlatformGoogle:
		// Its display ads need an image in two shapes, of which we have one. What is left are search ads, by their keywords.
		keep = keep[:1]
		c.BudgetLevels, c.BoostOnly = []advert.BudgetLevel{advert.BudgetLevelCampaign}, nil
		c.NeverBoost, c.Bids = keep, nil
		words(c)
		c.SearchTypes = []string{ads.SearchCountry}
		c.Creative.Ignored = []string{"description", "call_to_action"}
		c.Creative.Required = []string{"headline", "body", "link_url"}
		c.Media = ads.MediaRules{IsOptional: true}
	default: // Twitter
		c.Bids, c.VideoGoals, c.BoostOnly = nil, nil, []advert.Goal{advert.GoalVideoViews}
		words(c, "zips")
		c.SearchTypes = nil
		c.Media = ads.MediaRules{IsOptional: true}
	}
	c.Objectives = slices.DeleteFunc(c.Objectives, func(o ads.Objective) bool { return !slices.Contains(keep, o.Goal) })
}

// words sets the words besides countries that a targeting can have.
func words(c *ads.Caps, more ...string) {
	c.Targeting.Words = append([]string{"countries"}, more...)
	c.Targeting.Excluded = nil
	if len(more) == 0 || !slices.Contains(more, "age_min") {
		c.Targeting.Youngest, c.Targeting.Bands = 0, nil
	}
}

func without(all []string, word string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(one string) bool { return one == word })
}
