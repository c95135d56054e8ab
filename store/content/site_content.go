package content

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/tillwright/tillwright/store/core"
)

// The limits of a site's content: in bytes of JSON, and in blocks.
const (
	siteContentMax = 256 << 10
	SiteBlocksMax  = 100
)

// SiteContent is what a site shows: its looks, and blocks from top to bottom. All texts but Markdown are plain, and none is ever run.
type SiteContent struct {
	Theme  SiteTheme   `json:"theme"`
	Blocks []SiteBlock `json:"blocks"`
}

// SiteTheme is how a site looks.
type SiteTheme struct {
	Accent *string `json:"accent"` // #rrggbb
	Mode   string  `json:"mode"`   // light, dark, or auto: as the visitor's device is
}

// The modes of a theme.
const (
	SiteModeAuto  = "auto"
	SiteModeLight = "light"
	SiteModeDark  = "dark"
)

var accentPattern = regexp.MustCompile(`^#[0-9a-f]{6}$`)

// readSiteContent reads content that somebody sent, and returns it in its normal form: every block has an id, every theme a
// mode. What it cannot be is CodeInvalid with the path of each fault, such as content.blocks.2.url.
func readSiteContent(text []byte) (*SiteContent, error) {
	var p core.Problems
	if len(text) > siteContentMax {
		return nil, core.Invalid("content", "Content has at most 256 KiB of JSON.")
	}
	var sent struct {
		Theme  json.RawMessage   `json:"theme"`
		Blocks []json.RawMessage `json:"blocks"`
	}
	fields := map[string]json.RawMessage{}
	if json.Unmarshal(text, &fields) != nil || json.Unmarshal(text, &sent) != nil {
		return nil, core.Invalid("content", "Send an object with blocks.")
	}
	refuseOthers(&p, "content", fields, "theme", "blocks")
	if len(sent.Blocks) > SiteBlocksMax {
		return nil, core.Invalid("content.blocks", fmt.Sprintf("A site has at most %d blocks.", SiteBlocksMax))
	}
	content := &SiteContent{Theme: readSiteTheme(&p, sent.Theme), Blocks: make([]SiteBlock, 0, len(sent.Blocks))}
	products, posts := 0, 0
	for i, text := range sent.Blocks {
		at := fmt.Sprintf("content.blocks.%d", i)
		b := readSiteBlock(&p, at, text)
		products += b.ProductsShown()
		p.Check(b.ProductsShown() == 0 || products <= siteProductsMax, at+".limit", fmt.Sprintf("A page shows at most %d products. Send lower limits, or fewer blocks of products.", siteProductsMax))
		if b.Type == SiteBlockPosts {
			posts++
			p.Check(posts <= sitePostBlocksMax, at+".type", fmt.Sprintf("A page has at most %d blocks of posts.", sitePostBlocksMax))
		}
		content.Blocks = append(content.Blocks, b)
	}
	content.nameBlocks(&p)
	return content, p.Err()
}

// readSiteTheme reads a theme; none at all is one in the mode auto.
func readSiteTheme(p *core.Problems, text json.RawMessage) SiteTheme {
	theme := SiteTheme{Mode: SiteModeAuto}
	if len(text) == 0 {
		return theme
	}
	fields := map[string]json.RawMessage{}
	if json.Unmarshal(text, &fields) != nil || json.Unmarshal(text, &theme) != nil {
		p.Add("content.theme", "Send an object with accent and mode.")
		return theme
	}
	refuseOthers(p, "content.theme", fields, "accent", "mode")
	p.Check(theme.Accent == nil || accentPattern.MatchString(*theme.Accent), "content.theme.accent", "Send a colour such as #1a73e8.")
	p.Check(slices.Contains([]string{SiteModeAuto, SiteModeLight, SiteModeDark}, theme.Mode), "content.theme.mode", "Send auto, light or dark.")
	return theme
}

// refuseOthers adds a problem for each field that is not one of those that there are.
func refuseOthers(p *core.Problems, at string, fields map[string]json.RawMessage, known ...string) {
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		p.Check(slices.Contains(known, name), at+"."+shown(name), "There is no such field here. Send "+strings.Join(known, ", ")+" alone.")
	}
}

// shown returns as much of a name that somebody made up as an error repeats.
func shown(name string) string { return string([]rune(name)[:min(len([]rune(name)), 40)]) }

var blockID = regexp.MustCompile(`^[A-Za-z0-9_-]{1,40}$`)

// nameBlocks gives each block without an id one by its place, and refuses an id that another block has.
func (c *SiteContent) nameBlocks(p *core.Problems) {
	taken := map[string]bool{}
	for i := range c.Blocks {
		id, at := c.Blocks[i].ID, fmt.Sprintf("content.blocks.%d.id", i)
		if id == "" {
			continue
		}
		p.Check(blockID.MatchString(id), at, "An id has 1 to 40 letters, digits, hyphens or underscores.")
		p.Check(!taken[id], at, "Another block has this id.")
		taken[id] = true
	}
	for i := range c.Blocks {
		for number := i + 1; c.Blocks[i].ID == ""; number += len(c.Blocks) {
			if id := fmt.Sprintf("block-%d", number); !taken[id] {
				c.Blocks[i].ID, taken[id] = id, true
			}
		}
	}
}

// products returns the ids of products that the blocks name, each with the path of the field.
func (c *SiteContent) products() map[string]string {
	named := map[string]string{}
	for i, b := range c.Blocks {
		for k, id := range b.Products {
			named[fmt.Sprintf("content.blocks.%d.products.%d", i, k)] = id
		}
		if b.Product != nil {
			named[fmt.Sprintf("content.blocks.%d.product", i)] = *b.Product
		}
	}
	return named
}

// isNull reports whether JSON that was sent is null.
func isNull(text json.RawMessage) bool { return bytes.Equal(bytes.TrimSpace(text), []byte("null")) }
