package pages

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"runtime/debug"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/tillwright/tillwright/server/ui"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/invoice"
	"github.com/tillwright/tillwright/store/order"
)

// ofOrder finds the order of a receipt's address, and has serve answer. An address that has ended gets the page of showEnded.
func (p *Pages) ofOrder(serve func(c echo.Context, o *order.Order) error) echo.HandlerFunc {
	return func(c echo.Context) error {
		o, ended, err := p.store.Order.OpenReceipt(c.Request().Context(), c.Param("token"))
		if err != nil {
			return p.refuse(c, err)
		}
		if ended {
			return p.showEnded(c, o.AccountID, false)
		}
		return serve(c, o)
	}
}

// ofInvoice finds the invoice of a hosted address, and has serve answer. An address that has ended gets the page of showEnded.
func (p *Pages) ofInvoice(serve func(c echo.Context, i *invoice.Invoice) error) echo.HandlerFunc {
	return func(c echo.Context) error {
		i, ended, err := p.store.Invoice.OpenHosted(c.Request().Context(), c.Param("token"))
		if err != nil {
			return p.refuse(c, err)
		}
		if ended {
			return p.showEnded(c, i.AccountID, false)
		}
		return serve(c, i)
	}
}

// endedPage is the data of ended.html: an address opens nothing any more, and a new one can be sent.
type endedPage struct {
	Seller string
	Renew  string // relative path to which the form is sent
	Asked  bool
}

// showEnded answers that an address has ended, with 410, or that a new one was asked for, with 200. Of the document it shows
// nothing but the seller's name.
func (p *Pages) showEnded(c echo.Context, account string, asked bool) error {
	seller, err := p.store.Tenant.GetAccount(c.Request().Context(), account)
	if err != nil {
		return err
	}
	l := p.speak(c, nil, seller.Locale)
	page := endedPage{Seller: sellerOf(l, seller).Name, Renew: "renew" + p.ask(c), Asked: asked}
	if strings.HasSuffix(c.Path(), "/:token") { // this is the page itself, and its form is sent to an address below it
		page.Renew = url.PathEscape(c.Param("token")) + "/renew" + p.ask(c)
	}
	status := http.StatusGone
	if asked {
		status = http.StatusOK
	}
	return p.render(c, status, "ended.html", ui.Frame{Title: l.T("ended.title"), Shop: shopOf(seller)}, page)
}

// renewTime is how long the writing of a letter may take, and so how long a server that is told to stop waits for one.
const renewTime = 10 * time.Second

// renewReceipt has a new address of a receipt sent to its buyer. The answer tells nothing to a stranger. It is the same, and
// takes the same time, whether or not there is somebody to send it to. Nor does it matter whether too much was sent already.
func (p *Pages) renewReceipt(c echo.Context) error {
	o, ended, err := p.store.Order.OpenReceipt(c.Request().Context(), c.Param("token"))
	if err != nil {
		return p.refuse(c, err)
	}
	if !ended {
		return p.backTo(c, c.Param("token"))
	}
	from := buyer(c).Address
	return p.renew(c, o.AccountID, func(ctx context.Context) error { return p.post.RenewReceipt(ctx, o, from) })
}

// renewInvoice does for an invoice what renewReceipt does for a receipt.
func (p *Pages) renewInvoice(c echo.Context) error {
	i, ended, err := p.store.Invoice.OpenHosted(c.Request().Context(), c.Param("token"))
	if err != nil {
		return p.refuse(c, err)
	}
	if !ended {
		return p.backTo(c, c.Param("token"))
	}
	from := buyer(c).Address
	return p.renew(c, i.AccountID, func(ctx context.Context) error { return p.post.RenewInvoice(ctx, i, from) })
}

// renew answers at once, and has the letter written afterwards.
func (p *Pages) renew(c echo.Context, account string, write func(context.Context) error) error {
	ctx := context.WithoutCancel(c.Request().Context()) // not c: echo uses it for another request after this one
	p.letters.Go(func() {
		ctx, cancel := context.WithTimeout(ctx, renewTime)
		defer cancel()
		if err := survive(ctx, write); err != nil {
			level := slog.LevelWarn
			if _, refused := errors.AsType[*core.Error](err); refused {
				level = slog.LevelInfo
			}
			slog.Log(ctx, level, "no new address of a document was sent", "error", err)
		}
	})
	return p.showEnded(c, account, true)
}

// survive calls write, and turns a panic into an error. A panic in a goroutine of its own would end the server.
func survive(ctx context.Context, write func(context.Context) error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	return write(ctx)
}
