package store

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/customer"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/tenant"
)

const (
	// newsBatch is how many customers, or grants, one transaction goes through to write letters of news.
	newsBatch = 200

	// mostNewsLetters is how many letters of news of an account wait for their first attempt before no more are written. The batch that is begun is
	// written all the same.
	mostNewsLetters = 400

	// mostNewsTried is how many may wait together with those that the mail server did not take. These are tried for a day and a half, so they do not
	// count as the others.
	mostNewsTried = 10_000

	// newsPause is how long news waits of which no more can be written now.
	newsPause = 30 * time.Second

	// mostCounted is how many recipients CountNews counts, and countedAmong how many customers, or grants, it looks at.
	mostCounted  = 1000
	countedAmong = 20_000
)

// DueNews names news whose day has come, at most limit, for StartNews: that of an account by its own clock, or of all.
func (s *Store) DueNews(ctx context.Context, account string, limit int) ([]core.Due, error) {
	return s.db.Due(ctx, account, `SELECT account_id, id FROM product_news WHERE due_at <= ?`, `due_at`, limit)
}

// StartNews has the letters of news written whose day has come, and reports whether it did: of all that try, one does.
func (s *Store) StartNews(ctx context.Context, account, id string) (bool, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (bool, error) {
		now, err := db.BusinessNow(ctx, u, account)
		if err != nil {
			return false, err
		}
		rows, err := u.Exec(ctx, `
			UPDATE product_news SET status = 'sending', due_at = NULL, turn_at = ?, updated_at = ? WHERE account_id = ? AND id = ? AND status = 'scheduled' AND due_at <= ?`,
			s.Now(), now, account, id, now)
		return rows > 0, err
	})
}

// NewsToWrite names news of which letters are still to be written, at most limit and one of each account, for WriteNews. Accounts come in turn. It
// costs three looks into an index for each account that has any, however many it has.
func (s *Store) NewsToWrite(ctx context.Context, limit int) ([]core.Due, error) {
	now := s.Now()
	return db.PlanningAnew(ctx, s.db, func(ctx context.Context, r db.Reader) ([]core.Due, error) {
		return db.Select[core.Due](ctx, r, `
			WITH RECURSIVE waiting (account_id) AS (
				SELECT (SELECT min(account_id) FROM product_news WHERE turn_at IS NOT NULL)
				UNION ALL
				SELECT (SELECT min(n.account_id) FROM product_news AS n WHERE n.turn_at IS NOT NULL AND n.account_id > waiting.account_id)
				FROM waiting WHERE account_id IS NOT NULL
			) SELECT account_id, id FROM (
				SELECT account_id,
					(SELECT n.id FROM product_news AS n WHERE n.account_id = waiting.account_id AND n.turn_at <= ? ORDER BY n.turn_at, n.id LIMIT 1) AS id,
					(SELECT max(n.turn_at) FROM product_news AS n WHERE n.account_id = waiting.account_id AND n.turn_at <= ?) AS last_turn
				FROM waiting WHERE account_id IS NOT NULL
			) AS due WHERE id IS NOT NULL ORDER BY last_turn, account_id LIMIT ?`, now, now, limit)
	})
}

// WriteNews writes the next letters of news that NewsToWrite names, and reports whether it went on with them. What was written stays when the process
// dies, and no mailbox has two. News that fails is tried again after a pause, as is that of an account of which too many letters wait.
func (s *Store) WriteNews(ctx context.Context, account, id string) (bool, error) {
	wait, err := s.isNewsFull(ctx, account)
	if err == nil && wait {
		return false, s.pauseNews(ctx, account, id)
	}
	if err != nil {
		return false, fmt.Errorf("count letters of news: %w", err)
	}
	went, err := db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (bool, error) {
		n, err := db.Get[ProductNews](ctx, u, newsColumns.SelectSQL+` WHERE account_id = ? AND id = ? AND turn_at IS NOT NULL`+u.LockSkip(), account, id)
		if err != nil || n == nil {
			return false, err
		}
		return true, s.writeNextNews(ctx, u, n)
	})
	if err != nil {
		err = errors.Join(fmt.Errorf("write letters of %s: %w", id, err), s.pauseNews(ctx, account, id))
	}
	return went && err == nil, err
}

// isNewsFull reports whether so many letters of news of an account wait that no more are to be written.
func (s *Store) isNewsFull(ctx context.Context, account string) (bool, error) {
	full, err := db.PlanningAnew(ctx, s.db, func(ctx context.Context, r db.Reader) ([]int, error) {
		return db.Select[int](ctx, r, `
			SELECT CASE WHEN COUNT(*) >= ? OR COUNT(CASE WHEN attempts = 0 THEN 1 END) >= ? THEN 1 ELSE 0 END
			FROM (SELECT attempts FROM letters WHERE account_id = ? AND next_attempt_at IS NOT NULL AND kind = 'product_news' LIMIT ?) AS waiting`,
			mostNewsTried, mostNewsLetters, account, mostNewsTried)
	})
	return err == nil && full[0] == 1, err
}

// pauseNews has news wait until its next turn.
func (s *Store) pauseNews(ctx context.Context, account, id string) error {
	_, err := db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (int64, error) {
		return u.Exec(ctx, `UPDATE product_news SET turn_at = ? WHERE account_id = ? AND id = ? AND turn_at IS NOT NULL`, s.Now().Add(newsPause), account, id)
	})
	return err
}

// writeNextNews writes the next letters of locked news. It is canceled if its account is disabled, or its product was deleted.
func (s *Store) writeNextNews(ctx context.Context, u *db.Unit, n *ProductNews) error {
	seller, err := s.Tenant.GetAccountIn(ctx, u, n.AccountID)
	if err != nil {
		return err
	}
	products, err := s.Catalog.OffersByIDIn(ctx, u, n.AccountID, []string{n.ProductID})
	if err != nil {
		return err
	}
	if seller.DisabledAt != nil || products[n.ProductID] == nil {
		return s.cancelNews(ctx, u, n)
	}
	found, last, err := s.newsAudience(ctx, u, n)
	if err != nil {
		return err
	}
	agreed, err := s.Lead.Agreed(ctx, u, seller, found)
	if err != nil {
		return err
	}
	written, err := s.writeNewsLetters(ctx, u, n, agreed)
	if err != nil {
		return err
	}
	if n.TurnAt = new(s.Now()); last {
		n.TurnAt = nil
	}
	_, err = u.Exec(ctx, `UPDATE product_news SET after_id = ?, turn_at = ?, recipients = recipients + ? WHERE account_id = ? AND id = ?`, n.AfterID, n.TurnAt, written, n.AccountID, n.ID)
	if err != nil {
		return fmt.Errorf("note how far news has come: %w", err)
	}
	return s.countNews(ctx, u, n.AccountID, n.ID, newsCount{})
}

// newsAudience returns the next customers of an audience, whether or not they agreed. It notes up to where that is, and reports whether they are the
// last. One may come again, by another grant.
func (s *Store) newsAudience(ctx context.Context, r db.Reader, n *ProductNews) (all []customer.Customer, last bool, err error) {
	if n.Audience == NewsAudienceEveryone {
		all, err := db.Select[customer.Customer](ctx, r, customer.Columns.SelectSQL+` WHERE account_id = ? AND id > ? ORDER BY id LIMIT ?`, n.AccountID, n.AfterID, newsBatch)
		if err == nil && len(all) > 0 {
			n.AfterID = all[len(all)-1].ID
		}
		return all, len(all) < newsBatch, err
	}
	buyers, after, last, err := s.Grant.NextBuyers(ctx, r, n.AccountID, n.ProductID, n.AfterID, newsBatch)
	if err != nil {
		return nil, false, err
	}
	n.AfterID = after
	found, err := db.ByID(ctx, r, customer.Columns, n.AccountID, buyers)
	for _, id := range buyers {
		if found[id] != nil {
			all = append(all, *found[id])
		}
	}
	return all, last, err
}

// writeNewsLetters writes a letter for each mailbox of some customers that has none of this news yet, and returns how many.
func (s *Store) writeNewsLetters(ctx context.Context, u *db.Unit, n *ProductNews, to []customer.Customer) (written int64, err error) {
	if len(to) == 0 {
		return 0, nil
	}
	var periods []string
	for i := range to {
		periods = append(periods, newsPeriod(n.AccountID, *to[i].Email))
	}
	condition, arg := s.db.In("period", periods)
	there, err := db.Select[string](ctx, u, `SELECT period FROM letters WHERE account_id = ? AND object_id = ? AND kind = ? AND `+condition, n.AccountID, n.ID, tenant.LetterProductNews, arg)
	if err != nil {
		return 0, fmt.Errorf("look who has a letter of news: %w", err)
	}
	has := map[string]bool{}
	for _, period := range there {
		has[period] = true
	}
	now, err := db.BusinessNow(ctx, u, n.AccountID)
	if err != nil {
		return 0, err
	}
	for i := range to {
		if has[periods[i]] {
			continue
		}
		has[periods[i]] = true
		l := Letter{AccountID: n.AccountID, Kind: tenant.LetterProductNews, CustomerID: to[i].ID, ObjectID: n.ID, Period: periods[i]}
		if err := s.writeDated(ctx, u, l, now, now); err != nil {
			return written, err
		}
		written++
	}
	return written, nil
}

// newsPeriod tells the letters of news apart, by the hash of a mailbox: however an address is spelled, it gets one.
func newsPeriod(account, email string) string {
	return core.HashOf("product news\x00" + account + "\x00" + core.MailboxKey(email))
}

// newsCount is what became of some letters of news.
type newsCount struct{ sent, failed, skipped int64 }

// countNewsAmong counts those of some letters, all of one account, that are of news and wait no more.
func (s *Store) countNewsAmong(ctx context.Context, u *db.Unit, letters []Letter) error {
	counts := map[string]newsCount{}
	for i := range letters {
		if letters[i].Kind != tenant.LetterProductNews {
			continue
		}
		c := counts[letters[i].ObjectID]
		switch letters[i].Status {
		case LetterStatusSent:
			c.sent++
		case LetterStatusFailed:
			c.failed++
		case LetterStatusSkipped:
			c.skipped++
		case LetterStatusQueued:
		}
		counts[letters[i].ObjectID] = c
	}
	for _, id := range slices.Sorted(maps.Keys(counts)) { // everybody locks news in this order
		if err := s.countNews(ctx, u, letters[0].AccountID, id, counts[id]); err != nil {
			return err
		}
	}
	return nil
}

// countNews counts what became of letters of news. News whose letters are all written, and none of which waits any more, is sent by that.
func (s *Store) countNews(ctx context.Context, u *db.Unit, account, id string, c newsCount) error {
	now, err := db.BusinessNow(ctx, u, account)
	if err != nil {
		return err
	}
	const isOver = `status = 'sending' AND turn_at IS NULL AND sent_count + failed_count + skipped_count + ? >= recipients`
	all := c.sent + c.failed + c.skipped
	_, err = u.Exec(ctx, `
		UPDATE product_news SET status = CASE WHEN `+isOver+` THEN 'sent' ELSE status END, sent_at = CASE WHEN `+isOver+` THEN ? ELSE sent_at END,
			sent_count = sent_count + ?, failed_count = failed_count + ?, skipped_count = skipped_count + ?, updated_at = ? WHERE account_id = ? AND id = ?`,
		all, all, now, c.sent, c.failed, c.skipped, now, account, id)
	if err != nil {
		return fmt.Errorf("count letters of news: %w", err)
	}
	return nil
}

// countReaders counts the mailboxes that would get news now, and reports whether there may be more than it counted.
func (s *Store) countReaders(ctx context.Context, seller *tenant.Account, n ProductNews) (readers int64, more bool, err error) {
	ctx = db.Abortable(ctx)
	mailboxes := map[string]bool{}
	for looked := 0; looked < countedAmong; looked += newsBatch {
		found, last, err := s.newsAudience(ctx, s.db, &n)
		if err != nil {
			return 0, false, err
		}
		agreed, err := s.Lead.Agreed(ctx, s.db, seller, found)
		if err != nil {
			return 0, false, err
		}
		for i := range agreed {
			if mailboxes[newsPeriod(n.AccountID, *agreed[i].Email)] = true; len(mailboxes) == mostCounted {
				return mostCounted, !last || i < len(agreed)-1, nil
			}
		}
		if last {
			return int64(len(mailboxes)), false, nil
		}
	}
	return int64(len(mailboxes)), true, nil
}
