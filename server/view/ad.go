package view

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/gen/api"
	"github.com/tillwright/tillwright/sdk/wire"
	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/store/core"
)

// CursorList renders a page of the list at url.
func CursorList[R, W any](url string, page *advert.List[R], render func(*R) W) wire.CursorList[W] {
	list := List(url, page.Items, page.HasMore, render)
	return wire.CursorList[W]{Object: list.Object, Data: list.Data, HasMore: list.HasMore, URL: list.URL, NextCursor: textOrNil(page.NextCursor)}
}

// AdOutcome renders what was created: an ad, with all of those that were made together with it.
func AdOutcome(out *ads.AdOutcome) api.Ad {
	first := Ad(out.Ad)
	for _, one := range out.Ads {
		first.Ads = append(first.Ads, Ad(one))
	}
	return first
}

// Ad renders an ad with what its network reports. Its budget, bid and schedule are those of its ad group or its campaign.
func Ad(shown *ads.ShownAd) api.Ad {
	a := &shown.Row
	group, campaign, account := cmp.Or(a.Group, &advert.Group{}), cmp.Or(a.Campaign, &advert.Campaign{}), cmp.Or(a.AdAccount, &advert.Account{}) // networks tell of ads alone, too
	spending, kind := group.BudgetAmount, group.BudgetType
	if campaign.BudgetLevel == advert.BudgetLevelCampaign {
		spending, kind = campaign.BudgetAmount, campaign.BudgetType
	}
	return api.Ad{
		ID:                   a.PlatformID,
		Object:               "ad",
		Name:                 a.Name,
		Platform:             api.AdPlatform(a.Platform),
		AccountID:            a.ChannelID,
		AdAccountID:          a.AdAccountID,
		CampaignID:           a.CampaignID,
		CampaignName:         campaign.Name,
		AdGroupID:            a.AdGroupID,
		AdGroupName:          group.Name,
		Status:               api.AdStatus(shown.Status),
		ConfiguredStatus:     api.AdConfiguredStatus(a.ConfiguredStatus),
		ReviewStatus:         word[api.AdReviewStatus](a.ReviewStatus),
		RejectionReason:      textOrNil(a.RejectionReason),
		AdType:               api.AdAdType(cmp.Or(a.Type, advert.TypeStandalone)),
		Goal:                 word[api.AdGoal](cmp.Or(a.Goal, group.Goal, campaign.Goal)),
		Source:               api.AdSource(a.Source),
		IsExternal:           a.Source == advert.SourceExternal,
		PostID:               textOrNil(cmp.Or(a.PostID, a.PlatformPostID)),
		PlatformPostID:       textOrNil(a.PlatformPostID),
		Budget:               budget(spending, kind, account.Currency),
		BudgetLevel:          budgetLevel(campaign),
		Currency:             account.Currency,
		BidStrategy:          textOrNil(cmp.Or(group.BidStrategy, campaign.BidStrategy)),
		BidAmount:            amountOrNull(cmp.Or(group.BidAmount, campaign.BidAmount)),
		Creative:             creative(a.Creative.V),
		Schedule:             schedule(latest(group.StartsAt, campaign.StartsAt), earliest(group.EndsAt, campaign.EndsAt), account),
		PlatformStatus:       a.PlatformStatus,
		Metrics:              metrics(shown),
		Warnings:             list(shown.Warnings),
		CreatedAt:            at(a.CreatedAt),
		UpdatedAt:            at(a.UpdatedAt),
		PlatformCreatedAt:    atOrNull(a.PlatformCreatedAt),
		Ads:                  nil, // AdOutcome adds those that were made together
		AdditionalProperties: extras(a.Extra),
	}
}

func budgetLevel(c *advert.Campaign) api.AdBudgetLevel {
	return api.AdBudgetLevel(cmp.Or(c.BudgetLevel, advert.BudgetLevelGroup))
}

// latest returns the later of two moments, either of which may be absent. An ad begins when its campaign and its group both
// have.
func latest(a, b *core.Time) *core.Time {
	if a == nil || b != nil && *b > *a {
		return b
	}
	return a
}

// earliest returns the earlier of two moments, either of which may be absent. An ad ends when its campaign or its group does.
func earliest(a, b *core.Time) *core.Time {
	if a == nil || b != nil && *b < *a {
		return b
	}
	return a
}

// adFields maps the names of an ad's own fields, folded, to the names themselves. createFields does the same for the fields
// that a create reads, by their letters alone. Neither is ever changed.
var (
	adFields     = fieldNames(reflect.TypeFor[api.Ad](), folded)
	createFields = fieldNames(reflect.TypeFor[api.AdCreate](), lettersOf)
)

// fieldNames returns the JSON names of a struct's fields, each under its form, which is what form makes of the name.
func fieldNames(object reflect.Type, form func(name string) string) map[string]string {
	names := map[string]string{}
	for field := range object.Fields() {
		if name, _, _ := strings.Cut(field.Tag.Get("json"), ","); name != "-" { // the map of fields that the specification does not name
			names[form(name)] = name
		}
	}
	return names
}

// folded returns a name without the difference between upper and lower case. Programs that ignore case, such as JSON readers in
// Go, take status, Status and ſtatus for the same field.
func folded(name string) string { return strings.ToLower(strings.ToUpper(name)) }

// lettersOf returns what different spellings of a name have in common, such as budget_amount, budgetAmount and Budget-Amount.
func lettersOf(name string) string {
	return strings.NewReplacer("_", "", "-", "", ".", "", " ", "").Replace(folded(name))
}

// extras returns the fields that the caller sent with a new ad and that no ad has. One that has the name of an ad's own field,
// in any case, is left out: it would replace that.
func extras(o advert.Object) map[string]json.RawMessage {
	fields := map[string]json.RawMessage{}
	if o == "" || o.Decode(&fields) != nil {
		return nil
	}
	for name := range fields {
		if adFields[folded(name)] != "" {
			delete(fields, name)
		}
	}
	return fields
}

// ListAds reads the query of a list.
func ListAds(q api.ListAdsParams) ads.ListAds {
	return ads.ListAds{
		AccountID: value(q.AccountID), AdAccountID: value(q.AdAccountID), Platform: string(value(q.Platform)), Status: statuses(q.Status),
		CampaignID: value(q.CampaignID), Source: string(value(q.Source)), From: value(q.From), To: value(q.To),
		Paging: paging(q.Limit, q.Page, q.Cursor),
	}
}

// paging reads the position in a list of ads. The specification bounds what is sent; absent is 0.
func paging(limit, page *int64, cursor *string) ads.Paging {
	return ads.Paging{Limit: int(value(limit)), Page: int(value(page)), Cursor: value(cursor)}
}

// statuses joins statuses with commas, as they came in the query.
func statuses(s []api.AdStatus) string {
	return strings.Join(mapped(s, func(one api.AdStatus) string { return string(one) }), ",")
}

// keep returns which of the unknown fields of a new ad are kept with it, and a warning for each of them. None of them sets
// anything. One that has the name of an ad's own field is not kept.
func keep(extra map[string]any) (kept map[string]any, warnings []string) {
	kept = map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(extra)) {
		warning := `"` + shortened(name) + `" `
		if own := adFields[folded(name)]; own != "" {
			warning += "was ignored: an ad has a field " + own + " itself."
		} else {
			kept[name] = extra[name]
			warning += "is no field of a new ad: it is kept and shown with it, and not sent to the network."
		}
		if field := createFields[lettersOf(name)]; field != "" {
			warning += " It does not set " + field + "."
		}
		warnings = append(warnings, warning)
	}
	return kept, warnings
}

// shortened cuts a word that a client sent to a hundred characters.
func shortened(word string) string {
	if begin := fmt.Sprintf("%.100s", word); begin != word {
		return begin + "…"
	}
	return word
}

// NewAd reads the body of a create. Extra are the fields that the specification does not name.
func NewAd(b *api.AdCreate, extra map[string]any, dryRun *bool) ads.CreateAd {
	kept, warnings := keep(extra)
	return ads.CreateAd{
		AccountID: b.AccountID, AdAccountID: b.AdAccountID, Platform: string(value(b.Platform)), Name: b.Name, Goal: string(value(b.Goal)),
		Status: string(value(b.Status)), Currency: value(b.Currency),
		BudgetAmount: string(value(b.BudgetAmount)), BudgetType: string(value(b.BudgetType)), BudgetLevel: string(value(b.BudgetLevel)),
		StartDate: value(b.StartDate), EndDate: value(b.EndDate), AdGroupID: value(b.AdGroupID), CampaignID: value(b.CampaignID),
		Creative: wantedCreative(&api.AdCreativeInput{
			Headline: b.Headline, Body: b.Body, Description: b.Description, CallToAction: b.CallToAction, LinkURL: b.LinkURL, ImageURL: b.ImageURL,
			VideoURL: b.VideoURL, ThumbnailURL: b.ThumbnailURL, Cards: b.Cards,
		}),
		Creatives: mapped(b.Creatives, namedCreative),
		Bid:       bid(b.BidStrategy, b.BidAmount, b.ROASAverageFloor),
		Targeting: ads.TargetingInput{
			Targeting: adWords(b.Targeting), Beside: besideTargeting(b), Platform: adObject(b.PlatformTargeting), Categories: b.SpecialAdCategories,
			CategoryCountries: b.SpecialAdCountries, DSABeneficiary: value(b.DsaBeneficiary), DSAPayor: value(b.DsaPayor),
		},
		PromotedObject: adObject(b.PromotedObject), Extra: kept, Warnings: warnings, DryRun: value(dryRun),
	}
}

// AdChange reads the body of a change of an ad.
func AdChange(b *api.AdUpdate, dryRun *bool) ads.UpdateAd {
	change := ads.UpdateAd{Platform: string(value(b.Platform)), Name: value(b.Name), Status: string(value(b.Status)), DryRun: value(dryRun)}
	if b.Creative != nil {
		change.Creative = new(wantedCreative(b.Creative))
	}
	return change
}

// DeletedAd renders the confirmation of a delete.
func DeletedAd(d *ads.DeletedAd) api.DeletedAd {
	return api.DeletedAd{ID: d.ID, Object: "ad", Deleted: true, Platform: api.AdPlatform(d.Platform)}
}

// NewBoost reads the body of a boost.
func NewBoost(b *api.AdBoost, dryRun *bool) ads.BoostPost {
	boost := ads.BoostPost{
		AccountID: b.AccountID, AdAccountID: b.AdAccountID, Platform: string(value(b.Platform)), PostID: b.PostID, Name: b.Name, Goal: string(b.Goal),
		Status: string(value(b.Status)), Currency: value(b.Currency), StartDate: value(b.StartDate), EndDate: value(b.EndDate),
		BudgetLevel: string(value(b.BudgetLevel)), Budget: wanted(&b.Budget),
		Bid: bid(b.BidStrategy, b.BidAmount, b.ROASAverageFloor),
		Targeting: ads.TargetingInput{
			Targeting: adWords(b.Targeting), Platform: adObject(b.PlatformTargeting), Categories: b.SpecialAdCategories,
			CategoryCountries: b.SpecialAdCountries, DSABeneficiary: value(b.DsaBeneficiary), DSAPayor: value(b.DsaPayor),
		},
		PromotedObject: adObject(b.PromotedObject), DryRun: value(dryRun),
	}
	if b.DurationDays != nil {
		boost.DurationDays = new(int(*b.DurationDays))
	}
	return boost
}

func bid(strategy *string, amount, floor *json.Number) ads.BidInput {
	return ads.BidInput{Strategy: value(strategy), Amount: string(value(amount)), RoasFloor: string(value(floor))}
}

// adObject reads an object in a network's own words, empty for nil.
func adObject(sent *json.RawMessage) advert.Object {
	if sent == nil {
		return ""
	}
	return advert.NewObject(*sent)
}

// wanted reads the budget that is asked for, nil for none.
func wanted(b *api.AdBudgetInput) *ads.BudgetInput {
	if b == nil {
		return nil
	}
	return &ads.BudgetInput{Amount: string(b.Amount), Type: string(b.Type)}
}

// AdPlan renders what a dry run found out.
func AdPlan(p *ads.DryRun) api.AdPlan {
	return api.AdPlan{
		Object:      "ad_plan",
		Operation:   api.AdOperation(p.Operation),
		Platform:    word[api.AdPlatform](p.Platform),
		AccountID:   textOrNil(p.AccountID),
		AdAccountID: textOrNil(p.AdAccountID),
		Calls:       mapped(p.Calls, plannedCall),
		Figures:     mapped(p.Figures, adFigures),
		Warnings:    list(p.Warnings),
	}
}

func adFigures(f advert.Figures) api.AdFigures {
	return api.AdFigures{
		Currency: f.Currency, DailyCampaign: amount(f.Campaign), DailyTotalBefore: amount(f.TotalBefore), DailyTotal: amount(f.TotalAfter), Limit: adLimit(f.Limit),
	}
}

func plannedCall(c ads.PlannedCall) api.AdPlannedCall {
	return api.AdPlannedCall{Action: c.Action, ID: textOrNil(c.ID), Fields: object(c.Fields)}
}
