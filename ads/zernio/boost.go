package zernio

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store/advert"
)

// newBoost is an ad of a post as Zernio takes it.
type newBoost struct {
	AccountID         string                     `json:"accountId"`
	AdAccountID       string                     `json:"adAccountId"`
	PostID            string                     `json:"platformPostId"`
	Name              string                     `json:"name"`
	Goal              string                     `json:"goal"`
	Budget            budget                     `json:"budget"`
	Currency          string                     `json:"currency,omitempty"`
	Schedule          *schedule                  `json:"schedule,omitempty"`
	Targeting         map[string]json.RawMessage `json:"targeting,omitempty"`
	Platform          any                        `json:"platformSpecificData,omitempty"`
	Categories        []string                   `json:"specialAdCategories,omitempty"`
	CategoryCountries []string                   `json:"specialAdCategoryCountry,omitempty"`
	Beneficiary       string                     `json:"dsaBeneficiary,omitempty"`
	Payor             string                     `json:"dsaPayor,omitempty"`
	flatBid
}

type budget struct {
	Amount json.Number `json:"amount"`
	Type   string      `json:"type"`
}

type schedule struct {
	Start string `json:"startDate,omitempty"`
	End   string `json:"endDate,omitempty"`
}

// boostWords are the words of a targeting that a boost has, by Zernio's name. It has fewer than an ad with a creative.
var boostWords = []string{"ageMin", "ageMax", "gender", "languages", "countries", "regions", "cities", "zips", "metros", "customLocations", "interests"}

// unboosted are our words for those that it has not.
var unboosted = map[string]string{
	"excludedLocations": "targeting.excluded", "behaviors": "targeting.behaviors", "audienceInclude": "targeting.audiences.include", "audienceExclude": "targeting.audiences.exclude",
}

// newBoost returns what makes an ad of a post, or the reason why Zernio has no way to make it.
func (d *Driver) newBoost(c ads.Conn, p ads.Plan) (newBoost, error) {
	w := newBoost{
		AccountID: c.PlatformID, AdAccountID: p.AdAccount.PlatformID, PostID: p.Post.PlatformID, Name: p.Name, Goal: string(p.Goal),
		Categories: p.Categories, CategoryCountries: p.CategoryCountries, Beneficiary: p.DSABeneficiary, Payor: p.DSAPayor,
	}
	switch {
	case p.Configured == advert.ConfiguredPaused:
		return w, refused("status", "Through Zernio a boost begins at once. Send status active.")
	case p.BudgetLevel == advert.BudgetLevelCampaign && d.isMeta():
		return w, refused("budget_level", "Through Zernio the ad group of a boost has the budget. Send budget_level ad_group.")
	case p.PromotedObject != "" && p.PromotedObject != "{}":
		return w, refused("promoted_object", "Through Zernio a boost promotes nothing but its post. Leave promoted_object out.")
	case len(p.Targeting.Placements)+len(p.Targeting.Devices) > 0:
		return w, refused("targeting.placements", "Through Zernio the network chooses where a boost is shown. Leave placements and devices out.")
	}
	var err error
	if w.Budget.Amount, err = d.wire("budget.amount", p.BudgetAmount, p.AdAccount.Currency); err != nil {
		return w, err
	}
	w.Budget.Type = string(p.BudgetType)
	if d.isMeta() {
		w.Currency = strings.ToUpper(p.AdAccount.Currency)
	}
	if p.StartsAt != nil || p.EndsAt != nil {
		w.Schedule = &schedule{moment(p.StartsAt), moment(p.EndsAt)}
	}
	bid, err := d.bid(ads.Bid{Strategy: p.BidStrategy, Amount: p.BidAmount, RoasFloor: p.RoasFloor}, p.AdAccount.Currency)
	switch {
	case err != nil:
		return w, err
	case bid == flatBid{}:
	case d.isMeta():
		w.Platform = bid
	default:
		w.flatBid = bid
	}
	w.Targeting, err = d.boosted(p)
	return w, err
}

// boosted returns the targeting of a boost.
func (d *Driver) boosted(p ads.Plan) (map[string]json.RawMessage, error) {
	all, err := spoken(p.PlatformTargeting)
	if err != nil {
		return nil, err
	}
	for word := range all {
		if field := unboosted[word]; field != "" {
			return nil, refused(field, "Through Zernio a boost cannot be narrowed by that. Leave it out, or make an ad with POST /ads.")
		} else if !slices.Contains(boostWords, word) {
			return nil, refused("platform_targeting."+word, "A boost has no such word. It has: %s.", strings.Join(boostWords, ", "))
		}
	}
	if !d.isMeta() {
		delete(all, "languages")
		if len(p.Targeting.Languages) > 0 {
			return nil, refused("targeting.languages", "Through Zernio a boost on %s cannot be narrowed by languages. Leave them out.", d.platform)
		}
	}
	for i, interest := range p.Targeting.Interests {
		if interest.Name == "" {
			return nil, refused("targeting.interests", "Through Zernio the interests of a boost have names: send that of number %d too, as the search returns it.", i)
		}
	}
	if d.isMeta() && len(p.Targeting.Languages) > 0 { // which here are Meta's ids
		if all["languages"], err = d.languageIDs(p.Targeting.Languages); err != nil {
			return nil, err
		}
	}
	if p.Targeting.Expand {
		all["advantage_audience"] = json.RawMessage("1")
	}
	return all, nil
}

// languageIDs returns Meta's ids of languages.
func (d *Driver) languageIDs(codes []string) (json.RawMessage, error) {
	known := ads.CapsOf(d.platform).Targeting.Languages
	var ids []string
	for _, code := range codes {
		id := known[strings.ToLower(code)]
		if id == "" {
			return nil, refused("targeting.languages", "Meta has no language %.20q that a boost can be narrowed by.", code)
		}
		ids = append(ids, id)
	}
	return json.Marshal(ids)
}
