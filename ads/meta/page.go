package meta

import (
	"cmp"
	"context"
	"errors"
	"net/url"
	"slices"
	"strings"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store/advert"
)

// pageNode is a page that the channel's token can use. It has a token of its own, for what only the page may read.
type pageNode struct {
	ID, Name, Username string
	Token              ads.Secret                    `json:"access_token"`
	Instagram          struct{ ID, Username string } `json:"instagram_business_account"`
}

// page returns the page that a channel advertises: the one that the channel's PlatformID names, by its own id or that of
// its Instagram account. Without a PlatformID there must be exactly one page. Otherwise the request is rejected.
func (n *Network) page(ctx context.Context, c ads.Conn) (pageNode, error) {
	all, err := n.pages(ctx, c)
	if err != nil {
		return pageNode{}, err
	}
	var found []pageNode
	for _, p := range all {
		if c.PlatformID == "" || c.PlatformID == p.ID || c.PlatformID == p.Instagram.ID {
			found = append(found, p)
		}
	}
	if len(found) != 1 {
		return pageNode{}, &ads.Rejected{Field: "platform_id", Raw: "page",
			Message: "The channel's access must be to exactly one page, or the channel must be connected with the page's id as platform_id."}
	}
	return found[0], nil
}

// pageOf returns the page whose post is boosted; on facebook the id of the post begins with it. For anything else it is
// the channel's page.
func (n *Network) pageOf(ctx context.Context, c ads.Conn, post *advert.SocialPost) (pageNode, error) {
	if post == nil || n.caps.Platform == advert.PlatformInstagram {
		return n.page(ctx, c)
	}
	id, _, _ := strings.Cut(post.PlatformID, "_")
	return pageNode{ID: id}, nil
}

// films checks that a post shows a video, as "Video Views" wants it to. What cannot be read, Meta decides about.
func (n *Network) films(ctx context.Context, c ads.Conn, p pageNode, post string) error {
	var node struct {
		Media       string `json:"media_type"` // of Instagram
		Attachments struct {
			Data []struct {
				Media string `json:"media_type"`
			}
		}
	}
	fields := "attachments{media_type}"
	if n.caps.Platform == advert.PlatformInstagram {
		fields = "media_type"
	}
	err := n.graph.get(ctx, cmp.Or(p.Token, c.Token), place{id: post}, url.Values{"fields": {fields}}, &node)
	if errors.Is(err, ads.ErrForbidden) || errors.Is(err, ads.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	kinds := []string{node.Media}
	for _, a := range node.Attachments.Data {
		kinds = append(kinds, a.Media)
	}
	if !slices.ContainsFunc(kinds, func(kind string) bool { return strings.EqualFold(kind, "video") }) {
		return &ads.Rejected{Field: "post_id", Message: "The goal video_views needs a post with a video.", Raw: "media_type"}
	}
	return nil
}

type postNode struct {
	ID, Message, Story string
	Link               string `json:"permalink_url"`
	Picture            string `json:"full_picture"`
	Published          bool   `json:"is_published"`
	CreatedTime        string `json:"created_time"`
}

type mediaNode struct {
	ID, Caption, Permalink, Timestamp string
	URL                               string `json:"media_url"`
	Thumbnail                         string `json:"thumbnail_url"`
}

// manyPosts is how many posts are read at most. Older ones are hardly ever boosted, and a page may have any number.
const manyPosts = 500

// Posts implements ads.Network. It returns the newest posts.
func (n *Network) Posts(ctx context.Context, c ads.Conn) ([]advert.SocialPost, error) {
	ctx, cancel := n.bounded(ctx)
	defer cancel()
	p, err := n.page(ctx, c)
	if err != nil {
		return nil, err
	}
	if n.caps.Platform == advert.PlatformInstagram {
		return n.media(ctx, c, p)
	}
	fields := url.Values{"fields": {"id,message,story,permalink_url,full_picture,is_published,created_time"}}
	nodes, err := newest[postNode](ctx, n.graph, p.Token, place{p.ID, "published_posts"}, fields, manyPosts)
	posts := make([]advert.SocialPost, len(nodes))
	for i, node := range nodes {
		posts[i] = node.post()
	}
	return posts, err
}

// post converts a post of a facebook page.
func (p postNode) post() advert.SocialPost {
	post := advert.SocialPost{PlatformID: p.ID, Status: advert.SocialPostDraft, Text: p.Message, LinkURL: p.Link, MediaURL: p.Picture}
	if p.Published {
		post.Status, post.PublishedAt = advert.SocialPostPublished, timeOf(p.CreatedTime)
	}
	if post.Text == "" {
		post.Text = p.Story
	}
	return post
}

// media returns the newest posts of an Instagram account.
func (n *Network) media(ctx context.Context, c ads.Conn, p pageNode) ([]advert.SocialPost, error) {
	fields := url.Values{"fields": {"id,caption,permalink,media_url,thumbnail_url,timestamp"}}
	nodes, err := newest[mediaNode](ctx, n.graph, c.Token, place{p.Instagram.ID, "media"}, fields, manyPosts)
	posts := make([]advert.SocialPost, len(nodes))
	for i, m := range nodes {
		posts[i] = advert.SocialPost{PlatformID: m.ID, Status: advert.SocialPostPublished, Text: m.Caption, LinkURL: m.Permalink,
			MediaURL: m.URL, PublishedAt: timeOf(m.Timestamp)}
		if m.Thumbnail != "" {
			posts[i].MediaURL = m.Thumbnail
		}
	}
	return posts, err
}
