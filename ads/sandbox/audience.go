package sandbox

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/store/core"
)

// smallest is how many people an audience must have to be ready.
const smallest = 100

// audienceDetail is what the sandbox keeps about an audience besides its numbers.
type audienceDetail struct {
	Name          string              `json:"name"`
	Description   string              `json:"description,omitempty"`
	Type          advert.AudienceType `json:"type"`
	PixelID       string              `json:"pixel_id,omitempty"`
	RetentionDays int                 `json:"retention_days,omitempty"`
	Country       string              `json:"country,omitempty"`
	Ratio         advert.Ratio        `json:"ratio,omitempty"`
}

// CreateAudience implements ads.Network. On TikTok a customer list is made only with its first upload.
func (d *Driver) CreateAudience(ctx context.Context, c ads.Conn, plan ads.AudiencePlan) (advert.Audience, error) {
	fault, err := d.enter(ctx, c, true)
	if err != nil {
		return advert.Audience{}, err
	}
	if err := d.checkAudience(ctx, c, plan); err != nil {
		return advert.Audience{}, err
	}
	of := audienceDetail{
		Name: plan.Name, Description: plan.Description, Type: plan.Type, PixelID: plan.PixelID,
		RetentionDays: plan.RetentionDays, Country: plan.Country, Ratio: plan.Ratio,
	}
	if d.isDeferred(plan.Type) {
		return advert.Audience{
			AdAccountID: plan.AdAccount.PlatformID, Name: plan.Name, Description: plan.Description, Type: plan.Type, Status: advert.AudienceStatusPending,
		}, fault.lost(ctx)
	}
	made, err := d.makeAudience(ctx, c, plan.AdAccount.PlatformID, plan.Token, of)
	if err != nil {
		return advert.Audience{}, err
	}
	return d.mirror(made, of, c), fault.lost(ctx)
}

// isDeferred reports whether an audience of a type is made only with its first upload.
func (d *Driver) isDeferred(t advert.AudienceType) bool {
	return d.platform == advert.PlatformTikTok && t == advert.AudienceTypeCustomerList
}

// checkAudience refuses an audience that no network would take.
func (d *Driver) checkAudience(ctx context.Context, c ads.Conn, plan ads.AudiencePlan) error {
	account, err := d.account(c, plan.AdAccount.PlatformID)
	switch {
	case err != nil:
		return err
	case account.Status != advert.AccountActive:
		return refuse("ad_account_id", "The ad account is disabled.")
	case !slices.Contains(d.Caps().AudienceTypes, plan.Type):
		return refuse("type", "There are no audiences of this type.")
	case plan.Type == advert.AudienceTypeLookalike:
		source, err := d.store.GetSandboxAudience(ctx, c.Account, c.Channel, plan.SourceID)
		if err != nil {
			return err
		}
		return d.checkSource(source, plan.AdAccount.PlatformID)
	}
	return nil
}

// checkSource refuses a source of a lookalike that is not there or has too few people.
func (d *Driver) checkSource(source *advert.SandboxAudience, adAccount string) error {
	var of audienceDetail
	switch {
	case source == nil || source.AdAccountID != adAccount || source.DeletedAt != nil:
		return refuse("source_audience_id", "There is no such source.")
	case json.Unmarshal([]byte(source.Detail), &of) != nil || sizeOf(*source, of) < smallest:
		return refuse("source_audience_id", fmt.Sprintf("The source has less than %d people.", smallest))
	}
	return nil
}

// makeAudience stores a new audience under the next sequence number of the channel.
func (d *Driver) makeAudience(ctx context.Context, c ads.Conn, adAccount, token string, of audienceDetail) (advert.SandboxAudience, error) {
	text, err := json.Marshal(of)
	if err != nil {
		return advert.SandboxAudience{}, fmt.Errorf("write audience: %w", err)
	}
	now := core.TimeOf(c.Now())
	made, err := d.store.CreateSandboxAudience(ctx, c.Account, c.Channel, func(seq int64) advert.SandboxAudience {
		return advert.SandboxAudience{
			AccountID: c.Account, ChannelID: c.Channel, ID: d.id(c, kindAudience, seq), AdAccountID: adAccount, Seq: seq,
			Token: token, Detail: string(text), CreatedAt: now, UpdatedAt: now,
		}
	})
	return made, unanswered(err)
}

// Audience implements ads.Network.
func (d *Driver) Audience(ctx context.Context, c ads.Conn, adAccount, id string) (advert.Audience, error) {
	if _, err := d.read(ctx, c, adAccount); err != nil {
		return advert.Audience{}, err
	}
	return d.audience(ctx, c, adAccount, id)
}

// audience returns an audience of an ad account, or ads.ErrNotFound.
func (d *Driver) audience(ctx context.Context, c ads.Conn, adAccount, id string) (advert.Audience, error) {
	found, err := d.store.GetSandboxAudience(ctx, c.Account, c.Channel, id)
	if err != nil {
		return advert.Audience{}, err
	}
	if found == nil || found.AdAccountID != adAccount || found.DeletedAt != nil {
		return advert.Audience{}, fmt.Errorf("audience %s: %w", id, ads.ErrNotFound)
	}
	return d.readAudience(*found, c)
}

// Audiences implements ads.Network.
func (d *Driver) Audiences(ctx context.Context, c ads.Conn, adAccount string) ([]advert.Audience, error) {
	if _, err := d.read(ctx, c, adAccount); err != nil {
		return nil, err
	}
	found, err := d.store.ListSandboxAudiences(ctx, c.Account, c.Channel, adAccount)
	if err != nil {
		return nil, err
	}
	all := make([]advert.Audience, len(found))
	for i := range found {
		if all[i], err = d.readAudience(found[i], c); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// DeleteAudience implements ads.Network.
func (d *Driver) DeleteAudience(ctx context.Context, c ads.Conn, adAccount, id string) error {
	fault, err := d.enter(ctx, c, true)
	if err != nil {
		return err
	}
	if _, err := d.audience(ctx, c, adAccount, id); err != nil {
		return err
	}
	deleted, err := d.store.DeleteSandboxAudience(ctx, c.Account, c.Channel, id, core.TimeOf(c.Now()))
	if err != nil {
		return unanswered(err)
	}
	if !deleted {
		return fmt.Errorf("audience %s: %w", id, ads.ErrNotFound)
	}
	return fault.lost(ctx)
}

// hexDigest matches a SHA-256 in lower-case hexadecimal digits.
var hexDigest = regexp.MustCompile(`^[0-9a-f]{64}$`)

// UploadUsers implements ads.Network. Only the first valid identifier of a user counts as a person, so that nobody is
// counted twice.
func (d *Driver) UploadUsers(ctx context.Context, c ads.Conn, u ads.Upload) (ads.Uploaded, error) {
	fault, err := d.enter(ctx, c, true)
	if err != nil {
		return ads.Uploaded{}, err
	}
	list, err := d.listOf(ctx, c, u)
	if err != nil {
		return ads.Uploaded{}, err
	}
	var done ads.Uploaded
	var people []string
	known := map[int]bool{} // users, by their place in the request
	for place, m := range u.Members {
		switch {
		case !fault.does(place):
			done.Invalid = append(done.Invalid, ads.InvalidMember{Place: place, Message: "The sandbox was told not to take this."})
			continue
		case !hexDigest.MatchString(m.Hash):
			done.Invalid = append(done.Invalid, ads.InvalidMember{Place: place, Message: "This is no SHA-256 in lower-case hexadecimal digits."})
			continue
		case !known[m.Index]:
			people = append(people, m.Hash)
		}
		known[m.Index] = true
		done.Accepted++
	}
	after, err := d.store.AddSandboxMembers(ctx, c.Account, c.Channel, *list.PlatformID, people, isKnown, core.TimeOf(c.Now()))
	if err != nil {
		return ads.Uploaded{}, unanswered(err)
	}
	if after == nil {
		return ads.Uploaded{}, fmt.Errorf("audience %s: %w", *list.PlatformID, ads.ErrNotFound)
	}
	if done.Audience, err = d.readAudience(*after, c); err != nil {
		return ads.Uploaded{}, err
	}
	return done, fault.lost(ctx)
}

// RemoveUsers implements ads.Network. An upload counted the first identifier of each person, so whichever is known leaves.
func (d *Driver) RemoveUsers(ctx context.Context, c ads.Conn, u ads.Upload) (advert.Audience, error) {
	fault, err := d.enter(ctx, c, true)
	switch {
	case err != nil:
		return advert.Audience{}, err
	case u.Audience.Type != advert.AudienceTypeCustomerList:
		return advert.Audience{}, refuse("type", "People are in customer lists only.")
	case u.Audience.PlatformID == nil:
		return advert.Audience{}, fmt.Errorf("audience %s: %w", u.Audience.ID, ads.ErrNotFound)
	}
	if _, err := d.audience(ctx, c, u.Audience.AdAccountID, *u.Audience.PlatformID); err != nil {
		return advert.Audience{}, err
	}
	hashes := make([]string, len(u.Members))
	for i, m := range u.Members {
		hashes[i] = m.Hash
	}
	after, err := d.store.RemoveSandboxMembers(ctx, c.Account, c.Channel, *u.Audience.PlatformID, hashes, isKnown, core.TimeOf(c.Now()))
	if err != nil {
		return advert.Audience{}, unanswered(err)
	}
	if after == nil {
		return advert.Audience{}, fmt.Errorf("audience %s: %w", *u.Audience.PlatformID, ads.ErrNotFound)
	}
	left, err := d.readAudience(*after, c)
	if err != nil {
		return advert.Audience{}, err
	}
	return left, fault.lost(ctx)
}

// listOf returns the customer list of an upload. If the network has none yet, it is made now, unless an earlier upload
// whose answer was lost has made it.
func (d *Driver) listOf(ctx context.Context, c ads.Conn, u ads.Upload) (advert.Audience, error) {
	if u.Audience.Type != advert.AudienceTypeCustomerList {
		return advert.Audience{}, refuse("type", "People can be added to customer lists only.")
	}
	if u.Audience.PlatformID != nil {
		return d.audience(ctx, c, u.Audience.AdAccountID, *u.Audience.PlatformID)
	}
	if _, err := d.account(c, u.Audience.AdAccountID); err != nil {
		return advert.Audience{}, err
	}
	_, made, err := d.store.FindSandboxToken(ctx, c.Account, c.Channel, u.Audience.ID)
	if err != nil {
		return advert.Audience{}, err
	}
	if len(made) > 0 { // by an upload of which nothing was heard
		return d.audience(ctx, c, u.Audience.AdAccountID, made[0])
	}
	of := audienceDetail{Name: u.Audience.Name, Description: u.Audience.Description, Type: u.Audience.Type}
	list, err := d.makeAudience(ctx, c, u.Audience.AdAccountID, u.Audience.ID, of)
	return d.mirror(list, of, c), err
}

// isKnown reports whether the network knows the person with a hash: it knows six of ten.
func isKnown(digest string) bool { return hash(digest, 0)%10 < 6 }

// readAudience returns a stored audience as the mirror has it.
func (d *Driver) readAudience(a advert.SandboxAudience, c ads.Conn) (advert.Audience, error) {
	var of audienceDetail
	if err := json.Unmarshal([]byte(a.Detail), &of); err != nil {
		return advert.Audience{}, fmt.Errorf("read detail of %s: %w", a.ID, err)
	}
	return d.mirror(a, of, c), nil
}

// mirror returns an audience as the mirror has it. Its size is known only once it is no longer processed.
func (d *Driver) mirror(a advert.SandboxAudience, of audienceDetail, c ads.Conn) advert.Audience {
	audience := advert.Audience{
		AdAccountID: a.AdAccountID, PlatformID: &a.ID, Name: of.Name, Description: of.Description, Type: of.Type, Status: d.progress(a, of, core.TimeOf(c.Now())),
		RetentionDays: of.RetentionDays, PixelID: of.PixelID, Country: of.Country, Ratio: of.Ratio, PlatformCreatedAt: &a.CreatedAt,
	}
	if audience.Status == advert.AudienceStatusReady || audience.Status == advert.AudienceStatusTooSmall {
		size := sizeOf(a, of)
		audience.Size = &size
	}
	audience.PlatformStatus = audienceWord(d.platform, audience.Status)
	return audience
}

// progress returns the state of an audience at a time. A customer list is pending until people were uploaded.
func (d *Driver) progress(a advert.SandboxAudience, of audienceDetail, now core.Time) advert.AudienceStatus {
	begun := a.CreatedAt
	if of.Type == advert.AudienceTypeCustomerList {
		if a.UploadedAt == nil {
			return advert.AudienceStatusPending
		}
		begun = *a.UploadedAt
	}
	delay := max(d.options.AudienceDelay, 0)
	switch {
	case of.Type != advert.AudienceTypeCustomerList && now < begun.Add(delay/2):
		return advert.AudienceStatusPending
	case now < begun.Add(delay):
		return advert.AudienceStatusProcessing
	case sizeOf(a, of) < smallest:
		return advert.AudienceStatusTooSmall
	}
	return advert.AudienceStatusReady
}

// sizeOf returns how many people are in an audience.
func sizeOf(a advert.SandboxAudience, of audienceDetail) int64 {
	switch of.Type {
	case advert.AudienceTypeCustomerList:
		return a.Matched
	case advert.AudienceTypeLookalike:
		people := 5_000_000 + int64(hash(of.Country, 0)%50_000_000)
		return scale(people, int64(min(of.Ratio, advert.RatioOne)), int64(advert.RatioOne))
	default:
		return int64(hash(of.PixelID, of.RetentionDays) % 20_000)
	}
}

// audienceWord returns the network's word for the state of an audience.
func audienceWord(p advert.Platform, status advert.AudienceStatus) string {
	if p == advert.PlatformPinterest && (status == advert.AudienceStatusPending || status == advert.AudienceStatusProcessing) {
		return "INITIALIZING"
	}
	return map[advert.AudienceStatus]string{
		advert.AudienceStatusPending: "PENDING", advert.AudienceStatusProcessing: "PROCESSING",
		advert.AudienceStatusReady: "READY", advert.AudienceStatusTooSmall: "TOO_SMALL",
	}[status]
}
