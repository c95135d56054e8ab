package ads

import (
	"context"
	"fmt"

	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/store/core"
)

// AudienceRemoval says what became of the users who were to leave an audience. The network is told of all who are valid;
// NotFound are those who had not been uploaded to it here.
type AudienceRemoval struct {
	AudienceID string                `json:"audience_id"`
	Received   int                   `json:"received"`
	Removed    int                   `json:"removed"`
	NotFound   int                   `json:"not_found"`
	Invalid    int                   `json:"invalid"`
	Duplicates int                   `json:"duplicates"`
	Errors     []InvalidUser         `json:"errors"`  // the first 100
	Ignored    []string              `json:"ignored"` // fields that say nothing about who is to leave
	Size       *int64                `json:"size"`
	Status     advert.AudienceStatus `json:"status"`
}

// RemoveAudienceUsers takes users out of a customer list. An invalid user does not keep the others in; only if all are
// invalid, it is CodeInvalid.
func (s *Service) RemoveAudienceUsers(ctx context.Context, by Actor, id string, users []User) (*AudienceRemoval, error) {
	a, line, err := s.audience(ctx, by.Account, id)
	if err != nil {
		return nil, err
	}
	in, err := s.store.GetAccount(ctx, line.channel, a.AdAccountID)
	if err != nil {
		return nil, core.NewUnknownError("read the ad account of an audience", err)
	}
	caps := line.Caps()
	if !caps.UserRemoval {
		return nil, core.Invalid("users", fmt.Sprintf("%s removes nobody from a customer list. Delete the audience, and upload those who stay to a new one.", a.Platform))
	}
	caps.Users.Details = nil // an identifier says who somebody is
	hashed, err := checkUsers(caps, a, users)
	if err != nil {
		return nil, err
	}
	begun, err := s.store.BeginRemoval(ctx, by.Account, intent(by, advert.OpRemoveAudience, advert.BeginAction{
		AdAccount: in, TargetID: a.ID, Plan: advert.NewObject(map[string]int{"users": len(users)}),
	}), a.ID, hashed.Members)
	if err != nil {
		return nil, err
	}
	action, result := begun.Action, &AudienceRemoval{}
	if !action.IsFinal() {
		out, err := line.remove(ctx, action, a, begun.Fresh, len(users), hashed)
		if action, err = s.conclude(context.WithoutCancel(ctx), line, action, out, err); err != nil {
			return nil, err
		}
	}
	if action.State == advert.ActionRefused {
		return nil, action.Failure.V.Err()
	}
	if err := action.After.Decode(result); err != nil {
		return nil, core.NewUnknownError("read the result of a removal", err)
	}
	return result, nil
}

// remove tells the network who leaves an audience, and counts them. A network that has nothing of the audience yet is not
// asked.
func (l *line) remove(ctx context.Context, action *advert.Action, a *advert.Audience, leaving []advert.Member, received int, hashed *HashedUsers) (advert.Outcome, error) {
	out, stands := advert.Outcome{}, a
	if a.PlatformID != nil && len(leaving) > 0 {
		now, err := l.RemoveUsers(ctx, l.conn, Upload{Token: action.ID, Audience: *a, Members: leaving})
		if err != nil {
			return out, err
		}
		stands = stand(a, now)
		out.Audience = stands
	}
	out.After = advert.NewObject(removal(stands, leaving, received, hashed))
	return out, nil
}

// removal counts users. One of whom something had been uploaded was removed, one of whom nothing had was not found, and all
// others came twice.
func removal(a *advert.Audience, leaving []advert.Member, received int, hashed *HashedUsers) *AudienceRemoval {
	known := map[int]bool{}
	for _, m := range leaving {
		known[m.Index] = known[m.Index] || m.UploadedAt != nil
	}
	r := &AudienceRemoval{
		AudienceID: a.ID, Received: received, Invalid: len(hashed.Invalid), Errors: hashed.Invalid[:min(len(hashed.Invalid), maxUploadErrors)],
		Ignored: hashed.Ignored, Size: a.Size, Status: a.Status,
	}
	for _, found := range known {
		if found {
			r.Removed++
		} else {
			r.NotFound++
		}
	}
	r.Duplicates = max(0, received-r.Invalid-r.Removed-r.NotFound)
	return r
}

// repeatRemoval tells the network once more who leaves an audience, from what the action holds. An audience that is gone
// has nobody in it any more.
func (s *Service) repeatRemoval(ctx context.Context, l *line, action *advert.Action) (out advert.Outcome, done bool, err error) {
	a, leaving, received, err := s.removalOf(ctx, action)
	if err != nil {
		return out, goneIsNotDone(err) == nil, goneIsNotDone(err)
	}
	out, err = l.remove(ctx, action, a, leaving, received, &HashedUsers{})
	return out, err == nil, err
}

// removedByHand returns the outcome of a removal, as if the network had been told of everybody.
func (s *Service) removedByHand(ctx context.Context, action *advert.Action) (advert.Outcome, error) {
	a, leaving, received, err := s.removalOf(ctx, action)
	if err != nil {
		return advert.Outcome{}, err
	}
	return advert.Outcome{After: advert.NewObject(removal(a, leaving, received, &HashedUsers{}))}, nil
}

// removalOf returns what an action that removes people holds: the audience, the identifiers, and how many users there were.
func (s *Service) removalOf(ctx context.Context, action *advert.Action) (*advert.Audience, []advert.Member, int, error) {
	a, err := s.store.GetAudience(ctx, action.AccountID, action.TargetID, "")
	if err != nil {
		return nil, nil, 0, err
	}
	var plan struct {
		Users int `json:"users"`
	}
	if err := action.Plan.Decode(&plan); err != nil {
		return nil, nil, 0, err
	}
	leaving, err := s.store.Members(ctx, action.AccountID, action.ID)
	return a, leaving, plan.Users, err
}
