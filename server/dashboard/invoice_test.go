package dashboard_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/sdk"
)

func TestInvoices_MoveAsTheirStateLets(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		sees(t, w.owner, "/app/invoices", "There is none yet.", "curl ")
		api := w.api.SDK()
		c, err := api.Customers.Create(t.Context(), &sdk.CustomerCreate{Email: "grace@example.com", Name: new("Grace")})
		require.NoError(t, err)
		draft := func() string {
			i, err := api.Invoices.Create(t.Context(), &sdk.InvoiceCreate{Customer: c.ID, CollectionMethod: new(sdk.CollectionMethodSendInvoice), DueAt: new(sdk.TimeOf(time.Now().Add(24 * time.Hour))),
				Lines: []sdk.InvoiceLineCreate{{Description: new("A day <i>"), UnitAmount: new(int64(50000)), Quantity: new(int64(1))}}})
			require.NoError(t, err)
			return "/app/invoices/" + i.ID
		}
		address := draft()
		sees(t, w.owner, address, "Draft", "Finalise", "A day &lt;i&gt;", "Grace")
		status, page := w.owner.Post(address+"/paid", nil)
		require.Equal(t, http.StatusUnprocessableEntity, status)
		require.Contains(t, page, "There is a problem")
		status, _ = w.owner.Post(address+"/nothing", nil)
		require.Equal(t, http.StatusNotFound, status)
		sends(t, w.owner, address+"/finalize", nil)
		sees(t, w.owner, address, "has its number", "Due</span>", "Paid another way", "As the customer sees it")
		sends(t, w.owner, address+"/send", nil)
		sees(t, w.owner, "/app/emails?kind=invoice", "<bdi>Invoice</bdi></a>")
		sends(t, w.owner, address+"/paid", nil)
		sees(t, w.owner, address, "The invoice is paid.", "Paid</span>")
		other := draft()
		sends(t, w.owner, other+"/finalize", nil)
		sends(t, w.owner, other+"/uncollectible", nil)
		sees(t, w.owner, other, "Uncollectible</span>")
		sends(t, w.owner, other+"/void", nil)
		sees(t, w.owner, other, "Void</span>")
		sees(t, w.owner, "/app/invoices?status=paid", "Invoice INV", "Grace")
		require.NotContains(t, sees(t, w.owner, "/app/invoices?status=paid"), "Void</span>")
	})
}
