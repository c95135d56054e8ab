package store

import (
	"testing"

	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/store/content"
	"github.com/tillwright/tillwright/store/customer"
	"github.com/tillwright/tillwright/store/internal/dbtest"
	"github.com/tillwright/tillwright/store/tenant"
)

func TestNames_AreNotWhiteSpace(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		const blank = " \u3000\t"
		_, _, err := s.Tenant.CreateAPIKey(t.Context(), s.account, tenant.Granted{}, tenant.NewAPIKey{Name: blank})
		dbtest.RequireInvalid(t, err, "name")
		_, err = s.Catalog.CreateProduct(t.Context(), s.account, catalog.NewProduct{Product: catalog.Product{Name: blank}})
		dbtest.RequireInvalid(t, err, "name")
		_, err = s.Customer.Create(t.Context(), s.account, customer.Customer{Email: ref("ada@example.com"), Name: ref(blank)})
		dbtest.RequireInvalid(t, err, "name")
		_, err = s.Content.CreateAISite(t.Context(), s.account, content.AISiteDraft{AISite: &content.AISite{Name: blank}})
		dbtest.RequireInvalid(t, err, "name")
		_, err = s.Tenant.UpdateAccount(t.Context(), s.account, func(a *tenant.AccountChange) { a.Name = blank })
		dbtest.RequireInvalid(t, err, "name")
	})
}
