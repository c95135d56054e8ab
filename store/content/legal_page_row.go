package content

import (
	"context"
	"fmt"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
)

// lockLegalPage does what GetLegalPage does, and locks the row until the transaction ends.
func (s *Store) lockLegalPage(ctx context.Context, u *db.Unit, account, ref string) (*LegalPage, error) {
	return s.findLegalPage(ctx, u.Locked(), account, ref)
}

// findLegalPage reads a page with its working text by id or slug, or returns CodeMissing.
func (s *Store) findLegalPage(ctx context.Context, r db.Reader, account, ref string) (*LegalPage, error) {
	where, args := db.RefWhere(core.KindLegalPage, account, ref)
	l, err := db.Get[LegalPage](ctx, r, legalPageColumns.SelectSQL+where, args...)
	if err != nil {
		return nil, fmt.Errorf("read legal page: %w", err)
	}
	if l == nil {
		return nil, core.Missing("legal page", "", ref)
	}
	if l.Text, err = s.workingText(ctx, db.Unlocked(r), account, l.ID); err != nil {
		return nil, err
	}
	l.Body = l.Text.Body
	return l, nil
}

// createLegalPage checks a new page, gives it an id and a slug, and stores it with its text.
func (s *Store) createLegalPage(ctx context.Context, u *db.Unit, l *LegalPage) error {
	l.ID, l.Text = core.NewID(core.KindLegalPage), nil
	now, err := s.settleLegalPage(ctx, u, LegalPageStatusDraft, l)
	if err != nil {
		return err
	}
	l.CreatedAt, l.UpdatedAt, l.Text.CreatedAt = now, now, now
	if l.Slug, err = u.TakeSlug(ctx, core.KindLegalPage, l.AccountID, l.ID, l.Slug, l.Title); err != nil {
		return err
	}
	if err := u.Insert(ctx, textColumns, l.Text); err != nil {
		return err
	}
	if err := s.publishLegalPage(ctx, u, l); err != nil {
		return err
	}
	return u.Insert(ctx, legalPageColumns, l)
}

// changeLegalPage applies change to a locked page, checks and stores it. A change that changes nothing stores nothing.
func (s *Store) changeLegalPage(ctx context.Context, u *db.Unit, l *LegalPage, change func(*LegalPage)) error {
	before, text := *l, core.JSONText(l)
	change(l)
	if core.JSONText(l) == text {
		return nil
	}
	now, err := s.settleLegalPage(ctx, u, before.Status, l)
	if err != nil {
		return err
	}
	if l.Slug != before.Slug {
		if l.Slug, err = u.ChangeSlug(ctx, core.KindLegalPage, l.AccountID, l.ID, l.Slug, l.Title); err != nil {
			return err
		}
	}
	if l.Title != before.Title || l.Body != before.Body {
		if err := s.saveText(ctx, u, l.Text); err != nil {
			return err
		}
	}
	l.UpdatedAt = now
	if err := s.publishLegalPage(ctx, u, l); err != nil {
		return err
	}
	return u.Update(ctx, legalPageColumns, l)
}

// settleLegalPage checks what a page has become that was in a state before, and makes its text. It returns the account's time.
func (s *Store) settleLegalPage(ctx context.Context, u *db.Unit, before LegalPageStatus, l *LegalPage) (core.Time, error) {
	var p core.Problems
	l.check(&p)
	l.Text = l.Text.edited(&p, l.Title, l.Body)
	if err := p.Err(); err != nil {
		return 0, err
	}
	l.Text.AccountID, l.Text.ObjectID = l.AccountID, l.ID
	if err := legalPageLifecycle.Check("page", before, l.Status); err != nil {
		return 0, err
	}
	if err := s.alonePublished(ctx, u, l); err != nil {
		return 0, err
	}
	if err := s.checkAcceptance(ctx, u, l); err != nil {
		return 0, err
	}
	return db.BusinessNow(ctx, u, l.AccountID)
}

// alonePublished returns CodeInvalid on status if the page is published, and another one of its kind and language is too.
func (s *Store) alonePublished(ctx context.Context, u *db.Unit, l *LegalPage) error {
	if l.Status != LegalPageStatusPublished || l.Kind == LegalPageKindCustom {
		return nil
	}
	other, err := db.Get[string](ctx, u, `
		SELECT id FROM legal_pages WHERE account_id = ? AND kind = ? AND locale = ? AND status = 'published' AND kind <> 'custom' AND id <> ?`,
		l.AccountID, l.Kind, l.Locale, l.ID)
	if err == nil && other != nil {
		err = core.Invalid("status", fmt.Sprintf("%s is published already as %s for %s. Unpublish it first.", *other, l.Kind, l.Locale))
	}
	return err
}

// publishLegalPage keeps the text of a published page as a version, if it is another one than the last.
func (s *Store) publishLegalPage(ctx context.Context, u *db.Unit, l *LegalPage) error {
	if l.Status != LegalPageStatusPublished {
		return nil
	}
	version, err := s.publishText(ctx, u, l.Text, l.Version, l.UpdatedAt)
	if err != nil || version == l.Version {
		return err
	}
	l.Version, l.PublishedAt = version, new(l.UpdatedAt)
	return nil
}
