package pages

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"html/template"
	"net/http"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/tillwright/tillwright/server/caller"
	"github.com/tillwright/tillwright/server/locale"
	"github.com/tillwright/tillwright/server/ui"
	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/store/content"
	"github.com/tillwright/tillwright/store/content/markdown"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/picture"
	"github.com/tillwright/tillwright/store/tenant"
)

// sitePolicy is what a site's page may do besides what its styles say: show images, and send visitors elsewhere by links. What
// sellers write is text to it; if it were not, the sandbox would still run no script and give it no origin.
const sitePolicy = "default-src 'none'; img-src 'self' https: " + ui.FaviconPolicy + "; form-action 'self'; frame-ancestors 'none'; base-uri 'none'; sandbox allow-forms allow-popups allow-popups-to-escape-sandbox allow-top-navigation-by-user-activation; style-src "

// sitePage is the data of site.html, and all of it that the page is made of but the HTML of its texts.
type sitePage struct {
	Name     string
	Type     content.AISiteType
	Language string // the tag of the seller's, which the texts are in
	Said     string // that of the language of what is ours
	Mode     string
	Colours  template.CSS // the accent, in a style of its own
	About    string
	Picture  string // that is shown with a link to the page, empty for none
	URL      string
	Logo     ui.Image // of who sells, on a page without content
	Blocks   []pageBlock
	Spoken   string // the tag of the language of its forms: English if it has none
	Preview  bool
}

// pageBlock is a block of a site as its page shows it.
type pageBlock struct {
	content.SiteBlock
	Shown []siteProduct // of a block of products
	Posts []sitePost    // of a block of posts
	Form  *leadForm     // of a block that is a form
	Host  string        // of a video
	Day   string        // on which a countdown ends, where the seller is
	HTML  template.HTML // of a text, once the page is made: what the policy of markdown lets through. Of a form: in the language of its visitor
}

// siteProduct is a product on the page of a site.
type siteProduct struct {
	Name, Headline, Price string
	Cover                 string // the path of its picture, "" if there is none
	Buy                   string // the address of a checkout link, "" if none sells it

	id string // where its picture is looked up, "" if its seller gave none
}

// site shows a live site to a visitor.
func (p *Pages) site(c echo.Context) error {
	page, err := p.store.Content.VisitSite(c.Request().Context(), c.Param("subdomain"))
	if err != nil {
		return p.refuse(c, err)
	}
	return p.showSite(c, page, false)
}

// sitePreview shows a version of a site to whoever has its address.
func (p *Pages) sitePreview(c echo.Context) error {
	page, expired, err := p.store.Content.OpenPreview(c.Request().Context(), c.Param("token"))
	if err != nil {
		return p.refuse(c, err)
	}
	if expired {
		seller, err := p.store.Tenant.GetAccount(c.Request().Context(), page.Site.AccountID)
		if err != nil {
			return err
		}
		l := p.sellers(c, seller)
		c.Set(spokenKey, l)
		return p.tell(c, http.StatusGone, said(l, "message.preview_over"))
	}
	p.private(c)
	return p.showSite(c, page, true)
}

// showSite answers with the page of a site. A preview is kept out of caches and search engines.
func (p *Pages) showSite(c echo.Context, of *content.SitePage, preview bool) error {
	ctx := c.Request().Context()
	seller, err := p.store.Tenant.GetAccount(ctx, of.Site.AccountID)
	if err != nil {
		return err
	}
	l := p.sellers(c, seller)
	shown, card, drawn := of.Content, "", ui.Image{}
	if shown == nil {
		logo, err := p.logoFor(ctx, seller)
		if err != nil {
			return err
		}
		shown = composed(l, seller)
		if logo != nil {
			drawn = lowImage(wideImage(logo))
			card = p.store.PublicURL() + logo.Path(picture.Card)
		}
	}
	page := sitePage{
		Name: of.Site.Name, Type: of.Site.Type, Language: writesIn(seller), Said: l.Tag, Mode: shown.Theme.Mode, Colours: coloursOf(shown.Theme.Accent), Blocks: visible(l, seller, shown.Blocks), Preview: preview,
		URL: of.Site.URL, Logo: drawn, Spoken: locale.English.Tag,
	}
	page.About, page.Picture = page.about()
	page.Picture = cmp.Or(page.Picture, card)
	if err := p.fillProducts(ctx, l, seller.ID, page.Blocks); err != nil {
		return err
	}
	if err := p.fillPosts(ctx, l, seller, page.Blocks); err != nil {
		return err
	}
	asks := slices.ContainsFunc(page.Blocks, func(b pageBlock) bool { return b.Type == content.SiteBlockLeadForm })
	if asks {
		page.Spoken = p.speak(c, nil, seller.Locale).Tag
		c.Response().Header().Add(echo.HeaderVary, "Accept-Language")
		if err := p.fillForms(c, seller, of.Site, page.Blocks, preview); err != nil {
			return err
		}
	}
	text, err := p.sites.get(ctx, newAsker(seller.ID, caller.Address(ctx)), page)
	if errors.Is(err, errBusy) {
		return p.busy(c)
	}
	if err != nil {
		return err
	}
	if text, err = p.withToken(ctx, seller.ID, page.Blocks, text, c.QueryParams()); err != nil {
		return err
	}
	if !preview {
		c.Response().Header().Set("Referrer-Policy", "strict-origin-when-cross-origin") // a checkout link notes where its buyers come from
		c.Response().Header().Set("Cache-Control", "no-cache")
	}
	if preview || asks { // a form is somebody's own
		return p.showStrange(c, http.StatusOK, text, page.Colours)
	}
	return p.showKept(c, text, page.Colours)
}

// showKept is showStrange of a page that is the same for everybody. Caches may keep it for a moment, and who has it already is told so.
func (p *Pages) showKept(c echo.Context, text []byte, colours template.CSS) error {
	hash := sha256.Sum256(text)
	tag := `W/"` + hex.EncodeToString(hash[:12]) + `"`
	header := c.Response().Header()
	header.Set("Cache-Control", "public, max-age=60, stale-while-revalidate=600")
	header.Set("ETag", tag)
	if ui.Has(c.Request(), tag) {
		return c.NoContent(http.StatusNotModified)
	}
	return p.showStrange(c, http.StatusOK, text, colours)
}

// showStrange answers with a page whose texts strangers have written, in the colours of a site.
func (p *Pages) showStrange(c echo.Context, status int, text []byte, colours template.CSS) error {
	header := c.Response().Header()
	header.Set("Content-Security-Policy", sitePolicy+p.siteStyle+" "+ui.HashOf([]byte(colours)))
	header.Set("X-Content-Type-Options", "nosniff")
	return ui.WriteHTML(c.Response(), c.Request(), status, text)
}

// writeSite makes the page of a site. A seller's texts can take half a second to render, for which any stranger may ask again and again.
func (p *Pages) writeSite(_ context.Context, page sitePage) ([]byte, error) {
	page.Blocks = slices.Clone(page.Blocks)
	for i := range page.Blocks {
		if b := &page.Blocks[i]; b.Markdown != nil {
			rendered, _ := markdown.Render(*b.Markdown) // it was checked when it was stored
			b.HTML = template.HTML(rendered)
		} else if b.Form != nil {
			form, err := p.writeStrange(page.Spoken, "lead-form", *b)
			if err != nil {
				return nil, err
			}
			b.HTML = template.HTML(form)
		}
	}
	return p.writeStrange(page.Said, "site.html", page)
}

// visible returns the blocks that are shown.
func visible(l *locale.Locale, seller *tenant.Account, blocks []content.SiteBlock) []pageBlock {
	var shown []pageBlock
	for _, b := range blocks {
		if b.Hidden {
			continue
		}
		block := pageBlock{SiteBlock: b, Host: videoHost(b)}
		if b.EndsAt != nil {
			block.Day = l.Day(seller.Local(*b.EndsAt))
		}
		shown = append(shown, block)
	}
	return shown
}

// videoHost returns the name of the host to whose video a block leads, "" for other blocks.
func videoHost(b content.SiteBlock) string {
	if b.Type != content.SiteBlockVideo {
		return ""
	}
	host, _, _ := strings.Cut(strings.TrimPrefix(core.Deref(b.URL), "https://"), "/")
	return strings.TrimPrefix(strings.ToLower(host), "www.")
}

// HasHeading reports whether a block is the heading of the page.
func (s sitePage) HasHeading() bool {
	return slices.ContainsFunc(s.Blocks, func(b pageBlock) bool { return b.Type == content.SiteBlockHero })
}

// about returns what search engines and those who pass on a link are told about the page, and the picture for it. Each is empty for
// none.
func (s sitePage) about() (words, picture string) {
	for _, b := range s.Blocks {
		if b.Type == content.SiteBlockHero {
			words, picture = cmp.Or(words, core.Deref(b.Text)), cmp.Or(picture, ui.Picture(b.ImageURL))
		}
	}
	return words, picture
}

// fillProducts looks up what the blocks show, however many they are, in a few questions.
func (p *Pages) fillProducts(ctx context.Context, l *locale.Locale, account string, blocks []pageBlock) error {
	var named []string
	newest := 0
	for _, b := range blocks {
		switch {
		case b.Type != content.SiteBlockProducts:
		case b.Products != nil:
			named = append(named, b.Products...)
		default:
			newest = max(newest, b.ProductsShown())
		}
	}
	if named == nil && newest == 0 {
		return nil
	}
	byID, err := p.store.Catalog.ProductsByID(ctx, account, named)
	if err != nil {
		return err
	}
	var offered []catalog.Product
	if newest > 0 {
		offered, _, err = p.store.Catalog.ListProducts(ctx, account, catalog.ListProducts{
			Page: core.Page{Limit: newest}, Status: catalog.ProductStatusActive, Visibility: catalog.ProductVisibilityPublic,
		})
		if err != nil {
			return err
		}
	}
	links, err := p.store.Checkout.BuyURLs(ctx, account)
	if err != nil {
		return err
	}
	for i := range blocks {
		b := &blocks[i]
		if b.Type != content.SiteBlockProducts {
			continue
		}
		chosen := offered
		if b.Products != nil {
			chosen = onSale(b.Products, byID)
		}
		for _, product := range chosen[:min(len(chosen), b.ProductsShown())] {
			b.Shown = append(b.Shown, shownProduct(l, &product, links))
		}
	}
	return p.fillCovers(ctx, account, blocks)
}

// fillCovers looks up the pictures of the products that are shown.
func (p *Pages) fillCovers(ctx context.Context, account string, blocks []pageBlock) error {
	var ids []string
	for _, b := range blocks {
		for _, product := range b.Shown {
			if product.id != "" && !slices.Contains(ids, product.id) {
				ids = append(ids, product.id)
			}
		}
	}
	if ids == nil {
		return nil
	}
	pictures, err := p.store.Pictures.Shown(ctx, account, ids)
	if err != nil {
		return err
	}
	for _, b := range blocks {
		for i := range b.Shown {
			if found := pictures[b.Shown[i].id]; found != nil {
				b.Shown[i].Cover = wideImage(found).Address
			}
		}
	}
	return nil
}

// onSale returns those of the named products that can be bought, in their order.
func onSale(ids []string, products map[string]*catalog.Product) []catalog.Product {
	var found []catalog.Product
	for _, id := range ids {
		if product := products[id]; product != nil && product.Status == catalog.ProductStatusActive {
			found = append(found, *product)
		}
	}
	return found
}

// shownProduct returns a product as the page shows it.
func shownProduct(l *locale.Locale, product *catalog.Product, links map[string]string) siteProduct {
	shown := siteProduct{Name: product.Name, Headline: core.Deref(product.Headline)}
	if hasPicture(product) {
		shown.id = product.ID
	}
	if product.PriceMinAmount != nil {
		shown.Price = l.Money(*product.PriceMinAmount, *product.PriceCurrency)
		if *product.PriceMaxAmount != *product.PriceMinAmount {
			shown.Price = l.T("site.from", "price", shown.Price)
		}
	}
	for _, variant := range product.PriceVariantIDs.V {
		if shown.Buy = links[variant]; shown.Buy != "" {
			break
		}
	}
	return shown
}

// mostOfHero is how high the picture of a hero is at most, in pixels, as in site.css.
const mostOfHero = 320

// lowImage returns an image that is drawn no higher than mostOfHero, as wide as it is then. Its box is as large as what is seen.
func lowImage(i ui.Image) ui.Image {
	if i.Height > mostOfHero {
		i.Width, i.Height = max(1, i.Width*mostOfHero/i.Height), mostOfHero
	}
	return i
}

// composed returns what a site without content shows: who sells, what is on sale, and what there is to read.
func composed(l *locale.Locale, seller *tenant.Account) *content.SiteContent {
	name := seller.Name
	if seller.BusinessName != nil {
		name = *seller.BusinessName
	}
	hero := content.SiteBlock{Type: content.SiteBlockHero, Heading: &name}
	page := &content.SiteContent{Theme: content.SiteTheme{Mode: content.SiteModeAuto}, Blocks: []content.SiteBlock{
		hero, {Type: content.SiteBlockProducts, Limit: new(int64(content.SiteBlockLimitMax))}, {Type: content.SiteBlockPosts},
	}}
	if seller.WebsiteURL != nil && content.IsSiteURL(*seller.WebsiteURL) {
		page.Blocks = append(page.Blocks, content.SiteBlock{Type: content.SiteBlockLinks, Items: []content.SiteItem{{Label: new(l.T("site.website")), URL: seller.WebsiteURL}}})
	}
	return page
}

// coloursOf returns the style that makes a seller's colour the accent of a page, none for none.
func coloursOf(accent *string) template.CSS { return template.CSS(ui.Accent(core.Deref(accent))) }

// href returns the address of a link as it was checked when it was stored; what a page may not lead to leads nowhere. The
// template would refuse tel:.
func href(address string) template.URL {
	if content.IsSiteURL(address) {
		return template.URL(address)
	}
	return "#"
}
