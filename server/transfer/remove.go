package transfer

import (
	"context"
	"errors"
	"time"

	"github.com/tillwright/tillwright/store/grant"
)

const (
	// removeEvery is how often is looked for what has to be removed.
	removeEvery = time.Minute
	// removeAtOnce is how many rows are looked at together.
	removeAtOnce = 100
)

// Run gives up uploads that are too old, and removes bytes that nothing names any more, until ctx ends. Any number of replicas may run it:
// removing is the same twice.
func (s *Service) Run(ctx context.Context) {
	ticker := time.NewTicker(removeEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		if err := s.Remove(ctx); err != nil && ctx.Err() == nil {
			s.log.ErrorContext(ctx, "remove bytes of files", "error", err)
		}
	}
}

// Remove does once what Run does. What cannot be removed now is due again the next time.
func (s *Service) Remove(ctx context.Context) error {
	for {
		if n, err := s.store.DropExpiredUploads(ctx, removeAtOnce); err != nil || n < removeAtOnce {
			if err != nil {
				return err
			}
			break
		}
	}
	for {
		due, err := s.store.DueRemovals(ctx, removeAtOnce)
		if err != nil {
			return err
		}
		if err := s.removeAll(ctx, due); err != nil || len(due) < removeAtOnce {
			return err
		}
	}
}

// removeAll removes what is due, and goes on past what cannot be.
func (s *Service) removeAll(ctx context.Context, due []grant.Removal) error {
	var errs []error
	for i := range due {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		err := s.bucket.Remove(ctx, due[i].Key())
		if err == nil {
			err = s.store.FinishRemoval(ctx, &due[i])
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}
