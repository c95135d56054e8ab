package pages

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/labstack/echo/v4"

	"github.com/tillwright/tillwright/server/caller"
	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/core"
)

const (
	// exportPage is how many rows are read at a time. That bounds how much memory an export takes.
	exportPage = 200
	// exportsAtOnce is how many exports read a page of rows at the same time. It is small, so that most connections to the
	// database are left to others.
	exportsAtOnce = 2
	// exportPatience is how long a client may take to receive a page of rows.
	exportPatience = 2 * time.Minute
)

// rows reads a page of an export: the rows after a position, and the position of the last of them, which is empty if there are
// no more. The first page is after the empty position.
type rows func(ctx context.Context, after string) (rows [][]string, last string, err error)

// export answers with a CSV file of any size, which is read and written page by page. If the first page cannot be read in time
// because of others, it answers 503. An error after that breaks the connection (package server), so that nobody takes a part
// for the whole.
func (p *Pages) export(c echo.Context, account, name string, head []string, read rows) error {
	ctx := c.Request().Context()
	next := p.inTurn(newAsker(account, caller.Address(ctx)), read)
	began, cancel := context.WithTimeoutCause(ctx, p.documents.patience, errBusy)
	page, last, err := next(began, "")
	cause := context.Cause(began)
	cancel()
	switch {
	case errors.Is(err, errCrowded), err != nil && errors.Is(cause, errBusy):
		return p.busy(c)
	case err != nil:
		return p.refuse(c, err)
	}
	p.private(c)
	response := c.Response()
	response.Header().Set(echo.HeaderContentType, "text/csv; charset=utf-8; header=present")
	response.Header().Set(echo.HeaderContentDisposition, fmt.Sprintf(`attachment; filename="%s.csv"`, name))
	response.WriteHeader(http.StatusOK)
	if c.Request().Method == http.MethodHead {
		return nil
	}
	patience := http.NewResponseController(response)
	file := csv.NewWriter(response)
	_ = file.Write(head) // the writer keeps the error
	for {
		_ = patience.SetWriteDeadline(time.Now().Add(exportPatience)) // a connection without deadlines needs none
		if err := file.WriteAll(page); err != nil {
			return err // the client is gone
		}
		if last == "" {
			return nil
		}
		if page, last, err = next(ctx, last); err != nil {
			return err
		}
	}
}

// inTurn lets read wait for the asker's turn before each page. The turn ends with the page: while a slow client receives it,
// others read.
func (p *Pages) inTurn(who asker, read rows) rows {
	return func(ctx context.Context, after string) ([][]string, string, error) {
		release, err := p.exports.waitTurn(ctx, who)
		if err != nil {
			return nil, "", err
		}
		defer release()
		return read(ctx, after)
	}
}

// written turns items into a page of rows. It returns the id of the last one as the position after them, or nothing if there
// are no more.
func written[T any](items []T, more bool, row func(*T) (id string, cells []string)) (page [][]string, last string) {
	page = make([][]string, len(items))
	for i := range items {
		last, page[i] = row(&items[i])
	}
	if !more {
		last = ""
	}
	return page, last
}

// orders exports the orders that match a filter, newest first.
func (p *Pages) orders(c echo.Context, account string, filter store.ListOrders) error {
	return p.export(c, account, "orders", orderHead, func(ctx context.Context, after string) ([][]string, string, error) {
		filter.Page = core.Page{Limit: exportPage, StartingAfter: after, Exhaustive: true}
		orders, more, err := p.store.ListOrders(ctx, account, filter)
		if err != nil {
			return nil, "", err
		}
		lines, err := p.store.OrderLines(ctx, account, orders)
		if err != nil {
			return nil, "", err
		}
		page, last := written(orders, more, func(o *store.Order) (string, []string) { return o.ID, orderRow(o, lines[o.ID]) })
		return page, last, nil
	})
}

var orderHead = []string{
	"id", "number", "status", "billing_reason", "created_at", "paid_at", "voided_at", "customer", "customer_email", "billing_name", "billing_country",
	"tax_id", "currency", "subtotal_amount", "discount_amount", "net_amount", "tax_amount", "total_amount", "paid_amount", "refunded_amount",
	"due_amount", "line_items", "checkout", "balance_applied", "refunded_tax_amount", "invoice", "subscription", "discount",
}

// orderRow returns an order as a row of the file, in the order of orderHead.
func orderRow(o *store.Order, items []store.LineItem) []string {
	country, taxID := "", ""
	if a := o.BillingAddress.V; a != nil {
		country = text(a.Country)
	}
	if id := o.TaxID.V; id != nil {
		taxID = id.Value
	}
	money := func(amount int64) string { return core.DecimalAmount(amount, o.Currency) }
	return []string{
		o.ID, strconv.FormatInt(o.Number, 10), string(o.Status), string(o.BillingReason), o.CreatedAt.String(), moment(o.PaidAt), moment(o.VoidedAt),
		o.CustomerID, harmless(text(o.CustomerEmail)), harmless(text(o.BillingName)), harmless(country), harmless(taxID), o.Currency,
		money(o.SubtotalAmount), money(o.DiscountAmount), money(o.NetAmount), money(o.TaxAmount), money(o.TotalAmount), money(o.PaidAmount),
		money(o.RefundedAmount), money(o.DueAmount()), harmless(summary(items)), text(o.CheckoutID),
		money(o.BalanceApplied), money(o.RefundedTaxAmount), text(o.InvoiceID), text(o.SubscriptionID), text(o.DiscountID),
	}
}

// summary returns what was bought, in one cell.
func summary(items []store.LineItem) string {
	all := make([]string, len(items))
	for i := range items {
		all[i] = fmt.Sprintf("%d × %s", items[i].Quantity, items[i].Describe())
	}
	return strings.Join(all, "; ")
}

// moment returns a time as text, empty for nil.
func moment(t *core.Time) string {
	if t == nil {
		return ""
	}
	return t.String()
}

// blankLetters count as letters or symbols but show nothing: the fillers of Hangul, and Braille without a dot.
const blankLetters = "\u115f\u1160\u3164\uffa0\u2800"

// harmless puts an apostrophe in front of a cell that a spreadsheet program would run as a formula, which makes it text. Other
// people wrote these cells. White space, marks and invisible characters in front of the first sign do not count, because some
// programs drop them.
func harmless(cell string) string {
	seen := strings.TrimLeftFunc(cell, func(r rune) bool {
		return r == ' ' || !unicode.IsPrint(r) || unicode.IsMark(r) || strings.ContainsRune(blankLetters, r)
	})
	for _, sign := range []string{"=", "+", "-", "@", "＝", "＋", "－", "＠"} {
		if strings.HasPrefix(seen, sign) {
			return "'" + cell
		}
	}
	if cell != "" && strings.Contains("\t\r\n", cell[:1]) { // which may end the cell, and begin another
		return "'" + cell
	}
	return cell
}
