package contract

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/tests/harness"
)

// fromNow returns the moment so long from now, to the second.
func fromNow(d time.Duration) *sdk.Time {
	return new(sdk.TimeOf(time.Now().Add(d).Truncate(time.Second)))
}

// scheduled makes a post that publishes itself so long from now.
func scheduled(t *testing.T, c *sdk.Client, d time.Duration) *sdk.BlogPost {
	t.Helper()
	return post(t, c, &sdk.BlogPostCreate{Title: "Later", Body: new("b"), Status: new(sdk.BlogPostStatusScheduled), ScheduledFor: fromNow(d)})
}

func TestScheduledBlogPost_PublishesItselfAsOfItsTime(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		mine := scheduled(t, c, 2*time.Hour)
		at := *mine.ScheduledFor
		assert.Equal(t, sdk.BlogPostStatusScheduled, mine.Status, "the post")
		assert.Zero(t, mine.Version, "the post")
		assert.Nil(t, mine.PublishedAt, "the post")
		advance(t, c, time.Hour)
		if early := ok[*sdk.BlogPost](t)(c.BlogPosts.Get(background, mine.ID)); early.Status != sdk.BlogPostStatusScheduled {
			t.Errorf("an hour before its time it is %s", early.Status)
		}
		if clock := advance(t, c, 23*time.Hour); clock.Processed != 1 {
			t.Errorf("%d things were done on the way", clock.Processed)
		}
		done := ok[*sdk.BlogPost](t)(c.BlogPosts.Get(background, mine.ID))
		assert.Equal(t, sdk.BlogPostStatusPublished, done.Status, "the post")
		require.NotNil(t, done.PublishedAt, "the post")
		assert.Equal(t, at, *done.PublishedAt, "the post")
		require.Nil(t, done.ScheduledFor, "the post")
		assert.EqualValues(t, 1, done.Version, "the post")
		late := done.UpdatedAt.Time().Sub(at.Time())
		assert.False(t, late < 0, "the clock did not stop at its time: it was published")
		assert.LessOrEqual(t, late, 2*time.Minute, "the clock did not stop at its time: it was published")
	})
}

func TestScheduledBlogPost_IsMovedCalledOffAndPublishedAtOnce(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		draft := post(t, c, &sdk.BlogPostCreate{Title: "x", Body: new("b")})
		update := func(body sdk.BlogPostUpdate) (*sdk.BlogPost, error) {
			return c.BlogPosts.Update(background, draft.ID, &body)
		}
		for _, wrong := range []sdk.BlogPostUpdate{
			{Status: new(sdk.BlogPostStatusScheduled)},
			{Status: new(sdk.BlogPostStatusScheduled), ScheduledFor: sdk.Set(*fromNow(-time.Minute))},
			{ScheduledFor: sdk.Set(*fromNow(time.Hour))},
			{Status: new(sdk.BlogPostStatusPublished), ScheduledFor: sdk.Set(*fromNow(time.Hour))},
		} {
			_, err := update(wrong)
			refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "scheduled_for")
		}
		planned := ok[*sdk.BlogPost](t)(update(sdk.BlogPostUpdate{Status: new(sdk.BlogPostStatusScheduled), ScheduledFor: sdk.Set(*fromNow(time.Hour))}))
		moved := ok[*sdk.BlogPost](t)(update(sdk.BlogPostUpdate{ScheduledFor: sdk.Set(*fromNow(2 * time.Hour))}))
		if !moved.ScheduledFor.Time().After(planned.ScheduledFor.Time()) {
			t.Errorf("it is scheduled for %s", *moved.ScheduledFor)
		}
		_, err := update(sdk.BlogPostUpdate{ScheduledFor: sdk.Set(*fromNow(-time.Hour))})
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "scheduled_for")
		_, err = update(sdk.BlogPostUpdate{ScheduledFor: sdk.Null[sdk.Time]()})
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "scheduled_for")
		off := ok[*sdk.BlogPost](t)(c.BlogPosts.Unpublish(background, draft.ID))
		assert.Equal(t, sdk.BlogPostStatusDraft, off.Status, "the post")
		assert.Nil(t, off.ScheduledFor, "the post")
		ok[*sdk.BlogPost](t)(update(sdk.BlogPostUpdate{Status: new(sdk.BlogPostStatusScheduled), ScheduledFor: sdk.Set(*fromNow(time.Hour))}))
		now := ok[*sdk.BlogPost](t)(c.BlogPosts.Publish(background, draft.ID))
		assert.Equal(t, sdk.BlogPostStatusPublished, now.Status, "the post")
		require.Nil(t, now.ScheduledFor, "the post")
		assert.LessOrEqual(t, time.Since(now.PublishedAt.Time()).Abs(), time.Minute, "the post")
		advance(t, c, 3*time.Hour)
		later := ok[*sdk.BlogPost](t)(c.BlogPosts.Get(background, draft.ID))
		assert.Equal(t, *now.PublishedAt, *later.PublishedAt, "it was published")
		assert.EqualValues(t, 1, later.Version, "it was published")
	})
}
