package store

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
)

// Every order has a page that shows its receipt, and every invoice has one on which it can be paid. Whoever has the address of
// a page can open it. Addresses are not stored but computed when the row is read: they name the object and its account, the
// row's link version and the day on which they end, and carry a signature of all that. They go on working when the secret key
// is rotated, as long as the old key stays in the list. A row that is read later has an address that ends later, and raising
// the row's version ends all addresses that were made before.

const (
	// pageLinkMonths is for how many months an address opens its page, at least. All addresses that are made in a month end
	// together, so that a row has the same one whenever it is read in that month.
	pageLinkMonths = 6
	// pageLinkRest is how long an address whose time is over still opens a row that was paid, or called off, only now: whoever
	// has just paid on the page sees there that it is paid.
	pageLinkRest = 30 * day
)

// bareLinksEnd is when the addresses end that programs before schema 43 made: they carry neither a version nor an end.
var bareLinksEnd = core.TimeOf(time.Date(2027, time.July, 1, 0, 0, 0, 0, time.UTC))

// These types have addresses, which are filled in whenever they are read.
var (
	_ db.Linked = (*Order)(nil)
	_ db.Linked = (*Invoice)(nil)
	_ db.Linked = (*OrderDetail)(nil)
	_ db.Linked = (*InvoiceDetail)(nil)
)

// Link fills in the address of the order's receipt, whenever an order is read: see db.Linked.
func (o *Order) Link(d *db.DB) {
	o.ReceiptURL = pageURL(d, "receipt", o.AccountID, o.ID, o.LinkVersion)
}

// Link fills in the address of the invoice's page, whenever an invoice is read: see db.Linked.
func (i *Invoice) Link(d *db.DB) {
	i.HostedURL = pageURL(d, "invoice", i.AccountID, i.ID, i.LinkVersion)
}

// Link fills in the address of the order in an event.
func (o *OrderDetail) Link(d *db.DB) { o.Order.Link(d) }

// Link fills in the address of the invoice in an event.
func (i *InvoiceDetail) Link(d *db.DB) { i.Invoice.Link(d) }

// pageURL returns the address of a page of a row. It ends with the month that is pageLinkMonths after this one.
func pageURL(d *db.DB, page, account, id string, version int64) string {
	year, month, _ := d.Now().Time().UTC().Date()
	end := time.Date(year, month+pageLinkMonths+1, 1, 0, 0, 0, 0, time.UTC)
	return d.Options.PublicURL + "/" + page + "/" + pageToken(d.Options.Sealer, account, id, version, end)
}

// pageToken returns the last part of a page's address: the object's id, the account's id without its prefix, the version, the
// day on which it ends counted from 1970, and the signature of all that, with underscores between. Version and day are in base
// 36.
func pageToken(sealer *core.Sealer, account, id string, version int64, end time.Time) string {
	named := id + "_" + strings.TrimPrefix(account, core.KindAccount.Prefix()) + "_" +
		strconv.FormatInt(version, 36) + "_" + strconv.FormatInt(end.Unix()/secondsOfDay, 36)
	return named + "_" + core.TokenEncoding.EncodeToString(sealer.Sign(pageContext+named))
}

const (
	pageContext  = "page\x00"
	secondsOfDay = 24 * 60 * 60
)

// pageLink is what the token of a page says: which object of which account it opens, by which version, and until when.
type pageLink struct {
	account, id string
	version     int64
	end         core.Time
}

// readPage returns what the token of a page says. A token that this server has not signed, or that is for an object of another
// kind, is CodeMissing.
func (s *Store) readPage(k core.Kind, token string) (*pageLink, error) {
	missing := core.Missing("page", "", "")
	at := strings.LastIndexByte(token, '_')
	if at < 0 {
		return nil, missing
	}
	named := token[:at]
	signature, err := core.TokenEncoding.DecodeString(token[at+1:])
	if err != nil || !s.db.Options.Sealer.Signed(pageContext+named, signature) || core.TokenEncoding.EncodeToString(signature) != token[at+1:] {
		return nil, missing
	}
	parts := strings.Split(named, "_") // the prefix of the id, the id, the account, and since schema 43 the version and the end
	if len(parts) != 3 && len(parts) != 5 {
		return nil, missing
	}
	link := &pageLink{end: bareLinksEnd}
	var known, knownAccount bool
	link.id, known = core.ParseID(k, parts[0]+"_"+parts[1])
	link.account, knownAccount = core.ParseID(core.KindAccount, core.KindAccount.Prefix()+parts[2])
	if !known || !knownAccount {
		return nil, missing
	}
	if len(parts) == 5 {
		version, versionErr := strconv.ParseInt(parts[3], 36, 64)
		days, daysErr := strconv.ParseInt(parts[4], 36, 32)
		if versionErr != nil || daysErr != nil {
			return nil, missing
		}
		link.version, link.end = version, core.TimeOf(time.Unix(days*secondsOfDay, 0))
	}
	return link, nil
}

// opens reports whether an address still opens a row that has this version. Settled is when nothing was left to be paid any
// more, nil if something still is: as long as that is so, the address has no end.
func (l *pageLink) opens(version int64, settled *core.Time, now core.Time) bool {
	return l.version == version && (settled == nil || now < max(l.end, settled.Add(pageLinkRest)))
}

// OpenReceipt returns the order whose receipt a token opens, or CodeMissing if the token was not made here. If ended, the
// address opens the receipt no more: the order is returned only so that a new address can be written to its buyer, and must not
// be shown.
func (s *Store) OpenReceipt(ctx context.Context, token string) (o *Order, ended bool, err error) {
	link, err := s.readPage(core.KindOrder, token)
	if err != nil {
		return nil, false, err
	}
	if o, err = s.GetOrder(ctx, link.account, link.id); err != nil {
		return nil, false, err
	}
	return o, !link.opens(o.LinkVersion, o.settledAt(), s.Now()), nil
}

// OpenHostedInvoice returns the invoice whose page a token opens, as OpenReceipt does for an order. A draft has no page:
// CodeMissing.
func (s *Store) OpenHostedInvoice(ctx context.Context, token string) (i *Invoice, ended bool, err error) {
	link, err := s.readPage(core.KindInvoice, token)
	if err != nil {
		return nil, false, err
	}
	if i, err = s.GetInvoice(ctx, link.account, link.id); err != nil {
		return nil, false, err
	}
	if i.Status == InvoiceStatusDraft {
		return nil, false, core.Missing("page", "", "")
	}
	return i, !link.opens(i.LinkVersion, i.settledAt(), s.Now()), nil
}

// settledAt returns since when nothing is left to be paid of the order, nil if something is.
func (o *Order) settledAt() *core.Time {
	if o.Status == OrderStatusPending {
		return nil
	}
	return lastOf(&o.CreatedAt, o.PaidAt, o.VoidedAt)
}

// settledAt returns since when nobody can pay the invoice any more, nil if it can be paid.
func (i *Invoice) settledAt() *core.Time {
	if i.Status == InvoiceStatusOpen || i.Status == InvoiceStatusPastDue {
		return nil
	}
	return lastOf(&i.CreatedAt, i.PaidAt, i.VoidedAt, i.UncollectibleAt)
}

// lastOf returns the latest of the moments that are not nil, nil if there is none.
func lastOf(times ...*core.Time) *core.Time {
	var last *core.Time
	for _, t := range times {
		if t != nil && (last == nil || *t > *last) {
			last = t
		}
	}
	return last
}

// RevokeOrderLinks makes every address of the order's receipt, as page and as file, open nothing any more. It returns the order
// with a new address. No event follows.
func (s *Store) RevokeOrderLinks(ctx context.Context, account, ref string) (*Order, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (*Order, error) {
		o, err := s.lockOrder(ctx, u, account, ref)
		if err != nil {
			return nil, err
		}
		if o.UpdatedAt, err = s.db.BusinessNow(ctx, account); err != nil {
			return nil, err
		}
		o.LinkVersion++
		o.Link(s.db)
		return o, u.Update(ctx, orderColumns, o)
	})
}

// RevokeInvoiceLinks does the same as RevokeOrderLinks for the page and the file of an invoice.
func (s *Store) RevokeInvoiceLinks(ctx context.Context, account, ref string) (*Invoice, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (*Invoice, error) {
		i, err := s.lockInvoice(ctx, u, account, ref)
		if err != nil {
			return nil, err
		}
		if i.UpdatedAt, err = s.db.BusinessNow(ctx, account); err != nil {
			return nil, err
		}
		i.LinkVersion++
		i.Link(s.db)
		return i, u.Update(ctx, invoiceColumns, i)
	})
}
