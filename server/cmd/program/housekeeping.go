package program

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/tenant"
)

// expiredBatch is how many rows one transaction deletes at most, so that nobody has to wait for it.
const expiredBatch = 1000

// spaceBatch is how many pages of a file one transaction gives back at most, for the same reason: it moves others into their place.
const spaceBatch = 200

// renderBatch is how many texts one look for stale HTML takes.
const renderBatch = 20

// housekeep does every minute what requests leave for later, until ctx ends. Any number of replicas may run it.
func housekeep(ctx context.Context, s *store.Store, keepActivity time.Duration, log *slog.Logger) {
	ticker := time.NewTicker(tenant.KeyUseInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		if err := Housekeep(ctx, s, keepActivity); err != nil && ctx.Err() == nil {
			log.ErrorContext(ctx, "housekeeping", "error", err)
		}
	}
}

// Housekeep does once what requests leave for later. It writes when keys were last used, and deletes what has expired. It renders what is
// to be rendered anew, and makes an embedded database's file smaller. A task that fails keeps none of the others from being done.
func Housekeep(ctx context.Context, s *store.Store, keepActivity time.Duration) error {
	var errs []error
	for task, run := range map[string]func(context.Context) error{
		"write last use of keys":          s.Tenant.FlushKeyUse,
		"delete expired idempotency keys": func(ctx context.Context) error { return inBatches(ctx, expiredBatch, s.DeleteExpiredKeys) },
		"delete old provider events": func(ctx context.Context) error {
			return inBatches(ctx, expiredBatch, s.Payment.DeleteOldProviderEvents)
		},
		"delete old payment guards":      func(ctx context.Context) error { return inBatches(ctx, expiredBatch, s.Payment.DeleteOldGuards) },
		"delete expired portal sessions": func(ctx context.Context) error { return inBatches(ctx, expiredBatch, s.Portal.DeleteExpiredSessions) },
		"delete sessions that are over":  func(ctx context.Context) error { return inBatches(ctx, expiredBatch, s.Person.DeleteOver) },
		"delete expired portal links":    func(ctx context.Context) error { return inBatches(ctx, expiredBatch, s.Portal.DeleteExpiredLinks) },
		"delete counts that are over":    func(ctx context.Context) error { return inBatches(ctx, expiredBatch, s.Throttle.DeleteOver) },
		"delete counts of old servers":   func(ctx context.Context) error { return inBatches(ctx, expiredBatch, s.Throttle.DeleteFormer) },
		"delete old connections":         func(ctx context.Context) error { return inBatches(ctx, expiredBatch, s.Advert.DeleteOldConnections) },
		"delete old requests":            func(ctx context.Context) error { return inBatches(ctx, expiredBatch, s.Requests.DeleteOld) },
		"delete old activity": func(ctx context.Context) error {
			return inBatches(ctx, expiredBatch, func(ctx context.Context, limit int) (int64, error) {
				return s.Activity.DeleteOld(ctx, keepActivity, limit)
			})
		},
		"render texts anew": func(ctx context.Context) error { return inBatches(ctx, renderBatch, s.Content.RenderStale) },
		"give space back":   func(ctx context.Context) error { return inBatches(ctx, spaceBatch, s.GiveSpaceBack) },
		"delete old rate windows": func(ctx context.Context) error {
			_, err := s.Tenant.DeleteOldWindows(ctx)
			return err
		},
	} {
		if err := run(ctx); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", task, err))
		}
	}
	return errors.Join(errs...)
}

// inBatches calls remove until there is nothing left to remove. Between two calls it waits as long as one took, so that the database, and
// its disk, have half of the time for everybody else.
func inBatches(ctx context.Context, batch int, remove func(ctx context.Context, limit int) (int64, error)) error {
	for {
		begun := time.Now()
		deleted, err := remove(ctx, batch)
		if err != nil || deleted < int64(batch) {
			return err
		}
		select {
		case <-time.After(time.Since(begun)):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
