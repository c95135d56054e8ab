package store

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
)

// letterLimit is how many letters may be sent within a window, which begins with its first letter, about or to a subject.
type letterLimit struct {
	subject  string
	most     int64
	window   time.Duration
	isOfMany bool // who is refused may not be who has asked before
}

// Mail costs the reputation of the server that sends it. What a seller sends is counted by document and by account. What
// somebody asks for without a key is counted apart from it, so that it uses up nothing of the seller's, and by the network address
// from which they ask and the network around it, of which one household may have 65,536.
const (
	documentLetters     = 5    // an hour
	accountLetters      = 1000 // an hour
	pageDocumentLetters = 3    // a day
	pageAccountLetters  = 100  // an hour
	senderLetters       = 10   // an hour
	networkLetters      = 50   // an hour
	insideLetters       = 100  // an hour, from where a proxy that is not named hides all buyers

	// Letters that ask whose an address is: whoever types addresses does not write to the people behind them.
	verificationPause      = time.Minute
	checkoutVerifications  = 3   // a day
	recipientVerifications = 5   // an hour
	accountVerifications   = 500 // an hour
)

// CountLetter counts a letter about an order or an invoice, for all replicas, that is sent next. Beyond the limits of the
// document or the account it is CodeRateLimit, and not counted.
func (s *Store) CountLetter(ctx context.Context, account, id string) error {
	return s.countLetter(ctx, account, letterLimit{"account", accountLetters, time.Hour, true}, letterLimit{id, documentLetters, time.Hour, false})
}

// CountPageLetter counts a letter that somebody asked for on a page, from a network address.
func (s *Store) CountPageLetter(ctx context.Context, account, id, from string) error {
	return s.countLetter(ctx, account, slices.Concat(
		[]letterLimit{{"pages", pageAccountLetters, time.Hour, true}},
		lettersFrom(from),
		[]letterLimit{{"page:" + id, pageDocumentLetters, day, false}})...)
}

func (s *Store) countLetter(ctx context.Context, account string, limits ...letterLimit) error {
	_, err := tx(ctx, s, func(ctx context.Context, u *unit) (struct{}, error) {
		over, wait, err := u.countLetter(ctx, account, limits...)
		if err == nil && over != nil {
			err = &core.Error{
				Code: core.CodeRateLimit, Param: "id", After: wait,
				Message: fmt.Sprintf("%d letters were sent within %s, which is the most. Try again in %s.", over.most, spoken(over.window), spoken(wait)),
			}
		}
		return struct{}{}, err
	})
	return err
}

// countVerification counts a letter that asks whose the address of a checkout is, or is CodeRateLimit.
func (u *unit) countVerification(ctx context.Context, c *Checkout, from string) error {
	over, wait, err := u.countLetter(ctx, c.AccountID, slices.Concat(
		[]letterLimit{{"verifications", accountVerifications, time.Hour, true}},
		lettersFrom(from),
		[]letterLimit{
			{"to:" + buyerKey(c.AccountID, *c.CustomerEmail), recipientVerifications, time.Hour, false},
			{"verify:" + c.ID, checkoutVerifications, day, false},
			{"pause:" + c.ID, 1, verificationPause, false},
		})...)
	if err != nil || over == nil {
		return err
	}
	why := "A letter was sent already. Look for it, also among unwanted mail."
	if over.isOfMany {
		why = "Too many letters were asked for."
	}
	return &core.Error{Code: core.CodeRateLimit, Param: "customer_email", After: wait, Message: fmt.Sprintf("%s You can ask for another one in %s.", why, spoken(wait))}
}

// lettersFrom limits what a network address asks for, and the network around it.
func lettersFrom(address string) (limits []letterLimit) {
	for _, subject := range addressGuards(address) {
		most := int64(senderLetters)
		switch {
		case strings.HasPrefix(subject, guardInside):
			most = insideLetters
		case strings.HasPrefix(subject, guardNetwork):
			most = networkLetters
		}
		limits = append(limits, letterLimit{subject, most, time.Hour, true})
	}
	return limits
}

type letterWindow struct {
	BeganAt core.Time `db:"began_at"`
	Sent    int64     `db:"sent"`
}

// countLetter counts a letter in windows, which everybody gives in one order: of all, of who asks, of who is written to, of
// what it is about. Their rows stay locked until the transaction ends. It returns the one that is over, and for how long, if one is.
func (u *unit) countLetter(ctx context.Context, account string, limits ...letterLimit) (over *letterLimit, wait time.Duration, err error) {
	now := u.store.Now()
	for _, l := range limits {
		before := now.Add(-l.window)
		w, err := db.Get[letterWindow](ctx, u.store.db, `
			INSERT INTO letter_windows AS w (account_id, subject, began_at, sent) VALUES (?, ?, ?, 1)
			ON CONFLICT (account_id, subject) DO UPDATE SET
				began_at = CASE WHEN w.began_at <= ? THEN excluded.began_at ELSE w.began_at END,
				sent = CASE WHEN w.began_at <= ? THEN 1 ELSE w.sent + 1 END
			RETURNING began_at, sent`, account, l.subject, now, before, before)
		if err != nil {
			return nil, 0, fmt.Errorf("count letter: %w", err)
		}
		if w.Sent > l.most {
			left := w.BeganAt.Add(l.window).Time().Sub(now.Time())
			return &l, max(time.Second, (left + time.Second - 1).Truncate(time.Second)), nil
		}
	}
	return nil, 0, nil
}

// DeleteOldLetterWindows deletes at most limit counts of letters that count no more, and returns how many.
func (s *Store) DeleteOldLetterWindows(ctx context.Context, limit int) (int64, error) {
	return tx(ctx, s, func(ctx context.Context, u *unit) (int64, error) {
		return u.Exec(ctx, `
			DELETE FROM letter_windows WHERE (account_id, subject) IN (
				SELECT account_id, subject FROM letter_windows WHERE began_at <= ? LIMIT ?`+u.LockSkip()+`)`, s.Now().Add(-day), limit)
	})
}
