package mail

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/tillwright/tillwright/server/locale"
	"github.com/tillwright/tillwright/store/core"
)

// How often Run looks for letters that wait, and how many it sends before it looks again.
const (
	dueInterval = 2 * time.Second
	dueAtOnce   = 50
	// awaitedTurn is for how long letters of a kind are begun that somebody waits for, before the next kind has its turn.
	awaitedTurn = 5 * time.Second
	// mostFailures is how many errors SendDue returns at most: there are hours of rounds in the letters about a file of many buyers.
	mostFailures = 20
)

// Run sends the letters that wait until ctx ends, and logs its errors. A server that sends no mail notes that of those to customers, and
// leaves the others.
func (p *Post) Run(ctx context.Context, log *slog.Logger) {
	ticker := time.NewTicker(dueInterval)
	defer ticker.Stop()
	for {
		if err := p.SendDue(ctx); err != nil && ctx.Err() == nil {
			log.LogAttrs(ctx, slog.LevelError, "send letters", slog.String("error", err.Error()))
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// SendDue sends the letters that wait now, and returns what went wrong with some of them, which are tried again later. However many there are, those that
// somebody waits for are sent before each round of the others. What fails keeps nothing else waiting.
func (p *Post) SendDue(ctx context.Context) error {
	var failed []error
	note := func(errs ...error) {
		for _, err := range errs {
			if err != nil && len(failed) < mostFailures {
				failed = append(failed, err)
			}
		}
	}
	note(p.tellOfFailing(ctx))
	failedAt := map[string]time.Time{} // by account
	for more := true; more && ctx.Err() == nil; {
		awaited := p.sendAwaited(ctx)
		wrote, unwritten := p.writeLetters(ctx)
		sends, unsent := p.sendLetters(ctx, failedAt)
		note(awaited, unwritten, unsent)
		more = wrote || sends
	}
	return errors.Join(failed...)
}

// sendAwaited sends the letters that somebody waits for: first those to people who sign in. A server that sends no mail leaves those of buyers and leads.
func (p *Post) sendAwaited(ctx context.Context) error {
	err := p.sendToPeople(ctx)
	if !p.Sends() {
		return err
	}
	return errors.Join(err, p.sendRecoveries(ctx), p.sendPortalLinks(ctx), p.sendVerifications(ctx), p.askLeads(ctx))
}

// writeLetters writes some of the letters that are too many to be written with their cause, and reports whether any of that went on.
func (p *Post) writeLetters(ctx context.Context) (wrote bool, err error) {
	sellers, err := p.store.DueTeams(ctx, dueAtOnce)
	err = errors.Join(err, eachOf(ctx, sellers, p.store.TellOfDay))
	sold, unsold := p.store.AccountsWithSales(ctx, dueAtOnce)
	wrote = err == nil && len(sellers) > 0
	err = errors.Join(err, unsold, eachOf(ctx, sold, func(ctx context.Context, account string) error {
		told, err := p.store.TellOfSales(ctx, account)
		wrote = wrote || told
		return err
	}))
	failing, untold := p.store.Content.AccountsToTell(ctx, dueAtOnce)
	err = errors.Join(err, untold, eachOf(ctx, failing, func(ctx context.Context, account string) error {
		told, err := p.store.TellOfDomains(ctx, account)
		wrote = wrote || told
		return err
	}))
	due, undue := p.store.Grant.DueNotices(ctx, dueAtOnce)
	err = errors.Join(err, undue, each(ctx, due, func(ctx context.Context, account, id string) error {
		went, err := p.store.TellOfFile(ctx, account, id)
		wrote = wrote || went
		return err
	}))
	due, undue = p.store.NewsToWrite(ctx, dueAtOnce)
	err = errors.Join(err, undue, each(ctx, due, func(ctx context.Context, account, id string) error {
		went, err := p.store.WriteNews(ctx, account, id)
		wrote = wrote || went
		return err
	}))
	return wrote, err
}

// tellOfFailing writes the letters about webhook endpoints that fail.
func (p *Post) tellOfFailing(ctx context.Context) error {
	due, err := p.store.Outbox.FailingEndpoints(ctx, dueAtOnce)
	return errors.Join(err, each(ctx, due, p.store.TellOfFailing))
}

// askLeads sends the letters that ask leads to confirm.
func (p *Post) askLeads(ctx context.Context) error {
	due, err := p.store.Lead.DueLetters(ctx, dueAtOnce)
	return errors.Join(err, together(ctx, p.turn, due, p.askLead))
}

// sendPortalLinks sends the letters with links to the portal.
func (p *Post) sendPortalLinks(ctx context.Context) error {
	due, err := p.store.Portal.DueLetters(ctx, dueAtOnce)
	return errors.Join(err, together(ctx, p.turn, due, p.sendDuePortalLink))
}

// sendVerifications sends the letters that ask whose the address of a checkout is.
func (p *Post) sendVerifications(ctx context.Context) error {
	due, err := p.store.Checkout.DueLetters(ctx, dueAtOnce)
	return errors.Join(err, together(ctx, p.turn, due, p.sendDueVerification))
}

// sendRecoveries sends people who forgot their password the links by which they choose another one.
func (p *Post) sendRecoveries(ctx context.Context) error {
	due, err := p.store.Person.DueRecoveries(ctx, dueAtOnce)
	return errors.Join(err, togetherOf(ctx, p.turn, due, p.sendRecovery))
}

func (p *Post) sendRecovery(ctx context.Context, id string) error {
	r, err := p.store.Person.ClaimRecovery(ctx, id)
	if err != nil || r == nil {
		return err
	}
	if err := p.send(ctx, locale.English, &ours, r.Email, recovery(p.store.PublicURL()+"/recover/"+r.Token)); err != nil {
		return err
	}
	return p.store.Person.EndRecovery(context.WithoutCancel(ctx), r.LinkID)
}

// each sends letters until the server is told to stop. That one cannot be sent does not keep the others waiting.
func each(ctx context.Context, due []core.Due, send func(ctx context.Context, account, id string) error) error {
	return eachOf(ctx, due, func(ctx context.Context, d core.Due) error { return send(ctx, d.AccountID, d.ID) })
}

// eachOf is each of letters that are named in another way.
func eachOf[T any](ctx context.Context, due []T, send func(context.Context, T) error) error {
	var failed []error
	for _, d := range due {
		if ctx.Err() != nil {
			break
		}
		failed = append(failed, send(ctx, d))
	}
	return errors.Join(failed...)
}

// togetherOf sends letters that somebody waits for, several at the same time. Strangers choose to which mail servers they go, and one may be slow. None
// is begun once their turn is over, for which all other letters wait: those that are left are sent in the next one.
func togetherOf[T any](ctx context.Context, turn time.Duration, due []T, send func(context.Context, T) error) error {
	until := time.Now().Add(turn)
	failed := make([]error, len(due))
	slots := make(chan struct{}, lettersAtOnce)
	var group sync.WaitGroup
	for i, d := range due {
		slots <- struct{}{}
		if ctx.Err() != nil || time.Now().After(until) {
			break
		}
		group.Go(func() {
			failed[i] = send(ctx, d)
			<-slots
		})
	}
	group.Wait()
	return errors.Join(failed...)
}

// together is togetherOf of letters of accounts.
func together(ctx context.Context, turn time.Duration, due []core.Due, send func(ctx context.Context, account, id string) error) error {
	return togetherOf(ctx, turn, due, func(ctx context.Context, d core.Due) error { return send(ctx, d.AccountID, d.ID) })
}

func (p *Post) askLead(ctx context.Context, account, id string) error {
	lead, err := p.store.Lead.ClaimLetter(ctx, account, id)
	if err != nil || lead == nil {
		return err
	}
	if err := p.sendLeadConfirmation(ctx, lead); err != nil {
		return err
	}
	return p.store.Lead.EndLetter(context.WithoutCancel(ctx), account, id)
}

func (p *Post) sendDuePortalLink(ctx context.Context, account, id string) error {
	link, err := p.store.Portal.ClaimLetter(ctx, account, id)
	if err != nil || link == nil {
		return err
	}
	if err := p.sendPortalLink(ctx, link); err != nil {
		return err
	}
	return p.store.Portal.EndLetter(context.WithoutCancel(ctx), account, id)
}

func (p *Post) sendDueVerification(ctx context.Context, account, id string) error {
	c, err := p.store.Checkout.ClaimLetter(ctx, account, id)
	if err != nil || c == nil {
		return err
	}
	if err := p.sendVerification(ctx, c); err != nil {
		return err
	}
	return p.store.Checkout.EndLetter(context.WithoutCancel(ctx), account, id)
}
