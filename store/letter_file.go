package store

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/grant"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/signed"
	"github.com/tillwright/tillwright/store/tenant"
)

// filePeriod tells the letters about a file apart: each customer has one for each version. All numbers have as many digits, so that they compare as
// texts: see versionOfPeriod.
func filePeriod(customer string, version int64) string { return customer + "." + versionText(version) }

func versionText(version int64) string { return fmt.Sprintf("%012d", version) }

// versionOfPeriod is the text of the version in a letter's period.
const versionOfPeriod = `substr(period, length(period) - 11)`

// newerVersion says why a letter about a version is not sent.
const newerVersion = "There is a newer version since, of which there is another letter."

// mostFileLetters is how many letters about files of an account wait to be sent before no more are written. The batch that is begun is written all
// the same.
const mostFileLetters = 1000

// TellOfFile writes the next letters about a version of a file that DueNotices of the grants names, and reports whether it went on with them. What was
// written stays when the process dies, and nobody is told twice. A notice that fails is tried again after a pause, as is one of an account of which too
// many letters wait.
func (s *Store) TellOfFile(ctx context.Context, account, id string) (bool, error) {
	wait, err := s.areLettersWaiting(ctx, account, tenant.LetterFileUpdated, mostFileLetters)
	if err == nil && wait {
		return false, s.Grant.PauseNotice(ctx, account, id)
	}
	if err != nil {
		return false, fmt.Errorf("count letters about files: %w", err)
	}
	went, err := db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (bool, error) {
		n, err := s.Grant.LockNotice(ctx, u, account, id)
		if err != nil || n == nil {
			return false, err
		}
		return true, s.tellOfFile(ctx, u, n)
	})
	if err != nil {
		err = errors.Join(fmt.Errorf("tell of version %s: %w", id, err), s.Grant.PauseNotice(ctx, account, id))
	}
	return went && err == nil, err
}

// tellOfFile writes the next letters of a locked notice.
func (s *Store) tellOfFile(ctx context.Context, u *db.Unit, n *grant.Notice) error {
	seller, err := s.Tenant.GetAccountIn(ctx, u, n.AccountID)
	if err != nil {
		return err
	}
	if seller.DisabledAt != nil || !seller.Writes(tenant.LetterFileUpdated) {
		return s.Grant.EndNotice(ctx, u, n)
	}
	now, err := db.BusinessNow(ctx, u, n.AccountID)
	if err != nil {
		return err
	}
	customers, err := s.Grant.NextToTell(ctx, u, n)
	if err != nil {
		return err
	}
	if err := s.voidOlder(ctx, u, n, customers, now); err != nil {
		return err
	}
	for _, customer := range customers {
		l := Letter{AccountID: n.AccountID, Kind: tenant.LetterFileUpdated, CustomerID: customer, ObjectID: n.FileID, Period: filePeriod(customer, n.Version)}
		if err := s.writeDated(ctx, u, l, now, now); err != nil {
			return err
		}
	}
	return nil
}

// voidOlder has customers not told of older versions of a file, as far as they were not yet.
func (s *Store) voidOlder(ctx context.Context, u *db.Unit, n *grant.Notice, customers []string, now core.Time) error {
	if len(customers) == 0 {
		return nil
	}
	condition, whose := s.db.In("customer_id", customers)
	_, err := u.Exec(ctx, `
		UPDATE letters SET status = 'skipped', next_attempt_at = NULL, last_error = ?, updated_at = ? WHERE account_id = ? AND id IN (
			SELECT id FROM letters WHERE account_id = ? AND `+condition+` AND object_id || '' = ? AND kind || '' = ?
				AND status || '' = 'queued' AND attempts = 0 AND resends = 0 AND `+versionOfPeriod+` < ?`+u.LockSkip()+`)`,
		newerVersion, now, n.AccountID, n.AccountID, whose, n.FileID, tenant.LetterFileUpdated, versionText(n.Version))
	if err != nil {
		return fmt.Errorf("void letters about older versions: %w", err)
	}
	return nil
}

// readFileUpdate reads a file of which there is a new version, as its customer has it. They are not told if they do not have it any more, or keep the
// version that they bought.
func (s *Store) readFileUpdate(ctx context.Context, l *Letter, c *LetterContent) error {
	_, number, _ := strings.Cut(l.Period, ".")
	file, err := s.Grant.GetFile(ctx, l.AccountID, l.ObjectID)
	if err != nil {
		return err
	}
	g, opened, err := s.Grant.OpenedFor(ctx, l.AccountID, l.CustomerID, file)
	switch {
	case err != nil:
		return err
	case g == nil:
		c.Void = "The customer does not have the file any more."
	case versionText(core.Deref(opened.Version)) < number:
		c.Void = "The customer keeps the version that they bought."
	case c.Recipient == "":
		c.Void = "The customer has no address."
	default:
		err = s.readOtherLetter(ctx, l, c, number)
	}
	if err != nil || c.Void != "" {
		return err
	}
	if err := s.readSource(ctx, c, g); err != nil {
		return err
	}
	link, err := s.Signed.SignFor(signed.File{Kind: signed.FileKindStored, Account: l.AccountID, ID: file.ID, Version: *opened.Version, Grant: g.ID}, letterFileLifetime)
	if err != nil {
		return err
	}
	c.Grant, c.Deliveries = g, []LetterDelivery{{Delivery: grant.Delivery{Deliverable: *opened, GrantID: g.ID, ProductID: g.ProductID}, FileName: file.Name, FileURL: link.URL}}
	return nil
}

// readOtherLetter finds out whether another letter tells the customer of a newer version, or will, or of the same one. They may be two customers who
// were merged. Then this letter is not sent.
func (s *Store) readOtherLetter(ctx context.Context, l *Letter, c *LetterContent, number string) error {
	version, err := strconv.ParseInt(number, 10, 64)
	if err != nil {
		return fmt.Errorf("read period of letter: %w", err)
	}
	noted, err := s.Grant.IsNewerNoted(ctx, l.AccountID, l.ObjectID, version)
	if err != nil {
		return err
	}
	if noted {
		c.Void = newerVersion
		return nil
	}
	other, err := db.Get[string](ctx, s.db, `
		SELECT `+versionOfPeriod+` FROM letters WHERE account_id = ? AND customer_id = ? AND object_id || '' = ? AND kind || '' = ? AND id <> ?
			AND (`+versionOfPeriod+` > ? OR `+versionOfPeriod+` = ? AND (status = 'sent' OR status = 'queued' AND id < ?))
		ORDER BY `+versionOfPeriod+` DESC LIMIT 1`, l.AccountID, l.CustomerID, l.ObjectID, l.Kind, l.ID, number, number, l.ID)
	switch {
	case other == nil:
	case *other > number:
		c.Void = newerVersion
	default:
		c.Void = "Another letter tells the customer of this version."
	}
	return err
}

// readSource reads by what a customer has a grant.
func (s *Store) readSource(ctx context.Context, c *LetterContent, g *grant.Grant) (err error) {
	switch g.SourceType {
	case grant.SourceTypeOrder:
		if c.Order, err = s.Order.Get(ctx, g.AccountID, g.SourceID); err == nil {
			c.isVerified, c.checkout = c.Order.CustomerVerified, c.Order.CheckoutID
		}
	case grant.SourceTypeSubscription:
		if c.Subscription, err = s.Subscription.Get(ctx, g.AccountID, g.SourceID); err == nil {
			c.isVerified, c.checkout = c.Subscription.CustomerVerified, c.Subscription.CheckoutID
		}
	case grant.SourceTypeManual:
	}
	return err
}
