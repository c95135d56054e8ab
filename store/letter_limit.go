package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
)

// letterLimit is how many letters are allowed for a subject, such as a document, an account or a network address, within a
// window. The window begins with its first letter.
type letterLimit struct {
	subject  string
	most     int64
	window   time.Duration
	isOfMany bool // many share it: who is refused need not be who has asked before
	isOfAll  bool // it is counted over all accounts
}

// everyShop stands where letters of all accounts are counted.
const everyShop = ""

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
	accessLetters       = 1000 // an hour; a seller can give something to any address, without a payment
	insideLetters       = 100  // an hour, from where a proxy that is not named hides all buyers

	// Letters that ask whose an address is: whoever types addresses does not write to the people behind them.
	verificationPause      = time.Minute
	checkoutVerifications  = 3   // a day
	recipientVerifications = 5   // an hour
	accountVerifications   = 500 // an hour

	// unaskedLetters is for those that are sent by themselves to an address that somebody typed and nobody has confirmed, for the same reason.
	unaskedLetters = 10 // an hour

	// mailboxLetters is for all letters to a mailbox whose reader has not confirmed it, of whichever account, but those that follow a payment.
	mailboxLetters = 20 // an hour
)

// CountLetter counts a letter about an order or an invoice that is about to be sent, together with those of all replicas. Beyond
// the limit of the document or of the account it is CodeRateLimit, and the letter is not counted.
func (s *Store) CountLetter(ctx context.Context, account, id string) error {
	return s.countLetter(ctx, account, letterLimit{subject: "account", most: accountLetters, window: time.Hour, isOfMany: true}, letterLimit{subject: id, most: documentLetters, window: time.Hour})
}

// CountPageLetter counts a letter that somebody asked for on a page, from a network address. Beyond the limits it is
// CodeRateLimit, as with CountLetter.
func (s *Store) CountPageLetter(ctx context.Context, account, id, from string) error {
	return s.countLetter(ctx, account, slices.Concat(
		[]letterLimit{{subject: "pages", most: pageAccountLetters, window: time.Hour, isOfMany: true}},
		lettersFrom(from),
		[]letterLimit{{subject: "page:" + id, most: pageDocumentLetters, window: day}})...)
}

// mailboxKey returns the hash by which letters to one mailbox are counted together. What stands after a + in an address changes nothing of
// where its letters go.
func mailboxKey(account, email string) string {
	key := core.EmailKey(email)
	if at, plus := strings.LastIndexByte(key, '@'), strings.IndexByte(key, '+'); 0 < plus && plus < at {
		key = key[:plus] + key[at:]
	}
	if local, domain, _ := strings.Cut(key, "@"); domain == "gmail.com" || domain == "googlemail.com" { // where dots change nothing either
		key = strings.ReplaceAll(local, ".", "") + "@gmail.com"
	}
	return secretHash(account + "\x00" + key)
}

// toMailbox is the limit of a mailbox over all accounts.
func toMailbox(email string) letterLimit {
	return letterLimit{subject: "mailbox:" + mailboxKey(everyShop, email), most: mailboxLetters, window: time.Hour, isOfMany: true, isOfAll: true}
}

// countLetter counts a letter in a transaction, which is rolled back with CodeRateLimit if it is one too many.
func (s *Store) countLetter(ctx context.Context, account string, limits ...letterLimit) error {
	_, err := db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (struct{}, error) {
		over, wait, err := s.countWindows(ctx, u, account, limits...)
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

// countUnasked counts a letter to an address that nobody has confirmed, and reports whether it is one too many. Then it is not counted. One that
// follows a payment is counted in its account alone: else whoever has many letters sent to an address could keep its owner's receipts from them.
func (s *Store) countUnasked(ctx context.Context, account, to string, isPaid bool) (tooMany bool, err error) {
	limits := []letterLimit{{subject: "unasked:" + mailboxKey(account, to), most: unaskedLetters, window: time.Hour}}
	if !isPaid {
		limits = append(limits, toMailbox(to))
	}
	err = s.countLetter(ctx, account, limits...)
	if refused, ok := errors.AsType[*core.Error](err); ok && refused.Code == core.CodeRateLimit {
		return true, nil
	}
	return false, err
}

// countAccess counts a letter of access that an account gave, and returns how long it has to wait if it is one too many. Then it is not counted.
func (s *Store) countAccess(ctx context.Context, account string) (wait time.Duration, err error) {
	err = s.countLetter(ctx, account, letterLimit{subject: "access", most: accessLetters, window: time.Hour, isOfMany: true})
	if refused, ok := errors.AsType[*core.Error](err); ok && refused.Code == core.CodeRateLimit {
		return refused.After, nil
	}
	return 0, err
}

// countVerification counts a letter that asks whether the address of a checkout is the buyer's. One too many is CodeRateLimit on
// customer_email.
func (s *Store) countVerification(ctx context.Context, u *db.Unit, c *Checkout, from string) error {
	over, wait, err := s.countWindows(ctx, u, c.AccountID, slices.Concat(
		[]letterLimit{{subject: "verifications", most: accountVerifications, window: time.Hour, isOfMany: true}},
		lettersFrom(from),
		[]letterLimit{
			{subject: "to:" + mailboxKey(c.AccountID, *c.CustomerEmail), most: recipientVerifications, window: time.Hour},
			toMailbox(*c.CustomerEmail),
			{subject: "verify:" + c.ID, most: checkoutVerifications, window: day},
			{subject: "pause:" + c.ID, most: 1, window: verificationPause},
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

// lettersFrom returns the limits for letters that are asked for from a network address: its own, and those of the networks
// around it.
func lettersFrom(address string) (limits []letterLimit) {
	for _, subject := range addressGuards(address) {
		most := int64(senderLetters)
		switch {
		case strings.HasPrefix(subject, guardInside):
			most = insideLetters
		case strings.HasPrefix(subject, guardNetwork):
			most = networkLetters
		}
		limits = append(limits, letterLimit{subject: subject, most: most, window: time.Hour, isOfMany: true})
	}
	return limits
}

// letterWindow is what is counted for one subject: when its window began, and how many letters were sent since.
type letterWindow struct {
	BeganAt core.Time `db:"began_at"`
	Sent    int64     `db:"sent"`
}

// countWindows counts a letter in the window of each limit. If one is exceeded, it returns that limit, and how long until its
// window ends; the caller has to roll back then. The rows stay locked until the transaction ends, so that all callers give the
// limits in one order: of all letters, of who asks, of who is written to, of what the letter is about.
func (s *Store) countWindows(ctx context.Context, u *db.Unit, account string, limits ...letterLimit) (over *letterLimit, wait time.Duration, err error) {
	now := s.Now()
	for _, l := range limits {
		before, whose := now.Add(-l.window), account
		if l.isOfAll {
			whose = everyShop
		}
		w, err := db.Get[letterWindow](ctx, u, `
			INSERT INTO letter_windows AS w (account_id, subject, began_at, sent) VALUES (?, ?, ?, 1)
			ON CONFLICT (account_id, subject) DO UPDATE SET
				began_at = CASE WHEN w.began_at <= ? THEN excluded.began_at ELSE w.began_at END,
				sent = CASE WHEN w.began_at <= ? THEN 1 ELSE w.sent + 1 END
			RETURNING began_at, sent`, whose, l.subject, now, before, before)
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

// DeleteOldLetterWindows deletes windows that began more than a day ago, and so are over, and returns how many. It deletes at
// most limit.
func (s *Store) DeleteOldLetterWindows(ctx context.Context, limit int) (int64, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (int64, error) {
		return u.Exec(ctx, `
			DELETE FROM letter_windows WHERE (account_id, subject) IN (
				SELECT account_id, subject FROM letter_windows WHERE began_at <= ? LIMIT ?`+u.LockSkip()+`)`, s.Now().Add(-day), limit)
	})
}
