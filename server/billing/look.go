package billing

import (
	"context"
	"sync"
	"time"

	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/core"
)

// Whoever has the address of a page can open it any number of times. What that asks of a provider comes out of the seller's own limits there.
const (
	lookPause    = 5 * time.Second // between two questions about one payment or one card
	earlyLooks   = 3               // in a minute that need not wait for it: whoever comes back from their bank at once wants to know
	cardsAMinute = 10              // questions about cards of one customer
)

// looks remembers what a provider was asked for strangers, in this process.
type looks struct {
	payments recent[*store.Confirmation]
	cards    recent[*GivenMethod]
}

// LookAtPayment does what ResumePayment does, for somebody who opens a page. It asks the provider once in lookPause, and earlyLooks times
// besides; others get the same answer until then, which may be some seconds old.
func (b *Billing) LookAtPayment(ctx context.Context, account, id string) (*store.Confirmation, error) {
	return b.looks.payments.ask(b.store.Now().Time(), account, id, 0, func() (*store.Confirmation, error) {
		return b.ResumePayment(context.WithoutCancel(ctx), account, id) // others wait for it, too
	})
}

// LookAtGivenMethod does what FindGivenMethod does, for somebody who opens a page. It asks the provider as often as LookAtPayment about
// each ref, and cardsAMinute times for a customer. Beyond that nobody knows the outcome.
func (b *Billing) LookAtGivenMethod(ctx context.Context, account, customer, ref string, from store.Buyer) (*GivenMethod, error) {
	return b.looks.cards.ask(b.store.Now().Time(), account+"/"+customer, ref, cardsAMinute, func() (*GivenMethod, error) {
		return b.FindGivenMethod(context.WithoutCancel(ctx), account, customer, ref, from)
	})
}

// recent keeps answers for lookPause, and counts how many questions of a subject were asked in this minute.
type recent[T any] struct {
	mu     sync.Mutex
	minute int64
	asked  map[string]int
	known  map[string]*look[T]
}

// look is a question that is being asked, or was.
type look[T any] struct {
	at     time.Time
	early  int // how many before it, in this minute, did not wait for lookPause
	done   chan struct{}
	answer T
	err    error
}

// mayBeAskedAgain reports whether somebody need not be content with the answer. The caller holds the lock of looks.
func (l *look[T]) mayBeAskedAgain(now time.Time) bool {
	select {
	case <-l.done:
		return l.early < earlyLooks || now.Sub(l.at) >= lookPause
	default: // it is being asked
		return now.Sub(l.at) >= lookPause
	}
}

// ask returns the answer about something of a subject, which ask gets unless somebody else did so just now. Most is how many answers a subject
// gets in a minute, 0 for any number.
func (r *recent[T]) ask(now time.Time, subject, about string, most int, ask func() (T, error)) (T, error) {
	one, isNew, over := r.join(now, subject, about, most)
	if over {
		var none T
		return none, core.NewUnknownError("too much is asked about "+subject, nil)
	}
	if !isNew {
		<-one.done
		return one.answer, one.err
	}
	defer close(one.done)
	one.err = core.NewUnknownError("what was asked about "+subject+" was not answered", nil) // should ask panic
	one.answer, one.err = ask()
	return one.answer, one.err
}

func (r *recent[T]) join(now time.Time, subject, about string, most int) (one *look[T], isNew, over bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if minute := now.Unix() / 60; r.known == nil || minute != r.minute {
		kept := map[string]*look[T]{}
		for key, one := range r.known {
			if now.Sub(one.at) < lookPause {
				one.early = 0
				kept[key] = one
			}
		}
		r.minute, r.asked, r.known = minute, map[string]int{}, kept
	}
	key := subject + "\n" + about
	early, before := 0, r.known[key]
	if before != nil {
		if !before.mayBeAskedAgain(now) {
			return before, false, false
		}
		if early = before.early; now.Sub(before.at) < lookPause {
			early++
		}
	}
	if most > 0 && r.asked[subject] >= most {
		return nil, false, true
	}
	r.asked[subject]++
	r.known[key] = &look[T]{at: now, early: early, done: make(chan struct{})}
	return r.known[key], true, false
}
