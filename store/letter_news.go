package store

import (
	"context"

	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/customer"
)

// readNews reads news about a product for one of its readers. They are asked for again: whoever has ended the news since, or has another address, gets
// none. So does everybody once the news is canceled.
func (s *Store) readNews(ctx context.Context, l *Letter, c *LetterContent) error {
	n, err := s.GetProductNews(ctx, l.AccountID, l.ObjectID)
	if err != nil {
		return err
	}
	found, err := s.Customer.ByID(ctx, l.AccountID, []string{l.CustomerID})
	if err != nil {
		return err
	}
	if found[l.CustomerID] == nil {
		return core.Missing("customer", "", l.CustomerID)
	}
	agreed, err := s.Lead.Agreed(ctx, s.db, c.Seller, []customer.Customer{*found[l.CustomerID]})
	switch {
	case err != nil:
		return err
	case n.Status == NewsStatusCanceled:
		c.Void = "The news was canceled."
	case l.Period != newsPeriod(l.AccountID, c.Recipient):
		c.Void = "The customer has another address since the letter was written."
	case len(agreed) == 0:
		c.Void = noNews
	}
	if c.Void != "" {
		return nil
	}
	if c.UnsubscribeURL, err = s.Lead.UnsubscribeURL(l.AccountID, c.Recipient); err != nil {
		return err
	}
	return s.readOffer(ctx, n, c)
}

// readOffer reads what news is about, and where it is bought if it is on sale.
func (s *Store) readOffer(ctx context.Context, n *ProductNews, c *LetterContent) error {
	products, err := s.Catalog.OffersByID(ctx, n.AccountID, []string{n.ProductID})
	if err != nil {
		return err
	}
	product := products[n.ProductID]
	if product == nil {
		return core.Missing("product", "", n.ProductID)
	}
	c.News, c.Product = n, product.Name
	if product.Status != catalog.ProductStatusActive {
		return nil
	}
	c.Offer = product
	urls, err := s.Checkout.BuyURLs(ctx, n.AccountID)
	if err != nil {
		return err
	}
	for _, variant := range product.PriceVariantIDs.V {
		if c.BuyURL = urls[variant]; c.BuyURL != "" {
			break
		}
	}
	return nil
}

// NewsPreview is what news would be like if it was sent now.
type NewsPreview struct {
	LetterContent
	Readers int64
	HasMore bool // there may be more than that
}

// PreviewProductNews returns what a letter of news would tell, in nobody's language, and how many would get it. Its link that ends the news leads
// nowhere. What CreateProductNews refuses it refuses too. It ends the transaction of its request.
func (s *Store) PreviewProductNews(ctx context.Context, account string, in NewProductNews) (*NewsPreview, error) {
	n, err := s.draftNews(ctx, s.db, account, in)
	if err != nil {
		return nil, err
	}
	seller, err := s.Tenant.GetAccount(ctx, account)
	if err != nil {
		return nil, err
	}
	p := &NewsPreview{LetterContent: LetterContent{Seller: seller, UnsubscribeURL: s.PublicURL() + "/unsubscribe/preview"}}
	if err := s.readOffer(ctx, n, &p.LetterContent); err != nil {
		return nil, err
	}
	if err := s.db.Leave(ctx); err != nil { // many customers are looked at, and an embedded database has one transaction at a time
		return nil, err
	}
	p.Readers, p.HasMore, err = s.countReaders(ctx, seller, *n)
	return p, err
}
