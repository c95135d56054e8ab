package store

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/grant"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/lead"
)

// grants gives the account 5,000 of all that its customers have of what it sells, and as many leads. It returns a customer who has nothing, a product
// that nobody has, and a file and a key with one version and one device each.
func (s *shop) grants(t *testing.T) (customer, product, file, key string) {
	t.Helper()
	const many = 5_000
	customer, product = s.customer(t, "grace@example.com", nil).ID, s.onSale(t, fixedPrice(1900)).ProductID
	licence, err := s.Grant.CreateLicenseKey(t.Context(), s.account, grant.LicenseKey{ProductID: product})
	require.NoError(t, err)
	made, err := s.Grant.CreateFile(t.Context(), s.account, grant.NewFile{Name: "Guide.pdf", NewVersion: grant.NewVersion{Size: 1}})
	require.NoError(t, err)
	_, err = s.Lead.Create(t.Context(), s.account, lead.NewLead{Email: "ada@example.com", Source: lead.SourceAPI}, false)
	require.NoError(t, err)
	grants, devices := db.ColumnsOf[grant.Grant]("grants"), db.ColumnsOf[grant.LicenseActivation]("license_activations")
	s.during(t, func(ctx context.Context, u *db.Unit) {
		require.NoError(t, u.Insert(ctx, grants, &grant.Grant{
			AccountID: s.account, ID: core.NewID(core.KindGrant), CustomerID: customer, ProductID: product, Quantity: 1, SourceType: grant.SourceTypeManual, SourceID: "hand", ItemID: "1", Status: grant.StatusActive,
		}))
		require.NoError(t, u.Insert(ctx, devices, &grant.LicenseActivation{AccountID: s.account, ID: core.NewID(core.KindLicenseActivation), LicenseKeyID: licence.ID, Fingerprint: "device"}))
	})
	id := func(k core.Kind) string { return "'" + k.Prefix() + "00000' || n" } // older than all others
	s.copies(t, "grants", grants.SelectSQL, many, map[string]string{
		"id": id(core.KindGrant), "customer_id": "'cus_' || n", "product_id": "'prod_' || n", "source_id": "'order_' || n", "source_type": "'order'", "expires_at": "9000000000000000 + n",
	})
	s.copies(t, "license_keys", db.ColumnsOf[grant.LicenseKey]("license_keys").SelectSQL, many, map[string]string{
		"id": id(core.KindLicenseKey), "key_hash": "'hash' || n", "product_id": "'prod_' || n", "customer_id": "'cus_' || n", "grant_id": "'grant_' || n", "expires_at": "9000000000000000 + n",
	})
	s.copies(t, "license_activations", devices.SelectSQL, many, map[string]string{"id": id(core.KindLicenseActivation), "license_key_id": id(core.KindLicenseKey)})
	s.copies(t, "files", db.ColumnsOf[grant.File]("files").SelectSQL, many, map[string]string{"id": id(core.KindFile)})
	s.copies(t, "file_versions", db.ColumnsOf[grant.FileVersion]("file_versions").SelectSQL, many, map[string]string{"id": id(core.KindFileVersion), "file_id": id(core.KindFile)})
	s.copies(t, "leads", db.ColumnsOf[lead.Lead]("leads").SelectSQL, many, map[string]string{
		"id": id(core.KindLead), "email_key": "'ada' || n", "product_id": "'prod_' || n", "customer_id": "'cus_' || n", "source": "'form'",
	})
	return s.customer(t, "nobody@example.com", nil).ID, product, made.ID, licence.ID
}

// The same of what customers have, and of leads.
func TestLists_OfWhatCustomersHaveAreLedByIndexes(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		customer, product, file, key := s.grants(t)
		page, window := core.Page{Limit: 20}, core.ListFilter{CreatedAfter: new(core.Time(9e15))}
		asked := map[string]func() error{
			"grants customer_id":       asking(s, s.Grant.ListGrants, grant.ListGrants{Page: page, Customer: customer}),
			"grants product_id":        asking(s, s.Grant.ListGrants, grant.ListGrants{Page: page, Product: "none"}),
			"grants status":            asking(s, s.Grant.ListGrants, grant.ListGrants{Page: page, Status: grant.StatusRevoked}),
			"grants expires_at":        asking(s, s.Grant.ListGrants, grant.ListGrants{Page: page, Status: grant.StatusExpired}),
			"grants source_type":       asking(s, s.Grant.ListGrants, grant.ListGrants{Page: page, SourceType: "none"}),
			"grants source_id":         asking(s, s.Grant.ListGrants, grant.ListGrants{Page: page, Source: "none"}),
			"grants id":                asking(s, s.Grant.ListGrants, grant.ListGrants{Page: page, ListFilter: window}),
			"license_keys product_id":  asking(s, s.Grant.ListLicenseKeys, grant.ListLicenseKeys{Page: page, Product: "none"}),
			"license_keys customer_id": asking(s, s.Grant.ListLicenseKeys, grant.ListLicenseKeys{Page: page, Customer: customer}),
			"license_keys grant_id":    asking(s, s.Grant.ListLicenseKeys, grant.ListLicenseKeys{Page: page, Grant: "none"}),
			"license_keys status":      asking(s, s.Grant.ListLicenseKeys, grant.ListLicenseKeys{Page: page, Status: grant.LicenseKeyDisabled}),
			"license_keys expires_at":  asking(s, s.Grant.ListLicenseKeys, grant.ListLicenseKeys{Page: page, Status: grant.LicenseKeyExpired}),
			"license_keys id":          asking(s, s.Grant.ListLicenseKeys, grant.ListLicenseKeys{Page: page, ListFilter: window}),
			"license_activations license_key_id": asking(s, func(ctx context.Context, account string, in grant.ListLicenseActivations) ([]grant.LicenseActivation, bool, error) {
				return s.Grant.ListLicenseActivations(ctx, account, key, in)
			}, grant.ListLicenseActivations{Page: page}),
			"files status": asking(s, s.Grant.ListFiles, grant.ListFiles{Page: page, Status: "none"}),
			"files id":     asking(s, s.Grant.ListFiles, grant.ListFiles{Page: page, ListFilter: window}),
			"file_versions file_id": asking(s, func(ctx context.Context, account string, in core.Page) ([]grant.FileVersion, bool, error) {
				return s.Grant.ListFileVersions(ctx, account, file, in)
			}, page),
			"leads email_key":   asking(s, s.Lead.List, lead.List{Page: page, Email: "nobody"}),
			"leads status":      asking(s, s.Lead.List, lead.List{Page: page, Status: "none"}),
			"leads source":      asking(s, s.Lead.List, lead.List{Page: page, Source: "none"}),
			"leads product_id":  asking(s, s.Lead.List, lead.List{Page: page, Product: product}),
			"leads customer_id": asking(s, s.Lead.List, lead.List{Page: page, Customer: customer}),
			"leads id":          asking(s, s.Lead.List, lead.List{Page: page, ListFilter: window}),
		}
		s.areLed(t, asked)
	})
}
