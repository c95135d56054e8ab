package content

import (
	"context"
	"encoding/json"
	"fmt"
	"html"
	"regexp"
	"strings"
	"time"

	"github.com/tillwright/tillwright/store/content/markdown"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/throttle"
)

// AISiteOriginGenerated is the origin of a version that was made from a prompt.
const AISiteOriginGenerated AISiteOrigin = "generated"

// generationsAnHour is how many pages an account may have generated within an hour.
const generationsAnHour = 20

// BeginGeneration counts a page that is about to be generated for a site, commits, and returns the site. Too many in this hour
// are CodeRateLimit.
func (s *Store) BeginGeneration(ctx context.Context, account, ref string) (*AISite, error) {
	return db.Step(ctx, s.db, func(ctx context.Context, u *db.Unit) (*AISite, error) {
		a, err := s.getAISite(ctx, u, account, ref)
		if err != nil {
			return nil, err
		}
		now := s.Now().Time()
		left := now.Truncate(time.Hour).Add(time.Hour).Sub(now)
		return a, s.throttle.Count(ctx, account, func(o *throttle.Over) error {
			return &core.Error{Code: core.CodeRateLimit, Param: "prompt", After: o.Wait,
				Message: fmt.Sprintf("At most %d pages are generated within an hour. Try again in the next one.", o.Most)}
		}, throttle.Limit{Subject: "generated_pages", Most: generationsAnHour, Window: left})
	})
}

// AddGeneration stores a page that was generated for a site as its newest version, which is neither the draft nor shown. Dropped
// names what was left out of it.
func (s *Store) AddGeneration(ctx context.Context, of *AISite, prompt string, content *SiteContent, dropped []string) (*AISiteVersion, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (*AISiteVersion, error) {
		a, err := s.lockAISite(ctx, u, of.AccountID, of.ID)
		if err != nil {
			return nil, err
		}
		v, err := s.addVersion(ctx, u, a, AISiteVersion{Origin: AISiteOriginGenerated, Prompt: &prompt, Content: content, Dropped: core.JSONOf(dropped)})
		if err != nil {
			return nil, err
		}
		return v, u.Update(ctx, aiSiteColumns, a)
	})
}

// Sources are what a generated page may lead to and show.
type Sources struct {
	Links    map[string]bool // addresses
	Products map[string]bool // ids
}

const (
	droppedMost = 100 // entries that say what was left out
	droppedText = 200 // characters of one
)

// ReadGeneration reads a page that a program wrote whom nobody trusts. What is no block, or leads to what is not in the sources, is left out and
// named in dropped. Nothing is left of what is no page at all.
func ReadGeneration(text []byte, from Sources) (content *SiteContent, dropped []string) {
	drop := func(format string, args ...any) {
		if said := []rune(fmt.Sprintf(format, args...)); len(dropped) < droppedMost {
			dropped = append(dropped, string(said[:min(droppedText, len(said))]))
		}
	}
	var page struct {
		Theme  json.RawMessage   `json:"theme"`
		Blocks []json.RawMessage `json:"blocks"`
	}
	content = &SiteContent{Theme: SiteTheme{Mode: SiteModeAuto}}
	if len(text) > siteContentMax || json.Unmarshal(text, &page) != nil {
		drop("the answer, which is no page")
		return content, dropped
	}
	var p core.Problems
	if theme := readSiteTheme(&p, page.Theme); p.Err() == nil {
		content.Theme = theme
	} else {
		drop("%s: %s", p.First(), p[p.First()][0])
	}
	products, posts := 0, 0
	for i, text := range page.Blocks {
		if len(content.Blocks) == SiteBlocksMax {
			drop("blocks behind the first %d", SiteBlocksMax)
			break
		}
		var p core.Problems
		at := fmt.Sprintf("blocks.%d", i)
		b := readSiteBlock(&p, at, text)
		b.ID = "" // ours are by place
		if wrong := p.First(); wrong != "" {
			drop("%s: %s", wrong, p[wrong][0])
			continue
		}
		if !b.restrict(at, from, drop) {
			continue
		}
		if products += b.ProductsShown(); products > siteProductsMax {
			drop("%s: products behind the first %d", at, siteProductsMax)
			products -= b.ProductsShown()
			continue
		}
		if b.Type == SiteBlockPosts {
			if posts++; posts > sitePostBlocksMax {
				drop("%s: posts behind the first %d blocks", at, sitePostBlocksMax)
				continue
			}
		}
		content.Blocks = append(content.Blocks, b)
	}
	content.nameBlocks(&p)
	return content, dropped
}

// restrict leaves out of a block what is not in the sources, and reports whether anything is left.
func (b *SiteBlock) restrict(at string, from Sources, drop func(format string, args ...any)) bool {
	known := func(name string, address *string) bool {
		if address == nil || from.Links[*address] {
			return true
		}
		drop("%s.%s: %s, which is neither yours nor in the prompt", at, name, *address)
		return false
	}
	if !known("url", b.URL) {
		return false
	}
	for _, address := range addressesIn(b.Markdown) {
		if !known("markdown", &address) {
			return false
		}
	}
	if !known("image_url", b.ImageURL) {
		b.ImageURL = nil
	}
	if b.Button != nil && !known("button.url", &b.Button.URL) {
		b.Button = nil
	}
	if b.Product != nil && !from.Products[*b.Product] {
		drop("%s.product: %s, which is none of yours", at, *b.Product)
		b.Product = nil
	}
	items, products := b.Items, b.Products
	b.Items, b.Products = nil, nil
	for i, item := range items {
		if known(fmt.Sprintf("items.%d.url", i), item.URL) {
			b.Items = append(b.Items, item)
		}
	}
	for i, id := range products {
		if from.Products[id] {
			b.Products = append(b.Products, id)
		} else {
			drop("%s.products.%d: %s, which is none of yours", at, i, id)
		}
	}
	return len(b.Items) > 0 == (len(items) > 0) && len(b.Products) > 0 == (len(products) > 0)
}

var address = regexp.MustCompile(`(?:href|src)="([^"#][^"]*)"`)

// addressesIn returns where a text in Markdown leads, and whose images it shows; nil is none.
func addressesIn(text *string) []string {
	var found []string
	if text != nil {
		rendered, _ := markdown.Render(*text)
		for _, match := range address.FindAllStringSubmatch(rendered, -1) {
			found = append(found, html.UnescapeString(match[1]))
		}
	}
	return found
}

// LinksIn returns the addresses that a text names, so that a page that is made from it may lead there. A name without https://
// counts as if it had that.
func LinksIn(text string) []string {
	var found []string
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return strings.ContainsRune(" \t\r\n<>\"'`()[]{},;", r) }) {
		word = strings.TrimRight(word, ".!?:")
		switch {
		case IsSiteURL(word):
			found = append(found, word)
		case core.IsEmail(word):
			found = append(found, "mailto:"+word)
		case strings.Contains(word, ".") && isWebURL("https://"+word):
			found = append(found, "https://"+word)
		}
	}
	return found
}
