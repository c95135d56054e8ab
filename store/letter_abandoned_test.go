package store

import (
	"context"
	"fmt"
	"path"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/store/checkout"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/customer"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/lead"
	"github.com/tillwright/tillwright/store/mailbox"
	"github.com/tillwright/tillwright/store/order"
	"github.com/tillwright/tillwright/store/tenant"
)

// ticks has a buyer with an address, which the seller vouches for, tick that they want news, and returns how many letters wait then.
func (s *shop) ticks(t *testing.T, v *catalog.PriceVariant, email, from string) int {
	t.Helper()
	c := s.change(t, s.checkout(t, v), func(d *checkout.Draft) {
		d.CustomerEmail = &email
		d.AnswerNews(true)
	})
	require.NoError(t, s.NoteNews(t.Context(), s.account, c.ID, from, "Send me news."))
	return s.count(t, `SELECT COUNT(*) FROM letters WHERE account_id = ? AND kind = 'checkout_abandoned'`, s.account)
}

// changed changes rows as another server does.
func (s *shop) changed(t *testing.T, query string, args ...any) {
	t.Helper()
	_, err := s.db.Write.DB.ExecContext(t.Context(), s.db.Rebind(query), args...)
	require.NoError(t, err)
}

func (s *shop) asksForNews(t *testing.T) {
	t.Helper()
	_, err := s.Tenant.UpdateAccount(t.Context(), s.account, func(a *tenant.AccountChange) { a.SwitchLetters(map[string]bool{"checkout_abandoned": true}) })
	require.NoError(t, err)
}

// Whoever ended the news has none again, however they ended it, and also if an older server noted it.
func TestNoteNews_KnowsWhoEndedIt(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		s.asksForNews(t)
		guide := s.onSale(t, fixedPrice(1900))
		exec := func(query string, args ...any) { s.changed(t, query, args...) }
		unsubscribe := func(c *customer.Customer) {
			c.MarketingConsent.V = &customer.MarketingConsent{Status: customer.Unsubscribed}
		}
		oldUnsubscribe := func(id string) {
			exec(`UPDATE customers SET marketing_consent = '{"status":"unsubscribed"}' WHERE id = ?`, id)
		}
		leadOf := func(email string) *lead.Lead {
			t.Helper()
			saved, err := s.Lead.Create(t.Context(), s.account, lead.NewLead{Email: email, Source: lead.SourceAPI, Consent: &lead.NewConsent{Marketing: true}}, false)
			require.NoError(t, err)
			return saved.Lead
		}
		deleted := func(email string) {
			c := s.customer(t, email, nil)
			oldUnsubscribe(c.ID)
			_, err := s.DeleteCustomer(t.Context(), s.account, c.ID, false)
			require.NoError(t, err)
		}
		ways := []func(email string){
			func(email string) { oldUnsubscribe(s.customer(t, email, nil).ID) },
			func(email string) { exec(`UPDATE leads SET status = 'unsubscribed' WHERE id = ?`, leadOf(email).ID) },
			func(email string) { // an old server noted it, and the seller has the customer agree again
				c := s.customer(t, email, nil)
				oldUnsubscribe(c.ID)
				_, err := s.UpdateCustomer(t.Context(), s.account, c.ID, func(c *customer.Customer) {
					c.MarketingConsent.V = &customer.MarketingConsent{Status: customer.Subscribed}
				})
				require.NoError(t, err)
			},
			func(email string) { // or has another address
				c := s.customer(t, email, nil)
				oldUnsubscribe(c.ID)
				_, err := s.UpdateCustomer(t.Context(), s.account, c.ID, func(c *customer.Customer) { c.SetEmail("new." + email) })
				require.NoError(t, err)
			},
			deleted,
			func(email string) {
				c := s.customer(t, email, nil)
				oldUnsubscribe(c.ID)
				_, err := s.MergeCustomer(t.Context(), s.account, s.customer(t, "into."+email, nil).ID, c.ID)
				require.NoError(t, err)
			},
			func(email string) {
				l := leadOf(email)
				exec(`UPDATE leads SET status = 'unsubscribed' WHERE id = ?`, l.ID)
				_, err := s.Lead.Delete(t.Context(), s.account, l.ID)
				require.NoError(t, err)
			},
			func(email string) {
				l := leadOf(email)
				exec(`UPDATE leads SET status = 'unsubscribed' WHERE id = ?`, l.ID)
				_, err := s.DeleteCustomer(t.Context(), s.account, l.CustomerID, false)
				require.NoError(t, err)
			},
			func(email string) { // by the API, and the seller deletes them then
				c := customer.Customer{Email: &email}
				unsubscribe(&c)
				made, err := s.Customer.Create(t.Context(), s.account, c)
				require.NoError(t, err)
				exec(`DELETE FROM customers WHERE id = ?`, made.ID)
			},
			func(email string) {
				s.customer(t, email, &email)
				c, _, err := s.UpsertCustomer(t.Context(), s.account, core.Upsert[customer.Customer]{ExternalID: email, Change: unsubscribe})
				require.NoError(t, err)
				exec(`DELETE FROM customers WHERE id = ?`, c.ID)
			},
			func(email string) {
				in := []lead.NewLead{{Email: email, Source: lead.SourceImport, Status: lead.StatusUnsubscribed}}
				saved, err := s.Lead.Import(t.Context(), s.account, in, true)
				require.NoError(t, err)
				exec(`DELETE FROM leads WHERE id = ?`, saved[0].Lead.ID)
				exec(`DELETE FROM customers WHERE id = ?`, saved[0].Lead.CustomerID)
			},
			func(email string) {
				l := leadOf(email)
				_, err := s.Lead.Update(t.Context(), s.account, l.ID, func(l *lead.Lead) { l.Status = lead.StatusUnsubscribed })
				require.NoError(t, err)
				exec(`DELETE FROM leads WHERE id = ?`, l.ID)
				exec(`DELETE FROM customers WHERE id = ?`, l.CustomerID)
			},
		}
		for ended, other := range map[string]string{"lin@example.com": "Lin+news@example.com", "l.i.n+1@gmail.com": "lin@googlemail.com"} {
			deleted(ended)
			assert.Zero(t, s.ticks(t, guide, other, "198.51.100.1"), "the same mailbox as %s", ended)
			in := []lead.NewLead{{Email: other, Source: lead.SourceImport, Consent: &lead.NewConsent{Marketing: true}}}
			saved, err := s.Lead.Import(t.Context(), s.account, append(in, lead.NewLead{Email: "x" + other, Source: lead.SourceImport}), true)
			require.NoError(t, err)
			assert.False(t, saved[0].Lead.Consent.V.Marketing, other)
		}
		for n, end := range ways {
			email := fmt.Sprintf("grace%d@example.com", n)
			end(email)
			assert.Zero(t, s.ticks(t, guide, email, "198.51.100.1"), email)
			made, err := s.Lead.Create(t.Context(), s.account, lead.NewLead{Email: email, Product: guide.ProductID, Source: lead.SourceAPI, Consent: &lead.NewConsent{Marketing: true}}, true)
			require.NoError(t, err)
			assert.False(t, made.Lead.Consent.V.Marketing, email)
		}
		assert.Equal(t, 1, s.ticks(t, guide, "ada@example.com", "198.51.100.1"), "who did not end it")
		assert.Zero(t, s.count(t, `SELECT COUNT(*) FROM news_endings WHERE id LIKE '%@%'`), "addresses are hashed")
	})
}

// Whoever ticks boxes again and again, with any addresses, makes no mass of leads and letters.
func TestNoteNews_IsBounded(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		s.asksForNews(t)
		now := time.Now()
		s.at(now)
		guide := s.onSale(t, fixedPrice(1900))
		for n := range mailbox.SenderNews + 1 {
			s.ticks(t, guide, fmt.Sprintf("ada%d@example.com", n), "198.51.100.1")
		}
		assert.EqualValues(t, mailbox.SenderNews, s.count(t, `SELECT COUNT(*) FROM leads WHERE account_id = ?`, s.account))
		assert.EqualValues(t, mailbox.SenderNews+1, s.ticks(t, guide, "grace@example.com", "203.0.113.7"), "another network")

		s.at(now.Add(61 * time.Minute))
		due, err := s.DueLetters(t.Context(), "", 100)
		require.NoError(t, err)
		require.Len(t, due, mailbox.SenderNews+1)
		for _, d := range due {
			_, err := s.ReleaseLetter(t.Context(), d.AccountID, d.ID)
			require.NoError(t, err)
		}
		_, told := s.claimed(t, due[0].ID)
		require.Empty(t, told.Void)
		s.changed(t, `UPDATE throttles SET counted = 999 WHERE subject = 'abandoned'`)
		l, told := s.claimed(t, due[1].ID)
		require.Empty(t, told.Void)
		told, err = s.ReadLetter(t.Context(), l)
		require.NoError(t, err)
		require.NotEmpty(t, told.Void, "the address was reminded")
		require.Equal(t, 1, s.count(t, `SELECT COUNT(*) FROM throttles WHERE account_id = ? AND subject = 'abandoned' AND counted = 1000`, s.account), "what is void uses up nothing")
		l, told = s.claimed(t, due[2].ID)
		require.Empty(t, told.Void)
		require.Positive(t, told.Wait, "they cost no payment")
		s.changed(t, `UPDATE throttles SET counted = 0 WHERE subject = 'abandoned'`)
		told, err = s.ReadLetter(t.Context(), l)
		require.NoError(t, err)
		require.Empty(t, told.Void, "waiting is not being reminded")

		s.changed(t, `UPDATE throttles SET counted = 0 WHERE subject = 'abandoned'`)
		l, _ = s.claimed(t, due[3].ID)
		s.changed(t, `DELETE FROM throttles WHERE subject LIKE 'abandoned:%'`)
		for range mailbox.MailboxLetters - 1 {
			told, err = s.ReadLetter(t.Context(), l)
			require.NoError(t, err)
			require.Empty(t, told.Void)
			s.changed(t, `DELETE FROM throttles WHERE subject LIKE 'abandoned:%'`)
		}
		told, err = s.ReadLetter(t.Context(), l)
		require.NoError(t, err)
		require.NotEmpty(t, told.Void, "of many accounts")

		bought := s.confirm(t, s.change(t, s.checkout(t, s.onSale(t, catalog.PriceVariant{AmountType: catalog.PriceVariantAmountTypeFree, Currency: "usd"})), func(d *checkout.Draft) { d.CustomerEmail = new("lin@example.com") }))
		hasBought := func() bool {
			has, err := s.Order.HasBought(t.Context(), s.account, "lin@example.com", *bought.Checkout.CustomerID, []string{guide.ProductID}, s.Now().Add(time.Hour))
			require.NoError(t, err)
			return has
		}
		require.False(t, hasBought(), "another product, before")
		s.copies(t, "orders", order.Columns.SelectSQL, 1000, map[string]string{"id": "'order_' || n", "number": "n + 1", "checkout_id": "'chk_' || n"})
		require.True(t, hasBought(), "with more orders than are looked through")
	})
}

// Whoever confirms an address that somebody else typed has not ticked what they did.
func TestNoteNews_IsNotWhatStrangersTicked(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		c := s.change(t, s.asked(t, "grace@example.com"), func(d *checkout.Draft) { d.AnswerNews(true) })
		require.True(t, c.WantsNews())
		c, err := s.Checkout.Verify(t.Context(), s.account, c.ID)
		require.NoError(t, err)
		require.False(t, c.WantsNews())
		c = s.change(t, c, func(d *checkout.Draft) { d.AnswerNews(true) })
		c, err = s.Checkout.Verify(t.Context(), s.account, c.ID)
		require.NoError(t, err)
		require.True(t, c.WantsNews(), "it was confirmed before")

		c = s.change(t, s.asked(t, "grace@example.com"), func(d *checkout.Draft) { d.AnswerNews(true) })
		c = s.change(t, c, func(d *checkout.Draft) { d.Vouch(true, true) })
		require.False(t, c.WantsNews(), "the seller vouches for it")
	})
}

// A server of the release before writes a consent without its words.
func TestCustomer_KeepsTheWordsOfTheConsent(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		s.asksForNews(t)
		s.ticks(t, s.onSale(t, fixedPrice(1900)), "ada@example.com", "198.51.100.1")
		read := func() *customer.Customer {
			found, _, err := s.Customer.List(t.Context(), s.account, customer.List{Page: core.Page{Limit: 1}, Email: "ada@example.com"})
			require.NoError(t, err)
			return &found[0]
		}
		said := read().MarketingConsent.V
		require.Equal(t, "Send me news.", *read().ConsentText())
		old := fmt.Sprintf(`{"status":"subscribed","source":"checkout","at":%q}`, said.At.String())
		s.changed(t, `UPDATE customers SET marketing_consent = ? WHERE id = ?`, old, read().ID)
		assert.Equal(t, "Send me news.", *read().ConsentText())
		s.changed(t, `UPDATE customers SET marketing_consent = '{"status":"subscribed"}' WHERE id = ?`, read().ID)
		assert.Nil(t, read().ConsentText(), "they are those of another consent")
	})
}

// A buyer typed an address for a customer, which another customer owns. Both are marked, because the seller may write to both by themselves.
func TestUnsubscribe_MarksAllCustomersOfTheAddress(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		free := s.onSale(t, catalog.PriceVariant{AmountType: catalog.PriceVariantAmountTypeFree, Currency: "usd"})
		typed := func(email, externalID string) string {
			c, err := s.Checkout.Create(t.Context(), s.account, checkout.Draft{Checkout: &checkout.Checkout{CustomerEmail: &email, ExternalCustomerID: &externalID}, Lines: pieceOf(free)})
			require.NoError(t, err)
			return *s.confirm(t, c).Checkout.CustomerID
		}
		owner, apart, other := s.customer(t, "Ada@example.com", nil).ID, typed("ada@Example.com", "typed"), typed("grace@example.com", "other")
		unsubscribe := func(email string) {
			t.Helper()
			link, err := s.Lead.UnsubscribeURL(s.account, email)
			require.NoError(t, err)
			_, err = s.Lead.Unsubscribe(t.Context(), path.Base(link))
			require.NoError(t, err)
		}
		isUnsubscribed := func(id string) bool {
			t.Helper()
			c, err := s.Customer.Get(t.Context(), s.account, id)
			require.NoError(t, err)
			assert.Equal(t, id == owner, c.EmailKey != nil)
			return c.IsUnsubscribed()
		}
		unsubscribe("ada@example.com")
		for id, want := range map[string]bool{owner: true, apart: true, other: false} {
			assert.Equal(t, want, isUnsubscribed(id), "the owner is %s, the other of the address %s", owner, apart)
		}

		s.during(t, func(ctx context.Context, u *db.Unit) {
			_, err := s.Customer.LockAllOf(ctx, u, s.account, "ada@example.com")
			require.NoError(t, err)
			unsubscribe("ada@example.com") // waits for nobody, since there is nothing to do
		})
		s.changed(t, `UPDATE customers SET marketing_consent = '{"status":"subscribed"}' WHERE id = ?`, apart)
		unsubscribe("ada@example.com")
		assert.True(t, isUnsubscribed(apart), "whom the seller subscribed again")

		letters := typed("Ada@MÜNCHEN.example", "letters")
		unsubscribe("ada@münchen.example")
		assert.True(t, isUnsubscribed(letters), "whose domain has letters that the DNS does not know")
		for _, odd := range []string{"ada@mu\u0308nchen.example", "ada@ｅxample.net", "ada@Bücher.XN--p1ai"} {
			id := typed(odd, odd)
			unsubscribe(odd)
			assert.True(t, isUnsubscribed(id), "typed as %q", odd)
		}
	})
}
