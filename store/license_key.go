package store

import (
	"context"
	"fmt"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/customer"
	"github.com/tillwright/tillwright/store/grant"
	"github.com/tillwright/tillwright/store/internal/db"
)

// ListLicenseKeys returns a page of licence keys, newest first, and whether there are more. A product (id or slug), a customer or a grant that does not
// exist is CodeMissing.
func (s *Store) ListLicenseKeys(ctx context.Context, account string, in grant.ListLicenseKeys) ([]grant.LicenseKey, bool, error) {
	if in.Product != "" {
		p, err := s.Catalog.ProductNamed(ctx, s.db, account, in.Product, "product")
		if err != nil {
			return nil, false, err
		}
		in.Product = p.ID
	}
	if in.Customer != "" {
		c, err := s.Customer.Named(ctx, s.db, account, in.Customer, "customer")
		if err != nil {
			return nil, false, err
		}
		in.Customer = c.ID
	}
	if in.Grant != "" {
		g, err := s.Grant.GrantNamed(ctx, account, in.Grant, "grant")
		if err != nil {
			return nil, false, err
		}
		in.Grant = g.ID
	}
	return s.Grant.ListLicenseKeys(ctx, account, in)
}

// CreateLicenseKey makes a key of a product (id or slug), for a customer if one is named. One that does not exist is CodeMissing.
func (s *Store) CreateLicenseKey(ctx context.Context, account string, k grant.LicenseKey) (*grant.LicenseKey, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (*grant.LicenseKey, error) {
		made := k
		p, err := s.Catalog.ProductNamed(ctx, u, account, k.ProductID, "product")
		if err != nil {
			return nil, err
		}
		made.ProductID = p.ID
		if k.CustomerID != nil {
			c, err := s.Customer.LockNamed(ctx, u, account, *k.CustomerID, "customer") // a deletion or a merge under way would not see the key
			if err != nil {
				return nil, err
			}
			made.CustomerID = &c.ID
		}
		return s.Grant.CreateLicenseKey(ctx, account, made)
	})
}

// ImportLicenseKeys stores keys of a product (id or slug) as grant.Store.ImportLicenseKeys does. Whose address is new becomes a customer.
func (s *Store) ImportLicenseKeys(ctx context.Context, account, product string, rows []grant.ImportedLicense) ([]grant.LicenseImport, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) ([]grant.LicenseImport, error) {
		p, err := s.Catalog.ProductNamed(ctx, u, account, product, "product")
		if err != nil {
			return nil, err
		}
		owners, err := s.owners(ctx, u, account, rows)
		if err != nil {
			return nil, err
		}
		return s.Grant.ImportLicenseKeys(ctx, account, p.ID, rows, func(email string) (string, error) {
			key := core.EmailKey(email)
			if owners[key] == "" {
				c, err := s.Customer.Create(ctx, account, customer.Customer{Email: &email})
				if err != nil {
					return "", err
				}
				owners[key] = c.ID
			}
			return owners[key], nil
		})
	})
}

// owners returns the ids of the customers who own the addresses in some rows, by the key of the address.
func (s *Store) owners(ctx context.Context, u *db.Unit, account string, rows []grant.ImportedLicense) (map[string]string, error) {
	var keys []string
	for i := range rows {
		if email := rows[i].CustomerEmail; email != nil {
			keys = append(keys, core.EmailKey(*email))
		}
	}
	ids := map[string]string{}
	if len(keys) == 0 {
		return ids, nil
	}
	in, arg := s.db.In("email_key", keys)
	type owner struct {
		ID       string `db:"id"`
		EmailKey string `db:"email_key"`
	}
	found, err := db.Select[owner](ctx, u, `SELECT id, email_key FROM customers WHERE account_id = ? AND deleted_at IS NULL AND `+in, account, arg)
	if err != nil {
		return nil, fmt.Errorf("find owners of addresses: %w", err)
	}
	for _, o := range found {
		ids[o.EmailKey] = o.ID
	}
	return ids, nil
}

// ValidateLicense is grant.Store.ValidateLicense for a product of the account, by id or slug. One that does not exist is CodeMissing.
func (s *Store) ValidateLicense(ctx context.Context, account string, use grant.LicenseUse) (*grant.LicenseValidation, error) {
	return ofProduct(ctx, s, account, use, s.Grant.ValidateLicense)
}

// ActivateLicense is grant.Store.ActivateLicense for a product of the account, by id or slug. One that does not exist is CodeMissing.
func (s *Store) ActivateLicense(ctx context.Context, account string, use grant.LicenseUse) (*grant.LicenseActivation, error) {
	return ofProduct(ctx, s, account, use, s.Grant.ActivateLicense)
}

// DeactivateLicense is grant.Store.DeactivateLicense for a product of the account, by id or slug. One that does not exist is CodeMissing.
func (s *Store) DeactivateLicense(ctx context.Context, account string, use grant.LicenseUse) (*grant.LicenseActivation, error) {
	return ofProduct(ctx, s, account, use, s.Grant.DeactivateLicense)
}

// ofProduct runs a use case with the id of the product that a seller's request names.
func ofProduct[T any](ctx context.Context, s *Store, account string, use grant.LicenseUse, run func(context.Context, string, grant.LicenseUse) (*T, error)) (*T, error) {
	p, err := s.Catalog.ProductNamed(ctx, s.db, account, use.Product, "product")
	if err != nil {
		return nil, err
	}
	use.Product = p.ID
	return run(ctx, account, use)
}
