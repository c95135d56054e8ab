package advert

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
)

// ConnectionStatus says how far a channel is that is being connected by consent.
type ConnectionStatus string

// The statuses of a connection. Answered is what a pending one is while the network is asked for the access; it is shown as pending.
// Expired is shown of what is pending or to be chosen past its end, and never stored.
const (
	ConnectionPending   ConnectionStatus = "pending"
	ConnectionAnswered  ConnectionStatus = "answered"
	ConnectionChoose    ConnectionStatus = "choose"
	ConnectionConnected ConnectionStatus = "connected"
	ConnectionDenied    ConnectionStatus = "denied"
	ConnectionFailed    ConnectionStatus = "failed"
	ConnectionExpired   ConnectionStatus = "expired"
)

const (
	// consentTime is how long somebody has to give their consent, and then as long again to select a profile.
	consentTime = 10 * time.Minute
	// maxConnections is how many connections of an account may wait for an answer.
	maxConnections = 200
	// connectionRetention is how long connections are kept.
	connectionRetention = 7 * 24 * time.Hour
)

// SocialConnection is a channel that is being connected by the consent of whoever has the profile.
type SocialConnection struct {
	AccountID      string                     `db:"account_id"`
	ID             string                     `db:"id"` // sconn_
	Platform       Platform                   `db:"platform"`
	Driver         string                     `db:"driver"`
	Status         ConnectionStatus           `db:"status"`
	StateHash      string                     `db:"state_hash"`
	SealedVerifier []byte                     `db:"verifier"`
	ReturnURL      string                     `db:"return_url"`
	ChannelID      string                     `db:"channel_id"`
	Profiles       core.JSON[[]SocialProfile] `db:"profiles"`
	SealedAccess   []byte                     `db:"access"`
	Error          string                     `db:"error"`
	ExpiresAt      core.Time                  `db:"expires_at"`
	CreatedAt      core.Time                  `db:"created_at"`
	UpdatedAt      core.Time                  `db:"updated_at"`
}

// SocialProfile is a profile or page at a network that a consent was given for.
type SocialProfile struct {
	ID       string `json:"id"`
	AlsoID   string `json:"also_id,omitempty"` // another id under which it may have been connected before
	Username string `json:"username,omitempty"`
	Name     string `json:"name"`
}

// SocialAccess is what a network gives with a consent. Its texts are secrets.
type SocialAccess struct {
	Token     string     `json:"token"`
	Refresh   string     `json:"refresh,omitempty"` // by which the token is renewed; empty if it cannot be
	ExpiresAt *core.Time `json:"expires_at,omitempty"`
	Scopes    []string   `json:"scopes,omitempty"`
}

// StatusAt returns the status that is shown at a time.
func (c *SocialConnection) StatusAt(now core.Time) ConnectionStatus {
	switch {
	case c.Status != ConnectionPending && c.Status != ConnectionAnswered && c.Status != ConnectionChoose:
		return c.Status
	case c.ExpiresAt <= now:
		return ConnectionExpired
	case c.Status == ConnectionAnswered:
		return ConnectionPending
	}
	return c.Status
}

var socialConnectionColumns = db.ColumnsOf[SocialConnection]("social_connections")

func (c *SocialConnection) sealContext(what string) string {
	return "connection " + what + "\x00" + c.AccountID + "\x00" + c.ID
}

// hashOfState returns what is stored of the text that somebody brings back from the network. It has 128 random bits, so that no salt
// is needed.
func hashOfState(state string) string {
	sum := sha256.Sum256([]byte("social connection\x00" + state))
	return hex.EncodeToString(sum[:])
}

// NewSocialConnection is a connection to begin.
type NewSocialConnection struct {
	Platform  Platform
	Driver    string
	ReturnURL string
	State     string // secret; only its hash is stored
	Verifier  string // secret; stored sealed
}

// CreateSocialConnection begins a connection. The 201st of an account that waits for an answer is CodeInvalid.
func (s *Store) CreateSocialConnection(ctx context.Context, account string, in NewSocialConnection) (*SocialConnection, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (*SocialConnection, error) {
		if err := u.LockAccount(ctx, account); err != nil {
			return nil, err
		}
		now := s.Now()
		waiting, err := db.Get[int](ctx, u, `SELECT count(*) FROM (SELECT id FROM social_connections
			WHERE account_id = ? AND id > ? AND status = 'pending' AND expires_at > ? LIMIT ?) AS open`,
			account, core.IDsBefore(core.KindSocialConnection, now.Add(-consentTime-db.KeyLifetime)), now, maxConnections)
		if err != nil {
			return nil, fmt.Errorf("count connections: %w", err)
		}
		if *waiting >= maxConnections {
			return nil, core.Invalid("platform", fmt.Sprintf("%d connections of the account wait for an answer, which is the most. Each ends ten minutes after it began.", maxConnections))
		}
		c := &SocialConnection{
			AccountID: account, ID: core.NewID(core.KindSocialConnection), Platform: in.Platform, Driver: in.Driver, Status: ConnectionPending,
			StateHash: hashOfState(in.State), ReturnURL: in.ReturnURL, Profiles: core.JSONOf([]SocialProfile{}),
			ExpiresAt: now.Add(consentTime), CreatedAt: now, UpdatedAt: now,
		}
		c.SealedVerifier = s.db.Options.Sealer.Seal([]byte(in.Verifier), c.sealContext("verifier"))
		return c, u.Insert(ctx, socialConnectionColumns, c)
	})
}

// GetSocialConnection returns a connection, or CodeMissing.
func (s *Store) GetSocialConnection(ctx context.Context, account, ref string) (*SocialConnection, error) {
	return findSocialConnection(ctx, s.db, account, ref)
}

// lockSocialConnection does what GetSocialConnection does, and locks the row until the transaction ends.
func (s *Store) lockSocialConnection(ctx context.Context, u *db.Unit, account, ref string) (*SocialConnection, error) {
	return findSocialConnection(ctx, u.Locked(), account, ref)
}

func findSocialConnection(ctx context.Context, r db.Reader, account, ref string) (*SocialConnection, error) {
	id, ok := core.ParseID(core.KindSocialConnection, ref)
	if !ok {
		return nil, core.Missing("connection", "", ref)
	}
	c, err := db.Get[SocialConnection](ctx, r, socialConnectionColumns.SelectSQL+` WHERE account_id = ? AND id = ?`, account, id)
	if err == nil && c == nil {
		err = core.Missing("connection", "", ref)
	}
	return c, err
}

// TakeSocialConnection returns the connection that somebody brings the state of, and its verifier. Nobody else gets it again: of
// several who bring the same state, one does. It is nil for a state that was brought before, that is late, or that is not ours. It is also nil for
// the state of another network or of a disabled account. It commits at once, before the network is asked.
//
// A person brings the state, without a key of the API, so that the account is found by it. It is a secret of 128 bits.
func (s *Store) TakeSocialConnection(ctx context.Context, platform Platform, state string) (*SocialConnection, string, error) {
	c, err := db.Step(ctx, s.db, func(ctx context.Context, u *db.Unit) (*SocialConnection, error) {
		hash, now := hashOfState(state), s.Now()
		c, err := db.Get[SocialConnection](ctx, u, socialConnectionColumns.SelectSQL+` WHERE state_hash = ?`, hash)
		if err != nil || c == nil {
			return nil, err
		}
		taken, err := u.Exec(ctx, `UPDATE social_connections SET status = 'answered', updated_at = ?
			WHERE account_id = ? AND id = ? AND platform = ? AND status = 'pending' AND expires_at > ? AND `+db.EnabledAccount, now, c.AccountID, c.ID, platform, now)
		if err != nil || taken == 0 {
			return nil, err
		}
		c.Status, c.UpdatedAt = ConnectionAnswered, now
		return c, nil
	})
	if err != nil || c == nil {
		return nil, "", err
	}
	verifier, err := s.db.Options.Sealer.Open(c.SealedVerifier, c.sealContext("verifier"))
	return c, string(verifier), err
}

// EndSocialConnection stores that a connection that was answered came to nothing: denied, or failed with what is to be said about it.
func (s *Store) EndSocialConnection(ctx context.Context, c *SocialConnection, status ConnectionStatus, why string) (*SocialConnection, error) {
	return s.settleConnection(ctx, c, ConnectionAnswered, func(_ context.Context, _ *db.Unit, c *SocialConnection) error {
		c.Status, c.Error = status, why
		return nil
	})
}

// OfferProfiles keeps the access of a connection that was answered until one of the profiles is selected.
func (s *Store) OfferProfiles(ctx context.Context, c *SocialConnection, access SocialAccess, profiles []SocialProfile) (*SocialConnection, error) {
	return s.settleConnection(ctx, c, ConnectionAnswered, func(_ context.Context, _ *db.Unit, c *SocialConnection) error {
		text, err := json.Marshal(access)
		if err != nil {
			return fmt.Errorf("keep an access: %w", err)
		}
		c.Status, c.Profiles, c.ExpiresAt = ConnectionChoose, core.JSONOf(profiles), s.Now().Add(consentTime)
		c.SealedAccess = s.db.Options.Sealer.Seal(text, c.sealContext("access"))
		return nil
	})
}

// ConnectProfile connects the profile of a connection that was answered, as ConnectSocialAccount does.
func (s *Store) ConnectProfile(ctx context.Context, c *SocialConnection, access SocialAccess, profile SocialProfile) (*SocialConnection, error) {
	return s.settleConnection(ctx, c, ConnectionAnswered, func(ctx context.Context, u *db.Unit, c *SocialConnection) error {
		return s.connectProfile(ctx, u, c, access, profile)
	})
}

// SelectProfile connects one of the profiles that a connection offers, as ConnectSocialAccount does. A connection that does not
// offer any, or not any more, is CodeInvalid on status; a profile that it does not offer on platform_account_id.
func (s *Store) SelectProfile(ctx context.Context, account, ref, id string) (*SocialConnection, error) {
	c, err := s.GetSocialConnection(ctx, account, ref)
	if err != nil {
		return nil, err
	}
	return s.settleConnection(ctx, c, ConnectionChoose, func(ctx context.Context, u *db.Unit, c *SocialConnection) error {
		if s.Now() >= c.ExpiresAt {
			return core.Invalid("status", "It is too late to select a profile. Begin another connection with POST /socials/connect.")
		}
		text, err := s.db.Options.Sealer.Open(c.SealedAccess, c.sealContext("access"))
		if err != nil {
			return fmt.Errorf("open the access of %s: %w", c.ID, err)
		}
		var access SocialAccess
		if err := json.Unmarshal(text, &access); err != nil {
			return fmt.Errorf("read the access of %s: %w", c.ID, err)
		}
		for _, profile := range c.Profiles.V {
			if profile.ID == id {
				return s.connectProfile(ctx, u, c, access, profile)
			}
		}
		return core.Invalid("platform_account_id", "The consent was not given for this profile. Send the platform_account_id of one of the connection's profiles.")
	})
}

// settleConnection locks the account, then a connection that must be in a status, changes and stores it.
func (s *Store) settleConnection(ctx context.Context, c *SocialConnection, from ConnectionStatus, change func(context.Context, *db.Unit, *SocialConnection) error) (*SocialConnection, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (*SocialConnection, error) {
		if err := u.LockAccount(ctx, c.AccountID); err != nil {
			return nil, err
		}
		now, err := s.lockSocialConnection(ctx, u, c.AccountID, c.ID)
		if err != nil {
			return nil, err
		}
		if now.Status != from {
			return nil, core.Invalid("status", fmt.Sprintf("The connection is %s. Only one whose status is choose has a profile to select.", now.StatusAt(s.Now())))
		}
		if err := change(ctx, u, now); err != nil {
			return nil, err
		}
		now.UpdatedAt = s.Now()
		return now, u.Update(ctx, socialConnectionColumns, now)
	})
}

// connectProfile connects a profile, and ends its connection with the channel. The access stays with the channel alone.
func (s *Store) connectProfile(ctx context.Context, u *db.Unit, c *SocialConnection, access SocialAccess, profile SocialProfile) error {
	channel, err := s.connectSocialAccount(ctx, u, c.AccountID, &NewSocialAccount{
		Platform: c.Platform, Driver: c.Driver, PlatformID: profile.ID, AlsoID: profile.AlsoID, Username: profile.Username, DisplayName: profile.Name,
		SocialAccess: access,
	})
	if err != nil {
		return err
	}
	c.Status, c.ChannelID, c.SealedAccess = ConnectionConnected, channel.ID, nil
	return nil
}

// DeleteOldConnections deletes at most limit connections that began a week ago, of all accounts. It also forgets as many accesses of which nobody selected
// a profile in time. It returns how many of both.
func (s *Store) DeleteOldConnections(ctx context.Context, limit int) (int64, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (int64, error) {
		now := s.Now()
		forgotten, err := u.ExecBatch(ctx, `UPDATE social_connections SET access = NULL`,
			`social_connections WHERE status = 'choose' AND expires_at < ? AND access IS NOT NULL ORDER BY expires_at LIMIT ?`, now, limit)
		if err != nil {
			return 0, fmt.Errorf("forget what nobody selected: %w", err)
		}
		deleted, err := u.ExecBatch(ctx, `DELETE FROM social_connections`,
			`social_connections WHERE created_at < ? ORDER BY created_at LIMIT ?`, now.Add(-connectionRetention), limit)
		return forgotten + deleted, err
	})
}
