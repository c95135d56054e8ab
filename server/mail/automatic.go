package mail

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/core"
)

const (
	// lettersAtOnce is how many letters are handed to the mail server at the same time.
	lettersAtOnce = 4

	// lettersOfAccount is how many of an account's letters are sent before the next account has its turn.
	lettersOfAccount = 20

	// newsOfRound is how many letters of news, of all accounts, are sent before the others have their turn again.
	newsOfRound = 100
)

// ResendLetter has a letter to a customer sent once more. CodeInvalid says that the server sends no mail; the other errors are those of
// store.ResendLetter.
func (p *Post) ResendLetter(ctx context.Context, account, ref string) (*store.Letter, error) {
	if _, err := p.store.GetLetter(ctx, account, ref); err != nil {
		return nil, err
	}
	if !p.Sends() {
		return nil, core.Invalid("status", errNoMail.Message)
	}
	return p.store.ResendLetter(ctx, account, ref)
}

// sendLetters sends letters of all accounts that are to be sent now, and reports whether there may be more. An account that has many does
// not keep the others waiting: its letters come in turn with theirs, then some news of all. When one fails is noted in failed, and it
// is left out for a while. After that it comes after those that have not failed, so that they have their turn however many fail.
func (p *Post) sendLetters(ctx context.Context, failed map[string]time.Time) (more bool, err error) {
	p.busy.RLock()
	defer p.busy.RUnlock()
	accounts, err := p.store.LetterAccounts(ctx)
	if err != nil {
		return false, err
	}
	var waiting, news [][]core.Due
	var full []string // the accounts that may have more
	var errs []error
	failing := func(account string) bool { return time.Since(failed[account]) < dueInterval }
	fail := func(account string, err error) {
		if err != nil && !failing(account) { // one error of each account says enough
			errs, failed[account] = append(errs, err), time.Now()
		}
	}
	slices.SortStableFunc(accounts, func(a, b string) int { return failed[a].Compare(failed[b]) })
	for _, account := range accounts {
		if failing(account) {
			continue
		}
		if ctx.Err() != nil {
			break
		}
		if len(errs) >= mostFailures { // the database may be away: whoever has not failed is asked for in another round
			more = more || failed[account].IsZero()
			break
		}
		if !p.Sends() {
			skips, err := p.store.SkipLetters(ctx, account, noMail)
			fail(account, err)
			more = more || skips
			continue
		}
		due, unread, err := p.toSend(ctx, account)
		fail(account, err)
		waiting, news = append(waiting, due), append(news, unread)
		if len(due)+len(unread) == lettersOfAccount {
			full = append(full, account)
		}
	}
	unread := newsInTurn(news)
	if len(unread) > newsOfRound {
		unread, more = unread[:newsOfRound], true
	}
	due := append(inTurn(waiting), unread...)
	for i, err := range p.sendAll(ctx, due) {
		fail(due[i].AccountID, err)
	}
	for _, account := range full {
		more = more || !failing(account)
	}
	return more, errors.Join(errs...)
}

// toSend returns the next letters of an account, and those of news. There are as many of both together as an account has sent at a time, first the others.
func (p *Post) toSend(ctx context.Context, account string) (due, news []core.Due, err error) {
	due, err = p.store.LettersToSend(ctx, account, lettersOfAccount)
	if err == nil && len(due) < lettersOfAccount {
		news, err = p.store.NewsToSend(ctx, account, lettersOfAccount-len(due))
	}
	return due, news, err
}

// SendLettersOf sends the letters of an account that are to be sent now. It returns when the worker of this process is not at one of
// them either.
func (p *Post) SendLettersOf(ctx context.Context, account string) error {
	p.busy.Lock()
	defer p.busy.Unlock()
	for !p.Sends() {
		if more, err := p.store.SkipLetters(ctx, account, noMail); err != nil || !more {
			return err
		}
	}
	for {
		due, news, err := p.toSend(ctx, account)
		if due = append(due, news...); err == nil {
			err = errors.Join(p.sendAll(ctx, due)...)
		}
		if err != nil || len(due) < lettersOfAccount {
			return err
		}
	}
}

// sendAll sends letters, several at the same time, unless somebody else does, notes what became of each, and returns the error of each. As many are
// claimed together as can be sent at once: a slow one keeps no other waiting. A server that dies has claimed no letter that it was not sending.
func (p *Post) sendAll(ctx context.Context, due []core.Due) []error {
	errs := make([]error, len(due))
	slots := make(chan struct{}, lettersAtOnce)
	working := context.WithoutCancel(ctx)
	var group sync.WaitGroup
	sent := 0
	for sent < len(due) && ctx.Err() == nil {
		free := take(slots, len(due)-sent)
		claimed := p.claim(working, due[sent:sent+free], errs[sent:])
		for range free - len(claimed) {
			<-slots
		}
		for _, l := range claimed {
			group.Go(func() {
				i := slices.Index(due, core.Due{AccountID: l.AccountID, ID: l.ID})
				errs[i] = p.store.EndLetter(working, &l, p.deliver(working, &l))
				<-slots
			})
		}
		sent += free
	}
	group.Wait()
	return errs[:sent]
}

// claim claims letters together, and each by itself if that fails: the reason may be one of them. It notes the error of each, and returns the letters
// that nobody else sends.
func (p *Post) claim(ctx context.Context, due []core.Due, errs []error) []store.Letter {
	claimed, err := p.store.ClaimLetters(ctx, due...)
	if err == nil || len(due) == 1 {
		errs[0] = err
		return claimed
	}
	for i, one := range due {
		letters, err := p.store.ClaimLetters(ctx, one)
		claimed, errs[i] = append(claimed, letters...), err
	}
	return claimed
}

// take waits for a free slot, and takes those that are free, up to most.
func take(slots chan struct{}, most int) (taken int) {
	slots <- struct{}{}
	for taken = 1; taken < most; taken++ {
		select {
		case slots <- struct{}{}:
		default:
			return taken
		}
	}
	return taken
}

// inTurn returns the first of each, then the second of each, and so on.
func inTurn(waiting [][]core.Due) (all []core.Due) {
	for i := range lettersOfAccount {
		for _, due := range waiting {
			if i < len(due) {
				all = append(all, due[i])
			}
		}
	}
	return all
}

// newsInTurn is inTurn from any account on, so that none is always among those that the round has no place for.
func newsInTurn(news [][]core.Due) []core.Due {
	from := rand.IntN(len(news) + 1)
	return inTurn(slices.Concat(news[from:], news[:from]))
}

// noMail is why a server that sends no mail skips a letter.
const noMail = "This server sends no mail: whoever runs it has to set TILLWRIGHT_SMTP_URL."

// deliver hands a claimed letter to the mail server, and returns what became of it.
func (p *Post) deliver(ctx context.Context, l *store.Letter) store.LetterOutcome {
	told, c, err := p.write(ctx, l)
	if err != nil {
		return unwritten(ctx, l, err)
	}
	if told.Wait > 0 {
		return store.LetterOutcome{Wait: told.Wait, WaitsOne: told.WaitsOne, Error: told.WaitsFor}
	}
	if told.Void != "" {
		return store.LetterOutcome{Status: store.LetterStatusSkipped, Error: told.Void}
	}
	out := store.LetterOutcome{Status: store.LetterStatusSent, Recipient: &told.Recipient, Subject: new(oneLine(c.subject))}
	logo, err := p.logo(ctx, told.Seller)
	if err != nil {
		return unwritten(ctx, l, err)
	}
	if c.picture, err = p.picture(ctx, told.Offer); err != nil {
		return unwritten(ctx, l, err)
	}
	letter, err := c.letter(told.Seller, logo)
	if err != nil {
		return unwritten(ctx, l, err)
	}
	letter.ID = messageID(l)
	if err := p.mailer.Send(ctx, letter.from(told.Seller, told.Recipient)); err != nil {
		out.Status, out.Error = store.LetterStatusFailed, unnamed(err, told.Recipient)
		slog.WarnContext(ctx, "a letter was not taken", "account", l.AccountID, "letter", l.ID, "kind", l.Kind, "attempt", l.Attempts, "error", out.Error)
	}
	return out
}

// unwritten is what becomes of a letter that could not be written.
func unwritten(ctx context.Context, l *store.Letter, err error) store.LetterOutcome {
	slog.ErrorContext(ctx, "write a letter", "account", l.AccountID, "letter", l.ID, "kind", l.Kind, "error", err)
	return store.LetterOutcome{Status: store.LetterStatusFailed, Error: "The letter could not be written. The log of the server says why."}
}

// messageID names a letter, so that mail programs show one that they get twice once. What the seller asked for again is another letter to them.
func messageID(l *store.Letter) string {
	if l.Resends == 0 {
		return l.ID
	}
	return fmt.Sprintf("%s-%d", l.ID, l.Resends)
}
