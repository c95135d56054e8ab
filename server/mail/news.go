package mail

import (
	"cmp"
	"context"

	"github.com/tillwright/tillwright/server/locale"
	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/store/core"
)

// CreateProductNews has news sent. CodeInvalid says that the server sends no mail; the other errors are those of store.CreateProductNews.
func (p *Post) CreateProductNews(ctx context.Context, account string, in store.NewProductNews) (*store.ProductNews, error) {
	if !p.Sends() {
		return nil, core.Invalid("base", noMail)
	}
	return p.store.CreateProductNews(ctx, account, in)
}

// NewsPreview is a letter of news as it would be sent now, and how many would get it.
type NewsPreview struct {
	Letter
	Readers int64
	HasMore bool // there may be more than that
}

// PreviewNews returns news in the language of its seller, without pictures, and sends nothing. Its errors are those of store.PreviewProductNews.
func (p *Post) PreviewNews(ctx context.Context, account string, in store.NewProductNews) (*NewsPreview, error) {
	told, err := p.store.PreviewProductNews(ctx, account, in)
	if err != nil {
		return nil, err
	}
	letter, err := newsPreview(&told.LetterContent).letter(told.Seller, nil)
	return &NewsPreview{Letter: letter, Readers: told.Readers, HasMore: told.HasMore}, err
}

// SendTestNews sends news to a person of the seller's team, as PreviewNews has it and with pictures. It is counted with what the account sends by
// hand. CodeInvalid says that the server sends no mail.
func (p *Post) SendTestNews(ctx context.Context, account, to string, in store.NewProductNews) error {
	told, err := p.store.PreviewProductNews(ctx, account, in)
	if err != nil {
		return err
	}
	c := newsPreview(&told.LetterContent)
	if c.picture, err = p.picture(ctx, told.Offer); err != nil {
		return err
	}
	if !p.Sends() {
		return errNoMail
	}
	if err := p.store.Mailbox.CountLetter(ctx, account, account); err != nil {
		return err
	}
	return p.send(ctx, c.spoken, told.Seller, to, c)
}

// newsPreview returns news in the language of its seller. Nobody leaves by it.
func newsPreview(told *store.LetterContent) content {
	l := speaks(nil, told.Seller)
	c := productNews(l, told)
	c.spoken, c.leave = l, ""
	return c
}

// productNews is what a seller wrote about a product, with the product if it is on sale. It says why the reader gets it, and leads to where they end it.
func productNews(l *locale.Locale, told *store.LetterContent) content {
	seller := nameOf(told.Seller)
	c := content{
		subject: oneLine(told.News.Subject),
		opening: []string{l.T("mail.news.opening", "seller", seller, "product", oneLine(told.Product))},
		article: told.News.Body,
		leave:   told.UnsubscribeURL,
	}
	if offer := told.Offer; offer != nil {
		c.shows = oneLine(offer.Name)
		if offer.PriceMinAmount != nil {
			c.sums = []sum{{name: c.shows, amount: priceOf(l, offer)}}
		}
		if told.BuyURL != "" {
			c.actions = append(c.actions, action{l.T("mail.news.buy"), told.BuyURL, cmp.Or(oneLine(core.Deref(offer.CallToAction)), l.T("mail.news.button"))})
		}
	}
	c.actions = append(c.actions, action{l.T("mail.news.leave", "seller", seller), told.UnsubscribeURL, l.T("unsubscribe.button")})
	return c
}

// priceOf returns what a product costs, or from which price on.
func priceOf(l *locale.Locale, product *catalog.Product) string {
	price := l.Money(*product.PriceMinAmount, *product.PriceCurrency)
	if *product.PriceMaxAmount != *product.PriceMinAmount {
		price = l.T("site.from", "price", price)
	}
	return price
}

// letterPicture is how wide the picture of a product is at least in a letter, if it is: as wide as it is drawn.
const letterPicture = 320

// picture returns the picture of a product for a letter, nil if there is none.
func (p *Post) picture(ctx context.Context, product *catalog.Product) ([]byte, error) {
	if product == nil {
		return nil, nil
	}
	return p.store.Pictures.Small(ctx, product.AccountID, product.ID, letterPicture)
}
