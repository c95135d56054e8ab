package program

import (
	"context"
	"encoding/json"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/content"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/tenant"
	"github.com/tillwright/tillwright/tests/harness/database"
)

// TestPublishScheduled_IsASecondLateAtMost runs on a clock that stands still while the server or its database is busy.
func TestPublishScheduled_IsASecondLateAtMost(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		synctest.Test(t, func(t *testing.T) {
			sealer, err := core.NewSealer(make([]byte, 32))
			require.NoError(t, err)
			s, err := store.Open(t.Context(), store.Options{URL: url, Sealer: sealer, Render: func(_ string, v any) ([]byte, error) { return json.Marshal(v) }})
			require.NoError(t, err)
			defer s.Close()
			require.NoError(t, s.Migrate(t.Context()))
			account, err := s.Tenant.CreateAccount(t.Context(), tenant.NewAccount{Name: "Ada's Shop", Email: "ada@example.com"})
			require.NoError(t, err)
			ctx, stop := context.WithCancel(t.Context())
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				publishScheduled(ctx, s.Content, slog.New(slog.DiscardHandler))
			}()
			for _, wait := range []time.Duration{time.Minute, 90*time.Second + 300*time.Millisecond, time.Hour + 999*time.Millisecond} {
				at := s.Now().Add(wait)
				post, err := s.Content.CreateBlogPost(t.Context(), account.ID, content.BlogPost{Title: "Later", Body: "b", Status: content.BlogPostStatusScheduled, ScheduledFor: &at})
				require.NoError(t, err)
				time.Sleep(wait - time.Millisecond)
				post, err = s.Content.GetBlogPost(t.Context(), account.ID, post.ID)
				require.NoError(t, err)
				require.Equal(t, content.BlogPostStatusScheduled, post.Status, "it is not its time yet")
				time.Sleep(publishInterval + time.Millisecond)
				post, err = s.Content.GetBlogPost(t.Context(), account.ID, post.ID)
				require.NoError(t, err)
				require.Equal(t, content.BlogPostStatusPublished, post.Status)
				require.Equal(t, at, *post.PublishedAt)
				late := post.UpdatedAt.Time().Sub(at.Time())
				require.GreaterOrEqual(t, late, time.Duration(0))
				require.LessOrEqual(t, late, publishInterval)
			}
			stop()
			<-ended
		})
	})
}
