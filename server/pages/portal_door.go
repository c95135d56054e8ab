package pages

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/tillwright/tillwright/server/locale"
	"github.com/tillwright/tillwright/server/ui"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/tenant"
)

// doorPage is the data of portal_door.html, on which a customer asks for a link to the portal.
type doorPage struct {
	Seller         *tenant.Account // whose page it is, nil for nobody's
	Email, Problem string
	Asked          bool
	Sends          bool   // the server sends mail
	Ask            string // what ask returns
}

// doorField returns the control for the address.
func doorField(l *locale.Locale, p doorPage) ui.Field {
	return ui.Field{Name: "email", Label: l.T("field.email"), Type: "email", Value: p.Email, Problem: p.Problem, Autocomplete: "email", Longest: 320, Required: true}
}

// Again returns the address of the form, for another link.
func (p doorPage) Again() string { return cmp.Or(atShop(p.Ask, p.Seller), "?") }

// atShop returns the end of an address that leads to the portal of a shop, nil for that of all.
func atShop(ask string, seller *tenant.Account) string {
	if seller == nil {
		return ask
	}
	return with(ask, "shop", seller.Handle)
}

// door finds the shop that an address names, by its id or its handle, and has serve answer. Without one the portal is that of all
// shops on this server.
func (p *Pages) door(serve func(c echo.Context, seller *tenant.Account) error) echo.HandlerFunc {
	return func(c echo.Context) error {
		shop := c.QueryParam("shop")
		if shop == "" {
			return serve(c, nil)
		}
		if shop != textOnly(shop) {
			return p.tell(c, http.StatusNotFound, missing(p.spoken(c)))
		}
		find := p.store.Tenant.GetAccountByHandle
		if id, isID := core.ParseID(core.KindAccount, shop); isID {
			find, shop = p.store.Tenant.GetAccount, id
		}
		seller, err := find(c.Request().Context(), shop)
		if err == nil && seller.DisabledAt != nil {
			err = core.Missing("page", "", "")
		}
		if err != nil {
			return p.refuse(c, err)
		}
		return serve(c, seller)
	}
}

func (p *Pages) portalDoor(c echo.Context, seller *tenant.Account) error {
	return p.showDoor(c, http.StatusOK, doorPage{Seller: seller, Asked: c.QueryParam("asked") != ""})
}

func (p *Pages) showDoor(c echo.Context, status int, page doorPage) error {
	page.Sends, page.Ask = p.post.Sends(), p.ask(c)
	l := p.spoken(c)
	if page.Seller != nil {
		l = p.speak(c, nil, page.Seller.Locale)
	}
	frame := ui.Frame{Title: l.T("portal.title")}
	switch {
	case page.Problem != "":
		frame.Problems = []ui.Problem{{Field: "email", Label: l.T("field.email"), Text: page.Problem}}
	case page.Asked:
		frame.Title = l.T("door.check")
	}
	if page.Seller != nil {
		frame.Shop = shopOf(page.Seller)
	}
	return p.render(c, status, "portal_door.html", frame, page)
}

// knock takes the form with which somebody asks for links. The answer is the same, and takes the same time, whether or not anybody
// has the address: what depends on that is done after it.
func (p *Pages) knock(c echo.Context, seller *tenant.Account) error {
	page := doorPage{Seller: seller, Email: entered(c, "email")}
	if !p.post.Sends() {
		return p.showDoor(c, http.StatusServiceUnavailable, page)
	}
	if page.Problem = wrongEmail(p.spoken(c), core.FaultOfAskedEmail(page.Email), "door.address"); page.Problem != "" {
		return p.showDoor(c, http.StatusUnprocessableEntity, page)
	}
	err := p.store.Mailbox.CountPortalLetter(c.Request().Context(), page.Email, buyer(c).Address)
	if problem, refused := p.whyNot(c, err); refused {
		page.Problem = problem
		return p.showDoor(c, http.StatusUnprocessableEntity, page)
	}
	if err != nil {
		return err
	}
	account, ctx := "", context.WithoutCancel(c.Request().Context())
	if seller != nil {
		account = seller.ID
	}
	p.letters.Go(func() {
		ctx, cancel := context.WithTimeout(ctx, renewTime)
		defer cancel()
		if err := survive(ctx, func(ctx context.Context) error { return p.store.Portal.AskLinks(ctx, page.Email, account) }); err != nil {
			slog.WarnContext(ctx, "no link to the portal is sent", "error", err)
		}
	})
	return c.Redirect(http.StatusSeeOther, with("portal"+atShop(p.ask(c), seller), "asked", "1"))
}

// keyPage is the data of portal_key.html, which the link in a letter opens.
type keyPage struct {
	Seller *tenant.Account
	Usable bool
	Door   string // where another link is asked for
}

// portalKey serves the page that the link in a letter opens. It does not use the link up, because programs that look for malice in
// mail follow links too.
func (p *Pages) portalKey(c echo.Context) error {
	link, usable, err := p.store.Portal.OpenLink(c.Request().Context(), c.Param("token"))
	if err != nil {
		return p.refuse(c, err)
	}
	return p.showKey(c, link.AccountID, usable)
}

func (p *Pages) showKey(c echo.Context, account string, usable bool) error {
	seller, err := p.store.Tenant.GetAccount(c.Request().Context(), account)
	if err != nil {
		return err
	}
	l := p.speak(c, nil, seller.Locale)
	frame, status := ui.Frame{Title: l.T("key.title"), Shop: shopOf(seller)}, http.StatusOK
	if !usable {
		frame.Title, status = l.T("key.used"), http.StatusGone
	}
	return p.render(c, status, "portal_key.html", frame, keyPage{Seller: seller, Usable: usable, Door: "../../portal" + atShop(p.ask(c), seller)})
}

// turnKey uses a link up, and opens the portal.
func (p *Pages) turnKey(c echo.Context) error {
	link, session, err := p.store.Portal.UseLink(c.Request().Context(), c.Param("token"))
	if err != nil {
		return p.refuse(c, err)
	}
	if session == nil {
		return p.showKey(c, link.AccountID, false)
	}
	return c.Redirect(http.StatusSeeOther, "../"+session.Token+p.ask(c))
}
