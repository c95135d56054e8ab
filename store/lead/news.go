package lead

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/customer"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/signed"
	"github.com/tillwright/tillwright/store/tenant"
)

// Ticked is what the buyer of a checkout agreed to on its page.
type Ticked struct {
	Email    string
	Product  *catalog.Product // that they were about to buy, nil for none
	Checkout string
	Words    string  // that they read
	From     string  // a network address
	Locale   *string // of the checkout, nil if it has none
	IsProven bool    // the buyer reads the mail to the address
}

// AgreeAtCheckout notes that somebody agrees to news at a checkout, and returns the customer of the address. The buyer of a proven address has agreed by
// that: they are a lead, and the customer keeps the words. Whoever types another address has agreed to nothing. If the account has leads confirm,
// the reader of such an address is a lead whom a letter asks, as by Capture. That is so only if nobody has asked them or was told by them yet;
// else nothing changes. It is nil if there is no customer, or if the reader of the address wants no news any more: then nothing changes either.
func (s *Store) AgreeAtCheckout(ctx context.Context, u *db.Unit, seller *tenant.Account, in Ticked) (*customer.Customer, error) {
	captured := Captured{NewLead: NewLead{Email: in.Email, Source: SourceForm}, From: in.From, Agrees: true, Locale: in.Locale, IsProven: in.IsProven}
	if in.Product != nil && in.Product.Status == catalog.ProductStatusActive {
		captured.Product = in.Product.ID
	}
	if ended, err := s.HasEnded(ctx, u, seller.ID, in.Email); err != nil || ended {
		return nil, err
	}
	owner, err := s.rooms.Customer.LockOf(ctx, u, seller.ID, core.EmailKey(in.Email))
	if err != nil {
		return nil, err
	}
	if !in.IsProven {
		if mayAsk, err := s.mayAsk(ctx, u, seller, owner, in.Email, captured.Product); err != nil || !mayAsk {
			return owner, err
		}
	}
	l, err := s.capture(ctx, u, seller, &captured)
	if err != nil {
		return nil, err
	}
	var at *core.Time
	if l != nil {
		at, owner = l.Consent.V.At, nil // the customer may be new
	} else if l, err = s.ofProduct(ctx, u, seller.ID, in.Email, captured.Product); err != nil || l == nil { // they agreed before
		return nil, err
	}
	if owner == nil {
		if owner, err = s.rooms.Customer.LockNamed(ctx, u, seller.ID, l.CustomerID, "customer"); err != nil {
			return nil, err
		}
	}
	return owner, s.keepWords(ctx, u, owner, &in, at)
}

// mayAsk reports whether a letter may ask the reader of an address, which somebody typed at a checkout, whether they want news.
func (s *Store) mayAsk(ctx context.Context, u *db.Unit, seller *tenant.Account, owner *customer.Customer, email, product string) (bool, error) {
	if seller.LeadConfirmation == tenant.LeadConfirmationNone || owner != nil && owner.MarketingConsent.V != nil {
		return false, nil
	}
	l, err := s.ofProduct(ctx, u, seller.ID, email, product)
	return err == nil && (l == nil || l.Consent.V.At == nil), err
}

// keepWords has a locked customer, who has said nothing of news yet, keep the words of a tick. They have agreed by it if the address is proven.
// At is when their lead agreed by it, nil if it did before.
func (s *Store) keepWords(ctx context.Context, u *db.Unit, c *customer.Customer, in *Ticked, at *core.Time) error {
	if c.DeletedAt != nil || c.MarketingConsent.V != nil || at == nil && !in.IsProven {
		return nil
	}
	now, err := db.BusinessNow(ctx, u, c.AccountID)
	if err != nil {
		return err
	}
	if at == nil {
		at = &now
	}
	c.NewsWords.V = &customer.NewsWords{Text: in.Words, At: at, Checkout: &in.Checkout}
	if in.IsProven {
		c.MarketingConsent.V, c.UpdatedAt = atCheckout(at), now
	}
	return u.Update(ctx, customer.Columns, c)
}

// TakeBack takes back what a customer and the leads of their address agreed to by a tick at a checkout, and by nothing else.
func (s *Store) TakeBack(ctx context.Context, u *db.Unit, account, customerID, checkout string, now core.Time) error {
	c, err := s.rooms.Customer.LockOwner(ctx, u, account, customerID, "checkouts", checkout)
	if err != nil {
		return err
	}
	words := c.NewsWords.V
	if words == nil || core.Deref(words.Checkout) != checkout {
		return nil
	}
	if c.AgreedAt(checkout) {
		c.MarketingConsent.V = nil
	}
	c.NewsWords.V, c.UpdatedAt = nil, now
	if err := u.Update(ctx, customer.Columns, c); err != nil || c.EmailKey == nil {
		return err
	}
	all, err := s.ofAddress(ctx, u.Locked(), account, *c.EmailKey)
	if err != nil {
		return err
	}
	for i := range all {
		l := &all[i]
		if !core.SameJSON(l.Consent.V.At, words.At) {
			continue
		}
		l.Consent.V, l.LetterDueAt, l.UpdatedAt = Consent{}, nil, now
		if err := u.Update(ctx, columns, l); err != nil {
			return err
		}
	}
	return nil
}

// atCheckout returns the consent of a customer who agreed on the page of a checkout.
func atCheckout(at *core.Time) *customer.MarketingConsent {
	return &customer.MarketingConsent{Status: customer.Subscribed, Source: new("checkout"), At: at}
}

// noteConfirmed has the locked customer of a lead, who confirmed it, have agreed to what they ticked at a checkout. If they have said something
// since, nothing changes.
func (s *Store) noteConfirmed(ctx context.Context, u *db.Unit, c *customer.Customer, l *Lead, now core.Time) error {
	words := c.NewsWords.V
	if c.DeletedAt != nil || c.MarketingConsent.V != nil || words == nil || !core.SameJSON(words.At, l.Consent.V.At) {
		return nil
	}
	c.MarketingConsent.V, c.UpdatedAt = atCheckout(words.At), now
	return u.Update(ctx, customer.Columns, c)
}

// HasEnded reports whether the reader of an address has ended the news of a seller. They did so by a letter, by a lead or as a customer, also as
// one who was deleted. They get none again, whoever agrees with their address.
func (s *Store) HasEnded(ctx context.Context, r db.Reader, account, email string) (bool, error) {
	key := core.EmailKey(email)
	ended, err := s.rooms.Customer.EndedNews(ctx, r, account, []string{key})
	if err != nil || ended[key] {
		return ended[key], err
	}
	owner, err := s.rooms.Customer.Owner(ctx, r, account, key)
	if err != nil || owner != nil && owner.IsUnsubscribed() {
		return err == nil, err
	}
	one, err := db.Get[int](ctx, r, `SELECT 1 FROM leads WHERE account_id = ? AND email_key = ? AND status || '' = 'unsubscribed' LIMIT 1`, account, key)
	return one != nil, err
}

// Agrees reports whether an address has agreed to the news of a seller, by a lead of it.
func (s *Store) Agrees(ctx context.Context, account, email string) (bool, error) {
	if ended, err := s.HasEnded(ctx, s.db, account, email); err != nil || ended {
		return false, err
	}
	all, err := s.ofAddress(ctx, s.db, account, core.EmailKey(email))
	return slices.ContainsFunc(all, func(l Lead) bool { return l.Consent.V.Marketing }), err
}

// ofAddress returns the leads of addresses, as core.EmailKey has them, as inOrder says.
func (s *Store) ofAddress(ctx context.Context, r db.Reader, account string, keys ...string) ([]Lead, error) {
	condition, arg := s.db.In("email_key", keys)
	all, err := db.Select[Lead](ctx, r, columns.SelectSQL+` WHERE account_id = ? AND `+condition+` ORDER BY `+inOrder, account, arg)
	if err != nil {
		return nil, fmt.Errorf("read the leads of an address: %w", err)
	}
	return all, nil
}

// ofProduct returns the lead of an address for a product, or for none if that is empty. It is nil if there is none.
func (s *Store) ofProduct(ctx context.Context, r db.Reader, account, email, product string) (*Lead, error) {
	all, err := s.ofAddress(ctx, r, account, core.EmailKey(email))
	for i := range all {
		if core.Deref(all[i].ProductID) == product {
			return &all[i], nil
		}
	}
	return nil, err
}

// End ends all news of a seller to addresses, for good: all their leads are unsubscribed. Their customers are locked already, if there are any. Those of
// several addresses are told in one call, because everybody locks them in one order.
func (s *Store) End(ctx context.Context, u *db.Unit, account string, now core.Time, emails ...string) error {
	var keys []string
	for _, email := range emails {
		keys = append(keys, core.EmailKey(email))
	}
	slices.Sort(keys)
	all, err := s.ofAddress(ctx, u.Locked(), account, slices.Compact(keys)...)
	if err != nil {
		return err
	}
	var silent []string
	for i := range all {
		l := &all[i]
		if l.Status == StatusUnsubscribed {
			continue
		}
		if err := l.move(StatusUnsubscribed); err != nil {
			return err
		}
		l.LetterDueAt, l.UpdatedAt = nil, now
		if err := u.Update(ctx, columns, l); err != nil {
			return err
		}
		silent = append(silent, l.ID)
	}
	if len(silent) > 0 {
		if err := s.rooms.Advert.ForgetLeads(ctx, u, account, silent...); err != nil {
			return err
		}
	}
	return s.rooms.Customer.EndNews(ctx, u, account, now, emails...) // leads are locked before endings, as everywhere
}

// unsubscribed returns the addresses of those leads that are unsubscribed.
func unsubscribed(leads []Lead) (emails []string) {
	for i := range leads {
		if leads[i].Status == StatusUnsubscribed {
			emails = append(emails, leads[i].Email)
		}
	}
	return emails
}

// keepEndings keeps that the readers of addresses want no news, whose leads or customer are being deleted.
func (s *Store) keepEndings(ctx context.Context, u *db.Unit, account string, emails ...string) error {
	if len(emails) == 0 {
		return nil
	}
	now, err := db.BusinessNow(ctx, u, account)
	if err != nil {
		return err
	}
	return s.rooms.Customer.EndNews(ctx, u, account, now, emails...)
}

// unsubscription is what the link holds, sealed, by which the reader of a letter ends the news. It works for ever.
type unsubscription struct {
	Account string `json:"account"`
	Key     string `json:"key"` // of the address
}

// unsubscriptionContext is what these links are sealed for: nothing else that is sealed opens as one.
const unsubscriptionContext = "unsubscription"

// UnsubscribeURL returns the address of the page on which the reader of a letter ends the news of a seller. Nobody else can make such a link.
func (s *Store) UnsubscribeURL(account, email string) (string, error) {
	text, err := json.Marshal(unsubscription{account, core.EmailKey(email)})
	if err != nil {
		return "", fmt.Errorf("seal unsubscription: %w", err)
	}
	return s.db.Options.PublicURL + "/unsubscribe/" + signed.Encoding.EncodeToString(s.db.Options.Sealer.Seal(text, unsubscriptionContext)), nil
}

// OpenUnsubscription returns the account of a link, and whether the news of it have ended. A link that is not genuine is CodeMissing.
func (s *Store) OpenUnsubscription(ctx context.Context, token string) (account string, ended bool, err error) {
	o, err := s.openUnsubscription(token)
	if err != nil {
		return "", false, err
	}
	ended, err = s.HasEnded(ctx, s.db, o.Account, o.Key)
	return o.Account, ended, err
}

func (s *Store) openUnsubscription(token string) (o unsubscription, err error) {
	missing := core.Missing("page", "", "")
	sealed, err := signed.Encoding.DecodeString(token)
	if err != nil {
		return o, missing
	}
	text, err := s.db.Options.Sealer.Open(sealed, unsubscriptionContext)
	if err != nil {
		return o, missing
	}
	if err := json.Unmarshal(text, &o); err != nil {
		return o, fmt.Errorf("read unsubscription: %w", err)
	}
	return o, nil
}

// Unsubscribe ends all news of a seller to the address of a link, for good. All its leads are unsubscribed, and its customers are, also those for
// whom a buyer typed it. Doing it again changes nothing, and locks nothing.
func (s *Store) Unsubscribe(ctx context.Context, token string) (account string, err error) {
	o, err := s.openUnsubscription(token)
	if err != nil {
		return "", err
	}
	if isOver, err := s.isOver(ctx, o); err != nil || isOver {
		return o.Account, err
	}
	_, err = db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (any, error) {
		now, err := db.BusinessNow(ctx, u, o.Account)
		if err != nil {
			return nil, err
		}
		all, err := s.rooms.Customer.LockAllOf(ctx, u, o.Account, o.Key)
		if err != nil {
			return nil, err
		}
		var ids []string
		for i := range all {
			if !all[i].IsUnsubscribed() {
				ids = append(ids, all[i].ID)
			}
		}
		if err := s.rooms.Customer.Unsubscribe(ctx, u, o.Account, ids, "letter", now); err != nil {
			return nil, err
		}
		return nil, s.End(ctx, u, o.Account, now, o.Key)
	})
	return o.Account, err
}

// isOver reports whether Unsubscribe has nothing to change any more.
func (s *Store) isOver(ctx context.Context, o unsubscription) (bool, error) {
	ended, err := s.rooms.Customer.EndedNews(ctx, s.db, o.Account, []string{o.Key})
	if err != nil || !ended[o.Key] {
		return false, err
	}
	left, err := db.Get[int](ctx, s.db, `SELECT 1 FROM leads WHERE account_id = ? AND email_key = ? AND status || '' <> 'unsubscribed' LIMIT 1`, o.Account, o.Key)
	if err != nil || left != nil {
		return false, err
	}
	all, err := s.rooms.Customer.AllOf(ctx, o.Account, o.Key)
	return err == nil && !slices.ContainsFunc(all, func(c customer.Customer) bool { return !c.IsUnsubscribed() }), err
}
