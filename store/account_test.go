package store

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCreateAccount_FindsAHandle(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		for _, want := range []string{"ada-s-shop-2", "ada-s-shop-3"} {
			a, err := s.CreateAccount(t.Context(), NewAccount{Name: "Ada's Shop", Email: "ada@example.com"})
			require.NoError(t, err)
			require.Equal(t, want, a.Handle)
			require.Equal(t, PlanFree, a.Plan)
		}
		a, err := s.CreateAccount(t.Context(), NewAccount{Name: "X", Email: "x@example.com", Plan: PlanPro})
		require.NoError(t, err)
		require.Equal(t, "x-shop", a.Handle)
		_, err = s.CreateAccount(t.Context(), NewAccount{Name: "X", Email: "nobody"})
		requireInvalid(t, err, "email")
		_, err = s.CreateAccount(t.Context(), NewAccount{Name: "X", Email: "x@example.com", Plan: "gold"})
		requireInvalid(t, err, "plan")
	})
}

func TestUpdateAccount_NeedsThePlan(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		for param, change := range map[string]func(*Account){
			"custom_domain":   func(a *Account) { a.CustomDomain = ref("shop.example.com") },
			"remove_branding": func(a *Account) { a.RemoveBranding = true },
		} {
			_, err := s.UpdateAccount(t.Context(), s.account, change)
			var e *Error
			require.ErrorAs(t, err, &e)
			require.Equal(t, CodePlan, e.Code)
			require.Equal(t, param, e.Param)

			pro, err := s.CreateAccount(t.Context(), NewAccount{Name: "Pro", Email: "pro@example.com", Plan: PlanPro})
			require.NoError(t, err)
			_, err = s.UpdateAccount(t.Context(), pro.ID, change)
			require.NoError(t, err)
		}
	})
}

func TestUpdateAccount_NamesAreUniqueOnTheServer(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		other, err := s.CreateAccount(t.Context(), NewAccount{Name: "Other", Email: "other@example.com", Plan: PlanPro})
		require.NoError(t, err)
		third, err := s.CreateAccount(t.Context(), NewAccount{Name: "Third", Email: "third@example.com", Plan: PlanPro})
		require.NoError(t, err)
		_, err = s.UpdateAccount(t.Context(), s.account, func(a *Account) { a.Handle = "other" })
		requireInvalid(t, err, "handle")
		_, err = s.UpdateAccount(t.Context(), other.ID, func(a *Account) { a.Handle, a.CustomDomain = "renamed", ref("shop.example.com") })
		require.NoError(t, err)
		_, err = s.UpdateAccount(t.Context(), s.account, func(a *Account) { a.Handle = "other" })
		require.NoError(t, err, "a handle that was given up is free")
		_, err = s.UpdateAccount(t.Context(), third.ID, func(a *Account) { a.CustomDomain = ref("shop.example.com") })
		requireInvalid(t, err, "custom_domain")
		_, err = s.UpdateAccount(t.Context(), other.ID, func(a *Account) { a.CustomDomain = nil })
		require.NoError(t, err)
		_, err = s.UpdateAccount(t.Context(), third.ID, func(a *Account) { a.CustomDomain = ref("shop.example.com") })
		require.NoError(t, err)
	})
}

func TestUpdateAccount_Validates(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		for field, change := range map[string]func(*Account){
			"timezone":             func(a *Account) { a.Timezone = "Mars/Olympus" },
			"default_currency":     func(a *Account) { a.DefaultCurrency = "xxx" },
			"handle":               func(a *Account) { a.Handle = "a_b" },
			"support_email":        func(a *Account) { a.SupportEmail = ref("nobody") },
			"statement_descriptor": func(a *Account) { a.StatementDescriptor = ref("more than twenty-two characters") },
		} {
			_, err := s.UpdateAccount(t.Context(), s.account, change)
			requireInvalid(t, err, field)
		}
		before, err := s.GetAccount(t.Context(), s.account)
		require.NoError(t, err)
		after, err := s.UpdateAccount(t.Context(), s.account, func(*Account) {})
		require.NoError(t, err)
		require.Equal(t, before, after)
	})
}
