package advert

import (
	"context"
	"fmt"
	"time"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
)

const (
	// conversionLease is how long conversions are left to whoever tells a network of them. A call takes less.
	conversionLease = time.Minute
	// conversionMargin is how much before a network's time is up nothing is sent any more: it counts when it gets something.
	conversionMargin = 10 * time.Minute
)

// The reasons of conversions that expire.
const (
	tooLate     = "It was too late to tell the network of it: it refuses what happened so long ago."
	tooUnsure   = "The network did not answer when it was told, so that it may have counted this. It was not told again: after so long it would count it twice."
	waitedFor   = "It waited for seven days, which is the most."
	waitedSince = waitedFor + " The last time it was not sent because: "
	unconfirmed = "Whoever has the address has not confirmed it yet."
)

// DueDestination names a destination that is to be told something now.
type DueDestination struct {
	AccountID string `db:"account_id"`
	ID        string `db:"id"`
	ChannelID string `db:"channel_id"`
}

// DueConversions returns at most limit destinations, of all accounts, that are to be told something now. Those that cannot be told are left
// out: they or their channels are not active, or their account is disabled. One of each account comes before the second of any. They are
// only candidates: the caller claims what each is told with ClaimConversions. It costs a look into an index for each active destination,
// however much waits.
func (s *Store) DueConversions(ctx context.Context, limit int) ([]DueDestination, error) {
	return db.Select[DueDestination](ctx, s.db, `
		SELECT account_id, id, channel_id FROM (
			SELECT account_id, id, channel_id, due, ROW_NUMBER() OVER (PARTITION BY account_id ORDER BY due, id) AS turn FROM (
				SELECT d.account_id, d.id, d.channel_id, (SELECT c.due_at FROM ad_conversions AS c
					WHERE c.account_id = d.account_id AND c.destination_id = d.id AND c.due_at IS NOT NULL ORDER BY c.account_id, c.destination_id, c.due_at LIMIT 1) AS due
				FROM ad_conversion_destinations AS d WHERE d.status = 'active' AND `+db.EnabledAccount+` AND (SELECT s.ads_status FROM social_accounts AS s
					WHERE s.account_id = d.account_id AND s.id = d.channel_id) = 'active') AS waiting
			WHERE due <= ?) AS ranked
		ORDER BY turn, due, id LIMIT ?`, s.Now(), limit)
}

// ConversionLimits say what of what waits a network still takes, and how much at a time.
type ConversionLimits struct {
	Most   int
	MaxAge time.Duration // since it happened
	Dedupe time.Duration // since it was first told, in which the network recognises what it is told again

	OffsiteOnce bool // what did not happen on a page is recognised never
}

// ConversionClaim is what a destination is to be told by the caller, and nobody else.
type ConversionClaim struct {
	Destination *ConversionDestination
	Conversions []Conversion
	until       core.Time
}

// Events returns what is claimed as a network is told of it.
func (c *ConversionClaim) Events() []ConversionEvent {
	events := make([]ConversionEvent, len(c.Conversions))
	for i := range c.Conversions {
		events[i] = c.Conversions[i].Event()
	}
	return events
}

// ClaimConversions claims what a destination is to be told now; nothing if somebody else has claimed it. What the network would refuse as too old
// expires. So does what it may have been told of so long ago that it would count it twice. If nothing is heard of the caller, what was claimed is due
// again a minute later. It commits at once.
func (s *Store) ClaimConversions(ctx context.Context, account, destination string, in ConversionLimits) (*ConversionClaim, error) {
	return db.Step(ctx, s.db, func(ctx context.Context, u *db.Unit) (*ConversionClaim, error) {
		now := s.Now()
		claim := &ConversionClaim{until: now.Add(conversionLease)}
		var err error
		if claim.Destination, err = db.Get[ConversionDestination](ctx, u, destinationColumns.SelectSQL+`
			WHERE account_id = ? AND id = ? AND status = 'active' AND `+db.EnabledAccount, account, destination); err != nil || claim.Destination == nil {
			return claim, err
		}
		rows, err := db.Select[Conversion](ctx, u, conversionColumns.SelectSQL+`
			WHERE account_id = ? AND destination_id = ? AND due_at <= ? AND due_at < expires_at ORDER BY account_id, destination_id, due_at LIMIT ? + 0`+u.LockSkip(),
			account, destination, now, in.Most)
		if err != nil {
			return nil, fmt.Errorf("claim conversions: %w", err)
		}
		var late []conversionChange
		var ids []string
		for i := range rows {
			if c := &rows[i]; in.forbid(c, now) != "" {
				late = append(late, conversionChange{ID: c.ID, Status: ConversionExpired, Reason: in.forbid(c, now)})
			} else {
				claim.Conversions, ids = append(claim.Conversions, *c), append(ids, c.ID)
			}
		}
		if err := s.changeConversions(ctx, u, account, nil, late); err != nil || len(ids) == 0 {
			return claim, err
		}
		condition, arg := s.db.In("id", ids)
		if _, err = u.Exec(ctx, `UPDATE ad_conversions SET due_at = ?, tried_at = COALESCE(tried_at, ?), attempts = attempts + 1, updated_at = ?
			WHERE account_id = ? AND `+condition, claim.until, now, now, account, arg); err != nil {
			return nil, fmt.Errorf("claim conversions: %w", err)
		}
		return claim, nil
	})
}

// forbid returns why a conversion must not be sent any more, or "".
func (l ConversionLimits) forbid(c *Conversion, now core.Time) string {
	switch {
	case now >= c.HappenedAt.Add(l.MaxAge-conversionMargin):
		return tooLate
	case c.TriedAt != nil && (c.IsOffsite && l.OffsiteOnce || now >= c.TriedAt.Add(l.Dedupe-conversionMargin)):
		return tooUnsure
	}
	return ""
}

// PostponeConversions lets what a destination waits to be told wait some more, where nobody can tell it for now.
func (s *Store) PostponeConversions(ctx context.Context, account, destination string, pause time.Duration) error {
	_, err := db.Step(ctx, s.db, func(ctx context.Context, u *db.Unit) (any, error) {
		now := s.Now()
		_, err := u.Exec(ctx, `UPDATE ad_conversions SET due_at = ? WHERE account_id = ? AND destination_id = ? AND due_at <= ?`,
			now.Add(pause), account, destination, now)
		return nil, err
	})
	return err
}

// ConversionOutcome is what became of a conversion that a network was told of, or was to be.
type ConversionOutcome struct {
	Status ConversionStatus
	Reason string    // of whatever is not sent
	DueAt  core.Time // when it is sent again, if it is pending
	Unsure bool      // of a pending one: the network may have got it
}

// conversionChange is how the row of a conversion is to be.
type conversionChange struct {
	ID      string           `json:"id"`
	Status  ConversionStatus `json:"status"`
	Reason  string           `json:"reason"`
	DueAt   *int64           `json:"due"`
	TriedAt *int64           `json:"tried"`
	SentAt  *int64           `json:"sent"`
}

// SettleConversions stores what became of what was claimed, an outcome for each. What somebody else has claimed meanwhile, or what was
// deleted, is left as it is. It commits at once.
func (s *Store) SettleConversions(ctx context.Context, claim *ConversionClaim, outcomes []ConversionOutcome) error {
	_, err := db.Step(ctx, s.db, func(ctx context.Context, u *db.Unit) (any, error) {
		now := s.Now()
		changes := make([]conversionChange, len(outcomes))
		for i, o := range outcomes {
			c := &claim.Conversions[i]
			changes[i] = conversionChange{ID: c.ID, Status: o.Status, Reason: o.Reason}
			switch o.Status {
			case ConversionSent:
				changes[i].SentAt = new(int64(now))
			case ConversionRefused, ConversionExpired:
			case ConversionPending:
				changes[i].DueAt = new(int64(o.DueAt))
				changes[i].TriedAt = (*int64)(c.TriedAt)
				if o.Unsure && c.TriedAt == nil {
					changes[i].TriedAt = new(int64(claim.until.Add(-conversionLease)))
				}
			}
		}
		return nil, s.changeConversions(ctx, u, claim.Destination.AccountID, &claim.until, changes)
	})
	return err
}

// changeConversions changes rows, if lease is not nil only those that are due then. Whoever did what is final is forgotten.
func (s *Store) changeConversions(ctx context.Context, u *db.Unit, account string, lease *core.Time, changes []conversionChange) error {
	if len(changes) == 0 {
		return nil
	}
	query := `
		UPDATE ad_conversions SET status = r.status, reason = r.reason, due_at = r.due, tried_at = r.tried, sent_at = r.sent, updated_at = ?,
			expires_at = CASE WHEN r.status = 'pending' THEN expires_at END, customer_id = CASE WHEN r.status = 'pending' THEN customer_id END,
			user_data = CASE WHEN r.status = 'pending' THEN user_data ELSE '{}' END
		FROM ` + s.db.JSONTable("id text", "status text", "reason text", "due bigint", "tried bigint", "sent bigint") + ` AS r
		WHERE ad_conversions.account_id = ? AND ad_conversions.id = r.id`
	args := []any{s.Now(), core.JSONOf(changes), account}
	if lease != nil {
		query, args = query+` AND ad_conversions.due_at = ?`, append(args, *lease)
	}
	if _, err := u.Exec(ctx, query, args...); err != nil {
		return fmt.Errorf("settle conversions: %w", err)
	}
	return nil
}

// FailDestination stores that a network does not let us tell a destination any more, and why. What waits for it goes on waiting. It commits
// at once.
func (s *Store) FailDestination(ctx context.Context, d *ConversionDestination, why string) error {
	_, err := db.Step(ctx, s.db, func(ctx context.Context, u *db.Unit) (int64, error) {
		return u.Exec(ctx, `UPDATE ad_conversion_destinations SET status = 'error', last_error = ?, updated_at = ?
			WHERE account_id = ? AND id = ? AND status = 'active' AND updated_at = ?`, why, s.Now(), d.AccountID, d.ID, d.UpdatedAt)
	})
	return err
}

// ExpireConversions ends at most limit conversions, of all accounts, that have waited for seven days, and returns how many.
func (s *Store) ExpireConversions(ctx context.Context, limit int) (int64, error) {
	waits, err := db.Get[int](ctx, s.db, `SELECT 1 FROM ad_conversions WHERE expires_at <= ? ORDER BY expires_at LIMIT 1`, s.Now())
	if err != nil || waits == nil {
		return 0, err // without a transaction, of which an embedded database has one at a time
	}
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (int64, error) {
		now := s.Now()
		return u.ExecBatch(ctx, `
			UPDATE ad_conversions SET status = 'expired', reason = CASE WHEN reason = '' THEN CAST(? AS text) ELSE CAST(? AS text) || reason END,
				due_at = NULL, tried_at = NULL, expires_at = NULL, customer_id = NULL, user_data = '{}', updated_at = ?`,
			`ad_conversions WHERE expires_at <= ? ORDER BY expires_at LIMIT ?`,
			waitedFor, waitedSince, now, now, limit)
	})
}
