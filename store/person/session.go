package person

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
)

const (
	sessionIdle = 14 * 24 * time.Hour // a session ends that long after it was last used
	sessionLife = 90 * 24 * time.Hour // or that long after it began
	sessionSeen = time.Hour           // how exactly it is known when it was used
	proofLife   = 15 * time.Minute    // how long a credential counts as given just now
)

// Session is somebody who has signed in, and the account that they look at.
type Session struct {
	ID        string    `db:"id"` // hash of its token
	PersonID  string    `db:"person_id"`
	AccountID string    `db:"account_id"` // empty: they are a member of none
	Role      Role      `db:"role"`       // empty with AccountID
	Email     string    `db:"email"`
	Operator  bool      `db:"is_operator"`
	Agent     string    `db:"agent"`
	Address   string    `db:"address"`
	Notice    []byte    `db:"notice"`
	ProvenAt  core.Time `db:"proven_at"`
	UsedAt    core.Time `db:"used_at"`
	CreatedAt core.Time `db:"created_at"`
}

// Notice is what the next page says once: a sentence, or a secret that is shown this once.
type Notice struct {
	Text   string            `json:"text,omitempty"`
	Page   string            `json:"page,omitempty"` // the path of the page that is to say it, empty for the next one
	Secret map[string]string `json:"secret,omitempty"`
	Bad    bool              `json:"bad,omitempty"` // something did not work
}

// StartSession lets somebody in, to an account of theirs, and returns the token of the session. If their browser is not known to be theirs, they are told.
func (s *Store) StartSession(ctx context.Context, person, agent, address string, isKnown bool) (string, error) {
	token, now := newToken(), s.Now()
	_, err := db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (int64, error) {
		if !isKnown {
			if err := s.tellOfBrowser(ctx, u, person, agent, address); err != nil {
				return 0, err
			}
		}
		return u.Exec(ctx, `
			INSERT INTO person_sessions (id, person_id, account_id, agent, address, proven_at, used_at, created_at)
			VALUES (?, ?, COALESCE((SELECT MIN(account_id) FROM members WHERE person_id = ?), ''), ?, ?, ?, ?, ?)`,
			hashOf(token), person, person, cut(agent), cut(address), now, now, now)
	})
	if err != nil {
		return "", fmt.Errorf("start session: %w", err)
	}
	return token, nil
}

// cut returns the beginning of what a browser says of itself, as text that a database takes.
func cut(text string) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	if runes := []rune(text); len(runes) > 255 {
		return string(runes[:255])
	}
	return text
}

// OpenSession returns the session of a token, or CodeUnauthenticated. Of an account whose member they are no
// longer, or that is disabled, there is nothing in it.
func (s *Store) OpenSession(ctx context.Context, token string) (*Session, error) {
	now := s.Now()
	session, err := db.Get[Session](ctx, s.db, `
		SELECT s.id, s.person_id, CASE WHEN m.role IS NULL THEN '' ELSE s.account_id END AS account_id, COALESCE(m.role, '') AS role, p.email, p.is_operator,
			s.agent, s.address, s.notice, s.proven_at, s.used_at, s.created_at
		FROM person_sessions AS s JOIN people AS p ON p.id = s.person_id LEFT JOIN members AS m
			ON m.account_id = s.account_id AND m.person_id = s.person_id AND EXISTS (SELECT 1 FROM accounts AS a WHERE a.id = m.account_id AND a.disabled_at IS NULL)
		WHERE s.id = ? AND s.used_at > ? AND s.created_at > ?`, hashOf(token), now.Add(-sessionIdle), now.Add(-sessionLife))
	if err != nil {
		return nil, fmt.Errorf("open session: %w", err)
	}
	if session == nil {
		return nil, &core.Error{Code: core.CodeUnauthenticated, Message: "Sign in first."}
	}
	if session.UsedAt.Add(sessionSeen) < now {
		_, err = db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (int64, error) {
			return u.Exec(ctx, `UPDATE person_sessions SET used_at = ? WHERE id = ?`, now, session.ID)
		})
	}
	return session, err
}

// IsFresh reports whether a credential was given just now, as what can do much harm asks for.
func (s *Session) IsFresh(now core.Time) bool { return now < s.ProvenAt.Add(proofLife) }

// Prove notes that a credential was given.
func (s *Store) Prove(ctx context.Context, session *Session) error {
	return s.change(ctx, `UPDATE person_sessions SET proven_at = ? WHERE id = ?`, s.Now(), session.ID)
}

// LookAt has a session look at another account, of which its person must be a member: else it is CodeMissing.
func (s *Store) LookAt(ctx context.Context, session *Session, account string) error {
	changed, err := db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (int64, error) {
		return u.Exec(ctx, `UPDATE person_sessions SET account_id = ? WHERE id = ? AND EXISTS (SELECT 1 FROM members WHERE account_id = ? AND person_id = ?)`,
			account, session.ID, account, session.PersonID)
	})
	if err == nil && changed == 0 {
		err = core.Missing("account", "", account)
	}
	return err
}

// EndSession ends a session.
func (s *Store) EndSession(ctx context.Context, session *Session) error {
	return s.change(ctx, `DELETE FROM person_sessions WHERE id = ?`, session.ID)
}

// EndOtherSessions ends all sessions of a person but this one.
func (s *Store) EndOtherSessions(ctx context.Context, session *Session) error {
	return s.change(ctx, `DELETE FROM person_sessions WHERE person_id = ? AND id <> ?`, session.PersonID, session.ID)
}

// ListSessions returns the sessions of a person that are not over, the one used last first.
func (s *Store) ListSessions(ctx context.Context, person string) ([]Session, error) {
	return db.Select[Session](ctx, s.db, `
		SELECT id, person_id, account_id, agent, address, proven_at, used_at, created_at FROM person_sessions
		WHERE person_id = ? AND used_at > ? ORDER BY used_at DESC, id LIMIT 100`, person, s.Now().Add(-sessionIdle))
}

// Leave has the next page of a session say something once. It is sealed, because it may be a secret.
func (s *Store) Leave(ctx context.Context, session *Session, n Notice) error {
	text, err := json.Marshal(n)
	if err != nil {
		return err
	}
	return s.change(ctx, `UPDATE person_sessions SET notice = ? WHERE id = ?`, s.db.Options.Sealer.Seal(text, "notice\x00"+session.ID), session.ID)
}

// Take returns what was left for a page, and forgets it: of two pages that ask at once one gets it. It is the zero value if there is nothing.
func (s *Store) Take(ctx context.Context, session *Session, page string) (Notice, error) {
	var n Notice
	if session.Notice == nil {
		return n, nil
	}
	text, err := s.db.Options.Sealer.Open(session.Notice, "notice\x00"+session.ID)
	if err != nil {
		return n, err
	}
	if err := json.Unmarshal(text, &n); err != nil || n.Page != "" && n.Page != page {
		return Notice{}, err
	}
	taken, err := db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (int64, error) {
		return u.Exec(ctx, `UPDATE person_sessions SET notice = NULL WHERE id = ? AND notice = ?`, session.ID, session.Notice)
	})
	if err != nil || taken == 0 {
		return Notice{}, err
	}
	return n, nil
}

func (s *Store) change(ctx context.Context, statement string, args ...any) error {
	_, err := db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (int64, error) { return u.Exec(ctx, statement, args...) })
	return err
}

// DeleteOver deletes at most limit of the sessions and links that are over, and of the old letters to teams, and returns how many.
func (s *Store) DeleteOver(ctx context.Context, limit int) (int64, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (int64, error) {
		var all int64
		now := s.Now()
		for table, over := range map[string]struct {
			column string
			before core.Time
		}{
			"person_sessions": {"used_at", now.Add(-sessionIdle)}, "person_links": {"expires_at", now}, "team_letters": {"created_at", now.Add(-teamLetterLife)},
		} {
			n, err := u.ExecBatch(ctx, `DELETE FROM `+table, table+` WHERE `+over.column+` < ? ORDER BY `+over.column+` LIMIT ?`, over.before, limit)
			if err != nil {
				return 0, fmt.Errorf("delete what is over of %s: %w", table, err)
			}
			all += n
		}
		return all, nil
	})
}
