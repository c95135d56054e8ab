package picture

import (
	"context"
	"fmt"
	"strings"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
)

// Picture is the picture of an account, a product or a post. It has files once it was fetched, and a Problem if it
// could not be. When its address changes, it has the former files until it is fetched from there.
type Picture struct {
	AccountID string            `db:"account_id"`
	OwnerID   string            `db:"owner_id"` // the account of a logo, the product or the post
	Address   string            `db:"address"`  // where the seller has it
	DueAt     *core.Time        `db:"due_at"`   // when it is fetched, or fetched again; nil if it is not
	Attempts  int64             `db:"attempts"`
	Problem   *string           `db:"problem"` // a sentence for the seller
	Name      *string           `db:"name"`    // random, and never used again
	Kind      string            `db:"kind"`    // jpg or png: how the names of its files end
	Sizes     core.JSON[[]Size] `db:"sizes"`   // of its files, from narrow to wide
}

// Size is how large a file is, in pixels.
type Size struct {
	Width  int `json:"width"`
	Height int `json:"height"`
}

// Names of files that have a size of their own.
const (
	Card   = "card.jpg"   // 1200 x 630, for whoever shows a link to the page
	Letter = "letter.png" // a logo for letters and documents
)

// Path returns the path at which the server has a file of the picture.
func (p *Picture) Path(file string) string {
	return "/media/" + p.AccountID + "/" + core.Deref(p.Name) + "-" + file
}

// File returns the name of the file of a size, for Path.
func (p *Picture) File(s Size) string { return fmt.Sprintf("%d.%s", s.Width, p.Kind) }

const selectPicture = `SELECT account_id, owner_id, address, due_at, attempts, problem, name, kind, sizes FROM pictures`

// Shown returns those pictures of an account that were fetched, by their owners.
func (s *Store) Shown(ctx context.Context, account string, owners []string) (map[string]*Picture, error) {
	among, arg := s.db.In("owner_id", owners)
	found, err := db.Select[Picture](ctx, s.db, selectPicture+` WHERE account_id = ? AND `+among+` AND name IS NOT NULL`, account, arg)
	shown := make(map[string]*Picture, len(found))
	for i := range found {
		if len(found[i].Sizes.V) > 0 {
			shown[found[i].OwnerID] = &found[i]
		}
	}
	return shown, err
}

// Of returns the picture of an owner as it stands, nil if there is none.
func (s *Store) Of(ctx context.Context, account, owner string) (*Picture, error) {
	return db.Get[Picture](ctx, s.db, selectPicture+` WHERE account_id = ? AND owner_id = ?`, account, owner)
}

// Length returns how many bytes a file has as Path names it, without reading them: nil if there is none, or the account is disabled.
func (s *Store) Length(ctx context.Context, account, file string) (*int64, error) {
	name, size, _ := strings.Cut(file, "-")
	return db.Get[int64](ctx, s.db, `SELECT length(content) FROM picture_files WHERE account_id = ? AND name = ? AND size = ? AND `+db.EnabledAccount, account, name, size)
}

// File returns these bytes, nil if there are none.
func (s *Store) File(ctx context.Context, account, file string) ([]byte, error) {
	name, size, _ := strings.Cut(file, "-")
	content, err := db.Get[[]byte](ctx, s.db, `SELECT content FROM picture_files WHERE account_id = ? AND name = ? AND size = ? AND `+db.EnabledAccount, account, name, size)
	if err != nil || content == nil {
		return nil, err
	}
	return *content, nil
}

// Small returns the narrowest file of an owner's picture that has a width at least, or else the widest. It is nil if there is none.
func (s *Store) Small(ctx context.Context, account, owner string, width int) ([]byte, error) {
	shown, err := s.Shown(ctx, account, []string{owner})
	if err != nil || shown[owner] == nil {
		return nil, err
	}
	p := shown[owner]
	size := p.Sizes.V[len(p.Sizes.V)-1]
	for _, s := range p.Sizes.V {
		if s.Width >= width {
			size = s
			break
		}
	}
	return s.File(ctx, account, core.Deref(p.Name)+"-"+p.File(size))
}

// LetterLogo returns an account's logo for letters and documents, a small PNG. It is nil if there is none.
func (s *Store) LetterLogo(ctx context.Context, account string) ([]byte, error) {
	content, err := db.Get[[]byte](ctx, s.db, `
		SELECT f.content FROM pictures AS p JOIN picture_files AS f ON f.account_id = p.account_id AND f.name = p.name
		WHERE p.account_id = ? AND p.owner_id = ? AND f.size = ?`, account, account, Letter)
	if err != nil || content == nil {
		return nil, err
	}
	return *content, nil
}
