package advert

import (
	"context"
	"fmt"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
)

// SocialPostStatus says how far a post has come.
type SocialPostStatus string

// The states of a post. Only a published one can be boosted.
const (
	SocialPostPublished SocialPostStatus = "published"
	SocialPostDraft     SocialPostStatus = "draft"
)

// SocialPost mirrors a post of a channel. A driver fills in the fields from PlatformID to PublishedAt; the store fills
// in the rest.
type SocialPost struct {
	AccountID   string           `db:"account_id"`
	ID          string           `db:"id"` // spost_
	ChannelID   string           `db:"channel_id"`
	Platform    Platform         `db:"platform"`
	PlatformID  string           `db:"platform_id"`
	Status      SocialPostStatus `db:"status"`
	Text        string           `db:"text"`
	LinkURL     string           `db:"link_url"` // of the post itself
	MediaURL    string           `db:"media_url"`
	PublishedAt *core.Time       `db:"published_at"`
	CreatedAt   core.Time        `db:"created_at"`
	UpdatedAt   core.Time        `db:"updated_at"`
}

var socialPosts = mirrorOf[SocialPost]("social_posts", "account_id, channel_id, platform_id", "channel_id", "platform", "platform_id")

// PutSocialPosts stores the posts of a channel as its network listed them. A post that is stored already is updated
// under its id; one that the network did not list stays.
func (s *Store) PutSocialPosts(ctx context.Context, channel *SocialAccount, posts []SocialPost) error {
	_, err := db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (any, error) {
		rows := make([]SocialPost, 0, len(posts))
		for i := len(posts) - 1; i >= 0; i-- { // networks list the newest first
			p := posts[i]
			p.AccountID, p.ID, p.ChannelID, p.Platform = channel.AccountID, core.NewID(core.KindSocialPost), channel.ID, channel.Platform
			p.CreatedAt = s.Now()
			p.UpdatedAt = p.CreatedAt
			rows = append(rows, p)
		}
		return nil, socialPosts.upsert(ctx, s, u, onePer(rows, func(p *SocialPost) string { return p.PlatformID }))
	})
	return err
}

// onePer returns one row for each key: the last of several with the same key, at the place of the first. One statement
// cannot store a row twice.
func onePer[T any](rows []T, key func(*T) string) []T {
	places := map[string]int{}
	kept := rows[:0]
	for i := range rows {
		k := key(&rows[i])
		if place, known := places[k]; known {
			kept[place] = rows[i]
			continue
		}
		places[k] = len(kept)
		kept = append(kept, rows[i])
	}
	return kept
}

// ListSocialPosts returns a page of a channel's posts, newest first, and whether there are more.
func (s *Store) ListSocialPosts(ctx context.Context, account, channel string, p core.Page) ([]SocialPost, bool, error) {
	a, err := s.getSocialAccount(ctx, s.db, account, channel, "")
	if err != nil {
		return nil, false, err
	}
	var f db.Filter
	f.OrderedIfSet("channel_id", a.ID)
	return db.Page(ctx, s.db, socialPosts.Columns, core.KindSocialPost, account, p, &f)
}

// PublishedPost returns a published post of a channel, by our id or by the network's. If the account does not have the post, the error is CodeMissing
// on post_id. If it is of another channel or not published, it is CodeInvalid on post_id.
func (s *Store) PublishedPost(ctx context.Context, channel *SocialAccount, ref string) (*SocialPost, error) {
	where, arg := `platform_id = ?`, ref
	if id, ok := core.ParseID(core.KindSocialPost, ref); ok {
		where, arg = `id = ?`, id
	}
	// Its own channel comes first: two may show the same post.
	post, err := db.Get[SocialPost](ctx, s.db, socialPosts.SelectSQL+` WHERE account_id = ? AND `+where+`
		ORDER BY CASE channel_id WHEN ? THEN 0 ELSE 1 END, id LIMIT 1`, channel.AccountID, arg, channel.ID)
	switch {
	case err != nil:
		return nil, fmt.Errorf("read post: %w", err)
	case post == nil:
		return nil, core.Missing("post", "post_id", ref)
	case post.ChannelID != channel.ID:
		return nil, core.Invalid("post_id", "The post is on another channel. Boost it through "+post.ChannelID+".")
	case post.Status != SocialPostPublished:
		return nil, core.Invalid("post_id", "The post is "+string(post.Status)+". Only a published one can be boosted.")
	}
	return post, nil
}
