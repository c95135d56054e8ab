package store

import (
	"context"
	"fmt"
	"time"

	"github.com/tillwright/tillwright/store/checkout"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/customer"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/lead"
	"github.com/tillwright/tillwright/store/tenant"
)

// A buyer is reminded of a checkout that they did not finish, and once more a day after that.
const (
	abandonedAfter  = time.Hour
	abandonedPeriod = "1h"
	againAfter      = core.Day // after the first reminder: an address has one a day at most
	againPeriod     = "24h"
	againLate       = 2 * core.Day // after its day the second reminder is not sent any more, such as when the account was disabled
)

// NoteNews notes what the buyer of an open checkout answered (checkout.Draft.AnswerNews) who was asked, in these words, whether they want news. Whoever does
// is reminded of the checkout if they do not finish it: see lead.Store.AgreeAtCheckout. What they ticked before and do not any more, or not for this address,
// is taken back. If the reader of the address ended the news, or too many ticked that they want them at the network address, it is not noted.
func (s *Store) NoteNews(ctx context.Context, account, ref, from, words string) error {
	c, err := s.Checkout.Get(ctx, account, ref)
	if err != nil {
		return err
	}
	if isNoted, err := s.isNoted(ctx, c); err != nil || isNoted {
		return err
	}
	if c.WantsNews() {
		if ended, err := s.Lead.HasEnded(ctx, s.db, account, *c.CustomerEmail); err != nil || ended {
			return err
		}
		if may, err := s.Mailbox.CountNews(ctx, account, from); err != nil || !may {
			return err
		}
	}
	_, err = db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (any, error) {
		c, err := s.Checkout.Lock(ctx, u, account, ref)
		if err != nil || c.Status != checkout.StatusOpen {
			return nil, err
		}
		now, err := db.BusinessNow(ctx, u, account)
		if err != nil {
			return nil, err
		}
		if err := s.takeBackNews(ctx, u, c, now); err != nil || !c.WantsNews() {
			return nil, err
		}
		return nil, s.agreeToNews(ctx, u, c, from, words, now)
	})
	return err
}

// isNoted reports whether what the buyer of a checkout answered last is what was noted before.
func (s *Store) isNoted(ctx context.Context, c *checkout.Checkout) (bool, error) {
	l, err := s.reminderOf(ctx, s.db, c)
	if err != nil || l == nil {
		return !c.WantsNews(), err
	}
	buyer, err := s.Customer.ByID(ctx, c.AccountID, []string{l.CustomerID})
	if err != nil || !c.WantsNews() || buyer[l.CustomerID] == nil {
		return false, err
	}
	return core.SameEmail(core.Deref(buyer[l.CustomerID].Email), *c.CustomerEmail), nil
}

// reminderOf returns the first reminder of a checkout, nil for none.
func (s *Store) reminderOf(ctx context.Context, r db.Reader, c *checkout.Checkout) (*Letter, error) {
	l, err := db.Get[Letter](ctx, r, letterColumns.SelectSQL+` WHERE account_id = ? AND kind = ? AND object_id = ? AND period = ?`,
		c.AccountID, tenant.LetterCheckoutAbandoned, c.ID, abandonedPeriod)
	if err != nil {
		return nil, fmt.Errorf("read the reminder of a checkout: %w", err)
	}
	return l, nil
}

// takeBackNews takes back what the buyer of a locked checkout ticked before, with the reminders that nobody has tried to send.
func (s *Store) takeBackNews(ctx context.Context, u *db.Unit, c *checkout.Checkout, now core.Time) error {
	l, err := s.reminderOf(ctx, u, c)
	if err != nil || l == nil {
		return err
	}
	if err := s.Lead.TakeBack(ctx, u, c.AccountID, l.CustomerID, c.ID, now); err != nil {
		return err
	}
	_, err = u.Exec(ctx, `DELETE FROM letters WHERE account_id = ? AND object_id = ? AND kind = ? AND period IN (?, ?) AND status || '' = 'queued' AND attempts = 0`,
		c.AccountID, c.ID, tenant.LetterCheckoutAbandoned, abandonedPeriod, againPeriod)
	return err
}

// remindAgain has the reader of a first reminder of a checkout, which was sent now, reminded once more.
func (s *Store) remindAgain(ctx context.Context, u *db.Unit, l *Letter, now core.Time) error {
	if l.Kind != tenant.LetterCheckoutAbandoned || l.Period != abandonedPeriod {
		return nil
	}
	return s.writeDated(ctx, u, Letter{AccountID: l.AccountID, Kind: l.Kind, CustomerID: l.CustomerID, ObjectID: l.ObjectID, Period: againPeriod}, now.Add(againAfter), now)
}

// agreeToNews notes that the buyer of a locked checkout wants news, with a reminder, if the seller sends them.
func (s *Store) agreeToNews(ctx context.Context, u *db.Unit, c *checkout.Checkout, from, words string, now core.Time) error {
	offer, err := s.Checkout.GetOfferIn(ctx, u, c)
	if err != nil || len(offer.Items) == 0 || !offer.Seller.Writes(tenant.LetterCheckoutAbandoned) {
		return err
	}
	buyer, err := s.Lead.AgreeAtCheckout(ctx, u, offer.Seller, lead.Ticked{
		Email: *c.CustomerEmail, Product: offer.Products[core.Deref(offer.Items[0].ProductID)], Checkout: c.ID, Words: words, From: from, Locale: c.Locale, IsProven: c.EmailVerified,
	})
	if err != nil || buyer == nil {
		return err
	}
	return s.writeDated(ctx, u, Letter{
		AccountID: c.AccountID, Kind: tenant.LetterCheckoutAbandoned, CustomerID: buyer.ID, ObjectID: c.ID, Period: abandonedPeriod,
	}, now.Add(abandonedAfter), now)
}

// readAbandoned reads a checkout that its buyer did not finish. They are reminded only if nothing speaks against it: whatever is in doubt makes it void.
func (s *Store) readAbandoned(ctx context.Context, l *Letter, c *LetterContent) error {
	open, err := s.Checkout.Get(ctx, l.AccountID, l.ObjectID)
	if err != nil {
		return err
	}
	buyer, err := s.Customer.Get(ctx, l.AccountID, l.CustomerID)
	if err != nil {
		return err
	}
	now, err := db.BusinessNow(ctx, s.db, l.AccountID)
	if err != nil {
		return err
	}
	c.Checkout, c.GoOnURL, c.isVerified, c.checkout, c.Recipient = open, open.URL, open.EmailVerified, &open.ID, core.Deref(open.CustomerEmail)
	switch {
	case l.Attempts > 1:
		c.Void = "It was tried before, and may have arrived."
	case open.Status == checkout.StatusCompleted || open.Status == checkout.StatusProcessing:
		c.Void = "The checkout is paid, or is being paid."
	case open.Status != checkout.StatusOpen && (l.Period != againPeriod || !canBeginAnew(open)):
		c.Void = "The checkout has expired."
	case l.Period == againPeriod && l.CreatedAt.Add(againAfter+againLate) < now:
		c.Void = "Its day was more than two days ago."
	case !open.WantsNews():
		c.Void = "The buyer took it back that they want news, or gave another address since."
	case !core.SameEmail(core.Deref(buyer.Email), c.Recipient):
		c.Void = "The customer has another address than the checkout."
	case buyer.IsUnsubscribed():
		c.Void = noNews
	case buyer.LastOrderAt != nil && *buyer.LastOrderAt >= open.CreatedAt:
		c.Void = "The customer has bought since."
	}
	if c.Void != "" {
		return nil
	}
	if err := s.readAgreed(ctx, buyer, c); err != nil || c.Void != "" {
		return err
	}
	return s.readUnsold(ctx, buyer, c)
}

// canBeginAnew reports whether a checkout that has expired can be begun again by the link by which its buyer came. It cannot if the seller ended it,
// before its time was over.
func canBeginAnew(c *checkout.Checkout) bool {
	return c.Link() != nil && c.UpdatedAt >= c.ExpiresAt
}

const (
	noNews   = "The customer does not want news."
	unproven = "Nobody has confirmed that the address is the buyer's."
)

// readAgreed finds out whether the reader of the address of an open checkout agreed to news there. They did if the address is proven, or if they
// confirmed this very tick by a letter. After such a letter, whoever typed the address still need not be them. Who knows the page of a checkout sees
// what is bought on it. So they are led to a checkout of their own, by the link by which this one came. So is everybody whose checkout has expired.
func (s *Store) readAgreed(ctx context.Context, buyer *customer.Customer, c *LetterContent) error {
	agrees, err := s.Lead.Agrees(ctx, buyer.AccountID, c.Recipient)
	switch link := c.Checkout.Link(); {
	case err != nil:
		return err
	case !c.isVerified && (link == nil || !buyer.AgreedAt(c.Checkout.ID)):
		c.Void = unproven
	case !agrees:
		c.Void = noNews
	case !c.isVerified || c.Checkout.Status != checkout.StatusOpen:
		own, err := s.Checkout.GetLink(ctx, buyer.AccountID, *link)
		if err != nil {
			return err
		}
		c.GoOnURL = own.URL
	}
	if c.Void == "" {
		c.UnsubscribeURL, err = s.Lead.UnsubscribeURL(buyer.AccountID, c.Recipient)
	}
	return err
}

// readUnsold finds out whether all that is in an open checkout is still for sale. It also finds out whether it was bought by its customer or with its
// address, or is being paid.
func (s *Store) readUnsold(ctx context.Context, buyer *customer.Customer, c *LetterContent) error {
	isOffered, err := s.Checkout.IsOffered(ctx, c.Checkout)
	if err != nil {
		return err
	}
	lines, err := s.Lines.OfCheckout(ctx, c.Checkout.AccountID, c.Checkout.ID)
	if err != nil {
		return err
	}
	if !isOffered || len(lines) == 0 {
		c.Void = "What is in the checkout is not for sale any more."
		return nil
	}
	c.Product = lines[0].ProductName
	var products []string
	for i := range lines {
		products = append(products, core.Deref(lines[i].ProductID))
	}
	hasBought, err := s.Order.HasBought(ctx, buyer.AccountID, c.Recipient, buyer.ID, products, c.Checkout.CreatedAt)
	if err != nil {
		return err
	}
	isPaying, err := s.Checkout.IsPaying(ctx, buyer.AccountID, c.Recipient)
	switch {
	case hasBought:
		c.Void = "The customer, or somebody with this address, has bought it."
	case isPaying:
		c.Void = "Another checkout with this address is being paid."
	}
	return err
}

// boundAbandoned counts a reminder of a checkout. One too many to its address is void, one too many of the account waits.
func (s *Store) boundAbandoned(ctx context.Context, l *Letter, c *LetterContent) error {
	may, wait, err := s.Mailbox.CountAbandoned(ctx, l.AccountID, c.Recipient)
	switch {
	case err != nil:
	case !may:
		c.Void = "This address was reminded of a checkout within a day, or was sent too many letters within an hour."
	default:
		c.Wait, c.WaitsFor = wait, tooManyOfKind
	}
	return err
}
