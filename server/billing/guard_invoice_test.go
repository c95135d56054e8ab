package billing_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/server/payments"
	"github.com/tillwright/tillwright/store/invoice"
	"github.com/tillwright/tillwright/store/payment"
)

func TestPayInvoice_WaitsAfterFiveDeclines(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		for name, from := range map[string]payment.Buyer{"with a key": {}, "on its page": {Address: "203.0.113.7"}} {
			i := w.issued(invoice.CollectionMethodSendInvoice, "")
			in := payInvoice(declined)
			in.From, in.OnSession = from, from.Address != ""
			for range 5 {
				_, err := w.PayInvoice(t.Context(), w.account, i.ID, in)
				refused(t, err, "payment_method")
			}
			asked := w.provider.confirms.Load()
			in.Method = &payments.MethodInput{Ref: "pm_card_visa"}
			_, err := w.PayInvoice(t.Context(), w.account, i.ID, in)
			slowed(t, err, 30*time.Second, time.Minute)
			assert.Equal(t, asked, w.provider.confirms.Load(), name)
			w.advance.Add(int64(time.Minute))
			paid, err := w.PayInvoice(t.Context(), w.account, i.ID, in)
			require.NoError(t, err)
			assert.Equal(t, invoice.StatusPaid, paid.Status)
		}
	})
}
