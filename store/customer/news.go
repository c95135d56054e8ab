package customer

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
)

// MarketingConsent is what a customer said about being written to.
type MarketingConsent struct {
	Status string     `json:"status"`
	Source *string    `json:"source"`
	At     *core.Time `json:"at"`
}

// The status of a customer who agreed to be written to, and of one who does not want it any more.
const (
	Subscribed   = "subscribed"
	Unsubscribed = "unsubscribed"
)

// NewsWords are the words with which a customer agreed to be written to.
type NewsWords struct {
	Text     string     `json:"text"`
	At       *core.Time `json:"at"`       // that of the MarketingConsent that they belong to
	Checkout *string    `json:"checkout"` // on whose page they stood, nil if the seller sent them
}

// ConsentText returns the words of the MarketingConsent of a customer, nil if they are not known.
func (c *Customer) ConsentText() *string {
	said, words := c.MarketingConsent.V, c.NewsWords.V
	if said == nil || words == nil || !core.SameJSON(said.At, words.At) {
		return nil
	}
	return &words.Text
}

// IsUnsubscribed reports whether a customer does not want to be written to any more.
func (c *Customer) IsUnsubscribed() bool {
	return c.MarketingConsent.V != nil && c.MarketingConsent.V.Status == Unsubscribed
}

// AgreedAt reports whether the customer agreed to news on the page of a checkout, as the reader of their address, and to nothing since.
func (c *Customer) AgreedAt(checkout string) bool {
	return c.ConsentText() != nil && c.MarketingConsent.V.Status == Subscribed && core.Deref(c.NewsWords.V.Checkout) == checkout
}

// NewsKey returns the hash by which a checkout keeps for which address its buyer ticked that they want news. It says nothing to who does not know the address.
func NewsKey(account, email string) string {
	return core.HashOf("news\x00" + account + "\x00" + core.EmailKey(email))
}

// endingKey returns the hash by which the mailbox of an address is known, whose reader ended the news of an account.
func endingKey(account, email string) string {
	return core.HashOf("ending\x00" + account + "\x00" + core.MailboxKey(email))
}

// endingsAtOnce is how many addresses one statement stores.
const endingsAtOnce = 200

// EndNews keeps that the readers of addresses, however these are spelled, want no news of an account any more. That stays when their customers and leads are deleted, and nothing takes
// it back.
func (s *Store) EndNews(ctx context.Context, u *db.Unit, account string, now core.Time, emails ...string) error {
	var keys []string
	for _, email := range emails {
		keys = append(keys, endingKey(account, email))
	}
	slices.Sort(keys) // everybody stores them in this order
	for some := range slices.Chunk(slices.Compact(keys), endingsAtOnce) {
		var args []any
		for _, key := range some {
			args = append(args, account, key, now)
		}
		_, err := u.Exec(ctx, `INSERT INTO news_endings (account_id, id, created_at) VALUES (?, ?, ?)`+strings.Repeat(`, (?, ?, ?)`, len(some)-1)+` ON CONFLICT DO NOTHING`, args...)
		if err != nil {
			return fmt.Errorf("end the news to addresses: %w", err)
		}
	}
	return nil
}

// EndedNews returns those of some addresses, as core.EmailKey has them, whose readers ended the news of an account. Whether their customers are unsubscribed
// it does not say.
func (s *Store) EndedNews(ctx context.Context, r db.Reader, account string, emailKeys []string) (map[string]bool, error) {
	byKey := map[string][]string{}
	for _, email := range emailKeys {
		key := endingKey(account, email)
		byKey[key] = append(byKey[key], email)
	}
	ended := map[string]bool{}
	condition, arg := s.db.In("id", slices.Collect(maps.Keys(byKey)))
	kept, err := db.Select[string](ctx, r, `SELECT id FROM news_endings WHERE account_id = ? AND `+condition, account, arg)
	if err != nil {
		return nil, fmt.Errorf("look who ended the news: %w", err)
	}
	for _, key := range kept {
		for _, email := range byKey[key] {
			ended[email] = true
		}
	}
	return ended, nil
}

// Owner returns the customer who owns an address, as core.EmailKey has it. It is nil if nobody does.
func (s *Store) Owner(ctx context.Context, r db.Reader, account, emailKey string) (*Customer, error) {
	return findOwner(ctx, r, account, emailKey)
}

// LockOf does what Owner does, and locks the customer.
func (s *Store) LockOf(ctx context.Context, u *db.Unit, account, emailKey string) (*Customer, error) {
	return findOwner(ctx, u.Locked(), account, emailKey)
}

func findOwner(ctx context.Context, r db.Reader, account, emailKey string) (*Customer, error) {
	c, err := db.Get[Customer](ctx, r, Columns.SelectSQL+` WHERE account_id = ? AND email_key = ? AND deleted_at IS NULL`, account, emailKey)
	if err != nil {
		return nil, fmt.Errorf("find the customer of an address: %w", err)
	}
	return c, nil
}

// AllOf returns all customers with an address, as core.EmailKey has it, in the order of their ids. These are who owns it, and those for whom a
// buyer typed it.
func (s *Store) AllOf(ctx context.Context, account, emailKey string) ([]Customer, error) {
	return s.findAllOf(ctx, s.db, s.db, account, emailKey)
}

// LockAllOf does what AllOf does, and locks them.
func (s *Store) LockAllOf(ctx context.Context, u *db.Unit, account, emailKey string) ([]Customer, error) {
	return s.findAllOf(ctx, u, u.Locked(), account, emailKey)
}

// mostLookedAt is how many orders of an address are looked at for their customers.
const mostLookedAt = 1000

// findAllOf finds with r whom it reads with rows. It looks at customers, and at the latest orders of the address, because there may be any number
// of orders. An order knows the key of an address that was typed in letters which SQL does not compare, such as wide ones.
func (s *Store) findAllOf(ctx context.Context, r, rows db.Reader, account, emailKey string) ([]Customer, error) {
	ids, err := db.Select[string](ctx, r, `
		SELECT id FROM customers WHERE account_id = ? AND email_key = ?
		UNION ALL SELECT id FROM customers
		WHERE account_id = ? AND LOWER(email) IN (?, ?) AND email IS NOT NULL AND (email_key IS NULL OR email_key <> LOWER(email))
		UNION ALL SELECT customer_id FROM (
			SELECT customer_id FROM orders WHERE account_id = ? AND COALESCE(customer_email_key, LOWER(customer_email)) = ? ORDER BY id DESC LIMIT ?) AS latest`,
		account, emailKey, account, emailKey, core.ReadableEmail(emailKey), account, emailKey, mostLookedAt)
	if err != nil {
		return nil, fmt.Errorf("find the customers with an address: %w", err)
	}
	slices.Sort(ids)
	condition, arg := s.db.In("id", slices.Compact(ids))
	all, err := db.Select[Customer](ctx, rows, Columns.SelectSQL+` WHERE account_id = ? AND deleted_at IS NULL AND `+condition+` ORDER BY id || ''`, account, arg)
	if err != nil {
		return nil, fmt.Errorf("read the customers with an address: %w", err)
	}
	return slices.DeleteFunc(all, func(c Customer) bool { return !core.SameEmail(core.Deref(c.Email), emailKey) }), nil
}

// Unsubscribe has some locked customers not want to be written to any more, as a source of the MarketingConsent says.
func (s *Store) Unsubscribe(ctx context.Context, u *db.Unit, account string, ids []string, source string, now core.Time) error {
	if len(ids) == 0 {
		return nil
	}
	condition, arg := s.db.In("id", ids)
	_, err := u.Exec(ctx, `UPDATE customers SET marketing_consent = ?, updated_at = ? WHERE account_id = ? AND deleted_at IS NULL AND `+condition,
		core.JSONOf(&MarketingConsent{Status: Unsubscribed, Source: &source, At: &now}), now, account, arg)
	if err != nil {
		return fmt.Errorf("unsubscribe customers: %w", err)
	}
	return nil
}
