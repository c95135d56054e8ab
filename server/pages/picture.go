package pages

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/tillwright/tillwright/server/caller"
	"github.com/tillwright/tillwright/server/ui"
	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/store/picture"
	"github.com/tillwright/tillwright/store/tenant"
)

// mediaTypes are those of our files by the end of their name.
var mediaTypes = map[string]string{".jpg": "image/jpeg", ".png": "image/png"}

// media serves a file of a picture. What a name stands for never changes, but it may be deleted: whoever keeps it does so for a day.
func (p *Pages) media(c echo.Context) error {
	p.private(c)
	ctx, account, name := c.Request().Context(), c.Param("account"), c.Param("file")
	kind := mediaTypes[path.Ext(name)]
	if kind == "" {
		return p.tell(c, http.StatusNotFound, missing(p.spoken(c)))
	}
	length, err := p.store.Pictures.Length(ctx, account, name)
	if err != nil {
		return err
	}
	if length == nil {
		return p.tell(c, http.StatusNotFound, missing(p.spoken(c)))
	}
	keep := func() http.Header {
		header := c.Response().Header()
		header.Set("Content-Security-Policy", "default-src 'none'; sandbox")
		header.Set("Cache-Control", "public, max-age=86400")
		header.Set("ETag", `"`+name+`"`)
		header.Del("X-Robots-Tag") // search engines may show a shop's pictures
		return header
	}
	if ui.Has(c.Request(), `"`+name+`"`) {
		keep()
		return c.NoContent(http.StatusNotModified)
	}
	if c.Request().Method == http.MethodHead {
		keep().Set(echo.HeaderContentType, kind)
		c.Response().Header().Set(echo.HeaderContentLength, fmt.Sprint(*length))
		return c.NoContent(http.StatusOK)
	}
	release, err := caller.Hold(ctx, *length)
	if err != nil {
		return err
	}
	defer release()
	file, err := p.store.Pictures.File(ctx, account, name)
	if err != nil {
		return err
	}
	if file == nil { // it was deleted meanwhile
		return p.tell(c, http.StatusNotFound, missing(p.spoken(c)))
	}
	keep().Set(echo.HeaderContentLength, fmt.Sprint(len(file)))
	return c.Blob(http.StatusOK, kind, file)
}

// pictured is the data of a page that shows pictures of products.
type pictured interface {
	// Pictured returns the ids of these products. Show is given those of their pictures that are there.
	Pictured() []string
	Show(pictures map[string]*picture.Picture)
}

// showPictures has a page of a shop show its logo, and the pictures of its products.
func (p *Pages) showPictures(ctx context.Context, shop *ui.Shop, data any) error {
	if shop == nil {
		return nil
	}
	var owners []string
	if shop.HasLogo {
		owners = append(owners, shop.ID)
	}
	products, shows := data.(pictured)
	if shows {
		owners = append(owners, products.Pictured()...)
	}
	if len(owners) == 0 {
		return nil
	}
	pictures, err := p.store.Pictures.Shown(ctx, shop.ID, owners)
	if err != nil {
		return err
	}
	if logo := pictures[shop.ID]; logo != nil {
		shop.Logo = logoOf(logo)
	}
	if shows {
		products.Show(pictures)
	}
	return nil
}

// logoHeight is how high a logo is drawn at most, in pixels of a screen that has two in the place of one.
const logoHeight = 80

// logoOf returns a logo as small as it may be without being drawn larger than it is.
func logoOf(p *picture.Picture) ui.Image {
	sizes := p.Sizes.V
	size := sizes[len(sizes)-1]
	for _, s := range sizes {
		if s.Height >= logoHeight {
			size = s
			break
		}
	}
	return imageOf(p, size)
}

// logoFor returns the logo of a seller, nil if there is none.
func (p *Pages) logoFor(ctx context.Context, seller *tenant.Account) (*picture.Picture, error) {
	if seller.LogoURL == nil {
		return nil, nil
	}
	pictures, err := p.store.Pictures.Shown(ctx, seller.ID, []string{seller.ID})
	return pictures[seller.ID], err
}

// usualWidth is how wide such a picture is for a browser that does not choose.
const usualWidth = 640

// wideImage returns the picture of a product or a post, in all widths from which a browser may choose.
func wideImage(p *picture.Picture) ui.Image {
	var usual picture.Size
	var all []string
	for _, s := range p.Sizes.V {
		if usual.Width < usualWidth {
			usual = s
		}
		all = append(all, fmt.Sprintf("%s %dw", p.Path(p.File(s)), s.Width))
	}
	shown := imageOf(p, usual)
	if len(all) > 1 {
		shown.Set = strings.Join(all[1:], ", ") // the narrowest is for lists
	}
	return shown
}

func imageOf(p *picture.Picture, s picture.Size) ui.Image {
	return ui.Image{Address: p.Path(p.File(s)), Width: s.Width, Height: s.Height}
}

// hasPicture reports whether the seller gave an address of a picture of the product.
func hasPicture(product *catalog.Product) bool {
	return product.CoverURL != nil || len(product.Images.V) > 0
}

// Pictured returns the products of the checkout that have a picture.
func (p checkoutPage) Pictured() []string {
	var products []string
	for i := range p.Items {
		if p.Items[i].isPictured {
			products = append(products, *p.Items[i].ProductID)
		}
	}
	return products
}

// Show takes the pictures of the products. The first of them is shown with the page's address, too.
func (p *checkoutPage) Show(pictures map[string]*picture.Picture) {
	for i := range p.Items {
		if !p.Items[i].isPictured || pictures[*p.Items[i].ProductID] == nil {
			continue
		}
		shown := pictures[*p.Items[i].ProductID]
		p.Items[i].Picture = wideImage(shown)
		if p.Share != nil && p.Share.Card == "" {
			p.Share.Card = shown.Path(picture.Card)
		}
	}
}

// share is what other sites show of a page whose address somebody posts there.
type share struct {
	Title, About, Seller, URL string
	Server                    string // how the addresses of this server begin
	Card                      string // the path of a picture, empty for none
}

// shareOf returns what is shown of a link.
func (p *Pages) shareOf(page *checkoutPage, link string) *share {
	s := &share{Title: page.Seller.Name, Seller: page.Seller.Name, Server: p.store.PublicURL(), URL: p.store.PublicURL() + "/buy/" + url.PathEscape(link)}
	if only := page.Only(); only != nil {
		s.Title, s.About = only.ProductName, text(only.Headline)
	}
	return s
}
