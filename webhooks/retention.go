package webhooks

import (
	"context"
	"log/slog"
	"time"

	"github.com/tillwright/tillwright/store/outbox"
)

const (
	retainInterval = 10 * time.Minute
	retainBatch    = 1000 // rows of one transaction, small enough not to hold anybody up
)

// Retention returns how long finished deliveries are kept. succeeded is the time for those that succeeded.
func Retention(succeeded time.Duration) outbox.DeliveryRetention {
	return outbox.DeliveryRetention{Failed: outbox.FailedRetention, Succeeded: succeeded}
}

// Retain deletes what is past its retention, at once and then every ten minutes, until ctx ends. Any number of replicas
// may run it.
func Retain(ctx context.Context, s *outbox.Store, keep outbox.DeliveryRetention, log *slog.Logger) {
	for {
		retainOnce(ctx, s, keep, log)
		select {
		case <-ctx.Done():
			return
		case <-time.After(retainInterval):
		}
	}
}

// retainOnce deletes in batches until nothing is left to delete.
func retainOnce(ctx context.Context, s *outbox.Store, keep outbox.DeliveryRetention, log *slog.Logger) {
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
