package pages

import (
	"net"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"
)

// siteOfDomain shows a live site to a visitor of its domain.
func (p *Pages) siteOfDomain(c echo.Context) error {
	page, err := p.store.Content.VisitDomain(c.Request().Context(), hostOf(c.Request()))
	if isMissing(err) && hostOf(c.Request()) == p.store.PublicHost() {
		return c.Redirect(http.StatusSeeOther, "/app")
	}
	if err != nil {
		return p.refuse(c, err)
	}
	return p.showSite(c, page, false)
}

// hostOf returns the name by which a request asks for this server.
func hostOf(r *http.Request) string {
	host := r.Host
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	return strings.TrimSuffix(strings.ToLower(host), ".")
}

// askDomain tells a proxy whether it may get a certificate for a domain. It answers 200 for the verified domain of a live
// site, and 404 for every other.
func (p *Pages) askDomain(c echo.Context) error {
	known, err := p.store.Content.AsksDomain(c.Request().Context(), strings.ToLower(textOnly(c.QueryParam("domain"))))
	if err != nil {
		return err
	}
	p.private(c)
	if !known {
		return c.String(http.StatusNotFound, "no\n")
	}
	return c.String(http.StatusOK, "yes\n")
}

// answerProbe answers a replica that asks whether a domain leads here.
func (p *Pages) answerProbe(c echo.Context) error {
	answer, ok := p.domains.AnswerProbe(c.Param("nonce"))
	p.private(c)
	if !ok {
		return c.String(http.StatusNotFound, "no\n")
	}
	return c.String(http.StatusOK, answer+"\n")
}
