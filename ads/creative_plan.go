package ads

import (
	"context"
	"fmt"

	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/store/core"
)

// creatives reads what the ad shows, or each of several ads.
func (d *draft) creatives(in *CreateAd) {
	if len(in.Creatives) == 0 {
		d.creative("", in.Creative)
		d.plan.Creative = in.Creative
		return
	}
	d.problems.Check(in.Creative.IsZero(), "creatives", "Send creatives, or the fields of one creative beside the name, not both.")
	d.problems.Check(len(in.Creatives) <= MaxAds, "creatives", fmt.Sprintf("Send at most %d creatives.", MaxAds))
	for i, one := range in.Creatives {
		prefix := fmt.Sprintf("creatives.%d.", i)
		checkName(&d.problems, prefix+"name", one.Name)
		d.creative(prefix, one.Creative)
	}
	d.plan.Creatives = in.Creatives
}

// creative checks one creative.
func (d *draft) creative(prefix string, creative advert.Creative) {
	d.caps.CheckCreative(&d.problems, prefix, d.plan.Goal, creative)
	d.warnings = append(d.warnings, d.caps.Warnings(prefix, creative)...)
}

// createWithVideos brings the videos of an ad to its network, and makes the ad once it can be shown.
func (s *Service) createWithVideos(ctx context.Context, l *line, action *advert.Action, r *recipe, again bool) (advert.Outcome, error) {
	addresses := r.Plan.Videos()
	if again && len(addresses) > 0 {
		var before recipe
		if err := action.Plan.Decode(&before); err != nil {
			return advert.Outcome{}, core.NewUnknownError("read the plan of an ad", err)
		}
		r.uploads, again = before.uploads, before.Asked
	}
	if err := s.ready(ctx, l, action, addresses, &r.uploads, func() advert.Object { return advert.NewObject(r) }); err != nil {
		return advert.Outcome{}, err
	}
	r.Plan.Media = r.Media
	return l.create(ctx, action, r, again)
}

// made returns the ads that an action has created.
func (s *Service) made(ctx context.Context, d *draft, action *advert.Action) (*AdOutcome, error) {
	var after struct {
		IDs []string `json:"ad_ids"`
	}
	if err := action.After.Decode(&after); err != nil {
		return nil, core.NewUnknownError("read what was created", err)
	}
	if len(after.IDs) == 0 {
		after.IDs = []string{action.TargetID}
	}
	out := &AdOutcome{}
	for _, id := range after.IDs {
		if id == "" {
			continue
		}
		ad, err := s.store.GetAd(ctx, d.by.Account, action.Platform, id)
		if err != nil {
			return nil, core.NewUnknownError("read the ad that was created", err)
		}
		b := adSubject(ad)
		shown := shownAs(*ad, &b, window{}, s.store.Now())
		shown.Metrics, shown.Warnings = new(advert.NoMetrics()), d.warnings
		out.Ads = append(out.Ads, &shown)
	}
	out.Ad = out.Ads[0]
	if len(d.plan.Creatives) == 0 {
		out.Ads = nil
	}
	return out, nil
}

// idsOf returns the platform ids of the ads that were made, in the order of the plan. One that is gone by now is "".
func (p *Plan) idsOf(c Created) []string {
	ids := []string{c.Ad.PlatformID}
	for _, ad := range p.Ads()[1:] {
		id := ""
		if made := c.More[ad.Token]; made != nil {
			id = made.PlatformID
		}
		ids = append(ids, id)
	}
	return ids
}

// callsOfAds lists the videos that a plan would upload, and the ads that it would make.
func (p *Plan) callsOfAds() (uploads, ads []PlannedCall) {
	for _, address := range p.Videos() {
		uploads = append(uploads, PlannedCall{Action: "upload_video", Fields: map[string]string{"video_url": address}})
	}
	for _, plan := range p.Ads() {
		call := PlannedCall{Action: "create_ad", Fields: fieldsOfCreative(plan.Creative)}
		call.Fields["name"], call.Fields["status"] = plan.Name, string(p.Configured)
		if p.AdGroupID != "" {
			call.Fields["ad_group_id"] = p.AdGroupID
		}
		if p.Post != nil {
			call.Fields["post_id"] = p.Post.PlatformID
		}
		ads = append(ads, call)
	}
	return uploads, ads
}
