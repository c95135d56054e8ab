package pages

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/tillwright/tillwright/server/invoicepdf"
	"github.com/tillwright/tillwright/store"
)

// file serves what a signed URL was made for. One that is over is 410, any other that was not made here 404.
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
		return p.invoiceFile(c, file.Account, file.ID)
	case store.FileKindReceipt:
		return p.receiptFile(c, file.Account, file.ID)
	case store.FileKindOrders:
		return p.orders(c, file.Account, *file.Orders)
	case store.FileKindCustomers:
		return p.customers(c, file.Account, *file.Customers)
	case store.FileKindSubscriptions:
		return p.subscriptions(c, file.Account, *file.Subscriptions)
	}
	return fmt.Errorf("file of the unknown kind %s", file.Kind)
}

func (p *Pages) invoiceFile(c echo.Context, account, id string) error {
	document, _, err := p.invoiceDocument(c.Request().Context(), account, id)
	if err != nil {
		return p.refuse(c, err)
	}
	return p.pdf(c, "invoice", document)
}

func (p *Pages) receiptFile(c echo.Context, account, id string) error {
	document, err := p.receiptDocument(c.Request().Context(), account, id)
	if err != nil {
		return p.refuse(c, err)
	}
	return p.pdf(c, "receipt", document)
}

// pdf answers with a document, which a browser shows or keeps under its number.
func (p *Pages) pdf(c echo.Context, name string, d *invoicepdf.Document) error {
	text, err := p.documents.Write(*d)
	if err != nil {
		return err
	}
	p.private(c)
	c.Response().Header().Set(echo.HeaderContentDisposition, fmt.Sprintf(`inline; filename="%s-%s.pdf"`, name, plain(d.Number)))
	return c.Blob(http.StatusOK, "application/pdf", text)
}

// plain keeps of a number what may stand in a file name.
func plain(number string) string {
	return strings.Map(func(r rune) rune {
		if 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '-' {
			return r
		}
		return -1
	}, number)
}

// invoiceDocument is an invoice as it stands now.
func (p *Pages) invoiceDocument(ctx context.Context, account, id string) (*invoicepdf.Document, *store.InvoiceDetail, error) {
	seller, err := p.store.GetAccount(ctx, account)
	if err != nil {
		return nil, nil, err
	}
	detail, err := p.store.GetInvoiceDetail(ctx, account, id)
	if err != nil {
		return nil, nil, err
	}
	refunds, err := p.store.RefundsByID(ctx, account, detail.Invoice.RefundIDs.V)
	if err != nil {
		return nil, nil, err
	}
	return invoiceOf(seller, detail, refunds), detail, nil
}

// receiptDocument is the receipt of an order as it stands now.
func (p *Pages) receiptDocument(ctx context.Context, account, id string) (*invoicepdf.Document, error) {
	seller, err := p.store.GetAccount(ctx, account)
	if err != nil {
		return nil, err
	}
	detail, err := p.store.GetOrderDetail(ctx, account, id)
	if err != nil {
		return nil, err
	}
	payments, err := p.store.PaymentsByID(ctx, account, detail.Order.PaymentIDs.V)
	if err != nil {
		return nil, err
	}
	refunds, err := p.store.RefundsByID(ctx, account, detail.Order.RefundIDs.V)
	if err != nil {
		return nil, err
	}
	return receiptOf(seller, detail, payments, refunds), nil
}
