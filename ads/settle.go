package ads

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/store/core"
)

// SettleByHand is what a person has found out about an action whose network cannot be asked any more.
type SettleByHand struct {
	Done       bool
	PlatformID string // of what a create made: the ad, or the audience

	// Of an ad that the mirror does not have: what it is in, with the network's ids.
	CampaignID string
	AdGroupID  string
}

// Settlement is an action that is about to be settled by hand, with the outcome that Settle will store.
type Settlement struct {
	Action *advert.Action // as it is now
	out    advert.Outcome
}

// PlanSettlement returns what settling an action by hand would store, and writes nothing. It is CodeInvalid on state if
// the action has its outcome, or is said not to have been done while it may still take place. It is CodeInvalid on
// platform_id if the action created something and the id is missing, or created nothing and an id is sent.
func (s *Service) PlanSettlement(ctx context.Context, account, id string, in SettleByHand) (*Settlement, error) {
	action, err := s.store.GetAction(ctx, account, id)
	if err != nil {
		return nil, err
	}
	if err := action.CheckOpen(); err != nil {
		return nil, err
	}
	p := &Settlement{Action: action}
	if in.Done {
		p.out, err = s.doneByHand(ctx, action, in)
		p.out.State = advert.ActionDone
	} else {
		p.out, err = s.refusedByHand(action)
	}
	if err != nil {
		return nil, err
	}
	p.out.After, err = markByHand(p.out.After)
	return p, err
}

// Settle stores the planned outcome and returns the action with it. From then on the action's request is answered with
// this outcome. If somebody settled it otherwise in the meantime, the error is CodeInvalid.
func (s *Service) Settle(ctx context.Context, p *Settlement) (*advert.Action, error) {
	if err := s.store.TakeAction(ctx, p.Action.AccountID, p.Action.ID); err != nil {
		return nil, err
	}
	action, err := s.store.SettleAction(ctx, p.Action.AccountID, p.Action.ID, p.out)
	if err == nil && action.State != p.out.State {
		err = action.CheckOpen() // whoever had asked its network was through with that in between
	}
	return action, err
}

// markByHand adds to what the audit trail will show that a person settled the action, not a network.
func markByHand(after advert.Object) (advert.Object, error) {
	fields := map[string]json.RawMessage{}
	if err := after.Decode(&fields); err != nil {
		return "", fmt.Errorf("read what an action did: %w", err)
	}
	fields["settled_by"] = json.RawMessage(`"hand"`)
	return advert.NewObject(fields), nil
}

// refusedByHand returns the outcome of an action that did not take place. While it may still take place, it is
// CodeInvalid on state.
func (s *Service) refusedByHand(action *advert.Action) (advert.Outcome, error) {
	if until := openUntil(action); s.store.Now() < until {
		return advert.Outcome{}, core.Invalid("state", fmt.Sprintf("%s may still take place until %s. Try again then.", action.ID, until))
	}
	return advert.Outcome{State: advert.ActionRefused, Failure: &advert.Failure{
		Code: codeUnavailable, Message: fmt.Sprintf("%s did not do it, somebody found. Nothing was changed: send the request again.", action.Platform),
	}}, nil
}

// doneByHand returns the outcome of an action that took place, from its plan and from what the person has found out.
func (s *Service) doneByHand(ctx context.Context, action *advert.Action, in SettleByHand) (advert.Outcome, error) {
	if isCreate := action.Op == advert.OpCreateAd || action.Op == advert.OpBoostPost || action.Op == advert.OpCreateAudience; isCreate == (in.PlatformID == "") {
		if isCreate {
			return advert.Outcome{}, core.Invalid("platform_id", fmt.Sprintf("%s made something: send the id that %s gave it.", action.Op, action.Platform))
		}
		return advert.Outcome{}, core.Invalid("platform_id", fmt.Sprintf("%s makes nothing new: leave the id out.", action.Op))
	}
	switch action.Op {
	case advert.OpCreateAd, advert.OpBoostPost:
		return s.createdByHand(ctx, action, in)
	case advert.OpCreateAudience:
		return audienceByHand(action, in.PlatformID)
	case advert.OpUploadAudience:
		return s.uploadedByHand(ctx, action)
	case advert.OpRemoveAudience:
		return s.removedByHand(ctx, action)
	case advert.OpDeleteAudience:
		return advert.Outcome{DeletedAudience: action.TargetID}, nil
	case advert.OpDeleteCampaign:
		return advert.Outcome{CancelledCampaign: action.TargetID}, nil
	case advert.OpDeleteAd:
		return advert.Outcome{CancelledAd: action.TargetID}, nil
	case advert.OpUpdateCampaign, advert.OpUpdateGroup, advert.OpUpdateAd:
		return s.changedByHand(ctx, action)
	}
	var plan switchPlan
	if err := action.Plan.Decode(&plan); err != nil {
		return advert.Outcome{}, err
	}
	return switched(ItemResult{Ref: plan.Ref}, plan.To, nil), nil
}

// createdByHand returns the outcome of the creation of an ad. If the mirror has the ad, it is taken from there;
// otherwise it is put together from the plan and the ids that were sent.
func (s *Service) createdByHand(ctx context.Context, action *advert.Action, in SettleByHand) (advert.Outcome, error) {
	var r recipe
	if err := action.Plan.Decode(&r); err != nil {
		return advert.Outcome{}, err
	}
	r.Plan.Token = action.ID
	known, err := s.store.MirroredAd(ctx, action.AccountID, action.Platform, advert.LevelAd, in.PlatformID)
	if err != nil {
		return advert.Outcome{}, err
	}
	made := r.Plan.assumed(in)
	if len(known.Ads) > 0 {
		made = Created{Ad: &known.Ads[0]}
		if r.Plan.AdGroupID == "" && len(known.Groups) > 0 && len(known.Campaigns) > 0 {
			made.Group, made.Campaign = &known.Groups[0], &known.Campaigns[0]
		}
	}
	var p core.Problems
	p.Check(made.Ad.Source != advert.SourceNative, "platform_id", "Another action made the ad "+in.PlatformID+".")
	p.Check(made.Ad.AdAccountID == "" || made.Ad.AdAccountID == action.AdAccountID, "platform_id", "The ad is in another ad account: "+made.Ad.AdAccountID+".")
	p.Check(made.Ad.CampaignID != "", "campaign_id", "The ad is not known here. Send the id of the campaign that it is in, too.")
	p.Check(made.Ad.AdGroupID != "", "ad_group_id", "The ad is not known here. Send the id of the ad group that it is in, too.")
	if err := p.Err(); err != nil {
		return advert.Outcome{}, err
	}
	return r.outcome(made)
}

// assumed returns what a plan has made if the network did exactly what it says. The state of delivery is only a guess,
// until the network is asked again.
func (p *Plan) assumed(in SettleByHand) Created {
	status := advert.StatusPendingReview
	if p.Configured == advert.ConfiguredPaused {
		status = advert.StatusPaused
	}
	ad := &advert.Ad{
		PlatformID: in.PlatformID, CampaignID: p.CampaignID, AdGroupID: p.AdGroupID, Name: p.Name, ConfiguredStatus: p.Configured, Status: status,
	}
	if p.AdGroupID != "" {
		return Created{Ad: ad}
	}
	ad.CampaignID, ad.AdGroupID = in.CampaignID, in.AdGroupID
	campaign := &advert.Campaign{
		PlatformID: in.CampaignID, Name: p.Name, ConfiguredStatus: p.Configured, Status: status, Goal: p.Goal, BudgetLevel: p.BudgetLevel,
		StartsAt: p.StartsAt, EndsAt: p.EndsAt,
	}
	group := &advert.Group{
		PlatformID: in.AdGroupID, CampaignID: in.CampaignID, Name: p.Name, ConfiguredStatus: p.Configured, Status: status, Goal: p.Goal,
		Targeting: advert.NewObject(p.Targeting), PlatformTargeting: p.PlatformTargeting, PromotedObject: p.PromotedObject, StartsAt: p.StartsAt, EndsAt: p.EndsAt,
	}
	if p.BudgetLevel == advert.BudgetLevelCampaign {
		campaign.BudgetAmount, campaign.BudgetType = p.BudgetAmount, p.BudgetType
		campaign.BidStrategy, campaign.BidAmount, campaign.RoasFloor = p.BidStrategy, p.BidAmount, p.RoasFloor
	} else {
		group.BudgetAmount, group.BudgetType = p.BudgetAmount, p.BudgetType
		group.BidStrategy, group.BidAmount, group.RoasFloor = p.BidStrategy, p.BidAmount, p.RoasFloor
	}
	return Created{Campaign: campaign, Group: group, Ad: ad}
}

// audienceByHand returns the outcome of the creation of an audience with a platform id.
func audienceByHand(action *advert.Action, platformID string) (advert.Outcome, error) {
	var r audienceRecipe
	err := action.Plan.Decode(&r)
	return r.outcome(action, advert.Audience{PlatformID: &platformID, Status: advert.AudienceStatusProcessing}), err
}

// uploadedByHand returns the outcome of an upload, as if the network had taken all that was to be sent.
func (s *Service) uploadedByHand(ctx context.Context, action *advert.Action) (advert.Outcome, error) {
	a, err := s.store.GetAudience(ctx, action.AccountID, action.TargetID, "")
	if err != nil {
		return advert.Outcome{}, err
	}
	var plan struct {
		Users int `json:"users"`
	}
	if err := action.Plan.Decode(&plan); err != nil {
		return advert.Outcome{}, err
	}
	fresh, err := s.store.Members(ctx, action.AccountID, action.ID)
	result := &AudienceUpload{AudienceID: a.ID, Received: plan.Users, Size: a.Size, Status: a.Status}
	result.count(fresh, nil)
	return advert.Outcome{After: advert.NewObject(result)}, err
}

// changedByHand returns the outcome of a change: the campaign, ad group or ad from the mirror with the
// change made to it. If it was completed or rejected, it counts as active again.
func (s *Service) changedByHand(ctx context.Context, action *advert.Action) (advert.Outcome, error) {
	var patch Patch
	if err := action.Plan.Decode(&patch); err != nil {
		return advert.Outcome{}, err
	}
	level := advert.LevelCampaign
	switch action.Op {
	case advert.OpUpdateGroup:
		level = advert.LevelGroup
	case advert.OpUpdateAd:
		level = advert.LevelAd
	}
	b, err := s.store.MirroredAd(ctx, action.AccountID, action.Platform, level, action.TargetID)
	if err != nil {
		return advert.Outcome{}, err
	}
	out := advert.Outcome{After: action.Plan}
	switch {
	case level == advert.LevelAd && len(b.Ads) > 0:
		a := &b.Ads[0]
		if patch.Name != nil {
			a.Name = *patch.Name
		}
		if patch.Configured != nil {
			a.ConfiguredStatus = *patch.Configured
		}
		if patch.Creative != nil {
			a.Creative = core.JSONOf(*patch.Creative)
		}
		out.Changed.Ads = b.Ads
	case level == advert.LevelGroup && len(b.Groups) > 0:
		g := &b.Groups[0]
		g.Status = g.Status.Revived()
		patch.change(&g.BudgetAmount, &g.BudgetType, &g.BidStrategy, &g.BidAmount, &g.RoasFloor)
		out.Changed.Groups = b.Groups
	case level == advert.LevelCampaign && len(b.Campaigns) > 0:
		c := &b.Campaigns[0]
		c.Status = c.Status.Revived()
		patch.change(&c.BudgetAmount, &c.BudgetType, &c.BidStrategy, &c.BidAmount, &c.RoasFloor)
		out.Changed.Campaigns = b.Campaigns
	}
	return out, nil
}

// change writes the fields that a patch sets to those of a campaign or ad group.
func (p *Patch) change(amount *advert.Amount, kind *advert.BudgetType, strategy *advert.BidStrategy, bid *advert.Amount, floor *advert.Ratio) {
	if p.Budget != nil {
		*amount, *kind = p.Budget.Amount, p.Budget.Type
	}
	if p.BidStrategy != nil {
		*strategy = *p.BidStrategy
	}
	if p.BidAmount != nil {
		*bid = *p.BidAmount
	}
	if p.RoasFloor != nil {
		*floor = *p.RoasFloor
	}
}
