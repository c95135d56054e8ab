package store

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/store/checkout"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/internal/dbtest"
	"github.com/tillwright/tillwright/store/mailbox"
	"github.com/tillwright/tillwright/store/tenant"
)

// letter returns the newest letter of a kind.
func (s *shop) letter(t *testing.T, kind tenant.LetterKind) *Letter {
	t.Helper()
	letters, _, err := s.ListLetters(t.Context(), s.account, ListLetters{Page: core.Page{Limit: 1}, Kind: kind})
	require.NoError(t, err)
	require.NotEmpty(t, letters)
	return &letters[0]
}

// claim claims one letter, and returns nil if it is not to be sent.
func (s *shop) claim(t *testing.T, id string) *Letter {
	t.Helper()
	claimed, err := s.ClaimLetters(t.Context(), core.Due{AccountID: s.account, ID: id})
	require.NoError(t, err)
	if len(claimed) == 0 {
		return nil
	}
	return &claimed[0]
}

// claimed claims a letter, and returns what it tells of.
func (s *shop) claimed(t *testing.T, id string) (*Letter, *LetterContent) {
	t.Helper()
	l := s.claim(t, id)
	require.NotNil(t, l)
	told, err := s.ReadLetter(t.Context(), l)
	require.NoError(t, err)
	return l, told
}

// Whatever makes a letter, its cause has it once: a second one is no letter, but undoes what made it.
func TestWriteLetter_OneForEachCause(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		s.confirm(t, s.checkout(t, s.onSale(t, fixedPrice(1900))))
		l := *s.letter(t, tenant.LetterReceipt)
		_, err := db.Tx(t.Context(), s.db, func(ctx context.Context, u *db.Unit) (any, error) { return nil, s.writeLetter(ctx, u, l) })
		require.True(t, db.IsUnique(err), "%v", err)
		l.Period = "2"
		_, err = db.Tx(t.Context(), s.db, func(ctx context.Context, u *db.Unit) (any, error) { return nil, s.writeLetter(ctx, u, l) })
		require.NoError(t, err)
		require.Equal(t, 2, s.count(t, `SELECT COUNT(*) FROM letters`))
	})
}

// Of all that look for letters at the same time, in three replicas, one sends each, however often they look.
func TestClaimLetters_OneSendsIt(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		replicas := []*Store{s.Store, s.Store, s.Store}
		if s.db.Engine == core.PostgreSQL {
			replicas[1], replicas[2] = openStore(t, s.db.Options.URL), openStore(t, s.db.Options.URL)
		}
		const letters = 12
		guide := s.onSale(t, fixedPrice(1900))
		for range letters {
			s.confirm(t, s.checkout(t, guide))
		}
		var group sync.WaitGroup
		var sent sync.Map
		for n := range 9 {
			on := replicas[n%3]
			group.Go(func() {
				for range 3 {
					due, err := on.LettersToSend(t.Context(), s.account, 100)
					assert.NoError(t, err)
					for some := range slices.Chunk(due, 4) {
						claimed, err := on.ClaimLetters(t.Context(), some...)
						assert.NoError(t, err)
						for _, l := range claimed {
							_, twice := sent.LoadOrStore(l.ID, true)
							assert.False(t, twice, "%s was sent twice", l.ID)
							assert.NoError(t, on.EndLetter(t.Context(), &l, LetterOutcome{Status: LetterStatusSent}))
						}
					}
				}
			})
		}
		group.Wait()
		require.Equal(t, letters, s.count(t, `SELECT COUNT(*) FROM letters WHERE status = 'sent' AND attempts = 1 AND sent_at IS NOT NULL`))
		accounts, err := s.LetterAccounts(t.Context())
		require.NoError(t, err)
		require.Empty(t, accounts)
	})
}

func TestEndLetter_TriesAgainLaterAndLater(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		now := time.Now()
		s.at(now)
		s.confirm(t, s.checkout(t, s.onSale(t, fixedPrice(1900))))
		id := s.letter(t, tenant.LetterReceipt).ID
		for n, pause := range []time.Duration{time.Minute, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 6 * time.Hour, 24 * time.Hour, 0} {
			l, _ := s.claimed(t, id)
			now = now.Add(10 * time.Second) // that the mail server took
			s.at(now)
			require.NoError(t, s.EndLetter(t.Context(), l, LetterOutcome{Status: LetterStatusFailed, Error: "451 later", Recipient: ref("grace@example.com"), Subject: ref("Hello")}))
			l, err := s.GetLetter(t.Context(), s.account, id)
			require.NoError(t, err)
			require.EqualValues(t, n+1, l.Attempts)
			require.Equal(t, "451 later", *l.LastError)
			if pause == 0 {
				require.Equal(t, LetterStatusFailed, l.Status)
				require.Nil(t, l.NextAttemptAt)
				break
			}
			require.Equal(t, LetterStatusQueued, l.Status)
			require.Equal(t, core.TimeOf(now.Add(pause)), *l.NextAttemptAt)
			s.at(now.Add(pause - time.Second))
			require.Nil(t, s.claim(t, id), "it is early")
			now = now.Add(pause)
			s.at(now)
		}
		s.at(now.Add(48 * time.Hour))
		require.Nil(t, s.claim(t, id), "it is over")
		again, err := s.ResendLetter(t.Context(), s.account, id)
		require.NoError(t, err)
		require.Zero(t, again.Attempts)
		l, _ := s.claimed(t, id)
		require.NoError(t, s.EndLetter(t.Context(), l, LetterOutcome{Status: LetterStatusSent}))
		require.Equal(t, LetterStatusSent, s.letter(t, tenant.LetterReceipt).Status)
	})
}

// A server that dies with a letter in its hands leaves it to another one, and whoever comes to an end late notes nothing.
func TestClaimLetters_TakesOverWhatWasLeft(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		now := time.Now()
		s.at(now)
		s.confirm(t, s.checkout(t, s.onSale(t, fixedPrice(1900))))
		id := s.letter(t, tenant.LetterReceipt).ID
		dead, _ := s.claimed(t, id)
		for range len(letterPauses) {
			now = now.Add(letterLease)
			s.at(now)
			s.claimed(t, id)
		}
		require.NoError(t, s.EndLetter(t.Context(), dead, LetterOutcome{Status: LetterStatusSent}))
		require.Equal(t, LetterStatusQueued, s.letter(t, tenant.LetterReceipt).Status)
		s.at(now.Add(letterLease))
		require.Nil(t, s.claim(t, id))
		require.Equal(t, LetterStatusFailed, s.letter(t, tenant.LetterReceipt).Status)
	})
}

// One that is never heard of again keeps none from being claimed with it, and a claim of four is one statement.
func TestClaimLetters_ClaimsSeveralAtOnce(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		s.waitingLetters(t, s.account, 4)
		other, err := s.Tenant.CreateAccount(t.Context(), tenant.NewAccount{Name: "Other", Email: "other@example.com"})
		require.NoError(t, err)
		s.waitingLetters(t, other.ID, 1)
		due, err := s.LettersToSend(t.Context(), s.account, 4)
		require.NoError(t, err)
		others, err := s.LettersToSend(t.Context(), other.ID, 1)
		require.NoError(t, err)
		_, err = s.db.Write.DB.ExecContext(t.Context(), s.db.Rebind(`UPDATE letters SET attempts = ? WHERE id = ?`), len(letterPauses)+1, due[0].ID)
		require.NoError(t, err)
		var statements atomic.Int64
		s.db.Options.Trace = func(context.Context, string, []any) { statements.Add(1) }
		claimed, err := s.ClaimLetters(t.Context(), due[1], due[2], due[3], others[0])
		s.db.Options.Trace = nil
		require.NoError(t, err)
		require.Len(t, claimed, 4)
		require.EqualValues(t, 1, statements.Load())
		for _, l := range claimed {
			require.EqualValues(t, 1, l.Attempts, l.ID)
		}
		require.Equal(t, 4, s.count(t, fmt.Sprintf(`SELECT count(*) FROM letters WHERE attempts = 1 AND next_attempt_at > %d`, s.Now())))

		claimed, err = s.ClaimLetters(t.Context(), due...)
		require.NoError(t, err)
		require.Empty(t, claimed, "another caller has all but the first, which has failed")
		require.Equal(t, 1, s.count(t, `SELECT count(*) FROM letters WHERE status = 'failed' AND next_attempt_at IS NULL`))
	})
}

func TestReadLetter_NothingForWhoIsGone(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		guide := s.onSale(t, fixedPrice(1900))
		s.confirm(t, s.checkout(t, guide))
		l := s.letter(t, tenant.LetterReceipt)
		claimed, told := s.claimed(t, l.ID)
		require.Empty(t, told.Void)
		require.Equal(t, "grace@example.com", told.Recipient)
		_, err := s.DeleteCustomer(t.Context(), s.account, l.CustomerID, false)
		require.NoError(t, err)
		told, err = s.ReadLetter(t.Context(), claimed)
		require.NoError(t, err)
		require.Equal(t, "The customer was deleted.", told.Void)
		require.NoError(t, s.EndLetter(t.Context(), claimed, LetterOutcome{Status: LetterStatusFailed, Error: "550 grace@example.com", Recipient: &told.Recipient}))
		require.Zero(t, s.count(t, `SELECT COUNT(*) FROM letters`), "nothing is left of their letters")

		s.confirm(t, s.checkout(t, guide))
		_, told = s.claimed(t, s.letter(t, tenant.LetterReceipt).ID)
		require.Empty(t, told.Void)
		_, _, err = s.Tenant.DisableAccount(t.Context(), s.account)
		require.NoError(t, err)
		l = s.letter(t, tenant.LetterReceipt)
		told, err = s.ReadLetter(t.Context(), l)
		require.NoError(t, err)
		require.Equal(t, "The account is disabled.", told.Void)
	})
}

func TestMergeCustomer_MovesLetters(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		ada, bob := s.customer(t, "ada@example.com", nil), s.customer(t, "bob@example.com", nil)
		s.bought(t, bob)
		_, err := s.MergeCustomer(t.Context(), s.account, ada.ID, bob.ID)
		require.NoError(t, err)
		l, told := s.claimed(t, s.letter(t, tenant.LetterReceipt).ID)
		require.Equal(t, ada.ID, l.CustomerID)
		require.Empty(t, told.Void)
	})
}

// Whoever types the address of somebody else, again and again, has them sent a few letters, not any number.
func TestReadLetter_BoundsThoseToAnAddressThatNobodyConfirmed(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		s.at(time.Now())
		guide := s.onSale(t, fixedPrice(1900))
		buys := func(email string, verified bool) string {
			c, err := s.Checkout.Create(t.Context(), s.account, checkout.Draft{Checkout: &checkout.Checkout{CustomerEmail: &email, EmailVerified: verified}, Lines: pieceOf(guide)})
			require.NoError(t, err)
			s.confirm(t, c)
			_, told := s.claimed(t, s.letter(t, tenant.LetterReceipt).ID)
			return told.Void
		}
		for range mailbox.UnaskedLetters {
			require.Empty(t, buys("victim@example.com", false))
		}
		require.Contains(t, buys("VICTIM@example.com", false), "Too many letters")
		require.Contains(t, buys("victim+1@example.com", false), "Too many letters", "it is the same mailbox")
		s.at(time.Now().Add(letterLease))
		_, told := s.claimed(t, s.letter(t, tenant.LetterReceipt).ID)
		require.Contains(t, told.Void, "Too many letters", "nor if its outcome was never noted: it was not counted")
		require.Empty(t, buys("other@example.com", false))
		require.Empty(t, buys("victim@example.com", true), "the seller vouches for it")
		s.at(time.Now().Add(61 * time.Minute))
		require.Empty(t, buys("victim@example.com", false))
		require.Zero(t, s.count(t, `SELECT COUNT(*) FROM throttles WHERE subject LIKE '%@%'`), "addresses are hashed")
	})
}

// Whoever has many letters sent to an address from everywhere keeps no receipt from its owner, but one of something that costs nothing.
func TestReadLetter_SendsReceiptsOfPaymentsHoweverManyLettersOthersCause(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		for n := range mailbox.MailboxLetters / mailbox.UnaskedLetters {
			other, err := s.Tenant.CreateAccount(t.Context(), tenant.NewAccount{Name: "Other", Email: fmt.Sprintf("other%d@example.com", n)})
			require.NoError(t, err)
			for range mailbox.UnaskedLetters {
				wait, err := s.Mailbox.CountUnasked(t.Context(), other.ID, "ada@example.com", false)
				require.NoError(t, err)
				require.Zero(t, wait)
			}
		}
		guide := s.onSale(t, fixedPrice(1900))
		buys := func(v *catalog.PriceVariant) string {
			c, err := s.Checkout.Create(t.Context(), s.account, checkout.Draft{Checkout: &checkout.Checkout{CustomerEmail: new("ada@example.com")}, Lines: pieceOf(v)})
			require.NoError(t, err)
			s.confirm(t, c)
			_, told := s.claimed(t, s.letter(t, tenant.LetterReceipt).ID)
			return told.Void
		}
		require.Empty(t, buys(guide))
		require.Contains(t, buys(s.onSale(t, catalog.PriceVariant{AmountType: catalog.PriceVariantAmountTypeFree, Currency: "usd"})), "Too many letters", "anybody can have what costs nothing")
		for range mailbox.UnaskedLetters - 1 {
			require.Empty(t, buys(guide))
		}
		require.Contains(t, buys(guide), "Too many letters", "of one account")
	})
}

func TestResendLetter_OnlyWhatIsNotQueued(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		s.confirm(t, s.checkout(t, s.onSale(t, fixedPrice(1900))))
		_, err := s.ResendLetter(t.Context(), s.account, s.letter(t, tenant.LetterReceipt).ID)
		dbtest.RequireCode(t, err, core.CodeInvalid)
	})
}
