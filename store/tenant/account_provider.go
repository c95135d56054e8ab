package tenant

import (
	"context"
	"fmt"
	"strings"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
)

// PaymentsProvider names the payment provider that moves the money of an account.
type PaymentsProvider string

// The payment providers.
const (
	PaymentsProviderTest   PaymentsProvider = "test" // moves no money
	PaymentsProviderStripe PaymentsProvider = "stripe"
)

// Refuses says in a sentence why the provider can neither charge nor give back an amount, and returns nothing if it can. In
// currencies with three decimals Stripe takes only multiples of 10 of the minor unit. Prices are checked to be that, but tax, a
// discount or a proration may make a total that is not.
func (p PaymentsProvider) Refuses(amount int64, currency string) string {
	if p.Takes(amount, currency) == amount {
		return ""
	}
	return fmt.Sprintf("Stripe takes amounts in %s only in steps of 10, in its minor unit, and this is %d, %s.", currency, amount, core.FormatAmount(amount, currency))
}

// Check returns CodeInvalid on the field if the provider refuses the amount, and tells the seller what to do instead.
func (p PaymentsProvider) Check(amount int64, currency, field, instead string) error {
	problem := p.Refuses(amount, currency)
	if problem == "" {
		return nil
	}
	refused := core.Invalid(field, problem+" "+instead)
	refused.ForSeller = true
	return refused
}

// Takes returns the most of an amount that the provider charges or gives back: all of it, or less for Refuses' reason.
func (p PaymentsProvider) Takes(amount int64, currency string) int64 {
	if p != PaymentsProviderStripe || core.CurrencyOf(currency).Exponent != 3 {
		return amount
	}
	return amount - amount%10
}

// usualProvider returns the provider that a new account begins with.
func (s *Store) usualProvider() PaymentsProvider {
	if s.livePayments {
		return PaymentsProviderStripe
	}
	return PaymentsProviderTest
}

// checkProvider returns CodeInvalid if an account changes to the test provider on a server that takes real payments only.
func (s *Store) checkProvider(a *Account, before PaymentsProvider) error {
	if a.PaymentsProvider == PaymentsProviderTest && before != PaymentsProviderTest && s.livePayments {
		return core.Invalid("payments_provider", "This server does not take test cards. Choose stripe.")
	}
	return nil
}

// checkStripeMode returns CodeInvalid if one of the account's two Stripe keys is for test mode and the other for live mode. Stripe does not know
// with the one what was made with the other. The stored secret is opened only if one of the keys is new.
func (s *Store) checkStripeMode(a *AccountChange, before *Account) error {
	if a.StripePublishableKey == nil || a.StripeKey == nil && core.SameJSON(a.StripePublishableKey, before.StripePublishableKey) {
		return nil
	}
	secret := core.Deref(a.StripeKey)
	if a.StripeKey == nil {
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

// stripeMode returns the mode that a Stripe key is for, test or live. It is the key's second word, as in sk_live_1.
func stripeMode(key string) string {
	_, rest, _ := strings.Cut(key, "_")
	mode, _, _ := strings.Cut(rest, "_")
	return mode
}

// CardKey returns the publishable key with which a page lets Stripe take cards for the account. It is empty if the account does
// not pay by Stripe, or has no secret key to charge with.
func (a *Account) CardKey() string {
	if a.PaymentsProvider != PaymentsProviderStripe || a.SealedStripeKey == nil {
		return ""
	}
	return core.Deref(a.StripePublishableKey)
}

// sealStripe seals the new Stripe secrets of the account into their columns, and forgets their plain text. An empty one removes
// what was there; nil leaves it.
func (s *Store) sealStripe(a *AccountChange) {
	if a.StripeKey != nil {
		a.SealedStripeKey, a.StripeKeyLast4 = s.sealAccount(a.ID, "stripe", *a.StripeKey)
		a.KeyToldAt = nil
	}
	if a.StripeWebhookSecret != nil {
		a.SealedStripeWebhookSecret, a.StripeWebhookSecretLast4 = s.sealAccount(a.ID, "stripe webhook", *a.StripeWebhookSecret)
	}
}

// sealAccount seals a secret of an account, and returns it with its last four characters, which may be shown. Both are nil for
// an empty secret. What names the secret: it can be opened under the same name and account only.
func (s *Store) sealAccount(account, what, secret string) (sealed []byte, last4 *string) {
	if secret == "" {
		return nil, nil
	}
	return s.db.Options.Sealer.Seal([]byte(secret), what+"\x00"+account), new(secret[max(0, len(secret)-4):])
}

// PaymentsChoice is the provider with which new payments of an account begin, and whether the account has a secret key for
// Stripe.
type PaymentsChoice struct {
	Provider PaymentsProvider
	HasKey   bool
}

// GetPaymentsChoice returns an account's choice of provider, or CodeMissing.
func (s *Store) GetPaymentsChoice(ctx context.Context, account string) (*PaymentsChoice, error) {
	a, err := s.Seller(ctx, s.db, account)
	if err != nil {
		return nil, err
	}
	return &PaymentsChoice{a.PaymentsProvider, a.SealedStripeKey != nil}, nil
}

// StripeSecrets are an account's secrets for Stripe in plain text. Each is empty if the account has none.
type StripeSecrets struct{ SecretKey, WebhookSecret string }

// GetStripeSecrets opens an account's secrets for Stripe, or returns CodeMissing.
func (s *Store) GetStripeSecrets(ctx context.Context, account string) (StripeSecrets, error) {
	a, err := s.getAccount(ctx, s.db, account)
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

// NoteKeyTold notes that the team of an account is told that Stripe refuses a key, and reports whether it is to be told. It is not if the account has
// another key, is disabled, or was told after a time of this key.
func (s *Store) NoteKeyTold(ctx context.Context, u *db.Unit, account, key string, after core.Time) (bool, error) {
	a, err := s.getAccount(ctx, u, account)
	if err != nil {
		return false, err
	}
	if has, err := s.openAccount(a.ID, "stripe", a.SealedStripeKey); err != nil || has != key {
		return false, err
	}
	// The key may be replaced before this statement has the row.
	rows, err := u.Exec(ctx, `UPDATE accounts SET key_told_at = ? WHERE id = ? AND stripe_secret_key = ? AND disabled_at IS NULL AND (key_told_at IS NULL OR key_told_at <= ?)`,
		s.Now(), account, a.SealedStripeKey, after)
	return rows > 0, err
}

func (s *Store) openAccount(account, what string, sealed []byte) (string, error) {
	if sealed == nil {
		return "", nil
	}
	secret, err := s.db.Options.Sealer.Open(sealed, what+"\x00"+account)
	return string(secret), err
}
