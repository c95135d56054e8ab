package store

import (
	"context"
	"fmt"
	"strings"

	"github.com/tillwright/tillwright/store/core"
)

// PaymentsProvider is who moves the money of an account.
type PaymentsProvider string

// The payment providers.
const (
	PaymentsProviderTest   PaymentsProvider = "test" // moves none
	PaymentsProviderStripe PaymentsProvider = "stripe"
)

// Refuses says why the provider neither charges nor gives back an amount, empty if it does: of currencies with three decimals
// Stripe takes two. Prices are of that kind; tax, a discount or a proration may make a total that is not.
func (p PaymentsProvider) Refuses(amount int64, currency string) string {
	if p.takes(amount, currency) == amount {
		return ""
	}
	return fmt.Sprintf("Stripe takes amounts in %s only in steps of 10, in its minor unit, and this is %d, %s.", currency, amount, core.FormatAmount(amount, currency))
}

// check is CodeInvalid on a field if the provider refuses an amount, with what the seller can do instead.
func (p PaymentsProvider) check(amount int64, currency, field, instead string) error {
	problem := p.Refuses(amount, currency)
	if problem == "" {
		return nil
	}
	refused := core.Invalid(field, problem+" "+instead)
	refused.ForSeller = true
	return refused
}

// takes is the most of an amount that the provider charges or gives back.
func (p PaymentsProvider) takes(amount int64, currency string) int64 {
	if p != PaymentsProviderStripe || core.CurrencyOf(currency).Exponent != 3 {
		return amount
	}
	return amount - amount%10
}

// usualProvider is that of a new account.
func (s *Store) usualProvider() PaymentsProvider {
	if s.livePayments {
		return PaymentsProviderStripe
	}
	return PaymentsProviderTest
}

// checkProvider refuses to choose a provider that this server does not have.
func (s *Store) checkProvider(a *Account, before PaymentsProvider) error {
	if a.PaymentsProvider == PaymentsProviderTest && before != PaymentsProviderTest && s.livePayments {
		return core.Invalid("payments_provider", "This server does not take test cards. Choose stripe.")
	}
	return nil
}

// checkStripeMode refuses keys of Stripe that do not belong together: what one makes, the other does not know. As long as
// neither changes, the secret stays sealed.
func (s *Store) checkStripeMode(a, before *Account) error {
	if a.StripePublishableKey == nil || a.NewStripeKey == nil && core.SameJSON(a.StripePublishableKey, before.StripePublishableKey) {
		return nil
	}
	secret := core.Deref(a.NewStripeKey)
	if a.NewStripeKey == nil {
		var err error
		if secret, err = s.openAccount(a.ID, "stripe", a.SealedStripeKey); err != nil {
			return err
		}
	}
	if secret == "" || stripeMode(secret) == stripeMode(*a.StripePublishableKey) {
		return nil
	}
	return core.Invalid("stripe_publishable_key", "The publishable key is of Stripe's "+stripeMode(*a.StripePublishableKey)+" mode, the secret key of its "+stripeMode(secret)+" mode. Send two of the same mode.")
}

// stripeMode is test or live: the second word of every key of Stripe.
func stripeMode(key string) string {
	_, rest, _ := strings.Cut(key, "_")
	mode, _, _ := strings.Cut(rest, "_")
	return mode
}

// CardKey is the publishable key with which a page lets Stripe take cards for the account, empty if it does not.
func (a *Account) CardKey() string {
	if a.PaymentsProvider != PaymentsProviderStripe || a.SealedStripeKey == nil {
		return ""
	}
	return core.Deref(a.StripePublishableKey)
}

// sealStripe puts new secrets of Stripe where they are kept.
func (s *Store) sealStripe(a *Account) {
	if a.NewStripeKey != nil {
		a.SealedStripeKey, a.StripeKeyLast4 = s.sealAccount(a.ID, "stripe", *a.NewStripeKey)
	}
	if a.NewStripeWebhookSecret != nil {
		a.SealedStripeWebhookSecret, a.StripeWebhookSecretLast4 = s.sealAccount(a.ID, "stripe webhook", *a.NewStripeWebhookSecret)
	}
	a.NewStripeKey, a.NewStripeWebhookSecret = nil, nil
}

// sealAccount seals a secret of an account, and returns what may be shown of it; nothing of an empty one.
func (s *Store) sealAccount(account, what, secret string) (sealed []byte, last4 *string) {
	if secret == "" {
		return nil, nil
	}
	return s.db.Options.Sealer.Seal([]byte(secret), what+"\x00"+account), new(secret[max(0, len(secret)-4):])
}

// PaymentsChoice is by which provider payments of an account begin, and whether it has the key for Stripe.
type PaymentsChoice struct {
	Provider PaymentsProvider
	HasKey   bool
}

// GetPaymentsChoice returns the choice of an account, or CodeMissing.
func (s *Store) GetPaymentsChoice(ctx context.Context, account string) (*PaymentsChoice, error) {
	a, err := s.seller(ctx, account)
	if err != nil {
		return nil, err
	}
	return &PaymentsChoice{a.PaymentsProvider, a.SealedStripeKey != nil}, nil
}

// StripeSecrets are what an account has of Stripe, each empty if there is none.
type StripeSecrets struct{ SecretKey, WebhookSecret string }

// GetStripeSecrets opens the secrets of an account, or returns CodeMissing.
func (s *Store) GetStripeSecrets(ctx context.Context, account string) (StripeSecrets, error) {
	a, err := s.findAccount(ctx, account, "")
	if err != nil {
		return StripeSecrets{}, err
	}
	key, err := s.openAccount(a.ID, "stripe", a.SealedStripeKey)
	if err != nil {
		return StripeSecrets{}, err
	}
	webhook, err := s.openAccount(a.ID, "stripe webhook", a.SealedStripeWebhookSecret)
	return StripeSecrets{key, webhook}, err
}

func (s *Store) openAccount(account, what string, sealed []byte) (string, error) {
	if sealed == nil {
		return "", nil
	}
	secret, err := s.db.Options.Sealer.Open(sealed, what+"\x00"+account)
	return string(secret), err
}
