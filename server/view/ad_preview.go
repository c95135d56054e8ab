package view

import (
	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/gen/api"
)

// AdPreview renders a page that shows an ad.
func AdPreview(p *ads.Preview) api.AdPreview {
	return api.AdPreview{Object: "ad_preview", Platform: api.AdPlatform(p.Platform), HTMLURL: p.URL, ExpiresAt: atOrNull(p.Until), Warnings: list(p.Warnings)}
}
