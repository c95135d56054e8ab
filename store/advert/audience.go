package advert

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
)

// AudienceType says how an audience is made.
type AudienceType string

// The types of audience.
const (
	AudienceTypeCustomerList AudienceType = "customer_list"
	AudienceTypeRetargeting  AudienceType = "retargeting"
	AudienceTypeLookalike    AudienceType = "lookalike"
)

// AudienceStatus says whether an audience can be used.
type AudienceStatus string

// The states of an audience.
const (
	AudienceStatusPending    AudienceStatus = "pending" // the network has nothing of it yet
	AudienceStatusProcessing AudienceStatus = "processing"
	AudienceStatusReady      AudienceStatus = "ready"
	AudienceStatusTooSmall   AudienceStatus = "too_small"
	AudienceStatusError      AudienceStatus = "error"
)

// Audience is a group of people that ads can be shown to. A driver fills in the fields from PlatformID to
// PlatformCreatedAt; the store fills in the rest.
type Audience struct {
	AccountID         string         `db:"account_id"`
	ID                string         `db:"id"` // aud_
	ChannelID         string         `db:"channel_id"`
	Platform          Platform       `db:"platform"`
	AdAccountID       string         `db:"ad_account_id"` // platform id
	PlatformID        *string        `db:"platform_id"`   // nil while the network makes it only with the first upload
	Name              string         `db:"name"`
	Description       string         `db:"description"`
	Type              AudienceType   `db:"type"`
	Size              *int64         `db:"size"` // nil = unknown
	Status            AudienceStatus `db:"status"`
	PlatformStatus    string         `db:"platform_status"` // the network's word
	StatusReason      string         `db:"status_reason"`   // the network's sentence about an error
	RetentionDays     int            `db:"retention_days"`  // 0 = none
	PixelID           string         `db:"pixel_id"`        // of retargeting
	Country           string         `db:"country"`         // of a lookalike, two letters
	Ratio             Ratio          `db:"ratio"`           // of a lookalike
	PlatformCreatedAt *core.Time     `db:"platform_created_at"`
	SourceAudienceID  string         `db:"source_audience_id"` // aud_, of a lookalike
	Source            Source         `db:"source"`
	DeletedAt         *core.Time     `db:"deleted_at"`
	CreatedAt         core.Time      `db:"created_at"`
	UpdatedAt         core.Time      `db:"updated_at"`
}

// Identifier is a kind of data by whose hash a network recognises a person.
type Identifier string

// The kinds of identifier.
const (
	IdentifierEmail Identifier = "email"
	IdentifierPhone Identifier = "phone"
)

// Member is one identifier of somebody in a customer list. A user who was sent with two is two members.
type Member struct {
	Kind  Identifier `db:"kind"`
	Hash  string     `db:"hash"`       // SHA-256, 64 lower-case hex digits, of the form that the network wants
	Index int        `db:"user_index"` // of the user in the request

	// Details are hashes of what else is known of the user, such as city, for networks that match it. They are sent along
	// and not stored.
	Details map[string]string `db:"-"`

	UploadedAt *core.Time `db:"uploaded_at"` // nil if it was not in the list before the action
}

var (
	audienceRows    = audienceMirror()
	audienceColumns = audienceRows.Columns
)

// audienceMirror returns the mirror of audiences. What a network did not tell does not overwrite what is stored. That counts for the description, the
// days of retention, the country, the ratio and the creation time. An audience that was made through this service keeps its type, and a deleted one
// stays deleted.
func audienceMirror() *mirror[Audience] {
	m := mirrorOf[Audience]("ad_audiences", "account_id, platform_id, platform", "channel_id", "platform", "ad_account_id", "platform_id", "source", "source_audience_id", "pixel_id")
	m.takes = map[string]string{
		"type":                `CASE t.source WHEN 'native' THEN t.type ELSE excluded.type END`,
		"description":         `CASE excluded.description WHEN '' THEN t.description ELSE excluded.description END`,
		"retention_days":      `CASE excluded.retention_days WHEN 0 THEN t.retention_days ELSE excluded.retention_days END`,
		"country":             `CASE excluded.country WHEN '' THEN t.country ELSE excluded.country END`,
		"ratio":               `CASE excluded.ratio WHEN 0 THEN t.ratio ELSE excluded.ratio END`,
		"deleted_at":          `t.deleted_at`,
		"platform_created_at": `COALESCE(excluded.platform_created_at, t.platform_created_at)`,
	}
	return m
}

// ListAudiences returns a page of the audiences of an ad account that an activated channel may use, newest first. If
// platform is not empty, only audiences of that network are listed.
func (s *Store) ListAudiences(ctx context.Context, account, channel, adAccount string, platform Platform, p Page) (*List[Audience], error) {
	c, err := s.ActivatedChannel(ctx, account, channel)
	if err != nil {
		return nil, err
	}
	if _, err := s.GetAccount(ctx, c, adAccount); err != nil {
		return nil, err
	}
	var f db.Filter
	f.OrderedIfSet("channel_id", c.ID)
	f.OrderedIfSet("ad_account_id", adAccount)
	f.OrderedIfSet("platform", string(platform))
	f.And("deleted_at IS NULL")
	return listPage(ctx, s, audienceColumns, account, p, &f, c.ID, adAccount, string(platform))
}

// GetAudience returns an audience that is not deleted. If there is none, the error is CodeMissing, with param as the
// parameter. If the account has no activated channel, or the channel of this audience is not activated, it is
// CodeNotActivated.
func (s *Store) GetAudience(ctx context.Context, account, ref, param string) (*Audience, error) {
	channels, err := s.ActivatedChannels(ctx, account)
	if err != nil {
		return nil, err
	}
	id, ok := core.ParseID(core.KindAudience, ref)
	if !ok {
		return nil, core.Missing("audience", param, ref)
	}
	a, err := db.Get[Audience](ctx, s.db, audienceColumns.SelectSQL+` WHERE account_id = ? AND id = ? AND deleted_at IS NULL`, account, id)
	switch {
	case err != nil:
		return nil, fmt.Errorf("read audience: %w", err)
	case a == nil:
		return nil, core.Missing("audience", param, ref)
	case channels[a.ChannelID] == nil:
		return nil, notActivated("The channel of this audience is not activated for ads.")
	}
	return a, nil
}

// AudiencesByID returns those of an account's audiences that have one of the ids, by id. One that is deleted, or is another account's, is
// not among them.
func (s *Store) AudiencesByID(ctx context.Context, account string, ids []string) (map[string]*Audience, error) {
	condition, arg := s.db.In("id", ids)
	return s.audiencesBy(ctx, func(a *Audience) string { return a.ID }, `account_id = ? AND `+condition, account, arg)
}

// AudiencesByPlatformID does the same for the ids that a network gave.
func (s *Store) AudiencesByPlatformID(ctx context.Context, account string, platform Platform, ids []string) (map[string]*Audience, error) {
	condition, arg := s.db.In("platform_id", ids)
	return s.audiencesBy(ctx, func(a *Audience) string { return core.Deref(a.PlatformID) }, `account_id = ? AND platform = ? AND `+condition, account, platform, arg)
}

func (s *Store) audiencesBy(ctx context.Context, key func(*Audience) string, where string, args ...any) (map[string]*Audience, error) {
	rows, err := db.Select[Audience](ctx, s.db, audienceColumns.SelectSQL+` WHERE `+where+` AND deleted_at IS NULL`, args...)
	if err != nil {
		return nil, fmt.Errorf("read audiences: %w", err)
	}
	found := make(map[string]*Audience, len(rows))
	for i := range rows {
		found[key(&rows[i])] = &rows[i]
	}
	return found, nil
}

// PutAudiences stores the audiences of an ad account as its network listed them. An audience that is new here is
// external. One that the network did not list is deleted, unless something was stored of it after the network was asked, at
// the time asked.
func (s *Store) PutAudiences(ctx context.Context, a *Account, found []Audience, asked core.Time) error {
	_, err := db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (any, error) {
		now, rows, ids := s.Now(), make([]Audience, 0, len(found)), make([]string, 0, len(found))
		for _, audience := range found {
			if audience.PlatformID == nil {
				continue
			}
			audience.place(a, SourceExternal, now)
			audience.ID, audience.CreatedAt = core.NewID(core.KindAudience), now
			rows, ids = append(rows, audience), append(ids, *audience.PlatformID)
		}
		slices.SortStableFunc(rows, func(a, b Audience) int {
			return cmp.Compare(core.Deref(a.PlatformCreatedAt), core.Deref(b.PlatformCreatedAt))
		})
		if err := audienceRows.upsert(ctx, s, u, onePer(rows, func(a *Audience) string { return *a.PlatformID })); err != nil {
			return nil, err
		}
		condition, arg := s.db.In("platform_id", ids)
		return u.Exec(ctx, `
			UPDATE ad_audiences SET deleted_at = ?, updated_at = ?
			WHERE account_id = ? AND channel_id = ? AND ad_account_id = ? AND deleted_at IS NULL AND platform_id IS NOT NULL AND updated_at < ? AND NOT (`+condition+`)`,
			now, now, a.AccountID, a.ChannelID, a.PlatformID, asked, arg)
	})
	return err
}

// RecordAudience stores the size and the status that a network reports of an audience. If nothing is new, nothing is
// written.
func (s *Store) RecordAudience(ctx context.Context, a Audience) error {
	_, err := db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (int64, error) {
		return u.Exec(ctx, `
			UPDATE ad_audiences SET size = ?, status = ?, platform_status = ?, status_reason = ?, updated_at = ?
			WHERE account_id = ? AND id = ? AND deleted_at IS NULL AND (size, status, platform_status, status_reason) IS DISTINCT FROM (CAST(? AS BIGINT), ?, ?, ?)`,
			a.Size, a.Status, a.PlatformStatus, a.StatusReason, s.Now(), a.AccountID, a.ID, a.Size, a.Status, a.PlatformStatus, a.StatusReason)
	})
	return err
}

// AudienceOf returns the id of the audience that an action creates. It is made from the action's id, so that every retry
// gives the same one.
func (a *Action) AudienceOf() string {
	return core.KindAudience.Prefix() + a.ID[len(core.KindAdAction.Prefix()):]
}

// place fills in where an audience is: the account, the channel, the network and the ad account. It also sets the source
// and the time of the update.
func (a *Audience) place(in *Account, source Source, now core.Time) {
	a.AccountID, a.ChannelID, a.Platform, a.AdAccountID = in.AccountID, in.ChannelID, in.Platform, in.PlatformID
	a.Source, a.UpdatedAt = source, now
}

// putAudience stores an audience that an action made or read again. The mirror may have found it at the network before the action was known to have
// made it. That row is native from now on and keeps its id, which a then has as well.
func (s *Store) putAudience(ctx context.Context, u *db.Unit, in *Account, a *Audience) error {
	now := s.Now()
	a.place(in, SourceNative, now)
	known, err := s.lockAudience(ctx, u, a)
	if err != nil {
		return err
	}
	if known == nil {
		a.CreatedAt = now
		rows, err := u.Exec(ctx, audienceColumns.InsertSQL+` ON CONFLICT (account_id, platform_id, platform) DO NOTHING`, audienceColumns.Values(a)...)
		if err != nil || rows > 0 {
			return err
		}
		if known, err = s.lockAudience(ctx, u, a); err != nil { // the mirror found it meanwhile
			return err
		}
		if known == nil {
			return errors.New("store audience: the row that was in the way is gone")
		}
	}
	if known.ID == a.ID {
		a.Source = known.Source
		if err := s.replaceTwin(ctx, u, a); err != nil {
			return err
		}
	}
	a.ID, a.CreatedAt, a.DeletedAt = known.ID, known.CreatedAt, known.DeletedAt
	return u.Update(ctx, audienceColumns, a)
}

// replaceTwin deletes the row that the mirror made of an audience before anybody knew that a is the same. A network that makes a list with
// its first users has no id for it until then.
func (s *Store) replaceTwin(ctx context.Context, u *db.Unit, a *Audience) error {
	if a.PlatformID == nil {
		return nil
	}
	_, err := u.Exec(ctx, `
		UPDATE ad_audiences SET platform_id = NULL, deleted_at = COALESCE(deleted_at, ?), updated_at = ?
		WHERE account_id = ? AND platform_id = ? AND platform = ? AND id <> ?`, a.UpdatedAt, a.UpdatedAt, a.AccountID, *a.PlatformID, a.Platform, a.ID)
	return err
}

// lockAudience locks the row of an audience, by its id or that of its network, and returns it, nil if there is none.
func (s *Store) lockAudience(ctx context.Context, u *db.Unit, a *Audience) (*Audience, error) {
	known, err := db.Get[Audience](ctx, u.Locked(), audienceColumns.SelectSQL+`
		WHERE account_id = ? AND (id = ? OR platform_id = ? AND platform = ?) ORDER BY CASE id WHEN ? THEN 0 ELSE 1 END LIMIT 1`,
		a.AccountID, a.ID, a.PlatformID, a.Platform, a.ID)
	if err != nil {
		return nil, fmt.Errorf("read audience: %w", err)
	}
	return known, nil
}

// deleteAudience marks an audience as deleted and deletes the identifiers of the people in it. An empty id does nothing.
func (s *Store) deleteAudience(ctx context.Context, u *db.Unit, action *Action, id string) error {
	if id == "" {
		return nil
	}
	if _, err := u.Exec(ctx, `DELETE FROM ad_audience_members WHERE account_id = ? AND audience_id = ?`, action.AccountID, id); err != nil {
		return fmt.Errorf("forget members: %w", err)
	}
	now := s.Now()
	_, err := u.Exec(ctx, `UPDATE ad_audiences SET deleted_at = ?, updated_at = ? WHERE account_id = ? AND id = ? AND deleted_at IS NULL`,
		now, now, action.AccountID, id)
	return err
}

// Members returns the identifiers that are stored for an upload, whether they were sent already or not, in the order
// of their users. Of a removal they are those that it takes away.
func (s *Store) Members(ctx context.Context, account, action string) ([]Member, error) {
	return s.membersIn(ctx, s.db, account, action)
}

// membersIn does what Members does, where r says.
func (s *Store) membersIn(ctx context.Context, r db.Reader, account, action string) ([]Member, error) {
	members, err := db.Select[Member](ctx, r, `
		SELECT kind, hash, user_index, uploaded_at FROM ad_audience_members WHERE account_id = ? AND action_id = ? ORDER BY user_index, kind`, account, action)
	if err != nil {
		return nil, fmt.Errorf("read members: %w", err)
	}
	return members, nil
}

// holdMembers stores, under an action, the identifiers that were not uploaded to the audience yet, all in one statement.
// If another action is about to upload some of them, this one takes them over. It must send them, too, because nobody knows whether the other one
// will succeed. The rows are in the order of the key, so that two uploads do not lock each other's rows crosswise.
func (s *Store) holdMembers(ctx context.Context, u *db.Unit, action *Action, audience string, members []Member) error {
	_, err := u.Exec(ctx, `
		INSERT INTO ad_audience_members AS t (account_id, audience_id, kind, hash, user_index, action_id)
		SELECT CAST(? AS TEXT), CAST(? AS TEXT), value ->> 0, value ->> 1, CAST(value ->> 2 AS BIGINT), CAST(? AS TEXT) FROM `+s.db.JSONRows()+` WHERE TRUE
		ON CONFLICT (account_id, audience_id, kind, hash) DO UPDATE SET action_id = excluded.action_id, user_index = excluded.user_index
		WHERE t.uploaded_at IS NULL`, action.AccountID, audience, action.ID, core.JSONOf(rowsOf(members)))
	if err != nil {
		return fmt.Errorf("store members: %w", err)
	}
	return nil
}

// rowsOf returns each identifier once, in the order of the key.
func rowsOf(members []Member) [][]any {
	rows := make([][]any, 0, len(members))
	sorted := slices.Clone(members)
	slices.SortStableFunc(sorted, func(a, b Member) int { return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Hash, b.Hash)) })
	for i, m := range sorted {
		if i == 0 || m.Kind != sorted[i-1].Kind || m.Hash != sorted[i-1].Hash {
			rows = append(rows, []any{m.Kind, m.Hash, m.Index})
		}
	}
	return rows
}

// detail copies the details of sent identifiers to the stored ones with the same kind and hash, because the database
// does not keep details.
func detail(stored, sent []Member) {
	type identifier struct {
		kind Identifier
		hash string
	}
	details := map[identifier]map[string]string{}
	for _, m := range sent {
		if m.Details != nil {
			details[identifier{m.Kind, m.Hash}] = m.Details
		}
	}
	for i := range stored {
		stored[i].Details = details[identifier{stored[i].Kind, stored[i].Hash}]
	}
}

// settleMembers ends the upload of identifiers. After a success those that the network took are marked as uploaded;
// otherwise those of the action are deleted. What the network called invalid is deleted in either case. An action that
// is no upload is left alone.
func (s *Store) settleMembers(ctx context.Context, u *db.Unit, action *Action, out Outcome) error {
	switch action.Op {
	case OpUploadAudience:
	case OpRemoveAudience:
		return s.settleRemoval(ctx, u, action, out)
	default:
		return nil
	}
	if len(out.InvalidMembers) > 0 {
		hashes := make([]string, len(out.InvalidMembers))
		for i, m := range out.InvalidMembers {
			hashes[i] = string(m.Kind) + m.Hash
		}
		condition, arg := s.db.In("kind || hash", hashes)
		if _, err := u.Exec(ctx, `DELETE FROM ad_audience_members WHERE account_id = ? AND action_id = ? AND `+condition, action.AccountID, action.ID, arg); err != nil {
			return fmt.Errorf("forget members: %w", err)
		}
	}
	query := `DELETE FROM ad_audience_members WHERE account_id = ? AND action_id = ? AND uploaded_at IS NULL`
	args := []any{action.AccountID, action.ID}
	if out.State == ActionDone {
		query, args = `UPDATE ad_audience_members SET uploaded_at = ? WHERE account_id = ? AND action_id = ?`, append([]any{s.Now()}, args...)
	}
	if _, err := u.Exec(ctx, query, args...); err != nil {
		return fmt.Errorf("settle members: %w", err)
	}
	return nil
}
