package store

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/checkout"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/dbtest"
	"github.com/tillwright/tillwright/store/mailbox"
	"github.com/tillwright/tillwright/store/tenant"
)

func TestCountLetter_BoundsThoseOfADocument(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		began := time.Now()
		s.at(began)
		for range mailbox.DocumentLetters {
			require.NoError(t, s.Mailbox.CountLetter(t.Context(), s.account, "order_1"))
		}
		s.at(began.Add(20 * time.Minute))
		err := s.Mailbox.CountLetter(t.Context(), s.account, "order_1")
		dbtest.RequireCode(t, err, core.CodeRateLimit)
		var refusal *core.Error
		require.ErrorAs(t, err, &refusal)
		require.Equal(t, 40*time.Minute, refusal.After.Round(time.Second))
		require.NoError(t, s.Mailbox.CountLetter(t.Context(), s.account, "order_2"))
		for range mailbox.PageDocumentLetters {
			require.NoError(t, s.Mailbox.CountPageLetter(t.Context(), s.account, "order_1", "198.51.100.1"), "what is asked for on a page is counted apart")
		}
		dbtest.RequireCode(t, s.Mailbox.CountPageLetter(t.Context(), s.account, "order_1", "198.51.100.1"), core.CodeRateLimit)
		s.at(began.Add(time.Hour))
		require.NoError(t, s.Mailbox.CountLetter(t.Context(), s.account, "order_1"))
		dbtest.RequireCode(t, s.Mailbox.CountPageLetter(t.Context(), s.account, "order_1", "198.51.100.1"), core.CodeRateLimit)
	})
}

func TestCountLetter_BoundsThoseOfAnAccount(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		require.NoError(t, s.Mailbox.CountLetter(t.Context(), s.account, "order_1"))
		_, err := s.db.Write.DB.Exec(`UPDATE throttles SET counted = 1000 WHERE subject = 'letters'`)
		require.NoError(t, err)
		dbtest.RequireCode(t, s.Mailbox.CountLetter(t.Context(), s.account, "order_2"), core.CodeRateLimit)
		require.Equal(t, 1000, s.count(t, `SELECT MAX(counted) FROM throttles`), "what is refused is not counted")
		require.NoError(t, s.Mailbox.CountPageLetter(t.Context(), s.account, "order_2", "198.51.100.1"))
		other, err := s.Tenant.CreateAccount(t.Context(), tenant.NewAccount{Name: "Other", Email: "other@example.com"})
		require.NoError(t, err)
		require.NoError(t, s.Mailbox.CountLetter(t.Context(), other.ID, "order_1"))

		deleted, err := s.Throttle.DeleteOver(t.Context(), 100)
		require.NoError(t, err)
		require.Zero(t, deleted)
		s.at(time.Now().Add(25 * time.Hour))
		deleted, err = s.Throttle.DeleteOver(t.Context(), 100)
		require.NoError(t, err)
		require.EqualValues(t, 8, deleted)
	})
}

// Of several limits that are exceeded the first one is named, and the account's is before those of who asks and of the document.
func TestCountPageLetter_NamesTheLimitOfTheAccountFirst(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		s.at(time.Now())
		require.NoError(t, s.Mailbox.CountPageLetter(t.Context(), s.account, "order_1", "203.0.113.7"))
		says := func(exceeded, want string) {
			t.Helper()
			_, err := s.db.Write.DB.Exec(`UPDATE throttles SET counted = 1000 WHERE subject LIKE '` + exceeded + `'`)
			require.NoError(t, err)
			require.ErrorContains(t, s.Mailbox.CountPageLetter(t.Context(), s.account, "order_1", "203.0.113.7"), want)
		}
		says("page_letters:%", "3 letters were sent within 24 hours, which is the most. Try again in 24 hours.")
		says("letters_from:network:%", "50 letters were sent within 60 minutes, which is the most. Try again in 60 minutes.")
		says("letters_from:%", "10 letters were sent within 60 minutes")
		says("page_letters", "100 letters were sent within 60 minutes")
	})
}

// Letters to one mailbox are counted together, whatever stands after a + in its address.
func TestCountLetter_CountsAMailboxOnce(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		for n := range mailbox.PortalLetters {
			require.NoError(t, s.Mailbox.CountPortalLetter(t.Context(), fmt.Sprintf("ada+%d@example.com", n), fmt.Sprintf("203.0.%d.7", n)))
		}
		dbtest.RequireCode(t, s.Mailbox.CountPortalLetter(t.Context(), "ADA@example.com", "203.0.113.7"), core.CodeRateLimit)
		require.NoError(t, s.Mailbox.CountPortalLetter(t.Context(), "ad@example.com", "203.0.113.7"))
		require.NoError(t, s.Mailbox.CountPortalLetter(t.Context(), "+ada@example.com", "203.0.113.8"))
		require.NoError(t, s.Mailbox.CountPortalLetter(t.Context(), "+ad@example.com", "203.0.113.9"))

		for n := range mailbox.RecipientVerifications {
			_, err := s.Checkout.AskVerification(t.Context(), s.account, s.asked(t, fmt.Sprintf("grace+%d@example.com", n)).ID, fmt.Sprintf("203.0.%d.7", n))
			require.NoError(t, err)
		}
		_, err := s.Checkout.AskVerification(t.Context(), s.account, s.asked(t, "grace@example.com").ID, "203.0.113.7")
		dbtest.RequireCode(t, err, core.CodeRateLimit)
	})
}

// Letters to one mailbox are counted over all accounts.
func TestCountLetter_CountsAMailboxOverAllAccounts(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		sent := 0
		for n := range 10 {
			a, err := s.Tenant.CreateAccount(t.Context(), tenant.NewAccount{Name: "Other", Email: "other@example.com"})
			require.NoError(t, err)
			for tag := range 4 {
				wait, err := s.Mailbox.CountUnasked(t.Context(), a.ID, fmt.Sprintf("vic.tim+%d.%d@gmail.com", n, tag), false)
				require.NoError(t, err)
				if wait == 0 {
					sent++
				}
			}
		}
		require.Equal(t, mailbox.MailboxLetters, sent)
		_, err := s.Checkout.AskVerification(t.Context(), s.account, s.asked(t, "Victim@googlemail.com").ID, "203.0.113.7")
		dbtest.RequireCode(t, err, core.CodeRateLimit)
		dbtest.RequireCode(t, s.Mailbox.CountPortalLetter(t.Context(), "victim@gmail.com", "203.0.113.8"), core.CodeRateLimit)
		require.NoError(t, s.Mailbox.CountPortalLetter(t.Context(), "vic.tim@example.com", "203.0.113.8"))
	})
}

// asked is a checkout in which somebody typed an address.
func (s *shop) asked(t *testing.T, email string) *checkout.Checkout {
	t.Helper()
	return s.change(t, s.checkout(t, s.onSale(t, fixedPrice(1900))), func(d *checkout.Draft) { d.CustomerEmail, d.EmailVerified = &email, false })
}

// Nobody writes to people here by typing their addresses, from wherever they ask.
func TestAskVerification_BoundsLettersByWhoAsks(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		began := time.Now()
		asks := func(n int, from string) error {
			_, err := s.Checkout.AskVerification(t.Context(), s.account, s.asked(t, fmt.Sprintf("ada%d@example.com", n)).ID, from)
			return err
		}
		s.at(began)
		for n := range mailbox.SenderLetters {
			require.NoError(t, asks(n, fmt.Sprintf("2001:db8:1:2::%d", n+1)))
		}
		s.at(began.Add(20 * time.Minute))
		err := asks(100, "2001:db8:1:2:ffff::1")
		dbtest.RequireCode(t, err, core.CodeRateLimit)
		var refusal *core.Error
		require.ErrorAs(t, err, &refusal)
		require.Equal(t, "customer_email", refusal.Param)
		require.Equal(t, "Too many letters were asked for. You can ask for another one in 40 minutes.", refusal.Message)
		require.Equal(t, 40*time.Minute, refusal.After.Round(time.Second))
		dbtest.RequireCode(t, s.Mailbox.CountPageLetter(t.Context(), s.account, "order_1", "2001:db8:1:2::1"), core.CodeRateLimit)
		require.NoError(t, asks(101, "2001:db8:1:3::1"), "another subscriber")
		for n := range mailbox.NetworkLetters - mailbox.SenderLetters - 1 {
			require.NoError(t, asks(110+n, fmt.Sprintf("2001:db8:1:%x::1", n+4)))
		}
		dbtest.RequireCode(t, asks(190, "2001:db8:1:ffff::1"), core.CodeRateLimit)
		require.NoError(t, asks(191, "2001:db8:2::1"), "another network")
		require.NoError(t, asks(102, "198.51.100.1"))
		for n := range mailbox.SenderLetters + 5 {
			require.NoError(t, asks(200+n, "10.0.0.1"), "many buyers are behind a proxy")
		}
		s.at(began.Add(61 * time.Minute))
		require.NoError(t, asks(103, "2001:db8:1:2::1"))
	})
}

func TestAskVerification_BoundsLettersByCheckoutAndReader(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		c, now, n := s.asked(t, "ada@example.com"), time.Now(), 0
		asks := func(c *checkout.Checkout) error {
			n++
			_, err := s.Checkout.AskVerification(t.Context(), s.account, c.ID, fmt.Sprintf("198.51.%d.1", n))
			return err
		}
		s.at(now)
		require.NoError(t, asks(c))
		err := asks(c)
		dbtest.RequireCode(t, err, core.CodeRateLimit)
		var refusal *core.Error
		require.ErrorAs(t, err, &refusal)
		require.Equal(t, time.Minute, refusal.After)
		require.Contains(t, refusal.Message, "in 60 seconds")
		for range mailbox.CheckoutVerifications - 1 {
			now = now.Add(mailbox.VerificationPause)
			s.at(now)
			require.NoError(t, asks(c))
		}
		now = now.Add(mailbox.VerificationPause)
		s.at(now)
		dbtest.RequireCode(t, asks(c), core.CodeRateLimit)
		for range mailbox.RecipientVerifications - mailbox.CheckoutVerifications {
			require.NoError(t, asks(s.asked(t, "Ada@example.com")))
		}
		dbtest.RequireCode(t, asks(s.asked(t, "ada@example.com")), core.CodeRateLimit)
		require.NoError(t, asks(s.asked(t, "grace@example.com")))
		require.Zero(t, s.count(t, `SELECT COUNT(*) FROM throttles WHERE subject LIKE '%@%'`), "addresses are hashed")

		_, err = s.db.Write.DB.Exec(`UPDATE throttles SET counted = 500 WHERE subject = 'verifications'`)
		require.NoError(t, err)
		dbtest.RequireCode(t, asks(s.asked(t, "bob@example.com")), core.CodeRateLimit)
		s.at(now.Add(25 * time.Hour))
		require.NoError(t, asks(s.asked(t, "ada@example.com")))
	})
}

func TestAskVerification_CountsWhatIsAskedAtOnce(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		replica := s.Store
		if s.db.Engine == core.PostgreSQL {
			replica = openStore(t, s.db.Options.URL)
		}
		var checkouts []*checkout.Checkout
		for n := range 24 {
			checkouts = append(checkouts, s.asked(t, fmt.Sprintf("ada%d@example.com", n%6)))
		}
		var group sync.WaitGroup
		var sent atomic.Int64
		for n, c := range checkouts {
			on := s.Store
			if n%2 == 0 {
				on = replica
			}
			group.Go(func() {
				_, err := on.Checkout.AskVerification(t.Context(), s.account, c.ID, "198.51.100.1")
				var refusal *core.Error
				if err == nil {
					sent.Add(1)
				} else if !errors.As(err, &refusal) || refusal.Code != core.CodeRateLimit {
					assert.NoError(t, err)
				}
			})
		}
		group.Wait()
		require.EqualValues(t, mailbox.SenderLetters, sent.Load())
	})
}
