package stripe_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/server/payments"
	"github.com/tillwright/tillwright/server/payments/stripe"
	"github.com/tillwright/tillwright/tests/harness/stripefake"
)

func TestCharge_DoesWhatTheCardSays(t *testing.T) {
	b := open(t)
	paid := b.charge(input("pay_1", "pm_card_visa"))
	assert.Equal(t, payments.Charge{Ref: paid.Ref, Status: payments.ChargeSucceeded, Amount: &payments.Amount{Value: 1900, Currency: "usd"}, Metadata: paid.Metadata}, paid)
	declined := b.charge(input("pay_2", "pm_card_chargeDeclinedInsufficientFunds"))
	assert.Equal(t, payments.Charge{Ref: declined.Ref, Status: payments.ChargeDeclined, Decline: &payments.Decline{
		Code: "card_declined", DeclineCode: "insufficient_funds", Message: "Your card was declined.",
	}, Amount: &payments.Amount{Value: 1900, Currency: "usd"}, Metadata: declined.Metadata}, declined)
	slow := b.charge(input("pay_3", "pm_card_slow"))
	assert.Equal(t, payments.ChargePending, slow.Status)
	assert.EqualValues(t, 1900, b.fake.Taken())
	b.fake.Settle(slow.Ref, true)
	assert.Equal(t, payments.ChargeSucceeded, b.get(slow.Ref).Status)
}

func TestCharge_AnOutcomeNeverChanges(t *testing.T) {
	b := open(t)
	for _, want := range []payments.Charge{
		b.charge(input("pay_1", "pm_card_visa")), b.charge(input("pay_2", "pm_card_chargeDeclined")),
	} {
		confirmed, err := b.ConfirmCharge(t.Context(), account, want.Ref, page)
		require.NoError(t, err)
		canceled, err := b.CancelCharge(t.Context(), account, want.Ref)
		require.NoError(t, err)
		assert.Equal(t, []payments.Charge{want, want, want}, []payments.Charge{confirmed, canceled, b.get(want.Ref)})
	}
	assert.EqualValues(t, 1900, b.fake.Taken())
}

func TestPrepareCharge_OneTokenIsOneCharge(t *testing.T) {
	b := open(t)
	first := b.charge(input("pay_1", "pm_card_visa"))
	assert.Equal(t, first.Ref, b.prepare(input("pay_1", "pm_card_visa")))
	_, err := b.PrepareCharge(t.Context(), input("pay_1", "pm_card_chargeDeclined"))
	require.Error(t, err, "a token belongs to what it was first used for")
	_, declined := errorsAsDecline(err)
	assert.False(t, declined, "what it was first used for may go through")
	assert.EqualValues(t, 1900, b.fake.Taken())
}

// A charge that times out is unknown, whichever of its calls does and whether or not it was carried out. Asked again, it
// is made once.
func TestCharge_ThatTimesOutIsMadeOnce(t *testing.T) {
	b := open(t)
	for i, spoil := range []stripefake.Fault{
		{Path: "/v1/payment_intents"}, {Path: "/confirm"}, {Path: "/confirm", Status: 500}, {Path: "/v1/payment_intents", Status: 503},
		{Path: "/confirm", Status: 429}, {Path: "/confirm", Status: 409}, {Path: "/v1/payment_intents", Status: 429},
	} {
		in := input("pay_"+string(rune('a'+i)), "pm_card_visa")
		b.fake.Spoil(spoil)
		ref, err := b.PrepareCharge(t.Context(), in)
		if err == nil {
			_, err = b.ConfirmCharge(t.Context(), account, ref, page)
		}
		require.Error(t, err, spoil)
		_, isDecline := errorsAsDecline(err)
		assert.False(t, isDecline, "%v is no decline", spoil)

		ref = b.prepare(in)
		charge, err := b.ConfirmCharge(t.Context(), account, ref, page)
		require.NoError(t, err)
		assert.Equal(t, payments.ChargeSucceeded, charge.Status)
		assert.EqualValues(t, 1900*(i+1), b.fake.Taken(), spoil)
	}
}

func TestConfirmCharge_SaysNothingOfTheSecretOfAnIntent(t *testing.T) {
	b := open(t)
	ref := b.prepare(input("pay_1", "pm_card_visa"))
	b.fake.Spoil(stripefake.Fault{Path: "/confirm", Status: 500})
	_, err := b.ConfirmCharge(t.Context(), account, ref, page)
	require.ErrorContains(t, err, "Something went wrong")
	assert.NotContains(t, err.Error(), "_secret_")
	b.keys.SecretKey = "sk_test_revoked"
	_, err = b.ConfirmCharge(t.Context(), account, ref, page)
	require.Error(t, err)
	assert.NotContains(t, err.Error(), "_secret_")
	assert.NotContains(t, err.Error(), "sk_test_revoked")
}

// What can never be charged is declined before there is a charge, and not asked for again for ever.
func TestPrepareCharge_DeclinesWhatCanNeverBe(t *testing.T) {
	for code, change := range map[string]func(b *bank, in *payments.ChargeInput){
		"resource_missing":     func(_ *bank, in *payments.ChargeInput) { in.MethodRef = "pm_nobody" },
		"amount_too_small":     func(_ *bank, in *payments.ChargeInput) { in.Amount = 1 },
		"amount_not_supported": func(_ *bank, in *payments.ChargeInput) { in.Amount, in.Currency = 1005, "kwd" },
		"api_key_missing":      func(b *bank, _ *payments.ChargeInput) { b.keys.SecretKey = "" },
		"api_key_refused":      func(b *bank, _ *payments.ChargeInput) { b.keys.SecretKey = "sk_test_wrong" },
	} {
		t.Run(code, func(t *testing.T) {
			b := open(t)
			in := input("pay_1", "pm_card_visa")
			change(b, &in)
			_, err := b.PrepareCharge(t.Context(), in)
			decline, ok := errorsAsDecline(err)
			require.True(t, ok, err)
			assert.Equal(t, code, decline.Code)
			assert.NotEmpty(t, decline.Message)
			assert.NotContains(t, decline.Message, "sk_test")
			assert.True(t, decline.OfSeller, "no other card helps")
		})
	}
}

func TestCharge_CountsAsStripeDoes(t *testing.T) {
	b := open(t)
	var sum int64
	for _, c := range []struct {
		currency        string
		amount, charged int64
	}{
		{"usd", 1900, 1900}, {"jpy", 500, 500}, {"clp", 500, 500}, {"isk", 75, 7500}, {"ugx", 5000, 500000}, {"kwd", 5120, 5120}, {"huf", 17500, 17500},
	} {
		in := input("pay_"+c.currency, "pm_card_visa")
		in.Currency, in.Amount = c.currency, c.amount
		assert.Equal(t, &payments.Amount{Value: c.amount, Currency: c.currency}, b.charge(in).Amount)
		sum += c.charged
		assert.Equal(t, sum, b.fake.Taken(), c.currency)
	}
}

func TestCharge_WaitsForTheBuyer(t *testing.T) {
	b := open(t)
	waiting := b.charge(input("pay_1", "pm_card_authenticationRequiredOnSetup"))
	assert.Equal(t, payments.ChargeRequiresAction, waiting.Status)
	assert.True(t, strings.HasPrefix(waiting.NextActionURL, "https://hooks.stripe.test/"), waiting.NextActionURL)
	assert.Equal(t, waiting, b.get(waiting.Ref))
	b.fake.Settle(waiting.Ref, true)
	assert.Equal(t, payments.ChargeSucceeded, b.get(waiting.Ref).Status)

	failed := b.charge(input("pay_2", "pm_card_authenticationRequiredOnSetup"))
	b.fake.Settle(failed.Ref, false)
	assert.Equal(t, "payment_intent_authentication_failure", b.get(failed.Ref).Decline.Code)

	given := b.charge(input("pay_3", "pm_card_authenticationRequiredOnSetup"))
	canceled, err := b.CancelCharge(t.Context(), account, given.Ref)
	require.NoError(t, err)
	assert.Equal(t, payments.ChargeCanceled, canceled.Status)
	again, err := b.ConfirmCharge(t.Context(), account, given.Ref, page)
	require.NoError(t, err)
	assert.Equal(t, payments.ChargeCanceled, again.Status)
	assert.EqualValues(t, 1900, b.fake.Taken())
}

// A charge that the bank is busy with cannot be given up.
func TestCancelCharge_TellsWhatBecameOfIt(t *testing.T) {
	b := open(t)
	slow := b.charge(input("pay_1", "pm_card_slow"))
	still, err := b.CancelCharge(t.Context(), account, slow.Ref)
	require.NoError(t, err)
	assert.Equal(t, payments.ChargePending, still.Status)
}

// saved makes a customer with a method that can be charged again.
func (b *bank) saved(method string) (customer string, saved payments.Method) {
	b.t.Helper()
	customer, err := b.CreateCustomer(b.t.Context(), payments.CustomerInput{
		Token: "pay_save", Account: account, Customer: "cus_1", Email: "ada@example.com", Name: "Ada",
	})
	require.NoError(b.t, err)
	again, err := b.CreateCustomer(b.t.Context(), payments.CustomerInput{
		Token: "pay_save", Account: account, Customer: "cus_1", Email: "ada@example.com", Name: "Ada",
	})
	require.NoError(b.t, err)
	require.Equal(b.t, customer, again)
	saved, err = b.AttachMethod(b.t.Context(), payments.AttachInput{Token: "pay_save", Account: account, CustomerRef: customer, MethodRef: method})
	require.NoError(b.t, err)
	return customer, saved
}

func TestCharge_WhileTheBuyerIsAway(t *testing.T) {
	b := open(t)
	customer, method := b.saved("pm_card_visa")
	assert.Equal(t, "4242", method.Card.Last4)
	assert.Equal(t, "visa", method.Card.Brand)
	first := input("pay_save", method.Ref)
	first.CustomerRef = customer
	assert.Equal(t, payments.ChargeSucceeded, b.charge(first).Status, "a token of its own for each: customer, method and charge")
	for _, token := range []string{"pay_2", "pay_3"} {
		renewal := input(token, method.Ref)
		renewal.CustomerRef, renewal.OffSession = customer, true
		assert.Equal(t, payments.ChargeSucceeded, b.charge(renewal).Status)
	}
	assert.EqualValues(t, 3*1900, b.fake.Taken())

	used := b.prepare(input("pay_4", "pm_card_visa"))
	assert.NotEmpty(t, used)
	alone := input("pay_5", "pm_card_visa")
	alone.OffSession = true
	charge, err := b.ConfirmCharge(t.Context(), account, b.prepare(alone), page)
	require.NoError(t, err)
	assert.Equal(t, payments.ChargeDeclined, charge.Status, "nobody's card cannot be charged off session")
	assert.Equal(t, payments.ChargeCanceled, b.get(charge.Ref).Status, "what was told to be declined must never go through")
}

// A bank that wants to see the buyer declines while they are away, unless they agreed when they were there.
func TestCharge_WhoAgreedOnceIsNotAskedAgain(t *testing.T) {
	b := open(t)
	customer, method := b.saved("pm_card_authenticationRequiredOnSetup")
	renewal := input("pay_1", method.Ref)
	renewal.CustomerRef, renewal.OffSession = customer, true
	declined := b.charge(renewal).Decline
	assert.Equal(t, "authentication_required", declined.Code)
	assert.False(t, declined.OfSeller)

	there := input("pay_2", method.Ref)
	there.CustomerRef = customer
	charge := b.charge(there)
	assert.Equal(t, payments.ChargeRequiresAction, charge.Status)
	b.fake.Settle(charge.Ref, true)
	renewal.Token = "pay_3"
	assert.Equal(t, payments.ChargeSucceeded, b.charge(renewal).Status)
}

func TestAttachMethod_RefusesWhatCannotBeSaved(t *testing.T) {
	b := open(t)
	customer, method := b.saved("pm_card_visa")
	_, err := b.AttachMethod(t.Context(), payments.AttachInput{Token: "pay_2", Account: account, CustomerRef: customer, MethodRef: "pm_nobody"})
	assert.Contains(t, refused(t, err).Message, "pm_nobody")
	again, err := b.AttachMethod(t.Context(), payments.AttachInput{Token: "pay_3", Account: account, CustomerRef: customer, MethodRef: method.Ref})
	require.NoError(t, err)
	assert.Equal(t, method, again, "it is the customer's already")
	_, err = b.AttachMethod(t.Context(), payments.AttachInput{Token: "pay_4", Account: account, CustomerRef: "cus_nobody", MethodRef: method.Ref})
	require.ErrorIs(t, err, payments.ErrNoCustomer)
	b.fake.Spoil(stripefake.Fault{Path: "/attach", Status: http.StatusInternalServerError})
	_, err = b.AttachMethod(t.Context(), payments.AttachInput{Token: "pay_5", Account: account, CustomerRef: customer, MethodRef: "pm_card_visa"})
	require.Error(t, err)
	assert.NotContains(t, err.Error(), "does not save")
}

// A seller whose key is not accepted, and a customer that Stripe does not take, are a no. Nothing has been moved yet.
func TestCreateCustomer_DeclinesWhatCanNeverBe(t *testing.T) {
	for code, change := range map[string]func(b *bank, in *payments.CustomerInput){
		"email_invalid":   func(_ *bank, in *payments.CustomerInput) { in.Email = "nobody" },
		"api_key_missing": func(b *bank, _ *payments.CustomerInput) { b.keys.SecretKey = "" },
		"api_key_refused": func(b *bank, _ *payments.CustomerInput) { b.keys.SecretKey = "sk_test_wrong" },
	} {
		t.Run(code, func(t *testing.T) {
			b := open(t)
			customer, _ := b.saved("pm_card_visa")
			in := payments.CustomerInput{Token: "pay_1", Account: account, Customer: "cus_1", Email: "ada@example.com"}
			change(b, &in)
			_, err := b.CreateCustomer(t.Context(), in)
			decline, ok := errorsAsDecline(err)
			require.True(t, ok, err)
			assert.Equal(t, code, decline.Code)
			if code == "email_invalid" {
				return
			}
			_, err = b.AttachMethod(t.Context(), payments.AttachInput{Token: "pay_2", Account: account, CustomerRef: customer, MethodRef: "pm_card_visa"})
			decline, ok = errorsAsDecline(err)
			require.True(t, ok, err)
			assert.Equal(t, code, decline.Code)
		})
	}
}

func TestNew_SendsNoTelemetryAndRepeatsNothing(t *testing.T) {
	b := open(t)
	b.fake.Spoil(stripefake.Fault{Path: "/v1/payment_intents", Status: 503})
	_, err := b.PrepareCharge(t.Context(), input("pay_1", "pm_card_visa"))
	require.Error(t, err)
	b.charge(input("pay_1", "pm_card_visa"))
	assert.Equal(t, []string{"POST /v1/payment_intents", "POST /v1/payment_intents"}, b.fake.Calls()[:2])
	for _, header := range b.fake.Headers() {
		assert.Empty(t, header.Get("X-Stripe-Client-Telemetry"))
	}
}

// silence passes requests on, but for confirmations: those are never answered.
type silence struct{ http.RoundTripper }

func (s silence) RoundTrip(r *http.Request) (*http.Response, error) {
	if !strings.HasSuffix(r.URL.Path, "/confirm") {
		return s.RoundTripper.RoundTrip(r)
	}
	<-r.Context().Done()
	return nil, r.Context().Err()
}

// The client's limit holds for every request, also if the caller has all the time there is. Such a charge may have been made.
func TestConfirmCharge_EndsWhenStripeDoesNotAnswer(t *testing.T) {
	b := open(t)
	ref := b.prepare(input("pay_1", "pm_card_visa"))
	hanging := stripe.New(stripe.Options{
		Client: &http.Client{Transport: silence{b.fake.Client().Transport}, Timeout: time.Second}, BaseURL: b.fake.URL, Credentials: b.credentials,
	})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	_, err := hanging.ConfirmCharge(ctx, account, ref, page)
	require.Error(t, err)
	require.NoError(t, ctx.Err(), "it was the client's limit that ended it")
	var declined *payments.Decline
	assert.NotErrorAs(t, err, &declined, "nobody knows what became of it")
	assert.Equal(t, payments.ChargePrepared, b.get(ref).Status)
}
