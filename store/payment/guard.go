package payment

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/lineitem"
	"github.com/tillwright/tillwright/store/throttle"
)

// guard counts what is tried under one subject, such as an address, by everybody and on every replica. So nobody can try card after card. Its
// time is the store's: an account's own clock lets nobody try sooner. UnderWay of a guardHeld is how many pieces payments hold; without a network
// only of those that wait for a bank.
type guard struct {
	Subject  string    `db:"subject"`
	Declines int64     `db:"declines"`  // in the hour from Since on
	UnderWay int64     `db:"under_way"` // payments without an outcome, which may become declines
	Since    core.Time `db:"since"`
	RetryAt  core.Time `db:"retry_at"`
}

// patience says what a guard lets pass. As long as there are fewer than Free declines nobody waits, and at most atOnce payments may be under way.
// They are no more than could be declined before Free is reached. From then on only one payment at a time may be tried, and each decline makes
// the next one wait.
type patience struct {
	throttle.Waits
	atOnce int64
}

const (
	guardWindow = time.Hour
	guardMemory = 2 * time.Hour // after the last try nothing is left to be counted, and no wait
)

// The kinds of subject, which a subject begins with. Many buyers may share one address, and many more the network around it. An
// address that exists inside networks only belongs to a proxy that nobody named, with all buyers behind it.
const (
	guardAddress  = "address:"
	guardNetwork  = "network:"
	guardInside   = "inside:"
	guardCustomer = "customer:"
	guardInvoice  = "invoice:"
	guardHeld     = "held:" // with the id of a scarce thing, and a network that holds some of it; without a network it counts all of them
	guardTurn     = "turn:" // with a network that took its turn while sales were paused
	guardSales    = "sales" // declines of all buyers without a key in an account, which are only counted
)

// patienceFor returns the patience of the guards of a subject's kind.
func patienceFor(subject string) patience {
	kind, _, _ := strings.Cut(subject, ":")
	switch kind + ":" {
	case guardAddress:
		return patience{throttle.Waits{Free: 20, First: time.Minute, Longest: 15 * time.Minute}, 3}
	case guardNetwork:
		return patience{throttle.Waits{Free: 60, First: time.Minute, Longest: 15 * time.Minute}, 10}
	case guardInside:
		return patience{throttle.Waits{Free: 60, First: time.Minute, Longest: time.Minute}, 100}
	case guardCustomer:
		return patience{throttle.Waits{Free: 10, First: time.Minute, Longest: time.Hour}, 3}
	case guardHeld, guardTurn:
		return patience{throttle.Waits{Free: math.MaxInt64}, math.MaxInt64}
	}
	return patience{throttle.Waits{Free: checkoutAttempts, First: time.Minute, Longest: time.Hour}, 1}
}

// checkoutAttempts is how often the payment of a checkout or an invoice may be declined before there is a wait.
const checkoutAttempts = 5

// Buyer is whoever wants to pay. Address is the network address of somebody without an API key. OnBehalf says that they pay, or
// give a card, for a customer whom the account knows, so that it is counted for that customer too. The zero value is a seller's
// own program, which is not guarded: it knows its buyers better.
type Buyer struct {
	Address  string
	OnBehalf bool
}

// Keyless reports whether the buyer pays without an API key, so that nobody vouches for them.
func (b Buyer) Keyless() bool { return b.Address != "" }

// Subjects returns those under which the guards count a payment of the buyer. While payments are paused it takes its network's turn: see takeTurn.
func (b Buyer) Subjects(customer *string, isPaused bool) []string {
	guards := b.guards(customer)
	if network := b.network(); isPaused && network != "" {
		guards = append(guards, guardTurn+network)
	}
	return guards
}

// SubjectsOf returns those under which the guards count a payment of an invoice by the buyer.
func (b Buyer) SubjectsOf(invoice string) []string {
	return append(b.guards(nil), guardInvoice+invoice)
}

// guards returns the subjects under which a payment of the buyer is counted. A typed e-mail address is none of them. Whoever tries cards types
// another one each time, and the person whose address it is could not buy any more.
func (b Buyer) guards(customer *string) []string {
	var guards []string
	if host, network := throttle.Around(b.Address); b.Keyless() && network != "" {
		guards = []string{guardAddress + host, guardNetwork + network}
	} else if b.Keyless() {
		guards = []string{guardInside + host}
	}
	if b.OnBehalf && customer != nil {
		guards = append(guards, guardCustomer+*customer)
	}
	return guards
}

// refuses returns how long a payment has to wait by this guard, and the reason for the buyer; 0 if it may go on. The payment
// that asks is counted in the guard already.
func (g guard) refuses(now core.Time) (time.Duration, string) {
	p := patienceFor(g.Subject)
	declines := g.Declines
	if g.Since.Add(guardWindow) <= now {
		declines = 0
	}
	switch {
	case now < g.RetryAt:
		return g.RetryAt.Time().Sub(now.Time()), tooManyDeclines
	case g.UnderWay > p.atOnce:
		return heldWait, tooManyUnderWay
	case g.UnderWay > 1 && declines+g.UnderWay > p.Free:
		return turnWait, tooManyUnderWay
	}
	return 0, ""
}

// What a buyer is told, and how long they are asked to wait for payments that are under way.
const (
	tooManyDeclines = "Too many payments were declined. Nothing was charged."
	tooManyUnderWay = "Too many payments are under way that wait for a bank. Nothing was charged: finish or cancel them."
	tooManyHeld     = "Only few are left, and payments from your network that wait for a bank hold some. Nothing was charged: finish or cancel them."
	tooSoonHeld     = "Only few are left, and a payment from your network was given up at its bank: others come first. Nothing was charged."
	salesPaused     = "No payments are taken for the moment, because too many were declined. Nothing was charged."

	turnOver = "Only few payments are taken for the moment, and one from your network was begun already. Nothing was charged."

	salesSlow = "Only few payments are taken for the moment, because too many were declined. Nothing was charged."

	heldWait = 30 * time.Second
	turnWait = 5 * time.Second
)

// tryAgain returns CodeRateLimit for a payment that has to wait before its provider is asked.
func tryAgain(wait time.Duration, why string) error {
	wait = max(wait.Round(time.Second), time.Second)
	return &core.Error{Code: core.CodeRateLimit, Param: "payment_method", Message: fmt.Sprintf("%s Try again in %s.", why, throttle.Spoken(wait)), After: wait}
}

// NextTry counts another try to pay for the same thing, and returns how many there were and when the next one may be. It is CodeRateLimit if this
// one comes too soon. Every try before it was declined. They are forgotten once guardWindow has passed since the last one and its wait.
func NextTry(tries int64, retryAt *core.Time, now core.Time) (int64, *core.Time, error) {
	if retryAt != nil && now < *retryAt {
		return tries, retryAt, tryAgain(retryAt.Time().Sub(now.Time()), tooManyDeclines)
	}
	if retryAt == nil || retryAt.Add(guardWindow) <= now {
		tries = 0
	}
	tries++
	return tries, new(now.Add(patienceFor(guardInvoice).After(tries))), nil
}

// Guard counts a payment under its subjects before its provider is asked, or returns CodeRateLimit with the longest wait that
// one of their guards demands. The rows of the guards stay locked until the transaction ends, so that payments at the same moment are counted one
// after the other. They are locked after all other rows.
//
// Left says, for subjects that hold something, how many of it others can still have, and items are the lines that this payment buys. If
// pausedUntil is not nil, the account's sales are paused and buyers take turns.
func (s *Store) Guard(ctx context.Context, u *db.Unit, account string, subjects []string, items []lineitem.Item, left map[string]int64, pausedUntil *core.Time) error {
	if len(subjects) == 0 {
		return nil
	}
	sizes := sizesOf(items)
	counted, err := s.countGuards(ctx, u, account, subjects, sizes, 1, 0)
	if err != nil {
		return err
	}
	var wait time.Duration
	var why string
	now := s.db.Now()
	for _, g := range counted {
		if strings.HasPrefix(g.Subject, guardTurn) {
			continue // takeTurn looks at it
		}
		needs, because := g.refuses(now)
		if rest, isHeld := left[g.Subject]; isHeld {
			needs, because = g.refusesHold(rest, sizes.of(g.Subject), now)
		}
		if needs > wait {
			wait, why = needs, because
		}
	}
	if wait > 0 {
		return tryAgain(wait, why)
	}
	if pausedUntil == nil {
		return nil
	}
	return s.takeTurn(ctx, u, account, counted, *pausedUntil, now)
}

// SettleGuards tells the guards of a payment that it has its outcome. A decline is counted, and may make its subjects wait. A payment that was
// canceled, because its buyer did not go on at their bank, is no decline. What it held of the lines is free again. If it waited for the bank and
// was not paid, its network has to let others go first. If this decline was one too many for the whole account, it returns until when payments
// are paused, else nil.
func (s *Store) SettleGuards(ctx context.Context, u *db.Unit, p *Payment, subjects []string, items []lineitem.Item, waited bool) (*core.Time, error) {
	declines, near := int64(0), int64(0)
	if p.Status == StatusFailed {
		declines = 1
	}
	if len(subjects) > 0 {
		counted, err := s.endTry(ctx, u, p.AccountID, subjects, sizesOf(items), declines)
		if err != nil {
			return nil, err
		}
		for _, g := range counted {
			switch {
			case strings.HasPrefix(g.Subject, guardNetwork):
				near = g.Declines
			case strings.HasPrefix(g.Subject, guardTurn) && p.Status == StatusSucceeded && p.Amount > 0:
				if err := s.waitUntil(ctx, u, p.AccountID, g.Subject, 0); err != nil {
					return nil, err
				}
			}
		}
	}
	if waited && p.Status != StatusSucceeded {
		if err := s.letOthersHold(ctx, u, p, subjects); err != nil {
			return nil, err
		}
	}
	if declines == 0 || !p.Keyless || p.Purpose != PurposeCheckout {
		return nil, nil
	}
	return s.watchSales(ctx, u, p.AccountID, near)
}

// endTry takes a payment off what is under way under its subjects, and adds its declines (0 or 1). After a decline it sets until when each
// subject has to wait. It returns the guards.
func (s *Store) endTry(ctx context.Context, u *db.Unit, account string, subjects []string, sizes sizes, declines int64) ([]guard, error) {
	counted, err := s.countGuards(ctx, u, account, subjects, sizes, -1, declines)
	if err != nil || declines == 0 {
		return counted, err
	}
	now := s.db.Now()
	for _, g := range counted {
		wait := patienceFor(g.Subject).After(g.Declines)
		if wait == 0 {
			continue
		}
		if err := s.waitUntil(ctx, u, account, g.Subject, now.Add(wait)); err != nil {
			return nil, err
		}
	}
	return counted, nil
}

// waitUntil lets no payment begin under a subject before the given time.
func (s *Store) waitUntil(ctx context.Context, u *db.Unit, account, subject string, until core.Time) error {
	if _, err := u.Exec(ctx, `UPDATE payment_guards SET retry_at = ? WHERE account_id = ? AND subject = ?`, until, account, subject); err != nil {
		return fmt.Errorf("let a guard wait: %w", err)
	}
	return nil
}

// countGuards adds underWay, times the size of each subject, and declines to the guards of the subjects, and returns them as
// they are then. Declines of an hour that is over are dropped first. The guards are locked in the order of their subjects,
// which is the same for everybody.
func (s *Store) countGuards(ctx context.Context, u *db.Unit, account string, subjects []string, sizes sizes, underWay, declines int64) ([]guard, error) {
	now := s.db.Now()
	var args []any
	for _, subject := range slices.Sorted(slices.Values(subjects)) {
		args = append(args, account, subject, declines, underWay*sizes.of(subject), now, now)
	}
	args = append(args, now.Add(-guardWindow), now.Add(-guardWindow))
	// The hour from since on begins anew once it is over, and as long as nothing was declined in it.
	counted, err := db.Select[guard](ctx, u, `
		INSERT INTO payment_guards AS g (account_id, subject, declines, under_way, since, retry_at, touched_at)
		VALUES `+strings.Repeat(`, (?, ?, ?, ?, ?, 0, ?)`, len(subjects))[2:]+`
		ON CONFLICT (account_id, subject) DO UPDATE SET under_way = g.under_way + excluded.under_way, touched_at = excluded.touched_at,
			declines = excluded.declines + CASE WHEN g.since <= ? THEN 0 ELSE g.declines END,
			since = CASE WHEN g.since <= ? OR g.declines = 0 THEN excluded.since ELSE g.since END
		RETURNING subject, declines, under_way, since, retry_at`, args...)
	if err != nil {
		return nil, fmt.Errorf("count tries: %w", err)
	}
	return counted, nil
}

// tryMethod counts a try to save a method as declined from the start. Unlike a payment it has no row by which it could be ended after a crash.
// ForgiveTry takes that back once the method was not declined. After too many declines it returns CodeRateLimit.
func (s *Store) tryMethod(ctx context.Context, u *db.Unit, account string, subjects []string) error {
	if err := s.Guard(ctx, u, account, subjects, nil, nil, nil); err != nil || len(subjects) == 0 {
		return err
	}
	_, err := s.endTry(ctx, u, account, subjects, nil, 1)
	return err
}

// ForgiveTry takes back the decline that BeginSaveMethod has counted, once it is known that the method was not declined.
func (s *Store) ForgiveTry(ctx context.Context, account, customer string, from Buyer) error {
	_, err := db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (any, error) {
		for _, subject := range slices.Sorted(slices.Values(from.guards(&customer))) {
			_, err := u.Exec(ctx, `
				UPDATE payment_guards SET declines = declines - 1, retry_at = CASE WHEN declines <= ? THEN 0 ELSE retry_at END
				WHERE account_id = ? AND subject = ? AND declines > 0`, patienceFor(subject).Free, account, subject)
			if err != nil {
				return nil, fmt.Errorf("forgive a try: %w", err)
			}
		}
		return nil, nil
	})
	return err
}

// DeleteOldGuards deletes at most limit guards that nobody has touched for guardMemory and under which nothing is under way. It
// returns how many.
func (s *Store) DeleteOldGuards(ctx context.Context, limit int) (int64, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (int64, error) {
		return u.ExecBatch(ctx, `DELETE FROM payment_guards`, `payment_guards WHERE touched_at < ? AND under_way = 0 ORDER BY touched_at LIMIT ?`,
			s.db.Now().Add(-guardMemory), limit)
	})
}
