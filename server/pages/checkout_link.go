package pages

import (
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/tillwright/tillwright/store"
)

// maxSource is how much is kept of a parameter that says where a buyer came from.
const maxSource = 255

// follow makes a checkout for whoever opens a checkout link, and sends them to its page. Looking whether there is
// something, and fetching it in case that somebody will want it, makes none.
func (p *Pages) follow(c echo.Context) error {
	p.private(c)
	request := c.Request()
	if request.Method != http.MethodGet {
		return c.NoContent(http.StatusOK)
	}
	if strings.Contains(request.Header.Get("Sec-Purpose")+request.Header.Get("Purpose"), "prefetch") {
		return c.NoContent(http.StatusServiceUnavailable)
	}
	checkout, err := p.store.FollowCheckoutLink(request.Context(), c.Param("checkout_link"), sourceOf(request))
	var refused *store.Error
	switch {
	case err == nil:
		return c.Redirect(http.StatusSeeOther, "../checkout/"+url.PathEscape(checkout.ClientSecret))
	case errors.As(err, &refused) && (refused.Code == store.CodeInvalid || refused.Param != ""):
		return p.render(c, http.StatusConflict, "unavailable.html", nil)
	}
	return p.refuse(c, err)
}

// sourceOf is where the buyer came from, as their browser and the address say.
func sourceOf(r *http.Request) store.CheckoutSource {
	query := r.URL.Query()
	said := func(text string) *string {
		if text == "" {
			return nil
		}
		text = textOnly(text)
		if kept := []rune(text); len(kept) > maxSource {
			text = string(kept[:maxSource])
		}
		return &text
	}
	return store.CheckoutSource{
		Referrer: said(r.Referer()), UTMSource: said(query.Get("utm_source")), UTMMedium: said(query.Get("utm_medium")),
		UTMCampaign: said(query.Get("utm_campaign")), UTMTerm: said(query.Get("utm_term")), UTMContent: said(query.Get("utm_content")),
	}
}
