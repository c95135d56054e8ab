package pinterest

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"time"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store/core"
)

// previewLife is for how long a preview can be looked at: "for 7 days, after which the URL expires".
const previewLife = 7 * 24 * time.Hour

// newPreview is an ad to look at: a Pin that exists, or an image with the title below it.
type newPreview struct {
	PinID    string `json:"pin_id,omitempty"`
	ImageURL string `json:"image_url,omitempty"`
	Title    string `json:"title,omitempty"`
}

// Preview implements ads.Previewer. No Pin is made: the page of a plan shows its image and its headline.
func (d *Driver) Preview(ctx context.Context, c ads.Conn, q ads.PreviewQuery) (ads.Preview, error) {
	ctx, cancel := d.bound(ctx)
	defer cancel()
	adAccount, body := q.Plan.AdAccount.PlatformID, newPreview{ImageURL: q.Plan.Creative.ImageURL, Title: q.Plan.Creative.Headline}
	preview := ads.Preview{Lacks: []string{"body", "call_to_action", "link_url"}}
	if q.Ad != nil {
		w, err := d.adNow(ctx, c, *q.Ad)
		if err != nil {
			return ads.Preview{}, err
		}
		adAccount, body, preview.Lacks = q.Ad.AdAccount, newPreview{PinID: w.PinID}, nil
	}
	r := request{method: http.MethodPost, path: inAccount(adAccount, "ad_previews"), body: body}
	var made struct {
		URL string `json:"url"`
	}
	if err := d.write(ctx, c, r, &made); err != nil {
		return ads.Preview{}, err
	}
	if address, err := url.Parse(made.URL); err != nil || address.Scheme != "https" || address.Host == "" {
		return ads.Preview{}, failure(c, r, ads.ErrUnavailable, errors.New("the preview has no page"))
	}
	end := core.TimeOf(c.Now().Add(previewLife))
	preview.URL, preview.Until = made.URL, &end
	return preview, nil
}
