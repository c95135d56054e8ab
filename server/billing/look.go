package billing

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/payment"
)

// Whoever has the address of a page can open it any number of times. What that asks of a provider comes out of the seller's own limits there.
const (
	lookPause    = 5 * time.Second // between two questions about one payment or one card
	failurePause = time.Second     // instead of it, after a question to which there was no answer
	earlyLooks   = 3               // in a minute that need not wait for either: whoever comes back from their bank at once wants to know
	cardsAMinute = 10              // questions about cards of one customer
)

// looks remembers what a provider was asked for strangers, in this process.
type looks struct {
	payments recent[*store.PaymentProgress]
	cancels  recent[struct{}]
	cards    recent[*GivenMethod]
}

// LookAtPayment does what ResumePayment does, for somebody who opens a page. It asks the provider once in lookPause, or in failurePause if there was
// no answer. In each minute it may ask sooner earlyLooks times. Others get the same answer until then, which may be some seconds old.
func (b *Billing) LookAtPayment(ctx context.Context, account, id string) (*store.PaymentProgress, error) {
	return b.looks.payments.ask(ctx, b.store.Now().Time(), account, id, 0, func() (*store.PaymentProgress, error) {
		return b.ResumePayment(context.WithoutCancel(ctx), account, id) // others wait for it, too
	})
}

// lookAgain does what resume does for a request of somebody with no key. They send it again because what became of its payment was not known. It asks
// the provider as often as LookAtPayment, together with it. Whoever asks in between is told what is stored meanwhile, or that nobody knows.
func (b *Billing) lookAgain(ctx context.Context, begun *store.PaymentProgress) (*store.PaymentProgress, error) {
	payment, asks := begun.Payment, false
	if payment.Status.IsFinal() {
		return answer(begun)
	}
	found, err := b.looks.payments.ask(ctx, b.store.Now().Time(), payment.AccountID, payment.ID, 0, func() (*store.PaymentProgress, error) {
		asks = true
		return b.resume(ctx, begun)
	})
	if asks || core.OutcomeOf(err) == core.Unknown {
		return found, err
	}
	stored, err := b.store.GetPaymentProgress(ctx, payment.AccountID, payment.ID) // what another request was told may not be committed yet
	if err != nil {
		return nil, err
	}
	return answer(stored)
}

// LeavePayment does what CancelCheckoutPayment does, for somebody on a page. It asks the provider as often as LookAtPayment. Others may wait for it, too,
// so that ctx should not end with its request.
func (b *Billing) LeavePayment(ctx context.Context, account, checkout string) error {
	payment, err := b.store.Payment.OfCheckout(ctx, account, checkout)
	if missing, ok := errors.AsType[*core.Error](err); ok && missing.Code == core.CodeMissing {
		return nil
	}
	if err != nil {
		return err
	}
	return b.leave(ctx, payment)
}

// LeaveInvoicePayment does for the payment of an invoice with this id what LeavePayment does for that of a checkout. The invoice can be paid again
// then. A payment that was made while its buyer was away stays as it is. Whoever made it gives it up, and that may end their subscription. One that is
// not the invoice's last stays too: its page is an old one.
func (b *Billing) LeaveInvoicePayment(ctx context.Context, account, invoice, id string) error {
	payment, err := b.store.Payment.LastOfInvoice(ctx, account, invoice)
	if err != nil || payment == nil || payment.OffSession || payment.ID != id {
		return err
	}
	return b.leave(ctx, payment)
}

// leave cancels a payment for somebody on a page.
func (b *Billing) leave(ctx context.Context, p *payment.Payment) error {
	_, err := b.looks.cancels.ask(ctx, b.store.Now().Time(), p.AccountID, p.ID, 0, func() (struct{}, error) {
		return struct{}{}, b.cancelPayment(ctx, p.AccountID, p.ID)
	})
	return err
}

// LookAtGivenMethod does what FindGivenMethod does, for somebody who opens a page. It asks the provider as often as LookAtPayment about
// each ref, and cardsAMinute times for a customer. Beyond that nobody knows the outcome.
func (b *Billing) LookAtGivenMethod(ctx context.Context, account, customer, ref string, from payment.Buyer) (*GivenMethod, error) {
	return b.looks.cards.ask(ctx, b.store.Now().Time(), account+"/"+customer, ref, cardsAMinute, func() (*GivenMethod, error) {
		return b.FindGivenMethod(context.WithoutCancel(ctx), account, customer, ref, from)
	})
}

// recent keeps answers for lookPause, and that there was none for failurePause. It counts how many questions of a subject were asked in this
// minute.
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

// isOld reports whether it is so long ago that anybody may ask again.
func (l *look[T]) isOld(now time.Time) bool {
	pause := lookPause
	if l.isOver() && core.OutcomeOf(l.err) == core.Unknown {
		pause = failurePause
	}
	return now.Sub(l.at) >= pause
}

// isOver reports whether it is not being asked any more.
func (l *look[T]) isOver() bool {
	select {
	case <-l.done:
		return true
	default:
		return false
	}
}

// mayBeAskedAgain reports whether somebody need not be content with the answer. The caller holds the lock of looks.
func (l *look[T]) mayBeAskedAgain(now time.Time) bool {
	return l.isOld(now) || l.isOver() && l.early < earlyLooks
}

// ask returns the answer about something of a subject, which ask gets unless somebody else did so just now. Most is how many answers a subject
// gets in a minute, 0 for any number.
func (r *recent[T]) ask(ctx context.Context, now time.Time, subject, about string, most int, ask func() (T, error)) (T, error) {
	one, isNew, over := r.join(now, subject, about, most)
	if over {
		var none T
		return none, core.NewUnknownError("too much is asked about "+subject, nil)
	}
	if !isNew {
		select {
		case <-one.done:
			return one.answer, one.err
		case <-ctx.Done():
			var none T
			return none, core.NewUnknownError("what was asked about "+subject+" is not answered yet", ctx.Err())
		}
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
		if early = before.early; !before.isOld(now) {
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
