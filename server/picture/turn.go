package picture

import (
	"math"
	"sync"
	"time"
)

const (
	remembered = time.Hour       // how long it is known what an account took
	pause      = 5 * time.Minute // for a server that was silent, and twice as long each time that it is again within remembered
	mostPause  = 6 * time.Hour
)

// accountTurns say for which account a picture is fetched next. It is the one that has taken the least time lately, and of those the one whose turn
// is longest ago. So an account whose server answers slowly, or never, waits for the others, and they do not wait for it.
type accountTurns struct {
	now func() time.Time

	mu       sync.Mutex
	of       map[string]*accountTurn // by account
	silences map[host]silence
}

// accountTurn is what is remembered of an account.
type accountTurn struct {
	isTaken bool
	spent   time.Duration
	at      time.Time // when the last one ended
}

// host is a server as one account asks it. Another account may ask it for something else.
type host struct{ account, name string }

// silence is how long a server is not asked that did not answer.
type silence struct {
	lasts time.Duration
	until time.Time
}

func newAccountTurns(now func() time.Time) *accountTurns {
	return &accountTurns{now: now, of: map[string]*accountTurn{}, silences: map[host]silence{}}
}

// take returns the one of the accounts whose turn it is, "" if each has one already. The caller gives it back. Who comes anew has taken as much as who has
// taken the least.
func (t *accountTurns) take(accounts []string) (next string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.forget()
	least := time.Duration(math.MaxInt64)
	for _, account := range accounts {
		if known := t.of[account]; known != nil {
			least = min(least, known.spent)
		}
	}
	var first accountTurn
	for _, account := range accounts {
		one := accountTurn{spent: least}
		if known := t.of[account]; known != nil {
			one = *known
		}
		if one.isTaken {
			continue
		}
		if next == "" || one.spent < first.spent || one.spent == first.spent && one.at.Before(first.at) {
			next, first = account, one
		}
	}
	if next != "" {
		first.isTaken = true
		if least == math.MaxInt64 {
			first.spent = 0
		}
		t.of[next] = &first
	}
	return next
}

// give ends a turn that took so long.
func (t *accountTurns) give(account string, spent time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	one := t.of[account]
	one.isTaken, one.spent, one.at = false, one.spent+spent, t.now()
}

// forget drops what was long ago. The caller holds t.mu.
func (t *accountTurns) forget() {
	for account, one := range t.of {
		if !one.isTaken && t.now().Sub(one.at) > remembered {
			delete(t.of, account)
		}
	}
	for who, known := range t.silences {
		if t.now().Sub(known.until) > remembered {
			delete(t.silences, who)
		}
	}
}

// silent notes that a server did not answer.
func (t *accountTurns) silent(account, name string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	who := host{account, name}
	lasts := min(max(pause, 2*t.silences[who].lasts), mostPause)
	t.silences[who] = silence{lasts, t.now().Add(lasts)}
}

// answered notes that a server did answer. That it was silent before is remembered: one that answers each second time would be asked again and again.
func (t *accountTurns) answered(account, name string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	who := host{account, name}
	if known, is := t.silences[who]; is && known.until.After(t.now()) {
		known.until = t.now()
		t.silences[who] = known
	}
}

// silentFor returns for how long a server is not asked, because it did not answer lately: 0 or less if it is.
func (t *accountTurns) silentFor(account, name string) time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	known, is := t.silences[host{account, name}]
	if !is {
		return 0
	}
	return known.until.Sub(t.now())
}
