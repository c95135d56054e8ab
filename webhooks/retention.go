package webhooks

import (
	"context"
	"log/slog"
	"time"

	"github.com/tillwright/tillwright/store"
)

const (
	retainInterval = 10 * time.Minute
	retainBatch    = 1000 // rows of one transaction, small enough not to hold anybody up
)

// Retention is how long the log of deliveries reaches back.
func Retention(succeeded time.Duration) store.DeliveryRetention {
	return store.DeliveryRetention{Failed: store.FailedRetention, Succeeded: succeeded}
}

// Retain deletes what is past its retention, now and every ten minutes, until ctx ends. All replicas may run it.
func Retain(ctx context.Context, s *store.Store, keep store.DeliveryRetention, log *slog.Logger) {
	for {
		retainOnce(ctx, s, keep, log)
		select {
		case <-ctx.Done():
			return
		case <-time.After(retainInterval):
		}
	}
}

func retainOnce(ctx context.Context, s *store.Store, keep store.DeliveryRetention, log *slog.Logger) {
	for ctx.Err() == nil {
		deleted, err := s.DeleteOldDeliveries(ctx, keep, retainBatch)
		if err != nil && ctx.Err() == nil {
			log.Error("delete old deliveries", "error", err)
		}
		if err != nil || deleted == 0 {
			return
		}
	}
}
