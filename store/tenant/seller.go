package tenant

import (
	"context"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
)

// Seller returns the account that sells. A transaction reads it only once, so that its terms stay the same while something is
// priced. The caller must not change what comes back.
func (s *Store) Seller(ctx context.Context, r db.Reader, account string) (*Account, error) {
	found, err := s.seller(ctx, r, account)
	if err != nil {
		return nil, err
	}
	return &found.Account, nil
}

// AsksToAccept reports whether an account has a legal page, in any language, that buyers have to accept. It is read with Seller.
func (s *Store) AsksToAccept(ctx context.Context, r db.Reader, account string) (bool, error) {
	found, err := s.seller(ctx, r, account)
	return err == nil && found.AsksToAccept, err
}

// sellerRow is an account, and what most sales need to know besides.
type sellerRow struct {
	Account
	AsksToAccept bool `db:"asks_to_accept"`
}

// knownSeller keeps what a transaction has read.
type knownSeller struct{ row *sellerRow }

func (s *Store) seller(ctx context.Context, r db.Reader, account string) (*sellerRow, error) {
	var known *knownSeller
	if u := db.UnitAt(ctx, r); u != nil {
		known = db.Kept[knownSeller](u)
	}
	if known != nil && known.row != nil && known.row.ID == account {
		return known.row, nil
	}
	// Each page has a locale: asked for it, SQLite takes the index of these pages alone, also without statistics.
	row, err := db.Get[sellerRow](ctx, r, accountColumns.SelectWith(`EXISTS (SELECT 1 FROM legal_pages AS l
		WHERE l.account_id = accounts.id AND l.locale > '' AND l.status = 'published' AND l.requires_acceptance) AS asks_to_accept`)+` WHERE id = ?`, account)
	if err == nil && row == nil {
		err = core.Missing("account", "", account)
	}
	if err != nil {
		return nil, err
	}
	s.endPause(&row.Account)
	if known != nil {
		known.row = row
	}
	return row, nil
}
