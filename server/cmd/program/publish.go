package program

import (
	"context"
	"log/slog"
	"time"

	"github.com/tillwright/tillwright/store/content"
)

const (
	// publishInterval is how late a scheduled post may be, if the server is not busy.
	publishInterval = time.Second

	// publishedAtOnce is how many scheduled posts a look takes at most: after a time without a server many may wait.
	publishedAtOnce = 100
)

// publishScheduled publishes posts when their time comes, until ctx ends. Any number of replicas may run it. Posts of accounts whose test
// clock is ahead are published with whatever else falls due by that clock.
func publishScheduled(ctx context.Context, s *content.Store, log *slog.Logger) {
	ticker := time.NewTicker(publishInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		if err := publishDue(ctx, s); err != nil && ctx.Err() == nil {
			log.ErrorContext(ctx, "publish scheduled posts", "error", err)
		}
	}
}

// publishDue publishes all posts that are due. One that fails does not keep the others from being published.
func publishDue(ctx context.Context, s *content.Store) (failed error) {
	for {
		due, err := s.DueBlogPosts(ctx, "", publishedAtOnce)
		if err != nil {
			return err
		}
		done := 0
		for _, d := range due {
			published, err := s.PublishDueBlogPost(ctx, d.AccountID, d.ID)
			if err != nil {
				failed = err
			}
			if published {
				done++
			}
		}
		if len(due) < publishedAtOnce || done == 0 || ctx.Err() != nil {
			return failed
		}
	}
}
