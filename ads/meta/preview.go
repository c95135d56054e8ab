package meta

import (
	"context"
	"fmt"
	"html"
	"net/url"
	"regexp"
	"strings"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store/advert"
)

// previewFormats say where an ad is shown on its preview.
var previewFormats = map[advert.Platform]string{
	advert.PlatformFacebook: "MOBILE_FEED_STANDARD", advert.PlatformInstagram: "INSTAGRAM_STANDARD",
}

// Preview implements ads.Previewer. The page of an ad that exists is shown to those alone who have a role in its ad account. Meta does not
// say how long a page lasts.
func (n *Network) Preview(ctx context.Context, c ads.Conn, q ads.PreviewQuery) (ads.Preview, error) {
	ctx, cancel := n.bounded(ctx)
	defer cancel()
	params := url.Values{"ad_format": {previewFormats[n.caps.Platform]}}
	var at place
	if q.Ad != nil {
		at = place{q.Ad.ID, "previews"}
	} else {
		spec, err := n.specOf(ctx, c, q.Plan)
		if err != nil {
			return ads.Preview{}, err
		}
		params.Set("creative", jsonText(map[string]storySpec{"object_story_spec": spec}))
		at = place{q.Plan.AdAccount.PlatformID, "generatepreviews"}
	}
	var found page[struct{ Body string }]
	if err := n.graph.get(ctx, c.Token, at, params, &found); err != nil {
		return ads.Preview{}, err
	}
	for _, preview := range found.Data {
		if address := frameOf(preview.Body); address != "" && clean(address, c.Token) == address { // it is shown to people
			return ads.Preview{URL: address}, nil
		}
	}
	return ads.Preview{}, fmt.Errorf("%w: the preview has no page", ads.ErrUnavailable)
}

// specOf describes the post that a plan would make.
func (n *Network) specOf(ctx context.Context, c ads.Conn, plan ads.Plan) (storySpec, error) {
	p, err := n.page(ctx, c)
	if err != nil {
		return storySpec{}, err
	}
	form, err := formOf(plan)
	if err != nil {
		return storySpec{}, err
	}
	return n.spec(ctx, c, plan.Creative, nil, form, p)
}

var iframe = regexp.MustCompile(`<iframe[^>]*\ssrc="([^"]+)"`)

// frameOf returns the address of the page in an iframe, or "" if that is none of Meta's.
func frameOf(body string) string {
	found := iframe.FindStringSubmatch(body)
	if found == nil {
		return ""
	}
	address, err := url.Parse(html.UnescapeString(found[1]))
	if err != nil || address.Scheme != "https" || !strings.HasSuffix("."+address.Hostname(), ".facebook.com") {
		return ""
	}
	return address.String()
}
