package store

import (
	"context"
	"fmt"
	"time"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/tenant"
)

// letterPauses are how long a letter waits after each attempt that failed. After one more it has failed for good.
var letterPauses = []time.Duration{time.Minute, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 6 * time.Hour, 24 * time.Hour}

// letterLease is how long a letter is left to whoever claimed it. Handing one to a mail server takes less.
const letterLease = time.Minute

// diedSending is why a letter has failed of whose attempts nothing was heard.
const diedSending = "This server died each time that it sent the letter, which may have arrived."

// LetterAccounts returns the accounts in which a letter waits to be sent, or to be tried again. It costs two looks at an index for each account.
func (s *Store) LetterAccounts(ctx context.Context) ([]string, error) {
	return db.PlanningAnew(ctx, s.db, func(ctx context.Context, r db.Reader) ([]string, error) {
		return db.Select[string](ctx, r, `
			WITH RECURSIVE waiting (account_id) AS (
				SELECT min(account_id) FROM letters WHERE next_attempt_at IS NOT NULL
				UNION ALL
				SELECT (SELECT min(l.account_id) FROM letters AS l WHERE l.next_attempt_at IS NOT NULL AND l.account_id > waiting.account_id)
				FROM waiting WHERE account_id IS NOT NULL
			) SELECT account_id FROM waiting WHERE account_id IS NOT NULL`)
	})
}

// LettersToSend names the letters of an account that are to be sent now, at most limit and the longest waiting first, for ClaimLetters. Those of
// product news are not among them: see NewsToSend.
func (s *Store) LettersToSend(ctx context.Context, account string, limit int) ([]core.Due, error) {
	return s.lettersToSend(ctx, account, `kind <> 'product_news'`, limit)
}

// NewsToSend is LettersToSend of product news, which is sent after all that somebody may be waiting for.
func (s *Store) NewsToSend(ctx context.Context, account string, limit int) ([]core.Due, error) {
	return s.lettersToSend(ctx, account, `kind = 'product_news'`, limit)
}

// lettersToSend names letters of kinds that have an index of their own, or of all.
func (s *Store) lettersToSend(ctx context.Context, account, kinds string, limit int) ([]core.Due, error) {
	return db.PlanningAnew(ctx, s.db, func(ctx context.Context, r db.Reader) ([]core.Due, error) {
		return db.Select[core.Due](ctx, r, `
			SELECT account_id, id FROM letters WHERE account_id = ? AND next_attempt_at <= ? AND `+kinds+` ORDER BY next_attempt_at LIMIT ?`, account, s.Now(), limit)
	})
}

// ClaimLetters returns those of some letters that are to be sent now, by this caller alone, who tells EndLetter what became of each. Left out are those
// that another caller has, and those whose last attempt never came to an end, so that they have failed. An error claims none.
func (s *Store) ClaimLetters(ctx context.Context, due ...core.Due) ([]Letter, error) {
	if len(due) == 0 {
		return nil, nil
	}
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) ([]Letter, error) {
		now := s.Now()
		args, froms := []any{now.Add(letterLease)}, make([]string, len(due))
		for i, d := range due {
			froms[i] = `letters WHERE account_id = ? AND id = ? AND next_attempt_at <= ? AND attempts <= ?`
			args = append(args, d.AccountID, d.ID, now, len(letterPauses))
		}
		claimed, err := db.Select[Letter](ctx, u, `UPDATE letters SET attempts = attempts + 1, next_attempt_at = ? WHERE `+u.RowAmong(froms...)+` `+letterColumns.ReturningSQL, args...)
		if err != nil {
			return nil, fmt.Errorf("claim letters: %w", err)
		}
		if len(claimed) == len(due) {
			return claimed, nil
		}
		return claimed, s.endDead(ctx, u, due)
	})
}

// endDead has those of some letters fail whose last attempt never came to an end.
func (s *Store) endDead(ctx context.Context, u *db.Unit, due []core.Due) error {
	for _, d := range due {
		l, err := db.Get[Letter](ctx, u, letterColumns.SelectSQL+` WHERE account_id = ? AND id = ? AND next_attempt_at <= ? AND attempts > ?`+u.LockSkip(),
			d.AccountID, d.ID, s.Now(), len(letterPauses))
		if err != nil {
			return fmt.Errorf("read a letter of which nothing was heard: %w", err)
		}
		if l == nil {
			continue
		}
		if err := s.endLetter(ctx, u, l, LetterOutcome{Status: LetterStatusFailed, Error: diedSending}); err != nil {
			return err
		}
	}
	return nil
}

// skippedAtOnce is how many letters one statement skips.
const skippedAtOnce = 200

// SkipLetters has those letters of an account skipped that are to be sent now, for the reason that is given. They are many at a time, and nobody need
// claim what is not sent. One of whose last attempt nothing was heard has failed, as ClaimLetters says. It reports whether there may be more.
func (s *Store) SkipLetters(ctx context.Context, account, why string) (more bool, err error) {
	due, err := s.lettersToSend(ctx, account, `TRUE`, 1)
	if err != nil || len(due) == 0 {
		return false, err // without a transaction, of which an embedded database has one at a time
	}
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (bool, error) {
		now, err := db.BusinessNow(ctx, u, account)
		if err != nil {
			return false, err
		}
		if err := u.PlanAnew(ctx); err != nil {
			return false, err
		}
		most := len(letterPauses)
		skipped, err := db.Select[Letter](ctx, u, `
			UPDATE letters SET next_attempt_at = NULL, updated_at = ?, status = CASE WHEN attempts > ? THEN 'failed' ELSE 'skipped' END,
				last_error = CASE WHEN attempts > ? THEN CAST(? AS text) ELSE CAST(? AS text) END, attempts = CASE WHEN attempts > ? THEN attempts ELSE attempts + 1 END
			WHERE account_id = ? AND `+
			s.db.InSelected("id", `SELECT id FROM letters WHERE account_id = ? AND next_attempt_at <= ? ORDER BY next_attempt_at LIMIT ?`+u.LockSkip())+` `+letterColumns.ReturningSQL,
			now, most, most, diedSending, why, most, account, account, s.Now(), skippedAtOnce)
		if err != nil {
			return false, fmt.Errorf("skip letters: %w", err)
		}
		return len(skipped) >= skippedAtOnce, s.countNewsAmong(ctx, u, skipped)
	})
}

// LetterOutcome says what became of an attempt to send a letter. It was sent, it was skipped, or it failed and may be tried again. Or it has to Wait,
// which counts as no attempt. Unless WaitsOne, all of its kind wait that the account would have sent now. Recipient and Subject are nil if it came to
// neither.
type LetterOutcome struct {
	Status    LetterStatus
	Wait      time.Duration
	WaitsOne  bool
	Error     string
	Recipient *string
	Subject   *string
}

// EndLetter notes what became of a letter that was claimed. One that failed is tried again, after longer and longer. If it was asked for again, claimed
// by somebody else, or deleted with its customer meanwhile, nothing is noted.
func (s *Store) EndLetter(ctx context.Context, claimed *Letter, out LetterOutcome) error {
	_, err := db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (any, error) { return nil, s.endLetter(ctx, u, claimed, out) })
	return err
}

func (s *Store) endLetter(ctx context.Context, u *db.Unit, claimed *Letter, out LetterOutcome) error {
	now, err := db.BusinessNow(ctx, u, claimed.AccountID)
	if err != nil {
		return err
	}
	l := *claimed
	l.NextAttemptAt, l.LastError, l.UpdatedAt = nil, nil, now
	if out.Error != "" {
		l.LastError = &out.Error
	}
	if out.Recipient != nil {
		l.Recipient, l.Subject = out.Recipient, out.Subject
	}
	switch {
	case out.Wait > 0:
		l.Attempts--
		l.NextAttemptAt = new(s.Now().Add(out.Wait))
	case out.Status == LetterStatusFailed && l.Attempts <= int64(len(letterPauses)):
		l.NextAttemptAt = new(s.Now().Add(letterPauses[l.Attempts-1]))
	default:
		if err := letterLifecycle.Check("letter", l.Status, out.Status); err != nil {
			return err
		}
		l.Status = out.Status
		if out.Status == LetterStatusSent {
			l.SentAt = &now
		}
	}
	rows, err := u.Exec(ctx, `
		UPDATE letters SET status = ?, attempts = ?, next_attempt_at = ?, recipient = ?, subject = ?, last_error = ?, sent_at = ?, updated_at = ?
		WHERE account_id = ? AND id = ? AND status = 'queued' AND attempts = ? AND resends = ?`,
		l.Status, l.Attempts, l.NextAttemptAt, l.Recipient, l.Subject, l.LastError, l.SentAt, now, l.AccountID, l.ID, claimed.Attempts, l.Resends)
	if err != nil {
		return fmt.Errorf("note what became of a letter: %w", err)
	}
	switch {
	case rows == 0:
		return nil
	case l.Kind == tenant.LetterProductNews && l.Status != LetterStatusQueued:
		return s.countNewsAmong(ctx, u, []Letter{l})
	case l.Status == LetterStatusSent:
		return s.remindAgain(ctx, u, &l, now)
	case out.Wait > 0 && !out.WaitsOne:
		return s.postponeLetters(ctx, u, &l)
	}
	return nil
}

// postponedAtOnce is how many letters one statement postpones. The others are postponed with the next that is one too many.
const postponedAtOnce = 1000

// postponeLetters is for a letter that waits. Letters of its kind that the account would have sent now wait as long as it does. So few have to be
// looked at to find out that there are too many.
func (s *Store) postponeLetters(ctx context.Context, u *db.Unit, l *Letter) error {
	if err := u.PlanAnew(ctx); err != nil {
		return err
	}
	_, err := u.Exec(ctx, `
		UPDATE letters SET next_attempt_at = ?, last_error = ?, updated_at = ? WHERE account_id = ? AND `+s.db.InSelected("id", `
			SELECT id FROM letters WHERE account_id = ? AND next_attempt_at <= ? AND kind || '' = ? AND attempts = 0 AND resends = 0
			ORDER BY next_attempt_at LIMIT ?`+u.LockSkip()),
		l.NextAttemptAt, l.LastError, l.UpdatedAt, l.AccountID, l.AccountID, s.Now(), l.Kind, postponedAtOnce)
	return err
}

// areLettersWaiting reports whether an account has so many letters of a kind waiting to be sent.
func (s *Store) areLettersWaiting(ctx context.Context, account string, kind tenant.LetterKind, many int) (bool, error) {
	found, err := db.Get[int](ctx, s.db, `
		SELECT 1 FROM letters WHERE account_id = ? AND next_attempt_at IS NOT NULL AND kind || '' = ? LIMIT 1 OFFSET ?`, account, kind, many-1)
	return found != nil, err
}

// DueLetters names letters whose day has come, at most limit, for ReleaseLetter. They are those of one account by its own clock, or with an empty
// account those of all. Disabled accounts are left out.
func (s *Store) DueLetters(ctx context.Context, account string, limit int) ([]core.Due, error) {
	return s.db.Due(ctx, account, `SELECT account_id, id FROM letters WHERE due_at <= ? AND `+db.EnabledAccount, `due_at`, limit)
}

// ReleaseLetter has a letter sent whose day has come, and reports whether it did.
func (s *Store) ReleaseLetter(ctx context.Context, account, id string) (bool, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (bool, error) {
		now, err := db.BusinessNow(ctx, u, account)
		if err != nil {
			return false, err
		}
		rows, err := u.Exec(ctx, `UPDATE letters SET due_at = NULL, next_attempt_at = ?, updated_at = ? WHERE account_id = ? AND id = ? AND due_at <= ?`, s.Now(), now, account, id, now)
		if err != nil {
			return false, fmt.Errorf("release letter: %w", err)
		}
		return rows > 0, nil
	})
}
