package tenant

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
)

// Plan is what an account has booked with, and pays to, the operator of this server.
type Plan string

// The plans.
const (
	PlanFree     Plan = "free"
	PlanPro      Plan = "pro"
	PlanBusiness Plan = "business"
)

// What a plan may include.
const (
	FeatureCustomDomain   = "custom_domain"
	FeatureRemoveBranding = "remove_branding"
)

// Features returns what the plan includes.
func (p Plan) Features() []string {
	if p == PlanPro || p == PlanBusiness {
		return []string{FeatureCustomDomain, FeatureRemoveBranding}
	}
	return []string{}
}

// Account is a merchant. Everything else belongs to one.
type Account struct {
	ID                        string                   `db:"id"`
	Name                      string                   `db:"name"`
	Handle                    string                   `db:"handle"` // unique on this server
	Email                     string                   `db:"email"`
	SupportEmail              *string                  `db:"support_email"`
	WebsiteURL                *string                  `db:"website_url"`
	LogoURL                   *string                  `db:"logo_url"`
	AccentColor               *string                  `db:"accent_color"` // #rrggbb of the pages for buyers, nil for ours
	Country                   *string                  `db:"country"`
	DefaultCurrency           string                   `db:"default_currency"`
	Timezone                  string                   `db:"timezone"`
	Locale                    string                   `db:"locale"`
	BusinessName              *string                  `db:"business_name"`
	BusinessAddress           core.JSON[*core.Address] `db:"business_address"`
	TaxID                     *string                  `db:"tax_id"`
	Plan                      Plan                     `db:"plan"`
	StatementDescriptor       *string                  `db:"statement_descriptor"`
	CustomDomain              *string                  `db:"custom_domain"` // not unique before somebody verifies it: see AISite
	RemoveBranding            bool                     `db:"remove_branding"`
	CheckoutRequiresTerms     bool                     `db:"checkout_requires_terms"`
	TrialOncePerCustomer      bool                     `db:"trial_once_per_customer"` // whoever had a trial of a product gets no other one of it
	CheckoutAdsConsent        bool                     `db:"checkout_ads_consent"`    // the pages ask whether ad networks may be told of a purchase
	LeadAdsConsent            bool                     `db:"lead_ads_consent"`        // the forms of sites ask whether ad networks may be told of a lead
	LeadConfirmation          LeadConfirmation         `db:"lead_confirmation"`
	CaptureAbandonedCheckouts bool                     `db:"capture_abandoned_checkouts"` // those that expire become leads
	LettersOff                core.JSON[[]LetterKind]  `db:"letters_off"`                 // those that are not sent, of the kinds of releases before this one
	NewLettersOff             core.JSON[[]LetterKind]  `db:"new_letters_off"`             // and of the newKinds
	LettersOn                 core.JSON[[]LetterKind]  `db:"letters_on"`                  // those that they are sent, of what is off at first
	InvoicePrefix             string                   `db:"invoice_prefix"`
	FirstInvoiceNumber        int64                    `db:"first_invoice_number"`
	NextInvoiceNumber         int64                    `db:"-"` // set by numberInvoices
	Tax                       core.JSON[TaxSettings]   `db:"tax"`
	ProrationBehavior         ProrationBehavior        `db:"proration_behavior"`
	Dunning                   core.JSON[Dunning]       `db:"dunning"`
	PastDueAccess             PastDueAccess            `db:"past_due_access"`
	PaymentsProvider          PaymentsProvider         `db:"payments_provider"`
	DeclineLimit              *int64                   `db:"decline_limit"`          // declines in an hour that pause the payments of buyers without a key; nil: none do
	PaymentsPausedUntil       *core.Time               `db:"payments_paused_until"`  // by the store's time
	PaymentHoldMinutes        int64                    `db:"payment_hold_minutes"`   // how long a buyer has to do what a payment requires of them
	StripePublishableKey      *string                  `db:"stripe_publishable_key"` // for the pages; no secret
	SealedStripeKey           []byte                   `db:"stripe_secret_key"`
	StripeKeyLast4            *string                  `db:"stripe_secret_key_last4"` // nil: there is none
	SealedStripeWebhookSecret []byte                   `db:"stripe_webhook_secret"`
	StripeWebhookSecretLast4  *string                  `db:"stripe_webhook_secret_last4"`
	KeyToldAt                 *core.Time               `db:"key_told_at"` // when the team was told that the provider refuses the key; nil: never of this one
	DisabledAt                *core.Time               `db:"disabled_at"` // nil while it is enabled
	Rests                     core.JSON[[]Rest]        `db:"rests"`       // the times in which it was disabled, the latest last
	CreatedAt                 core.Time                `db:"created_at"`
	UpdatedAt                 core.Time                `db:"updated_at"`
}

// AccountChange is an account in the hands of whoever changes it, with the secrets that come beside it and are stored sealed. A nil secret leaves
// what is there, an empty one removes it.
type AccountChange struct {
	*Account
	StripeKey           *string
	StripeWebhookSecret *string
}

// PastDueAccess says whether subscribers keep what they have while a payment of theirs is past due.
type PastDueAccess string

// What becomes of access when a payment is past due, until it is paid or given up.
const (
	PastDueAccessKeep    PastDueAccess = "keep"
	PastDueAccessSuspend PastDueAccess = "suspend"
)

// ProrationBehavior says when a change of plan is billed.
type ProrationBehavior string

// The proration behaviors.
const (
	ProrationBehaviorInvoiceImmediately ProrationBehavior = "invoice_immediately"
	ProrationBehaviorNextInvoice        ProrationBehavior = "next_invoice"
	ProrationBehaviorNextPeriod         ProrationBehavior = "next_period" // nothing is prorated: the change waits
)

// LeadConfirmation says what makes a lead of a form count as having agreed to letters.
type LeadConfirmation string

// What confirms a lead: its form alone, or the button on the page that a letter to it leads to.
const (
	LeadConfirmationNone        LeadConfirmation = "none"
	LeadConfirmationDoubleOptIn LeadConfirmation = "double_opt_in"
)

// MinDeclineLimit is the least of declines in an hour after which an account can have its payments paused. The other two are how
// many it takes unless the seller says so, and the most.
const MinDeclineLimit, defaultDeclineLimit, maxDeclineLimit = 10, 100, 1_000_000

// defaultHoldMinutes and the next two bound the time that a seller gives buyers for an action that the provider requires. One at their bank is
// such an action. Their stock is held meanwhile.
const defaultHoldMinutes, minHoldMinutes, maxHoldMinutes = 30, 5, 120

// NewAccount is an account to be made. Without a plan it is free.
type NewAccount struct {
	Name, Email string
	Plan        Plan
}

var accountColumns = db.ColumnsOf[Account]("accounts")

// Local returns a moment where the seller is, for what people read: dates of documents and letters are those of the seller's time zone.
func (a *Account) Local(at core.Time) time.Time {
	where, err := core.LoadZone(a.Timezone)
	if err != nil { // it was checked when it was set, by a newer list perhaps
		where = time.UTC
	}
	return at.Time().In(where)
}

// ChangePlan gives the account another plan, and switches off every feature that the new plan does not include. With a plan that
// does not exist nothing is switched off: check will refuse it.
func (a *Account) ChangePlan(plan Plan) {
	a.Plan = plan
	if !slices.Contains([]Plan{PlanFree, PlanPro, PlanBusiness}, plan) {
		return
	}
	if !slices.Contains(plan.Features(), FeatureCustomDomain) {
		a.CustomDomain = nil
	}
	if !slices.Contains(plan.Features(), FeatureRemoveBranding) {
		a.RemoveBranding = false
	}
}

// checkPlan returns CodePlan for the first feature that is switched on and not included in the plan. Whatever is switched off
// needs no plan.
func (a *Account) checkPlan() error {
	needed := map[string]bool{FeatureCustomDomain: a.CustomDomain != nil, FeatureRemoveBranding: a.RemoveBranding}
	for _, feature := range []string{FeatureCustomDomain, FeatureRemoveBranding} {
		if needed[feature] && !slices.Contains(a.Plan.Features(), feature) {
			return &core.Error{Code: core.CodePlan, Param: feature, Message: fmt.Sprintf("The %s plan does not include %s. Upgrade to pro first.", a.Plan, feature)}
		}
	}
	return nil
}

// GetAccount returns an account with the number of its next invoice, or CodeMissing.
func (s *Store) GetAccount(ctx context.Context, account string) (*Account, error) {
	return s.GetAccountIn(ctx, s.db, account)
}

// GetAccountIn does what GetAccount does, where r says.
func (s *Store) GetAccountIn(ctx context.Context, r db.Reader, account string) (*Account, error) {
	a, err := s.getAccount(ctx, r, account)
	if err != nil {
		return nil, err
	}
	return a, s.numberInvoices(ctx, r, a)
}

// HasAccounts reports whether there is any account yet.
func (s *Store) HasAccounts(ctx context.Context) (bool, error) {
	row, err := db.Get[int](ctx, s.db, `SELECT 1 FROM accounts LIMIT 1`)
	return row != nil, err
}

// ListAccounts returns all accounts, the oldest first. It is for whoever runs the server, not for the API.
func (s *Store) ListAccounts(ctx context.Context) ([]Account, error) {
	return db.Select[Account](ctx, s.db, accountColumns.SelectSQL+` ORDER BY id`)
}

// CreateAccount makes an account with the usual settings, and with a handle made from its name that no other account has.
func (s *Store) CreateAccount(ctx context.Context, in NewAccount) (*Account, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (*Account, error) {
		a := &Account{ID: core.NewID(core.KindAccount), Name: in.Name, Email: in.Email, Plan: cmp.Or(in.Plan, PlanFree),
			Handle: "account", DefaultCurrency: "usd", Timezone: "UTC", Locale: "en", PaymentsProvider: s.usualProvider(),
			InvoicePrefix: "INV", FirstInvoiceNumber: 1, NextInvoiceNumber: 1, ProrationBehavior: ProrationBehaviorInvoiceImmediately, PastDueAccess: PastDueAccessKeep,
			Tax:          core.JSONOf(TaxSettings{Mode: TaxModeNone, Behavior: TaxBehaviorExclusive, Rates: []TaxRate{}}),
			Dunning:      core.JSONOf(Dunning{IntervalsDays: []int64{2, 5, 7, 7}, OnExhausted: "cancel"}),
			DeclineLimit: new(int64(defaultDeclineLimit)), LeadConfirmation: LeadConfirmationNone, LettersOff: core.JSONOf([]LetterKind{}), NewLettersOff: core.JSONOf([]LetterKind{}),
			LettersOn:          core.JSONOf([]LetterKind{}),
			PaymentHoldMinutes: defaultHoldMinutes, CreatedAt: s.Now()}
		a.UpdatedAt = a.CreatedAt
		if err := a.check(&Account{}); err != nil {
			return nil, err
		}
		var err error
		if a.Handle, err = s.takeFreeHandle(ctx, u, a); err != nil {
			return nil, err
		}
		return a, u.Insert(ctx, accountColumns, a)
	})
}

// UpdateAccount locks the account, applies change, checks and stores it. It returns CodePlan for a feature that the plan does not include. It
// returns CodeInvalid for what is not acceptable, such as a handle that another account has. A change that changes nothing stores nothing.
func (s *Store) UpdateAccount(ctx context.Context, account string, change func(*AccountChange)) (*Account, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (*Account, error) {
		a, err := s.lockAccount(ctx, u, account)
		if err != nil {
			return nil, err
		}
		if err := s.numberInvoices(ctx, u, a); err != nil {
			return nil, err
		}
		before, changed := *a, AccountChange{Account: a}
		text := core.JSONText(changed)
		change(&changed)
		if core.JSONText(changed) == text {
			return a, nil
		}
		if err := a.checkPlan(); err != nil {
			return nil, err
		}
		if err := s.checkProvider(a, before.PaymentsProvider); err != nil {
			return nil, err
		}
		if err := s.checkStripeMode(&changed, &before); err != nil {
			return nil, err
		}
		if a.PaymentsPausedUntil != nil && !core.SameJSON(a.PaymentsPausedUntil, before.PaymentsPausedUntil) {
			return nil, core.Invalid("payments_paused_until", "Send null to let buyers pay again. Only declines pause their payments.")
		}
		s.sealStripe(&changed)
		if err := a.check(&before); err != nil {
			return nil, err
		}
		if a.Handle != before.Handle {
			if err := s.exchangeHandle(ctx, u, a, before.Handle); err != nil {
				return nil, err
			}
		}
		if err := s.raiseInvoiceNumber(ctx, u, a, before.NextInvoiceNumber); err != nil {
			return nil, err
		}
		a.UpdatedAt = s.Now()
		return a, u.Update(ctx, accountColumns, a)
	})
}

// numberInvoices sets a.NextInvoiceNumber, which is not a column of the account: the number after that of its last invoice, or
// its first number.
func (s *Store) numberInvoices(ctx context.Context, r db.Reader, a *Account) error {
	last, err := db.Get[int64](ctx, r, `SELECT value FROM counters WHERE account_id = ? AND name = 'invoice_number'`, a.ID)
	if err != nil {
		return fmt.Errorf("read the last invoice number: %w", err)
	}
	a.NextInvoiceNumber = max(core.Deref(last)+1, a.FirstInvoiceNumber)
	return nil
}

// raiseInvoiceNumber stores a new number for the account's first invoice, if a.NextInvoiceNumber is not the one before any more.
// The number can only be raised, and only as long as no invoice has one: after that they go on without gaps. Else it is
// CodeInvalid on next_invoice_number.
func (s *Store) raiseInvoiceNumber(ctx context.Context, u *db.Unit, a *Account, before int64) error {
	if a.NextInvoiceNumber == before {
		return nil
	}
	if a.NextInvoiceNumber < before {
		return core.Invalid("next_invoice_number", fmt.Sprintf("The next invoice number is %d. It can only be raised.", before))
	}
	rows, err := u.Exec(ctx, `
		INSERT INTO counters AS c (account_id, name, value) VALUES (?, 'invoice_number', ?)
		ON CONFLICT (account_id, name) DO UPDATE SET value = excluded.value WHERE c.value < ?`,
		a.ID, a.NextInvoiceNumber-1, a.FirstInvoiceNumber)
	if err != nil {
		return fmt.Errorf("raise the invoice number: %w", err)
	}
	// The counter is at the first number or beyond: an invoice has taken it.
	if rows == 0 {
		return core.Invalid("next_invoice_number", "The account has finalised an invoice: its numbers go on without gaps.")
	}
	a.FirstInvoiceNumber = a.NextInvoiceNumber
	return nil
}

// getAccount reads an account, or returns CodeMissing. A pause of its payments that is over reads as none.
func (s *Store) getAccount(ctx context.Context, r db.Reader, account string) (*Account, error) {
	return s.findAccount(ctx, r, account)
}

// lockAccount does what getAccount does, and locks the row until the transaction ends.
func (s *Store) lockAccount(ctx context.Context, u *db.Unit, account string) (*Account, error) {
	return s.findAccount(ctx, u.Locked(), account)
}

func (s *Store) findAccount(ctx context.Context, r db.Reader, account string) (*Account, error) {
	a, err := db.Get[Account](ctx, r, accountColumns.SelectSQL+` WHERE id = ?`, account)
	if err == nil && a == nil {
		err = core.Missing("account", "", account)
	}
	if err == nil {
		s.endPause(a)
	}
	return a, err
}

// endPause forgets a pause of payments that is over.
func (s *Store) endPause(a *Account) {
	if a.PaymentsPausedUntil != nil && *a.PaymentsPausedUntil <= s.Now() {
		a.PaymentsPausedUntil = nil
	}
}
