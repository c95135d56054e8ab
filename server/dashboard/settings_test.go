package dashboard_test

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/server/dashboard"
	"github.com/tillwright/tillwright/store/person"
	"github.com/tillwright/tillwright/store/tenant"
)

// business is all that the form of the business sends.
func business(change url.Values) url.Values {
	form := url.Values{
		"name": {"Ada's Books"}, "email": {"ada@example.com"}, "support_email": {"help@example.com"}, "website_url": {"https://example.com"}, "statement_descriptor": {"ADA BOOKS"},
		"checkout_requires_terms": {"yes"}, "trial_once_per_customer": {"yes"}, "letters.checkout_abandoned": {"yes"}, "lead_confirmation": {"double_opt_in"}, "business_name": {"Ada GmbH"}, "business_address.company": {"Ada Books Ltd."}, "business_address.line1": {"Long street 1"}, "business_address.line2": {""}, "business_address.city": {"Berlin"},
		"business_address.state": {""}, "business_address.postal_code": {"10115"}, "business_address.country": {"de"}, "tax_id": {"DE123456789"}, "invoice_prefix": {"ADA"},
		"tax_mode": {"flat_table"}, "tax_behavior": {"inclusive"}, "tax_rates": {"de, 19, VAT\r\n\r\nCA, ON, 13.5, HST, of Ontario\r\nFR, 75, 20%, TVA\r\n5, GST"},
		"default_currency": {"eur"}, "country": {"de"}, "timezone": {"Europe/Berlin"}, "locale": {"de"},
	}
	for name, values := range change {
		form[name] = values
	}
	return form
}

func TestSettings_OfTheBusinessAreKept(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		sees(t, w.owner, "/app/settings", "/app/settings/business", "/app/settings/payments", "/app/team", "/app/activity")
		require.Equal(t, "/app/settings/business", sends(t, w.owner, "/app/settings/business", business(nil)))
		a, err := w.api.SDK().Account.Get(t.Context())
		require.NoError(t, err)
		require.Equal(t, []string{"Ada's Books", "Ada GmbH", "help@example.com", "ADA", "eur", "Europe/Berlin", "DE", "Ada Books Ltd."}, []string{a.Name, *a.BusinessName, *a.SupportEmail, a.InvoicePrefix, a.DefaultCurrency, a.Timezone, *a.BusinessAddress.Country, *a.BusinessAddress.Company})
		require.True(t, a.CheckoutRequiresTerms)
		require.True(t, a.TrialOncePerCustomer)
		require.True(t, a.Letters.CheckoutAbandoned)
		require.Equal(t, sdk.LeadConfirmationDoubleOptIn, a.LeadConfirmation)
		require.Equal(t, sdk.TaxSettings{Mode: sdk.TaxModeFlatTable, Behavior: sdk.TaxBehaviorInclusive, Rates: []sdk.TaxRate{
			{Country: new("DE"), RateBps: 1900, Name: "VAT"}, {Country: new("CA"), Region: new("ON"), RateBps: 1350, Name: "HST, of Ontario"},
			{Country: new("FR"), Region: new("75"), RateBps: 2000, Name: "TVA"}, {RateBps: 500, Name: "GST"},
		}}, a.Tax)
		sees(t, w.owner, "/app/settings/business", "The settings were saved.", "DE, 19, VAT\nCA, ON, 13.50, HST, of Ontario\nFR, 75, 20, TVA\n5, GST", `value="Ada Books Ltd."`, `value="Long street 1"`)

		status, page := w.owner.Post("/app/settings/business", business(url.Values{"name": {`"><img src=x>`}, "timezone": {"Mars"}, "invoice_prefix": {"a"}, "business_address.country": {"XX"}, "tax_rates": {"ZZZ, 19, VAT"}}))
		require.Equal(t, http.StatusUnprocessableEntity, status)
		for _, piece := range []string{`href="#tax_rates"`, `href="#invoice_prefix"`, `value="Mars"`, "ZZZ, 19, VAT", "&gt;&lt;img"} {
			require.Contains(t, page, piece)
		}
		require.NotContains(t, page, "<img")
		status, page = w.owner.Post("/app/settings/business", business(url.Values{"tax_rates": {"nineteen"}}))
		require.Equal(t, http.StatusUnprocessableEntity, status)
		require.Contains(t, page, "This is no rate: nineteen.")
		status, page = w.owner.Post("/app/settings/business", business(url.Values{"business_address.country": {"1"}, "timezone": {"Mars"}}))
		require.Equal(t, http.StatusUnprocessableEntity, status, page)

		empty := business(url.Values{"tax_mode": {"none"}, "tax_rates": {""}})
		for _, name := range []string{"support_email", "website_url", "statement_descriptor", "checkout_requires_terms", "trial_once_per_customer", "letters.checkout_abandoned", "lead_confirmation", "business_name", "business_address.company", "business_address.line1", "business_address.city", "business_address.postal_code", "business_address.country", "tax_id", "country"} {
			empty.Set(name, "")
		}
		for _, box := range []string{"checkout_requires_terms", "trial_once_per_customer", "letters.checkout_abandoned"} {
			empty.Set(box+".shown", "yes")
		}
		sends(t, w.owner, "/app/settings/business", empty)
		a, err = w.api.SDK().Account.Get(t.Context())
		require.NoError(t, err)
		require.Nil(t, a.BusinessAddress)
		require.Nil(t, a.BusinessName)
		require.Nil(t, a.TaxID)
		require.Nil(t, a.SupportEmail)
		require.Empty(t, a.Tax.Rates)
		require.False(t, a.CheckoutRequiresTerms)
		require.False(t, a.TrialOncePerCustomer)
		require.False(t, a.Letters.CheckoutAbandoned)
		require.Equal(t, sdk.LeadConfirmationDoubleOptIn, a.LeadConfirmation, "the form of the release before does not send it")
	})
}

func TestSettings_KeepSecretsToThemselves(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		sees(t, w.owner, "/app/settings/payments", "http://shop.test/hooks/stripe", "Test cards", "None is stored yet.", "payment_intent.succeeded")
		status, page := w.owner.Post("/app/settings/payments", url.Values{"step": {"keys"}, "stripe_publishable_key": {"pk_<b>"}, "stripe_secret_key": {"sk_wrong_9876"}})
		require.Equal(t, http.StatusUnprocessableEntity, status)
		require.Contains(t, page, `href="#stripe_secret_key"`)
		require.Contains(t, page, "pk_&lt;b&gt;")
		require.NotContains(t, page, "sk_wrong_9876")
		sends(t, w.owner, "/app/settings/payments", url.Values{"step": {"keys"}, "stripe_publishable_key": {"pk_test_abcd1234"}, "stripe_secret_key": {"sk_test_abcd9876"}})
		sends(t, w.owner, "/app/settings/payments", url.Values{"step": {"webhook"}, "stripe_webhook_secret": {"whsec_abcd5432"}})
		page = sees(t, w.owner, "/app/settings/payments", "ends in 9876", "ends in 5432", "pk_test_abcd1234")
		require.NotContains(t, page, "sk_test_abcd9876")
		sends(t, w.owner, "/app/settings/payments", url.Values{"step": {"keys"}, "stripe_publishable_key": {"pk_test_abcd1234"}, "stripe_secret_key": {""}})
		sees(t, w.owner, "/app/settings/payments", "ends in 9876")

		sends(t, w.owner, "/app/settings/payments", url.Values{"step": {"limits"}, "payment_hold_minutes": {"45"}, "decline_limit": {"20"}})
		status, page = w.owner.Post("/app/settings/payments", url.Values{"step": {"limits"}, "payment_hold_minutes": {"soon"}, "decline_limit": {"20"}})
		require.Equal(t, http.StatusUnprocessableEntity, status)
		require.Contains(t, page, `value="soon"`)
		a, err := w.api.SDK().Account.Get(t.Context())
		require.NoError(t, err)
		require.Equal(t, []int64{45, 20}, []int64{a.PaymentHoldMinutes, *a.DeclineLimit})
		lines, err := w.api.SDK().Activity.List(t.Context(), &sdk.ListActivityParams{Operation: new("updateAccount")})
		require.NoError(t, err)
		require.Equal(t, w.owner.Email, *lines.Data[0].Actor.Name)
		for _, path := range []string{"/app/settings/business", "/app/settings/branding", "/app/settings/payments"} {
			status, _ = w.Member(t, w.api.Account, person.RoleDeveloper).Get(path)
			require.Equal(t, http.StatusForbidden, status, path)
		}
	})
}

func TestSettings_OfBrandingShowWhatThePlanHas(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		free := w.Member(t, w.AccountOn(t, tenant.PlanFree).Account, person.RoleOwner)
		require.NotContains(t, sees(t, free, "/app/settings/branding", "Logo URL"), "custom_domain")
		status, page := w.owner.Post("/app/settings/branding", url.Values{"logo_url": {"javascript:alert(1)"}, "accent_color": {"blue"}, "handle": {"a_b"}})
		require.Equal(t, http.StatusUnprocessableEntity, status)
		require.Contains(t, page, `href="#logo_url"`)
		require.Contains(t, page, `href="#accent_color"`)
		require.Contains(t, page, `href="#handle"`)
		sends(t, w.owner, "/app/settings/branding", url.Values{"logo_url": {"https://example.com/logo.png"}, "accent_color": {"#C2410c"}, "handle": {"ada-books"}, "custom_domain": {"shop.example.com"}})
		sees(t, w.owner, "/app/settings/branding", "https://example.com/logo.png", "#C2410c", "ada-books", "shop.example.com", "The picture is being fetched.")
		sends(t, w.owner, "/app/settings/branding", url.Values{"handle": {"ada-books"}})
		sees(t, w.owner, "/app/settings/branding", "https://example.com/logo.png", "#C2410c", "shop.example.com") // what was not sent stays
		w.Must(t, "UPDATE pictures SET problem = 'Its server answered 404.', due_at = NULL WHERE account_id = '"+w.api.Account+"'")
		sees(t, w.owner, "/app/settings/branding", "Its server answered 404.", "Pages have no picture. It is fetched again if its address changes.")
	})
}

func TestClock_SaysWhatFellDue(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		sees(t, w.owner, "/app/developers/clock", "The clock shows", "A week")
		require.Equal(t, "/app/developers/clock", sends(t, w.owner, "/app/developers/clock", url.Values{"advance_seconds": {"604800"}}))
		sees(t, w.owner, "/app/developers/clock", "The clock was moved. Nothing fell due.")
		status, page := w.owner.Post("/app/developers/clock", url.Values{"now": {"2001-01-01T00:00"}})
		require.Equal(t, http.StatusUnprocessableEntity, status)
		require.Contains(t, page, `href="#now"`)
		require.NotContains(t, sees(t, w.Member(t, w.api.Account, person.RoleDeveloper), "/app/developers/clock"), "A week")
		production, err := dashboard.New(dashboard.Options{PublicURL: "https://shop.test"})
		require.NoError(t, err)
		for route := range production.Routes() {
			require.NotContains(t, route, "clock")
		}
	})
}

func TestSearch_LeadsToWhatItFinds(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		p, err := w.api.SDK().Products.Create(t.Context(), &sdk.ProductCreate{Name: "<b>Birdwatching"})
		require.NoError(t, err)
		_, err = w.Account(t).SDK().Products.Create(t.Context(), &sdk.ProductCreate{Name: "Birdwatching elsewhere"})
		require.NoError(t, err)
		page := sees(t, w.owner, "/app/search?q=birdw", `href="/app/products/`+p.ID+`"`, "&lt;b&gt;Birdwatching")
		require.NotContains(t, page, "elsewhere")
		sees(t, w.owner, "/app/search?q=nothinglikeit", "Nothing matches")
		status, page := w.owner.Get("/app/search?q=x")
		require.Equal(t, http.StatusUnprocessableEntity, status)
		require.Contains(t, page, `href="#words"`)
		sees(t, w.owner, "/app", `action="/app/search"`)
	})
}
