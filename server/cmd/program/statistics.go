package program

import (
	"context"
	"log/slog"
	"time"

	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/core"
)

// statisticsPause is how long keepStatistics waits between two looks. A table that is written to as fast as it can be has a few
// hundred rows more by then.
const statisticsPause = time.Second

// keepStatistics has PostgreSQL analyse tables as they grow, and at once after a restore, until ctx ends. Any number of replicas
// may run it. SQLite needs none.
func keepStatistics(ctx context.Context, s *store.Store, log *slog.Logger) {
	if s.Engine() == core.SQLite {
		return
	}
	ticker := time.NewTicker(statisticsPause)
	defer ticker.Stop()
	for {
		analyzed, denied, err := s.Analyze(ctx)
		for _, t := range analyzed {
			log.DebugContext(ctx, "analysed", "table", t.Name, "pages", t.Pages)
		}
		for _, t := range denied {
			log.WarnContext(ctx, t.Advice(), "table", t.Name, "pages", t.Pages)
		}
		if err != nil && ctx.Err() == nil {
			log.ErrorContext(ctx, "analyse tables", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}
