package mail

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/customer"
	"github.com/tillwright/tillwright/store/person"
	"github.com/tillwright/tillwright/store/tenant"
	"github.com/tillwright/tillwright/tests/harness/database"
	_ "github.com/tillwright/tillwright/tests/harness/migrated"
)

// box is a Mailer that keeps what it is sent.
type box struct {
	refuses error
	letters []Letter
}

// Send implements Mailer.
func (b *box) Send(_ context.Context, l Letter) error {
	if b.refuses != nil {
		return b.refuses
	}
	b.letters = append(b.letters, l)
	return nil
}

// given opens a store in which somebody was just given a product, and returns it with the account.
func given(t *testing.T, url string) (*store.Store, string) {
	t.Helper()
	sealer, err := core.NewSealer(make([]byte, 32))
	require.NoError(t, err)
	s, err := store.Open(t.Context(), store.Options{URL: url, Sealer: sealer, Synchronous: "normal", PublicURL: "http://shop.test", Render: func(_ string, v any) ([]byte, error) { return json.Marshal(v) }})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, s.Close()) })
	require.NoError(t, s.Migrate(t.Context()))
	account, err := s.Tenant.CreateAccount(t.Context(), tenant.NewAccount{Name: "Ada's Shop", Email: "ada@example.com"})
	require.NoError(t, err)
	product, err := s.Catalog.CreateProduct(t.Context(), account.ID, catalog.NewProduct{Product: catalog.Product{Name: "Guide\r\nBcc: evil@example.com", Status: catalog.ProductStatusDraft}})
	require.NoError(t, err)
	customer, err := s.Customer.Create(t.Context(), account.ID, customer.Customer{Email: new("grace@example.com"), Name: new("Win at https://spam.example")})
	require.NoError(t, err)
	_, err = s.CreateGrant(t.Context(), account.ID, store.NewGrant{Customer: customer.ID, Product: product.ID})
	require.NoError(t, err)
	return s, account.ID
}

// letterOf returns the account's one letter.
func letterOf(t *testing.T, s *store.Store, account string) store.Letter {
	t.Helper()
	letters, _, err := s.ListLetters(t.Context(), account, store.ListLetters{Page: core.Page{Limit: 10}})
	require.NoError(t, err)
	require.Len(t, letters, 1)
	return letters[0]
}

// moreBuyers gives the product of the account's one letter to so many more customers, to each of whom a letter is to be sent.
func moreBuyers(t *testing.T, s *store.Store, account string, count int) {
	t.Helper()
	g, err := s.Grant.GetGrant(t.Context(), account, letterOf(t, s, account).ObjectID)
	require.NoError(t, err)
	for n := range count {
		c, err := s.Customer.Create(t.Context(), account, customer.Customer{Email: new(fmt.Sprintf("buyer%d@example.com", n))})
		require.NoError(t, err)
		_, err = s.CreateGrant(t.Context(), account, store.NewGrant{Customer: c.ID, Product: g.ProductID})
		require.NoError(t, err)
	}
}

// On a server without mail nothing waits for ever, not even behind many accounts that fail. Once it has mail, the seller may ask for what was
// skipped.
func TestPost_SaysThatTheServerSendsNoMail(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		s, account := given(t, url)
		silent := NewPost(s, nil)
		var waiting []string
		for n := range mostFailures { // accounts that come before the shop
			for letter := range 2 {
				waiting = append(waiting, fmt.Sprintf(`('acct_00%d', 'letter_%d', 'receipt', 'queued', 'cus_1', 'ord_%d', '', 1, 0, 0, 0, 0)`, n, letter, letter))
			}
		}
		for _, statement := range []string{
			`INSERT INTO letters (account_id, id, kind, status, customer_id, object_id, period, next_attempt_at, attempts, resends, created_at, updated_at)
			VALUES ` + strings.Join(waiting, ", "),
			`CREATE UNIQUE INDEX letters_skipped ON letters (account_id) WHERE status = 'skipped'`,
		} {
			_, err := database.Behind(t, url).ExecContext(t.Context(), statement)
			require.NoError(t, err)
		}
		require.ErrorContains(t, silent.SendDue(t.Context()), "skip letters", "an account can have but one skipped")
		l := letterOf(t, s, account)
		require.Equal(t, store.LetterStatusSkipped, l.Status)
		require.Contains(t, *l.LastError, "TILLWRIGHT_SMTP_URL")
		_, err := silent.ResendLetter(t.Context(), account, l.ID)
		refused, ok := errors.AsType[*core.Error](err)
		require.True(t, ok, "%v", err)
		require.Equal(t, core.CodeInvalid, refused.Code)

		var mailbox box
		post := NewPost(s, &mailbox)
		_, err = post.ResendLetter(t.Context(), account, l.ID)
		require.NoError(t, err)
		require.NoError(t, post.SendLettersOf(t.Context(), account))
		require.Equal(t, store.LetterStatusSent, letterOf(t, s, account).Status)
		require.Len(t, mailbox.letters, 1)
		require.Equal(t, l.ID+"-1", mailbox.letters[0].ID)
	})
}

// What somebody calls themselves, or a product, makes no header, and no advertisement in the mail to somebody else.
func TestPost_RepeatsNoNameOfABuyer(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		s, account := given(t, url)
		mailbox := box{refuses: errors.New("550 <grace@example.com>: who is grace@example.com?")}
		post := NewPost(s, &mailbox)
		require.NoError(t, post.SendDue(t.Context()))
		l := letterOf(t, s, account)
		require.Equal(t, store.LetterStatusQueued, l.Status)
		require.Equal(t, "550 <(the address)>: who is (the address)?", *l.LastError)
		require.Equal(t, "grace@example.com", *l.Recipient)
		require.Equal(t, "You have access to Guide Bcc: evil@example.com from Ada's Shop", *l.Subject)

		told, c, err := post.write(t.Context(), &l)
		require.NoError(t, err)
		require.Empty(t, told.Void)
		require.NotContains(t, c.subject+c.text(), "spam.example")
		require.NotContains(t, c.subject+c.text(), "\r")
	})
}

// Somebody who forgot their password does not wait for the letters of a shop, of which there may be any number.
func TestPost_SendsWhatSomebodyWaitsForBetweenTheLettersOfAShop(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		s, account := given(t, url)
		moreBuyers(t, s, account, 2*lettersOfAccount)
		_, err := s.Person.CreatePerson(t.Context(), person.NewPerson{Email: "owner@example.com", Password: "hash"})
		require.NoError(t, err)
		mailbox := &askingBox{ask: func() error { return s.Person.AskRecovery(t.Context(), "owner@example.com") }}
		for _, statement := range []string{
			`INSERT INTO file_notices VALUES ('acct_gone', 'fver_1', 'file_1', 2, '', '', 0)`,
			`INSERT INTO letters (account_id, id, kind, status, customer_id, object_id, period, next_attempt_at, attempts, resends, created_at, updated_at)
			VALUES ('acct_', 'letter_1', 'receipt', 'queued', 'cus_1', 'ord_1', '', 1, 0, 0, 0, 0), ('acct_', 'letter_2', 'receipt', 'queued', 'cus_1', 'ord_2', '', 1, 0, 0, 0, 0)`,
			`CREATE UNIQUE INDEX letters_tried ON letters (account_id) WHERE account_id = 'acct_' AND attempts = 1`,
		} {
			_, err = database.Behind(t, url).ExecContext(t.Context(), statement)
			require.NoError(t, err)
		}
		err = NewPost(s, mailbox).SendDue(t.Context())
		require.ErrorContains(t, err, "tell of version fver_1", "what cannot be told is said, and keeps no letter waiting")
		var unclaimed int
		require.NoError(t, database.Behind(t, url).QueryRowContext(t.Context(), `SELECT count(*) FROM letters WHERE account_id = 'acct_' AND attempts = 0`).Scan(&unclaimed))
		require.Equal(t, 1, unclaimed, "an account that fails, and the rounds of the others go on")
		require.NoError(t, mailbox.failed)
		require.Len(t, mailbox.to, 2*lettersOfAccount+2)
		require.Equal(t, "owner@example.com", mailbox.to[lettersOfAccount], "it is sent after the round in which it was asked for")
	})
}

// slowBox is a Mailer that takes its first letter only once it has taken so many others.
type slowBox struct {
	mutex  sync.Mutex
	begun  bool
	before int
	taken  chan struct{}
}

// Send implements Mailer.
func (b *slowBox) Send(context.Context, Letter) error {
	b.mutex.Lock()
	isFirst := !b.begun
	b.begun = true
	if !isFirst {
		if b.before--; b.before == 0 {
			close(b.taken)
		}
	}
	b.mutex.Unlock()
	if !isFirst {
		return nil
	}
	select {
	case <-b.taken:
		return nil
	case <-time.After(time.Minute):
		return errors.New("the others wait for it")
	}
}

// A letter for which the mail server takes long keeps no other waiting.
func TestPost_SendsBesideASlowLetter(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		s, account := given(t, url)
		moreBuyers(t, s, account, 2*lettersAtOnce)
		require.NoError(t, NewPost(s, &slowBox{before: 2 * lettersAtOnce, taken: make(chan struct{})}).SendDue(t.Context()))
		letters, _, err := s.ListLetters(t.Context(), account, store.ListLetters{Page: core.Page{Limit: 50}, Status: store.LetterStatusSent})
		require.NoError(t, err)
		assert.Len(t, letters, 2*lettersAtOnce+1)
	})
}

// askingBox is a Mailer that asks for something while it is sent its first letter, and keeps to whom each goes.
type askingBox struct {
	mutex  sync.Mutex
	ask    func() error
	failed error
	to     []string
}

// Send implements Mailer.
func (b *askingBox) Send(_ context.Context, l Letter) error {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	if len(b.to) == 0 {
		b.failed = b.ask()
	}
	b.to = append(b.to, l.To)
	return nil
}
