package content

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
)

// ExperienceStatus says whether an experience is open to those who have access.
type ExperienceStatus string

// The states of an experience.
const (
	ExperienceStatusDraft     ExperienceStatus = "draft"
	ExperienceStatusPublished ExperienceStatus = "published"
	ExperienceStatusArchived  ExperienceStatus = "archived"
)

// experienceLifecycle lists, for each state of an experience, the states that may follow it.
var experienceLifecycle = core.Lifecycle[ExperienceStatus]{
	ExperienceStatusDraft:     {ExperienceStatusPublished, ExperienceStatusArchived},
	ExperienceStatusPublished: {ExperienceStatusDraft, ExperienceStatusArchived},
	ExperienceStatusArchived:  {ExperienceStatusDraft},
}

// ExperienceAccess says who may open a published experience.
type ExperienceAccess string

// Everybody, or customers who have bought a product that names it.
const (
	ExperienceAccessPublic   ExperienceAccess = "public"
	ExperienceAccessPurchase ExperienceAccess = "purchase"
)

// Experience is something that buyers come back to. Products name it among what they deliver.
type Experience struct {
	AccountID   string                       `db:"account_id"`
	ID          string                       `db:"id"`
	Name        string                       `db:"name"`
	Slug        string                       `db:"slug"`
	Type        ExperienceType               `db:"type"`
	Description *string                      `db:"description"`
	CoverURL    *string                      `db:"cover_url"`
	Content     core.JSON[ExperienceContent] `db:"content"`
	Access      ExperienceAccess             `db:"access"`
	Position    int64                        `db:"position"`
	Status      ExperienceStatus             `db:"status"`
	Metadata    core.Metadata                `db:"metadata"`
	CreatedAt   core.Time                    `db:"created_at"`
	UpdatedAt   core.Time                    `db:"updated_at"`

	ProductIDs  []string `db:"-"` // of those that deliver it: the newest hundred
	AccessCount *int64   `db:"-"` // how many customers have a grant that opens it; nil if that was not counted
}

// ListExperiences holds the filters of a list of experiences. An empty one does not filter.
type ListExperiences struct {
	core.Page
	core.ListFilter
	Status ExperienceStatus
	Type   ExperienceType
	Access ExperienceAccess
}

var experienceColumns = db.ColumnsOf[Experience]("experiences")

// check returns CodeInvalid with everything that is wrong with an experience that was in a state before. These are faults of its fields, or else
// that it cannot be in its present state.
func (e *Experience) check(before ExperienceStatus) error {
	var p core.Problems
	p.Check(strings.TrimSpace(e.Name) != "" && utf8.RuneCountInString(e.Name) <= 255, "name", "A name has 1 to 255 characters, not only white space.")
	p.Check(core.HasAtMost(e.Description, 20_000), "description", "A description has at most 20,000 characters.")
	e.Content.V.check(&p, e.Type)
	if e.Status == ExperienceStatusPublished {
		e.Content.V.checkComplete(&p, e.Type)
	}
	e.Metadata.Check(&p)
	if err := p.Err(); err != nil {
		return err
	}
	return experienceLifecycle.Check("experience", before, e.Status)
}

// GetExperience returns an experience by its id, its slug or a slug that it had before, or CodeMissing.
func (s *Store) GetExperience(ctx context.Context, account, ref string) (*Experience, error) {
	return s.GetExperienceIn(ctx, s.db, account, ref)
}

// GetExperienceIn does what GetExperience does, where r says.
func (s *Store) GetExperienceIn(ctx context.Context, r db.Reader, account, ref string) (*Experience, error) {
	return s.described(ctx, r)(s.getExperience(ctx, r, account, ref))
}

// ExperienceNamed reads an experience as GetExperience does, without what it is delivered by and how many it is open to.
func (s *Store) ExperienceNamed(ctx context.Context, account, ref string) (*Experience, error) {
	return s.ExperienceNamedIn(ctx, s.db, account, ref)
}

// ExperienceNamedIn does what ExperienceNamed does, where r says.
func (s *Store) ExperienceNamedIn(ctx context.Context, r db.Reader, account, ref string) (*Experience, error) {
	return s.getExperience(ctx, r, account, ref)
}

// ExperiencesByID returns those of the account's experiences with these ids that exist, by id, as ExperienceNamed reads them.
func (s *Store) ExperiencesByID(ctx context.Context, account string, ids []string) (map[string]*Experience, error) {
	return db.ByID(ctx, s.db, experienceColumns, account, ids)
}

// ListExperiences returns a page of experiences, newest first, and whether there are more.
func (s *Store) ListExperiences(ctx context.Context, account string, in ListExperiences) ([]Experience, bool, error) {
	var f db.Filter
	f.OrderedIfSet("status", string(in.Status))
	f.OrderedIfSet("type", string(in.Type))
	f.OrderedIfSet("access", string(in.Access))
	f.List(s.db, "experiences", core.KindExperience, in.ListFilter, "name", "slug")
	found, more, err := db.Page(ctx, s.db, experienceColumns, core.KindExperience, account, in.Page, &f)
	if err != nil {
		return nil, false, err
	}
	all := make([]*Experience, len(found))
	for i := range found {
		all[i] = &found[i]
	}
	return found, more, s.readProducts(ctx, s.db, account, all)
}

// CreateExperience makes an experience. Without a slug it gets one from its name. Without a status or access it is a draft for those who
// buy it.
func (s *Store) CreateExperience(ctx context.Context, account string, e Experience) (*Experience, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (*Experience, error) {
		e := e
		e.AccountID, e.Status, e.Access = account, cmp.Or(e.Status, ExperienceStatusDraft), cmp.Or(e.Access, ExperienceAccessPurchase)
		return s.described(ctx, u)(&e, s.createExperience(ctx, u, &e))
	})
}

// UpdateExperience locks the experience, applies change, checks and stores it. It returns CodeInvalid for what it cannot be.
func (s *Store) UpdateExperience(ctx context.Context, account, ref string, change func(*Experience)) (*Experience, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (*Experience, error) {
		e, err := s.lockExperience(ctx, u, account, ref)
		if err != nil {
			return nil, err
		}
		return s.described(ctx, u)(e, s.changeExperience(ctx, u, e, change))
	})
}

// PublishExperience opens a draft. It returns CodeInvalid for one without the content of its type.
func (s *Store) PublishExperience(ctx context.Context, account, ref string) (*Experience, error) {
	return s.moveExperience(ctx, account, ref, ExperienceStatusPublished, ExperienceStatusDraft)
}

// UnpublishExperience makes a published experience a draft. One that an active product delivers is CodeInvalid on base.
func (s *Store) UnpublishExperience(ctx context.Context, account, ref string) (*Experience, error) {
	return s.moveExperience(ctx, account, ref, ExperienceStatusDraft, ExperienceStatusPublished)
}

// ArchiveExperience puts an experience away. One that an active product delivers is CodeInvalid on base.
func (s *Store) ArchiveExperience(ctx context.Context, account, ref string) (*Experience, error) {
	return s.moveExperience(ctx, account, ref, ExperienceStatusArchived, ExperienceStatusDraft, ExperienceStatusPublished)
}

// UnarchiveExperience makes an archived experience a draft.
func (s *Store) UnarchiveExperience(ctx context.Context, account, ref string) (*Experience, error) {
	return s.moveExperience(ctx, account, ref, ExperienceStatusDraft, ExperienceStatusArchived)
}

// DuplicateExperience makes a draft with the same fields and a slug of its own.
func (s *Store) DuplicateExperience(ctx context.Context, account, ref string) (*Experience, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (*Experience, error) {
		e, err := s.getExperience(ctx, u, account, ref)
		if err != nil {
			return nil, err
		}
		e.Slug, e.Status = "", ExperienceStatusDraft
		return s.described(ctx, u)(e, s.createExperience(ctx, u, e))
	})
}

// DeleteExperience deletes an experience for good, and returns it. One that an active product delivers is CodeInvalid on base.
func (s *Store) DeleteExperience(ctx context.Context, account, ref string) (*Experience, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (*Experience, error) {
		e, err := s.lockExperience(ctx, u, account, ref)
		if err != nil {
			return nil, err
		}
		if err := s.checkUndelivered(ctx, u, e); err != nil {
			return nil, err
		}
		if _, err := u.Exec(ctx, `DELETE FROM experiences WHERE account_id = ? AND id = ?`, account, e.ID); err != nil {
			return nil, fmt.Errorf("delete experience: %w", err)
		}
		if err := s.dropExperienceFiles(ctx, u, e); err != nil {
			return nil, err
		}
		return e, u.DropSlugs(ctx, core.KindExperience, account, e.ID)
	})
}

// moveExperience changes the status of an experience to to. One that has it already is returned as it is; one that is in none of the
// states in from is CodeInvalid on status.
func (s *Store) moveExperience(ctx context.Context, account, ref string, to ExperienceStatus, from ...ExperienceStatus) (*Experience, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (*Experience, error) {
		e, err := s.lockExperience(ctx, u, account, ref)
		if err != nil || e.Status == to {
			return s.described(ctx, u)(e, err)
		}
		if !slices.Contains(from, e.Status) {
			return nil, core.Invalid("status", fmt.Sprintf("An experience that is %s cannot become %s this way.", e.Status, to))
		}
		return s.described(ctx, u)(e, s.changeExperience(ctx, u, e, func(e *Experience) { e.Status = to }))
	})
}
