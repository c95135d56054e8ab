package content

import (
	"context"
	"fmt"
	"slices"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
)

// acceptanceMost is how many published pages of a language may ask to be accepted, all of which a checkout shows.
const acceptanceMost = 20

// checkAcceptance returns CodeInvalid on requires_acceptance if the page is one more that buyers would have to accept than they are shown.
func (s *Store) checkAcceptance(ctx context.Context, u *db.Unit, l *LegalPage) error {
	if l.Status != LegalPageStatusPublished || !l.RequiresAcceptance {
		return nil
	}
	others, err := db.Select[string](ctx, u, `
		SELECT id FROM legal_pages WHERE account_id = ? AND locale = ? AND status = 'published' AND requires_acceptance AND id <> ? LIMIT ?`,
		l.AccountID, l.Locale, l.ID, acceptanceMost)
	if err != nil {
		return fmt.Errorf("count pages to accept: %w", err)
	}
	if len(others) >= acceptanceMost {
		return core.Invalid("requires_acceptance", fmt.Sprintf("Buyers have to accept %d pages for %s already. Put some together.", acceptanceMost, l.Locale))
	}
	return nil
}

// PagesToAccept returns the pages that a buyer with this language has to accept, without their bodies and by id. Of each kind these are the pages
// that are published in it, or else in the account's own.
func (s *Store) PagesToAccept(ctx context.Context, r db.Reader, account, locale, own string) ([]LegalPage, error) {
	condition, arg := s.db.In("locale", slices.Compact([]string{locale, own}))
	pages, err := db.Select[LegalPage](ctx, r, legalPageColumns.SelectSQL+`
		WHERE account_id = ? AND `+condition+` AND status = 'published' AND requires_acceptance ORDER BY id`, account, arg)
	if err != nil {
		return nil, fmt.Errorf("read pages to accept: %w", err)
	}
	translated := map[LegalPageKind]bool{}
	for _, l := range pages {
		translated[l.Kind] = translated[l.Kind] || l.Locale == locale
	}
	return slices.DeleteFunc(pages, func(l LegalPage) bool { return l.Locale != locale && translated[l.Kind] }), nil
}

// ReadPublished fills in the published texts of pages.
func (s *Store) ReadPublished(ctx context.Context, account string, pages []LegalPage) error {
	if len(pages) == 0 {
		return nil
	}
	byID, ids := map[string]*LegalPage{}, make([]string, len(pages))
	for i := range pages {
		byID[pages[i].ID], ids[i] = &pages[i], pages[i].ID
	}
	condition, arg := s.db.In("l.id", ids)
	texts, err := db.Select[Text](ctx, s.db, `SELECT t.account_id, t.object_id, t.version, t.title, t.body, t.body_html, t.made_by, t.created_at FROM legal_pages l
		JOIN content_texts t ON t.account_id = l.account_id AND t.object_id = l.id AND t.version = l.version WHERE l.account_id = ? AND `+condition, account, arg)
	if err != nil {
		return fmt.Errorf("read pages to accept: %w", err)
	}
	for i := range texts {
		l := byID[texts[i].ObjectID]
		l.Text, l.Body = &texts[i], texts[i].Body
	}
	return nil
}

// Accept notes that a buyer accepts pages, in the order of their ids, so that none of them is ever deleted. It returns those that are still
// there.
func (s *Store) Accept(ctx context.Context, u *db.Unit, pages []LegalPage) ([]LegalPage, error) {
	var kept []LegalPage
	for _, l := range pages {
		if !l.Accepted {
			rows, err := u.Exec(ctx, `UPDATE legal_pages SET accepted = TRUE WHERE account_id = ? AND id = ?`, l.AccountID, l.ID)
			if err != nil {
				return nil, fmt.Errorf("accept legal page: %w", err)
			}
			if rows == 0 {
				continue
			}
		}
		kept = append(kept, l)
	}
	return kept, nil
}
