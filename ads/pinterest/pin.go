package pinterest

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/store/core"
)

// pin is a Pin as the network writes it. Of its pictures the one that is 600 pixels wide is read.
type pin struct {
	ID          string `json:"id"`
	Title       string `json:"title"`
	Description string `json:"description"`
	Link        string `json:"link"`
	Creative    string `json:"creative_type"`
	CreatedAt   string `json:"created_at"`
	Media       struct {
		Images map[string]struct {
			URL string `json:"url"`
		} `json:"images"`
	} `json:"media"`
}

// newPin is a Pin to create.
type newPin struct {
	BoardID     string      `json:"board_id"`
	Title       string      `json:"title,omitempty"`
	Description string      `json:"description,omitempty"`
	Link        string      `json:"link,omitempty"`
	Media       mediaSource `json:"media_source"`
}

// mediaSource is where what a Pin shows comes from: an image, several, or a video that was uploaded.
type mediaSource struct {
	Type       string      `json:"source_type"`
	URL        string      `json:"url,omitempty"`
	Items      []imageItem `json:"items,omitempty"`
	MediaID    string      `json:"media_id,omitempty"`
	Cover      string      `json:"cover_image_url,omitempty"`
	CoverFrame *int        `json:"cover_image_key_frame_time,omitempty"` // in seconds
}

// imageItem is one of the images of a carousel.
type imageItem struct {
	Title       string `json:"title,omitempty"`
	Description string `json:"description,omitempty"`
	Link        string `json:"link,omitempty"`
	URL         string `json:"url"`
}

// board is a board as the network writes it.
type board struct {
	ID        string `json:"id"`
	IsAdsOnly bool   `json:"is_ads_only"`
}

// newBoard is a board to create. The network gives a board for ads only its own name.
type newBoard struct {
	Name      string `json:"name"`
	IsAdsOnly bool   `json:"is_ads_only"`
}

// creative returns the kind of creative that an ad with this Pin has to name.
func (w pin) creative() string {
	if w.Creative == "" {
		return "REGULAR"
	}
	return w.Creative
}

// Posts implements ads.Network. The posts are the channel's Pins, and those of the owners of ad accounts that are shared with it.
func (d *Driver) Posts(ctx context.Context, c ads.Conn) ([]advert.SocialPost, error) {
	ctx, cancel := d.bound(ctx)
	defer cancel()
	pins, err := all[pin](ctx, d, c, path("pins"), nil)
	if err != nil {
		return nil, err
	}
	accounts, err := all[account](ctx, d, c, path("ad_accounts"), nil)
	if err != nil {
		return nil, err
	}
	for _, a := range accounts {
		if d.unusable(a) != "" || len(c.AdAccounts) > 0 && !slices.Contains(c.AdAccounts, a.ID) {
			continue
		}
		shared, err := all[pin](ctx, d, c, path("pins"), ownerOf(a.ID))
		if err != nil {
			return nil, err
		}
		pins = append(pins, shared...)
	}
	var posts []advert.SocialPost
	known := map[string]bool{}
	for _, w := range pins {
		if !known[w.ID] {
			known[w.ID], posts = true, append(posts, w.post())
		}
	}
	return posts, nil
}

// post converts a Pin. Every Pin that the network lists is published.
func (w pin) post() advert.SocialPost {
	post := advert.SocialPost{
		PlatformID: w.ID, Status: advert.SocialPostPublished, Text: strings.TrimSpace(w.Title + "\n\n" + w.Description),
		LinkURL: w.Link, MediaURL: w.Media.Images["600x"].URL,
	}
	if at, err := time.Parse("2006-01-02T15:04:05", strings.TrimSuffix(w.CreatedAt, "Z")); err == nil {
		published := core.TimeOf(at)
		post.PublishedAt = &published
	}
	return post
}

// adsBoard returns the board for ads only of the ad account's owner. If there is none, it is made.
func (d *Driver) adsBoard(ctx context.Context, c ads.Conn, adAccount string) (string, error) {
	id := ""
	err := walk(ctx, d, c, path("boards"), ownerOf(adAccount), func(boards []board) bool {
		for _, b := range boards {
			if b.IsAdsOnly {
				id = b.ID
			}
		}
		return id == ""
	})
	if err != nil || id != "" {
		return id, err
	}
	var made board
	r := request{http.MethodPost, path("boards"), ownerOf(adAccount), newBoard{Name: "Ad-only Pins", IsAdsOnly: true}}
	err = d.write(ctx, c, r, &made)
	return made.ID, err
}
