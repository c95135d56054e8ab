package ads

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/store/core"
)

const (
	// syncInterval is how old the mirror of an ad account may become.
	syncInterval = 15 * time.Minute
	// doubtInterval is the same while it is in doubt how something in it is at the network.
	doubtInterval = time.Minute
	// syncBatch is how many ad accounts one round mirrors at most.
	syncBatch = 20
	// maxStretches is how many parts a walk reads before it gives up: a faulty network might never end its list.
	maxStretches = 10_000
)

// What one account may take of a round, so that its networks do not keep the others' waiting. Nothing of it is begun
// after tenantTime, and a walk through an ad account ends after walkTime.
const (
	tenantTime = time.Minute
	walkTime   = 5 * time.Minute
	// maxTenants is how many accounts have their turn at once.
	maxTenants = 4
)

// inTurns does what is due: for several accounts at the same time, and for each account one thing after the other.
// Nothing of an account is begun once its tenantTime is over. The errors are joined.
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

// SyncDue mirrors the ad accounts that are due. Any number of replicas may do so at the same time: each ad account is
// claimed by one of them.
func (s *Service) SyncDue(ctx context.Context) error {
	now := s.store.Now()
	due, err := s.store.DueAccounts(ctx, now.Add(-syncInterval), now.Add(-doubtInterval), syncBatch)
	if err != nil {
		return err
	}
	var asked sync.Map // channels whose ad accounts are up to date
	return inTurns(s, due, func(one advert.DueAccount) string { return one.AccountID }, func(one advert.DueAccount) error {
		if err := s.syncDue(ctx, one, &asked); err != nil {
			return fmt.Errorf("sync ad account %s of %s: %w", one.PlatformID, one.ChannelID, err)
		}
		return nil
	})
}

// syncDue claims an ad account and mirrors it. What is in doubt there stays marked if it was not seen for a reason that
// passes.
func (s *Service) syncDue(ctx context.Context, due advert.DueAccount, asked *sync.Map) error {
	mine, err := s.store.ClaimSync(ctx, due)
	if err != nil || !mine {
		return err
	}
	seen, err := s.syncClaimed(ctx, due, asked)
	if due.LookAgain && !seen && (err == nil || isPassing(ctx, err)) {
		err = errors.Join(err, s.store.LookAgain(context.WithoutCancel(ctx), due))
	}
	return ignoreAnswer(err)
}

// syncClaimed mirrors an ad account that was claimed, and reports whether it has seen all of it since. For each channel the
// list of its ad accounts is read only once in a round.
func (s *Service) syncClaimed(ctx context.Context, due advert.DueAccount, asked *sync.Map) (seen bool, err error) {
	line, err := s.activated(ctx, due.AccountID, due.ChannelID)
	if err != nil {
		return false, err
	}
	if _, known := asked.LoadOrStore(due.ChannelID, true); !known {
		if _, err := s.mirrorAccess(ctx, line); err != nil {
			return false, err
		}
	}
	a, err := s.store.GetAccount(ctx, line.channel, due.PlatformID)
	if err != nil {
		return false, err
	}
	return s.goOn(ctx, line, a)
}

// maxWalkAge is how old a walk that goes on from round to round may become. Then a new one begins.
const maxWalkAge = 24 * time.Hour

// goOn mirrors an ad account from where the last round stopped, and stores where this one stops if it does not come to
// the end. It reports whether it has seen all of the ad account by itself.
func (s *Service) goOn(ctx context.Context, l *line, a *advert.Account) (seen bool, err error) {
	w := walk{began: a.SyncBegan, cursor: a.SyncCursor}
	if now := s.store.Now(); w.cursor == "" || now > w.began.Add(maxWalkAge) {
		w = walk{began: now}
	}
	fresh := w.cursor == ""
	whole, err := s.walk(ctx, l, a, &w, s.store.Now().Add(walkTime))
	if whole {
		return fresh && err == nil, err
	}
	if err != nil && !isPassing(ctx, err) {
		w.cursor = "" // it may be the cursor that is wrong
	}
	return false, errors.Join(err, s.store.PauseSync(context.WithoutCancel(ctx), a, w.began, w.cursor))
}

// isPassing reports whether a walk that ended with an error can go on later from the same place.
func isPassing(ctx context.Context, err error) bool {
	var answer *core.Error
	return ctx.Err() != nil || errors.As(err, &answer) && (answer.Code == core.CodeRateLimit || answer.Code == codeUnavailable)
}

// ignoreAnswer drops an error that would be an answer if somebody had asked, because it is no fault of ours. Such are a
// rate limit, and a channel that is not activated any more.
func ignoreAnswer(err error) error {
	var answer *core.Error
	if errors.As(err, &answer) && answer.Code != codeUnavailable {
		return nil
	}
	return err
}

// syncAdAccount mirrors an ad account from the beginning, and reports whether it came to the end before `until`.
func (s *Service) syncAdAccount(ctx context.Context, l *line, a *advert.Account, until core.Time) (whole bool, err error) {
	return s.walk(ctx, l, a, &walk{began: s.store.Now()}, until)
}

// walk says how far a walk through an ad account has come. An empty cursor is the beginning.
type walk struct {
	began  core.Time
	cursor string
}

// walk goes on with a walk, and reports whether it came to the end before `until`. At the end, what the network did not
// mention in the whole walk is cancelled in the mirror.
func (s *Service) walk(ctx context.Context, l *line, a *advert.Account, w *walk, until core.Time) (whole bool, err error) {
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
		if err := s.store.PutBatch(ctx, a, batch, asked); err != nil {
			return false, err
		}
		if w.cursor = next; w.cursor == "" {
			return true, s.store.FinishSync(ctx, a, w.began)
		}
	}
	return false, fmt.Errorf("%s does not end its list of ad account %s", l.channel.Platform, a.PlatformID)
}

// Run does, until the context ends, what ads need somebody to do beside requests: it is what each line says. Any number of replicas may
// run it. Each has a goroutine, so that a walk through a large ad account does not keep the others waiting.
func (s *Service) Run(ctx context.Context) {
	var all sync.WaitGroup
	for i, look := range []struct {
		what string
		do   func(context.Context) error
	}{
		{"reconcile ads", s.Reconcile},
		{"mirror ads", s.SyncDue},
		{"tidy names of ads", s.TidyNames},
		{"renew the access of channels", s.RefreshDue},
		{"tell networks of conversions", s.TellConversions},
		{"fetch old figures of ads", s.FetchFigures},
		{"take who was erased out of audiences", s.EraseDue},
	} {
		all.Go(func() {
			time.Sleep(time.Duration(i) * lookPause)
			s.repeat(ctx, look.what, look.do)
		})
	}
	all.Wait()
}

// lookPause lies between the looks, so that idle ones take one connection to the database after each other instead of one each.
const lookPause = 20 * time.Millisecond

// interval is how often Run looks for what is due.
const interval = 5 * time.Second

// repeat calls do now and then every interval until the context ends, and logs its errors.
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
