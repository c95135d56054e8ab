package pages

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/tillwright/tillwright/server/invoicepdf"
	"github.com/tillwright/tillwright/server/locale"
	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/content"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/invoice"
	"github.com/tillwright/tillwright/store/order"
	"github.com/tillwright/tillwright/store/tenant"
)

// A document has the dates of its seller's time zone: in Auckland the new year begins while it is the old one in UTC.
func TestDocuments_HaveTheDatesOfTheSellersZone(t *testing.T) {
	t.Parallel()
	at := core.TimeOf(time.Date(2026, 12, 31, 20, 0, 0, 0, time.UTC))
	refund := &store.Refund{Amount: 100, Currency: "usd", Status: store.RefundStatusSucceeded, CreatedAt: at, SucceededAt: &at}
	for zone, want := range map[string]string{
		"Pacific/Auckland": "1 January 2027",
		"UTC":              "31 December 2026",
		"":                 "31 December 2026",
	} {
		seller := &tenant.Account{Name: "Kestrel", Timezone: zone}
		l := locale.English
		invoice := invoiceOf(l, seller, &invoice.Detail{Invoice: &invoice.Invoice{
			Currency: "usd", CreatedAt: at, FinalizedAt: &at, DueAt: &at, PaidAt: &at, PeriodStart: &at, PeriodEnd: &at, AmountPaid: 100, RefundIDs: core.JSONOf([]string{"re_1"}),
		}}, map[string]*store.Refund{"re_1": refund})
		receipt := receiptOf(l, seller, &order.Detail{Order: &order.Order{
			Currency: "usd", CreatedAt: at, PaidAt: &at, PaidAmount: 100, RefundIDs: core.JSONOf([]string{"re_1"}),
		}}, nil, map[string]*store.Refund{"re_1": refund})
		for _, d := range []*invoicepdf.Document{invoice, receipt} {
			assert.Equal(t, want, l.Day(d.IssuedAt), zone)
			for _, f := range d.Facts {
				assert.Contains(t, f.Value, want, f.Name)
			}
			assert.Contains(t, d.Notes[len(d.Notes)-1], want)
		}
		assert.Len(t, invoice.Facts, 3)
		assert.Len(t, receipt.Facts, 1)
	}
}

// The page of an invoice says by when it is to be paid, and how long it is overdue.
func TestWhenDue_CountsTheDaysBegun(t *testing.T) {
	t.Parallel()
	due := time.Date(2026, 12, 31, 20, 0, 0, 0, time.UTC)
	seller := &tenant.Account{Timezone: "UTC"}
	i := &invoice.Invoice{TotalAmount: 100, Status: invoice.StatusOpen, DueAt: new(core.TimeOf(due))}
	for after, want := range map[time.Duration]string{
		-time.Hour: "To be paid by 31 December 2026", 0: "To be paid by 31 December 2026", time.Hour: "Overdue by 1 day", 24 * time.Hour: "Overdue by 1 day", 25 * time.Hour: "Overdue by 2 days",
	} {
		assert.Equal(t, want, whenDue(locale.English, seller, i, core.TimeOf(due.Add(after))))
	}
	assert.Equal(t, "Seit 2 Tagen überfällig", whenDue(locale.Find("de"), seller, i, core.TimeOf(due.Add(25*time.Hour))))
	for _, none := range []*invoice.Invoice{
		{TotalAmount: 100, Status: invoice.StatusOpen}, {TotalAmount: 100, Status: invoice.StatusVoid, DueAt: i.DueAt}, {TotalAmount: 100, AmountPaid: 100, Status: invoice.StatusPaid, DueAt: i.DueAt},
	} {
		assert.Empty(t, whenDue(locale.English, seller, none, core.TimeOf(due.Add(time.Hour))))
	}
}

// A receipt says what a change of plan gave of its order to the balance, which is no refund.
func TestReceipt_SaysWhatWentToTheBalance(t *testing.T) {
	t.Parallel()
	receipt := func(credited int64) *invoicepdf.Document {
		o := &order.Order{Currency: "usd", PaidAmount: 5000, TotalAmount: 5000, CreditedAmount: credited}
		return receiptOf(locale.English, &tenant.Account{Name: "Kestrel"}, &order.Detail{Order: o}, nil, nil)
	}
	assert.Equal(t, []string{"$12.50 credited to the balance after a change of plan."}, receipt(1250).Notes)
	assert.Empty(t, receipt(0).Notes)
}

// The pages of a site have them too, of posts and of countdowns.
func TestSite_HasTheDatesOfTheSellersZone(t *testing.T) {
	t.Parallel()
	at, seller := core.TimeOf(time.Date(2026, 12, 31, 20, 0, 0, 0, time.UTC)), &tenant.Account{Timezone: "Pacific/Auckland"}
	assert.Equal(t, "1 January 2027", shownPost(locale.English, seller, &content.BlogPost{URL: new("/posts/1"), PublishedAt: &at}).Day)
	assert.Equal(t, "1 January 2027", visible(locale.English, seller, []content.SiteBlock{{Type: content.SiteBlockCountdown, EndsAt: &at}})[0].Day)
}
