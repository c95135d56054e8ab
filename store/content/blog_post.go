package content

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
)

// BlogPostStatus says whether a post is there for its readers.
type BlogPostStatus string

// The states of a post.
const (
	BlogPostStatusDraft     BlogPostStatus = "draft"
	BlogPostStatusScheduled BlogPostStatus = "scheduled"
	BlogPostStatusPublished BlogPostStatus = "published"
	BlogPostStatusArchived  BlogPostStatus = "archived"
)

// blogPostLifecycle lists, for each state of a post, the states that may follow it.
var blogPostLifecycle = core.Lifecycle[BlogPostStatus]{
	BlogPostStatusDraft:     {BlogPostStatusScheduled, BlogPostStatusPublished, BlogPostStatusArchived},
	BlogPostStatusScheduled: {BlogPostStatusDraft, BlogPostStatusPublished, BlogPostStatusArchived},
	BlogPostStatusPublished: {BlogPostStatusDraft, BlogPostStatusArchived},
	BlogPostStatusArchived:  {BlogPostStatusDraft},
}

// BlogPostAccess says who may read a published post.
type BlogPostAccess string

// Everybody, the account's customers, or those who have a product.
const (
	BlogPostAccessPublic    BlogPostAccess = "public"
	BlogPostAccessCustomers BlogPostAccess = "customers"
	BlogPostAccessProduct   BlogPostAccess = "product"
)

// BlogPost is something to read. Without Text, as in a list, its Body is not known.
type BlogPost struct {
	AccountID      string              `db:"account_id"`
	ID             string              `db:"id"`
	Title          string              `db:"title"`
	Slug           string              `db:"slug"`
	Excerpt        *string             `db:"excerpt"`
	Body           string              // Markdown
	Text           *Text               `json:"-"` // as it is stored, with the HTML of Body
	CoverURL       *string             `db:"cover_url"`
	AuthorName     *string             `db:"author_name"`
	Tags           core.JSON[[]string] `db:"tags"`
	Status         BlogPostStatus      `db:"status"`
	ScheduledFor   *core.Time          `db:"scheduled_for"` // of a scheduled post alone
	PublishedAt    *core.Time          `db:"published_at"`  // when it was last published
	Access         BlogPostAccess      `db:"access"`
	ProductID      *string             `db:"product_id"` // which readers must have if Access says so
	SEOTitle       *string             `db:"seo_title"`
	SEODescription *string             `db:"seo_description"`
	ReadingMinutes int64               `db:"reading_minutes"`
	Version        int64               `db:"version"` // of the text that was last published, 0 if none was
	Metadata       core.Metadata       `db:"metadata"`
	CreatedAt      core.Time           `db:"created_at"`
	UpdatedAt      core.Time           `db:"updated_at"`

	URL *string `db:"-" json:"-"` // of a published post
}

// ListBlogPosts holds the filters of a list of posts. An empty one does not filter.
type ListBlogPosts struct {
	core.Page
	core.ListFilter
	Status BlogPostStatus
	Access BlogPostAccess
	Tag    string
}

var _ db.Linked = (*BlogPost)(nil)

// Link fills in the address of a published post, whenever a post is read: see db.Linked.
func (b *BlogPost) Link(d *db.DB) {
	b.URL = nil
	if b.Status == BlogPostStatusPublished {
		b.URL = new(d.Options.PublicURL + "/posts/" + strings.TrimPrefix(b.AccountID, core.KindAccount.Prefix()) + "/" + b.Slug)
	}
}

var blogPostColumns = db.ColumnsOf[BlogPost]("blog_posts")

// check notes what is wrong with the fields of a post.
func (b *BlogPost) check(p *core.Problems) {
	p.Check(strings.TrimSpace(b.Title) != "" && utf8.RuneCountInString(b.Title) <= 255, "title", "A title has 1 to 255 characters, not only white space.")
	p.Check(core.HasAtMost(b.Excerpt, 500), "excerpt", "An excerpt has at most 500 characters.")
	p.Check(b.Access != BlogPostAccessProduct || b.ProductID != nil, "product", "Send the product that readers must have.")
	for i, tag := range b.Tags.V {
		p.Check(strings.TrimSpace(tag) == tag && tag != "", fmt.Sprintf("tags.%d", i), "A tag does not begin or end with white space.")
		p.Check(!slices.Contains(b.Tags.V[:i], tag), fmt.Sprintf("tags.%d", i), "This tag stands in the list already.")
	}
	b.Metadata.Check(p)
}

// enter checks that a post which was another one before may be what it is now, and sets the times that go with its status.
func (b *BlogPost) enter(before *BlogPost, now core.Time) error {
	if err := blogPostLifecycle.Check("post", before.Status, b.Status); err != nil {
		return err
	}
	if (b.Status == BlogPostStatusScheduled || b.Status == BlogPostStatusPublished) && strings.TrimSpace(b.Body) == "" {
		return core.Invalid("body", "A post needs a body before it is published.")
	}
	moved := core.Deref(b.ScheduledFor) != core.Deref(before.ScheduledFor)
	switch {
	case b.Status != BlogPostStatusScheduled && b.ScheduledFor != nil && moved:
		return core.Invalid("scheduled_for", "Send it together with status: scheduled.")
	case b.Status != BlogPostStatusScheduled:
		b.ScheduledFor = nil
	case b.ScheduledFor == nil:
		return core.Invalid("scheduled_for", "Send when the post is to be published.")
	case *b.ScheduledFor <= now && (moved || before.Status != BlogPostStatusScheduled):
		return core.Invalid("scheduled_for", "Send a time in the future, or publish the post at once.")
	}
	if b.Status == BlogPostStatusPublished && before.Status != BlogPostStatusPublished {
		b.PublishedAt = &now
	}
	return nil
}

// GetBlogPost returns a post by its id, its slug or a slug that it had before, or CodeMissing.
func (s *Store) GetBlogPost(ctx context.Context, account, ref string) (*BlogPost, error) {
	return s.findBlogPost(ctx, s.db, account, ref)
}

// VisitBlogPost returns a published post, by its slug or one that it had before, with its text. Account is the id without its prefix. A post that
// is not published, or whose account is disabled, is CodeMissing.
func (s *Store) VisitBlogPost(ctx context.Context, account, slug string) (*BlogPost, error) {
	id, ok := core.ParseID(core.KindAccount, core.KindAccount.Prefix()+account)
	if !ok {
		return nil, core.Missing("page", "", "")
	}
	where, args := db.RefWhere(core.KindBlogPost, id, slug)
	b, err := db.Get[BlogPost](ctx, s.db, blogPostColumns.SelectSQL+where+` AND status = 'published' AND `+db.EnabledAccount, args...)
	if err != nil {
		return nil, fmt.Errorf("visit post: %w", err)
	}
	if b == nil {
		return nil, core.Missing("page", "", "")
	}
	b.Text, err = s.workingText(ctx, s.db, id, b.ID)
	return b, err
}

// BlogPostVersion returns a published version of a post, or CodeMissing.
func (s *Store) BlogPostVersion(ctx context.Context, account, ref string, version int64) (*Text, error) {
	b, err := s.GetBlogPost(ctx, account, ref)
	if err != nil {
		return nil, err
	}
	return s.version(ctx, account, b.ID, version)
}

// ListBlogPostVersions returns the newest 100 published versions of a post, newest first, and whether there are older ones.
func (s *Store) ListBlogPostVersions(ctx context.Context, account, ref string) ([]TextVersion, bool, error) {
	b, err := s.GetBlogPost(ctx, account, ref)
	if err != nil {
		return nil, false, err
	}
	return s.versions(ctx, account, b.ID)
}

// ListBlogPosts returns a page of posts without their bodies, newest first, and whether there are more.
func (s *Store) ListBlogPosts(ctx context.Context, account string, in ListBlogPosts) ([]BlogPost, bool, error) {
	var f db.Filter
	f.OrderedIfSet("status", string(in.Status))
	f.OrderedIfSet("access", string(in.Access))
	if in.Tag != "" {
		f.Entry("blog_posts", "tag", in.Tag)
	}
	f.List(s.db, "blog_posts", core.KindBlogPost, in.ListFilter, "title", "slug", "author_name")
	return db.Page(ctx, s.db, blogPostColumns, core.KindBlogPost, account, in.Page, &f)
}

// ReadBlogPosts is ListBlogPosts with their bodies.
func (s *Store) ReadBlogPosts(ctx context.Context, account string, in ListBlogPosts) (posts []BlogPost, more bool, err error) {
	if posts, more, err = s.ListBlogPosts(ctx, account, in); err != nil {
		return nil, false, err
	}
	return posts, more, readBodies(ctx, s, account, posts, func(b *BlogPost) (string, **Text, *string) { return b.ID, &b.Text, &b.Body })
}

// CreateBlogPost makes a post. Without a slug it gets one from its title. Without a status or access it is a draft for everybody.
func (s *Store) CreateBlogPost(ctx context.Context, account string, b BlogPost) (*BlogPost, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (*BlogPost, error) {
		b := b
		b.AccountID, b.Status, b.Access = account, cmp.Or(b.Status, BlogPostStatusDraft), cmp.Or(b.Access, BlogPostAccessPublic)
		return &b, s.createBlogPost(ctx, u, &b)
	})
}

// UpdateBlogPost locks the post, applies change, checks and stores it. A published post whose title or body changes gets its next version.
func (s *Store) UpdateBlogPost(ctx context.Context, account, ref string, change func(*BlogPost)) (*BlogPost, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (*BlogPost, error) {
		b, err := s.lockBlogPost(ctx, u, account, ref)
		if err != nil {
			return nil, err
		}
		return b, s.changeBlogPost(ctx, u, b, change)
	})
}

// PublishBlogPost publishes a draft or scheduled post at once.
func (s *Store) PublishBlogPost(ctx context.Context, account, ref string) (*BlogPost, error) {
	return s.moveBlogPost(ctx, account, ref, BlogPostStatusPublished, BlogPostStatusDraft, BlogPostStatusScheduled)
}

// UnpublishBlogPost makes a published or scheduled post a draft.
func (s *Store) UnpublishBlogPost(ctx context.Context, account, ref string) (*BlogPost, error) {
	return s.moveBlogPost(ctx, account, ref, BlogPostStatusDraft, BlogPostStatusPublished, BlogPostStatusScheduled)
}

// ArchiveBlogPost puts a post away.
func (s *Store) ArchiveBlogPost(ctx context.Context, account, ref string) (*BlogPost, error) {
	return s.moveBlogPost(ctx, account, ref, BlogPostStatusArchived, BlogPostStatusDraft, BlogPostStatusScheduled, BlogPostStatusPublished)
}

// UnarchiveBlogPost makes an archived post a draft.
func (s *Store) UnarchiveBlogPost(ctx context.Context, account, ref string) (*BlogPost, error) {
	return s.moveBlogPost(ctx, account, ref, BlogPostStatusDraft, BlogPostStatusArchived)
}

// DuplicateBlogPost makes a draft with the same fields, a slug of its own and no versions.
func (s *Store) DuplicateBlogPost(ctx context.Context, account, ref string) (*BlogPost, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (*BlogPost, error) {
		b, err := s.findBlogPost(ctx, u, account, ref)
		if err != nil {
			return nil, err
		}
		b.Slug, b.Status, b.ScheduledFor, b.PublishedAt, b.Version = "", BlogPostStatusDraft, nil, nil, 0
		return b, s.createBlogPost(ctx, u, b)
	})
}

// DeleteBlogPost deletes a post with its versions for good, and returns it.
func (s *Store) DeleteBlogPost(ctx context.Context, account, ref string) (*BlogPost, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (*BlogPost, error) {
		b, err := s.lockBlogPost(ctx, u, account, ref)
		if err != nil {
			return nil, err
		}
		if _, err := u.Exec(ctx, `DELETE FROM blog_posts WHERE account_id = ? AND id = ?`, account, b.ID); err != nil {
			return nil, fmt.Errorf("delete post: %w", err)
		}
		if err := s.dropTexts(ctx, u, account, b.ID); err != nil {
			return nil, err
		}
		return b, u.DropSlugs(ctx, core.KindBlogPost, account, b.ID)
	})
}
