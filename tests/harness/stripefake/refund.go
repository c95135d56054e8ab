package stripefake

import "slices"

// createRefund creates a refund, unless it is larger than what is left of the charge. What becomes of it depends on the test
// card.
func (f *Fake) createRefund(r *request) reply {
	id, amount := r.form.Get("payment_intent"), number(r.form.Get("amount"))
	intent := f.objects[id]
	switch {
	case intent == nil:
		return missing("payment_intent", "payment_intent", id)
	case !slices.Contains([]string{"", "duplicate", "fraudulent", "requested_by_customer"}, r.form.Get("reason")):
		return fail(400, "invalid_request_error", "", "reason", "Invalid reason.")
	case intent["status"] != "succeeded":
		return fail(400, "invalid_request_error", "", "", "This PaymentIntent does not have a successful charge to refund.")
	}
	left := intent["amount"].(int64)
	for _, o := range f.refundsOf(id) {
		if o["status"] == "succeeded" || o["status"] == "pending" {
			left -= o["amount"].(int64)
		}
	}
	switch {
	case left == 0:
		return fail(400, "invalid_request_error", "charge_already_refunded", "", "The charge has already been refunded.")
	case !inSteps(amount, intent["currency"].(string)):
		return fail(400, "invalid_request_error", "parameter_invalid_integer", "amount", "Invalid amount.")
	case amount == 0 || amount > left:
		return fail(400, "invalid_request_error", "", "amount", "The refund is greater than what is left of the charge.")
	}
	status := f.methods[intent["payment_method"].(string)].refund
	if status == "" {
		status = "succeeded"
	}
	o := f.add("refund", "re", object{
		"amount": amount, "currency": intent["currency"], "payment_intent": id, "status": status,
		"reason": orNull(r.form.Get("reason")), "metadata": metadata(r.form),
	})
	f.emit("refund.created", o)
	return ok(o)
}

// refundsOf returns the refunds of an intent, newest first.
func (f *Fake) refundsOf(intent string) (all []object) {
	for i := len(f.order) - 1; i >= 0; i-- {
		if o := f.objects[f.order[i]]; o["object"] == "refund" && (intent == "" || o["payment_intent"] == intent) {
			all = append(all, o)
		}
	}
	return all
}

// listRefunds lists refunds page by page, as Stripe does: after an id, and at most limit.
func (f *Fake) listRefunds(r *request) reply {
	limit := int(number(r.form.Get("limit")))
	if limit == 0 {
		limit = 10
	}
	after, page, more := r.form.Get("starting_after"), []object{}, false
	for _, o := range f.refundsOf(r.form.Get("payment_intent")) {
		switch {
		case after == "" && len(page) == limit:
			more = true
		case after == "":
			page = append(page, o)
		case o["id"] == after:
			after = ""
		}
	}
	return ok(object{"object": "list", "url": "/v1/refunds", "has_more": more, "data": page})
}

func (f *Fake) cancelRefund(r *request) reply {
	o := f.objects[r.id]
	switch {
	case o == nil:
		return missing("refund", "refund", r.id)
	case o["status"] != "requires_action":
		return fail(400, "invalid_request_error", "", "", "You can only cancel refunds with a status of requires_action.")
	}
	o["status"] = "canceled"
	f.emit("refund.updated", o)
	return ok(o)
}

// SettleRefund plays what the bank decides about a refund: succeeded, failed, or requires_action.
func (f *Fake) SettleRefund(id, status string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	o := f.objects[id]
	o["status"] = status
	if status == "failed" {
		o["failure_reason"] = "expired_or_canceled_card"
		f.emit("refund.failed", o)
		return
	}
	f.emit("refund.updated", o)
}
