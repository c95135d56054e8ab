package sandbox

import (
	"context"
	"encoding/base64"
	"fmt"
	"html/template"
	"strings"
	"time"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/store/core"
)

// previewLife is for how long a preview can be looked at on the networks that say so.
var previewLife = map[advert.Platform]time.Duration{advert.PlatformPinterest: 7 * 24 * time.Hour}

// previewPage shows a creative. Its policy lets it load images and run nothing.
var previewPage = template.Must(template.New("").Parse(`<!doctype html><meta charset="utf-8">` +
	`<meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src https: http:"><title>Preview</title>` +
	`<h1>{{.Headline}}</h1><p>{{.Body}}</p>{{with .ImageURL}}<img alt="" src="{{.}}">{{end}}` +
	`{{with .ThumbnailURL}}<img alt="" src="{{.}}">{{end}}{{with .VideoURL}}<p>{{.}}</p>{{end}}` +
	`{{range .Cards}}<h2>{{.Headline}}</h2>{{with .ImageURL}}<img alt="" src="{{.}}">{{end}}<p>{{.Description}}</p>{{end}}` +
	`<p>{{.Description}}</p><p>{{.CallToAction}} {{.LinkURL}}</p>`))

// Preview implements ads.Previewer, on the platforms whose networks do. The page is its own address, so that nothing has to be stored.
func (d *Driver) Preview(ctx context.Context, c ads.Conn, q ads.PreviewQuery) (ads.Preview, error) {
	creative, err := d.previewed(ctx, c, q)
	if err != nil {
		return ads.Preview{}, err
	}
	if len(d.Caps().Previews) == 0 {
		return ads.Preview{}, fmt.Errorf("preview on %s: %w", d.platform, ads.ErrUnsupported)
	}
	var page strings.Builder
	if err := previewPage.Execute(&page, creative); err != nil {
		return ads.Preview{}, fmt.Errorf("write a preview: %w", err)
	}
	shown := ads.Preview{URL: "data:text/html;base64," + base64.StdEncoding.EncodeToString([]byte(page.String()))}
	if life := previewLife[d.platform]; life > 0 {
		end := core.TimeOf(c.Now().Add(life))
		shown.Until = &end
	}
	if d.isBare(q) {
		shown.Lacks = []string{"body", "call_to_action", "link_url"}
	}
	return shown, nil
}

// previewed returns what an ad shows, or would show.
func (d *Driver) previewed(ctx context.Context, c ads.Conn, q ads.PreviewQuery) (advert.Creative, error) {
	if q.Ad == nil {
		_, err := d.read(ctx, c, q.Plan.AdAccount.PlatformID)
		if d.isBare(q) {
			return advert.Creative{Headline: q.Plan.Creative.Headline, ImageURL: q.Plan.Creative.ImageURL}, err
		}
		return q.Plan.Creative, err
	}
	t, err := d.adOf(ctx, c, *q.Ad)
	if err != nil {
		return advert.Creative{}, err
	}
	return t.Creative, nil
}

// isBare reports whether a preview shows an image and its headline alone, as Pinterest's does until the ad is made.
func (d *Driver) isBare(q ads.PreviewQuery) bool {
	return d.platform == advert.PlatformPinterest && q.Ad == nil
}
