package mail

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/tillwright/tillwright/server/locale"
	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/invoice"
	"github.com/tillwright/tillwright/store/tenant"
)

// A letter has the dates of its seller's time zone: in Auckland the new year begins while it is the old one in UTC.
func TestInvoiceSent_HasTheDateOfTheSellersZone(t *testing.T) {
	t.Parallel()
	due := core.TimeOf(time.Date(2026, 12, 31, 20, 0, 0, 0, time.UTC))
	i := &invoice.Invoice{Number: new("KES-1"), Currency: "usd", TotalAmount: 100, Status: invoice.StatusOpen, DueAt: &due}
	for zone, want := range map[string]string{"Pacific/Auckland": "1 January 2027", "UTC": "31 December 2026"} {
		assert.Contains(t, invoiceSent(locale.English, &store.LetterContent{Seller: &tenant.Account{Name: "Kestrel", Timezone: zone}, Invoice: i}).facts, "Due date: "+want)
	}
}
