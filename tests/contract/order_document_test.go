package contract

import (
	"net/http"
	"net/url"
	"slices"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/tests/harness"
)

func TestGetOrderReceipt_IsAURLThatExpires(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, s *harness.Server) {
		order := purchase(t, c, "ada@example.com", onSale(t, c, 1900))
		receipt := ok[*sdk.SignedURL](t)(c.Orders.Receipt(background, order.ID))
		isSigned(t, receipt)
		other := s.SDK(t)
		_, err := other.Orders.Receipt(background, order.ID)
		refused(t, err, http.StatusNotFound, "resource_missing", "")
	})
}

func TestExportOrders_ChecksItsFilters(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		order := purchase(t, c, "ada@example.com", onSale(t, c, 1900))
		isSigned(t, ok[*sdk.SignedURL](t)(c.Orders.Export(background, &sdk.ExportOrdersParams{Customer: &order.Customer.ID, Status: new(sdk.OrderStatus("paid"))})))
		_, err := c.Orders.Export(background, &sdk.ExportOrdersParams{Customer: new(randomID("cus"))})
		refused(t, err, http.StatusNotFound, "resource_missing", "customer")
	})
}

func TestResendOrderReceipt_SendsIt(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, s *harness.Server) {
		who := unique() + "@example.com"
		order := purchase(t, c, who, onSale(t, c, 1900))
		again := ok[*sdk.Order](t)(c.Orders.ResendReceipt(background, order.ID))
		assert.NotEmpty(t, again.ReceiptURL)
		assert.Equal(t, order.ReceiptURL, again.ReceiptURL)
		letters := becomes(t, c, "receipt", sdk.LetterStatusSent, sdk.LetterStatusSent)
		require.Len(t, letters, 2, "one by itself, and one that was asked for")
		assert.Equal(t, sdk.LetterSubject{Object: "order", ID: order.ID}, letters[0].About)
		tells(t, s, letters[0], *letters[1].Subject, "\n"+order.ReceiptURL+"\n", "\n"+order.ReceiptURL+"/pdf\n")
		letter := arrived(s, letters[0].ID)
		assert.Equal(t, who, letter.To)
		assert.Equal(t, "test@example.com", letter.ReplyTo)
		assert.Contains(t, letter.HTML, `href="`+order.ReceiptURL+`/pdf"`)
		_, err := c.Orders.ResendReceipt(background, randomID("order"))
		refused(t, err, http.StatusNotFound, "resource_missing", "")
	})
}

func TestResendOrderReceipt_NeedsAnAddress(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, s *harness.Server) {
		order := purchase(t, c, "ada@example.com", onSale(t, c, 1900))
		s.Must(t, "UPDATE orders SET customer_email = NULL WHERE id = '"+order.ID+"'")
		_, err := c.Orders.ResendReceipt(background, order.ID)
		refused(t, err, http.StatusUnprocessableEntity, "validation_failed", "customer_email")
		letters, _ := lettersOf(t, c, "receipt")
		assert.Len(t, letters, 1, "the one that is sent by itself")
	})
}

// isSigned expects a URL outside of the base address that lasts for an hour.
func isSigned(t *testing.T, u *sdk.SignedURL) {
	t.Helper()
	at, err := url.Parse(u.URL)
	require.NoError(t, err, "the URL is %q", u.URL)
	assert.Equal(t, "shop.test", at.Host, "the URL is %q", u.URL)
	require.GreaterOrEqual(t, len(at.Path), len("/files/")+100, "the URL is %q", u.URL)
	assert.Equal(t, "/files/", at.Path[:7], "the URL is %q", u.URL)
	left := time.Until(u.ExpiresAt.Time())
	assert.GreaterOrEqual(t, left, 59*time.Minute, "it expires")
	assert.LessOrEqual(t, left, time.Hour, "it expires")
}

func TestExport_TakesTheFiltersOfItsList(t *testing.T) {
	t.Parallel()
	pages := []string{"limit", "starting_after", "ending_before", "cursor", "expand", "sort"} // a file is whole, and in one order
	exports := 0
	for _, export := range harness.Operations() {
		if len(export.Path) < 8 || export.Path[len(export.Path)-7:] != "/export" {
			continue
		}
		exports++
		list := slices.IndexFunc(harness.Operations(), func(o *harness.Operation) bool {
			return o.Method == http.MethodGet && o.Path == export.Path[:len(export.Path)-7]
		})
		for _, p := range harness.Operations()[list].QueryParameters() {
			found := slices.ContainsFunc(export.QueryParameters(), func(q *openapi3.Parameter) bool { return q.Name == p.Name })
			if found == slices.Contains(pages, p.Name) {
				t.Errorf("%s and the parameter %s", export.ID, p.Name)
			}
		}
	}
	if exports == 0 {
		t.Error("there is no export")
	}
}
