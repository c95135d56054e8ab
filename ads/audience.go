package ads

import (
	"context"
	"errors"
	"fmt"

	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/store/core"
)

// maxUsers is how many users one upload may have.
const maxUsers = 10_000

// maxUploadErrors is how many invalid users an answer names.
const maxUploadErrors = 100

// CreateAudience is an audience to create, as it was sent. "" means that a field was not sent.
type CreateAudience struct {
	AccountID        string
	AdAccountID      string
	Platform         string
	Name             string
	Description      string
	Type             string
	PixelID          string
	RetentionDays    *int
	SourceAudienceID string // aud_
	Country          string
	Ratio            string // decimal text
}

// ListAudiences are the filters of a list of audiences, as they are sent. "" is absent.
type ListAudiences struct {
	Paging
	AccountID   string
	AdAccountID string
	Platform    string
}

// AudienceUpload says what became of the users of an upload. A user who was in the audience already is a duplicate.
type AudienceUpload struct {
	AudienceID string                `json:"audience_id"`
	Received   int                   `json:"received"`
	Accepted   int                   `json:"accepted"`
	Invalid    int                   `json:"invalid"`
	Duplicates int                   `json:"duplicates"`
	Errors     []InvalidUser         `json:"errors"`  // the first 100
	Ignored    []string              `json:"ignored"` // fields that the network does not match
	Size       *int64                `json:"size"`
	Status     advert.AudienceStatus `json:"status"`
}

// ListAudiences returns a page of the audiences of an ad account, newest first. For the first page the network is asked,
// and the mirror brought up to date.
func (s *Service) ListAudiences(ctx context.Context, account string, in ListAudiences) (*advert.List[advert.Audience], error) {
	if err := (required{{"account_id", in.AccountID}, {"ad_account_id", in.AdAccountID}}).err(); err != nil {
		return nil, err
	}
	q, err := readQuery(s.store.Now(), in.Paging, in.Platform, "", "", "", "")
	if err != nil {
		return nil, err
	}
	line, err := s.activated(ctx, account, in.AccountID)
	if err != nil {
		return nil, err
	}
	a, err := s.store.GetAccount(ctx, line.channel, in.AdAccountID)
	if err != nil {
		return nil, err
	}
	if in.Cursor == "" && in.Page < 2 {
		if err := s.mirrorAudiences(ctx, line, a); err != nil {
			return nil, err
		}
	}
	return s.store.ListAudiences(ctx, account, line.channel.ID, a.PlatformID, q.platform, q.page)
}

// mirrorAudiences stores the audiences of an ad account as the network has them now.
func (s *Service) mirrorAudiences(ctx context.Context, l *line, a *advert.Account) error {
	asked := s.store.Now()
	found, err := l.Audiences(ctx, l.conn, a.PlatformID)
	if err != nil {
		return s.fault(ctx, l, "audiences of ad account "+a.PlatformID, err)
	}
	return s.store.PutAudiences(ctx, a, found, asked)
}

// GetAudience returns an audience with the size and state that its network reports now. One that the network does not
// have yet is returned as it is stored.
func (s *Service) GetAudience(ctx context.Context, account, id string) (*advert.Audience, error) {
	a, line, err := s.audience(ctx, account, id)
	if err != nil || a.PlatformID == nil {
		return a, err
	}
	now, err := line.Audience(ctx, line.conn, a.AdAccountID, *a.PlatformID)
	if err != nil {
		return nil, s.fault(ctx, line, "audience", err)
	}
	a.Size, a.Status, a.PlatformStatus, a.StatusReason = now.Size, now.Status, now.PlatformStatus, now.StatusReason
	return a, s.store.RecordAudience(ctx, *a)
}

// audience returns the audience that a path names, and the line to its network.
func (s *Service) audience(ctx context.Context, account, id string) (*advert.Audience, *line, error) {
	a, err := s.store.GetAudience(ctx, account, id, "")
	if err != nil {
		return nil, nil, err
	}
	line, err := s.activated(ctx, account, a.ChannelID)
	return a, line, err
}

// CreateAudience creates an audience, at most once however often the same request is sent.
func (s *Service) CreateAudience(ctx context.Context, by Actor, in CreateAudience) (*advert.Audience, error) {
	fields := required{{"account_id", in.AccountID}, {"ad_account_id", in.AdAccountID}, {"name", in.Name}, {"type", in.Type}}
	if err := fields.err(); err != nil {
		return nil, err
	}
	line, err := s.activated(ctx, by.Account, in.AccountID)
	if err != nil {
		return nil, err
	}
	a, err := s.store.GetAccount(ctx, line.channel, in.AdAccountID)
	if err != nil {
		return nil, err
	}
	r, err := s.audienceRecipe(ctx, by.Account, line, a, in)
	if err != nil {
		return nil, err
	}
	action, err := s.perform(ctx, by, deed{
		line:  line,
		begin: intent(by, advert.OpCreateAudience, advert.BeginAction{AdAccount: a, Plan: advert.NewObject(r)}),
		ask: func(ctx context.Context, action *advert.Action, again bool) (advert.Outcome, error) {
			return line.createAudience(ctx, action, r, again)
		},
	})
	if err != nil {
		return nil, err
	}
	created, err := s.store.GetAudience(ctx, by.Account, action.TargetID, "")
	if err != nil {
		return nil, core.NewUnknownError("read the audience that was created", err)
	}
	return created, nil
}

// audienceRecipe is all that is needed to create an audience, also after a crash. The action keeps it.
type audienceRecipe struct {
	Plan   AudiencePlan `json:"plan"`
	Source string       `json:"source,omitempty"` // aud_, of a lookalike
}

// audienceRecipe checks an audience to create and makes its recipe. The source of a lookalike is looked up first,
// because a missing one is CodeMissing; everything else that is wrong is one CodeInvalid.
func (s *Service) audienceRecipe(ctx context.Context, account string, l *line, a *advert.Account, in CreateAudience) (*audienceRecipe, error) {
	r := &audienceRecipe{Plan: AudiencePlan{
		AdAccount: *a, Name: in.Name, Description: in.Description, PixelID: in.PixelID, Country: in.Country,
	}}
	var p core.Problems
	kind, _ := ParseAudienceType(in.Type)
	r.Plan.Type = kind
	if in.SourceAudienceID != "" {
		source, err := s.store.GetAudience(ctx, account, in.SourceAudienceID, "source_audience_id")
		if err != nil {
			return nil, err
		}
		r.Source = source.ID
		p.Check(source.ChannelID == l.channel.ID && source.AdAccountID == a.PlatformID, "source_audience_id", "The source audience is in another ad account: "+source.AdAccountID+".")
		p.Check(source.Status != advert.AudienceStatusError, "source_audience_id", fmt.Sprintf("%s does not let the source audience be used (%s). %s", source.Platform, source.PlatformStatus, source.StatusReason))
		p.Check(source.PlatformID != nil, "source_audience_id", "The network has nothing of the source audience yet. Upload users to it first.")
		p.Check(!hasNobody(source), "source_audience_id", fmt.Sprintf("The source audience is too small to be a model: it is %s. Upload more people to it first.", source.Status))
		if source.PlatformID != nil {
			r.Plan.SourceID = *source.PlatformID
		}
	}
	p.Check(in.Platform == "" || in.Platform == string(l.channel.Platform), "platform",
		fmt.Sprintf("The channel is one of %s. Leave platform out, or send this.", l.channel.Platform))
	p.Check(a.IsSelectable(), "ad_account_id", fmt.Sprintf("Audiences cannot be made in this ad account: it is %s. %s", a.Status, a.UnusableReason))
	p.Check(in.RetentionDays == nil || *in.RetentionDays > 0, "retention_days", "Users are kept for 1 to 180 days.")
	if in.RetentionDays != nil {
		r.Plan.RetentionDays = *in.RetentionDays
	} else if kind == advert.AudienceTypeRetargeting {
		r.Plan.RetentionDays = usualRetention // Meta takes no rule without a time
	}
	if in.Ratio != "" {
		ratio, err := advert.ParseRatio(in.Ratio)
		p.Check(err == nil, "ratio", "A ratio is a share of the country's people, such as 0.01.")
		r.Plan.Ratio = ratio
	}
	if len(p["source_audience_id"]) > 0 && r.Plan.SourceID == "" {
		r.Plan.SourceID = in.SourceAudienceID // what is wrong with it is said already
	}
	l.Caps().CheckAudience(&p, r.Plan)
	return r, p.Err()
}

// createAudience makes an audience at the network. If an earlier try may have made it, it asks the network first.
func (l *line) createAudience(ctx context.Context, action *advert.Action, r *audienceRecipe, again bool) (advert.Outcome, error) {
	if again {
		created, found, err := l.found(ctx, action)
		switch {
		case err != nil:
			return advert.Outcome{}, err
		case found && created.Audience == nil:
			return advert.Outcome{}, fmt.Errorf("the network found no audience: %w", ErrIndeterminate)
		case found:
			return r.outcome(action, *created.Audience), nil
		}
	}
	r.Plan.Token = action.ID
	created, err := l.CreateAudience(ctx, l.conn, r.Plan)
	if err != nil {
		return advert.Outcome{}, err
	}
	return r.outcome(action, created), nil
}

// outcome returns the outcome of the action: the audience that was made, with what the recipe says and the network does
// not tell.
func (r *audienceRecipe) outcome(action *advert.Action, a advert.Audience) advert.Outcome {
	a.ID, a.SourceAudienceID = action.AudienceOf(), r.Source
	a.Name, a.Description, a.Type = r.Plan.Name, r.Plan.Description, r.Plan.Type
	a.PixelID, a.RetentionDays, a.Country, a.Ratio = r.Plan.PixelID, r.Plan.RetentionDays, r.Plan.Country, r.Plan.Ratio
	return advert.Outcome{TargetID: a.ID, Audience: &a}
}

// DeleteAudience deletes an audience for good and returns it. If the same request has deleted it before, only its id is
// returned.
func (s *Service) DeleteAudience(ctx context.Context, by Actor, id string) (*advert.Audience, error) {
	a, line, err := s.audience(ctx, by.Account, id)
	if err != nil {
		if deleted, failed := s.deletedBefore(ctx, by, advert.OpDeleteAudience, id); failed != nil || deleted {
			return &advert.Audience{AccountID: by.Account, ID: id}, failed
		}
		return nil, err
	}
	in, err := s.store.GetAccount(ctx, line.channel, a.AdAccountID)
	if err != nil {
		return nil, core.NewUnknownError("read the ad account of an audience", err)
	}
	_, err = s.perform(ctx, by, deed{
		line:  line,
		begin: intent(by, advert.OpDeleteAudience, advert.BeginAction{AdAccount: in, TargetID: a.ID, Before: advert.NewObject(map[string]any{"name": a.Name, "size": a.Size})}),
		ask: func(ctx context.Context, _ *advert.Action, _ bool) (advert.Outcome, error) {
			return line.deleteAudience(ctx, a)
		},
	})
	return a, err
}

// deleteAudience deletes an audience at the network. One that is gone already, or was never made there, is no error.
func (l *line) deleteAudience(ctx context.Context, a *advert.Audience) (advert.Outcome, error) {
	out := advert.Outcome{DeletedAudience: a.ID}
	if a.PlatformID == nil {
		return out, nil
	}
	if err := l.DeleteAudience(ctx, l.conn, a.AdAccountID, *a.PlatformID); err != nil && !errors.Is(err, ErrNotFound) {
		return advert.Outcome{}, err
	}
	return out, nil
}

// UploadAudienceUsers adds users to a customer list. What identifies them is hashed here; nothing else of them is stored
// or sent. An invalid user does not keep the others out; only if all are invalid, it is CodeInvalid.
func (s *Service) UploadAudienceUsers(ctx context.Context, by Actor, id string, users []User) (*AudienceUpload, error) {
	a, line, err := s.audience(ctx, by.Account, id)
	if err != nil {
		return nil, err
	}
	in, err := s.store.GetAccount(ctx, line.channel, a.AdAccountID)
	if err != nil {
		return nil, core.NewUnknownError("read the ad account of an audience", err)
	}
	hashed, err := checkUsers(line.Caps(), a, users)
	if err != nil {
		return nil, err
	}
	begun, err := s.store.BeginUpload(ctx, by.Account, intent(by, advert.OpUploadAudience, advert.BeginAction{
		AdAccount: in, TargetID: a.ID, Plan: advert.NewObject(map[string]int{"users": len(users)}),
	}), a.ID, hashed.Members)
	if err != nil {
		return nil, err
	}
	action, result := begun.Action, &AudienceUpload{}
	if !action.IsFinal() {
		out, err := line.upload(ctx, action, a, begun.Fresh, len(users), hashed)
		if action, err = s.conclude(context.WithoutCancel(ctx), line, action, out, err); err != nil {
			return nil, err
		}
	}
	if action.State == advert.ActionRefused {
		return nil, action.Failure.V.Err()
	}
	if err := action.After.Decode(result); err != nil {
		return nil, core.NewUnknownError("read the result of an upload", err)
	}
	return result, nil
}

// checkUsers hashes the users of an upload. It is CodeInvalid if the audience is not a customer list, or none of the
// users can be added.
func checkUsers(caps Caps, a *advert.Audience, users []User) (*HashedUsers, error) {
	switch {
	case a.Type != advert.AudienceTypeCustomerList:
		return nil, core.Invalid("type", fmt.Sprintf("Users can be added to a customer_list only; this audience is of type %s.", a.Type))
	case len(users) == 0:
		return nil, core.Invalid("users", "Send at least one user.")
	case len(users) > maxUsers:
		return nil, core.Invalid("users", fmt.Sprintf("Send at most %d users at a time.", maxUsers))
	}
	hashed := caps.HashUsers(users)
	if len(hashed.Invalid) == len(users) {
		first := hashed.Invalid[0]
		return nil, core.Invalid("users", fmt.Sprintf("None of the users can be added. The first: %s: %s", first.Param, first.Message))
	}
	return &hashed, nil
}

// upload sends the identifiers that the network does not have yet, and counts what became of the users.
func (l *line) upload(ctx context.Context, action *advert.Action, a *advert.Audience, fresh []advert.Member, received int, hashed *HashedUsers) (advert.Outcome, error) {
	result := &AudienceUpload{
		AudienceID: a.ID, Received: received, Errors: hashed.Invalid, Ignored: hashed.Ignored, Size: a.Size, Status: a.Status,
	}
	out := advert.Outcome{}
	if len(fresh) > 0 {
		uploaded, err := l.UploadUsers(ctx, l.conn, Upload{Token: action.ID, Audience: *a, Members: detailed(fresh, hashed.Members)})
		if err != nil {
			return out, err
		}
		stands := stand(a, uploaded.Audience)
		result.Size, result.Status, out.Audience = stands.Size, stands.Status, stands
		result.refused(fresh, uploaded.Invalid, &out)
	}
	result.count(fresh, out.InvalidMembers)
	out.After = advert.NewObject(result)
	return out, nil
}

// stand returns an audience as it is after an upload, which may have made it at the network only now.
func stand(a *advert.Audience, now advert.Audience) *advert.Audience {
	stands := *a
	stands.Size, stands.Status, stands.PlatformStatus, stands.StatusReason = now.Size, now.Status, now.PlatformStatus, now.StatusReason
	if now.PlatformID != nil {
		stands.PlatformID = now.PlatformID
	}
	return &stands
}

// detailed gives stored members back their details, which the database does not keep.
func detailed(members, hashed []advert.Member) []advert.Member {
	known := make(map[identity]map[string]string, len(hashed))
	for _, m := range hashed {
		known[identity{m.Kind, m.Hash}] = m.Details
	}
	for i := range members {
		members[i].Details = known[identity{members[i].Kind, members[i].Hash}]
	}
	return members
}

// refused adds the identifiers that the network did not take to the errors and to the outcome.
func (u *AudienceUpload) refused(sent []advert.Member, invalid []InvalidMember, out *advert.Outcome) {
	for _, one := range invalid {
		if one.Place < 0 || one.Place >= len(sent) {
			continue
		}
		m := sent[one.Place]
		out.InvalidMembers = append(out.InvalidMembers, m)
		u.Errors = append(u.Errors, InvalidUser{Index: m.Index, Param: string(m.Kind), Message: one.Message})
	}
}

// count counts the users. One of whom something new was taken is accepted. One with an error, of whom nothing was taken,
// is invalid. All others were there before and are duplicates.
func (u *AudienceUpload) count(fresh, refused []advert.Member) {
	bad := make(map[identity]bool, len(refused))
	for _, m := range refused {
		bad[identity{m.Kind, m.Hash}] = true
	}
	accepted, wrong := map[int]bool{}, map[int]bool{}
	for _, m := range fresh {
		if !bad[identity{m.Kind, m.Hash}] {
			accepted[m.Index] = true
		}
	}
	for _, e := range u.Errors {
		if !accepted[e.Index] {
			wrong[e.Index] = true
		}
	}
	u.Accepted, u.Invalid = len(accepted), len(wrong)
	u.Duplicates = u.Received - u.Accepted - u.Invalid
	u.Errors = u.Errors[:min(len(u.Errors), maxUploadErrors)]
}
