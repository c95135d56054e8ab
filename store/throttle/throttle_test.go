package throttle

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/internal/dbtest"
	"github.com/tillwright/tillwright/tests/harness/database"
)

// replica is a room of one database, with a clock that a test moves.
type replica struct {
	*Store
	time *atomic.Int64
}

func (r replica) Now() time.Time { return time.UnixMicro(r.time.Load()) }

func (r replica) move(by time.Duration) { r.time.Add(by.Microseconds()) }

func newReplica(t *testing.T, url string, clock *atomic.Int64) replica {
	r := replica{time: clock}
	r.Store = New(dbtest.Open(t, url, r.Now))
	return r
}

// each runs a test on both engines.
func each(t *testing.T, test func(t *testing.T, r replica)) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		clock := &atomic.Int64{}
		clock.Store(time.Now().UnixMicro())
		test(t, newReplica(t, url, clock))
	})
}

var errOver = errors.New("over")

// count counts, and returns which limit is exceeded.
func (r replica) count(t *testing.T, account string, limits ...Limit) (over *Over) {
	t.Helper()
	err := r.Count(context.Background(), account, func(o *Over) error { over = o; return errOver }, limits...)
	if over == nil {
		assert.NoError(t, err)
	} else {
		assert.ErrorIs(t, err, errOver)
	}
	return over
}

func (r replica) change(t *testing.T, change func(context.Context, *db.Unit, string, string) error, subject string) {
	t.Helper()
	_, err := db.Tx(t.Context(), r.db, func(ctx context.Context, u *db.Unit) (any, error) { return nil, change(ctx, u, "acct_1", subject) })
	require.NoError(t, err)
}

func hourly(subject string, most int64) Limit {
	return Limit{Subject: subject, Most: most, Window: time.Hour}
}

func TestCount_LetsPassSoManyInAWindow(t *testing.T) {
	each(t, func(t *testing.T, r replica) {
		letters := hourly("letters", 2)
		require.Nil(t, r.count(t, "acct_1", letters))
		r.move(20*time.Minute + time.Millisecond)
		require.Nil(t, r.count(t, "acct_1", letters))
		for range 3 { // what is refused is not counted, and makes nobody wait longer
			require.Equal(t, &Over{letters, 40 * time.Minute}, r.count(t, "acct_1", letters))
		}
		require.Nil(t, r.count(t, "acct_2", letters), "another account")
		require.Nil(t, r.count(t, "acct_1", hourly("calls", 2)), "another subject")

		r.move(40*time.Minute - 2*time.Millisecond)
		require.Equal(t, time.Second, r.count(t, "acct_1", letters).Wait)
		r.move(time.Millisecond)
		require.Nil(t, r.count(t, "acct_1", letters), "the window is over")
		require.Nil(t, r.count(t, "acct_1", letters))
		require.Equal(t, time.Hour, r.count(t, "acct_1", letters).Wait)
	})
}

func TestCount_CountsAllOrNothing(t *testing.T) {
	each(t, func(t *testing.T, r replica) {
		one, two, day := hourly("one", 1), hourly("two", 2), Limit{Subject: "a day", Most: 3, Window: 24 * time.Hour}
		require.Nil(t, r.count(t, "acct_1", two, one, day))
		require.Equal(t, one, r.count(t, "acct_1", two, one, day).Limit)
		require.Nil(t, r.count(t, "acct_1", two, day), "neither was counted")
		require.Equal(t, two, r.count(t, "acct_1", two, one, day).Limit, "the first one of those that are exceeded")
		require.Nil(t, r.count(t, "acct_1", day))
		require.Equal(t, 24*time.Hour, r.count(t, "acct_1", day).Wait)
	})
}

func TestCount_CountsOverAllAccounts(t *testing.T) {
	each(t, func(t *testing.T, r replica) {
		mailbox := Limit{Subject: "mailbox", Most: 2, Window: time.Hour, OfAll: true}
		require.Nil(t, r.count(t, "acct_1", mailbox))
		require.Nil(t, r.count(t, "acct_2", mailbox))
		require.NotNil(t, r.count(t, "acct_3", mailbox))
		require.NotNil(t, r.count(t, EveryAccount, hourly("mailbox", 2)))
		require.Nil(t, r.count(t, "acct_1", hourly("mailbox", 2)), "an account's own")
	})
}

// One more may pass, and twenty come at once to two replicas, with their limits in one order or the other.
func TestCount_LetsNobodyPassTogetherWithTheLast(t *testing.T) {
	each(t, func(t *testing.T, r replica) {
		replicas, limits := []replica{r, r}, []Limit{hourly("b", 5), hourly("a", 6), {Subject: "c", Most: 7, Window: time.Hour, OfAll: true}}
		if r.db.Engine == core.PostgreSQL {
			replicas[1] = newReplica(t, r.db.Options.URL, r.time)
		}
		for range 4 {
			require.Nil(t, r.count(t, "acct_1", limits...))
		}
		var all sync.WaitGroup
		var passed atomic.Int64
		for n := range 20 {
			turned := slices.Clone(limits)
			if n%4 < 2 {
				slices.Reverse(turned)
			}
			all.Go(func() {
				if replicas[n%2].count(t, "acct_1", turned...) == nil {
					passed.Add(1)
				}
			})
		}
		all.Wait()
		require.EqualValues(t, 1, passed.Load())
		require.Equal(t, 15, dbtest.Count(t, r.db, `SELECT sum(counted) FROM throttles`), "nobody else was counted")
	})
}

// Of two who count under the same subjects, neither holds what the other waits for.
func TestCount_LocksInOneOrder(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		var locked [][]any
		d := dbtest.OpenWith(t, db.Options{URL: url, Now: func() time.Time { return time.UnixMicro(1e15) }, Trace: func(_ context.Context, statement string, args []any) {
			if strings.Contains(statement, "INTO throttles") {
				locked = append(locked, slices.Clone(args))
			}
		}})
		for _, limits := range [][]Limit{{hourly("b", 9), hourly("a", 9), hourly("c", 9)}, {hourly("c", 9), hourly("b", 9), hourly("a", 9)}} {
			require.NoError(t, New(d).Count(t.Context(), "acct_1", nil, limits...))
		}
		require.Len(t, locked, 2)
		require.Equal(t, locked[0], locked[1])
	})
}

func TestForgetAndTakeBack(t *testing.T) {
	each(t, func(t *testing.T, r replica) {
		tries := hourly("tries", 2)
		r.change(t, r.TakeBack, "tries")
		require.Nil(t, r.count(t, "acct_1", tries))
		require.Nil(t, r.count(t, "acct_1", tries))
		require.Nil(t, r.count(t, "acct_2", tries))
		r.change(t, r.TakeBack, "tries")
		require.Nil(t, r.count(t, "acct_1", tries))
		require.NotNil(t, r.count(t, "acct_1", tries))
		r.change(t, r.Forget, "tries")
		require.Nil(t, r.count(t, "acct_1", tries))
		require.Nil(t, r.count(t, "acct_1", tries))
		require.NotNil(t, r.count(t, "acct_1", tries))
		require.Nil(t, r.count(t, "acct_2", tries), "another account")
	})
}

func TestDeleteOver_LeavesWindowsThatLast(t *testing.T) {
	each(t, func(t *testing.T, r replica) {
		for n := range 5 {
			r.count(t, "acct_1", hourly(fmt.Sprint(n), 1))
		}
		r.count(t, "acct_1", Limit{Subject: "day", Most: 1, Window: 24 * time.Hour})
		r.move(time.Hour - time.Millisecond)
		for _, want := range []int64{0, 3, 2, 0} {
			deleted, err := r.DeleteOver(t.Context(), 3)
			require.NoError(t, err)
			require.Equal(t, want, deleted)
			if want == 0 {
				r.move(time.Millisecond)
			}
		}
		require.Equal(t, 1, dbtest.Count(t, r.db, `SELECT count(*) FROM throttles`))
		require.NotNil(t, r.count(t, "acct_1", Limit{Subject: "day", Most: 1, Window: 24 * time.Hour}))
	})
}

func TestRefuse_SaysHowLongToWait(t *testing.T) {
	t.Parallel()
	over := &Over{hourly("letters", 5), 40 * time.Minute}
	require.Equal(t, &core.Error{Code: core.CodeRateLimit, Param: "id", After: 40 * time.Minute, Message: "Too many letters. Try again in 40 minutes."}, over.Refuse("id", "Too many letters. Try again in"))
	for wait, want := range map[time.Duration]string{
		time.Second: "1 second", 60 * time.Second: "60 seconds", 90 * time.Second: "90 seconds", 91 * time.Second: "2 minutes", 2 * time.Minute: "2 minutes", time.Hour: "60 minutes",
		90 * time.Minute: "90 minutes", 90*time.Minute + 1: "2 hours", 24 * time.Hour: "24 hours",
	} {
		require.Equal(t, want, Spoken(wait))
	}
}

func TestWaits_GrowToTheLongest(t *testing.T) {
	t.Parallel()
	waits := Waits{Free: 2, First: time.Minute, Longest: 5 * time.Minute}
	for failures, want := range []time.Duration{0, 0, time.Minute, 2 * time.Minute, 4 * time.Minute, 5 * time.Minute, 5 * time.Minute} {
		require.Equal(t, want, waits.After(int64(failures)), failures)
	}
	require.Equal(t, 5*time.Minute, waits.After(1<<62), "soon counted, and without an overflow")
}

func TestFrom_CountsSubscribersAndTheNetworksAroundThem(t *testing.T) {
	t.Parallel()
	most := Nearby{Address: 1, Network: 2, Inside: 3}
	for address, want := range map[string][]Limit{
		"203.0.113.7":            {hourly("calls:address:203.0.113.7/32", 1), hourly("calls:network:203.0.113.0/24", 2)},
		"::ffff:203.0.113.7":     {hourly("calls:address:203.0.113.7/32", 1), hourly("calls:network:203.0.113.0/24", 2)},
		"2001:db8:1:2:3::4":      {hourly("calls:address:2001:db8:1:2::/64", 1), hourly("calls:network:2001:db8:1::/48", 2)},
		"2001:db8:1:2:3::4%eth0": {hourly("calls:address:2001:db8:1:2::/64", 1), hourly("calls:network:2001:db8:1::/48", 2)},
		"10.0.0.1":               {hourly("calls:inside:10.0.0.1", 3)},
		"100.64.0.1":             {hourly("calls:inside:100.64.0.1", 3)},
		"fd00::1":                {hourly("calls:inside:fd00::1", 3)},
		"127.0.0.1":              {hourly("calls:inside:127.0.0.1", 3)},
		"unknown":                {hourly("calls:inside:unknown", 3)},
	} {
		require.Equal(t, want, From(address, "calls", time.Hour, most), address)
	}
}

// Every promise is broken once, behind the back of the code, and has to be missed.
func TestInvariants_SeeEveryBrokenPromise(t *testing.T) {
	each(t, func(t *testing.T, r replica) {
		account := dbtest.Account(t, r.db)
		require.Nil(t, r.count(t, account, hourly("own", 1), Limit{Subject: "of all", Most: 1, Window: time.Hour, OfAll: true}))
		check := func(ctx context.Context) (all []core.Violation, err error) {
			err = r.db.CheckAll(ctx, Invariants, func(_ string, broken []core.Violation) { all = append(all, broken...) })
			return all, err
		}
		sound, err := check(t.Context())
		require.NoError(t, err)
		require.Empty(t, sound)
		for _, i := range Invariants {
			require.Contains(t, dbtest.BrokenBy(t, r.db, `UPDATE throttles SET account_id = 'acct_other' WHERE account_id <> ''`, check), i.Promise)
		}
	})
}

// What is done many times at once counts as often, and not at all if it is too much.
func TestCount_CountsAllThatIsDoneAtOnce(t *testing.T) {
	each(t, func(t *testing.T, r replica) {
		items := func(times int64) Limit { return Limit{Subject: "items", Most: 10, Window: time.Minute, Times: times} }
		require.Nil(t, r.count(t, "acct_1", items(6)))
		require.NotNil(t, r.count(t, "acct_1", items(5)))
		require.Nil(t, r.count(t, "acct_1", items(4)))
		require.NotNil(t, r.count(t, "acct_1", items(1)))
		r.move(time.Minute)
		require.Nil(t, r.count(t, "acct_1", items(10)))
		require.NotNil(t, r.count(t, "acct_1", items(0)), "0 is once")
	})
}
