package view

import (
	"github.com/tillwright/tillwright/gen/api"
	"github.com/tillwright/tillwright/sdk/wire"
	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/store/core"
)

// Product renders a product.
func Product(p *catalog.Product) api.Product {
	return api.Product{
		ID:                  p.ID,
		Object:              "product",
		Name:                p.Name,
		Slug:                p.Slug,
		Description:         p.Description,
		Headline:            p.Headline,
		Status:              api.ProductStatus(p.Status),
		Type:                api.ProductType(p.Type),
		Visibility:          api.ProductVisibility(p.Visibility),
		Images:              list(p.Images.V),
		CoverURL:            p.CoverURL,
		TaxCode:             p.TaxCode,
		CallToAction:        p.CallToAction,
		ThankYou:            p.ThankYou,
		CustomFields:        mapped(p.CustomFields.V, customField),
		DeliveryUpdates:     api.DeliveryUpdates(p.DeliveryUpdates),
		Deliverables:        mapped(p.Deliverables, deliverable),
		PriceVariants:       wire.RefTos(p.PriceVariantIDs.V),
		DefaultPriceVariant: ref(p.DefaultPriceVariantID),
		PriceRange:          priceRange(p),
		SalesCount:          p.SalesCount,
		PublishedAt:         atOrNull(p.PublishedAt),
		SEOTitle:            p.SEOTitle,
		SEODescription:      p.SEODescription,
		ExternalID:          p.ExternalID,
		Metadata:            api.Metadata(p.Metadata.Text()),
		CreatedAt:           at(p.CreatedAt),
		UpdatedAt:           at(p.UpdatedAt),
	}
}

// NewProduct reads the body of a create.
func NewProduct(b *api.ProductCreate) catalog.NewProduct {
	return catalog.NewProduct{
		Product: catalog.Product{
			Name:            b.Name,
			Slug:            value(b.Slug),
			Description:     b.Description,
			Headline:        b.Headline,
			Status:          catalog.ProductStatus(value(b.Status)),
			Type:            catalog.ProductType(value(b.Type)),
			Visibility:      catalog.ProductVisibility(value(b.Visibility)),
			Images:          core.JSONOf(b.Images),
			CoverURL:        b.CoverURL,
			TaxCode:         b.TaxCode,
			CallToAction:    b.CallToAction,
			ThankYou:        b.ThankYou,
			CustomFields:    core.JSONOf(mapped(b.CustomFields, storedCustomField)),
			DeliveryUpdates: catalog.DeliveryUpdates(value(b.DeliveryUpdates)),
			Deliverables:    mapped(b.Deliverables, storedDeliverable),
			SEOTitle:        b.SEOTitle,
			SEODescription:  b.SEODescription,
			ExternalID:      b.ExternalID,
			Metadata:        metadata(b.Metadata),
		},
		PriceVariants: mapped(b.PriceVariants, newPriceVariant),
	}
}

// ListProducts reads the query of a list.
func ListProducts(q api.ListProductsParams) catalog.ListProducts {
	return catalog.ListProducts{
		Page:         SortedPage(q.Limit, q.StartingAfter, q.EndingBefore, q.Sort),
		ListFilter:   Filter(q.CreatedAfter, q.CreatedBefore, q.Q, q.Metadata),
		Status:       catalog.ProductStatus(value(q.Status)),
		Type:         catalog.ProductType(value(q.Type)),
		Visibility:   catalog.ProductVisibility(value(q.Visibility)),
		Slug:         value(q.Slug),
		ExternalID:   value(q.ExternalID),
		HasRecurring: q.HasRecurring,
	}
}

// ProductChange reads the body of a PATCH: it sets the fields that the body names and leaves the others.
func ProductChange(b *api.ProductUpdate) func(*catalog.Product) {
	return func(p *catalog.Product) {
		set(&p.Name, b.Name)
		set(&p.Slug, b.Slug)
		setOrClear(&p.Description, b.Description)
		setOrClear(&p.Headline, b.Headline)
		setAs(&p.Status, b.Status)
		setAs(&p.Type, b.Type)
		setAs(&p.Visibility, b.Visibility)
		setAs(&p.DeliveryUpdates, b.DeliveryUpdates)
		setOrClear(&p.CoverURL, b.CoverURL)
		setOrClear(&p.TaxCode, b.TaxCode)
		setOrClear(&p.CallToAction, b.CallToAction)
		setOrClear(&p.ThankYou, b.ThankYou)
		setOrClear(&p.SEOTitle, b.SEOTitle)
		setOrClear(&p.SEODescription, b.SEODescription)
		setOrClear(&p.ExternalID, b.ExternalID)
		setMetadata(&p.Metadata, b.Metadata)
		if b.Images != nil {
			p.Images.V = b.Images
		}
		if b.CustomFields != nil {
			p.CustomFields.V = mapped(b.CustomFields, storedCustomField)
		}
		if b.Deliverables != nil {
			p.Deliverables = mapped(b.Deliverables, storedDeliverable)
		}
	}
}

// ProductUpsert reads the body of an upsert.
func ProductUpsert(b *api.ProductUpsert) core.Upsert[catalog.Product] {
	return core.Upsert[catalog.Product]{ExternalID: core.Deref(sent(b.ExternalID)), Change: ProductChange(b)}
}

// ProductUpserts reads the body of a bulk upsert.
func ProductUpserts(b *api.ProductBulkUpsert, refused map[int]*core.Error) []core.Upsert[catalog.Product] {
	return upserts(b.Items, refused, ProductUpsert)
}

func priceRange(p *catalog.Product) *api.PriceRange {
	if p.PriceCurrency == nil {
		return nil
	}
	return &api.PriceRange{MinAmount: value(p.PriceMinAmount), MaxAmount: value(p.PriceMaxAmount), Currency: *p.PriceCurrency}
}

func customField(f catalog.CustomField) api.CustomField {
	return api.CustomField{Key: f.Key, Label: f.Label, Type: api.CustomFieldType(f.Type), Required: f.Required, Options: f.Options}
}

func storedCustomField(f api.CustomField) catalog.CustomField {
	return catalog.CustomField{Key: f.Key, Label: f.Label, Type: string(f.Type), Required: f.Required, Options: f.Options}
}

func deliverable(d catalog.Deliverable) api.Deliverable {
	return api.Deliverable{Type: api.DeliverableType(d.Type), Ref: d.Ref, Name: d.Name, DownloadLimit: d.DownloadLimit}
}

func storedDeliverable(d api.Deliverable) catalog.Deliverable {
	return catalog.Deliverable{Type: catalog.DeliverableType(d.Type), Ref: d.Ref, Name: d.Name, DownloadLimit: d.DownloadLimit}
}
