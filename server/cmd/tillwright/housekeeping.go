package main

import (
	"context"
	"log/slog"
	"time"

	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/tenant"
)

// expiredBatch is how many rows one transaction deletes at most, so that nobody has to wait for it.
const expiredBatch = 1000

// housekeep does every minute what requests leave for later: it writes when keys were last used, and deletes what has expired.
// It runs until ctx ends, and any number of replicas may run it.
func housekeep(ctx context.Context, s *store.Store, log *slog.Logger) {
	ticker := time.NewTicker(tenant.KeyUseInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		for task, run := range map[string]func(context.Context) error{
			"write last use of keys":          s.Tenant.FlushKeyUse,
			"delete expired idempotency keys": func(ctx context.Context) error { return inBatches(ctx, s.DeleteExpiredKeys) },
			"delete old provider events":      func(ctx context.Context) error { return inBatches(ctx, s.DeleteOldProviderEvents) },
			"delete old payment guards":       func(ctx context.Context) error { return inBatches(ctx, s.DeleteOldGuards) },
			"delete expired portal sessions":  func(ctx context.Context) error { return inBatches(ctx, s.DeleteExpiredPortalSessions) },
			"delete old counts of letters":    func(ctx context.Context) error { return inBatches(ctx, s.DeleteOldLetterWindows) },
			"delete old rate windows": func(ctx context.Context) error {
				_, err := s.Tenant.DeleteOldWindows(ctx)
				return err
			},
		} {
			if err := run(ctx); err != nil && ctx.Err() == nil {
				log.ErrorContext(ctx, "housekeeping", "task", task, "error", err)
			}
		}
	}
}

// inBatches calls remove until there is nothing left to delete.
func inBatches(ctx context.Context, remove func(ctx context.Context, limit int) (int64, error)) error {
	for {
		deleted, err := remove(ctx, expiredBatch)
		if err != nil || deleted < expiredBatch {
			return err
		}
	}
}
