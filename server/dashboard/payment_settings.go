package dashboard

import (
	"net/http"
	"strconv"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/server/ui"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/person"
)

const paymentsPage = settingsPage + "/payments"

// stripeEvents are the events of Stripe that settle payments and refunds.
const stripeEvents = `payment_intent.succeeded
payment_intent.payment_failed
payment_intent.canceled
payment_intent.requires_action
setup_intent.succeeded
setup_intent.setup_failed
setup_intent.canceled
setup_intent.requires_action
refund.created
refund.updated
refund.failed`

// stored says that a secret is there, which is never shown.
func stored(last4 *string) string {
	if last4 == nil {
		return "None is stored yet."
	}
	return "One that ends in " + *last4 + " is stored. Empty keeps it."
}

// paymentForms returns the steps in which payments are set up, each a form of its own, by its name.
func (v *visit) paymentForms() []*ui.Form {
	a := v.shop
	limit := ""
	if a.DeclineLimit != nil {
		limit = strconv.FormatInt(*a.DeclineLimit, 10)
	}
	forms := []*ui.Form{
		{Submit: "Save keys", Controls: []ui.Control{
			{Kind: "hidden", Name: "step", Value: "keys"},
			{Name: "stripe_publishable_key", Label: "Publishable key", Hint: "pk_... With it our pages take cards.", Value: core.Deref(a.StripePublishableKey), Longest: 255, Optional: true},
			{Kind: "password", Name: "stripe_secret_key", Label: "Secret key", Hint: "sk_... or a restricted one, rk_... " + stored(a.StripeSecretKeyLast4), Autocomplete: "off", Longest: 255},
		}},
		{Submit: "Save secret", Controls: []ui.Control{
			{Kind: "hidden", Name: "step", Value: "webhook"},
			{Kind: "secret", ID: "hook", Label: "Address", Value: v.dashboard.publicURL + "/hooks/stripe"},
			{Kind: "password", Name: "stripe_webhook_secret", Label: "Signing secret of Stripe", Hint: "whsec_... " + stored(a.StripeWebhookSecretLast4), Autocomplete: "off", Longest: 255},
		}},
		{Submit: "Save provider", Controls: []ui.Control{
			{Kind: "hidden", Name: "step", Value: "provider"},
			{Kind: "select", Name: "payments_provider", Label: "Who moves the money", Options: chosen(string(a.PaymentsProvider), "test", "Nobody: test cards, and no money", "stripe", "Stripe")},
		}},
		{Submit: "Save limits", Controls: []ui.Control{
			{Kind: "hidden", Name: "step", Value: "limits"},
			{Name: "payment_hold_minutes", Label: "Minutes to confirm at the bank", Hint: "5 to 120. So long stock is held for a buyer.", Value: strconv.FormatInt(a.PaymentHoldMinutes, 10), InputMode: "numeric", Longest: 3, Required: true},
			{Name: "decline_limit", Label: "Declines in an hour that pause payments", Hint: "At least 10. Somebody who tries stolen cards is stopped for 15 minutes then.", Value: limit, InputMode: "numeric", Longest: 7, Optional: true},
		}},
	}
	for _, f := range forms {
		f.Once = newOnce()
	}
	return forms
}

func (v *visit) paymentsPage(forms []*ui.Form) ui.Page {
	p := ui.Page{Heading: "Payments", Up: &ui.Link{Text: "Settings", Address: settingsPage}, Badge: &ui.Badge{Text: "Test cards", Tone: "warn", Icon: "alert"}}
	if v.shop.PaymentsProvider == sdk.PaymentsProviderStripe {
		p.Badge = &ui.Badge{Text: "Stripe", Tone: "good", Icon: "check"}
	}
	if v.shop.PaymentsPausedUntil != nil {
		p.Sections = []ui.Section{{Title: "Payments are paused", Text: "Very many cards were declined: somebody may be trying stolen ones. Buyers can pay again at the time below, or when you press the button.",
			Terms: []ui.Term{{Name: "Until", Value: v.when(v.shop.PaymentsPausedUntil)}},
			Forms: []ui.Form{{Submit: "Let buyers pay again", Inline: true, Once: newOnce(), Controls: []ui.Control{{Kind: "hidden", Name: "step", Value: "resume"}}}}}}
	}
	p.Sections = append(p.Sections,
		ui.Section{Title: "1. The keys of Stripe", Text: "They stand in Stripe's dashboard under Developers, API keys. A restricted key needs to write Payment Intents, Setup Intents, Payment Methods, Customers, and Charges and Refunds. Stripe's test mode works as well.", Form: forms[0]},
		ui.Section{Title: "2. What Stripe tells this server", Text: "Make a webhook endpoint in Stripe's dashboard, with the address below and these events. Stripe shows its signing secret.", Code: stripeEvents, Form: forms[1]},
		ui.Section{Title: "3. Switch it on", Text: "From then on buyers pay for real, if the keys are live ones.", Form: forms[2]},
		ui.Section{Title: "Limits", Form: forms[3]})
	return p
}

// payments shows who moves the money.
func (d *Dashboard) payments(v *visit) error {
	return v.show(http.StatusOK, v.paymentsPage(v.paymentForms()))
}

// savePayments does one of the steps.
func (d *Dashboard) savePayments(v *visit) error {
	forms := v.paymentForms()
	f, in := forms[0], &sdk.AccountUpdate{}
	var err error
	switch v.field("step") {
	case "keys":
		in.StripePublishableKey = cleared(v.field("stripe_publishable_key"))
		if key := v.field("stripe_secret_key"); key != "" {
			in.StripeSecretKey = sdk.Set(key)
		}
	case "webhook":
		f = forms[1]
		if secret := v.field("stripe_webhook_secret"); secret != "" {
			in.StripeWebhookSecret = sdk.Set(secret)
		}
	case "provider":
		f, in.PaymentsProvider = forms[2], new(sdk.PaymentsProvider(v.field("payments_provider")))
	case "limits":
		f = forms[3]
		err = v.readLimits(in)
	case "resume":
		in.PaymentsPausedUntil = sdk.Null[sdk.Time]()
	default:
		err = core.Invalid("step", "Send one of the forms of this page.")
	}
	v.typedInto(f)
	if err == nil {
		_, err = d.api.Account.Update(v.ctx(), in, v.once())
	}
	if wrong, ok := problems(err, f); ok {
		return v.show(http.StatusUnprocessableEntity, v.paymentsPage(forms), wrong...)
	}
	if err != nil {
		return err
	}
	return v.done(paymentsPage, person.Notice{Text: "The settings were saved."})
}

func (v *visit) readLimits(in *sdk.AccountUpdate) error {
	minutes, err := strconv.ParseInt(v.field("payment_hold_minutes"), 10, 64)
	if err != nil {
		return core.Invalid("payment_hold_minutes", "Type a number from 5 to 120.")
	}
	in.PaymentHoldMinutes, in.DeclineLimit = &minutes, sdk.Null[int64]()
	if text := v.field("decline_limit"); text != "" {
		limit, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return core.Invalid("decline_limit", "Type a number of at least 10, or nothing.")
		}
		in.DeclineLimit = sdk.Set(limit)
	}
	return nil
}
