package e2e

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/tests/harness"
	"github.com/tillwright/tillwright/tests/harness/database"
	"github.com/tillwright/tillwright/tests/harness/stripefake"
)

// seller is an account that is paid through Stripe.
type seller struct {
	*site
	bank    *stripefake.Fake
	program *harness.Process
}

func newSeller(t *testing.T, url string) *seller {
	t.Helper()
	s := &seller{site: newSite(t, url), bank: stripefake.New(t)}
	s.binary.Env = append(s.binary.Env, "TILLWRIGHT_STRIPE_URL="+s.bank.URL)
	s.program = s.binary.Serve(t, "")
	_, err := s.sdk().Account.Update(background, &sdk.AccountUpdate{
		PaymentsProvider: new(sdk.PaymentsProviderStripe), StripeSecretKey: sdk.Set(s.bank.Key), StripeWebhookSecret: sdk.Set(s.bank.WebhookSecret),
	})
	require.NoError(t, err)
	return s
}

// sdk speaks to the program that runs now.
func (s *seller) sdk() *sdk.Client { return s.client(s.program).SDK() }

func (s *seller) checkout(t *testing.T) *sdk.Checkout {
	t.Helper()
	product, err := s.sdk().Products.Create(background, &sdk.ProductCreate{
		Name: "The Go Handbook", Status: new(sdk.ProductStatusActive), PriceVariants: []sdk.ProductPriceVariant{{Amount: new(int64(1900)), Currency: new("usd")}},
	})
	require.NoError(t, err)
	variants, err := s.sdk().PriceVariants.List(background, &sdk.ListPriceVariantsParams{Product: &product.ID})
	require.NoError(t, err)
	made, err := s.sdk().Checkouts.Create(background, &sdk.CheckoutCreate{
		CustomerEmail: new("grace@example.com"), CustomerEmailVerified: new(true), LineItems: []sdk.CheckoutLine{{PriceVariant: variants.Data[0].ID}},
	})
	require.NoError(t, err)
	return made
}

// confirm pays under a key of its own, so that it can be sent again.
func (s *seller) confirm(checkout *sdk.Checkout) (*sdk.Checkout, error) {
	method := &sdk.PaymentMethod{Token: "pm_card_visa"}
	return s.sdk().Checkouts.Confirm(background, checkout.ID, &sdk.CheckoutConfirm{PaymentMethod: method}, sdk.WithIdempotencyKey("confirm "+checkout.ID))
}

// The program is killed while Stripe charges, and hears nothing of it. After the next start the order is made, by the
// buyer's request that is sent again or without one. Nothing is charged a second time.
func TestStripe_AChargeOutlivesTheProgram(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		s := newSeller(t, url)
		var said strings.Builder
		for i, again := range []bool{true, false} {
			checkout := s.checkout(t)
			s.bank.Spoil(stripefake.Fault{Path: "/confirm"})
			cut := make(chan error, 1)
			go func() {
				_, err := s.confirm(checkout)
				cut <- err
			}()
			charged := int64(1900 * (i + 1))
			require.Eventually(t, func() bool { return s.bank.Taken() == charged }, harness.Patience, 5*time.Millisecond)
			s.program.Kill()
			require.Error(t, <-cut)
			said.WriteString(s.program.Log())
			s.aMinutePasses(t)

			s.program = s.binary.Serve(t, "")
			if again {
				paid, err := s.confirm(checkout)
				require.NoError(t, err)
				assert.Equal(t, sdk.CheckoutStatusCompleted, paid.Status)
			}
			require.Eventually(t, func() bool {
				now, err := s.sdk().Checkouts.Get(background, checkout.ID)
				return err == nil && now.Status == sdk.CheckoutStatusCompleted
			}, harness.Patience, 50*time.Millisecond)
			assert.Equal(t, charged, s.bank.Taken())
		}
		confirmed := slices.DeleteFunc(s.bank.Calls(), func(call string) bool { return !strings.HasSuffix(call, "/confirm") })
		assert.Len(t, confirmed, 2, "what was charged is looked up, and not asked for again")
		said.WriteString(s.program.Log())
		for _, secret := range []string{s.bank.Key, s.bank.WebhookSecret, "_secret_"} {
			assert.NotContains(t, said.String(), secret)
		}
	})
}

// A removed method is detached at Stripe although the program is killed while it says so.
func TestStripe_ARemovedMethodIsDetachedAfterAKill(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		s := newSeller(t, url)
		customer, err := s.sdk().Customers.Create(background, &sdk.CustomerCreate{Email: "ada@example.com"})
		require.NoError(t, err)
		saved, err := s.sdk().Customers.CreatePaymentMethod(background, customer.ID, &sdk.SavedPaymentMethodCreate{PaymentMethod: sdk.PaymentMethod{Token: "pm_card_visa"}})
		require.NoError(t, err)
		require.Equal(t, 1, s.bank.Attached())
		s.bank.Spoil(stripefake.Fault{Path: "/detach", Status: 500})
		_, err = s.sdk().Customers.DeletePaymentMethod(background, customer.ID, saved.ID)
		require.NoError(t, err)
		told := func() int {
			return len(slices.DeleteFunc(s.bank.Calls(), func(call string) bool { return !strings.HasSuffix(call, "/detach") }))
		}
		require.Eventually(t, func() bool { return told() == 1 }, harness.Patience, 5*time.Millisecond)
		s.program.Kill()
		require.Equal(t, 1, s.bank.Attached())
		harness.OpenDatabase(t, s.url).Must(t, `UPDATE detachments SET lease_until = 0`) // a minute passes
		s.program = s.binary.Serve(t, "")
		require.Eventually(t, func() bool { return s.bank.Attached() == 0 }, harness.Patience, 5*time.Millisecond)
		assert.Equal(t, 2, told())
	})
}

// aMinutePasses ends what the killed program had claimed. An embedded database knows by itself that nobody lives.
func (s *seller) aMinutePasses(t *testing.T) {
	t.Helper()
	if db := harness.OpenDatabase(t, s.url); db.Engine == "postgres" {
		db.Must(t, `UPDATE idempotency_keys SET lease_until = 0 WHERE status = 0`)
		db.Must(t, `UPDATE payments SET lease_until = 0 WHERE status = 'pending'`)
	}
}
