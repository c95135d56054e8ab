package ads

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/store/core"
)

// The longest texts of every network.
const (
	maxName = 255
	maxURL  = 2048
)

// CheckName adds a problem if no network would take the name.
func CheckName(p *core.Problems, name string) {
	ok := strings.TrimSpace(name) != "" && utf8.RuneCountInString(name) <= maxName
	p.Check(ok, "name", "A name has 1 to 255 characters, not only white space.")
}

// CheckCreative adds a problem for each field of a creative that the network needs and that is missing, and for each
// that it would not take. Fields that the network has no place for are not checked: Warnings names them.
func (c Caps) CheckCreative(p *core.Problems, creative advert.Creative) {
	for _, f := range creativeFields(creative) {
		if !slices.Contains(c.Creative.Ignored, f.name) {
			c.checkCreativeField(p, f.name, f.value)
		}
	}
}

// Warnings returns a sentence for each field that was given and that the network has no place for.
func (c Caps) Warnings(creative advert.Creative) []string {
	var warnings []string
	for _, f := range creativeFields(creative) {
		if f.value != "" && slices.Contains(c.Creative.Ignored, f.name) {
			warnings = append(warnings, fmt.Sprintf("%s is not shown on %s and was not sent.", f.name, c.Platform))
		}
	}
	return warnings
}

// checkCreativeField adds what is wrong with one field of a creative to the problems.
func (c Caps) checkCreativeField(p *core.Problems, name, value string) {
	if strings.TrimSpace(value) == "" {
		p.Check(!slices.Contains(c.Creative.Required, name), name, fmt.Sprintf("An ad on %s needs %s.", c.Platform, c.described(name)))
		return
	}
	if limit, ok := c.Creative.Limits[name]; ok && utf8.RuneCountInString(value) > limit {
		p.Add(name, fmt.Sprintf("A %s on %s has at most %d characters.", name, c.Platform, limit))
	}
	switch name {
	case "call_to_action":
		p.Check(slices.Contains(c.CallsToAction, value), name,
			fmt.Sprintf("Send a call to action that %s knows: %s.", c.Platform, strings.Join(c.CallsToAction, ", ")))
	case "link_url", "image_url":
		p.Check(isWebURL(value), name, "Send a URL such as https://example.com/offer.")
	}
}

// described names a required field in a message. TikTok shows only videos, so there the field needs a word more.
func (c Caps) described(name string) string {
	if name == "image_url" && c.Platform == advert.PlatformTikTok {
		return "image_url, with the URL of a video"
	}
	return name
}

type creativeField struct{ name, value string }

func creativeFields(c advert.Creative) []creativeField {
	return []creativeField{
		{"headline", c.Headline}, {"body", c.Body}, {"call_to_action", c.CallToAction}, {"link_url", c.LinkURL}, {"image_url", c.ImageURL},
	}
}

func isWebURL(text string) bool {
	u, err := url.Parse(text)
	return err == nil && len(text) <= maxURL && (u.Scheme == "https" || u.Scheme == "http") && u.Hostname() != ""
}
