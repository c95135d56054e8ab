package pages

import (
	"net/http"

	"github.com/labstack/echo/v4"
)

// openForms are the routes whose forms may be on other sites. A page that sellers made stands in a sandbox without an origin of its own. Mail programs
// send the form of their own button to unsubscribe (RFC 8058).
var openForms = map[string]bool{"/leads/:account/:site/:block": true, "/unsubscribe/:token": true}

// unforged has serve answer forms of our own pages alone.
func (p *Pages) unforged(serve echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		if p.forms.Check(c.Request()) != nil && !openForms[c.Path()] {
			return p.tell(c, http.StatusForbidden, said(p.spoken(c), "message.forged"))
		}
		return serve(c)
	}
}
