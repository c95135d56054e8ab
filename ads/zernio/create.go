package zernio

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/store/core"
)

// newAd is an ad as Zernio takes it, with the campaign and the ad group that are made for it, or that it joins.
type newAd struct {
	AccountID    string `json:"accountId"`
	AdAccountID  string `json:"adAccountId"`
	Name         string `json:"name"`
	CampaignName string `json:"campaignName,omitempty"`
	AdSetName    string `json:"adSetName,omitempty"`
	AdSetID      string `json:"adSetId,omitempty"`
	Goal         string `json:"goal,omitempty"`
	Status       string `json:"status,omitempty"`
	Currency     string `json:"currency,omitempty"`

	BudgetAmount json.Number `json:"budgetAmount,omitempty"` // whole units
	BudgetType   string      `json:"budgetType,omitempty"`
	BudgetLevel  string      `json:"budgetLevel,omitempty"`
	Start        string      `json:"startDate,omitempty"`
	End          string      `json:"endDate,omitempty"`
	flatBid
	Platform any `json:"platformSpecificData,omitempty"`

	shown
	Creatives []namedShown `json:"creatives,omitempty"`
	Cards     []card       `json:"carouselCards,omitempty"`

	Targeting         map[string]json.RawMessage `json:"targeting,omitempty"`
	Placements        *placements                `json:"placements,omitempty"`
	Advantage         *int                       `json:"advantageAudience,omitempty"`
	Categories        []string                   `json:"specialAdCategories,omitempty"`
	CategoryCountries []string                   `json:"specialAdCategoryCountry,omitempty"`
	Beneficiary       string                     `json:"dsaBeneficiary,omitempty"`
	Payor             string                     `json:"dsaPayor,omitempty"`
	Promoted          map[string]any             `json:"promotedObject,omitempty"`
	FormID            string                     `json:"leadGenFormId,omitempty"`
	CampaignType      string                     `json:"campaignType,omitempty"`
	Keywords          []string                   `json:"keywords,omitempty"`
	NegativeKeywords  []string                   `json:"negativeKeywords,omitempty"`
}

// flatBid is a bid where it stands beside the rest. Meta's stands in an object of its own.
type flatBid struct {
	Strategy string      `json:"bidStrategy,omitempty"`
	Amount   json.Number `json:"bidAmount,omitempty"`
	Floor    json.Number `json:"roasAverageFloor,omitempty"`
}

// Check implements ads.Checker.
func (d *Driver) Check(p ads.Plan) error {
	_, _, err := d.order(ads.Conn{}, p)
	return err
}

// order returns the path and the body of the request that makes what a plan says.
func (d *Driver) order(c ads.Conn, p ads.Plan) (at string, body any, err error) {
	if p.Post != nil {
		body, err = d.newBoost(c, p)
		return path("ads", "boost"), body, err
	}
	body, err = d.newAd(c, p)
	return path("ads", "create"), body, err
}

// newAd returns what makes an ad with creatives of its own, or the reason why Zernio has no way to make it.
func (d *Driver) newAd(c ads.Conn, p ads.Plan) (newAd, error) {
	w := newAd{AccountID: c.PlatformID, AdAccountID: p.AdAccount.PlatformID, Name: p.Name}
	switch paused := p.Configured == advert.ConfiguredPaused; {
	case d.isMeta(), d.platform == advert.PlatformTikTok:
		w.Status = d.caps.SwitchWord(p.Configured)
	case paused:
		return w, refused("status", "Through Zernio an ad on %s begins at once. Send status active.", d.platform)
	}
	if err := d.creatives(&w, p); err != nil {
		return w, err
	}
	if p.AdGroupID != "" {
		w.AdSetID = p.AdGroupID
		return w, d.joins(p)
	}
	if d.isMeta() {
		w.CampaignName, w.AdSetName, w.Currency = p.Name, p.Name, strings.ToUpper(p.AdAccount.Currency)
		w.BudgetLevel = "adset"
		if p.BudgetLevel == advert.BudgetLevelCampaign {
			w.BudgetLevel = "campaign"
		}
	}
	for _, fill := range []func(*newAd, ads.Plan) error{d.money, d.schedule, d.reaches, d.promotes} {
		if err := fill(&w, p); err != nil {
			return w, err
		}
	}
	w.Goal, w.Categories, w.CategoryCountries, w.Beneficiary, w.Payor = string(p.Goal), p.Categories, p.CategoryCountries, p.DSABeneficiary, p.DSAPayor
	return w, nil
}

// joins returns why an ad cannot join an ad group that is there.
func (d *Driver) joins(p ads.Plan) error {
	if !d.isMeta() && d.platform != advert.PlatformTikTok && d.platform != advert.PlatformLinkedIn {
		return refused("ad_group_id", "Through Zernio no ad joins an ad group on %s. Leave ad_group_id out, and a new one is made.", d.platform)
	}
	if len(p.Creatives) > 0 {
		return refused("creatives", "Through Zernio one ad at a time joins an ad group. Send its fields beside the name.")
	}
	return nil
}

// money fills in the budget and the bid.
func (d *Driver) money(w *newAd, p ads.Plan) error {
	amount, err := d.wire("budget_amount", p.BudgetAmount, p.AdAccount.Currency)
	if err != nil {
		return err
	}
	w.BudgetAmount, w.BudgetType = amount, string(p.BudgetType)
	bid, err := d.bid(ads.Bid{Strategy: p.BidStrategy, Amount: p.BidAmount, RoasFloor: p.RoasFloor}, p.AdAccount.Currency)
	if err != nil || bid == (flatBid{}) {
		return err
	}
	if d.isMeta() {
		w.Platform = bid
	} else {
		w.flatBid = bid
	}
	return nil
}

// bid writes a bid.
func (d *Driver) bid(b ads.Bid, currency string) (flatBid, error) {
	if b.Strategy == "" && b.Amount == 0 && b.RoasFloor == 0 {
		return flatBid{}, nil
	}
	rule, known := d.caps.Bid(b.Strategy)
	if !known && b.Strategy != "" {
		return flatBid{}, refused("bid_strategy", "Zernio passes no bid strategy on to %s. Leave it out.", d.platform)
	}
	w := flatBid{Strategy: rule.Word}
	if b.RoasFloor != 0 {
		w.Floor = json.Number(b.RoasFloor.String())
	}
	if b.Amount == 0 {
		return w, nil
	}
	var err error
	w.Amount, err = d.wire("bid_amount", b.Amount, currency)
	return w, err
}

// wire writes an amount. One that the network does not take is *ads.Rejected on the field.
func (d *Driver) wire(field string, amount advert.Amount, currency string) (json.Number, error) {
	text, err := d.caps.Wire(amount, currency)
	if err != nil {
		return "", refused(field, "%s %s.", field, err)
	}
	return json.Number(text), nil
}

// schedule fills in when the ad runs.
func (d *Driver) schedule(w *newAd, p ads.Plan) error {
	if p.StartsAt != nil && !d.isMeta() {
		return refused("start_date", "Through Zernio an ad on %s begins at once. Leave start_date out.", d.platform)
	}
	w.Start, w.End = moment(p.StartsAt), moment(p.EndsAt)
	return nil
}

// moment writes a time, "" for none.
func moment(at *core.Time) string {
	if at == nil {
		return ""
	}
	return at.Time().UTC().Format(time.RFC3339)
}

// reaches fills in whom the ad is shown to, and where.
func (d *Driver) reaches(w *newAd, p ads.Plan) (err error) {
	if w.Targeting, err = spoken(p.PlatformTargeting); err != nil {
		return err
	}
	w.Placements = d.placed(p.Targeting)
	if d.isMeta() {
		w.Advantage = new(0)
		if p.Targeting.Expand {
			w.Advantage = new(1)
		}
	}
	if d.platform != advert.PlatformGoogle {
		return nil
	}
	if w.Keywords, w.NegativeKeywords, err = keywordsOf(p.PlatformTargeting); err != nil {
		return err
	}
	if len(w.Keywords) == 0 {
		return refused("platform_targeting.keywords", "Through Zernio an ad on google is one for a search: send the keywords as platform_targeting.keywords.")
	}
	w.CampaignType = "search"
	return nil
}

// promotedWords are Zernio's words for the keys of a promoted object. A form is no part of it there.
var promotedWords = map[string]string{
	"pixel_id": "pixelId", "custom_event_type": "customEventType", "custom_event_str": "customEventStr", "page_id": "pageId",
	"application_id": "applicationId", "object_store_url": "objectStoreUrl", "custom_conversion_id": "customConversionId",
	"product_catalog_id": "productCatalogId", "product_set_id": "productSetId",
}

// promotes fills in the promoted object.
func (d *Driver) promotes(w *newAd, p ads.Plan) error {
	object := map[string]any{}
	if p.PromotedObject.Decode(&object) != nil {
		return refused("promoted_object", "Send the promoted object as a JSON object.")
	}
	if len(object) > 0 && !d.isMeta() && p.Goal != advert.GoalConversions {
		return refused("promoted_object", "On %s %s promotes nothing. Leave promoted_object out.", d.platform, p.Goal)
	}
	for name, value := range object {
		text, isText := value.(string)
		if name == "lead_gen_form_id" && isText {
			w.FormID = text
			continue
		}
		word := promotedWords[name]
		if word == "" {
			return refused("promoted_object."+name, "Zernio passes on no %s.", name)
		}
		if w.Promoted == nil {
			w.Promoted = map[string]any{}
		}
		w.Promoted[word] = value
	}
	return nil
}

// Create implements ads.Network. It is one request, which Zernio carries out or undoes as a whole, and once for its key. Whoever asks again with the
// same plan gets the same answer.
func (d *Driver) Create(ctx context.Context, c ads.Conn, p ads.Plan) (ads.Created, error) {
	ctx, cancel := d.bound(ctx)
	defer cancel()
	if _, err := of(c); err != nil {
		return ads.Created{}, err
	}
	at, body, err := d.order(c, p)
	if err != nil {
		return ads.Created{}, err
	}
	var answer struct {
		Ad  *ad  `json:"ad"`
		Ads []ad `json:"ads"` // instead, of several creatives
	}
	r := request{method: http.MethodPost, path: at, body: body, key: p.Token}
	if err := d.write(ctx, r, &answer); err != nil {
		return ads.Created{}, err
	}
	if answer.Ad != nil {
		answer.Ads = append(answer.Ads, *answer.Ad)
	}
	made, err := d.created(p, answer.Ads)
	if err != nil {
		return made, d.failure(r, ads.ErrIndeterminate, err)
	}
	return made, nil
}

// created returns the rows of what a plan has made. Zernio answers with ads alone: the rest is as it was planned.
func (d *Driver) created(p ads.Plan, wire []ad) (ads.Created, error) {
	planned := p.Ads()
	if len(wire) != len(planned) {
		return ads.Created{}, fmt.Errorf("the answer has %d ads, not %d", len(wire), len(planned))
	}
	var made ads.Created
	for i, w := range wire {
		if w.ID == "" || w.CampaignID == "" || w.AdSetID == "" {
			return made, fmt.Errorf("the answer says of an ad no id, or not what it is in")
		}
		row := d.adRow(w)
		row.Name = planned[i].Name
		if i == 0 {
			made.Ad = &row
			continue
		}
		if made.More == nil {
			made.More = map[string]*advert.Ad{}
		}
		made.More[planned[i].Token] = &row
	}
	if p.AdGroupID == "" {
		made.Campaign, made.Group = d.parents(p, wire[0])
	}
	return made, nil
}

// parents returns the rows of the campaign and the ad group that were made for an ad. On Meta the campaign alone holds a pause.
func (d *Driver) parents(p ads.Plan, w ad) (*advert.Campaign, *advert.Group) {
	status, review := statusOf(w.Status), reviewOf(w.Review, statusOf(w.Status))
	c := &advert.Campaign{
		PlatformID: w.CampaignID, Name: orDefault(w.CampaignName, p.Name), ConfiguredStatus: p.Configured, Status: status, ReviewStatus: review,
		PlatformStatus: w.Status, Goal: p.Goal, Objective: orDefault(w.Objective, string(p.Goal)), BudgetLevel: p.BudgetLevel, StartsAt: p.StartsAt, EndsAt: p.EndsAt,
	}
	g := &advert.Group{
		PlatformID: w.AdSetID, CampaignID: w.CampaignID, Name: orDefault(w.AdSetName, p.Name), ConfiguredStatus: p.Configured, Status: status,
		ReviewStatus: review, PlatformStatus: w.Status, Goal: p.Goal, OptimizationGoal: w.Optimization, Targeting: advert.NewObject(p.Targeting),
		PlatformTargeting: p.PlatformTargeting, PromotedObject: p.PromotedObject, StartsAt: p.StartsAt, EndsAt: p.EndsAt,
	}
	if d.isMeta() {
		g.ConfiguredStatus = advert.ConfiguredActive
	}
	if p.BudgetLevel == advert.BudgetLevelCampaign {
		c.BudgetAmount, c.BudgetType, c.BidStrategy, c.BidAmount, c.RoasFloor = p.BudgetAmount, p.BudgetType, p.BidStrategy, p.BidAmount, p.RoasFloor
	} else {
		g.BudgetAmount, g.BudgetType, g.BidStrategy, g.BidAmount, g.RoasFloor = p.BudgetAmount, p.BudgetType, p.BidStrategy, p.BidAmount, p.RoasFloor
	}
	return c, g
}

// Find implements ads.Network. Zernio keeps no token where it could be looked for.
func (d *Driver) Find(context.Context, ads.Conn, string, string) (ads.Created, bool, error) {
	return ads.Created{}, false, fmt.Errorf("zernio: %w: no token can be looked for", ads.ErrIndeterminate)
}

// TidyNames implements ads.Network. No name has a token.
func (d *Driver) TidyNames(context.Context, ads.Conn, string, []ads.MadeName) error { return nil }

// UploadVideo implements ads.Network. Zernio fetches a video while it makes the ad, so that nothing is done before.
func (d *Driver) UploadVideo(_ context.Context, _ ads.Conn, _, address string) (string, error) {
	return address, nil
}

// VideoReady implements ads.Network.
func (d *Driver) VideoReady(context.Context, ads.Conn, string, string) (bool, error) {
	return true, nil
}
