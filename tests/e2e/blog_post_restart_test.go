package e2e

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/tests/harness"
	"github.com/tillwright/tillwright/tests/harness/database"
)

// TestScheduledPosts_OfAServerThatWasOffAppearWhenItStarts lets posts fall due while no server runs, after the last one was killed. The next one publishes
// each once, as of its own time; what is not due yet waits.
func TestScheduledPosts_OfAServerThatWasOffAppearWhenItStarts(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		s := newSite(t, url)
		server := s.binary.Serve(t, "")
		c := s.client(server).SDK()
		var ids []string
		for i := range 4 {
			post, err := c.BlogPosts.Create(t.Context(), &sdk.BlogPostCreate{
				Title: fmt.Sprint("Later ", i), Body: new("b"), Status: new(sdk.BlogPostStatusScheduled), ScheduledFor: new(sdk.TimeOf(time.Now().Add(24 * time.Hour).Truncate(time.Second))),
			})
			require.NoError(t, err)
			ids = append(ids, post.ID)
		}
		server.Kill()
		db, due := harness.OpenDatabase(t, url), time.Now().Add(-time.Hour).Truncate(time.Second)
		for i, id := range ids[:3] {
			db.Must(t, fmt.Sprintf(`UPDATE blog_posts SET scheduled_for = %d WHERE id = '%s'`, due.Add(time.Duration(i)*time.Minute).UnixMicro(), id))
		}

		started := time.Now()
		server = s.binary.Serve(t, "")
		c = s.client(server).SDK()
		require.Eventually(t, func() bool { return len(db.Strings(t, `SELECT id FROM blog_posts WHERE status = 'published'`)) == 3 }, harness.Patience, 20*time.Millisecond)
		harness.Within(t, 5*time.Second, time.Since(started), "from the start until the posts appeared")
		for i, id := range ids {
			post, err := c.BlogPosts.Get(t.Context(), id)
			require.NoError(t, err)
			if i == 3 {
				assert.Equal(t, sdk.BlogPostStatusScheduled, post.Status)
				continue
			}
			assert.EqualValues(t, 1, post.Version)
			assert.Nil(t, post.ScheduledFor)
			assert.True(t, post.PublishedAt.Time().Equal(due.Add(time.Duration(i)*time.Minute)), "%s", post.PublishedAt)
		}
	})
}
