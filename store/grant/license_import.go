package grant

import (
	"context"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
)

// ImportedLicense is a key from elsewhere. Without an address it is stock, to be sold.
type ImportedLicense struct {
	Key             string
	CustomerEmail   *string // whose it is
	ActivationLimit *int64
	ExpiresAt       *core.Time
}

// LicenseImport is what became of one imported key: its id, or what is wrong with it.
type LicenseImport struct {
	ID       string
	Problems core.Problems
}

// ImportLicenseKeys stores those of some keys of a product that can be stored, and returns what became of each, in their order. One that the
// account has, or that stands before it, is refused. Grants that wait for keys of the product get theirs. Owner returns the id of the customer with an address, whom it makes if there is none.
func (s *Store) ImportLicenseKeys(ctx context.Context, account, product string, rows []ImportedLicense, owner func(email string) (string, error)) ([]LicenseImport, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) ([]LicenseImport, error) {
		known, err := s.knownAmong(ctx, u, account, rows)
		if err != nil {
			return nil, err
		}
		results := make([]LicenseImport, len(rows))
		var made []LicenseKey
		for i := range rows {
			row, hash := &rows[i], licenseHash(rows[i].Key)
			k := LicenseKey{ProductID: product, InStock: row.CustomerEmail == nil, Key: &row.Key, ActivationLimit: row.ActivationLimit, ExpiresAt: row.ExpiresAt}
			p := &results[i].Problems
			checkLicenseText(row.Key, p)
			k.check(p)
			p.Check(!known[hash], "key", knownLicense)
			if row.CustomerEmail != nil {
				p.CheckEmail("customer_email", *row.CustomerEmail, "Send an e-mail address, such as ada@example.com, or none.")
			}
			if len(*p) > 0 {
				continue
			}
			if row.CustomerEmail != nil {
				id, err := owner(*row.CustomerEmail)
				if err != nil {
					return nil, err
				}
				k.CustomerID = &id
			}
			if err := s.draftLicenseKey(ctx, u, account, &k); err != nil {
				return nil, err
			}
			known[hash], results[i].ID, made = true, k.ID, append(made, k)
		}
		if err := db.InsertAll(ctx, u, licenseKeyColumns, made); err != nil {
			return nil, err
		}
		_, err = s.serveWaiting(ctx, u, account, product, len(made))
		return results, err
	})
}

// knownAmong returns the hashes of those keys that the account has.
func (s *Store) knownAmong(ctx context.Context, u *db.Unit, account string, rows []ImportedLicense) (map[string]bool, error) {
	hashes := make([]string, len(rows))
	for i := range rows {
		hashes[i] = licenseHash(rows[i].Key)
	}
	found, err := s.knownLicenses(ctx, u, account, hashes)
	known := map[string]bool{}
	for _, hash := range found {
		known[hash] = true
	}
	return known, err
}
