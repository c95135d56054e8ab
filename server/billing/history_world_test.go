package billing_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/server/billing"
	"github.com/tillwright/tillwright/server/payments"
	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/tenant"
	"github.com/tillwright/tillwright/tests/harness/database"
)

// history is a server without its HTTP, and a bank, in which anything happens to a few shops.
type history struct {
	*store.Store
	*billing.Billing
	bank  *bank
	rows  *sqlx.DB // the database, past the store
	shops []*shop
	clock atomic.Int64 // the server's time, which moves by what is done
	asked atomic.Int64 // requests so far

	crowded bool // several players are at work, so that nothing stays as one of them looked it up
}

// shop is an account, with what is known of it beside its rows.
type shop struct {
	account string
	credits map[string]int64 // what changes of plan and the seller gave customers, by customer and currency

	lives  map[string]*life // subscriptions, by id
	billed string           // the newest order of a subscription that is booked
	looked core.Time        // the newest change of one

	forgotten sync.Map // the addresses of customers who were deleted

	boxed   string            // the product that is sold with imported licence keys
	owners  map[string]string // of licence keys, as they were when everything was looked at last
	decided sync.Map          // sources of grants about which the seller has decided
}

// player does things in a shop. What it does is rolled.
type player struct {
	*history
	*shop
	roll func(n int) int // 0 to n-1; 0 is what is simplest
	say  func(format string, args ...any)
	deck []func(*player) error

	unanswered func() error // sends the last request again of which nobody knows the outcome
}

// stage is a test whose worlds end before it does.
type stage struct {
	testing.TB
	done []func()
}

// Cleanup implements testing.TB.
func (s *stage) Cleanup(f func()) { s.done = append(s.done, f) }

// clear ends what was opened on the stage, the last of it first.
func (s *stage) clear() {
	for i := range s.done {
		s.done[len(s.done)-1-i]()
	}
	s.done = nil
}

// zones are where the shops are, before and after the server's day.
var zones = []string{"Pacific/Auckland", "America/St_Johns"}

// newHistory opens shops in a database of their own.
func newHistory(t testing.TB, engine string, shops int) *history {
	url := database.URL(t, engine)
	h := &history{}
	h.clock.Store(time.Date(2026, 1, 30, 22, 0, 0, 0, time.UTC).UnixMicro())
	sealer, err := core.NewSealer(make([]byte, 32))
	require.NoError(t, err)
	h.Store, err = store.Open(context.Background(), store.Options{
		CloseTime: time.Minute,
		URL:       url, Sealer: sealer, Synchronous: "normal", PublicURL: "http://shop.test", TestClock: true, MaxConns: 6,
		Now:    func() time.Time { return time.UnixMicro(h.clock.Load()) },
		Render: func(_ string, v any) ([]byte, error) { return json.Marshal(v) },
	})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, h.Close()) })
	h.rows = sqlx.NewDb(database.Behind(t, url), h.Engine())
	h.rows.SetMaxOpenConns(1)
	h.bank = newBank(h.Store)
	h.Billing = billing.New(h.Store, payments.NewRegistry(h.bank)).Patient()
	for i := range shops {
		account, err := h.Tenant.CreateAccount(context.Background(), tenant.NewAccount{Name: fmt.Sprintf("Shop %d", i), Email: "ada@example.com"})
		require.NoError(t, err)
		_, err = h.Tenant.UpdateAccount(context.Background(), account.ID, func(a *tenant.AccountChange) { a.Timezone = zones[i] })
		require.NoError(t, err)
		_, err = h.Advert.CreateConversionDestination(context.Background(), account.ID, &advert.SocialAccount{ID: "sacct_1", Platform: advert.PlatformFacebook},
			advert.NewConversionDestination{PixelID: "1", Events: advert.ConversionKinds, Status: advert.DestinationActive})
		require.NoError(t, err)
		h.shops = append(h.shops, &shop{account: account.ID, credits: map[string]int64{}, owners: map[string]string{}, lives: map[string]*life{}})
	}
	return h
}

// passes lets the server's time pass. Accounts whose clock was moved keep their lead.
func (h *history) passes(d time.Duration) { h.clock.Add(d.Microseconds()) }

// heal mends the line and lets the reconciler find out about everything that is not known.
func (h *history) heal() error {
	h.bank.sever(cutNowhere, 0)
	ctx := context.Background()
	for range 3 { // a refund that the bank keeps waiting takes two looks
		for _, table := range []string{"payments", "refunds"} {
			if _, err := h.rows.Exec(`UPDATE ` + table + ` SET lease_until = 0 WHERE status IN ('pending', 'requires_action')`); err != nil {
				return err
			}
		}
		if err := h.Reconcile(ctx); err != nil {
			return fmt.Errorf("reconcile: %w", err)
		}
		if err := h.Work(ctx); err != nil {
			return fmt.Errorf("do what is due: %w", err)
		}
		h.passes(11 * time.Second)
	}
	var unknown int
	err := h.rows.Get(&unknown, `SELECT COUNT(*) FROM payments WHERE status = 'pending'`)
	if err == nil && unknown > 0 {
		err = fmt.Errorf("%d payments have no outcome, though the bank answers", unknown)
	}
	return err
}

// isExcused says whether an answer is missing because the line to the bank was cut.
func isExcused(err error) bool { return err != nil && strings.Contains(err.Error(), errLine.Error()) }

// isRefusal says whether an answer is one that a client can do something about.
func isRefusal(err error) bool {
	e := (*core.Error)(nil)
	return errors.As(err, &e) && (e.Code == core.CodeInvalid || e.Code == core.CodeMissing || e.Code == core.CodeRateLimit)
}
