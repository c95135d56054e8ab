package main

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/tillwright/tillwright/gen/api"
	"github.com/tillwright/tillwright/server/view"
	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/customer"
	"github.com/tillwright/tillwright/store/lead"
)

// importOutcome is what became of a row that did not fail.
type importOutcome int

const (
	importCreated importOutcome = iota
	importUpdated
	importUnchanged
)

// importKind is what a file can hold. Create and update are the schemas of the API for a new object and for a change.
type importKind struct {
	name           string
	finds          string // which object a row changes
	create, update string
	put            func(ctx context.Context, s *store.Store, account string, body importBody) (importOutcome, error)
}

// importBody is a row, as the API takes it for a new object and for a change.
type importBody struct {
	create, update []byte
	foreign        bool // it comes from another platform, whose word does not take back what is known here
}

var importKinds = []importKind{
	{
		"customers", "A row changes the customer with its external_id, or else its email, and makes one if there is none.",
		"CustomerCreate", "CustomerUpdate", putCustomer,
	},
	{
		"products", "A row changes the product with its external_id, or else its slug, and makes one if there is none. What only a new one takes, such as\nprice_variants, is left as it is for one that exists.",
		"ProductCreate", "ProductUpdate", putProduct,
	},
	{
		"leads", "A row changes the lead with its email and product, and makes one if there is none, whose source is import unless a column says otherwise.",
		"LeadCreate", "LeadUpdate", putLead,
	},
	{"license_keys", "A row makes a licence key of its own text, key. One that exists fails.", "LicenseKeyCreate", "LicenseKeyUpdate", putLicenseKey},
}

// read reads a row in both of its forms.
func read[C, U any](b importBody) (*C, *U, error) {
	create, update := new(C), new(U)
	if err := json.Unmarshal(b.create, create); err != nil {
		return nil, nil, fmt.Errorf("read a row: %w", err)
	}
	if err := json.Unmarshal(b.update, update); err != nil {
		return nil, nil, fmt.Errorf("read a row: %w", err)
	}
	return create, update, nil
}

func putCustomer(ctx context.Context, s *store.Store, account string, body importBody) (importOutcome, error) {
	create, update, err := read[api.CustomerCreate, api.CustomerUpdate](body)
	if err != nil {
		return 0, err
	}
	var known []customer.Customer
	if create.ExternalID != nil {
		if known, _, err = s.Customer.List(ctx, account, customer.List{Page: core.Page{Limit: 1}, ExternalID: *create.ExternalID}); err != nil {
			return 0, err
		}
	}
	if len(known) == 0 {
		if known, _, err = s.Customer.List(ctx, account, customer.List{Page: core.Page{Limit: 1}, Email: create.Email}); err != nil {
			return 0, err
		}
	}
	if len(known) == 0 {
		_, err := s.Customer.Create(ctx, account, view.NewCustomer(create))
		return importCreated, err
	}
	if body.foreign {
		keepOwn(&known[0], update)
	}
	c, err := s.UpdateCustomer(ctx, account, known[0].ID, view.CustomerChange(update))
	if err != nil {
		return 0, err
	}
	return changed(c.UpdatedAt != known[0].UpdatedAt), nil
}

// keepOwn takes some things out of what another platform says of a customer. They are the id, if the seller knows them by another one, and
// an address that differs in its spelling alone. A consent that they gave or took back here stays, too. That they want no letters holds.
func keepOwn(c *customer.Customer, update *api.CustomerUpdate) {
	if c.ExternalID != nil {
		update.ExternalID = nil
	}
	if c.Email != nil && update.Email != nil && core.SameEmail(*c.Email, *update.Email) { // as they wrote it
		update.Email = nil
	}
	if c.MarketingConsent.V == nil || !update.MarketingConsent.IsSpecified() {
		return
	}
	if theirs, err := update.MarketingConsent.Get(); err != nil || theirs.Status != "unsubscribed" || c.MarketingConsent.V.Status == "unsubscribed" {
		update.MarketingConsent = nil
	}
}

func putProduct(ctx context.Context, s *store.Store, account string, body importBody) (importOutcome, error) {
	create, update, err := read[api.ProductCreate, api.ProductUpdate](body)
	if err != nil {
		return 0, err
	}
	var known []catalog.Product
	if create.ExternalID != nil {
		if known, _, err = s.Catalog.ListProducts(ctx, account, catalog.ListProducts{Page: core.Page{Limit: 1}, ExternalID: *create.ExternalID}); err != nil {
			return 0, err
		}
	}
	if len(known) == 0 && create.Slug != nil {
		if known, _, err = s.Catalog.ListProducts(ctx, account, catalog.ListProducts{Page: core.Page{Limit: 1}, Slug: *create.Slug}); err != nil {
			return 0, err
		}
	}
	if len(known) == 0 {
		_, err := s.Catalog.CreateProduct(ctx, account, view.NewProduct(create))
		return importCreated, err
	}
	p, err := s.Catalog.UpdateProduct(ctx, account, known[0].ID, view.ProductChange(update))
	if err != nil {
		return 0, err
	}
	return changed(p.UpdatedAt != known[0].UpdatedAt), nil
}

func putLead(ctx context.Context, s *store.Store, account string, body importBody) (importOutcome, error) {
	create, _, err := read[api.LeadCreate, api.LeadUpdate](body)
	if err != nil {
		return 0, err
	}
	if create.Source == nil {
		create.Source = new(api.LeadSource("import"))
	}
	saved, err := s.Lead.Create(ctx, account, view.NewLead(create), true)
	switch {
	case err != nil:
		return 0, err
	case saved.Outcome == lead.OutcomeCreated:
		return importCreated, nil
	}
	return changed(saved.Outcome == lead.OutcomeUpdated), nil
}

func putLicenseKey(ctx context.Context, s *store.Store, account string, body importBody) (importOutcome, error) {
	create, _, err := read[api.LicenseKeyCreate, api.LicenseKeyUpdate](body)
	if err != nil {
		return 0, err
	}
	if create.Key == nil { // one that is made would be shown to nobody
		return 0, core.Invalid("key", "Send the key.")
	}
	_, err = s.CreateLicenseKey(ctx, account, view.NewLicenseKey(create))
	return importCreated, err
}

func changed(is bool) importOutcome {
	if is {
		return importUpdated
	}
	return importUnchanged
}
