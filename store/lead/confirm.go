package lead

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/mailbox"
	"github.com/tillwright/tillwright/store/signed"
	"github.com/tillwright/tillwright/store/throttle"
)

// The letter that asks a lead to confirm is a moment in its row, which commits with the lead. Whoever sends it moves that moment first, so that
// no other replica sends it meanwhile. If this one does not come to an end, it is tried again at the moment to which it was moved.
const (
	letterLease    = 5 * time.Minute // doubled by each attempt
	letterAttempts = 8               // which take half a day
	mostLetters    = 3               // to a lead, a day

	confirmationLifetime = 7 * 24 * time.Hour // of the link in it
)

// DueLetters names leads to whom a letter is to be sent, at most limit, for ClaimLetter.
func (s *Store) DueLetters(ctx context.Context, limit int) ([]core.Due, error) {
	return db.Select[core.Due](ctx, s.db, `SELECT account_id, id FROM leads WHERE letter_due_at <= ? ORDER BY letter_due_at LIMIT ?`, s.db.Now(), limit)
}

// ClaimLetter returns a lead to whom a letter is to be sent now, by this caller alone, until another attempt is due. It is nil if there is
// nothing to send: another caller has it, the account is disabled, or the lead wants none any more. The same goes if too many letters were sent,
// to the address or because of the network from which the form came. Then no further attempt is made.
func (s *Store) ClaimLetter(ctx context.Context, account, id string) (*Lead, error) {
	lead, err := db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (*Lead, error) {
		l, err := db.Get[Lead](ctx, u, columns.SelectSQL+` WHERE account_id = ? AND id = ? AND letter_due_at <= ?`+u.LockSkip(), account, id, s.db.Now())
		if err != nil || l == nil {
			return nil, err
		}
		disabled, err := s.rooms.Tenant.IsDisabledIn(ctx, u, account)
		if err != nil {
			return nil, err
		}
		ended, err := s.HasEnded(ctx, u, account, l.Email)
		if err != nil {
			return nil, err
		}
		wanted := !disabled && !ended && !l.Consent.V.Marketing && l.LetterAttempts < letterAttempts
		l.LetterDueAt = nil
		if wanted {
			l.LetterDueAt = new(s.db.Now().Add(letterLease << l.LetterAttempts))
			l.LetterAttempts++
		}
		if err := u.Update(ctx, columns, l); err != nil || !wanted {
			return nil, err
		}
		return l, nil
	})
	if err != nil || lead == nil || lead.LetterAttempts > 1 { // which was counted
		return lead, err
	}
	err = s.rooms.Mailbox.Count(ctx, account, append(mailbox.VerificationsFrom(core.Deref(lead.Consent.V.IP), account, lead.Email),
		throttle.Limit{Subject: "lead:" + lead.ID, Most: mostLetters, Window: 24 * time.Hour})...)
	if refused, ok := errors.AsType[*core.Error](err); ok && refused.Code == core.CodeRateLimit {
		return nil, s.EndLetter(ctx, account, id)
	}
	return lead, err
}

// EndLetter notes that the letter to a lead needs no further attempt.
func (s *Store) EndLetter(ctx context.Context, account, id string) error {
	_, err := db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (int64, error) {
		return u.Exec(ctx, `UPDATE leads SET letter_due_at = NULL, letter_attempts = 0 WHERE account_id = ? AND id = ?`, account, id)
	})
	return err
}

// confirmation is what the link in a letter to a lead holds, sealed. Whoever has the link reads the mail to the address.
type confirmation struct {
	Account   string    `json:"account"`
	Lead      string    `json:"lead"`
	ExpiresAt core.Time `json:"expires_at"`
}

// confirmationContext is what links in letters to leads are sealed for: nothing else that is sealed opens as one.
const confirmationContext = "lead confirmation"

// ConfirmationURL returns the address of the page on which the reader of a letter agrees to more. Nobody else can read or make such a
// link, and it can be used for seven days.
func (s *Store) ConfirmationURL(l *Lead) (string, error) {
	text, err := json.Marshal(confirmation{l.AccountID, l.ID, s.db.Now().Add(confirmationLifetime)})
	if err != nil {
		return "", fmt.Errorf("seal lead confirmation: %w", err)
	}
	return s.db.Options.PublicURL + "/subscribe/" + signed.Encoding.EncodeToString(s.db.Options.Sealer.Seal(text, confirmationContext)), nil
}

// OpenConfirmation returns the lead whom a letter asked. It is CodeMissing if the link is not genuine, the lead was deleted, its
// address has ended the news, or the account is disabled. If the link's time is over, expired is true and the lead nil.
func (s *Store) OpenConfirmation(ctx context.Context, token string) (l *Lead, expired bool, err error) {
	return s.openConfirmation(ctx, s.db, token)
}

// openConfirmation is OpenConfirmation, and reads the lead from r.
func (s *Store) openConfirmation(ctx context.Context, r db.Reader, token string) (l *Lead, expired bool, err error) {
	sealed, err := signed.Encoding.DecodeString(token)
	if err != nil {
		return nil, false, core.Missing("page", "", "")
	}
	text, err := s.db.Options.Sealer.Open(sealed, confirmationContext)
	if err != nil {
		return nil, false, core.Missing("page", "", "")
	}
	var c confirmation
	if err := json.Unmarshal(text, &c); err != nil {
		return nil, false, fmt.Errorf("read lead confirmation: %w", err)
	}
	if c.ExpiresAt <= s.db.Now() {
		return nil, true, nil
	}
	if disabled, err := s.rooms.Tenant.IsDisabledIn(ctx, db.Unlocked(r), c.Account); err != nil {
		return nil, false, err
	} else if disabled {
		return nil, false, core.Missing("page", "", "")
	}
	if l, err = find(ctx, r, c.Account, c.Lead); err != nil {
		return nil, false, err
	}
	ended, err := s.HasEnded(ctx, db.Unlocked(r), l.AccountID, l.Email)
	if err == nil && ended {
		err = core.Missing("page", "", "")
	}
	if err != nil {
		return nil, false, err
	}
	return l, false, nil
}

// TellsOnceConfirmed reports whether ad networks are told of a lead once the reader of its letter confirms it.
func (s *Store) TellsOnceConfirmed(ctx context.Context, l *Lead) (bool, error) {
	if !l.AdsConsent {
		return false, nil
	}
	return s.rooms.Advert.HoldsConversions(ctx, l.AccountID, l.ID)
}

// Confirm notes that the reader of a letter, whose token this is, agreed to be written to. It lets ad networks be told of the lead if that was
// agreed to in its form. What comes back is as of OpenConfirmation.
func (s *Store) Confirm(ctx context.Context, token string) (l *Lead, expired bool, err error) {
	l, err = db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (*Lead, error) {
		var l *Lead
		if l, expired, err = s.openConfirmation(ctx, u, token); err != nil || expired {
			return nil, err
		}
		owner, err := s.rooms.Customer.LockOwner(ctx, u, l.AccountID, l.CustomerID, "leads", l.ID)
		if err != nil {
			return nil, err
		}
		if l, expired, err = s.openConfirmation(ctx, u.Locked(), token); err != nil || expired {
			return nil, err
		}
		if l.AdsConsent {
			if err := s.rooms.Advert.ReleaseConversions(ctx, u, l.AccountID, l.ID); err != nil {
				return nil, err
			}
		}
		if l.Consent.V.ConfirmedAt != nil {
			return l, nil
		}
		now, err := db.BusinessNow(ctx, u, l.AccountID)
		if err != nil {
			return nil, err
		}
		l.Consent.V.Marketing, l.Consent.V.ConfirmedAt, l.UpdatedAt = true, &now, now
		l.Consent.V.complete(now)
		l.LetterDueAt, l.LetterAttempts = nil, 0
		if err := s.noteConfirmed(ctx, u, owner, l, now); err != nil {
			return nil, err
		}
		return l, u.Update(ctx, columns, l)
	})
	return l, expired, err
}
