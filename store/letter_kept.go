package store

import (
	"context"
	"strings"
	"time"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/subscription"
	"github.com/tillwright/tillwright/store/tenant"
)

// Why a letter about a cancellation is not sent.
const (
	whyNotEnding  = "The subscription has ended, or its cancellation was taken back."
	whyEndingAnew = "The subscription was kept and cancelled again since, of which there is another letter."
)

const (
	// overruled ends the period of a letter that says that the seller took back what the customer had cancelled.
	overruled = ".overruled"

	// keptPause is how long the letter about a kept subscription waits for the one about its cancellation, which somebody may be sending.
	keptPause = 5 * time.Second

	// mostTurns is how many letters about an end that was wanted or not are looked at.
	mostTurns = 50
)

// writeKept tells the customer of a subscription that it goes on, if they were told that it ends. Whoever cancelled it, and is overruled by the
// seller, is told in any case.
func (s *Store) writeKept(ctx context.Context, u *db.Unit, sub *subscription.Subscription, isOverruled bool) error {
	l := Letter{AccountID: sub.AccountID, Kind: tenant.LetterSubscriptionKept, CustomerID: sub.CustomerID, ObjectID: sub.ID, Period: core.NewULID()}
	if isOverruled {
		l.Period += overruled
	}
	return s.writeLetter(ctx, u, l)
}

// readKept reads a subscription whose cancellation was taken back.
func (s *Store) readKept(ctx context.Context, l *Letter, c *LetterContent) error {
	if err := s.readSubscription(ctx, l, c, l.ObjectID); err != nil {
		return err
	}
	if c.Subscription.CancelAtPeriodEnd || c.Subscription.HasEnded() {
		c.Void = "The subscription has ended, or was cancelled again."
		return nil
	}
	err := s.readNewer(ctx, l, c, "The subscription was cancelled and kept again since, of which there is another letter.")
	if err != nil || c.Void != "" || l.isAsked() || strings.HasSuffix(l.Period, overruled) {
		return err
	}
	return s.readTold(ctx, l, c)
}

// readTold finds out whether the customer was told of the cancellation that was taken back. If it was taken back before its letter was sent, they are
// told of neither. While that is still open this letter waits.
func (s *Store) readTold(ctx context.Context, l *Letter, c *LetterContent) error {
	// Compared as rows, as in readNewer. Else PostgreSQL keeps the plan of a small table, which goes through all letters.
	turns, err := db.Select[Letter](ctx, s.db, letterColumns.SelectSQL+`
		WHERE account_id = ? AND (object_id, kind) >= (?, 'subscription_canceled') AND (object_id, kind) <= (?, 'subscription_kept')
			AND kind || '' IN ('subscription_canceled', 'subscription_kept') ORDER BY period DESC LIMIT ?`,
		l.AccountID, l.ObjectID, l.ObjectID, mostTurns)
	if err != nil {
		return err
	}
	switch toldOf(turns) {
	case notYetTold:
		c.Wait, c.WaitsOne, c.WaitsFor = keptPause, true, "It waits until the letter about the cancellation is sent, or is not to be sent."
	case neverTold:
		c.Void = "The cancellation was taken back before its letter was sent, so the customer is told of neither."
	case alreadyTold:
	}
	return nil
}

// told says whether a customer has heard of a cancellation.
type told int

const (
	alreadyTold told = iota
	notYetTold       // its letter may still be sent
	neverTold
)

// toldOf returns whether a customer has heard of a cancellation that was taken back, by the letters about cancelling and keeping, the latest first. In
// doubt they have.
func toldOf(turns []Letter) told {
	so := alreadyTold
	for i := range turns {
		turn := &turns[i]
		switch {
		case turn.Kind == tenant.LetterSubscriptionKept && turn.SentAt != nil:
			return so // all that they were told of before is over
		case turn.Kind == tenant.LetterSubscriptionKept && strings.HasSuffix(turn.Period, overruled):
			return alreadyTold // this letter is in the place of the one that they are told in any case
		case turn.Kind == tenant.LetterSubscriptionKept:
		case turn.isOpen():
			return notYetTold
		case turn.isUntold():
			so = neverTold
		default:
			return alreadyTold
		}
	}
	if len(turns) == mostTurns {
		return alreadyTold // they may have been told before these
	}
	return so
}

// isOpen reports whether nothing was heard yet of a letter that is to be sent.
func (l *Letter) isOpen() bool { return l.Status == LetterStatusQueued && l.LastError == nil }

// isUntold reports whether a letter about a cancellation was not sent because that was taken back. One that was tried before may have arrived: a server
// can die between sending it and saying so.
func (l *Letter) isUntold() bool {
	why := core.Deref(l.LastError)
	return l.Status == LetterStatusSkipped && l.SentAt == nil && l.Attempts <= 1 && (why == whyNotEnding || why == whyEndingAnew)
}
