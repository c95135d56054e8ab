package content

import (
	"context"
	"fmt"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
)

// getExperience reads an experience by id or slug, or returns CodeMissing.
func (s *Store) getExperience(ctx context.Context, r db.Reader, account, ref string) (*Experience, error) {
	return findExperience(ctx, r, account, ref)
}

// lockExperience does what getExperience does, and locks the row until the transaction ends.
func (s *Store) lockExperience(ctx context.Context, u *db.Unit, account, ref string) (*Experience, error) {
	return findExperience(ctx, u.Locked(), account, ref)
}

func findExperience(ctx context.Context, r db.Reader, account, ref string) (*Experience, error) {
	where, args := db.RefWhere(core.KindExperience, account, ref)
	e, err := db.Get[Experience](ctx, r, experienceColumns.SelectSQL+where, args...)
	if err != nil {
		return nil, fmt.Errorf("read experience: %w", err)
	}
	if e == nil {
		return nil, core.Missing("experience", "", ref)
	}
	return e, nil
}

// checkUndelivered returns CodeInvalid on base for a locked experience that an active product delivers.
func (s *Store) checkUndelivered(ctx context.Context, u *db.Unit, e *Experience) error {
	product, err := u.DeliveredBy(ctx, e.AccountID, "experience", e.ID)
	if err == nil && product != "" {
		err = core.Invalid("base", fmt.Sprintf("Product %s is active and delivers this experience. Take it off its deliverables first.", product))
	}
	return err
}

// createExperience checks a new experience, gives it an id and a slug, and stores it.
func (s *Store) createExperience(ctx context.Context, u *db.Unit, e *Experience) error {
	if err := e.check(ExperienceStatusDraft); err != nil {
		return err
	}
	now, err := db.BusinessNow(ctx, u, e.AccountID)
	if err != nil {
		return err
	}
	e.ID, e.CreatedAt, e.UpdatedAt = core.NewID(core.KindExperience), now, now
	if err := s.checkFiles(ctx, u, e); err != nil {
		return err
	}
	if e.Slug, err = u.TakeSlug(ctx, core.KindExperience, e.AccountID, e.ID, e.Slug, e.Name); err != nil {
		return err
	}
	if err := u.Insert(ctx, experienceColumns, e); err != nil {
		return err
	}
	return s.insertExperienceFiles(ctx, u, e)
}

// changeExperience applies change to a locked experience, checks and stores it. A change that changes nothing stores nothing.
func (s *Store) changeExperience(ctx context.Context, u *db.Unit, e *Experience, change func(*Experience)) error {
	before, text, content := *e, core.JSONText(e), core.JSONText(e.Content)
	change(e)
	if core.JSONText(e) == text {
		return nil
	}
	if err := e.check(before.Status); err != nil {
		return err
	}
	if before.Status == ExperienceStatusPublished && e.Status != ExperienceStatusPublished {
		if err := s.checkUndelivered(ctx, u, e); err != nil {
			return err
		}
	}
	if core.JSONText(e.Content) != content || e.Status != before.Status {
		if err := s.replaceExperienceFiles(ctx, u, e); err != nil {
			return err
		}
	}
	if e.Slug != before.Slug {
		slug, err := u.ChangeSlug(ctx, core.KindExperience, e.AccountID, e.ID, e.Slug, e.Name)
		if err != nil {
			return err
		}
		e.Slug = slug
	}
	var err error
	if e.UpdatedAt, err = db.BusinessNow(ctx, u, e.AccountID); err != nil {
		return err
	}
	return u.Update(ctx, experienceColumns, e)
}
