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

// TestScheduledPosts_OfThreeReplicasAppearOnce has three servers look for the same posts at the same time. Each publication is a version, so
// that a second one would show. All become due in one moment, behind the back of the servers: however long making them takes, none is due before.
func TestScheduledPosts_OfThreeReplicasAppearOnce(t *testing.T) {
	t.Parallel()
	const posts, late = 90, 2 * time.Second // each server looks once a second
	url := database.URL(t, "postgres")
	s := newSite(t, url)
	var servers []*harness.Process
	var replicas []*harness.Client
	for range 3 {
		server := s.binary.Serve(t, "")
		servers, replicas = append(servers, server), append(replicas, s.client(server))
	}
	for i := range posts {
		_, err := replicas[i%3].SDK().BlogPosts.Create(t.Context(), &sdk.BlogPostCreate{
			Title: fmt.Sprint("Later ", i), Body: new("b"), Status: new(sdk.BlogPostStatusScheduled), ScheduledFor: new(sdk.TimeOf(time.Now().Add(24 * time.Hour).Truncate(time.Second))),
		})
		require.NoError(t, err)
	}
	db, at := harness.OpenDatabase(t, url), sdk.TimeOf(time.Now().Truncate(time.Second))
	db.Must(t, fmt.Sprintf(`UPDATE blog_posts SET scheduled_for = %d`, at.Time().UnixMicro()))
	due := time.Now()
	published := func() bool {
		return len(db.Strings(t, `SELECT id FROM blog_posts WHERE status = 'published'`)) == posts
	}
	require.Eventually(t, published, harness.Patience, 20*time.Millisecond, "they do not appear")
	harness.Within(t, late, time.Since(due), "until the last of the posts appeared")
	for _, server := range servers { // whoever is at it ends it
		server.Terminate(t)
	}
	assert.Len(t, db.Strings(t, fmt.Sprintf(`SELECT id FROM blog_posts WHERE version = 1 AND scheduled_for IS NULL AND published_at = %d`, at.Time().UnixMicro())), posts)
	assert.Len(t, db.Strings(t, `SELECT object_id FROM content_texts WHERE version > 0`), posts)
}
