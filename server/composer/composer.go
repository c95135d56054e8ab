// Package composer makes pages of sites from what a seller asks for. It does so by rules of its own, or by a language model at
// an address that the operator names. What a model answers is data, of which only what is a page and leads nowhere else is
// kept.
package composer

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"

	"github.com/tillwright/tillwright/server/locale"
	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/store/content"
	"github.com/tillwright/tillwright/store/core"
)

// Options are what New needs. Without a URL no model is asked.
type Options struct {
	Store      *store.Store
	URL        string // of an API in the form of OpenAI's, without /chat/completions
	Key, Model string
	Log        *slog.Logger
}

// Composer makes pages.
type Composer struct {
	Options
	client *http.Client
}

// New returns a composer.
func New(o Options) *Composer { return &Composer{o, newClient()} }

// asks is how often a model is asked for a page of which something is left.
const asks = 2

// Generate makes a page for a site from a prompt, and stores it as a version that is neither the draft nor shown. It returns
// CodeInvalid on prompt if a model made no page of it, and CodeRateLimit for too many pages within an hour.
func (c *Composer) Generate(ctx context.Context, account, ref, prompt string) (*content.AISiteVersion, error) {
	a, err := c.Store.Content.BeginGeneration(ctx, account, ref)
	if err != nil {
		return nil, err
	}
	facts, err := c.factsOf(ctx, a, prompt)
	if err != nil {
		return nil, err
	}
	if content.InTx(ctx) {
		panic("composer: a model is asked inside a transaction")
	}
	page, dropped := c.pageOf(ctx, facts)
	if len(page.Blocks) == 0 {
		return nil, core.Invalid("prompt", "No page came of this prompt. Say what the page is to show, or try again later.")
	}
	return c.Store.Content.AddGeneration(ctx, a, prompt, page, dropped)
}

func (c *Composer) pageOf(ctx context.Context, f *facts) (*content.SiteContent, []string) {
	if c.URL == "" {
		return compose(f), nil
	}
	page, dropped := &content.SiteContent{}, []string(nil)
	for range asks {
		text, err := c.ask(ctx, f)
		if err != nil {
			c.Log.WarnContext(ctx, "no page was generated", "error", err)
			continue
		}
		if page, dropped = content.ReadGeneration(text, f.sources()); len(page.Blocks) > 0 {
			break
		}
	}
	return page, dropped
}

// facts are what a page may be made of: nothing about people.
type facts struct {
	Name     string        `json:"name"`
	Type     string        `json:"type"`
	Seller   string        `json:"seller"`
	Links    []string      `json:"links"` // the seller's own, and those in the prompt
	Products []productFact `json:"products"`
	Posts    []postFact    `json:"posts"`

	prompt string
	locale *locale.Locale // the seller's
}

type productFact struct {
	ID       string `json:"id"`
	Name     string `json:"name"`
	Headline string `json:"headline,omitempty"`
	Price    string `json:"price,omitempty"`
}

type postFact struct {
	Title string   `json:"title"`
	Tags  []string `json:"tags,omitempty"`
}

// productsTold is how many products a page is made of.
const productsTold = 20

// postsTold is of how many posts a page is made.
const postsTold = 10

func (c *Composer) factsOf(ctx context.Context, a *content.AISite, prompt string) (*facts, error) {
	seller, err := c.Store.Tenant.GetAccount(ctx, a.AccountID)
	if err != nil {
		return nil, err
	}
	offered, _, err := c.Store.Catalog.ListProducts(ctx, a.AccountID, catalog.ListProducts{
		Page: core.Page{Limit: productsTold}, Status: catalog.ProductStatusActive, Visibility: catalog.ProductVisibilityPublic,
	})
	if err != nil {
		return nil, err
	}
	f := &facts{Name: a.Name, Type: string(a.Type), Seller: seller.Name, Links: content.LinksIn(prompt), prompt: prompt, locale: cmp.Or(locale.Find(seller.Locale), locale.English)}
	if seller.WebsiteURL != nil && content.IsSiteURL(*seller.WebsiteURL) {
		f.Links = append(f.Links, *seller.WebsiteURL)
	}
	for _, p := range offered {
		told := productFact{ID: p.ID, Name: p.Name, Headline: core.Deref(p.Headline)}
		if p.PriceMinAmount != nil {
			told.Price = core.FormatAmount(*p.PriceMinAmount, *p.PriceCurrency)
		}
		f.Products = append(f.Products, told)
	}
	posts, _, err := c.Store.Content.ListBlogPosts(ctx, a.AccountID, content.ListBlogPosts{
		Page: core.Page{Limit: postsTold}, Status: content.BlogPostStatusPublished,
	})
	if err != nil {
		return nil, err
	}
	for _, p := range posts {
		f.Posts = append(f.Posts, postFact{p.Title, p.Tags.V})
	}
	return f, nil
}

// sources returns what a page may lead to and show.
func (f *facts) sources() content.Sources {
	s := content.Sources{Links: map[string]bool{}, Products: map[string]bool{}}
	for _, link := range f.Links {
		s.Links[link] = true
	}
	for _, p := range f.Products {
		s.Products[p.ID] = true
	}
	return s
}
