package testpay_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/server/payments"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/payment"
	"github.com/tillwright/tillwright/tests/harness/database"
)

// save saves a method for a customer.
func (b *bank) save(token, ref string) payments.Method {
	b.t.Helper()
	customer, err := b.CreateCustomer(b.t.Context(), payments.CustomerInput{Token: token, Account: "acct_1", Customer: "cus_1"})
	require.NoError(b.t, err)
	method, err := b.AttachMethod(b.t.Context(), payments.AttachInput{
		Token: token, Account: "acct_1", CustomerRef: customer, MethodRef: ref, Card: payment.Method{Last4: "4242"},
	})
	require.NoError(b.t, err)
	return method
}

// history charges a method again and again, and returns how that went.
func (b *bank) history(ref string, offSession ...bool) string {
	b.t.Helper()
	all := ""
	for i, off := range offSession {
		status := b.chargeSaved(fmt.Sprintf("pay_%s_%d", ref, i), ref, 1900, off)
		all += map[payments.Status]string{payments.ChargeSucceeded: "+", payments.ChargeDeclined: "-", payments.ChargeRequiresAction: "?"}[status]
	}
	return all
}

// chargeSaved charges an amount to a saved method, and asks for it twice.
func (b *bank) chargeSaved(token, ref string, amount int64, offSession bool) payments.Status {
	b.t.Helper()
	in := payments.ChargeInput{Token: token, Account: "acct_1", Amount: amount, Currency: "usd", MethodRef: ref, OffSession: offSession}
	charge, err := b.PrepareCharge(b.t.Context(), in)
	require.NoError(b.t, err)
	first, err := b.ConfirmCharge(b.t.Context(), "acct_1", charge, "")
	require.NoError(b.t, err)
	again, err := b.ConfirmCharge(b.t.Context(), "acct_1", charge, "")
	require.NoError(b.t, err)
	assert.Equal(b.t, first, again)
	return first.Status
}

func TestAttachMethod_BeginsAHistory(t *testing.T) {
	each(t, func(t *testing.T, b *bank) {
		const on, off = false, true
		assert.Equal(t, "+---", b.history(b.save("a", "tok_fail_on_renewal").Ref, on, off, off, on), "the next renewal fails")
		assert.Equal(t, "+-", b.history(b.save("b", "tok_fail_on_renewal").Ref, off, off), "another one begins anew")
		assert.Equal(t, "+--++", b.history(b.save("c", "tok_recover_on_3rd").Ref, on, off, off, off, off))
		assert.Equal(t, "--+", b.history(b.save("d", "tok_recover_on_3rd").Ref, off, off, off), "after a trial")
		free := b.save("h", "tok_fail_on_renewal").Ref
		b.chargeSaved("pay_free", free, 0, on)
		assert.Equal(t, "+-", b.history(free, off, off), "what costs nothing does not count")
		assert.Equal(t, "--", b.history(b.save("e", "pm_card_chargeCustomerFail").Ref, on, off))
		assert.Equal(t, "++", b.history(b.save("f", "pm_card_visa").Ref, on, off))
		assert.Equal(t, "?+", b.history(b.save("g", "pm_card_authenticationRequired").Ref, on, off), "nobody is there to be asked")
		assert.Equal(t, "++", b.history("tok_fail_on_renewal", on, on), "one that is not saved has no history")
	})
}

func TestAttachMethod_KeepsWhatIsShown(t *testing.T) {
	t.Parallel()
	b := open(t, database.URL(t, "sqlite"))
	saved := b.save("a", "pm_card_visa")
	assert.Equal(t, "4242", saved.Card.Last4)
	assert.Equal(t, saved, b.save("a", "pm_card_visa"), "one token is one method")
	assert.Equal(t, saved.Ref, b.save("b", saved.Ref).Ref, "one that is saved stays the same")
	_, err := b.AttachMethod(t.Context(), payments.AttachInput{Token: "c", MethodRef: "pm_nobody"})
	var e *core.Error
	require.ErrorAs(t, err, &e)
	assert.Contains(t, e.Fields, "payment_method")
}
