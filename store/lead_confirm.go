package store

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

// The letter that asks a lead to confirm is a moment in its row, which commits with the lead. Whoever sends it moves that moment first, so
// that no other replica sends it meanwhile, and it is tried again then if this one does not come to an end.
const (
	leadLetterLease    = 5 * time.Minute // doubled by each attempt
	leadLetterAttempts = 8               // which take half a day
	leadLetters        = 3               // to a lead, a day

	leadConfirmationLifetime = 7 * 24 * time.Hour // of the link in it
)

// DueLeadLetters names leads to whom a letter is to be sent, at most limit, for ClaimLeadLetter.
func (s *Store) DueLeadLetters(ctx context.Context, limit int) ([]core.Due, error) {
	return db.Select[core.Due](ctx, s.db, `SELECT account_id, id FROM leads WHERE letter_due_at <= ? ORDER BY letter_due_at LIMIT ?`, s.db.Now(), limit)
}

// ClaimLeadLetter returns a lead to whom a letter is to be sent now, by this caller alone, until another attempt is due. It is nil if there is nothing
// to send: another caller has it, the account is disabled, the lead wants none any more, or too many letters were sent, to the address or because of the
// network from which the form came. Then no further attempt is made.
func (s *Store) ClaimLeadLetter(ctx context.Context, account, id string) (*Lead, error) {
	lead, err := db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (*Lead, error) {
		l, err := db.Get[Lead](ctx, u, leadColumns.SelectSQL+` WHERE account_id = ? AND id = ? AND letter_due_at <= ?`+u.LockSkip(), account, id, s.db.Now())
		if err != nil || l == nil {
			return nil, err
		}
		disabled, err := s.Tenant.IsDisabled(ctx, account)
		if err != nil {
			return nil, err
		}
		wanted := !disabled && l.Status != LeadStatusUnsubscribed && !l.Consent.V.Marketing && l.LetterAttempts < leadLetterAttempts
		l.LetterDueAt = nil
		if wanted {
			l.LetterDueAt = new(s.db.Now().Add(leadLetterLease << l.LetterAttempts))
			l.LetterAttempts++
		}
		if err := u.Update(ctx, leadColumns, l); err != nil || !wanted {
			return nil, err
		}
		return l, nil
	})
	if err != nil || lead == nil || lead.LetterAttempts > 1 { // which was counted
		return lead, err
	}
	err = s.Mailbox.Count(ctx, account, append(mailbox.VerificationsFrom(core.Deref(lead.Consent.V.IP), account, lead.Email),
		throttle.Limit{Subject: "lead:" + lead.ID, Most: leadLetters, Window: 24 * time.Hour})...)
	if refused, ok := errors.AsType[*core.Error](err); ok && refused.Code == core.CodeRateLimit {
		return nil, s.EndLeadLetter(ctx, account, id)
	}
	return lead, err
}

// EndLeadLetter notes that the letter to a lead needs no further attempt.
func (s *Store) EndLeadLetter(ctx context.Context, account, id string) error {
	_, err := db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (int64, error) {
		return u.Exec(ctx, `UPDATE leads SET letter_due_at = NULL, letter_attempts = 0 WHERE account_id = ? AND id = ?`, account, id)
	})
	return err
}

// leadConfirmation is what the link in a letter to a lead holds, sealed. Whoever has the link reads the mail to the address.
type leadConfirmation struct {
	Account   string    `json:"account"`
	Lead      string    `json:"lead"`
	ExpiresAt core.Time `json:"expires_at"`
}

// leadConfirmationContext is what links in letters to leads are sealed for: nothing else that is sealed opens as one.
const leadConfirmationContext = "lead confirmation"

// LeadConfirmationURL returns the address of the page on which the reader of a letter agrees to more. Nobody else can read or make such a
// link, and it can be used for seven days.
func (s *Store) LeadConfirmationURL(l *Lead) (string, error) {
	text, err := json.Marshal(leadConfirmation{l.AccountID, l.ID, s.db.Now().Add(leadConfirmationLifetime)})
	if err != nil {
		return "", fmt.Errorf("seal lead confirmation: %w", err)
	}
	return s.db.Options.PublicURL + "/subscribe/" + signed.Encoding.EncodeToString(s.db.Options.Sealer.Seal(text, leadConfirmationContext)), nil
}

// OpenLeadConfirmation returns the lead whom a letter asked. It is CodeMissing if the link is not genuine, the lead was deleted or
// unsubscribed, or the account is disabled. If the link's time is over, expired is true and the lead nil.
func (s *Store) OpenLeadConfirmation(ctx context.Context, token string) (l *Lead, expired bool, err error) {
	return s.openLeadConfirmation(ctx, s.db, token)
}

// openLeadConfirmation is OpenLeadConfirmation, and reads the lead from r.
func (s *Store) openLeadConfirmation(ctx context.Context, r db.Reader, token string) (l *Lead, expired bool, err error) {
	sealed, err := signed.Encoding.DecodeString(token)
	if err != nil {
		return nil, false, core.Missing("page", "", "")
	}
	text, err := s.db.Options.Sealer.Open(sealed, leadConfirmationContext)
	if err != nil {
		return nil, false, core.Missing("page", "", "")
	}
	var c leadConfirmation
	if err := json.Unmarshal(text, &c); err != nil {
		return nil, false, fmt.Errorf("read lead confirmation: %w", err)
	}
	if c.ExpiresAt <= s.db.Now() {
		return nil, true, nil
	}
	if disabled, err := s.Tenant.IsDisabled(ctx, c.Account); err != nil {
		return nil, false, err
	} else if disabled {
		return nil, false, core.Missing("page", "", "")
	}
	l, err = findLead(ctx, r, c.Account, c.Lead)
	if err == nil && l.Status == LeadStatusUnsubscribed {
		return nil, false, core.Missing("page", "", "")
	}
	return l, false, err
}

// TellsOnceConfirmed reports whether ad networks are told of a lead once the reader of its letter confirms it.
func (s *Store) TellsOnceConfirmed(ctx context.Context, l *Lead) (bool, error) {
	if !l.AdsConsent {
		return false, nil
	}
	return s.Advert.HoldsConversions(ctx, l.AccountID, l.ID)
}

// ConfirmLead notes that the reader of a letter, whose token this is, agreed to be written to, and lets ad networks be told of the lead if that
// was agreed to in its form. What comes back is as of OpenLeadConfirmation.
func (s *Store) ConfirmLead(ctx context.Context, token string) (l *Lead, expired bool, err error) {
	l, err = db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (*Lead, error) {
		var l *Lead
		if l, expired, err = s.openLeadConfirmation(ctx, u.Locked(), token); err != nil || expired {
			return nil, err
		}
		if l.AdsConsent {
			if err := s.Advert.ReleaseConversions(ctx, u, l.AccountID, l.ID); err != nil {
				return nil, err
			}
		}
		if l.Consent.V.ConfirmedAt != nil {
			return l, nil
		}
		now, err := s.db.BusinessNow(ctx, l.AccountID)
		if err != nil {
			return nil, err
		}
		l.Consent.V.Marketing, l.Consent.V.ConfirmedAt, l.UpdatedAt = true, &now, now
		l.Consent.V.complete(now)
		l.LetterDueAt, l.LetterAttempts = nil, 0
		return l, u.Update(ctx, leadColumns, l)
	})
	return l, expired, err
}
