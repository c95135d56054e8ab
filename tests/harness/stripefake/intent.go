package stripefake

import "slices"

// card says what a test card does.
type card struct {
	last4   string
	decline string // the decline code; empty: it pays
	action  bool   // its owner authenticates, unless they did for later charges
	refund  string // the status of its refunds; empty: succeeded
}

// tokens are test cards by Stripe's names for them. It is never changed.
var tokens = map[string]card{
	"pm_card_visa":                            {last4: "4242"},
	"pm_card_chargeDeclined":                  {last4: "0002", decline: "generic_decline"},
	"pm_card_chargeDeclinedInsufficientFunds": {last4: "9995", decline: "insufficient_funds"},
	"pm_card_chargeCustomerFail":              {last4: "0341", decline: "generic_decline"},
	"pm_card_authenticationRequiredOnSetup":   {last4: "3155", action: true},
	"pm_card_pendingRefund":                   {last4: "7726", refund: "pending"},
	"pm_card_refundFail":                      {last4: "5126", refund: "succeeded"},
	"pm_card_slow":                            {last4: "0000"}, // not of Stripe: the bank takes its time
}

// method is a card with its history.
type method struct {
	card
	customer any // the id, or nil
	used     bool
	detached bool // from its customer: nobody is charged with it any more
	agreed   bool // its owner authenticated for charges while they are away
}

// findMethod returns a payment method. A token becomes a new one.
func (f *Fake) findMethod(ref string) (string, *method) {
	if c, token := tokens[ref]; token {
		o := f.add("payment_method", "pm", object{"customer": nil, "metadata": object{}})
		o["card"].(object)["last4"] = c.last4
		f.methods[o["id"].(string)] = &method{card: c}
		ref = o["id"].(string)
	}
	return ref, f.methods[ref]
}

// attach saves a payment method for a customer.
func (f *Fake) attach(r *request) reply {
	customer := r.form.Get("customer")
	if f.objects[customer] == nil {
		return missing("customer", "customer", customer)
	}
	id, m := f.findMethod(r.id)
	switch {
	case m == nil:
		return missing("PaymentMethod", "", r.id)
	case m.customer != nil:
		return fail(400, "invalid_request_error", "", "", "The payment method you provided has already been attached to a customer.")
	case m.isSpent():
		return spent()
	}
	m.customer = customer
	f.objects[id]["customer"] = customer
	return ok(f.objects[id])
}

// isSpent reports whether a method can never be used again.
func (m *method) isSpent() bool { return m.detached || m.used && m.customer == nil }

// spent is the reply to a request with a method that can never be used again.
func spent() reply {
	return fail(400, "invalid_request_error", "payment_method_unexpected_state", "",
		"This PaymentMethod was previously used without being attached to a Customer or was detached from a Customer, and may not be used again.")
}

func (f *Fake) detach(r *request) reply {
	m := f.methods[r.id]
	switch {
	case m == nil:
		return missing("PaymentMethod", "", r.id)
	case m.customer == nil:
		return fail(400, "invalid_request_error", "", "", "The payment method you provided is not attached to a customer so detachment is impossible.")
	}
	m.customer, m.detached = nil, true
	f.objects[r.id]["customer"] = nil
	return ok(f.objects[r.id])
}

// inSteps reports whether Stripe takes an amount. In currencies with three decimals it takes only amounts whose last one is 0.
func inSteps(amount int64, currency string) bool {
	return amount%10 == 0 || !slices.Contains([]string{"bhd", "jod", "kwd", "omr", "tnd"}, currency)
}

// createIntent creates a PaymentIntent.
func (f *Fake) createIntent(r *request) reply {
	amount, currency, customer := number(r.form.Get("amount")), r.form.Get("currency"), orNull(r.form.Get("customer"))
	switch {
	case amount == 0 || !inSteps(amount, currency):
		return fail(400, "invalid_request_error", "parameter_invalid_integer", "amount", "Invalid amount.")
	case currency == "":
		return fail(400, "invalid_request_error", "parameter_missing", "currency", "Missing required param: currency.")
	case currency == "usd" && amount < 50:
		return fail(400, "invalid_request_error", "amount_too_small", "amount", "Amount must be at least $0.50 usd")
	case r.form.Get("off_session") != "" || r.form.Get("return_url") != "":
		return fail(400, "invalid_request_error", "", "off_session", "This can only be given with confirm=true.")
	}
	id, m := f.findMethod(r.form.Get("payment_method"))
	switch {
	case m == nil:
		return missing("PaymentMethod", "payment_method", id)
	case m.customer != customer && m.customer != nil:
		return fail(400, "invalid_request_error", "", "customer", "The payment method belongs to a Customer. You must supply it.")
	case m.isSpent():
		return spent()
	}
	return ok(f.add("payment_intent", "pi", object{
		"amount": amount, "currency": currency, "customer": customer, "payment_method": id, "status": "requires_confirmation",
		"last_payment_error": nil, "next_action": nil, "canceled_at": nil, "processing": nil, "metadata": metadata(r.form),
		"setup_future_usage": orNull(r.form.Get("setup_future_usage")),
	}))
}

// confirm charges the method of a PaymentIntent. What comes of it depends on the test card.
func (f *Fake) confirm(r *request) reply {
	o := f.objects[r.id]
	if o == nil {
		return missing("payment_intent", "intent", r.id)
	}
	away := r.form.Get("off_session") == "true"
	switch {
	case o["status"] != "requires_confirmation":
		return unexpected(o)
	case away && o["customer"] == nil:
		return fail(400, "invalid_request_error", "", "off_session", "A Customer is needed to charge off session.")
	}
	m := f.methods[o["payment_method"].(string)]
	if m.isSpent() {
		return spent()
	}
	m.used = true
	switch {
	case m.decline != "":
		return f.decline(o, "card_declined", m.decline, "Your card was declined.")
	case m.action && !m.agreed && away:
		return f.decline(o, "authentication_required", "authentication_required", "Your card was declined. This transaction requires authentication.")
	case m.action && !m.agreed:
		o["status"], o["next_action"] = "requires_action", nextAction(r.form.Get("return_url"))
		f.emit("payment_intent.requires_action", o)
	case m.last4 == "0000":
		o["status"] = "processing"
		f.emit("payment_intent.processing", o)
	default:
		f.succeed(o)
	}
	return ok(o)
}

// nextAction returns what the buyer has to do: go to a page of Stripe's, if the request says where to go from there.
func nextAction(returnURL string) object {
	if returnURL == "" {
		return object{"type": "use_stripe_sdk", "use_stripe_sdk": object{}}
	}
	return object{"type": "redirect_to_url", "redirect_to_url": object{"url": "https://hooks.stripe.test/3d_secure", "return_url": returnURL}}
}

// succeed ends an intent of either kind. A customer who was there has agreed to later charges, if they were asked.
func (f *Fake) succeed(o object) {
	o["status"], o["next_action"] = "succeeded", nil
	if o["object"] == "payment_intent" {
		o["amount_received"] = o["amount"]
	}
	f.emit(kindOf(o)+".succeeded", o)
}

// decline lets an intent of either kind fail, which loses its method.
func (f *Fake) decline(o object, code, declineCode, message string) reply {
	e := object{"type": "card_error", "code": code, "decline_code": declineCode, "message": message}
	why, kind := "last_payment_error", "payment_intent.payment_failed"
	if o["object"] == "setup_intent" {
		why, kind = "last_setup_error", "setup_intent.setup_failed"
	}
	o["status"], o["payment_method"], o[why], o["next_action"] = "requires_payment_method", nil, e, nil
	f.emit(kind, o)
	told := copyOf(e)
	told[kindOf(o)] = copyOf(o)
	return reply{402, object{"error": told}}
}

func kindOf(o object) string { return o["object"].(string) }

func (f *Fake) cancelIntent(r *request) reply {
	o := f.objects[r.id]
	if o == nil {
		return missing("payment_intent", "intent", r.id)
	}
	if slices.Contains([]any{"succeeded", "canceled", "processing"}, o["status"]) {
		return unexpected(o)
	}
	o["status"], o["cancellation_reason"], o["next_action"] = "canceled", orNull(r.form.Get("cancellation_reason")), nil
	f.emit(kindOf(o)+".canceled", o)
	return ok(o)
}

func unexpected(o object) reply {
	r := fail(400, "invalid_request_error", kindOf(o)+"_unexpected_state", "", "This intent's status does not allow it.")
	r.body["error"].(object)[kindOf(o)] = copyOf(o)
	return r
}

// Settle plays what an intent waits for: its owner on Stripe's page, or the bank.
func (f *Fake) Settle(id string, success bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	o := f.objects[id]
	if !success {
		f.decline(o, kindOf(o)+"_authentication_failure", "", "The payment was not authenticated.")
		return
	}
	f.methods[o["payment_method"].(string)].agreed = o["setup_future_usage"] != nil || o["object"] == "setup_intent"
	f.succeed(o)
}

// Block makes the bank decline every later charge of a method.
func (f *Fake) Block(method, declineCode string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.methods[method].decline = declineCode
}
