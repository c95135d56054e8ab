package content

import (
	"context"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
)

// DueBlogPosts names scheduled posts whose time has come, at most limit, for PublishDueBlogPost: of an account by its own clock, or of all.
func (s *Store) DueBlogPosts(ctx context.Context, account string, limit int) ([]core.Due, error) {
	return s.db.Due(ctx, account, `SELECT account_id, id FROM blog_posts WHERE scheduled_for <= ?`, `scheduled_for`, limit)
}

// PublishDueBlogPost publishes a scheduled post whose time has come, as of that time, and reports whether it did: of all that try, one does.
func (s *Store) PublishDueBlogPost(ctx context.Context, account, id string) (bool, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (bool, error) {
		now, err := db.BusinessNow(ctx, u, account)
		if err != nil {
			return false, err
		}
		rows, err := u.Exec(ctx, `
			UPDATE blog_posts SET status = 'published', published_at = scheduled_for, scheduled_for = NULL, updated_at = ?
			WHERE account_id = ? AND id = ? AND status = 'scheduled' AND scheduled_for <= ?`, now, account, id, now)
		if err != nil || rows == 0 {
			return false, err
		}
		b, err := s.findBlogPost(ctx, u, account, id)
		if err != nil {
			return false, err
		}
		if err := s.publishBlogPost(ctx, u, b); err != nil {
			return false, err
		}
		return true, u.Update(ctx, blogPostColumns, b)
	})
}
