package view

import (
	"github.com/tillwright/tillwright/gen/api"
	"github.com/tillwright/tillwright/sdk/wire"
	"github.com/tillwright/tillwright/store/checkout"
	"github.com/tillwright/tillwright/store/core"
)

// CheckoutLink renders a checkout link.
func CheckoutLink(l *checkout.Link) api.CheckoutLink {
	return api.CheckoutLink{
		ID:                  l.ID,
		Object:              "checkout_link",
		URL:                 l.URL,
		Name:                l.Name,
		PriceVariants:       wire.RefTos(l.PriceVariantIDs.V),
		Discount:            ref(l.DiscountID),
		AllowDiscountCodes:  l.AllowDiscountCodes,
		AllowQuantityChange: l.AllowQuantityChange,
		SuccessURL:          l.SuccessURL,
		CancelURL:           l.CancelURL,
		Active:              l.Active,
		MaxUses:             l.MaxUses,
		Uses:                l.Uses,
		Metadata:            api.Metadata(l.Metadata.Text()),
		CreatedAt:           at(l.CreatedAt),
		UpdatedAt:           at(l.UpdatedAt),
	}
}

// ListCheckoutLinks reads the query of a list.
func ListCheckoutLinks(q api.ListCheckoutLinksParams) checkout.ListLinks {
	return checkout.ListLinks{
		Page:       SortedPage(q.Limit, q.StartingAfter, q.EndingBefore, q.Sort),
		ListFilter: Filter(q.CreatedAfter, q.CreatedBefore, q.Q, q.Metadata),
		Active:     q.Active,
		Discount:   value(q.Discount),
	}
}

// NewCheckoutLink reads the body of a create.
func NewCheckoutLink(b *api.CheckoutLinkCreate) checkout.Link {
	l := checkout.Link{
		Name:                b.Name,
		PriceVariantIDs:     core.JSONOf(b.PriceVariants),
		DiscountID:          b.Discount,
		AllowDiscountCodes:  true,
		AllowQuantityChange: value(b.AllowQuantityChange),
		SuccessURL:          b.SuccessURL,
		CancelURL:           b.CancelURL,
		Active:              true,
		MaxUses:             b.MaxUses,
		Metadata:            metadata(b.Metadata),
	}
	set(&l.AllowDiscountCodes, b.AllowDiscountCodes)
	set(&l.Active, b.Active)
	return l
}

// CheckoutLinkChange reads the body of a PATCH.
func CheckoutLinkChange(b *api.CheckoutLinkUpdate) func(*checkout.Link) {
	return func(l *checkout.Link) {
		setOrClear(&l.Name, b.Name)
		if b.PriceVariants != nil {
			l.PriceVariantIDs.V = b.PriceVariants
		}
		setOrClear(&l.DiscountID, b.Discount)
		set(&l.AllowDiscountCodes, b.AllowDiscountCodes)
		set(&l.AllowQuantityChange, b.AllowQuantityChange)
		setOrClear(&l.SuccessURL, b.SuccessURL)
		setOrClear(&l.CancelURL, b.CancelURL)
		set(&l.Active, b.Active)
		setOrClear(&l.MaxUses, b.MaxUses)
		setMetadata(&l.Metadata, b.Metadata)
	}
}
