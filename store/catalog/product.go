package catalog

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
)

// ProductStatus says whether a product is on sale.
type ProductStatus string

// The states of a product.
const (
	ProductStatusDraft    ProductStatus = "draft"
	ProductStatusActive   ProductStatus = "active"
	ProductStatusArchived ProductStatus = "archived"
)

// productLifecycle lists, for each state of a product, the states that may follow it.
var productLifecycle = core.Lifecycle[ProductStatus]{
	ProductStatusDraft:    {ProductStatusActive, ProductStatusArchived},
	ProductStatusActive:   {ProductStatusDraft, ProductStatusArchived},
	ProductStatusArchived: {ProductStatusDraft},
}

// ProductType is what kind of thing is sold.
type ProductType string

// The types of a product.
const (
	ProductTypeDigital    ProductType = "digital"
	ProductTypeCourse     ProductType = "course"
	ProductTypeMembership ProductType = "membership"
	ProductTypeService    ProductType = "service"
	ProductTypeBundle     ProductType = "bundle"
	ProductTypeTip        ProductType = "tip"
)

// ProductVisibility says who finds a product. An unlisted one is still sold to whoever has its address.
type ProductVisibility string

// The visibilities of a product.
const (
	ProductVisibilityPublic   ProductVisibility = "public"
	ProductVisibilityUnlisted ProductVisibility = "unlisted"
)

// Product is something for sale. What it costs is in its price variants.
type Product struct {
	AccountID             string                   `db:"account_id"`
	ID                    string                   `db:"id"`
	Name                  string                   `db:"name"`
	Slug                  string                   `db:"slug"`
	Description           *string                  `db:"description"`
	Headline              *string                  `db:"headline"`
	Status                ProductStatus            `db:"status"`
	Type                  ProductType              `db:"type"`
	Visibility            ProductVisibility        `db:"visibility"`
	Images                core.JSON[[]string]      `db:"images"`
	CoverURL              *string                  `db:"cover_url"`
	TaxCode               *string                  `db:"tax_code"`
	CallToAction          *string                  `db:"call_to_action"`
	ThankYou              *string                  `db:"thank_you"` // to buyers, after paying
	CustomFields          core.JSON[[]CustomField] `db:"custom_fields"`
	Delivers              bool                     `db:"delivers"`         // whether it has deliverables
	DeliveredFiles        int64                    `db:"delivered_files"`  // how many of these are files, as the next two: for who shows it to buyers
	DeliveredKeys         int64                    `db:"delivered_keys"`   // licence keys
	DeliveredAccess       int64                    `db:"delivered_access"` // links and experiences
	DeliveryUpdates       DeliveryUpdates          `db:"delivery_updates"`
	PriceVariantIDs       core.JSON[[]string]      `db:"price_variant_ids"`        // by position
	DefaultPriceVariantID *string                  `db:"default_price_variant_id"` // the first active variant
	PriceMinAmount        *int64                   `db:"price_min_amount"`         // the least price of the active variants in PriceCurrency
	PriceMaxAmount        *int64                   `db:"price_max_amount"`
	PriceCurrency         *string                  `db:"price_currency"` // the default variant's
	HasRecurring          bool                     `db:"has_recurring"`  // whether an active variant is recurring
	SalesCount            int64                    `db:"sales_count"`
	PublishedAt           *core.Time               `db:"published_at"` // when it became active for the first time
	SEOTitle              *string                  `db:"seo_title"`
	SEODescription        *string                  `db:"seo_description"`
	ExternalID            *string                  `db:"external_id"`
	Metadata              core.Metadata            `db:"metadata"`
	EventSeq              int64                    `db:"event_seq"`
	CreatedAt             core.Time                `db:"created_at"`
	UpdatedAt             core.Time                `db:"updated_at"`

	Deliverables []Deliverable `db:"-"` // by position
}

// NewProduct is a product that is to be made, with its price variants. Without a slug it gets one from its name. Without a
// status, type or visibility it is a draft, digital and public, and what is added later is for all buyers.
type NewProduct struct {
	Product
	PriceVariants []PriceVariant
}

// ListProducts are the filters of a list of products. An empty one does not filter.
type ListProducts struct {
	core.Page
	core.ListFilter
	Status       ProductStatus
	Type         ProductType
	Visibility   ProductVisibility
	Slug         string
	ExternalID   string
	HasRecurring *bool
}

// ProductDetail is a product with all its price variants, by position: the data of product events.
type ProductDetail struct {
	Product       *Product
	PriceVariants []PriceVariant
}

var productColumns = db.ColumnsOf[Product]("products")

// fill sets the defaults of what was not sent of a new product.
func (p *Product) fill() {
	p.Status = cmp.Or(p.Status, ProductStatusDraft)
	p.Type = cmp.Or(p.Type, ProductTypeDigital)
	p.Visibility = cmp.Or(p.Visibility, ProductVisibilityPublic)
	p.DeliveryUpdates = cmp.Or(p.DeliveryUpdates, DeliveryUpdatesAllBuyers)
}

// check returns CodeInvalid with everything that is wrong with the product by itself, without its variants.
func (p *Product) check() error {
	var problems core.Problems
	problems.Check(strings.TrimSpace(p.Name) != "" && utf8.RuneCountInString(p.Name) <= 255, "name", "A name has 1 to 255 characters, not only white space.")
	problems.Check(core.HasAtMost(p.Headline, 160), "headline", "A headline has at most 160 characters.")
	problems.Check(core.HasAtMost(p.Description, 20_000), "description", "A description has at most 20,000 characters.")
	problems.Check(core.HasAtMost(p.ThankYou, 2000), "thank_you", "A thank-you text has at most 2,000 characters.")
	seen := map[string]bool{}
	for i, field := range p.CustomFields.V {
		at := fmt.Sprintf("custom_fields.%d.", i)
		problems.Check(!seen[field.Key], at+"key", "Another custom field has this key.")
		problems.Check((field.Type == "select") == (len(field.Options) > 0), at+"options", "A select, and nothing else, has options.")
		seen[field.Key] = true
	}
	p.Metadata.Check(&problems)
	return problems.Err()
}

// summarize sets the fields of the product that repeat what its price variants say. They are the ids, the default one, the range of prices, and
// whether any is recurring. Only active variants count, but for the ids. The variants are given by position.
func (p *Product) summarize(variants []PriceVariant) {
	p.PriceVariantIDs.V = make([]string, 0, len(variants))
	p.DefaultPriceVariantID, p.PriceMinAmount, p.PriceMaxAmount, p.PriceCurrency, p.HasRecurring = nil, nil, nil, nil, false
	for i := range variants {
		v := &variants[i]
		p.PriceVariantIDs.V = append(p.PriceVariantIDs.V, v.ID)
		if v.Status != PriceVariantStatusActive {
			continue
		}
		if p.DefaultPriceVariantID == nil {
			p.DefaultPriceVariantID, p.PriceCurrency = &v.ID, &v.Currency
		}
		p.HasRecurring = p.HasRecurring || v.Type == PriceVariantTypeRecurring
		if low, high, ok := v.AmountsIn(*p.PriceCurrency); ok {
			if p.PriceMinAmount == nil || low < *p.PriceMinAmount {
				p.PriceMinAmount = &low
			}
			if p.PriceMaxAmount == nil || high > *p.PriceMaxAmount {
				p.PriceMaxAmount = &high
			}
		}
	}
}

// enter checks that the product may change from one state to the one that it has now. Becoming active needs an active price
// variant, and sets PublishedAt the first time. What is not allowed is CodeInvalid on status.
func (p *Product) enter(from ProductStatus, now core.Time) error {
	if err := productLifecycle.Check("product", from, p.Status); err != nil {
		return err
	}
	if p.Status != ProductStatusActive {
		return nil
	}
	if p.DefaultPriceVariantID == nil {
		return core.Invalid("status", "A product needs an active price variant before it can be active. Create one with POST /price_variants.")
	}
	if p.PublishedAt == nil {
		p.PublishedAt = &now
	}
	return nil
}

// GetProduct returns a product by id or slug, or CodeMissing.
func (s *Store) GetProduct(ctx context.Context, account, ref string) (*Product, error) {
	return s.ProductNamed(ctx, s.db, account, ref, "")
}

// ProductsByID returns those of the products with these ids that exist, by id.
func (s *Store) ProductsByID(ctx context.Context, account string, ids []string) (map[string]*Product, error) {
	found, err := s.OffersByID(ctx, account, ids)
	if err != nil {
		return nil, err
	}
	return found, s.readDeliverables(ctx, s.db, account, slices.Collect(maps.Values(found))...)
}

// OffersByID does what ProductsByID does, but for the deliverables: for who sells a product and does not show it.
func (s *Store) OffersByID(ctx context.Context, account string, ids []string) (map[string]*Product, error) {
	return s.OffersByIDIn(ctx, s.db, account, ids)
}

// OffersByIDIn does what OffersByID does, where r says.
func (s *Store) OffersByIDIn(ctx context.Context, r db.Reader, account string, ids []string) (map[string]*Product, error) {
	return db.ByID(ctx, r, productColumns, account, ids)
}

// ListProducts returns a page of products, newest first, and whether there are more.
func (s *Store) ListProducts(ctx context.Context, account string, in ListProducts) ([]Product, bool, error) {
	var f db.Filter
	f.OrderedIfSet("status", string(in.Status))
	f.OrderedIfSet("type", string(in.Type))
	f.OrderedIfSet("visibility", string(in.Visibility))
	f.FewIfSet("slug", in.Slug)
	f.FewIfSet("external_id", in.ExternalID)
	if in.HasRecurring != nil {
		f.Ordered("has_recurring", *in.HasRecurring)
	}
	f.List(s.db, "products", core.KindProduct, in.ListFilter, "name", "slug", "headline")
	products, more, err := db.Page(ctx, s.db, productColumns, core.KindProduct, account, in.Page, &f)
	if err != nil {
		return nil, false, err
	}
	all := make([]*Product, len(products))
	for i := range products {
		all[i] = &products[i]
	}
	return products, more, s.readDeliverables(ctx, s.db, account, all...)
}

// CreateProduct makes a product with its price variants and emits product.created. It returns CodeInvalid on
// `status` for an active product without an active variant.
func (s *Store) CreateProduct(ctx context.Context, account string, in NewProduct) (*Product, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (*Product, error) {
		p := in.Product
		p.fill()
		return s.createProduct(ctx, u, account, &p, in.PriceVariants)
	})
}

// UpdateProduct locks the product, applies change, checks and stores it, and emits product.updated. It returns
// CodeInvalid for what the product cannot be. A change that changes nothing emits nothing.
func (s *Store) UpdateProduct(ctx context.Context, account, ref string, change func(*Product)) (*Product, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (*Product, error) {
		p, err := s.LockProduct(ctx, u, account, ref, "")
		if err != nil {
			return nil, err
		}
		before, text := *p, core.JSONText(p)
		change(p)
		if core.JSONText(p) == text {
			return p, nil
		}
		return p, s.changeProduct(ctx, u, &before, p)
	})
}

// PublishProduct makes a draft active. Publishing an active product changes nothing.
func (s *Store) PublishProduct(ctx context.Context, account, ref string) (*Product, error) {
	return s.moveProduct(ctx, account, ref, ProductStatusActive, ProductStatusDraft)
}

// UnpublishProduct makes an active product a draft. Unpublishing a draft changes nothing.
func (s *Store) UnpublishProduct(ctx context.Context, account, ref string) (*Product, error) {
	return s.moveProduct(ctx, account, ref, ProductStatusDraft, ProductStatusActive)
}

// ArchiveProduct takes a product out of sale. Archiving an archived product changes nothing.
func (s *Store) ArchiveProduct(ctx context.Context, account, ref string) (*Product, error) {
	return s.moveProduct(ctx, account, ref, ProductStatusArchived, ProductStatusDraft, ProductStatusActive)
}

// UnarchiveProduct makes an archived product a draft. Unarchiving a draft changes nothing.
func (s *Store) UnarchiveProduct(ctx context.Context, account, ref string) (*Product, error) {
	return s.moveProduct(ctx, account, ref, ProductStatusDraft, ProductStatusArchived)
}

// DuplicateProduct makes a draft with the same fields and price variants, a slug of its own and no sales, and
// emits product.created.
func (s *Store) DuplicateProduct(ctx context.Context, account, ref string) (*Product, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (*Product, error) {
		original, err := s.LockProduct(ctx, u, account, ref, "")
		if err != nil {
			return nil, err
		}
		variants, err := s.priceVariants(ctx, u, original)
		if err != nil {
			return nil, err
		}
		for i := range variants {
			variants[i].ExternalID = nil
		}
		p := *original
		p.Slug, p.Status, p.PublishedAt, p.ExternalID, p.SalesCount, p.EventSeq = "", ProductStatusDraft, nil, nil, 0, 0
		return s.createProduct(ctx, u, account, &p, variants)
	})
}

// DeleteProduct deletes a product with its price variants and returns it. It returns CodeInvalid on `base` for one that was ever ordered, that
// somebody has, or that is being paid for. Such a product can be archived.
func (s *Store) DeleteProduct(ctx context.Context, account, ref string) (*Product, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (*Product, error) {
		p, err := s.LockProduct(ctx, u, account, ref, "")
		if err != nil {
			return nil, err
		}
		if err := s.lockVariants(ctx, u, p); err != nil {
			return nil, err
		}
		ordered, err := s.isOrdered(ctx, u, account, "product_id", p.ID)
		if err != nil {
			return nil, err
		}
		given, err := s.isGiven(ctx, u, account, p.ID)
		if err != nil {
			return nil, err
		}
		if ordered || given {
			return nil, core.Invalid("base", "This product has been ordered or given and cannot be deleted. Archive it instead.")
		}
		for _, query := range []string{
			`DELETE FROM product_deliverables WHERE account_id = ? AND product_id = ?`,
			`DELETE FROM price_variants WHERE account_id = ? AND product_id = ?`,
			`DELETE FROM products WHERE account_id = ? AND id = ?`,
		} {
			if _, err := u.Exec(ctx, query, account, p.ID); err != nil {
				return nil, fmt.Errorf("delete product: %w", err)
			}
		}
		return p, u.DropSlugs(ctx, core.KindProduct, account, p.ID)
	})
}

// moveProduct changes the status of a product to to, and emits product.updated. A product that has it already is returned as it
// is; one that is in none of the states in from is CodeInvalid on status.
func (s *Store) moveProduct(ctx context.Context, account, ref string, to ProductStatus, from ...ProductStatus) (*Product, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (*Product, error) {
		p, err := s.LockProduct(ctx, u, account, ref, "")
		if err != nil || p.Status == to {
			return p, err
		}
		if !slices.Contains(from, p.Status) {
			return nil, core.Invalid("status", fmt.Sprintf("A product that is %s cannot become %s this way.", p.Status, to))
		}
		before := *p
		p.Status = to
		return p, s.changeProduct(ctx, u, &before, p)
	})
}
