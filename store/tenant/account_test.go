package tenant

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/internal/dbtest"
	"github.com/tillwright/tillwright/tests/harness/database"
)

// TestAccount_HasTheBoundsThatTheGuidesGive holds the figures of their sentences about pauses and about payments that wait.
func TestAccount_HasTheBoundsThatTheGuidesGive(t *testing.T) {
	t.Parallel()
	guides := ""
	for _, name := range []string{"limits", "stripe"} {
		file, err := os.ReadFile("../../server/reference/guide/" + name + ".md")
		require.NoError(t, err)
		guides += strings.Join(strings.Fields(string(file)), " ")
	}
	for _, sentence := range []string{
		fmt.Sprintf("When %d checkouts were declined in an hour without a key", defaultDeclineLimit),
		fmt.Sprintf("(%d to %d, %d unless you say so)", minHoldMinutes, maxHoldMinutes, defaultHoldMinutes),
		fmt.Sprintf("After %d minutes, or the account's `payment_hold_minutes`", defaultHoldMinutes),
	} {
		require.Contains(t, guides, sentence)
	}
}

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
		dbtest.RequireInvalid(t, err, "email")
		_, err = s.CreateAccount(t.Context(), NewAccount{Name: "X", Email: "x@example.com", Plan: "gold"})
		dbtest.RequireInvalid(t, err, "plan")
	})
}

func TestUpdateAccount_NeedsThePlan(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		for param, change := range map[string]func(*AccountChange){
			"custom_domain":   func(a *AccountChange) { a.CustomDomain = ref("shop.example.com") },
			"remove_branding": func(a *AccountChange) { a.RemoveBranding = true },
		} {
			_, err := s.UpdateAccount(t.Context(), s.account, change)
			var e *core.Error
			require.ErrorAs(t, err, &e)
			require.Equal(t, core.CodePlan, e.Code)
			require.Equal(t, param, e.Param)

			pro, err := s.CreateAccount(t.Context(), NewAccount{Name: "Pro", Email: "pro@example.com", Plan: PlanPro})
			require.NoError(t, err)
			_, err = s.UpdateAccount(t.Context(), pro.ID, change)
			require.NoError(t, err)
		}
	})
}

func TestUpdateAccount_HandlesAreUniqueOnTheServer(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		other, err := s.CreateAccount(t.Context(), NewAccount{Name: "Other", Email: "other@example.com", Plan: PlanPro})
		require.NoError(t, err)
		_, err = s.UpdateAccount(t.Context(), s.account, func(a *AccountChange) { a.Handle = "other" })
		dbtest.RequireInvalid(t, err, "handle")
		_, err = s.UpdateAccount(t.Context(), other.ID, func(a *AccountChange) { a.Handle = "renamed" })
		require.NoError(t, err)
		_, err = s.UpdateAccount(t.Context(), s.account, func(a *AccountChange) { a.Handle = "other" })
		require.NoError(t, err, "a handle that was given up is free")
	})
}

// Nobody has verified either of them: who says it first must not keep the domain's owner from it.
func TestUpdateAccount_ACustomDomainIsNobodysAlone(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		for _, name := range []string{"Squatter", "Owner"} {
			a, err := s.CreateAccount(t.Context(), NewAccount{Name: name, Email: "a@example.com", Plan: PlanPro})
			require.NoError(t, err)
			a, err = s.UpdateAccount(t.Context(), a.ID, func(a *AccountChange) { a.CustomDomain = ref("shop.example.com") })
			require.NoError(t, err, name)
			require.Equal(t, "shop.example.com", *a.CustomDomain)
		}
	})
}

// Of a thousand accounts of one name the next one looks for its handle about twenty times.
func TestCreateAccount_FindsAHandleAmongMany(t *testing.T) {
	t.Parallel()
	s := newShop(t, database.URL(t, core.SQLite))
	for number := 2; number <= 1000; number++ {
		_, err := s.db.Write.DB.Exec(`INSERT INTO global_names (kind, name, account_id, object_id) VALUES ('handle', ?, 'acct_x', 'acct_x')`,
			db.Numbered("ada-s-shop", number))
		require.NoError(t, err)
	}
	looks := 0
	_, err := db.Tx(t.Context(), s.db, func(ctx context.Context, u *db.Unit) (string, error) {
		number, err := db.FreeNumber(func(number int) (bool, error) {
			looks++
			return s.handleTaken(ctx, u, db.Numbered("ada-s-shop", number))
		})
		require.Equal(t, 1001, number)
		return "", err
	})
	require.NoError(t, err)
	require.Less(t, looks, 25)
	a, err := s.CreateAccount(t.Context(), NewAccount{Name: "Ada's Shop", Email: "ada@example.com"})
	require.NoError(t, err)
	require.Equal(t, "ada-s-shop-1001", a.Handle)
}

func TestUpdateAccount_Validates(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		for field, change := range map[string]func(*AccountChange){
			"timezone":             func(a *AccountChange) { a.Timezone = "Mars/Olympus" },
			"default_currency":     func(a *AccountChange) { a.DefaultCurrency = "xxx" },
			"handle":               func(a *AccountChange) { a.Handle = "a_b" },
			"support_email":        func(a *AccountChange) { a.SupportEmail = ref("nobody") },
			"statement_descriptor": func(a *AccountChange) { a.StatementDescriptor = ref("more than twenty-two characters") },
		} {
			_, err := s.UpdateAccount(t.Context(), s.account, change)
			dbtest.RequireInvalid(t, err, field)
		}
		before, err := s.GetAccount(t.Context(), s.account)
		require.NoError(t, err)
		after, err := s.UpdateAccount(t.Context(), s.account, func(*AccountChange) {})
		require.NoError(t, err)
		require.Equal(t, before, after)
	})
}

// Rates that were stored before they meant the same region keep nobody from changing anything else.
func TestUpdateAccount_LooksAtRatesThatChangeAlone(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		twice := []TaxRate{{Country: ref("US"), Region: ref("CA"), Name: "Sales tax"}, {Country: ref("US"), Region: ref("California"), Name: "Sales tax"}}
		settings := core.JSONText(TaxSettings{Mode: TaxModeFlatTable, Behavior: TaxBehaviorExclusive, Rates: twice})
		_, err := s.db.Write.DB.ExecContext(t.Context(), s.db.Write.DB.Rebind(`UPDATE accounts SET tax = ? WHERE id = ?`), settings, s.account)
		require.NoError(t, err)
		a, err := s.UpdateAccount(t.Context(), s.account, func(a *AccountChange) { a.Name = "Ada's Books" })
		require.NoError(t, err)
		require.Equal(t, "Ada's Books", a.Name)
		_, err = s.UpdateAccount(t.Context(), s.account, func(a *AccountChange) { a.Tax.V.Behavior = TaxBehaviorInclusive })
		dbtest.RequireInvalid(t, err, "tax.rates.1.country")
	})
}

func TestUpdateAccount_SealsTheSecretsOfStripe(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		secrets, err := s.GetStripeSecrets(t.Context(), s.account)
		require.NoError(t, err)
		require.Zero(t, secrets)
		a, err := s.UpdateAccount(t.Context(), s.account, func(a *AccountChange) {
			a.StripeKey, a.StripeWebhookSecret = ref("sk_test_secret"), ref("whsec_signs")
		})
		require.NoError(t, err)
		require.Equal(t, "cret", *a.StripeKeyLast4)
		a, err = s.GetAccount(t.Context(), s.account)
		require.NoError(t, err)
		require.NotContains(t, string(a.SealedStripeKey), "secret")
		require.NotContains(t, string(a.SealedStripeWebhookSecret), "signs")
		secrets, err = s.GetStripeSecrets(t.Context(), s.account)
		require.NoError(t, err)
		require.Equal(t, StripeSecrets{SecretKey: "sk_test_secret", WebhookSecret: "whsec_signs"}, secrets)

		other, err := s.CreateAccount(t.Context(), NewAccount{Name: "Other", Email: "other@example.com"})
		require.NoError(t, err)
		_, err = s.db.Write.DB.ExecContext(t.Context(), s.db.Write.DB.Rebind(`
			UPDATE accounts SET stripe_secret_key = (SELECT stripe_secret_key FROM accounts WHERE id = ?) WHERE id = ?`), s.account, other.ID)
		require.NoError(t, err)
		_, err = s.GetStripeSecrets(t.Context(), other.ID)
		require.ErrorIs(t, err, core.ErrSealed, "a secret is of no use to another account")

		_, err = s.UpdateAccount(t.Context(), s.account, func(a *AccountChange) { a.StripeKey = ref("") })
		require.NoError(t, err)
		choice, err := s.GetPaymentsChoice(t.Context(), s.account)
		require.NoError(t, err)
		require.Equal(t, &PaymentsChoice{Provider: PaymentsProviderTest}, choice)
	})
}

// Where payments are real, nobody comes to the test provider, neither at first nor later.
func TestCreateAccount_IsPaidByARealProvider(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		s.livePayments = true
		a, err := s.CreateAccount(t.Context(), NewAccount{Name: "Live", Email: "live@example.com"})
		require.NoError(t, err)
		require.Equal(t, PaymentsProviderStripe, a.PaymentsProvider)
		_, err = s.UpdateAccount(t.Context(), a.ID, func(a *AccountChange) { a.PaymentsProvider = PaymentsProviderTest })
		dbtest.RequireInvalid(t, err, "payments_provider")
		_, err = s.UpdateAccount(t.Context(), s.account, func(a *AccountChange) { a.Name = "Made before" })
		require.NoError(t, err)
	})
}

// Keys of two modes of Stripe do not know what the other has made.
func TestUpdateAccount_TakesKeysOfStripeOfOneMode(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		set := func(publishable, secret *string) error {
			_, err := s.UpdateAccount(t.Context(), s.account, func(a *AccountChange) {
				if publishable != nil {
					a.StripePublishableKey = publishable
				}
				a.StripeKey = secret
			})
			return err
		}
		require.NoError(t, set(ref("pk_live_abcd"), nil))
		dbtest.RequireInvalid(t, set(nil, ref("sk_test_abcd")), "stripe_publishable_key")
		require.NoError(t, set(nil, ref("rk_live_abcd")))
		dbtest.RequireInvalid(t, set(ref("pk_test_abcd"), nil), "stripe_publishable_key")
		require.NoError(t, set(ref("pk_test_abcd"), ref("sk_test_abcd")))
		_, err := s.db.Write.DB.ExecContext(t.Context(), s.db.Write.DB.Rebind(`UPDATE accounts SET stripe_secret_key = ? WHERE id = ?`), []byte("of another server"), s.account)
		require.NoError(t, err)
		_, err = s.UpdateAccount(t.Context(), s.account, func(a *AccountChange) { a.Name = "Ada" })
		require.NoError(t, err, "what does not concern the keys opens none")
		require.NoError(t, set(nil, ref("")), "no secret key is of no mode")

		a, err := s.GetAccount(t.Context(), s.account)
		require.NoError(t, err)
		require.Empty(t, a.CardKey(), "the account does not use Stripe")
		a.PaymentsProvider = PaymentsProviderStripe
		require.Empty(t, a.CardKey(), "the account has no secret key")
		a.SealedStripeKey = []byte("sealed")
		require.Equal(t, "pk_test_abcd", a.CardKey())
	})
}

func TestChangePlan_SwitchesOffWhatItDoesNotInclude(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		change := func(plan Plan) (*Account, error) {
			return s.UpdateAccount(t.Context(), s.account, func(a *AccountChange) { a.ChangePlan(plan) })
		}
		_, err := change(PlanPro)
		require.NoError(t, err)
		_, err = s.UpdateAccount(t.Context(), s.account, func(a *AccountChange) { a.CustomDomain, a.RemoveBranding = ref("shop.ada.example"), true })
		require.NoError(t, err)
		a, err := change(PlanBusiness)
		require.NoError(t, err)
		require.True(t, a.RemoveBranding)
		a, err = change(PlanFree)
		require.NoError(t, err)
		require.Equal(t, PlanFree, a.Plan)
		require.Nil(t, a.CustomDomain)
		require.False(t, a.RemoveBranding)
		_, err = change("gold")
		dbtest.RequireInvalid(t, err, "plan")
	})
}
