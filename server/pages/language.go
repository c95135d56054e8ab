package pages

import (
	"cmp"
	"net/http"
	"net/url"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/tillwright/tillwright/server/locale"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/tenant"
)

// spokenKey is the name under which a request keeps the language of its answer.
const spokenKey = "spoken"

// localeField is the parameter of an address, and the field of a form, that names a language.
const localeField = "locale"

// speak chooses the language of an answer: the one that the request names, or else theirs, the browser's or the seller's, in this order. Theirs is
// that of the checkout or customer it is about, and may be nil.
func (p *Pages) speak(c echo.Context, theirs *string, sellers string) *locale.Locale {
	l := cmp.Or(p.asked(c), locale.Find(core.Deref(theirs)), accepted(c), locale.Find(sellers), locale.English)
	c.Set(spokenKey, l)
	return l
}

// speakToSeller has an answer speak as the dashboard does, from which its reader comes.
func speakToSeller(c echo.Context) { c.Set(spokenKey, locale.English) }

// sellers returns the language of what is ours on a page that a seller has written: that of the seller, whatever the visitor reads. Only a pseudo-locale
// is shown to whoever asks for it.
func (p *Pages) sellers(c echo.Context, seller *tenant.Account) *locale.Locale {
	if l := p.askedByAddress(c); l != nil && locale.Pseudo(l.Tag) != nil {
		return l
	}
	return cmp.Or(locale.Find(seller.Locale), locale.English)
}

// writesIn returns the tag of the language that a seller's own texts are in. A seller whose locale is no tag has said nothing of that: it is taken for
// the language of what is ours beside these texts.
func writesIn(seller *tenant.Account) string {
	return cmp.Or(locale.Canonical(seller.Locale), locale.English.Tag)
}

// asked returns the language that the address or the form of a request names, nil for none.
func (p *Pages) asked(c echo.Context) *locale.Locale {
	l := p.askedByAddress(c)
	if l == nil && c.Request().Method == http.MethodPost {
		l = p.named(c.FormValue(localeField))
	}
	return l
}

// askedByAddress returns the language that the address of a request names, nil for none.
func (p *Pages) askedByAddress(c echo.Context) *locale.Locale {
	return p.named(c.QueryParam(localeField))
}

// ask returns the end of an address that asks for the language that the address of a request names, empty if it names none.
func (p *Pages) ask(c echo.Context) string {
	if l := p.askedByAddress(c); l != nil {
		return "?" + localeField + "=" + l.Tag
	}
	return ""
}

// with returns an address with one more parameter.
func with(address, name, value string) string {
	separator := "?"
	if strings.Contains(address, "?") {
		separator = "&"
	}
	return address + separator + name + "=" + url.QueryEscape(value)
}

// named returns the language of a tag, nil if there is none.
func (p *Pages) named(tag string) *locale.Locale {
	if pseudo := locale.Pseudo(tag); pseudo != nil && p.showsPseudo {
		return pseudo
	}
	return locale.Find(tag)
}

// accepted returns the language that the browser wants, nil for none.
func accepted(c echo.Context) *locale.Locale {
	return locale.Accepted(c.Request().Header.Get("Accept-Language"))
}

// spoken returns the language that speak chose for the answer to a request. If it has not, nothing is known but the address and the browser.
func (p *Pages) spoken(c echo.Context) *locale.Locale {
	if l, ok := c.Get(spokenKey).(*locale.Locale); ok {
		return l
	}
	return p.speak(c, nil, "")
}

// buyers returns the language of whoever asks, as their checkout keeps it, nil if neither they nor their browser name one.
func (p *Pages) buyers(c echo.Context) *string {
	l := cmp.Or(p.asked(c), accepted(c))
	if l == nil || locale.Pseudo(l.Tag) != nil {
		return nil
	}
	return &l.Tag
}

// ShowPseudo lets addresses ask for the pseudo-locales, by which somebody who works on the pages finds what is not translated.
func (p *Pages) ShowPseudo() { p.showsPseudo = true }

// speakOf is speak for what belongs to a customer of an account.
func (p *Pages) speakOf(c echo.Context, account, customer string) (*locale.Locale, error) {
	seller, err := p.store.Tenant.GetAccount(c.Request().Context(), account)
	if err != nil {
		return nil, err
	}
	buyer, err := p.store.Customer.Get(c.Request().Context(), account, customer)
	if err != nil {
		if isMissing(err) {
			return p.speak(c, nil, seller.Locale), nil
		}
		return nil, err
	}
	return p.speak(c, buyer.PreferredLocale, seller.Locale), nil
}
