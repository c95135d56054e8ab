package composer

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"

	"github.com/tillwright/tillwright/store/content"
)

// accents are colours that are easy to read on.
var accents = []string{"#1a73e8", "#0b7a5c", "#a8324a", "#6b3fa0", "#b3541e", "#2f4858"}

// formWords are the words of a prompt that ask for a form.
var formWords = []string{"newsletter", "subscribe", "waitlist", "form", "contact", "leads", "signup", "sign-up"}

// postsShown is how many posts a page by rules shows.
const postsShown = 6

// compose makes a page by rules: the same of the same facts and prompt. The words of the prompt choose the mode, the colour and
// the order of products, and whether there is a form; its links become links.
func compose(f *facts) *content.SiteContent {
	words := strings.Fields(strings.ToLower(f.prompt))
	hash := fnv.New32a()
	_, _ = hash.Write([]byte(f.prompt))
	page := &content.SiteContent{Theme: content.SiteTheme{Mode: content.SiteModeAuto, Accent: &accents[int(hash.Sum32())%len(accents)]}}
	for _, mode := range []string{content.SiteModeDark, content.SiteModeLight} {
		if slices.Contains(words, mode) {
			page.Theme.Mode = mode
		}
	}
	hero := content.SiteBlock{Type: content.SiteBlockHero, Heading: new(cut(f.Name, 200))}
	products := bestFirst(f.Products, words)
	if len(products) > 0 && products[0].Headline != "" {
		hero.Text = &products[0].Headline
	}
	page.Blocks = append(page.Blocks, hero)
	if len(products) > 0 {
		b := content.SiteBlock{Type: content.SiteBlockProducts}
		for _, p := range products {
			b.Products = append(b.Products, p.ID)
		}
		page.Blocks = append(page.Blocks, b)
	}
	if len(f.Posts) > 0 {
		page.Blocks = append(page.Blocks, content.SiteBlock{Type: content.SiteBlockPosts, Limit: new(int64(postsShown))})
	}
	if slices.ContainsFunc(words, func(w string) bool { return slices.Contains(formWords, strings.Trim(w, ".,:;!?")) }) {
		page.Blocks = append(page.Blocks, content.SiteBlock{
			Type: content.SiteBlockLeadForm, Heading: new(f.locale.T("site.join")), ConsentText: new(cut(f.locale.T("site.join_consent", "seller", f.Seller), 500)),
		})
	}
	if len(f.Links) > 0 {
		b := content.SiteBlock{Type: content.SiteBlockLinks}
		for _, link := range f.Links[:min(len(f.Links), 50)] {
			b.Items = append(b.Items, content.SiteItem{Label: new(labelOf(link)), URL: &link})
		}
		page.Blocks = append(page.Blocks, b)
	}
	for i := range page.Blocks {
		page.Blocks[i].ID = fmt.Sprintf("block-%d", i+1)
	}
	return page
}

// bestFirst returns the products of which the prompt names most words first, the newest first among equals.
func bestFirst(products []productFact, words []string) []productFact {
	named := func(p productFact) int {
		return len(slices.DeleteFunc(strings.Fields(strings.ToLower(p.Name)), func(w string) bool { return !slices.Contains(words, w) }))
	}
	sorted := slices.Clone(products)
	slices.SortStableFunc(sorted, func(a, b productFact) int { return cmp.Compare(named(b), named(a)) })
	return sorted
}

// labelOf returns what a link is called: its address without what only programs need.
func labelOf(link string) string {
	for _, prefix := range []string{"https://", "mailto:", "tel:", "www."} {
		link = strings.TrimPrefix(link, prefix)
	}
	return cut(strings.TrimSuffix(link, "/"), 100)
}

// cut returns at most length characters from the beginning of a text.
func cut(text string, length int) string {
	all := []rune(text)
	return string(all[:min(len(all), length)])
}
