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

// LegalPageStatus says whether a page holds.
type LegalPageStatus string

// The states of a page.
const (
	LegalPageStatusDraft     LegalPageStatus = "draft"
	LegalPageStatusPublished LegalPageStatus = "published"
	LegalPageStatusArchived  LegalPageStatus = "archived"
)

// legalPageLifecycle lists, for each state of a page, the states that may follow it.
var legalPageLifecycle = core.Lifecycle[LegalPageStatus]{
	LegalPageStatusDraft:     {LegalPageStatusPublished, LegalPageStatusArchived},
	LegalPageStatusPublished: {LegalPageStatusDraft, LegalPageStatusArchived},
	LegalPageStatusArchived:  {LegalPageStatusDraft},
}

// LegalPageKind is what a page is about. Of each but custom, one is published in a language.
type LegalPageKind string

// LegalPageKindCustom is what no other kind names.
const LegalPageKindCustom LegalPageKind = "custom"

// LegalPage is what an account tells its customers about the law. Without Text, as in a list, its Body is not known.
type LegalPage struct {
	AccountID          string          `db:"account_id"`
	ID                 string          `db:"id"`
	Kind               LegalPageKind   `db:"kind"`
	Title              string          `db:"title"`
	Slug               string          `db:"slug"`
	Body               string          // Markdown
	Text               *Text           `json:"-"` // as it is stored, with the HTML of Body
	Status             LegalPageStatus `db:"status"`
	Version            int64           `db:"version"`      // of the text that was last published, 0 if none was
	PublishedAt        *core.Time      `db:"published_at"` // when that version was
	Locale             string          `db:"locale"`
	RequiresAcceptance bool            `db:"requires_acceptance"` // buyers accept it while it is published
	Accepted           bool            `db:"accepted"`            // a buyer has, so that it is kept for ever
	Metadata           core.Metadata   `db:"metadata"`
	CreatedAt          core.Time       `db:"created_at"`
	UpdatedAt          core.Time       `db:"updated_at"`
}

// ListLegalPages holds the filters of a list of pages. An empty one does not filter.
type ListLegalPages struct {
	core.Page
	core.ListFilter
	Status LegalPageStatus
	Kind   LegalPageKind
}

var legalPageColumns = db.ColumnsOf[LegalPage]("legal_pages")

// check notes what is wrong with the fields of a page.
func (l *LegalPage) check(p *core.Problems) {
	p.Check(strings.TrimSpace(l.Title) != "" && utf8.RuneCountInString(l.Title) <= 255, "title", "A title has 1 to 255 characters, not only white space.")
	p.Check(l.Status != LegalPageStatusPublished || strings.TrimSpace(l.Body) != "", "body", "A page needs a body before it is published.")
	l.Metadata.Check(p)
}

// GetLegalPage returns a page by its id, its slug or a slug that it had before, or CodeMissing.
func (s *Store) GetLegalPage(ctx context.Context, account, ref string) (*LegalPage, error) {
	return s.findLegalPage(ctx, s.db, account, ref)
}

// LegalPageVersion returns a published version of a page, or CodeMissing.
func (s *Store) LegalPageVersion(ctx context.Context, account, ref string, version int64) (*Text, error) {
	l, err := s.GetLegalPage(ctx, account, ref)
	if err != nil {
		return nil, err
	}
	return s.version(ctx, account, l.ID, version)
}

// ListLegalPageVersions returns the newest 100 published versions of a page, newest first, and whether there are older ones.
func (s *Store) ListLegalPageVersions(ctx context.Context, account, ref string) ([]TextVersion, bool, error) {
	l, err := s.GetLegalPage(ctx, account, ref)
	if err != nil {
		return nil, false, err
	}
	return s.versions(ctx, account, l.ID)
}

// ListLegalPages returns a page of the account's legal pages without their bodies, newest first, and whether there are more.
func (s *Store) ListLegalPages(ctx context.Context, account string, in ListLegalPages) ([]LegalPage, bool, error) {
	var f db.Filter
	f.OrderedIfSet("status", string(in.Status))
	f.OrderedIfSet("kind", string(in.Kind))
	f.List(s.db, "legal_pages", core.KindLegalPage, in.ListFilter, "title", "slug")
	return db.Page(ctx, s.db, legalPageColumns, core.KindLegalPage, account, in.Page, &f)
}

// ReadLegalPages is ListLegalPages with their bodies.
func (s *Store) ReadLegalPages(ctx context.Context, account string, in ListLegalPages) (pages []LegalPage, more bool, err error) {
	if pages, more, err = s.ListLegalPages(ctx, account, in); err != nil {
		return nil, false, err
	}
	return pages, more, readBodies(ctx, s, account, pages, func(l *LegalPage) (string, **Text, *string) { return l.ID, &l.Text, &l.Body })
}

// CreateLegalPage makes a page. Without a slug it gets one from its title, without a locale the account's. Without a status it is a draft.
func (s *Store) CreateLegalPage(ctx context.Context, account string, l LegalPage) (*LegalPage, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (*LegalPage, error) {
		l := l
		l.AccountID, l.Status = account, cmp.Or(l.Status, LegalPageStatusDraft)
		if l.Locale == "" {
			locale, err := db.Get[string](ctx, u, `SELECT locale FROM accounts WHERE id = ?`, account)
			if err != nil || locale == nil {
				return nil, fmt.Errorf("read the account's locale: %w", err)
			}
			l.Locale = *locale
		}
		return &l, s.createLegalPage(ctx, u, &l)
	})
}

// UpdateLegalPage locks the page, applies change, checks and stores it. A published page whose title or body changes gets its next version.
func (s *Store) UpdateLegalPage(ctx context.Context, account, ref string, change func(*LegalPage)) (*LegalPage, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (*LegalPage, error) {
		l, err := s.lockLegalPage(ctx, u, account, ref)
		if err != nil {
			return nil, err
		}
		return l, s.changeLegalPage(ctx, u, l, change)
	})
}

// PublishLegalPage publishes a draft. It returns CodeInvalid on status if another page of its kind is published in its language.
func (s *Store) PublishLegalPage(ctx context.Context, account, ref string) (*LegalPage, error) {
	return s.moveLegalPage(ctx, account, ref, LegalPageStatusPublished, LegalPageStatusDraft)
}

// UnpublishLegalPage makes a published page a draft.
func (s *Store) UnpublishLegalPage(ctx context.Context, account, ref string) (*LegalPage, error) {
	return s.moveLegalPage(ctx, account, ref, LegalPageStatusDraft, LegalPageStatusPublished)
}

// ArchiveLegalPage puts a page away.
func (s *Store) ArchiveLegalPage(ctx context.Context, account, ref string) (*LegalPage, error) {
	return s.moveLegalPage(ctx, account, ref, LegalPageStatusArchived, LegalPageStatusDraft, LegalPageStatusPublished)
}

// UnarchiveLegalPage makes an archived page a draft.
func (s *Store) UnarchiveLegalPage(ctx context.Context, account, ref string) (*LegalPage, error) {
	return s.moveLegalPage(ctx, account, ref, LegalPageStatusDraft, LegalPageStatusArchived)
}

// DuplicateLegalPage makes a draft with the same fields, a slug of its own and no versions.
func (s *Store) DuplicateLegalPage(ctx context.Context, account, ref string) (*LegalPage, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (*LegalPage, error) {
		l, err := s.findLegalPage(ctx, u, account, ref)
		if err != nil {
			return nil, err
		}
		l.Slug, l.Status, l.PublishedAt, l.Version, l.Accepted = "", LegalPageStatusDraft, nil, 0, false
		return l, s.createLegalPage(ctx, u, l)
	})
}

// DeleteLegalPage deletes a page with its versions for good, and returns it.
func (s *Store) DeleteLegalPage(ctx context.Context, account, ref string) (*LegalPage, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (*LegalPage, error) {
		l, err := s.lockLegalPage(ctx, u, account, ref)
		if err != nil {
			return nil, err
		}
		if l.Accepted {
			return nil, core.Invalid("base", "Buyers have accepted this page, so that it is kept. Archive it instead.")
		}
		if _, err := u.Exec(ctx, `DELETE FROM legal_pages WHERE account_id = ? AND id = ?`, account, l.ID); err != nil {
			return nil, fmt.Errorf("delete legal page: %w", err)
		}
		if err := s.dropTexts(ctx, u, account, l.ID); err != nil {
			return nil, err
		}
		return l, u.DropSlugs(ctx, core.KindLegalPage, account, l.ID)
	})
}

// moveLegalPage changes the status of a page to to. One that has it already is returned as it is; one that is in none of the states in
// from is CodeInvalid on status.
func (s *Store) moveLegalPage(ctx context.Context, account, ref string, to LegalPageStatus, from ...LegalPageStatus) (*LegalPage, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (*LegalPage, error) {
		l, err := s.lockLegalPage(ctx, u, account, ref)
		if err != nil || l.Status == to {
			return l, err
		}
		if !slices.Contains(from, l.Status) {
			return nil, core.Invalid("status", fmt.Sprintf("A page that is %s cannot become %s this way.", l.Status, to))
		}
		return l, s.changeLegalPage(ctx, u, l, func(l *LegalPage) { l.Status = to })
	})
}
