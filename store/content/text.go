package content

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/tillwright/tillwright/store/content/markdown"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
)

const (
	bodyMaxLength = 200_000

	// versionsListed is how many versions a list shows, the newest.
	versionsListed = 100
)

// Text is what is long about an object: its working text, whose version is 0, or one that was published.
type Text struct {
	AccountID string    `db:"account_id"`
	ObjectID  string    `db:"object_id"`
	Version   int64     `db:"version"`
	Title     string    `db:"title"`
	Body      string    `db:"body"`      // Markdown
	HTML      string    `db:"body_html"` // of the body, in which nothing runs
	MadeBy    int64     `db:"made_by"`   // the version of package markdown that made it
	CreatedAt core.Time `db:"created_at"`
}

// TextVersion is a published text of an object without its body.
type TextVersion struct {
	Version   int64     `db:"version"`
	Title     string    `db:"title"`
	CreatedAt core.Time `db:"created_at"`
}

var textColumns = db.ColumnsOf[Text]("content_texts")

// edited returns the text with another title and body, with the HTML of the body, made anew if it is another one. It notes what is wrong
// with the body. A text that is nil is one to be made.
func (t *Text) edited(p *core.Problems, title, body string) *Text {
	if t == nil {
		t = &Text{MadeBy: markdown.Version}
	}
	after := *t
	after.Title = title
	switch {
	case after.Body == body:
	case utf8.RuneCountInString(body) > bodyMaxLength:
		p.Add("body", "A body has at most 200,000 characters.")
	default:
		rendered, problem := markdown.Render(body)
		p.Check(problem == "", "body", problem)
		after.Body, after.HTML, after.MadeBy = body, rendered, markdown.Version
	}
	return &after
}

// readingMinutes returns how long it takes to read a text, at 200 words a minute.
func readingMinutes(body string) int64 { return int64((len(strings.Fields(body)) + 199) / 200) }

// text returns a version of an object's text, nil if there is none.
func (s *Store) text(ctx context.Context, r db.Reader, account, object string, version int64) (*Text, error) {
	t, err := db.Get[Text](ctx, r, textColumns.SelectSQL+` WHERE account_id = ? AND object_id = ? AND version = ?`, account, object, version)
	if err != nil {
		err = fmt.Errorf("read text: %w", err)
	}
	return t, err
}

// workingText returns the text of an object that is being written.
func (s *Store) workingText(ctx context.Context, r db.Reader, account, object string) (*Text, error) {
	t, err := s.text(ctx, r, account, object, 0)
	if err == nil && t == nil {
		err = fmt.Errorf("%s has no text", object)
	}
	return t, err
}

// version returns a published text of an object, or CodeMissing.
func (s *Store) version(ctx context.Context, account, object string, version int64) (*Text, error) {
	if version < 1 {
		return nil, core.Missing("version", "version", fmt.Sprint(version))
	}
	t, err := s.text(ctx, s.db, account, object, version)
	if err == nil && t == nil {
		err = core.Missing("version", "version", fmt.Sprint(version))
	}
	return t, err
}

// versions returns the newest published texts of an object, newest first, and whether there are older ones.
func (s *Store) versions(ctx context.Context, account, object string) ([]TextVersion, bool, error) {
	rows, err := db.Select[TextVersion](ctx, s.db, `
		SELECT version, title, created_at FROM content_texts WHERE account_id = ? AND object_id = ? AND version > 0 ORDER BY version DESC LIMIT ?`,
		account, object, versionsListed+1)
	if err != nil {
		return nil, false, fmt.Errorf("list versions: %w", err)
	}
	return rows[:min(len(rows), versionsListed)], len(rows) > versionsListed, nil
}

// saveText replaces the working text of a locked object.
func (s *Store) saveText(ctx context.Context, u *db.Unit, t *Text) error {
	_, err := u.Exec(ctx, `UPDATE content_texts SET title = ?, body = ?, body_html = ?, made_by = ? WHERE account_id = ? AND object_id = ? AND version = 0`,
		t.Title, t.Body, t.HTML, t.MadeBy, t.AccountID, t.ObjectID)
	if err != nil {
		err = fmt.Errorf("save text: %w", err)
	}
	return err
}

// publishText keeps the working text of a locked object as its next version, unless it is the same as the last. It returns the number of
// the version that the text has then.
func (s *Store) publishText(ctx context.Context, u *db.Unit, t *Text, last int64, now core.Time) (int64, error) {
	if last > 0 {
		before, err := s.text(ctx, u, t.AccountID, t.ObjectID, last)
		if err != nil {
			return 0, err
		}
		if before != nil && before.Title == t.Title && before.Body == t.Body {
			return last, nil
		}
	}
	published := *t
	published.Version, published.CreatedAt = last+1, now
	return published.Version, u.Insert(ctx, textColumns, &published)
}

// forgetTexts deletes the versions of an object up to one.
func (s *Store) forgetTexts(ctx context.Context, u *db.Unit, account, object string, upTo int64) error {
	_, err := u.Exec(ctx, `DELETE FROM content_texts WHERE account_id = ? AND object_id = ? AND version > 0 AND version <= ?`, account, object, upTo)
	return err
}

// dropTexts deletes the texts of an object that is deleted.
func (s *Store) dropTexts(ctx context.Context, u *db.Unit, account, object string) error {
	_, err := u.Exec(ctx, `DELETE FROM content_texts WHERE account_id = ? AND object_id = ?`, account, object)
	return err
}

// RenderStale renders at most limit texts anew whose HTML an earlier version of package markdown made, and returns how many it found.
func (s *Store) RenderStale(ctx context.Context, limit int) (int64, error) {
	stale, err := db.Select[Text](ctx, s.db, `
		SELECT account_id, object_id, version, '' AS title, '' AS body, '' AS body_html, made_by, created_at FROM content_texts WHERE made_by < ? LIMIT ?`,
		markdown.Version, limit)
	if err != nil {
		return 0, fmt.Errorf("find stale HTML: %w", err)
	}
	for _, t := range stale {
		if err := s.renderAnew(ctx, t.AccountID, t.ObjectID, t.Version); err != nil {
			return 0, err
		}
	}
	return int64(len(stale)), nil
}

// renderAnew makes the HTML of a text again. A text that has become another one meanwhile keeps its own.
func (s *Store) renderAnew(ctx context.Context, account, object string, version int64) error {
	t, err := s.text(ctx, s.db, account, object, version)
	if err != nil || t == nil {
		return err
	}
	rendered, _ := markdown.Render(t.Body) // what is too much now, and was not then, is shown as it is written
	_, err = db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (int64, error) {
		return u.Exec(ctx, `UPDATE content_texts SET body_html = ?, made_by = ? WHERE account_id = ? AND object_id = ? AND version = ? AND made_by = ?`,
			rendered, markdown.Version, account, object, version, t.MadeBy)
	})
	if err != nil {
		err = fmt.Errorf("render anew: %w", err)
	}
	return err
}

// workingTexts returns the texts of objects that are being written, by object.
func (s *Store) workingTexts(ctx context.Context, account string, objects []string) (map[string]*Text, error) {
	if len(objects) == 0 {
		return nil, nil
	}
	condition, arg := s.db.In("object_id", objects)
	texts, err := db.Select[Text](ctx, s.db, textColumns.SelectSQL+` WHERE account_id = ? AND version = 0 AND `+condition, account, arg)
	if err != nil {
		return nil, fmt.Errorf("read texts: %w", err)
	}
	found := make(map[string]*Text, len(texts))
	for i := range texts {
		found[texts[i].ObjectID] = &texts[i]
	}
	return found, nil
}

// readBodies reads the working texts of objects. Of each object parts returns the id, and where its text and its body are kept.
func readBodies[T any](ctx context.Context, s *Store, account string, objects []T, parts func(*T) (id string, t **Text, body *string)) error {
	ids := make([]string, len(objects))
	for i := range objects {
		ids[i], _, _ = parts(&objects[i])
	}
	texts, err := s.workingTexts(ctx, account, ids)
	if err != nil {
		return err
	}
	for i := range objects {
		id, kept, body := parts(&objects[i])
		if *kept = texts[id]; *kept != nil {
			*body = (*kept).Body
		}
	}
	return nil
}
