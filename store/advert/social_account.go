package advert

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
)

// AdsStatus says whether a channel can be used for ads.
type AdsStatus string

// A channel is inactive until it is activated. Error means that its network does not let us in any more.
const (
	AdsStatusInactive AdsStatus = "inactive"
	AdsStatusActive   AdsStatus = "active"
	AdsStatusError    AdsStatus = "error"
)

// SocialAccount is a channel: an account's connection to a profile or page at one network.
type SocialAccount struct {
	AccountID      string              `db:"account_id"`
	ID             string              `db:"id"` // sacct_
	Platform       Platform            `db:"platform"`
	Driver         string              `db:"driver"`      // who speaks to the network: sandbox, meta, pinterest
	PlatformID     string              `db:"platform_id"` // the network's id of the profile or page
	Username       string              `db:"username"`
	DisplayName    string              `db:"display_name"`
	AdsStatus      AdsStatus           `db:"ads_status"`
	AdsActivatedAt *core.Time          `db:"ads_activated_at"`
	AdAccountIDs   core.JSON[[]string] `db:"ad_account_ids"` // platform ids that the channel is limited to; empty = all
	SealedToken    []byte              `db:"token"`
	SealedRefresh  []byte              `db:"refresh_token"`    // nil = the token cannot be renewed
	RefreshAt      *core.Time          `db:"refresh_at"`       // when it is renewed next; nil = it is not
	TokenExpiresAt *core.Time          `db:"token_expires_at"` // nil = not known, or never
	Scopes         core.JSON[[]string] `db:"scopes"`           // what the network lets the token do, in its words; empty = not known
	LastError      string              `db:"last_error"`       // why the network does not let us in any more
	DeletedAt      *core.Time          `db:"deleted_at"`       // kept without its token, for its history
	CreatedAt      core.Time           `db:"created_at"`
	UpdatedAt      core.Time           `db:"updated_at"`
}

// IsActivated reports whether ads can be made through the channel.
func (a *SocialAccount) IsActivated() bool { return a.AdsStatus == AdsStatusActive }

// Allows reports whether the channel may use an ad account.
func (a *SocialAccount) Allows(adAccount string) bool {
	return len(a.AdAccountIDs.V) == 0 || slices.Contains(a.AdAccountIDs.V, adAccount)
}

var socialAccountColumns = db.ColumnsOf[SocialAccount]("social_accounts")

// maxSocialAccounts is how many channels an account may have.
const maxSocialAccounts = 200

// NewSocialAccount is a channel to connect. The database gets its access sealed.
type NewSocialAccount struct {
	Platform     Platform
	Driver       string
	PlatformID   string
	AlsoID       string // another id under which the profile may have been connected before
	Username     string
	DisplayName  string
	AdAccountIDs []string // nil = as before, or all
	SocialAccess
}

// check returns CodeInvalid, with every field at fault, for a channel that cannot be connected.
func (n *NewSocialAccount) check() error {
	var p core.Problems
	p.Check(n.Platform.IsKnown(), "platform", platformMessage)
	for field, text := range map[string]string{"username": n.Username, "display_name": n.DisplayName} {
		p.Check(utf8.RuneCountInString(text) <= 255, field, "Send at most 255 characters.")
	}
	p.Check(len(n.AdAccountIDs) <= 100, "scoped_ad_account_ids", "Send at most 100 ids of ad accounts.")
	return p.Err()
}

var platformMessage = "Send one of " + platformNames() + "."

func platformNames() string {
	names := make([]string, len(Platforms))
	for i, p := range Platforms {
		names[i] = string(p)
	}
	return strings.Join(names, ", ")
}

// ListSocialAccounts holds the filters of a list of channels. An empty one does not filter.
type ListSocialAccounts struct {
	core.Page
	Platform  Platform
	AdsStatus AdsStatus
}

// ConnectSocialAccount connects a channel, which is inactive for ads at first. A profile that is or was connected already keeps
// its channel, which gets the new access: see take. The 201st channel of an account is CodeInvalid. It locks the account, so that
// two requests can neither take the last place both, nor make two channels of one profile.
func (s *Store) ConnectSocialAccount(ctx context.Context, account string, in NewSocialAccount) (*SocialAccount, error) {
	if err := in.check(); err != nil {
		return nil, err
	}
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (*SocialAccount, error) {
		if err := u.LockAccount(ctx, account); err != nil {
			return nil, err
		}
		return s.connectSocialAccount(ctx, u, account, &in)
	})
}

// connectSocialAccount does the work of ConnectSocialAccount inside a transaction that has locked the account.
func (s *Store) connectSocialAccount(ctx context.Context, u *db.Unit, account string, in *NewSocialAccount) (*SocialAccount, error) {
	known, err := s.lockProfile(ctx, u, account, in)
	if err != nil {
		return nil, err
	}
	if known == nil || known.DeletedAt != nil {
		if err := s.checkRoom(ctx, u, account); err != nil {
			return nil, err
		}
	}
	if known != nil {
		s.take(known, in)
		if err := s.reviveDestinations(ctx, u, known); err != nil {
			return nil, err
		}
		return known, u.Update(ctx, socialAccountColumns, known)
	}
	a := &SocialAccount{
		AccountID: account, ID: core.NewID(core.KindSocialAccount), Platform: in.Platform, Driver: in.Driver, AdsStatus: AdsStatusInactive, CreatedAt: s.Now(),
	}
	s.take(a, in)
	return a, u.Insert(ctx, socialAccountColumns, a)
}

// checkRoom returns CodeInvalid if the account has as many channels as it may.
func (s *Store) checkRoom(ctx context.Context, r db.Reader, account string) error {
	others, err := db.Get[int](ctx, r, `SELECT count(*) FROM social_accounts WHERE account_id = ? AND deleted_at IS NULL`, account)
	if err != nil {
		return fmt.Errorf("count channels: %w", err)
	}
	if *others >= maxSocialAccounts {
		return core.Invalid("platform", "The account has 200 channels, which is the most. Delete one first, with DELETE /socials/{id}.")
	}
	return nil
}

// sealContext returns the text that binds a sealed token to its channel: the token of one channel cannot be opened as
// that of another.
func (a *SocialAccount) sealContext() string { return "channel\x00" + a.AccountID + "\x00" + a.ID }

// ChannelToken opens the sealed access of a channel to its network.
func (s *Store) ChannelToken(a *SocialAccount) (string, error) {
	token, err := s.db.Options.Sealer.Open(a.SealedToken, a.sealContext())
	return string(token), err
}

// GetSocialAccount returns a channel, or CodeMissing.
func (s *Store) GetSocialAccount(ctx context.Context, account, ref string) (*SocialAccount, error) {
	return s.getSocialAccount(ctx, s.db, account, ref, "")
}

// ListSocialAccounts returns a page of channels, newest first, and whether there are more.
func (s *Store) ListSocialAccounts(ctx context.Context, account string, in ListSocialAccounts) ([]SocialAccount, bool, error) {
	var f db.Filter
	f.OrderedIfSet("platform", string(in.Platform))
	f.OrderedIfSet("ads_status", string(in.AdsStatus))
	f.And(`deleted_at IS NULL`)
	return db.Page(ctx, s.db, socialAccountColumns, core.KindSocialAccount, account, in.Page, &f)
}

// ActivateSocialAccount lets ads be made through a channel. If it is active already, nothing changes. If it does not
// exist, the error is CodeMissing on account_id.
func (s *Store) ActivateSocialAccount(ctx context.Context, account, ref string) (*SocialAccount, error) {
	return s.setAdsStatus(ctx, account, ref, "account_id", AdsStatusActive)
}

// DeactivateSocialAccount ends the use of a channel for ads. Lists leave out what is in it, and nothing of it can be read or changed until it is
// activated again. What runs at the network goes on.
func (s *Store) DeactivateSocialAccount(ctx context.Context, account, ref string) (*SocialAccount, error) {
	return s.setAdsStatus(ctx, account, ref, "", AdsStatusInactive)
}

// FailSocialAccount stores that the network does not accept a channel's access any more, and why. Only an active channel gets this state, and only if
// it still has the access that was refused. It may have got another one while the network was asked. It commits at once, because the request is
// answered with an error, which would roll it back.
func (s *Store) FailSocialAccount(ctx context.Context, asked *SocialAccount, why string) error {
	_, err := db.Step(ctx, s.db, func(ctx context.Context, u *db.Unit) (int64, error) {
		return u.Exec(ctx, `UPDATE social_accounts SET ads_status = 'error', last_error = ?, updated_at = ?
			WHERE account_id = ? AND id = ? AND ads_status = 'active' AND token = ?`, why, s.Now(), asked.AccountID, asked.ID, asked.SealedToken)
	})
	return err
}

// setAdsStatus locks a channel and gives it a status. param is the parameter that a CodeMissing is about.
func (s *Store) setAdsStatus(ctx context.Context, account, ref, param string, status AdsStatus) (*SocialAccount, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (*SocialAccount, error) {
		a, err := s.lockSocialAccount(ctx, u, account, ref, param)
		if err != nil || a.AdsStatus == status {
			return a, err
		}
		a.AdsStatus, a.UpdatedAt = status, s.Now()
		if status == AdsStatusActive {
			a.AdsActivatedAt, a.LastError = &a.UpdatedAt, ""
			if err := s.reviveDestinations(ctx, u, a); err != nil {
				return nil, err
			}
		}
		return a, u.Update(ctx, socialAccountColumns, a)
	})
}

// ActivatedChannel returns a channel that ads can be made through. If the account has no such channel, the error is
// CodeMissing on account_id, even if another account has it; if it is not activated, CodeNotActivated.
func (s *Store) ActivatedChannel(ctx context.Context, account, ref string) (*SocialAccount, error) {
	a, err := s.getSocialAccount(ctx, s.db, account, ref, "account_id")
	if err == nil && !a.IsActivated() {
		err = notActivated("The channel " + a.ID + " is not activated for ads.")
	}
	if err != nil {
		return nil, err
	}
	return a, nil
}

// ActivatedChannels returns all channels that ads can be made through, by id. If the account has none, the error is
// CodeNotActivated.
func (s *Store) ActivatedChannels(ctx context.Context, account string) (map[string]*SocialAccount, error) {
	rows, err := db.Select[SocialAccount](ctx, s.db, socialAccountColumns.SelectSQL+` WHERE account_id = ? AND ads_status = 'active' ORDER BY id`, account)
	if err != nil {
		return nil, fmt.Errorf("read channels: %w", err)
	}
	if len(rows) == 0 {
		return nil, notActivated("No channel is activated for ads.")
	}
	channels := make(map[string]*SocialAccount, len(rows))
	for i := range rows {
		channels[rows[i].ID] = &rows[i]
	}
	return channels, nil
}

// notActivated returns the error for a channel that is not activated. It tells how to activate one.
func notActivated(message string) *core.Error {
	return &core.Error{Code: core.CodeNotActivated, Param: "account_id", Message: message + " Activate it with POST /socials/activate."}
}

// getSocialAccount returns a channel, or CodeMissing on param.
func (s *Store) getSocialAccount(ctx context.Context, r db.Reader, account, ref, param string) (*SocialAccount, error) {
	return findSocialAccount(ctx, r, account, ref, param)
}

// lockSocialAccount does what getSocialAccount does, and locks the row until the transaction ends.
func (s *Store) lockSocialAccount(ctx context.Context, u *db.Unit, account, ref, param string) (*SocialAccount, error) {
	return findSocialAccount(ctx, u.Locked(), account, ref, param)
}

func findSocialAccount(ctx context.Context, r db.Reader, account, ref, param string) (*SocialAccount, error) {
	id, ok := core.ParseID(core.KindSocialAccount, ref)
	if !ok {
		return nil, core.Missing("channel", param, ref)
	}
	a, err := db.Get[SocialAccount](ctx, r, socialAccountColumns.SelectSQL+` WHERE account_id = ? AND id = ? AND deleted_at IS NULL`, account, id)
	if err == nil && a == nil {
		err = core.Missing("channel", param, ref)
	}
	return a, err
}
