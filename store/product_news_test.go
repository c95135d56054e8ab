package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/store/checkout"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/customer"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/mailbox"
	"github.com/tillwright/tillwright/store/tenant"
)

// Whoever may not be sent news any more when their letter has its turn gets none.
func TestReadNews_AsksAgain(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		price := s.onSale(t, fixedPrice(1900))
		void := func(after func(c *customer.Customer, n *ProductNews)) string {
			t.Helper()
			s.changed(t, `DELETE FROM throttles`)
			s.changed(t, `DELETE FROM letters`)
			c := s.subscriber(t, fmt.Sprintf("ada%s@example.com", core.NewULID()))
			_, err := s.CreateGrant(t.Context(), s.account, NewGrant{Customer: c.ID, Product: price.ProductID})
			require.NoError(t, err)
			n := s.written(t, s.tell(t, price.ProductID, NewsAudienceBuyers))
			after(c, n)
			id, err := db.Get[string](t.Context(), s.db, `SELECT id FROM letters WHERE object_id = ? AND customer_id = ?`, n.ID, c.ID)
			require.NoError(t, err)
			_, told := s.claimed(t, *id)
			if told.Void == "" {
				require.Equal(t, *c.Email, told.Recipient)
				require.Contains(t, told.UnsubscribeURL, "/unsubscribe/")
			}
			return told.Void
		}
		update := func(change func(c *customer.Customer)) func(c *customer.Customer, _ *ProductNews) {
			return func(c *customer.Customer, _ *ProductNews) {
				_, err := s.UpdateCustomer(t.Context(), s.account, c.ID, change)
				require.NoError(t, err)
			}
		}
		require.Empty(t, void(func(*customer.Customer, *ProductNews) {}))
		require.Equal(t, noNews, void(func(c *customer.Customer, _ *ProductNews) {
			link, err := s.Lead.UnsubscribeURL(s.account, *c.Email)
			require.NoError(t, err)
			_, err = s.Lead.Unsubscribe(t.Context(), link[len(s.PublicURL()+"/unsubscribe/"):])
			require.NoError(t, err)
		}))
		require.Equal(t, noNews, void(update(func(c *customer.Customer) { c.MarketingConsent.V = nil })), "they took it back")
		require.Contains(t, void(update(func(c *customer.Customer) { c.SetEmail("other@example.com") })), "another address")
		require.Contains(t, void(func(_ *customer.Customer, n *ProductNews) {
			_, err := s.CancelProductNews(t.Context(), s.account, n.ID)
			require.NoError(t, err)
		}), "canceled")
	})
}

// What news is about stands in it with its price and where it is bought, unless it is not on sale.
func TestReadOffer_IsOfWhatIsOnSale(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		price := s.onSale(t, fixedPrice(1900))
		preview := func() *NewsPreview {
			p, err := s.PreviewProductNews(t.Context(), s.account, NewProductNews{Product: price.ProductID, Subject: "x", Body: "x", Audience: NewsAudienceEveryone})
			require.NoError(t, err)
			return p
		}
		require.NotNil(t, preview().Offer)
		require.Empty(t, preview().BuyURL, "there is no link")
		link, err := s.Checkout.CreateLink(t.Context(), s.account, checkout.Link{Active: true, PriceVariantIDs: core.JSONOf([]string{price.ID})})
		require.NoError(t, err)
		require.Equal(t, link.URL, preview().BuyURL)
		_, err = s.Catalog.ArchiveProduct(t.Context(), s.account, price.ProductID)
		require.NoError(t, err)
		require.Nil(t, preview().Offer)
		require.Empty(t, preview().BuyURL)
	})
}

// Whoever asks for a preview again and again keeps nobody from writing: an embedded database has one transaction that does.
func TestPreviewProductNews_CountsReadersInNoTransaction(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		guide := s.onSale(t, fixedPrice(1900)).ProductID
		s.subscriber(t, "ada@example.com")
		looks, held := 0, 0
		s.db.Options.Trace = func(ctx context.Context, text string, _ []any) {
			if strings.Contains(text, "FROM customers") {
				looks++
				if db.UnitAt(ctx, s.db) != nil {
					held++
				}
			}
		}
		_, _, err := s.db.Request(t.Context(), nil, func(ctx context.Context) (*core.Answer, error) {
			p, err := s.PreviewProductNews(ctx, s.account, NewProductNews{Product: guide, Subject: "x", Body: "x", Audience: NewsAudienceEveryone})
			require.NoError(t, err)
			require.EqualValues(t, 1, p.Readers)
			return &core.Answer{Status: 200, Body: []byte("{}")}, nil
		})
		s.db.Options.Trace = nil
		require.NoError(t, err)
		require.Equal(t, []int{1, 0}, []int{looks, held})
	})
}

// Every letter of news counts once, whatever became of it, and the news is sent with the last.
func TestCountNews_EndsWithTheLastLetter(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		guide := s.onSale(t, fixedPrice(1900)).ProductID
		require.Equal(t, NewsStatusSent, s.written(t, s.tell(t, guide, NewsAudienceEveryone)).Status, "nobody agreed")
		for i := range 5 {
			s.subscriber(t, fmt.Sprintf("ada%d@example.com", i))
		}
		n := s.written(t, s.tell(t, guide, NewsAudienceEveryone))
		require.EqualValues(t, 5, n.Recipients)
		due, err := s.NewsToSend(t.Context(), s.account, 10)
		require.NoError(t, err)
		require.Len(t, due, 5)
		end := func(id string, out LetterOutcome) {
			require.NoError(t, s.EndLetter(t.Context(), s.claim(t, id), out))
		}
		end(due[0].ID, LetterOutcome{Status: LetterStatusSent})
		end(due[1].ID, LetterOutcome{Status: LetterStatusSkipped, Error: noNews})
		end(due[2].ID, LetterOutcome{Wait: time.Hour, WaitsOne: true})
		s.changed(t, `UPDATE letters SET next_attempt_at = 1 WHERE id = ?`, due[2].ID)
		end(due[2].ID, LetterOutcome{Status: LetterStatusFailed, Error: "later"})
		s.changed(t, `UPDATE letters SET next_attempt_at = 1, attempts = ? WHERE id = ?`, len(letterPauses), due[2].ID)
		now := s.newsNow(t, n)
		require.Equal(t, []int64{1, 0, 1}, []int64{now.Sent, now.Failed, now.Skipped}, "what is tried again is not counted")
		end(due[2].ID, LetterOutcome{Status: LetterStatusFailed, Error: "never"})
		last, err := s.GetLetter(t.Context(), s.account, due[3].ID)
		require.NoError(t, err)
		_, err = s.DeleteCustomer(t.Context(), s.account, last.CustomerID, false)
		require.NoError(t, err)
		require.Equal(t, NewsStatusSending, s.newsNow(t, n).Status)
		_, err = s.SkipLetters(t.Context(), s.account, "no mail")
		require.NoError(t, err)
		now = s.newsNow(t, n)
		require.Equal(t, []int64{1, 1, 3}, []int64{now.Sent, now.Failed, now.Skipped})
		require.Equal(t, NewsStatusSent, now.Status)
		require.NotNil(t, now.SentAt)
		_, err = s.CancelProductNews(t.Context(), s.account, n.ID)
		require.ErrorContains(t, err, "is sent and cannot become canceled")
		broken, err := s.Audit.Check(t.Context(), aDay)
		require.NoError(t, err)
		require.Empty(t, broken)
	})
}

// A letter that somebody waits for goes before all news, and news is no letter of a kind that can be sent again.
func TestNewsToSend_ComesAfterOtherLetters(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		price := s.onSale(t, fixedPrice(1900))
		s.subscriber(t, "ada@example.com")
		n := s.written(t, s.tell(t, price.ProductID, NewsAudienceEveryone))
		s.confirm(t, s.checkout(t, price))
		due, err := s.LettersToSend(t.Context(), s.account, 10)
		require.NoError(t, err)
		require.Equal(t, []core.Due{{AccountID: s.account, ID: s.letter(t, tenant.LetterReceipt).ID}}, due)
		news, err := s.NewsToSend(t.Context(), s.account, 10)
		require.NoError(t, err)
		require.Len(t, news, 1)
		l := s.claim(t, news[0].ID)
		require.Equal(t, n.ID, l.ObjectID)
		require.NoError(t, s.EndLetter(t.Context(), l, LetterOutcome{Status: LetterStatusSent}))
		_, err = s.ResendLetter(t.Context(), s.account, l.ID)
		require.ErrorContains(t, err, "once to each mailbox")
	})
}

// News waits for its day, one replica begins with it, and a disabled account sends none, nor does one that deleted the product.
func TestStartNews_OnItsDay(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		began := time.Now()
		s.at(began)
		guide := s.onSale(t, fixedPrice(1900)).ProductID
		s.subscriber(t, "ada@example.com")
		on := func(product string) *ProductNews {
			n, err := s.CreateProductNews(t.Context(), s.account, NewProductNews{Product: product, Subject: "x", Body: "x", Audience: NewsAudienceEveryone, SendAt: new(s.Now().Add(time.Hour))})
			require.NoError(t, err)
			require.Equal(t, NewsStatusScheduled, n.Status)
			return n
		}
		draft, err := s.Catalog.CreateProduct(t.Context(), s.account, catalog.NewProduct{Product: catalog.Product{Name: "Draft"}})
		require.NoError(t, err)
		n, canceled, deleted := on(guide), on(guide), on(draft.ID)
		_, err = s.CancelProductNews(t.Context(), s.account, canceled.ID)
		require.NoError(t, err)
		again, err := s.CancelProductNews(t.Context(), s.account, canceled.ID)
		require.NoError(t, err)
		require.Equal(t, NewsStatusCanceled, again.Status)
		_, err = s.Catalog.DeleteProduct(t.Context(), s.account, draft.ID)
		require.NoError(t, err)
		due := func() int {
			due, err := s.DueNews(t.Context(), "", 10)
			require.NoError(t, err)
			return len(due)
		}
		require.Zero(t, due())
		next, err := s.NextDue(t.Context(), s.account, s.Now(), s.Now().Add(2*time.Hour), time.Minute)
		require.NoError(t, err)
		require.Equal(t, *n.DueAt, core.Deref(next))
		s.at(began.Add(time.Hour))
		require.Equal(t, 2, due())
		for _, id := range []string{n.ID, deleted.ID} {
			did, err := s.StartNews(t.Context(), s.account, id)
			require.NoError(t, err)
			require.True(t, did)
			did, err = s.StartNews(t.Context(), s.account, id)
			require.NoError(t, err)
			require.False(t, did, "another replica did")
		}
		require.Equal(t, NewsStatusCanceled, s.written(t, deleted).Status)
		_, _, err = s.Tenant.DisableAccount(t.Context(), s.account)
		require.NoError(t, err)
		require.Equal(t, NewsStatusCanceled, s.written(t, n).Status)
		require.Zero(t, s.count(t, `SELECT COUNT(*) FROM letters WHERE kind = 'product_news'`))
	})
}

// What cannot be sent is refused with what to send instead, and so is more than a seller has sent on a day.
func TestCreateProductNews_IsBounded(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		guide := s.onSale(t, fixedPrice(1900)).ProductID
		for _, c := range []struct {
			field  string
			change func(n *NewProductNews)
		}{
			{"subject", func(n *NewProductNews) { n.Subject = " " }},
			{"subject", func(n *NewProductNews) { n.Subject = "a\nb" }},
			{"body", func(n *NewProductNews) { n.Body = "\n" }},
			{"body", func(n *NewProductNews) { n.Body = string(slices.Repeat([]byte("["), 600)) }},
			{"send_at", func(n *NewProductNews) { n.SendAt = new(s.Now()) }},
			{"send_at", func(n *NewProductNews) { n.SendAt = new(s.Now().Add(400 * core.Day)) }},
		} {
			in := NewProductNews{Product: guide, Subject: "x", Body: "x", Audience: NewsAudienceEveryone}
			c.change(&in)
			_, err := s.CreateProductNews(t.Context(), s.account, in)
			refused, ok := errors.AsType[*core.Error](err)
			require.True(t, ok, err)
			assert.Equal(t, []any{core.CodeInvalid, c.field}, []any{refused.Code, refused.Param})
		}
		for range mailbox.ProductNews {
			s.tell(t, guide, NewsAudienceEveryone)
		}
		_, err := s.CreateProductNews(t.Context(), s.account, NewProductNews{Product: guide, Subject: "x", Body: "x", Audience: NewsAudienceEveryone})
		refused, ok := errors.AsType[*core.Error](err)
		require.True(t, ok, err)
		require.Equal(t, core.CodeRateLimit, refused.Code)
		require.Contains(t, refused.Message, "4 times within 24 hours")
	})
}
