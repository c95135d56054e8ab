package content

import (
	"context"
	"fmt"
	"slices"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
)

// lockBlogPost does what GetBlogPost does, and locks the row until the transaction ends.
func (s *Store) lockBlogPost(ctx context.Context, u *db.Unit, account, ref string) (*BlogPost, error) {
	return s.findBlogPost(ctx, u.Locked(), account, ref)
}

// findBlogPost reads a post with its working text by id or slug, or returns CodeMissing.
func (s *Store) findBlogPost(ctx context.Context, r db.Reader, account, ref string) (*BlogPost, error) {
	where, args := db.RefWhere(core.KindBlogPost, account, ref)
	b, err := db.Get[BlogPost](ctx, r, blogPostColumns.SelectSQL+where, args...)
	if err != nil {
		return nil, fmt.Errorf("read post: %w", err)
	}
	if b == nil {
		return nil, core.Missing("blog post", "", ref)
	}
	if b.Text, err = s.workingText(ctx, db.Unlocked(r), account, b.ID); err != nil {
		return nil, err
	}
	b.Body = b.Text.Body
	return b, nil
}

// createBlogPost checks a new post, gives it an id and a slug, and stores it with its text.
func (s *Store) createBlogPost(ctx context.Context, u *db.Unit, b *BlogPost) error {
	b.ID = core.NewID(core.KindBlogPost)
	b.Text = nil
	now, err := s.settleBlogPost(ctx, u, &BlogPost{Status: BlogPostStatusDraft}, b)
	if err != nil {
		return err
	}
	b.CreatedAt, b.UpdatedAt, b.Text.CreatedAt = now, now, now
	if b.Slug, err = u.TakeSlug(ctx, core.KindBlogPost, b.AccountID, b.ID, b.Slug, b.Title); err != nil {
		return err
	}
	if err := u.Insert(ctx, textColumns, b.Text); err != nil {
		return err
	}
	if err := s.publishBlogPost(ctx, u, b); err != nil {
		return err
	}
	b.Link(s.db)
	return u.Insert(ctx, blogPostColumns, b)
}

// changeBlogPost applies change to a locked post, checks and stores it. A change that changes nothing stores nothing.
func (s *Store) changeBlogPost(ctx context.Context, u *db.Unit, b *BlogPost, change func(*BlogPost)) error {
	before, text := *b, core.JSONText(b)
	change(b)
	if core.JSONText(b) == text {
		return nil
	}
	now, err := s.settleBlogPost(ctx, u, &before, b)
	if err != nil {
		return err
	}
	if b.Slug != before.Slug {
		if b.Slug, err = u.ChangeSlug(ctx, core.KindBlogPost, b.AccountID, b.ID, b.Slug, b.Title); err != nil {
			return err
		}
	}
	if b.Title != before.Title || b.Body != before.Body {
		if err := s.saveText(ctx, u, b.Text); err != nil {
			return err
		}
	}
	b.UpdatedAt = now
	if err := s.publishBlogPost(ctx, u, b); err != nil {
		return err
	}
	b.Link(s.db)
	return u.Update(ctx, blogPostColumns, b)
}

// settleBlogPost checks what a post has become, and sets what follows from it, its text too. It returns the account's time.
func (s *Store) settleBlogPost(ctx context.Context, u *db.Unit, before, b *BlogPost) (core.Time, error) {
	var p core.Problems
	b.check(&p)
	b.Text = b.Text.edited(&p, b.Title, b.Body)
	if err := p.Err(); err != nil {
		return 0, err
	}
	b.Text.AccountID, b.Text.ObjectID, b.ReadingMinutes = b.AccountID, b.ID, readingMinutes(b.Body)
	if b.ProductID != nil && (before.ProductID == nil || *before.ProductID != *b.ProductID) {
		product, err := s.productID(ctx, u, b.AccountID, *b.ProductID)
		if err != nil {
			return 0, err
		}
		b.ProductID = product
	}
	now, err := db.BusinessNow(ctx, u, b.AccountID)
	if err != nil {
		return 0, err
	}
	return now, b.enter(before, now)
}

// publishBlogPost keeps the text of a published post as a version, and no more than the newest.
func (s *Store) publishBlogPost(ctx context.Context, u *db.Unit, b *BlogPost) (err error) {
	if b.Status != BlogPostStatusPublished {
		return nil
	}
	last := b.Version
	if b.Version, err = s.publishText(ctx, u, b.Text, last, b.UpdatedAt); err != nil || b.Version == last {
		return err
	}
	return s.forgetTexts(ctx, u, b.AccountID, b.ID, b.Version-versionsListed)
}

// moveBlogPost changes the status of a post to to. One that has it already is returned as it is; one that is in none of the states in
// from is CodeInvalid on status.
func (s *Store) moveBlogPost(ctx context.Context, account, ref string, to BlogPostStatus, from ...BlogPostStatus) (*BlogPost, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (*BlogPost, error) {
		b, err := s.lockBlogPost(ctx, u, account, ref)
		if err != nil || b.Status == to {
			return b, err
		}
		if !slices.Contains(from, b.Status) {
			return nil, core.Invalid("status", fmt.Sprintf("A post that is %s cannot become %s this way.", b.Status, to))
		}
		return b, s.changeBlogPost(ctx, u, b, func(b *BlogPost) { b.Status = to })
	})
}

// productID returns the id of the product that ref names by id or slug, or CodeMissing on `product`.
func (s *Store) productID(ctx context.Context, u *db.Unit, account, ref string) (*string, error) {
	where, args := db.RefWhere(core.KindProduct, account, ref)
	id, err := db.Get[string](ctx, u, `SELECT id FROM products`+where, args...)
	if err == nil && id == nil {
		err = core.Missing("product", "product", ref)
	}
	return id, err
}
