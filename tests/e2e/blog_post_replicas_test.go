package e2e

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/tests/harness"
	"github.com/tillwright/tillwright/tests/harness/database"
)

// TestScheduledPosts_OfThreeReplicasAppearOnceAndInTime has three servers look for the same posts at the same time. Each publication is a version, so
// that a second one would show.
func TestScheduledPosts_OfThreeReplicasAppearOnceAndInTime(t *testing.T) {
	t.Parallel()
	const posts, late = 12, 2 * time.Second
	url := database.URL(t, "postgres")
	s := newSite(t, url)
	replicas := []*harness.Client{s.client(s.binary.Serve(t, "")), s.client(s.binary.Serve(t, "")), s.client(s.binary.Serve(t, ""))}
	at := time.Now().Add(4 * time.Second).Truncate(time.Second)
	ids := make([]string, posts)
	for i := range ids {
		made, err := replicas[i%3].SDK().BlogPosts.Create(t.Context(), &sdk.BlogPostCreate{
			Title: fmt.Sprint("Later ", i), Body: new("b"), Status: new(sdk.BlogPostStatusScheduled), ScheduledFor: new(sdk.TimeOf(at)),
		})
		require.NoError(t, err)
		ids[i] = made.ID
	}
	path := "/v1/blog_posts?status=published&limit=100"
	for len(replicas[0].Must(t, http.MethodGet, path, nil)["data"].([]any)) < posts {
		require.Less(t, time.Since(at), 30*time.Second, "they do not appear")
		time.Sleep(20 * time.Millisecond)
	}
	for i, id := range ids {
		post, err := replicas[(i+1)%3].SDK().BlogPosts.Get(t.Context(), id)
		require.NoError(t, err)
		assert.Equal(t, sdk.TimeOf(at), *post.PublishedAt)
		assert.EqualValues(t, 1, post.Version)
		published := post.UpdatedAt.Time().Sub(at)
		assert.True(t, published >= 0 && published <= late, "it appeared %s late", published)
	}
	time.Sleep(1200 * time.Millisecond) // each looks once a second: who was behind has looked by now
	db := harness.OpenDatabase(t, url)
	assert.Len(t, db.Strings(t, `SELECT id FROM blog_posts WHERE status = 'published' AND version = 1`), posts)
	assert.Len(t, db.Strings(t, `SELECT object_id FROM content_texts WHERE version > 0`), posts)
}
