package pages_test

import (
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/invoice"
)

// billed issues an invoice of the guest's over 95.20, and drafts another.
func (g *guest) billed() {
	g.t.Helper()
	g.billedIn("eur", true, false)
}

// billedIn issues invoices over 95.20 in a currency, or drafts them.
func (g *guest) billedIn(currency string, each ...bool) {
	g.t.Helper()
	for _, issued := range each {
		i, err := g.Invoice.Create(g.t.Context(), g.account, invoice.Draft{
			Invoice:  &invoice.Invoice{CollectionMethod: invoice.CollectionMethodSendInvoice, DueAt: new(core.TimeOf(g.now.Add(24 * time.Hour))), Currency: currency},
			Customer: g.customer.ID,
			Lines:    []invoice.NewLine{{Description: new("Work & travel"), UnitAmount: new(int64(4000)), Quantity: 2, TaxRateBps: new(int64(1900)), TaxName: new("VAT")}},
		})
		require.NoError(g.t, err)
		if issued {
			_, err = g.FinalizeInvoice(g.t.Context(), g.account, i.ID)
			require.NoError(g.t, err)
		}
	}
}

func TestPortal_ListsEveryOrderPageByPage(t *testing.T) {
	t.Parallel()
	g := newShop(t).guest("grace@example.com")
	for range 23 {
		g.billed()
	}
	home := g.see("", http.StatusOK)
	assert.Contains(t, home, `<h2 id="due">To pay: <span class="amount">€2,189.60</span></h2>`)
	assert.Equal(t, 23, strings.Count(home, ">Pay invoice "))
	first := g.see("/orders", http.StatusOK)
	require.Equal(t, 20, strings.Count(first, "<small>Order "))
	next := regexp.MustCompile(`href="[^"]*(/orders\?after=[^"]*)"`).FindStringSubmatch(first)
	require.Len(t, next, 2)
	second := g.see(next[1], http.StatusOK)
	require.Equal(t, 3, strings.Count(second, "<small>Order "))
	assert.NotContains(t, second, "Older orders")

	g.billedIn("usd", true)
	home = g.see("", http.StatusOK)
	assert.Contains(t, home, `<h2 id="due">To pay: <span class="amount">€2,189.60</span> + <span class="amount">$95.20</span></h2>`)
	assert.NotContains(t, home, "more invoices to pay")
	g.billedIn("eur", slices.Repeat([]bool{true}, 77)...)
	home = g.see("", http.StatusOK)
	assert.Contains(t, home, `<h2 id="due">To pay</h2>`, "of a part it would be no sum")
	assert.Equal(t, 100, strings.Count(home, ">Pay invoice "))
	assert.Regexp(t, `more invoices to pay than are listed here\. <a href="[^"]*/orders">All orders and invoices</a></p>`, home)
}
