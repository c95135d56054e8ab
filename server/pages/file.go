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
	"github.com/tillwright/tillwright/server/locale"
	"github.com/tillwright/tillwright/server/transfer"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/invoice"
	"github.com/tillwright/tillwright/store/order"
	"github.com/tillwright/tillwright/store/signed"
	"github.com/tillwright/tillwright/store/tenant"
)

// file serves the document, the list or the stored file that a signed URL was made for. An expired URL is 410, and so is one of another version; any other that was not made
// here is 404.
func (p *Pages) file(c echo.Context) error {
	file, expired, err := p.store.Signed.Open(c.Param("token"))
	if err != nil {
		return p.refuse(c, err)
	}
	if expired {
		return p.fileOver(c, file)
	}
	switch file.Kind {
	case signed.FileKindInvoice:
		return p.invoiceFile(c, file)
	case signed.FileKindReceipt:
		return p.receiptFile(c, file)
	case signed.FileKindList:
		return p.list(c, file)
	case signed.FileKindStored:
		return p.stored(c, file)
	}
	return p.tell(c, http.StatusGone, outdated(p.spoken(c))) // another version of the program made it
}

// fileOver answers 410: the address of a file opens nothing any more. A buyer is led to the door of the portal.
func (p *Pages) fileOver(c echo.Context, f *signed.File) error {
	if !f.IsBuyers() {
		return p.tell(c, http.StatusGone, outdated(p.spoken(c)))
	}
	seller, err := p.store.Tenant.GetAccount(c.Request().Context(), f.Account)
	if err != nil {
		return p.refuse(c, err)
	}
	return p.over(c, seller, nil)
}

// invoiceFile serves the PDF of an invoice. If the invoice's links were revoked since the URL was made, it is 410.
func (p *Pages) invoiceFile(c echo.Context, f *signed.File) error {
	i, err := p.store.Invoice.Get(c.Request().Context(), f.Account, f.ID)
	if err != nil {
		return p.refuse(c, err)
	}
	if i.LinkVersion != f.LinkVersion {
		return p.fileOver(c, f)
	}
	return p.writeInvoice(c, i)
}

// receiptFile serves the PDF of a receipt. If the order's links were revoked since the URL was made, it is 410.
func (p *Pages) receiptFile(c echo.Context, f *signed.File) error {
	o, err := p.store.Order.Get(c.Request().Context(), f.Account, f.ID)
	if err != nil {
		return p.refuse(c, err)
	}
	if o.LinkVersion != f.LinkVersion {
		return p.fileOver(c, f)
	}
	return p.writeReceipt(c, o)
}

// stored serves the bytes of a version of a file that a seller has uploaded. If it was deleted since the URL was made, or its buyer has lost it, it
// is 410. If they have downloaded it as often as they may, it is 403.
func (p *Pages) stored(c echo.Context, file *signed.File) error {
	f, v, err := p.store.Grant.GetFileVersion(c.Request().Context(), file.Account, file.ID, file.Version)
	if isMissing(err) {
		return p.fileOver(c, file)
	}
	if err != nil {
		return err
	}
	if file.Grant == "" { // the seller's own, who may do nothing more once the account is disabled
		disabled, err := p.store.Tenant.IsDisabled(c.Request().Context(), file.Account)
		if err != nil {
			return err
		}
		if disabled {
			return p.tell(c, http.StatusGone, outdated(p.spoken(c)))
		}
	}
	err = p.transfer.Serve(c, f, v, func() error {
		if file.Grant == "" { // the seller's own
			return nil
		}
		return p.store.Grant.Download(c.Request().Context(), file.Account, file.Grant, f.ID, v.Version, transfer.IsFirst(c.Request(), v))
	})
	return p.notServed(c, file, err)
}

// notServed answers with a page that says why a file is not served, if err does. Whoever used up their downloads is led to the seller.
func (p *Pages) notServed(c echo.Context, file *signed.File, err error) error {
	e, _ := errors.AsType[*core.Error](err)
	switch {
	case errors.Is(err, transfer.ErrBusy):
		c.Response().Header().Set(echo.HeaderRetryAfter, busyWait)
		return p.tell(c, http.StatusServiceUnavailable, said(p.spoken(c), "message.busy_files"))
	case e != nil && e.Code == core.CodeForbidden:
		seller, err := p.store.Tenant.GetAccount(c.Request().Context(), file.Account)
		if err != nil {
			return err
		}
		return p.tellAt(c, http.StatusForbidden, shopOf(seller), said(p.spoken(c), "message.used_up"))
	case e != nil && e.Code == core.CodeGone, isMissing(err):
		return p.fileOver(c, file)
	}
	return err
}

func (p *Pages) writeInvoice(c echo.Context, i *invoice.Invoice) error {
	l, err := p.speakOf(c, i.AccountID, i.CustomerID)
	if err != nil {
		return err
	}
	l = printed(l)
	document, seller, err := p.invoiceDocument(c.Request().Context(), l, i)
	if err != nil {
		return err
	}
	return p.pdf(c, l, seller, "invoice", document)
}

func (p *Pages) writeReceipt(c echo.Context, o *order.Order) error {
	l, err := p.speakOf(c, o.AccountID, o.CustomerID)
	if err != nil {
		return err
	}
	l = printed(l)
	document, seller, err := p.receiptDocument(c.Request().Context(), l, o)
	if err != nil {
		return err
	}
	return p.pdf(c, l, seller, "receipt", document)
}

// printed returns the language in which a document is printed. English names currencies by their codes, and what is no language of ours is English.
func printed(l *locale.Locale) *locale.Locale {
	if l == locale.English || locale.Find(l.Tag) != l {
		return locale.EnglishCodes
	}
	return l
}

// pdf answers with a document as a PDF. A browser shows it, or saves it in a file that is named after its number.
func (p *Pages) pdf(c echo.Context, l *locale.Locale, seller *tenant.Account, name string, d *invoicepdf.Document) error {
	ctx := c.Request().Context()
	d.Language, d.Status = l.Tag, l.T(d.Status)
	if seller.LogoURL != nil {
		logo, err := p.store.Pictures.LetterLogo(ctx, seller.ID)
		if err != nil {
			return err
		}
		d.Logo = logo
	}
	text, err := p.documents.get(ctx, newAsker(seller.ID, caller.Address(ctx)), *d)
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

// busy answers 503 with a page that says to try again in a few seconds, because others ask for too many documents or pages.
func (p *Pages) busy(c echo.Context) error {
	c.Response().Header().Set(echo.HeaderRetryAfter, busyWait)
	return p.tell(c, http.StatusServiceUnavailable, said(p.spoken(c), "message.busy"))
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

// invoiceDocument returns an invoice as a document, as it stands now, and its seller.
func (p *Pages) invoiceDocument(ctx context.Context, l *locale.Locale, i *invoice.Invoice) (*invoicepdf.Document, *tenant.Account, error) {
	seller, err := p.store.Tenant.GetAccount(ctx, i.AccountID)
	if err != nil {
		return nil, nil, err
	}
	detail, err := p.store.Invoice.GetDetail(ctx, i)
	if err != nil {
		return nil, nil, err
	}
	refunds, err := p.store.RefundsByID(ctx, i.AccountID, i.RefundIDs.V)
	if err != nil {
		return nil, nil, err
	}
	return invoiceOf(l, seller, detail, refunds), seller, nil
}

// receiptDocument returns the receipt of an order as a document, as it stands now, and its seller.
func (p *Pages) receiptDocument(ctx context.Context, l *locale.Locale, o *order.Order) (*invoicepdf.Document, *tenant.Account, error) {
	seller, err := p.store.Tenant.GetAccount(ctx, o.AccountID)
	if err != nil {
		return nil, nil, err
	}
	detail, err := p.store.Order.GetDetail(ctx, o)
	if err != nil {
		return nil, nil, err
	}
	payments, err := p.store.Payment.ByID(ctx, o.AccountID, o.PaymentIDs.V)
	if err != nil {
		return nil, nil, err
	}
	refunds, err := p.store.RefundsByID(ctx, o.AccountID, o.RefundIDs.V)
	if err != nil {
		return nil, nil, err
	}
	return receiptOf(l, seller, detail, payments, refunds), seller, nil
}
