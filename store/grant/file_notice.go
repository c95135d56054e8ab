package grant

import (
	"context"
	"fmt"
	"time"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
)

// noticeBatch is how many grants one transaction goes through to tell their customers of a version.
const noticeBatch = 200

// noticePause is how long a notice waits that cannot go on now.
const noticePause = time.Minute

// Notice is a version of a file of which customers are still to be told, and how far that has come: see NextToTell.
type Notice struct {
	AccountID string    `db:"account_id"`
	ID        string    `db:"id"` // fver_
	FileID    string    `db:"file_id"`
	Version   int64     `db:"version"`
	ProductID string    `db:"product_id"`
	GrantID   string    `db:"grant_id"`
	TurnAt    core.Time `db:"turn_at"`
}

var noticeColumns = db.ColumnsOf[Notice]("file_notices")

// DueNotices names versions of which customers are still to be told, at most limit and one of each account, for LockNotice. Accounts come in turn. It
// costs three looks into an index for each account that has any, however many it has.
func (s *Store) DueNotices(ctx context.Context, limit int) ([]core.Due, error) {
	now := s.Now()
	return db.PlanningAnew(ctx, s.db, func(ctx context.Context, r db.Reader) ([]core.Due, error) {
		return db.Select[core.Due](ctx, r, `
			WITH RECURSIVE waiting (account_id) AS (
				SELECT (SELECT min(account_id) FROM file_notices)
				UNION ALL
				SELECT (SELECT min(n.account_id) FROM file_notices AS n WHERE n.account_id > waiting.account_id) FROM waiting WHERE account_id IS NOT NULL
			) SELECT account_id, id FROM (
				SELECT account_id,
					(SELECT n.id FROM file_notices AS n WHERE n.account_id = waiting.account_id AND n.turn_at <= ? ORDER BY n.turn_at, n.id LIMIT 1) AS id,
					(SELECT max(n.turn_at) FROM file_notices AS n WHERE n.account_id = waiting.account_id AND n.turn_at <= ?) AS last_turn
				FROM waiting WHERE account_id IS NOT NULL
			) AS due WHERE id IS NOT NULL ORDER BY last_turn, account_id LIMIT ?`, now, now, limit)
	})
}

// PauseNotice has a notice wait until its next turn.
func (s *Store) PauseNotice(ctx context.Context, account, id string) error {
	_, err := db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (int64, error) {
		return u.Exec(ctx, `UPDATE file_notices SET turn_at = ? WHERE account_id = ? AND id = ?`, s.Now().Add(noticePause), account, id)
	})
	return err
}

// LockNotice returns a notice and locks it until the transaction ends. It is nil if all were told, or somebody else is at it.
func (s *Store) LockNotice(ctx context.Context, u *db.Unit, account, id string) (*Notice, error) {
	n, err := db.Get[Notice](ctx, u, noticeColumns.SelectSQL+` WHERE account_id = ? AND id = ?`+u.LockSkip(), account, id)
	if err != nil {
		return nil, fmt.Errorf("lock notice: %w", err)
	}
	return n, nil
}

// EndNotice has nobody else told.
func (s *Store) EndNotice(ctx context.Context, u *db.Unit, n *Notice) error {
	_, err := u.Exec(ctx, `DELETE FROM file_notices WHERE account_id = ? AND id = ?`, n.AccountID, n.ID)
	return err
}

// NextToTell returns the next customers whose grants open the file of a locked notice. It notes that they were told, which commits with what the
// caller writes for them. One may come again, by another grant. The notice ends with the last of them.
func (s *Store) NextToTell(ctx context.Context, u *db.Unit, n *Notice) ([]string, error) {
	now, err := db.BusinessNow(ctx, u, n.AccountID)
	if err != nil {
		return nil, err
	}
	grants, err := grantsAfter(ctx, u, n.AccountID, n.ProductID, n.GrantID, noticeBatch)
	if err != nil {
		return nil, err
	}
	var customers []string
	for _, g := range grants {
		n.GrantID = g.ID
		if g.Status == StatusActive && (g.ExpiresAt == nil || *g.ExpiresAt > now) {
			customers = append(customers, g.CustomerID)
		}
	}
	if len(grants) < noticeBatch {
		next, err := s.productAfter(ctx, u, n)
		if err != nil {
			return nil, err
		}
		if next == nil {
			return customers, s.EndNotice(ctx, u, n)
		}
		n.ProductID, n.GrantID = *next, ""
	}
	n.TurnAt = s.Now()
	_, err = u.Exec(ctx, `UPDATE file_notices SET product_id = ?, grant_id = ?, turn_at = ? WHERE account_id = ? AND id = ?`, n.ProductID, n.GrantID, n.TurnAt, n.AccountID, n.ID)
	return customers, err
}

// productAfter returns the next product that delivers the file of a notice, itself or in an experience, nil after the last. One whose buyers keep the
// version that they bought is left out.
func (s *Store) productAfter(ctx context.Context, u *db.Unit, n *Notice) (*string, error) {
	return db.Get[string](ctx, u, `
		SELECT product_id FROM (
			SELECT d.product_id FROM product_deliverables d JOIN products p ON p.account_id = d.account_id AND p.id = d.product_id
			WHERE d.account_id = ? AND d.type = 'file' AND d.ref = ? AND d.removed IS NULL AND p.delivery_updates || '' = 'all_buyers'
			UNION SELECT d.product_id FROM experience_files x
			JOIN product_deliverables d ON d.account_id = x.account_id AND d.type = 'experience' AND d.ref = x.experience_id
			WHERE x.account_id = ? AND x.file_id = ?
		) AS delivering WHERE product_id > ? ORDER BY product_id LIMIT 1`, n.AccountID, n.FileID, n.AccountID, n.FileID, n.ProductID)
}

// noteReady has customers told of a version that has just become ready, if that was asked for. Who was not told of one before it is told of this one alone.
// Of the first version of a file there is nobody to tell.
func (s *Store) noteReady(ctx context.Context, u *db.Unit, v *FileVersion, isFirst bool) error {
	if !v.TellBuyers || isFirst {
		return nil
	}
	if _, err := u.Exec(ctx, `DELETE FROM file_notices WHERE account_id = ? AND file_id = ?`, v.AccountID, v.FileID); err != nil {
		return fmt.Errorf("end notices of a file: %w", err)
	}
	return u.Insert(ctx, noticeColumns, &Notice{AccountID: v.AccountID, ID: v.ID, FileID: v.FileID, Version: v.Version, TurnAt: s.Now()})
}

// IsNewerNoted reports whether customers are still to be told of a version of a file that is newer than one.
func (s *Store) IsNewerNoted(ctx context.Context, account, file string, version int64) (bool, error) {
	found, err := db.Get[int](ctx, s.db, `SELECT 1 FROM file_notices WHERE account_id = ? AND file_id = ? AND version > ? LIMIT 1`, account, file, version)
	return found != nil, err
}

// afterGrants is more than the id of any grant: the first character of what follows its prefix is a 7 at most.
const afterGrants = "grant_9"

// openedBatch is how many grants of a customer OpenedFor reads at a time.
const openedBatch = 100

// OpenedFor returns the grant by which a customer has the newest version of a file now, and what of it that is. Of several it is the newest
// grant. Both are nil if there is none.
func (s *Store) OpenedFor(ctx context.Context, account, customer string, f *File) (best *Grant, opened *Deliverable, err error) {
	now, err := db.BusinessNow(ctx, s.db, account)
	if err != nil {
		return nil, nil, err
	}
	for before, more := afterGrants, true; more; {
		grants, err := db.Select[Grant](ctx, s.db, grantColumns.SelectSQL+` g
			WHERE g.account_id = ? AND g.customer_id = ? AND g.id < ? AND `+db.ActiveGrantSQL+` AND EXISTS (
				SELECT 1 FROM product_deliverables d WHERE d.account_id = g.account_id AND d.product_id = g.product_id AND (
					d.type = 'file' AND d.ref = ? OR d.type = 'experience' AND EXISTS (
						SELECT 1 FROM experience_files x WHERE x.account_id = d.account_id AND x.experience_id = d.ref AND x.file_id = ?)))
			ORDER BY g.account_id DESC, g.customer_id DESC, g.id DESC LIMIT ?`, account, customer, before, now, f.ID, f.ID, openedBatch)
		if err != nil {
			return nil, nil, fmt.Errorf("read grants that open a file: %w", err)
		}
		if err := s.open(ctx, s.db, account, pointers(grants)); err != nil {
			return nil, nil, err
		}
		for i := range grants {
			before = grants[i].ID
			d, err := s.opens(ctx, &grants[i], f.ID)
			if err != nil {
				return nil, nil, err
			}
			if d != nil && (opened == nil || core.Deref(d.Version) > core.Deref(opened.Version)) {
				best, opened = &grants[i], d
			}
			if opened != nil && core.Deref(opened.Version) >= f.Version {
				return best, opened, nil
			}
		}
		more = len(grants) == openedBatch
	}
	return best, opened, nil
}
