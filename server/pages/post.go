package pages

import (
	"context"
	"html/template"
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/tillwright/tillwright/server/locale"
	"github.com/tillwright/tillwright/server/ui"
	"github.com/tillwright/tillwright/store/content"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/picture"
	"github.com/tillwright/tillwright/store/tenant"
)

// postPage is the data of post.html.
type postPage struct {
	Post     *content.BlogPost
	Seller   string
	Language string
	Day      string // on which it was published, where the seller is
	About    string // what search engines are told
	Cover    ui.Image
	Card     string // the address of a picture for whoever shows a link to the page, empty for none
	Colours  template.CSS
	HTML     template.HTML // of a post that is for everybody

	Gate string // who may read the text, empty if it is shown
	Buy  string // where to buy what they must have, empty if nothing sells it
}

// sitePost is a post on the page of a site.
type sitePost struct {
	Title, Excerpt, URL, Day string
	Gated                    string // for whom its text is, empty for everybody
}

// blogPost shows a published post to a visitor. A slug that it had before leads to its present one.
func (p *Pages) blogPost(c echo.Context) error {
	ctx := c.Request().Context()
	post, err := p.store.Content.VisitBlogPost(ctx, c.Param("account"), c.Param("slug"))
	if err != nil {
		return p.refuse(c, err)
	}
	c.Response().Header().Set("Cache-Control", "no-cache") // another post may take a former slug
	if post.Slug != c.Param("slug") {
		return c.Redirect(http.StatusMovedPermanently, *post.URL)
	}
	seller, err := p.store.Tenant.GetAccount(ctx, post.AccountID)
	if err != nil {
		return err
	}
	page := postPage{
		Post: post, Seller: seller.Name, Language: writesIn(seller), Colours: coloursOf(nil), About: text(post.SEODescription),
	}
	l := p.sellers(c, seller)
	if post.PublishedAt != nil {
		page.Day = l.Day(seller.Local(*post.PublishedAt))
	}
	if err := p.showCover(ctx, &page); err != nil {
		return err
	}
	if page.About == "" {
		page.About = text(post.Excerpt)
	}
	switch post.Access {
	case content.BlogPostAccessPublic:
		page.HTML = template.HTML(post.Text.HTML) // what the policy of markdown let through
	case content.BlogPostAccessCustomers:
		page.Gate = l.T("post.gate_customers", "seller", seller.Name)
	case content.BlogPostAccessProduct:
		if err := p.gate(ctx, l, &page); err != nil {
			return err
		}
	}
	out, err := p.writeStrange(l.Tag, "post.html", page)
	if err != nil {
		return err
	}
	return p.showKept(c, out, page.Colours)
}

// showCover has the page of a post show its picture, if it has one.
func (p *Pages) showCover(ctx context.Context, page *postPage) error {
	post := page.Post
	if post.CoverURL == nil {
		return nil
	}
	pictures, err := p.store.Pictures.Shown(ctx, post.AccountID, []string{post.ID})
	if found := pictures[post.ID]; found != nil {
		page.Cover, page.Card = wideImage(found), p.store.PublicURL()+found.Path(picture.Card)
	}
	return err
}

// gate says what readers of a post must have, and where to get it.
func (p *Pages) gate(ctx context.Context, l *locale.Locale, page *postPage) error {
	account, id := page.Post.AccountID, *page.Post.ProductID
	products, err := p.store.Catalog.ProductsByID(ctx, account, []string{id})
	if err != nil {
		return err
	}
	page.Gate = l.T("post.gate_buyers", "seller", page.Seller)
	offered := onSale([]string{id}, products)
	if len(offered) == 0 {
		return nil
	}
	page.Gate = l.T("post.gate_product", "product", offered[0].Name)
	links, err := p.store.Checkout.BuyURLs(ctx, account)
	if err != nil {
		return err
	}
	page.Buy = shownProduct(l, &offered[0], links).Buy
	return nil
}

// fillPosts looks up the posts that the blocks show, once for each tag.
func (p *Pages) fillPosts(ctx context.Context, l *locale.Locale, seller *tenant.Account, blocks []pageBlock) error {
	most := map[string]int{}
	for _, b := range blocks {
		if b.Type == content.SiteBlockPosts {
			most[text(b.Tag)] = max(most[text(b.Tag)], b.PostsShown())
		}
	}
	found := map[string][]sitePost{}
	for tag, limit := range most {
		posts, _, err := p.store.Content.ListBlogPosts(ctx, seller.ID, content.ListBlogPosts{
			Page: core.Page{Limit: limit}, Status: content.BlogPostStatusPublished, Tag: tag,
		})
		if err != nil {
			return err
		}
		for _, post := range posts {
			found[tag] = append(found[tag], shownPost(l, seller, &post))
		}
	}
	for i := range blocks {
		if b := &blocks[i]; b.Type == content.SiteBlockPosts {
			posts := found[text(b.Tag)]
			b.Posts = posts[:min(len(posts), b.PostsShown())]
		}
	}
	return nil
}

func shownPost(l *locale.Locale, seller *tenant.Account, post *content.BlogPost) sitePost {
	shown := sitePost{Title: post.Title, Excerpt: text(post.Excerpt), URL: *post.URL, Day: l.Day(seller.Local(*post.PublishedAt))}
	switch post.Access {
	case content.BlogPostAccessCustomers:
		shown.Gated = l.T("post.for_customers")
	case content.BlogPostAccessProduct:
		shown.Gated = l.T("post.for_buyers")
	case content.BlogPostAccessPublic:
	}
	return shown
}
