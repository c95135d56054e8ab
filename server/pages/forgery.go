package pages

import (
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"
)

// forgeries knows forms that another site has a browser send.
var forgeries = http.NewCrossOriginProtection()

// forged are the routes whose forms may be on other sites. A page that sellers made stands in a sandbox without an origin of its own. Mail programs
// send the form of their own button to unsubscribe (RFC 8058).
var forged = map[string]bool{"/leads/:account/:site/:block": true, "/unsubscribe/:token": true}

// isForged reports whether another site has a browser send a form. A proxy may ask us for another host than the browser did, or leave out its port. So
// what comes from the address that the server knows as its own is ours, too.
func (p *Pages) isForged(c echo.Context) bool {
	r := c.Request()
	return forgeries.Check(r) != nil && !strings.EqualFold(r.Header.Get(echo.HeaderOrigin), p.store.PublicURL()) && !forged[c.Path()]
}

// unforged has serve answer forms of our own pages alone.
func (p *Pages) unforged(serve echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		if p.isForged(c) {
			return p.tell(c, http.StatusForbidden, said(p.spoken(c), "message.forged"))
		}
		return serve(c)
	}
}
