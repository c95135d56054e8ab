package view

import (
	"github.com/oapi-codegen/nullable"

	"github.com/tillwright/tillwright/gen/api"
	"github.com/tillwright/tillwright/store/tenant"
)

// Account renders an account.
func Account(a *tenant.Account) api.Account {
	return api.Account{
		ID:                        a.ID,
		Object:                    "account",
		Name:                      a.Name,
		Handle:                    a.Handle,
		Email:                     a.Email,
		SupportEmail:              a.SupportEmail,
		WebsiteURL:                a.WebsiteURL,
		LogoURL:                   a.LogoURL,
		AccentColor:               a.AccentColor,
		Country:                   a.Country,
		DefaultCurrency:           a.DefaultCurrency,
		Timezone:                  a.Timezone,
		Locale:                    a.Locale,
		BusinessName:              a.BusinessName,
		BusinessAddress:           address(a.BusinessAddress.V),
		TaxID:                     a.TaxID,
		Plan:                      api.AccountPlan(a.Plan),
		PlanFeatures:              a.Plan.Features(),
		StatementDescriptor:       a.StatementDescriptor,
		CustomDomain:              a.CustomDomain,
		RemoveBranding:            a.RemoveBranding,
		CheckoutRequiresTerms:     a.CheckoutRequiresTerms,
		TrialOncePerCustomer:      a.TrialOncePerCustomer,
		CheckoutAdsConsent:        a.CheckoutAdsConsent,
		LeadAdsConsent:            a.LeadAdsConsent,
		LeadConfirmation:          api.LeadConfirmation(a.LeadConfirmation),
		CaptureAbandonedCheckouts: a.CaptureAbandonedCheckouts,
		Letters:                   letterSettings(a),
		InvoicePrefix:             a.InvoicePrefix,
		NextInvoiceNumber:         a.NextInvoiceNumber,
		Tax:                       taxSettings(a.Tax.V),
		ProrationBehavior:         api.ProrationBehavior(a.ProrationBehavior),
		PastDueAccess:             api.PastDueAccess(a.PastDueAccess),
		Dunning:                   api.Dunning{IntervalsDays: a.Dunning.V.IntervalsDays, OnExhausted: api.DunningOnExhausted(a.Dunning.V.OnExhausted)},
		PaymentsProvider:          api.PaymentsProvider(a.PaymentsProvider),
		StripePublishableKey:      a.StripePublishableKey,
		StripeSecretKeyLast4:      a.StripeKeyLast4,
		StripeWebhookSecretLast4:  a.StripeWebhookSecretLast4,
		DeclineLimit:              a.DeclineLimit,
		PaymentsPausedUntil:       atOrNull(a.PaymentsPausedUntil),
		PaymentHoldMinutes:        a.PaymentHoldMinutes,
		CreatedAt:                 at(a.CreatedAt),
		UpdatedAt:                 at(a.UpdatedAt),
	}
}

// AccountChange reads the body of a PATCH.
func AccountChange(b *api.AccountUpdate) func(*tenant.AccountChange) {
	return func(a *tenant.AccountChange) {
		set(&a.Name, b.Name)
		set(&a.Handle, b.Handle)
		set(&a.Email, b.Email)
		setOrClear(&a.SupportEmail, b.SupportEmail)
		setOrClear(&a.WebsiteURL, b.WebsiteURL)
		setOrClear(&a.LogoURL, b.LogoURL)
		setOrClear(&a.AccentColor, b.AccentColor)
		setOrClear(&a.Country, b.Country)
		set(&a.DefaultCurrency, b.DefaultCurrency)
		set(&a.Timezone, b.Timezone)
		set(&a.Locale, b.Locale)
		setOrClear(&a.BusinessName, b.BusinessName)
		setAddress(&a.BusinessAddress, b.BusinessAddress)
		setOrClear(&a.TaxID, b.TaxID)
		setOrClear(&a.StatementDescriptor, b.StatementDescriptor)
		setOrClear(&a.CustomDomain, b.CustomDomain)
		set(&a.RemoveBranding, b.RemoveBranding)
		set(&a.CheckoutRequiresTerms, b.CheckoutRequiresTerms)
		set(&a.TrialOncePerCustomer, b.TrialOncePerCustomer)
		set(&a.CheckoutAdsConsent, b.CheckoutAdsConsent)
		set(&a.LeadAdsConsent, b.LeadAdsConsent)
		setAs(&a.LeadConfirmation, b.LeadConfirmation)
		set(&a.CaptureAbandonedCheckouts, b.CaptureAbandonedCheckouts)
		if b.Letters != nil {
			a.SwitchLetters(b.Letters)
		}
		set(&a.InvoicePrefix, b.InvoicePrefix)
		set(&a.NextInvoiceNumber, b.NextInvoiceNumber)
		setAs(&a.PaymentsProvider, b.PaymentsProvider)
		setOrClear(&a.StripePublishableKey, b.StripePublishableKey)
		setSecret(&a.StripeKey, b.StripeSecretKey)
		setSecret(&a.StripeWebhookSecret, b.StripeWebhookSecret)
		setOrClear(&a.DeclineLimit, b.DeclineLimit)
		if b.PaymentsPausedUntil.IsSpecified() {
			a.PaymentsPausedUntil = stored(sent(b.PaymentsPausedUntil))
		}
		set(&a.PaymentHoldMinutes, b.PaymentHoldMinutes)
		setAs(&a.ProrationBehavior, b.ProrationBehavior)
		setAs(&a.PastDueAccess, b.PastDueAccess)
		if b.Tax != nil {
			a.Tax.V = newTaxSettings(b.Tax)
		}
		if b.Dunning != nil {
			a.Dunning.V = tenant.Dunning{IntervalsDays: b.Dunning.IntervalsDays, OnExhausted: string(b.Dunning.OnExhausted)}
		}
	}
}

func letterSettings(a *tenant.Account) api.LetterSettings {
	return api.LetterSettings{
		Receipt: a.Writes(tenant.LetterReceipt), PaymentFailed: a.Writes(tenant.LetterPaymentFailed), TrialEnding: a.Writes(tenant.LetterTrialEnding),
		SubscriptionCanceled: a.Writes(tenant.LetterSubscriptionCanceled), SubscriptionEnded: a.Writes(tenant.LetterSubscriptionEnded),
		AccessGiven: a.Writes(tenant.LetterAccessGiven), Refund: a.Writes(tenant.LetterRefund),
		SubscriptionKept: a.Writes(tenant.LetterSubscriptionKept), PlanChanged: a.Writes(tenant.LetterPlanChanged),
		RenewalUpcoming: a.Writes(tenant.LetterRenewalUpcoming), CardExpiring: a.Writes(tenant.LetterCardExpiring),
		InvoiceReminder: a.Writes(tenant.LetterInvoiceReminder), FileUpdated: a.Writes(tenant.LetterFileUpdated), WebhookFailing: a.Writes(tenant.LetterWebhookFailing),
		Sale: a.Writes(tenant.LetterSale), SalesDaily: a.Writes(tenant.LetterSalesDaily), PaymentsFailedDaily: a.Writes(tenant.LetterFailedDaily), ProviderKeyRefused: a.Writes(tenant.LetterKeyRefused), DomainFailing: a.Writes(tenant.LetterDomainFailing), WeekFigures: a.Writes(tenant.LetterWeek),
		CheckoutAbandoned: a.Writes(tenant.LetterCheckoutAbandoned),
	}
}

// setSecret changes a secret that a PATCH names. Null removes it: the store takes an empty text for that, because nil leaves it
// as it is.
func setSecret(field **string, sent nullable.Nullable[string]) {
	switch {
	case sent.IsNull():
		*field = new("")
	case sent.IsSpecified():
		*field = new(sent.MustGet())
	}
}

func taxSettings(t tenant.TaxSettings) api.TaxSettings {
	rate := func(r tenant.TaxRate) api.TaxRate { return api.TaxRate(r) }
	return api.TaxSettings{Mode: api.TaxMode(t.Mode), Behavior: api.TaxBehavior(t.Behavior), Rates: mapped(t.Rates, rate)}
}

func newTaxSettings(t *api.TaxSettings) tenant.TaxSettings {
	rate := func(r api.TaxRate) tenant.TaxRate { return tenant.TaxRate(r) }
	return tenant.TaxSettings{Mode: tenant.TaxMode(t.Mode), Behavior: string(t.Behavior), Rates: mapped(t.Rates, rate)}
}
