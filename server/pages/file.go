package pages

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/tillwright/tillwright/server/caller"
	"github.com/tillwright/tillwright/server/invoicepdf"
	"github.com/tillwright/tillwright/store"
)

// file serves the document or the export that a signed URL was made for. An expired URL is 410; any other that was not made
// here is 404.
func (p *Pages) file(c echo.Context) error {
	file, expired, err := p.store.OpenFile(c.Param("token"))
	if err != nil {
		return p.refuse(c, err)
	}
	if expired {
		return p.render(c, http.StatusGone, "expired.html", nil)
	}
	switch file.Kind {
	case store.FileKindInvoice:
		return p.invoiceFile(c, file)
	case store.FileKindReceipt:
		return p.receiptFile(c, file)
	case store.FileKindOrders:
		return p.orders(c, file.Account, *file.Orders)
	case store.FileKindCustomers:
		return p.customers(c, file.Account, *file.Customers)
	case store.FileKindSubscriptions:
		return p.subscriptions(c, file.Account, *file.Subscriptions)
	}
	return fmt.Errorf("file of the unknown kind %s", file.Kind)
}

// invoiceFile serves the PDF of an invoice. If the invoice's links were revoked since the URL was made, it is 410.
func (p *Pages) invoiceFile(c echo.Context, f *store.File) error {
	i, err := p.store.GetInvoice(c.Request().Context(), f.Account, f.ID)
	if err != nil {
		return p.refuse(c, err)
	}
	if i.LinkVersion != f.LinkVersion {
		return p.render(c, http.StatusGone, "expired.html", nil)
	}
	return p.writeInvoice(c, i)
}

// receiptFile serves the PDF of a receipt. If the order's links were revoked since the URL was made, it is 410.
func (p *Pages) receiptFile(c echo.Context, f *store.File) error {
	o, err := p.store.GetOrder(c.Request().Context(), f.Account, f.ID)
	if err != nil {
		return p.refuse(c, err)
	}
	if o.LinkVersion != f.LinkVersion {
		return p.render(c, http.StatusGone, "expired.html", nil)
	}
	return p.writeReceipt(c, o)
}

func (p *Pages) writeInvoice(c echo.Context, i *store.Invoice) error {
	document, err := p.invoiceDocument(c.Request().Context(), i)
	if err != nil {
		return err
	}
	return p.pdf(c, i.AccountID, "invoice", document)
}

func (p *Pages) writeReceipt(c echo.Context, o *store.Order) error {
	document, err := p.receiptDocument(c.Request().Context(), o)
	if err != nil {
		return err
	}
	return p.pdf(c, o.AccountID, "receipt", document)
}

// pdf answers with a document as a PDF. A browser shows it, or saves it in a file that is named after its number.
func (p *Pages) pdf(c echo.Context, account, name string, d *invoicepdf.Document) error {
	ctx := c.Request().Context()
	text, err := p.documents.get(ctx, newAsker(account, caller.Address(ctx)), *d)
	if errors.Is(err, errBusy) {
		return p.busy(c)
	}
	if err != nil {
		return err
	}
	p.private(c)
	c.Response().Header().Set(echo.HeaderContentDisposition, fmt.Sprintf(`inline; filename="%s-%s.pdf"`, name, plain(d.Number)))
	return c.Blob(http.StatusOK, "application/pdf", text)
}

// busy answers 503 with a page that says to try again in a few seconds, because others ask for too many documents.
func (p *Pages) busy(c echo.Context) error {
	c.Response().Header().Set(echo.HeaderRetryAfter, busyWait)
	return p.render(c, http.StatusServiceUnavailable, "refused.html", refusal{"This takes too long at the moment", "Many documents are asked for. Try again in a few seconds: this one is still there."})
}

// busyWait is after how many seconds to try again.
const busyWait = "5"

// plain drops everything from a number that may not stand in a file name.
func plain(number string) string {
	return strings.Map(func(r rune) rune {
		if 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '-' {
			return r
		}
		return -1
	}, number)
}

// invoiceDocument returns an invoice as a document, as it stands now.
func (p *Pages) invoiceDocument(ctx context.Context, i *store.Invoice) (*invoicepdf.Document, error) {
	seller, err := p.store.Tenant.GetAccount(ctx, i.AccountID)
	if err != nil {
		return nil, err
	}
	detail, err := p.store.GetInvoiceDetail(ctx, i)
	if err != nil {
		return nil, err
	}
	refunds, err := p.store.RefundsByID(ctx, i.AccountID, i.RefundIDs.V)
	if err != nil {
		return nil, err
	}
	return invoiceOf(seller, detail, refunds), nil
}

// receiptDocument returns the receipt of an order as a document, as it stands now.
func (p *Pages) receiptDocument(ctx context.Context, o *store.Order) (*invoicepdf.Document, error) {
	seller, err := p.store.Tenant.GetAccount(ctx, o.AccountID)
	if err != nil {
		return nil, err
	}
	detail, err := p.store.GetOrderDetail(ctx, o)
	if err != nil {
		return nil, err
	}
	payments, err := p.store.PaymentsByID(ctx, o.AccountID, o.PaymentIDs.V)
	if err != nil {
		return nil, err
	}
	refunds, err := p.store.RefundsByID(ctx, o.AccountID, o.RefundIDs.V)
	if err != nil {
		return nil, err
	}
	return receiptOf(seller, detail, payments, refunds), nil
}
