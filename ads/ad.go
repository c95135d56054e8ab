package ads

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/store/core"
)

// GetAd returns an ad as GetCampaign does a campaign.
func (s *Service) GetAd(ctx context.Context, account, id string, in GetAdObject) (*ShownAd, error) {
	q, err := readQuery(s.store.Now(), Paging{}, in.Platform, "", "", in.From, in.To)
	if err != nil {
		return nil, err
	}
	row, err := s.store.GetAd(ctx, account, q.platform, id)
	if err != nil {
		return nil, err
	}
	return reportOne(ctx, s, inquiry{account, advert.LevelAd, q.window, false}, row, adSubject)
}

// UpdateAd is a change of an ad, as it was sent. "" means that a field was not sent.
type UpdateAd struct {
	Platform string // needed only where two networks have the id
	Name     string
	Status   string           // active | paused
	Creative *advert.Creative // all of what it shows
	DryRun   bool
}

// adEdit is a change of an ad while it is worked on.
type adEdit struct {
	by       Actor
	line     *line
	ad       *advert.Ad
	ref      Ref
	patch    Patch
	warnings []string
	problems core.Problems
	report   *Report // what the network said afterwards, if it was asked
}

// UpdateAd changes the name, the switch or the creative of an ad. If nothing would change, no network is asked. What the account's limits
// do not allow it to spend is CodeSpendLimit.
func (s *Service) UpdateAd(ctx context.Context, by Actor, id string, in UpdateAd) (*AdOutcome, error) {
	a, line, err := s.changeable(ctx, by, id, in.Platform)
	if err != nil {
		return nil, err
	}
	e := &adEdit{by: by, line: line, ad: a, ref: refOfAd(a), patch: Patch{Currency: a.AdAccount.Currency, Timezone: a.AdAccount.Timezone}}
	if err := s.readAd(ctx, e, in); err != nil {
		return nil, err
	}
	switch {
	case in.DryRun:
		plan, err := s.planAd(ctx, e)
		return &AdOutcome{Plan: plan}, err
	case !e.isNothing():
		if err := s.applyAd(ctx, e); err != nil {
			return nil, err
		}
	}
	if a, err = s.store.GetAd(ctx, by.Account, a.Platform, a.PlatformID); err != nil {
		return nil, core.NewUnknownError("read the ad that was changed", err)
	}
	shown := changed(*a, adSubject, e.report, s.store.Now())
	shown.Warnings = e.warnings
	return &AdOutcome{Ad: shown}, nil
}

// changeable returns an ad that was not deleted, with the line to its network.
func (s *Service) changeable(ctx context.Context, by Actor, id, platform string) (*advert.Ad, *line, error) {
	known, err := bodyPlatform(platform)
	if err != nil {
		return nil, nil, err
	}
	a, err := s.store.GetAd(ctx, by.Account, known, id)
	if err != nil {
		return nil, nil, err
	}
	if a.DeletedAt != nil || a.AdAccount == nil {
		return nil, nil, core.Missing("ad", "", id)
	}
	line, err := s.activated(ctx, by.Account, a.ChannelID)
	return a, line, err
}

// refOfAd names an ad at its network.
func refOfAd(a *advert.Ad) Ref {
	return Ref{AdAccount: a.AdAccountID, Level: advert.LevelAd, ID: a.PlatformID, CampaignID: a.CampaignID, AdGroupID: a.AdGroupID}
}

// readAd checks a change of an ad and makes the patch of what it changes. Everything that is wrong with it is one
// CodeInvalid.
func (s *Service) readAd(ctx context.Context, e *adEdit, in UpdateAd) error {
	if in.Name != "" {
		CheckName(&e.problems, in.Name)
	}
	if in.Name != "" && in.Name != e.ad.Name {
		e.patch.Name = &in.Name
	}
	status := e.ad.StatusAt(s.store.Now())
	if to := advert.Configured(in.Status); to != "" {
		stands, err := s.stands(ctx, adSubject(e.ad), advert.LevelAd, to)
		if err != nil {
			return err
		}
		e.problems.Check(!status.IsTerminal(), "status", fmt.Sprintf("The ad is %s, so it cannot be paused or resumed.", status))
		e.line.Caps().checkAdSwitch(&e.problems, "status")
		if !stands {
			e.patch.Configured = &to
		}
	}
	if in.Creative != nil {
		e.readCreative(in.Creative)
	}
	e.problems.Check(status != advert.StatusCancelled || e.isNothing(), "status", "What is cancelled cannot be changed.")
	return e.problems.Err()
}

// readCreative reads what the ad is to show from now on.
func (e *adEdit) readCreative(creative *advert.Creative) {
	caps := e.line.Caps()
	p := &e.problems
	switch {
	case !caps.Media.Replace:
		p.Add("creative", fmt.Sprintf("An ad on %s shows the same for good. Make another ad in its ad group with POST /ads.", caps.Platform))
	case e.ad.Type == advert.TypeBoost:
		p.Add("creative", "The ad shows a post that was boosted, for good. Boost another one with POST /ads/boost.")
	case reflect.DeepEqual(*creative, e.ad.Creative.V):
	default:
		goal := e.ad.Goal
		if goal == "" && e.ad.Group != nil {
			goal = e.ad.Group.Goal
		}
		caps.CheckCreative(p, "creative.", goal, *creative)
		e.warnings = append(caps.Warnings("creative.", *creative), "creative: the review of the ad begins again.")
		e.patch.Creative = creative
	}
}

// checkAdSwitch adds a problem if the network has no switch for a single ad.
func (c Caps) checkAdSwitch(p *core.Problems, field string) {
	p.Check(slices.Contains(c.PauseLevels, advert.LevelAd), field,
		fmt.Sprintf("An ad on %s has no switch of its own: pause or resume its ad group.", c.Platform))
}

// isNothing reports whether the change changes nothing.
func (e *adEdit) isNothing() bool {
	return e.patch.Name == nil && e.patch.Configured == nil && e.patch.Creative == nil
}

// spend returns what the change does to what may be spent.
func (e *adEdit) spend() advert.Change {
	switch g := e.ad.Group; {
	case e.patch.Configured != nil && *e.patch.Configured == advert.ConfiguredActive:
		return resumption(e.ad, "status")
	case e.patch.Creative == nil || g == nil:
	case g.Status == advert.StatusRejected || g.Campaign != nil && g.Campaign.Status == advert.StatusRejected:
		// Their budget does not count any more, and the next review may let it be spent.
		return advert.Change{Level: advert.LevelAd, PlatformID: e.ad.PlatformID, Platform: e.ad.Platform, Param: "creative"}
	}
	return advert.Change{}
}

// resumption returns what it does to what may be spent to switch an ad on.
func resumption(a *advert.Ad, param string) advert.Change {
	return advert.Change{Level: advert.LevelAd, PlatformID: a.PlatformID, Platform: a.Platform, Resume: true, Param: param}
}

// applyAd makes the change at the network.
func (s *Service) applyAd(ctx context.Context, e *adEdit) error {
	before := Patch{Name: &e.ad.Name, Configured: &e.ad.ConfiguredStatus}
	if e.patch.Creative != nil {
		before.Creative = &e.ad.Creative.V
	}
	_, err := s.perform(ctx, e.by, deed{
		line: e.line,
		begin: intent(e.by, advert.OpUpdateAd, advert.BeginAction{
			AdAccount: e.ad.AdAccount, TargetID: e.ref.ID, Plan: advert.NewObject(e.patch), Change: e.spend(), Before: advert.NewObject(before),
		}),
		ask: func(ctx context.Context, action *advert.Action, _ bool) (advert.Outcome, error) {
			return s.changeAd(ctx, e, action)
		},
	})
	return err
}

// adChange is the plan of a change of an ad as its action keeps it.
type adChange struct {
	Patch
	uploads
}

// changeAd brings the videos of the new creative to the network, if it has some, and changes the ad.
func (s *Service) changeAd(ctx context.Context, e *adEdit, action *advert.Action) (advert.Outcome, error) {
	var change adChange // of the first time: the mirror may stand elsewhere by now
	if err := action.Plan.Decode(&change); err != nil {
		return advert.Outcome{}, core.NewUnknownError("read the plan of a change", err)
	}
	patch := &change.Patch
	if patch.Creative != nil {
		plan := func() advert.Object { return advert.NewObject(change) }
		if err := s.ready(ctx, e.line, action, patch.Creative.Videos(), &change.uploads, plan); err != nil {
			return advert.Outcome{}, err
		}
	}
	patch.Token, patch.Media = action.ID, change.uploads.Media
	entity, err := e.line.Update(ctx, e.line.conn, e.ref, *patch)
	if err != nil {
		return advert.Outcome{}, err
	}
	if entity.Ad != nil && patch.Creative != nil { // of which the network tells less
		entity.Ad.Creative = core.JSONOf(*patch.Creative)
	}
	e.report = s.figures(ctx, e.line, e.ref, e.ad.AdAccount)
	return advert.Outcome{After: advert.NewObject(patch), Changed: entity.Batch()}, nil
}

// planAd returns what the change would do. Nothing is written.
func (s *Service) planAd(ctx context.Context, e *adEdit) (*DryRun, error) {
	plan, err := s.dryRun(ctx, e.by.Account, advert.OpUpdateAd, e.line, e.ad.AdAccount, e.spend())
	if err != nil || e.isNothing() {
		return plan, err
	}
	plan.Warnings = e.warnings
	call := PlannedCall{Action: string(advert.OpUpdateAd), ID: e.ref.ID, Fields: map[string]string{}}
	if e.patch.Creative != nil {
		call.Fields = fieldsOfCreative(*e.patch.Creative)
		for _, address := range e.patch.Creative.Videos() {
			plan.Calls = append(plan.Calls, PlannedCall{Action: "upload_video", Fields: map[string]string{"video_url": address}})
		}
	}
	if e.patch.Name != nil {
		call.Fields["name"] = *e.patch.Name
	}
	if e.patch.Configured != nil {
		call.Fields["status"] = e.line.Caps().SwitchWord(*e.patch.Configured)
	}
	plan.Calls = append(plan.Calls, call)
	return plan, nil
}

// PauseAd switches an ad off. If it is off already and no other change is under way, no network is asked.
func (s *Service) PauseAd(ctx context.Context, by Actor, id, platform string) (*StatusResult, error) {
	return s.switchAd(ctx, by, advert.OpPauseAd, id, platform, advert.ConfiguredPaused)
}

// ResumeAd switches an ad on, if the account's limits allow what its campaign may spend then. As long as its ad group or its
// campaign is off, it is not delivered.
func (s *Service) ResumeAd(ctx context.Context, by Actor, id, platform string) (*StatusResult, error) {
	return s.switchAd(ctx, by, advert.OpResumeAd, id, platform, advert.ConfiguredActive)
}

// switchAd does the work of PauseAd and ResumeAd.
func (s *Service) switchAd(ctx context.Context, by Actor, op advert.Op, id, platform string, to advert.Configured) (*StatusResult, error) {
	a, line, err := s.changeable(ctx, by, id, platform)
	if err != nil {
		return nil, err
	}
	var p core.Problems
	if line.Caps().checkAdSwitch(&p, "platform"); p.Err() != nil {
		return nil, p.Err()
	}
	result := &StatusResult{ID: a.PlatformID, Level: advert.LevelAd, Platform: a.Platform, Configured: to, Status: a.StatusAt(s.store.Now())}
	if result.Status.IsTerminal() {
		return nil, over("ad", result.Status)
	}
	if stands, err := s.stands(ctx, adSubject(a), advert.LevelAd, to); err != nil || stands {
		result.explainAd(a)
		return result, err
	}
	action, err := s.performAdSwitch(ctx, by, op, line, a, to)
	if err != nil {
		return nil, err
	}
	if err := result.read(action); err != nil {
		return nil, err
	}
	if a, err = s.store.GetAd(ctx, by.Account, a.Platform, a.PlatformID); err != nil {
		return nil, core.NewUnknownError("read the ad that was switched", err)
	}
	result.Status = a.StatusAt(s.store.Now())
	result.explainAd(a)
	return result, nil
}

// performAdSwitch turns the switch of an ad and returns the action.
func (s *Service) performAdSwitch(ctx context.Context, by Actor, op advert.Op, l *line, a *advert.Ad, to advert.Configured) (*advert.Action, error) {
	ref, was := refOfAd(a), a.StatusAt(s.store.Now())
	var change advert.Change
	if to == advert.ConfiguredActive {
		change = resumption(a, "budget")
	}
	return s.perform(ctx, by, deed{
		line: l,
		begin: intent(by, op, advert.BeginAction{
			AdAccount: a.AdAccount, TargetID: a.PlatformID, Seen: seen(adSubject(a), to), Change: change,
			Plan: advert.NewObject(switchPlan{ref, to}), Before: advert.NewObject(switchPlan{ref, a.ConfiguredStatus}),
		}),
		ask: func(ctx context.Context, action *advert.Action, _ bool) (advert.Outcome, error) {
			results, err := l.SetStatus(ctx, l.conn, []Ref{ref}, to)
			switch {
			case err != nil:
				return advert.Outcome{}, err
			case len(results) != 1:
				return advert.Outcome{}, ErrIndeterminate
			}
			r := results[0]
			heard := s.confirmPause(ctx, l, a.AdAccount, to, []*advert.Action{action}, []*ItemResult{&r})
			r.turned(to)
			r.countItself(was)
			return switched(r, to, heard), r.Err
		},
	})
}

// countItself counts the ad that was switched by whether its delivery changed.
func (r *ItemResult) countItself(was advert.Status) {
	r.Updated, r.Skipped, r.Reasons = 1, 0, nil
	if is := statusOf(*r); is == was {
		r.Updated, r.Skipped, r.Reasons = 0, 1, []string{r.Ref.ID + " is " + string(is)}
	}
}

// explainAd adds to the message why an ad that is on is not delivered: what it is in is paused.
func (r *StatusResult) explainAd(a *advert.Ad) {
	if r.Configured != advert.ConfiguredActive || a.Group == nil {
		return
	}
	if a.Group.ConfiguredStatus == advert.ConfiguredPaused {
		if !r.Status.IsTerminal() {
			r.Status = advert.StatusPaused
		}
		r.say("The ad group is paused: resume it, too, with POST /ads/ad-groups/" + a.AdGroupID + "/resume.")
	}
	r.explain(a.Group)
}

// DeletedAd names an ad that was deleted for good.
type DeletedAd struct {
	ID       string
	Platform advert.Platform
}

// DeleteAd deletes an ad for good. What it has spent still counts. An ad that is deleted already is CodeMissing, unless this
// very request has deleted it before.
func (s *Service) DeleteAd(ctx context.Context, by Actor, id, platform string) (*DeletedAd, error) {
	known, err := bodyPlatform(platform)
	if err != nil {
		return nil, err
	}
	a, err := s.store.GetAd(ctx, by.Account, known, id)
	if err != nil {
		return nil, err
	}
	if a.DeletedAt != nil || a.AdAccount == nil {
		if deleted, err := s.deletedBefore(ctx, by, advert.OpDeleteAd, a.PlatformID); err != nil || deleted {
			return &DeletedAd{a.PlatformID, a.Platform}, err
		}
		return nil, core.Missing("ad", "", id)
	}
	line, err := s.activated(ctx, by.Account, a.ChannelID)
	if err != nil {
		return nil, err
	}
	_, err = s.perform(ctx, by, deed{
		line: line,
		begin: intent(by, advert.OpDeleteAd, advert.BeginAction{
			AdAccount: a.AdAccount, TargetID: a.PlatformID, Before: advert.NewObject(map[string]string{"name": a.Name, "status": string(a.Status)}),
		}),
		ask: func(ctx context.Context, _ *advert.Action, _ bool) (advert.Outcome, error) {
			_, err := line.Delete(ctx, line.conn, refOfAd(a))
			if err != nil && !errors.Is(err, ErrNotFound) {
				return advert.Outcome{}, err
			}
			return advert.Outcome{CancelledAd: a.PlatformID}, nil
		},
	})
	if err != nil {
		return nil, err
	}
	return &DeletedAd{a.PlatformID, a.Platform}, nil
}
