package tiktok

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/store/core"
)

// identity is in whose name an ad speaks.
type identity struct {
	ID       string `json:"identity_id"`
	Type     string `json:"identity_type"`
	Center   string `json:"identity_authorized_bc_id"` // of an account that was added to a business center
	Name     string `json:"display_name"`
	Username string `json:"user_name"`
}

// customized is TikTok's word for an identity that is a name and a picture, without an account.
const customized = "CUSTOMIZED_USER"

// identities is a page of identities, which TikTok writes in another way than its other lists.
type identities struct {
	List []identity `json:"identity_list"`
	Info pageInfo   `json:"page_info"`
}

// fields returns the words by which an ad names its identity.
func (i identity) fields() fields {
	f := fields{"identity_id": i.ID, "identity_type": i.Type}
	if i.Center != "" {
		f["identity_authorized_bc_id"] = i.Center
	}
	return f
}

// identitiesOf returns the identities that an ad account may use.
func (d *Driver) identitiesOf(ctx context.Context, c ads.Conn, adAccount string) ([]identity, error) {
	var found []identity
	for number := 1; ; number++ {
		var p identities
		if err := d.read(ctx, c, "identity/get", fields{"advertiser_id": adAccount, "page": number, "page_size": 100}, &p); err != nil {
			return nil, err
		}
		found = append(found, p.List...)
		if number >= p.Info.Pages {
			return found, nil
		}
	}
}

// identity returns the channel's identity in an ad account. A channel that says no profile has the only one that there is.
func (d *Driver) identity(ctx context.Context, c ads.Conn, adAccount string) (identity, error) {
	found, err := d.identitiesOf(ctx, c, adAccount)
	if err != nil {
		return identity{}, err
	}
	if c.PlatformID == "" && len(found) == 1 {
		return found[0], nil
	}
	i := slices.IndexFunc(found, func(i identity) bool { return i.ID == c.PlatformID })
	if i < 0 {
		return identity{}, rejected("ad_account_id", fmt.Sprintf("The ad account %s may not speak in the name of the channel's profile. Link the two in TikTok's ads manager.", adAccount))
	}
	return found[i], nil
}

// post is a post as TikTok writes it.
type post struct {
	ID     string `json:"item_id"`
	Text   string `json:"text"`
	Status string `json:"status"`
	Video  struct {
		Poster  string `json:"poster_url"`
		Preview string `json:"preview_url"`
	} `json:"video_info"`
}

// Posts implements ads.Network. They are the videos of the channel's account, as the first of its ad accounts sees them that may use it.
// TikTok says neither when one was published nor where it stands.
func (d *Driver) Posts(ctx context.Context, c ads.Conn) ([]advert.SocialPost, error) {
	ctx, cancel := d.bound(ctx)
	defer cancel()
	accounts, err := d.advertisers(ctx, c)
	if err != nil {
		return nil, err
	}
	for _, account := range accounts {
		who, err := d.identity(ctx, c, account.ID)
		switch {
		case isRejected(err), errors.Is(err, ads.ErrForbidden), err == nil && who.Type == customized:
			continue
		case err != nil:
			return nil, err
		}
		return d.postsOf(ctx, c, account.ID, who)
	}
	return nil, nil
}

// postsOf returns the posts of an identity.
func (d *Driver) postsOf(ctx context.Context, c ads.Conn, adAccount string, who identity) ([]advert.SocialPost, error) {
	var posts []advert.SocialPost
	params := who.fields()
	params["advertiser_id"], params["count"] = adAccount, 20
	for {
		var p struct {
			List   []post `json:"video_list"`
			More   bool   `json:"has_more"`
			Cursor string `json:"cursor"`
		}
		if err := d.read(ctx, c, "identity/video/get", params, &p); err != nil {
			return nil, err
		}
		for _, w := range p.List {
			posts = append(posts, advert.SocialPost{
				PlatformID: w.ID, Status: advert.SocialPostPublished, Text: w.Text, MediaURL: w.Video.Poster, PublishedAt: (*core.Time)(nil),
			})
		}
		if !p.More || p.Cursor == "" || p.Cursor == params["cursor"] {
			return posts, nil
		}
		params["cursor"] = p.Cursor
	}
}
