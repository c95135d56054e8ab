package stripefake

// alwaysAttaches is the end of the number of a card that passes every check until it is charged.
const alwaysAttaches = "0341"

// createSetup creates a SetupIntent.
func (f *Fake) createSetup(r *request) reply {
	customer := orNull(r.form.Get("customer"))
	id, m := f.findMethod(r.form.Get("payment_method"))
	switch {
	case m == nil:
		return missing("PaymentMethod", "payment_method", id)
	case m.customer != customer && m.customer != nil:
		return fail(400, "invalid_request_error", "", "customer", "The payment method belongs to a Customer. You must supply it.")
	case m.isSpent():
		return spent()
	}
	return ok(f.add("setup_intent", "seti", object{
		"customer": customer, "payment_method": id, "status": "requires_confirmation", "last_setup_error": nil, "next_action": nil,
		"metadata": metadata(r.form), "usage": orNull(r.form.Get("usage")),
	}))
}

// confirmSetup asks the bank whether the method of a SetupIntent may be charged later. The answer depends on the test card.
func (f *Fake) confirmSetup(r *request) reply {
	o := f.objects[r.id]
	switch {
	case o == nil:
		return missing("setup_intent", "intent", r.id)
	case o["status"] != "requires_confirmation":
		return unexpected(o)
	}
	m := f.methods[o["payment_method"].(string)]
	if m.isSpent() {
		return spent()
	}
	switch {
	case m.decline != "" && m.last4 != alwaysAttaches:
		return f.decline(o, "card_declined", m.decline, "Your card was declined.")
	case m.action && !m.agreed:
		o["status"], o["next_action"] = "requires_action", nextAction(r.form.Get("return_url"))
		f.emit("setup_intent.requires_action", o)
	default:
		f.succeed(o)
	}
	return ok(o)
}
