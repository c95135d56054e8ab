package pinterest

import (
	"context"
	"net/http"
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

type mediaSource struct {
	Type string `json:"source_type"`
	URL  string `json:"url"`
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

// Posts implements ads.Network. The posts are the channel's Pins.
func (d *Driver) Posts(ctx context.Context, c ads.Conn) ([]advert.SocialPost, error) {
	ctx, cancel := d.bound(ctx)
	defer cancel()
	pins, err := all[pin](ctx, d, c, path("pins"), nil)
	if err != nil {
		return nil, err
	}
	posts := make([]advert.SocialPost, len(pins))
	for i, w := range pins {
		posts[i] = w.post()
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
