package pages

import (
	"cmp"
	"net/http"
	"net/url"

	"github.com/labstack/echo/v4"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/server/ui"
	"github.com/tillwright/tillwright/store/advert"
)

// connect takes a person who comes back from a network's question, connects the channel, and sends them on to the seller's address.
// What they bring is good once, so that a look with HEAD must not come here.
func (p *Pages) connect(c echo.Context) error {
	speakToSeller(c)
	query := c.QueryParams()
	connection, err := p.advertiser.FollowConsent(c.Request().Context(), ads.ConsentReturn{
		Platform: c.Param("platform"), State: query.Get("state"),
		Code: ads.Secret(cmp.Or(query.Get("code"), query.Get("auth_code"), query.Get("accountId"))), Error: query.Get("error"),
	})
	if err != nil {
		return err
	}
	if connection == nil {
		return p.tell(c, http.StatusGone, message{
			Title: "This did not connect anything",
			Text:  "The address was used before, or it is more than ten minutes old, or it belongs to another page. Nothing was connected by it. Go back to where you came from, look whether the profile is connected there, and begin again if it is not.",
		})
	}
	back, err := returnTo(connection)
	if err != nil {
		return err
	}
	if connection.Status == advert.ConnectionDenied {
		return p.tell(c, http.StatusOK, message{Title: "Nothing was connected", Text: "You did not give your consent, so nothing was stored.", Back: back})
	}
	if connection.Status == advert.ConnectionFailed {
		return p.tell(c, http.StatusBadGateway, message{Title: "This did not connect anything", Text: connection.Error, Back: back})
	}
	p.private(c)
	return c.Redirect(http.StatusSeeOther, back)
}

// returnTo returns the seller's address with what came of the connection.
func returnTo(c *advert.SocialConnection) (string, error) {
	u, err := url.Parse(c.ReturnURL)
	if err != nil {
		return "", err
	}
	query := u.Query()
	query.Set("connection", c.ID)
	query.Set("status", string(c.Status))
	u.RawQuery = query.Encode()
	return u.String(), nil
}

// sandboxConsentPage is the data of sandbox_consent.html: the answers that a person can give.
type sandboxConsentPage struct{ Platform, One, Several, Deny string }

// sandboxConsent is the page that asks for consent where a network is played by the sandbox.
func (p *Pages) sandboxConsent(c echo.Context) error {
	speakToSeller(c)
	platform := advert.Platform(c.Param("platform"))
	if !platform.IsKnown() {
		return p.tell(c, http.StatusNotFound, missing(p.spoken(c)))
	}
	state, challenge := c.QueryParam("state"), c.QueryParam("code_challenge")
	answer := func(name, value string) string {
		return "../" + string(platform) + "?" + url.Values{"state": {state}, name: {value}}.Encode()
	}
	return p.render(c, http.StatusOK, "sandbox_consent.html", ui.Frame{Title: "Sandbox of " + string(platform)}, sandboxConsentPage{ // with the codes that ads/sandbox takes
		Platform: string(platform), One: answer("code", "one."+challenge), Several: answer("code", "several."+challenge), Deny: answer("error", "access_denied"),
	})
}
