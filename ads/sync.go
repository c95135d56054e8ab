package ads

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/core"
)

const (
	// syncInterval is how old the mirror of an ad account may become.
	syncInterval = 15 * time.Minute
	// syncBatch is how many ad accounts one round mirrors at most.
	syncBatch = 20
	// maxStretches ends a walk that a network does not end.
	maxStretches = 10_000
)

// What one account may take of a round, so that its networks do not keep the others' waiting: nothing of it is begun
// after tenantTime, and a walk through an ad account ends after walkTime.
const (
	tenantTime = time.Minute
	walkTime   = 5 * time.Minute
	// maxTenants is how many accounts have their turn at once.
	maxTenants = 4
)

// inTurns does what is due, several accounts at once and for each of them one after the other, as far as there is time.
func inTurns[T any](s *Service, due []T, accountOf func(T) string, do func(T) error) error {
	tenants, order := map[string][]T{}, []string(nil)
	for _, one := range due {
		account := accountOf(one)
		if tenants[account] == nil {
			order = append(order, account)
		}
		tenants[account] = append(tenants[account], one)
	}
	errs := make([]error, len(order))
	inParallel(len(order), maxTenants, func(i int) {
		until := s.store.Now().Add(tenantTime)
		for _, one := range tenants[order[i]] {
			if s.store.Now() > until {
				return
			}
			errs[i] = errors.Join(errs[i], do(one))
		}
	})
	return errors.Join(errs...)
}

// SyncDue mirrors the ad accounts whose turn it is. Any number of replicas may do it: each is claimed by one of them.
func (s *Service) SyncDue(ctx context.Context) error {
	due, err := s.store.DueAdAccounts(ctx, s.store.Now().Add(-syncInterval), syncBatch)
	if err != nil {
		return err
	}
	var asked sync.Map // channels whose ad accounts are up to date
	return inTurns(s, due, func(one store.DueAdAccount) string { return one.AccountID }, func(one store.DueAdAccount) error {
		if err := s.syncDue(ctx, one, &asked); err != nil {
			return fmt.Errorf("sync ad account %s of %s: %w", one.PlatformID, one.ChannelID, err)
		}
		return nil
	})
}

func (s *Service) syncDue(ctx context.Context, due store.DueAdAccount, asked *sync.Map) error {
	mine, err := s.store.ClaimAdSync(ctx, due)
	if err != nil || !mine {
		return err
	}
	line, err := s.activated(ctx, due.AccountID, due.ChannelID)
	if err != nil {
		return ignoreAnswer(err)
	}
	if _, known := asked.LoadOrStore(due.ChannelID, true); !known {
		if _, err := s.mirrorAccess(ctx, line); err != nil {
			return ignoreAnswer(err)
		}
	}
	a, err := s.store.GetAdAccount(ctx, line.channel, due.PlatformID)
	if err != nil {
		return ignoreAnswer(err)
	}
	return ignoreAnswer(s.goOn(ctx, line, a))
}

// maxWalkAge is how old a walk may become that goes on from round to round. After it there is a new one.
const maxWalkAge = 24 * time.Hour

// goOn mirrors an ad account from where the last round stopped. What this one does not get to is left to the next.
func (s *Service) goOn(ctx context.Context, l *line, a *store.AdAccount) error {
	w := walk{began: a.SyncBegan, cursor: a.SyncCursor}
	if now := s.store.Now(); w.cursor == "" || now > w.began.Add(maxWalkAge) {
		w = walk{began: now}
	}
	whole, err := s.walk(ctx, l, a, &w, s.store.Now().Add(walkTime))
	if whole {
		return err
	}
	if err != nil && !isPassing(ctx, err) {
		w.cursor = "" // it may be the cursor that is wrong
	}
	return errors.Join(err, s.store.PauseAdSync(context.WithoutCancel(ctx), a, w.began, w.cursor))
}

// isPassing reports whether what ended a walk says nothing against going on with it later.
func isPassing(ctx context.Context, err error) bool {
	var answer *core.Error
	return ctx.Err() != nil || errors.As(err, &answer) && (answer.Code == core.CodeRateLimit || answer.Code == codeUnavailable)
}

// ignoreAnswer drops what is an answer to somebody who asks, and no fault of ours: a limit, a channel that is not
// activated any more.
func ignoreAnswer(err error) error {
	var answer *core.Error
	if errors.As(err, &answer) && answer.Code != codeUnavailable {
		return nil
	}
	return err
}

// syncAdAccount mirrors all that an ad account has as it is now, and reports whether that was all. It ends at a time.
func (s *Service) syncAdAccount(ctx context.Context, l *line, a *store.AdAccount, until core.Time) (whole bool, err error) {
	return s.walk(ctx, l, a, &walk{began: s.store.Now()}, until)
}

// walk is how far somebody is through an ad account. An empty cursor is the beginning.
type walk struct {
	began  core.Time
	cursor string
}

// walk goes on through an ad account up to a time, and reports whether it came to the end. What the network did not
// mention in the whole of it is cancelled then.
func (s *Service) walk(ctx context.Context, l *line, a *store.AdAccount, w *walk, until core.Time) (whole bool, err error) {
	for range maxStretches {
		if s.store.Now() > until {
			return false, nil
		}
		if err := s.store.Leave(ctx); err != nil {
			return false, err
		}
		asked := s.store.Now()
		batch, next, err := l.Sync(ctx, l.conn, a.PlatformID, w.cursor)
		if err != nil {
			return false, s.fault(ctx, l, "campaigns of ad account "+a.PlatformID, err)
		}
		if err := s.store.PutAdBatch(ctx, a, batch, asked); err != nil {
			return false, err
		}
		if w.cursor = next; w.cursor == "" {
			return true, s.store.FinishAdSync(ctx, a, w.began)
		}
	}
	return false, fmt.Errorf("%s does not end its list of ad account %s", l.channel.Platform, a.PlatformID)
}

// Run reconciles and mirrors until the context ends, on any number of replicas. A walk through a large ad account does
// not keep the reconciler waiting.
func (s *Service) Run(ctx context.Context) {
	var both sync.WaitGroup
	both.Go(func() { s.repeat(ctx, "reconcile ads", s.Reconcile) })
	both.Go(func() { s.repeat(ctx, "mirror ads", s.SyncDue) })
	both.Wait()
}

// interval is how often there is a look at what is due.
const interval = 5 * time.Second

func (s *Service) repeat(ctx context.Context, what string, do func(context.Context) error) {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		if err := do(ctx); err != nil && ctx.Err() == nil {
			s.log.LogAttrs(ctx, slog.LevelError, what, slog.String("error", err.Error()))
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}
