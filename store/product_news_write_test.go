package store

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/customer"
	"github.com/tillwright/tillwright/store/grant"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/lead"
	"github.com/tillwright/tillwright/store/tenant"
)

// subscriber makes a customer who agreed to news.
func (s *shop) subscriber(t *testing.T, email string) *customer.Customer {
	t.Helper()
	c, err := s.Customer.Create(t.Context(), s.account, customer.Customer{Email: &email, MarketingConsent: core.JSONOf(&customer.MarketingConsent{Status: customer.Subscribed, At: new(s.Now())})})
	require.NoError(t, err)
	return c
}

// agrees makes a lead who agreed to news.
func (s *shop) agrees(t *testing.T, email string, source lead.Source, product string) *lead.Lead {
	t.Helper()
	saved, err := s.Lead.Create(t.Context(), s.account, lead.NewLead{Email: email, Source: source, Product: product, Consent: &lead.NewConsent{Marketing: true}}, false)
	require.NoError(t, err)
	return saved.Lead
}

// tell makes news about a product.
func (s *shop) tell(t *testing.T, product string, audience NewsAudience) *ProductNews {
	t.Helper()
	n, err := s.CreateProductNews(t.Context(), s.account, NewProductNews{Product: product, Subject: "New edition", Body: "It is **here**.", Audience: audience})
	require.NoError(t, err)
	return n
}

// written writes all letters of news that can be written now, and returns the news then.
func (s *shop) written(t *testing.T, n *ProductNews) *ProductNews {
	t.Helper()
	for turns := 0; ; turns++ {
		now := s.newsNow(t, n)
		if now.TurnAt == nil {
			return now
		}
		_, err := s.WriteNews(t.Context(), s.account, n.ID)
		require.NoError(t, err)
		require.Less(t, turns, 20)
	}
}

func (s *shop) newsNow(t *testing.T, n *ProductNews) *ProductNews {
	t.Helper()
	now, err := s.GetProductNews(t.Context(), s.account, n.ID)
	require.NoError(t, err)
	return now
}

// readers returns the addresses of those for whom letters of news are written.
func (s *shop) readers(t *testing.T, n *ProductNews) []string {
	t.Helper()
	emails, err := db.Select[string](t.Context(), s.db, `
		SELECT c.email FROM letters l JOIN customers c ON c.account_id = l.account_id AND c.id = l.customer_id WHERE l.account_id = ? AND l.object_id = ? ORDER BY c.email`, s.account, n.ID)
	require.NoError(t, err)
	return emails
}

// doubleOptIn has leads of the shop confirm.
func (s *shop) doubleOptIn(t *testing.T) {
	t.Helper()
	_, err := s.Tenant.UpdateAccount(t.Context(), s.account, func(a *tenant.AccountChange) { a.LeadConfirmation = tenant.LeadConfirmationDoubleOptIn })
	require.NoError(t, err)
}

// News reaches who agreed: themselves or by a lead, confirmed if the shop wants that. Nobody else gets it, and a mailbox gets one letter.
func TestWriteNews_ReachesWhoAgreed(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		guide := s.onSale(t, fixedPrice(1900)).ProductID
		s.subscriber(t, "ada@example.com")
		s.subscriber(t, "Ada+books@example.com") // the same mailbox
		s.agrees(t, "bob@example.com", lead.SourceAPI, "")
		s.agrees(t, "bob@example.com", lead.SourceAPI, guide)
		s.agrees(t, "carl@example.com", lead.SourceForm, "")
		s.customer(t, "silent@example.com", nil)
		for _, end := range []func(id string) error{
			func(id string) error {
				_, err := s.UpdateCustomer(t.Context(), s.account, id, func(c *customer.Customer) {
					c.MarketingConsent.V = &customer.MarketingConsent{Status: customer.Unsubscribed}
				})
				return err
			},
			func(id string) error { _, err := s.DeleteCustomer(t.Context(), s.account, id, false); return err },
		} {
			gone := s.subscriber(t, fmt.Sprintf("gone%s@example.com", core.NewULID()))
			require.NoError(t, end(gone.ID))
		}
		ended := s.agrees(t, "ended@example.com", lead.SourceAPI, "")
		_, err := s.Lead.Update(t.Context(), s.account, ended.ID, func(l *lead.Lead) { l.Status = lead.StatusUnsubscribed })
		require.NoError(t, err)
		s.changed(t, `UPDATE customers SET marketing_consent = '{"status":"subscribed"}' WHERE id = ?`, ended.CustomerID) // an older server
		typed := s.subscriber(t, "typed@example.com")
		s.changed(t, `UPDATE customers SET email_key = NULL WHERE id = ?`, typed.ID)

		n := s.written(t, s.tell(t, guide, NewsAudienceEveryone))
		require.Equal(t, []string{"ada@example.com", "bob@example.com", "carl@example.com"}, s.readers(t, n))
		require.EqualValues(t, 3, n.Recipients)
		require.Equal(t, NewsStatusSending, n.Status)

		s.doubleOptIn(t)
		s.changed(t, `UPDATE leads SET consent = '{"marketing":true,"at":"2026-11-01T09:00:00.000Z","ip":null,"confirmed_at":"2026-11-01T10:00:00.000Z"}' WHERE id = ?`, s.agrees(t, "dora@example.com", lead.SourceForm, "").ID)
		n = s.written(t, s.tell(t, guide, NewsAudienceEveryone))
		require.Equal(t, []string{"ada@example.com", "bob@example.com", "dora@example.com"}, s.readers(t, n), "carl never confirmed")
	})
}

// Buyers have the product, or had it until it expired. Who has it twice has one letter, and so has who is told of in two halves.
func TestWriteNews_ReachesBuyers(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		guide, other := s.onSale(t, fixedPrice(1900)).ProductID, s.onSale(t, fixedPrice(900)).ProductID
		give := func(email, product string) *grant.Grant {
			c := s.subscriber(t, email)
			g, err := s.CreateGrant(t.Context(), s.account, NewGrant{Customer: c.ID, Product: product})
			require.NoError(t, err)
			return g
		}
		ada := give("ada@example.com", guide)
		_, err := s.CreateGrant(t.Context(), s.account, NewGrant{Customer: ada.CustomerID, Product: guide})
		require.NoError(t, err)
		give("bob@example.com", other)
		expired := give("expired@example.com", guide)
		s.changed(t, `UPDATE grants SET expires_at = 1 WHERE id = ?`, expired.ID)
		_, err = s.Grant.RevokeGrant(t.Context(), s.account, give("revoked@example.com", guide).ID)
		require.NoError(t, err)
		n := s.written(t, s.tell(t, guide, NewsAudienceBuyers))
		require.Equal(t, []string{"ada@example.com", "expired@example.com"}, s.readers(t, n))
		preview, err := s.PreviewProductNews(t.Context(), s.account, NewProductNews{Product: guide, Subject: "x", Body: "x", Audience: NewsAudienceBuyers})
		require.NoError(t, err)
		require.EqualValues(t, 2, preview.Readers)
		require.False(t, preview.HasMore)
	})
}

// Letters are written a part at a time. A part whose progress is lost, as by a crash, is written again and changes nothing; a replica leaves another's turn.
func TestWriteNews_WritesEachLetterOnce(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		const many = 450
		guide := s.onSale(t, fixedPrice(1900)).ProductID
		s.subscriber(t, "cus0@example.com")
		s.copies(t, "customers", customer.Columns.SelectSQL, many, map[string]string{"id": "'cus_00000' || n", "email": "'cus' || n || '@example.com'", "email_key": "'cus' || n || '@example.com'"})
		n := s.tell(t, guide, NewsAudienceEveryone)
		letters := func() int { return s.count(t, `SELECT COUNT(*) FROM letters WHERE object_id = ?`, n.ID) }
		for _, want := range []int{200, 400} {
			went, err := s.WriteNews(t.Context(), s.account, n.ID)
			require.NoError(t, err)
			require.True(t, went)
			require.Equal(t, want, letters())
		}
		s.changed(t, `UPDATE letters SET status = 'sent', next_attempt_at = NULL WHERE object_id = ?`, n.ID)
		if s.db.Engine == core.PostgreSQL { // SQLite has one writer
			s.during(t, func(ctx context.Context, u *db.Unit) {
				_, err := findNews(ctx, u.Locked(), s.account, n.ID)
				require.NoError(t, err)
				went, err := s.WriteNews(t.Context(), s.account, n.ID)
				require.NoError(t, err)
				require.False(t, went, "another replica is at it")
			})
		}
		s.changed(t, `UPDATE product_news SET after_id = '', sent_count = 400 WHERE id = ?`, n.ID)
		now := s.written(t, n)
		require.Equal(t, many+1, letters())
		require.EqualValues(t, many+1, now.Recipients)
		require.Equal(t, many+1, s.count(t, `SELECT COUNT(DISTINCT customer_id) FROM letters WHERE object_id = ?`, n.ID))

		preview, err := s.PreviewProductNews(t.Context(), s.account, NewProductNews{Product: guide, Subject: "x", Body: "x", Audience: NewsAudienceEveryone})
		require.NoError(t, err)
		require.EqualValues(t, many+1, preview.Readers)
		s.copies(t, "customers", customer.Columns.SelectSQL, mostCounted, map[string]string{"id": "'cus_00001' || n", "email": "'more' || n || '@example.com'", "email_key": "'more' || n || '@example.com'"})
		preview, err = s.PreviewProductNews(t.Context(), s.account, NewProductNews{Product: guide, Subject: "x", Body: "x", Audience: NewsAudienceEveryone})
		require.NoError(t, err)
		require.EqualValues(t, mostCounted, preview.Readers)
		require.True(t, preview.HasMore)
	})
}

// While many letters of news wait, no more are written. Those of two accounts are written in turn, and news that fails waits.
func TestNewsToWrite_ComesInTurnByAccount(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		began := time.Now()
		s.at(began)
		guide := s.onSale(t, fixedPrice(1900)).ProductID
		n := s.tell(t, guide, NewsAudienceEveryone)
		gone := core.Due{AccountID: "acct_gone", ID: "pnw_gone"}
		mine := core.Due{AccountID: s.account, ID: n.ID}
		s.changed(t, `INSERT INTO product_news (account_id, id, product_id, subject, body, audience, status, turn_at, after_id, recipients, sent_count, failed_count, skipped_count, created_at, updated_at)
			VALUES (?, ?, 'prod_1', 'x', 'x', 'everyone', 'sending', ?, '', 0, 0, 0, 0, 0, 0)`, gone.AccountID, gone.ID, *n.TurnAt+1)
		s.at(began.Add(time.Second))
		due := func() []core.Due {
			due, err := s.NewsToWrite(t.Context(), 10)
			require.NoError(t, err)
			return due
		}
		require.Equal(t, []core.Due{mine, gone}, due())
		_, err := s.WriteNews(t.Context(), gone.AccountID, gone.ID)
		require.ErrorContains(t, err, "write letters of pnw_gone")
		require.Equal(t, []core.Due{mine}, due())

		first := Letter{AccountID: s.account, Kind: tenant.LetterProductNews, CustomerID: "cus_1", ObjectID: "pnw_1", Period: "0"}
		s.during(t, func(ctx context.Context, u *db.Unit) {
			require.NoError(t, s.writeDated(ctx, u, first, s.Now(), s.Now()))
		})
		s.copies(t, "letters", letterColumns.SelectSQL, mostNewsLetters-1, map[string]string{"id": "'letter_' || n", "period": "CAST(n AS TEXT)"})
		went, err := s.WriteNews(t.Context(), s.account, n.ID)
		require.NoError(t, err)
		require.False(t, went)
		require.Empty(t, due(), "both wait")
		s.at(began.Add(time.Second + newsPause))
		require.Len(t, due(), 2)
		s.changed(t, `UPDATE letters SET status = 'sent', next_attempt_at = NULL`)
		went, err = s.WriteNews(t.Context(), s.account, n.ID)
		require.NoError(t, err)
		require.True(t, went)
	})
}

// A letter that is sent while its customer is deleted counts once. What became of it is known when it is deleted, not before.
func TestDeleteCustomer_CountsALetterOnce(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		guide := s.onSale(t, fixedPrice(1900)).ProductID
		ada := s.subscriber(t, "ada@example.com")
		n := s.written(t, s.tell(t, guide, NewsAudienceEveryone))
		due, err := s.NewsToSend(t.Context(), s.account, 1)
		require.NoError(t, err)
		l := s.claim(t, due[0].ID)
		var deleted func() error
		s.during(t, func(ctx context.Context, _ *db.Unit) {
			require.NoError(t, s.EndLetter(ctx, l, LetterOutcome{Status: LetterStatusSent}))
			deleted = s.started(t, func(replica *Store) error {
				_, err := replica.DeleteCustomer(t.Context(), s.account, ada.ID, false)
				return err
			})
			s.waiting(t, 1)
		})
		require.NoError(t, deleted())
		now := s.newsNow(t, n)
		require.Equal(t, []int64{1, 1, 0, 0}, []int64{now.Recipients, now.Sent, now.Failed, now.Skipped})
		broken, err := s.Audit.Check(t.Context(), aDay)
		require.NoError(t, err)
		require.Empty(t, broken)
	})
}

// Letters that the mail server did not take wait for a day and a half. They do not hold up those to the readers who come next.
func TestWriteNews_GoesOnWhileOthersAreTriedAgain(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		guide := s.onSale(t, fixedPrice(1900)).ProductID
		n := s.tell(t, guide, NewsAudienceEveryone)
		first := Letter{AccountID: s.account, Kind: tenant.LetterProductNews, CustomerID: "cus_1", ObjectID: "pnw_1", Period: "0"}
		s.during(t, func(ctx context.Context, u *db.Unit) {
			require.NoError(t, s.writeDated(ctx, u, first, s.Now(), s.Now()))
		})
		s.changed(t, `UPDATE letters SET attempts = 1`)
		tried := func(many int) {
			s.copies(t, "letters", letterColumns.SelectSQL, many, map[string]string{"id": "'letter_" + core.NewULID() + "' || n", "period": "'" + core.NewULID() + "' || n"})
		}
		tried(mostNewsLetters)
		went, err := s.WriteNews(t.Context(), s.account, n.ID)
		require.NoError(t, err)
		require.True(t, went)
		n = s.tell(t, guide, NewsAudienceEveryone)
		tried(mostNewsTried)
		went, err = s.WriteNews(t.Context(), s.account, n.ID)
		require.NoError(t, err)
		require.False(t, went, "too many wait altogether")
	})
}

// A server of an older version deletes customers, and ends letters, and tells no news of that. Repairing does, and ends news that is over by it.
func TestRepair_CountsLettersOfNews(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		guide := s.onSale(t, fixedPrice(1900)).ProductID
		s.subscriber(t, "ada@example.com")
		s.subscriber(t, "bob@example.com")
		n := s.written(t, s.tell(t, guide, NewsAudienceEveryone))
		due, err := s.NewsToSend(t.Context(), s.account, 2)
		require.NoError(t, err)
		for i, change := range []string{`DELETE FROM letters WHERE id = ?`, `UPDATE letters SET status = 'failed', next_attempt_at = NULL WHERE id = ?`} {
			s.changed(t, change, due[i].ID)
			done, err := s.Repair(t.Context())
			require.NoError(t, err)
			require.Equal(t, core.Repaired{News: 1}, done)
			now := s.newsNow(t, n)
			require.EqualValues(t, i+1, now.Failed)
			require.Equal(t, []NewsStatus{NewsStatusSending, NewsStatusSent}[i], now.Status)
		}
		done, err := s.Repair(t.Context())
		require.NoError(t, err)
		require.Zero(t, done)
		broken, err := s.Audit.Check(t.Context(), aDay)
		require.NoError(t, err)
		require.Empty(t, broken)
	})
}
