package content

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/content/markdown"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/internal/dbtest"
	"github.com/tillwright/tillwright/tests/harness/database"
)

// TestPublishDueBlogPost_OfThreeReplicasPublishesOnce schedules posts, lets all servers be down when their times come, and then has three of
// them at it at once.
func TestPublishDueBlogPost_OfThreeReplicasPublishesOnce(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		const posts = 24
		var clock atomic.Int64
		clock.Store(time.Now().UnixMicro())
		now := func() time.Time { return time.UnixMicro(clock.Load()) }
		replicas := []*Store{New(dbtest.Open(t, url, now))}
		if replicas[0].db.Engine == core.PostgreSQL { // of an embedded database there is one
			replicas = append(replicas, New(dbtest.Open(t, url, now)), New(dbtest.Open(t, url, now)))
		}
		s, account := replicas[0], dbtest.Account(t, replicas[0].db)
		due := map[string]core.Time{}
		for i := range posts {
			at := s.Now().Add(time.Duration(i+1) * time.Second)
			b, err := s.CreateBlogPost(t.Context(), account, BlogPost{Title: fmt.Sprint(i), Body: "b", Status: BlogPostStatusScheduled, ScheduledFor: &at})
			require.NoError(t, err)
			due[b.ID] = at
		}
		early, err := s.DueBlogPosts(t.Context(), "", posts)
		require.NoError(t, err)
		require.Empty(t, early)
		for id := range due { // nobody publishes one before its time
			published, err := s.PublishDueBlogPost(t.Context(), account, id)
			require.NoError(t, err)
			require.False(t, published)
		}

		clock.Add(time.Hour.Microseconds())
		var published atomic.Int64
		var group sync.WaitGroup
		for _, replica := range replicas {
			for range 2 {
				group.Go(func() {
					found, err := replica.DueBlogPosts(context.Background(), "", posts)
					require.NoError(t, err)
					for _, d := range found {
						done, err := replica.PublishDueBlogPost(context.Background(), d.AccountID, d.ID)
						require.NoError(t, err)
						if done {
							published.Add(1)
						}
					}
				})
			}
		}
		group.Wait()
		require.EqualValues(t, posts, published.Load())
		for id, at := range due {
			b, err := s.GetBlogPost(t.Context(), account, id)
			require.NoError(t, err)
			require.Equal(t, BlogPostStatusPublished, b.Status)
			require.Equal(t, at, *b.PublishedAt)
			require.Nil(t, b.ScheduledFor)
			require.EqualValues(t, 1, b.Version)
		}
	})
}

func TestBlogPostVersions_TheNewestAreKept(t *testing.T) {
	eachCreator(t, func(t *testing.T, s *creator) {
		b, err := s.CreateBlogPost(t.Context(), s.account, BlogPost{Title: "x", Body: "0", Status: BlogPostStatusPublished})
		require.NoError(t, err)
		for i := range versionsListed + 1 {
			_, err := s.UpdateBlogPost(t.Context(), s.account, b.ID, func(b *BlogPost) { b.Body = fmt.Sprint(i + 1) })
			require.NoError(t, err)
		}
		list, more, err := s.ListBlogPostVersions(t.Context(), s.account, b.ID)
		require.NoError(t, err)
		require.False(t, more)
		require.Len(t, list, versionsListed)
		require.EqualValues(t, versionsListed+2, list[0].Version)
		require.EqualValues(t, 3, list[versionsListed-1].Version)
		_, err = s.BlogPostVersion(t.Context(), s.account, b.ID, 2)
		require.Error(t, err)
	})
}

func TestRenderStale_MakesOldHTMLAnew(t *testing.T) {
	eachCreator(t, func(t *testing.T, s *creator) {
		b, err := s.CreateBlogPost(t.Context(), s.account, BlogPost{Title: "x", Body: "*a*", Status: BlogPostStatusPublished})
		require.NoError(t, err)
		_, err = db.Tx(t.Context(), s.db, func(ctx context.Context, u *db.Unit) (int64, error) {
			return u.Exec(ctx, `UPDATE content_texts SET body_html = '<script>', made_by = ? WHERE account_id = ?`, markdown.Version-1, s.account)
		})
		require.NoError(t, err)
		rendered, err := s.RenderStale(t.Context(), 10)
		require.NoError(t, err)
		require.EqualValues(t, 2, rendered) // the working text and the version
		again, err := s.RenderStale(t.Context(), 10)
		require.NoError(t, err)
		require.Zero(t, again)
		found, err := s.GetBlogPost(t.Context(), s.account, b.ID)
		require.NoError(t, err)
		require.Equal(t, "<p><em>a</em></p>\n", found.Text.HTML)
		version, err := s.BlogPostVersion(t.Context(), s.account, b.ID, 1)
		require.NoError(t, err)
		require.Equal(t, "<p><em>a</em></p>\n", version.HTML)
	})
}
