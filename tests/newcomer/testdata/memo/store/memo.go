package store

import (
	"context"
	"fmt"
	"strings"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
)

// Memo is something that an account wants to remember.
type Memo struct {
	AccountID string    `db:"account_id"`
	ID        string    `db:"id"`
	Text      string    `db:"text"`
	Pinned    bool      `db:"pinned"`
	CreatedAt core.Time `db:"created_at"`
	UpdatedAt core.Time `db:"updated_at"`
}

var memoColumns = db.ColumnsOf[Memo]("memos")

// check reports what is not acceptable.
func (m *Memo) check() error {
	var p core.Problems
	p.Check(strings.TrimSpace(m.Text) != "", "text", "A memo is not only white space.")
	return p.Err()
}

// GetMemo returns a memo, or CodeMissing.
func (s *Store) GetMemo(ctx context.Context, account, ref string) (*Memo, error) {
	return findMemo(ctx, s.db, account, ref)
}

// ListMemos returns a page of memos, newest first, and whether there are more.
func (s *Store) ListMemos(ctx context.Context, account string, p core.Page) ([]Memo, bool, error) {
	return db.Page(ctx, s.db, memoColumns, core.KindMemo, account, p, &db.Filter{})
}

// CreateMemo makes a memo.
func (s *Store) CreateMemo(ctx context.Context, account string, in Memo) (*Memo, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (*Memo, error) {
		m := in
		m.AccountID, m.ID, m.CreatedAt = account, core.NewID(core.KindMemo), s.Now()
		m.UpdatedAt = m.CreatedAt
		if err := m.check(); err != nil {
			return nil, err
		}
		return &m, u.Insert(ctx, memoColumns, &m)
	})
}

// UpdateMemo locks the memo, applies change and stores it.
func (s *Store) UpdateMemo(ctx context.Context, account, ref string, change func(*Memo)) (*Memo, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (*Memo, error) {
		m, err := s.lockMemo(ctx, u, account, ref)
		if err != nil {
			return nil, err
		}
		before := *m
		change(m)
		if err := m.check(); err != nil || *m == before {
			return m, err
		}
		m.UpdatedAt = s.Now()
		return m, u.Update(ctx, memoColumns, m)
	})
}

// DeleteMemo deletes a memo and returns it.
func (s *Store) DeleteMemo(ctx context.Context, account, ref string) (*Memo, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (*Memo, error) {
		m, err := s.lockMemo(ctx, u, account, ref)
		if err != nil {
			return nil, err
		}
		if _, err := u.Exec(ctx, `DELETE FROM memos WHERE account_id = ? AND id = ?`, account, m.ID); err != nil {
			return nil, fmt.Errorf("delete memo: %w", err)
		}
		return m, nil
	})
}

// lockMemo does what GetMemo does, and locks the row until the transaction ends.
func (s *Store) lockMemo(ctx context.Context, u *db.Unit, account, ref string) (*Memo, error) {
	return findMemo(ctx, u.Locked(), account, ref)
}

func findMemo(ctx context.Context, r db.Reader, account, ref string) (*Memo, error) {
	id, ok := core.ParseID(core.KindMemo, ref)
	if !ok {
		return nil, core.Missing("memo", "", ref)
	}
	m, err := db.Get[Memo](ctx, r, memoColumns.SelectSQL+` WHERE account_id = ? AND id = ?`, account, id)
	if err != nil {
		return nil, fmt.Errorf("read memo: %w", err)
	}
	if m == nil {
		return nil, core.Missing("memo", "", ref)
	}
	return m, nil
}
