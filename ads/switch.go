package ads

import (
	"context"
	"slices"

	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/store/core"
)

// StatusResult says what switching an ad group or an ad on or off did to it and to the ads below it.
type StatusResult struct {
	ID             string
	Level          advert.Level
	Platform       advert.Platform
	Configured     advert.Configured
	Status         advert.Status // of delivery
	Changed        bool
	Updated        int // ads whose delivery changed
	Skipped        int // ads whose delivery did not
	SkippedReasons []string
	Message        string // for people
}

// switchPlan is the plan of a switch as its action keeps it.
type switchPlan struct {
	Ref Ref               `json:"ref"`
	To  advert.Configured `json:"to"`
}

// switchResult is the result of a switch as its action keeps it.
type switchResult struct {
	To      advert.Configured `json:"to,omitempty"`
	Status  advert.Status     `json:"status"`
	Updated int               `json:"updated"`
	Skipped int               `json:"skipped"`
	Reasons []string          `json:"reasons,omitempty"`
	Message string            `json:"message,omitempty"`
}

// switched makes the outcome of an action from what the network said after a switch. heard is what confirmPause returned.
func switched(r ItemResult, to advert.Configured, heard advert.Heard) advert.Outcome {
	r.turned(to)
	return advert.Outcome{Changed: r.State, Heard: heard, After: advert.NewObject(switchResult{
		Status: statusOf(r), Updated: r.Updated, Skipped: r.Skipped, Reasons: r.Reasons, Message: r.Message,
	})}
}

// turned adds the state of the switched thing itself to the result, if the network did not tell it. The switch is as it
// was turned, and what is off is paused. Whether what is on is delivered stays unknown.
func (r *ItemResult) turned(to advert.Configured) {
	var status advert.Status
	if to == advert.ConfiguredPaused {
		status = advert.StatusPaused
	}
	is := func(id string) bool { return id == r.Ref.ID }
	switch b := &r.State; r.Ref.Level {
	case advert.LevelCampaign:
		if !slices.ContainsFunc(b.Campaigns, func(c advert.Campaign) bool { return is(c.PlatformID) }) {
			b.Campaigns = append(b.Campaigns, advert.Campaign{PlatformID: r.Ref.ID, ConfiguredStatus: to, Status: status})
		}
	case advert.LevelGroup:
		if !slices.ContainsFunc(b.Groups, func(g advert.Group) bool { return is(g.PlatformID) }) {
			b.Groups = append(b.Groups, advert.Group{PlatformID: r.Ref.ID, ConfiguredStatus: to, Status: status})
		}
	case advert.LevelAd:
		if !slices.ContainsFunc(b.Ads, func(a advert.Ad) bool { return is(a.PlatformID) }) {
			b.Ads = append(b.Ads, advert.Ad{PlatformID: r.Ref.ID, ConfiguredStatus: to, Status: status})
		}
	}
}

// statusOf returns the state of delivery of the switched campaign, ad group or ad, or "" if the network did not tell it.
func statusOf(r ItemResult) advert.Status {
	for _, c := range r.State.Campaigns {
		if c.PlatformID == r.Ref.ID {
			return c.Status
		}
	}
	for _, g := range r.State.Groups {
		if g.PlatformID == r.Ref.ID {
			return g.Status
		}
	}
	for _, a := range r.State.Ads {
		if a.PlatformID == r.Ref.ID {
			return a.Status
		}
	}
	return ""
}

// PauseAdGroup switches an ad group off. If it is off already and no other change is under way, no network is asked.
func (s *Service) PauseAdGroup(ctx context.Context, by Actor, id, platform string) (*StatusResult, error) {
	return s.switchGroup(ctx, by, advert.OpPauseGroup, id, platform, advert.ConfiguredPaused)
}

// ResumeAdGroup switches an ad group on, together with the ads in it that were created switched off. The account's limits
// must allow what it may spend then. As long as its campaign is off, it is not delivered.
func (s *Service) ResumeAdGroup(ctx context.Context, by Actor, id, platform string) (*StatusResult, error) {
	return s.switchGroup(ctx, by, advert.OpResumeGroup, id, platform, advert.ConfiguredActive)
}

// switchGroup does the work of PauseAdGroup and ResumeAdGroup. It finds the ad group, asks the network unless there is
// nothing to do, and returns the ad group as it is afterwards.
func (s *Service) switchGroup(ctx context.Context, by Actor, op advert.Op, id, platform string, to advert.Configured) (*StatusResult, error) {
	known, err := bodyPlatform(platform)
	if err != nil {
		return nil, err
	}
	g, err := s.store.GetGroup(ctx, by.Account, known, id)
	if err != nil {
		return nil, err
	}
	if g.DeletedAt != nil || g.AdAccount == nil {
		return nil, core.Missing("ad group", "", id)
	}
	line, err := s.activated(ctx, by.Account, g.ChannelID)
	if err != nil {
		return nil, err
	}
	result := &StatusResult{ID: g.PlatformID, Level: advert.LevelGroup, Platform: g.Platform, Configured: to, Status: g.StatusAt(s.store.Now())}
	if result.Status.IsTerminal() {
		return nil, over("ad group", result.Status)
	}
	held, err := s.held(ctx, line, g, to)
	if err != nil {
		return nil, err
	}
	if stands, err := s.stands(ctx, groupSubject(g), advert.LevelGroup, to); err != nil || stands && len(held) == 0 {
		result.explain(g)
		return result, err
	}
	action, err := s.performSwitch(ctx, by, op, line, g, held, to)
	if err != nil {
		return nil, err
	}
	if err := result.read(action); err != nil {
		return nil, err
	}
	if g, err = s.store.GetGroup(ctx, by.Account, g.Platform, g.PlatformID); err != nil {
		return nil, core.NewUnknownError("read the ad group that was switched", err)
	}
	result.Status = g.StatusAt(s.store.Now())
	result.explain(g)
	return result, nil
}

// read takes over what the action of a switch did.
func (r *StatusResult) read(action *advert.Action) error {
	var done switchResult
	if err := action.After.Decode(&done); err != nil {
		return core.NewUnknownError("read the result of a switch", err)
	}
	r.Changed, r.Updated, r.Skipped, r.SkippedReasons, r.Message = true, done.Updated, done.Skipped, done.Reasons, done.Message
	return nil
}

// stands reports whether a switch is already as wanted. A change that is under way may be about to switch something on
// that is off in the mirror. So then pausing it is not skipped.
func (s *Service) stands(ctx context.Context, b subject, level advert.Level, to advert.Configured) (bool, error) {
	if *b.configured != to || to == advert.ConfiguredActive {
		return *b.configured == to, nil
	}
	open, err := s.store.ChangeUnderWay(ctx, b.account, b.platform, level, b.id)
	return !open, err
}

// held returns the ads of an ad group that were created switched off and still are. It returns none unless the ad group
// is about to be switched on and the network has switches for ads. Nothing but resuming their ad group switches them on.
func (s *Service) held(ctx context.Context, l *line, g *advert.Group, to advert.Configured) ([]Ref, error) {
	if to != advert.ConfiguredActive || !slices.Contains(l.Caps().PauseLevels, advert.LevelAd) {
		return nil, nil
	}
	all, err := s.store.HeldAds(ctx, g)
	if err != nil {
		return nil, err
	}
	var refs []Ref
	for _, a := range all {
		off, err := s.createdOff(ctx, &a)
		if err != nil {
			return nil, err
		}
		if off {
			refs = append(refs, Ref{AdAccount: a.AdAccountID, Level: advert.LevelAd, ID: a.PlatformID, CampaignID: a.CampaignID, AdGroupID: a.AdGroupID})
		}
	}
	return refs, nil
}

// createdOff reports whether an ad was created switched off, and nobody has turned its own switch since.
func (s *Service) createdOff(ctx context.Context, a *advert.Ad) (bool, error) {
	actions, _, err := s.store.ListActions(ctx, a.AccountID, advert.ListActions{Page: core.Page{Limit: 100}, TargetID: a.PlatformID})
	if err != nil {
		return false, err
	}
	for _, action := range actions {
		switch {
		case action.Platform != a.Platform || action.State != advert.ActionDone:
		case action.Op == advert.OpPauseAd || action.Op == advert.OpResumeAd:
			return false, nil
		case action.Op == advert.OpUpdateAd:
			var patch Patch
			if err := action.Plan.Decode(&patch); err != nil || patch.Configured != nil {
				return false, err
			}
		case action.Op == advert.OpCreateAd || action.Op == advert.OpBoostPost:
			var r recipe
			err = action.Plan.Decode(&r)
			return r.Plan.Configured == advert.ConfiguredPaused, err
		}
	}
	return false, nil
}

// performSwitch switches the held ads of an ad group and then the ad group itself, and returns the action.
func (s *Service) performSwitch(ctx context.Context, by Actor, op advert.Op, l *line, g *advert.Group, held []Ref, to advert.Configured) (*advert.Action, error) {
	ref := Ref{AdAccount: g.AdAccountID, Level: advert.LevelGroup, ID: g.PlatformID, CampaignID: g.CampaignID}
	var change advert.Change
	if to == advert.ConfiguredActive {
		change = advert.Change{Level: advert.LevelGroup, PlatformID: g.PlatformID, Platform: g.Platform, Resume: true, Param: "budget"}
	}
	return s.perform(ctx, by, deed{
		line: l,
		begin: intent(by, op, advert.BeginAction{
			AdAccount: g.AdAccount, TargetID: g.PlatformID, Seen: seen(groupSubject(g), to), Change: change,
			Plan: advert.NewObject(switchPlan{ref, to}), Before: advert.NewObject(switchPlan{ref, g.ConfiguredStatus}),
		}),
		ask: func(ctx context.Context, action *advert.Action, _ bool) (advert.Outcome, error) {
			refs := append(slices.Clone(held), ref)
			results, err := l.SetStatus(ctx, l.conn, refs, to)
			switch {
			case err != nil:
				return advert.Outcome{}, err
			case len(results) != len(refs):
				return advert.Outcome{}, ErrIndeterminate
			}
			group := results[len(held)]
			group.addHeldAds(results[:len(held)], to)
			heard := s.confirmPause(ctx, l, g.AdAccount, to, []*advert.Action{action}, []*ItemResult{&group})
			return switched(group, to, heard), group.Err
		},
	})
}

// addHeldAds adds the results of the held ads to the result of their ad group.
func (r *ItemResult) addHeldAds(held []ItemResult, to advert.Configured) {
	for _, ad := range held {
		if ad.Err != nil {
			r.Reasons = append(r.Reasons, "ad "+ad.Ref.ID+" could not be switched on")
			continue
		}
		ad.turned(to)
		for _, a := range ad.State.Ads {
			if !slices.ContainsFunc(r.State.Ads, func(said advert.Ad) bool { return said.PlatformID == a.PlatformID }) {
				r.State.Ads = append(r.State.Ads, a) // else it was said later how it stands
			}
		}
	}
}

// say adds a sentence to the message.
func (r *StatusResult) say(sentence string) {
	if r.Message != "" {
		r.Message += " "
	}
	r.Message += sentence
}

// explain adds to the message why an ad group that is on is not delivered: its campaign is paused.
func (r *StatusResult) explain(g *advert.Group) {
	if r.Configured != advert.ConfiguredActive || g.Campaign == nil || g.Campaign.ConfiguredStatus != advert.ConfiguredPaused {
		return
	}
	r.say("The campaign is paused: resume it, too, with POST /ads/campaigns/bulk-resume.")
	if !r.Status.IsTerminal() {
		r.Status = advert.StatusPaused
	}
}
