package payment

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/tenant"
)

const (
	// salesPause is how long buyers without a key cannot pay in an account after too many declines there.
	salesPause = 15 * time.Minute
	// pausedTurn is the time between two of them who may pay all the same: see takeTurn.
	pausedTurn = 20 * time.Second
	// declinesOfOne is how many declines of one network count for the account, however few the account bears. More count up to one part in
	// shareOfOne of what it bears. So a single network stops nobody's sales.
	declinesOfOne, shareOfOne = 5, 10
)

// watchSales counts a decline of a buyer without a key for their whole account. If there were too many in an hour, and more
// than there were sales, it pauses the account's payments and returns until when, else nil. Only sales of more than nothing
// count: a card can be set up for nothing again and again. After a pause the count begins anew. Near is how many payments were
// declined in the buyer's network, this one among them: of many there only the first count.
func (s *Store) watchSales(ctx context.Context, u *db.Unit, account string, near int64) (*core.Time, error) {
	if near > declinesOfOne {
		few, err := db.Get[string](ctx, u, `SELECT id FROM accounts WHERE id = ? AND decline_limit >= ?`, account, near*shareOfOne)
		if err != nil || few == nil {
			return nil, err
		}
	}
	counted, err := s.countGuards(ctx, u, account, []string{guardSales}, nil, 0, 1)
	if err != nil {
		return nil, err
	}
	sales := counted[0]
	if sales.Declines < tenant.MinDeclineLimit {
		return nil, nil
	}
	limit, err := db.Get[int64](ctx, u, `SELECT decline_limit FROM accounts WHERE id = ? AND decline_limit <= ?`, account, sales.Declines)
	if err != nil || limit == nil {
		return nil, err
	}
	sold, err := db.Get[int64](ctx, u, `
		SELECT COUNT(*) FROM (
			SELECT 1 FROM payments
			WHERE account_id = ? AND id >= ? AND keyless AND status = 'succeeded' AND purpose = 'checkout' AND amount > 0 LIMIT ?) AS s`,
		account, core.IDsBefore(core.KindPayment, s.db.Now().Add(-guardWindow)), sales.Declines)
	if err != nil {
		return nil, fmt.Errorf("count sales: %w", err)
	}
	if *sold >= sales.Declines {
		return nil, nil
	}
	until := s.db.Now().Add(salesPause)
	if _, err := u.Exec(ctx, `UPDATE payment_guards SET declines = 0 WHERE account_id = ? AND subject = ?`, account, guardSales); err != nil {
		return nil, err
	}
	_, err = u.Exec(ctx, `UPDATE accounts SET payments_paused_until = ? WHERE id = ?`, until, account)
	return &until, err
}

// takeTurn lets one buyer at a time pay while the account's sales are paused until the given time, and returns CodeRateLimit to
// the others. It refuses every buyer near whom, in counted, a payment was declined lately. Whoever tries cards then needs a fresh network for
// each of them, and gets no faster with many. A network has one turn in a pause, whatever becomes of it. It has another one only if that was
// paid, and for more than nothing. So nobody takes the turns of others by beginning payments, or trials.
func (s *Store) takeTurn(ctx context.Context, u *db.Unit, account string, counted []guard, until, now core.Time) error {
	for _, g := range counted {
		isNear := strings.HasPrefix(g.Subject, guardAddress) || strings.HasPrefix(g.Subject, guardNetwork)
		if isNear && g.Declines > 0 && g.Since.Add(guardWindow) > now {
			return tryAgain(until.Time().Sub(now.Time()), salesPaused)
		}
	}
	for _, g := range counted {
		if !strings.HasPrefix(g.Subject, guardTurn) {
			continue
		}
		if now < g.RetryAt {
			return tryAgain(g.RetryAt.Time().Sub(now.Time()), turnOver)
		}
		if err := s.waitUntil(ctx, u, account, g.Subject, until); err != nil {
			return err
		}
	}
	rows, err := u.Exec(ctx, `
		UPDATE payment_guards SET retry_at = ? WHERE account_id = ? AND subject = ? AND retry_at <= ?`, now.Add(pausedTurn), account, guardSales, now)
	if err == nil && rows == 0 {
		err = tryAgain(pausedTurn, salesSlow)
	}
	return err
}
