package pages

import (
	"bytes"
	"html/template"
	"net/http"
	"strings"
	"sync"

	"github.com/labstack/echo/v4"

	"github.com/tillwright/tillwright/server/caller"
	"github.com/tillwright/tillwright/server/invoicepdf"
	"github.com/tillwright/tillwright/server/locale"
	"github.com/tillwright/tillwright/server/ui"
	"github.com/tillwright/tillwright/store/payment"
	"github.com/tillwright/tillwright/store/tenant"
)

// shared are the templates that several pages use, names those of the pages.
var (
	shared = []string{"card.html", "key.html", "stripe.html", "portal_frame.html"}
	names  = []string{
		"checkout.html", "document.html", "ended.html", "message.html", "portal.html", "portal_cancel.html", "portal_card.html", "portal_card_remove.html", "portal_details.html", "portal_door.html", "portal_ended.html",
		"portal_experience.html", "portal_key.html", "portal_license.html", "portal_orders.html", "portal_plan.html", "portal_post.html", "portal_subscription.html", "sandbox_consent.html", "subscribe.html", "unsubscribe.html", "verify.html",
	}
)

// parse returns the pages in a language, with our scripts.
func parse(l *locale.Locale, scripts scripts) (*ui.Templates, error) {
	return ui.In(l, files, template.FuncMap{
		"countries": countryOptions(l.Countries()),
		"money":     l.Money,
		"percent":   l.Percent,
		"field": func(page *checkoutPage, name, label, kind, autocomplete string, required bool) ui.Field {
			return newField(l, page, name, label, kind, autocomplete, required)
		},
		"beside":    newBeside,
		"cardField": func(name string, problem any) ui.Field { return cardField(l, name, problem) },
		"badge":     func(state string) ui.Badge { return badgeOf(l, state) },
		"taxLabel":  func(tax invoicepdf.Tax) string { return tax.Label(l) },
		"date":      l.Day,
		"times":     func(unit, quantity int64) int64 { return unit * quantity },

		"checkoutScript": func() template.JS { return scripts.checkout.text },
		"stripeScript":   func() template.JS { return scripts.stripe.text },
		"copyScript":     func() template.JS { return scripts.copy.text },
		"takesStripe":    takesStripe,
		"copies":         copies,

		"card": func(m payment.Method) string { return cardName(l, m) }, "doorField": func(page doorPage) ui.Field { return doorField(l, page) }, "shortCard": shortCardName, "plan": planName,
	}, shared, names)
}

// parseSites returns the pages that stand in a style of their own, by the tag of the language of what is ours on them.
func parseSites(style string) (map[string]func() (*template.Template, error), error) {
	in := func(l *locale.Locale) template.FuncMap {
		return template.FuncMap{
			"t": l.T, "gap": l.Gap, "lang": func() string { return l.Tag }, "dir": func() string { return l.Dir },
			"ours":   func(page string) template.HTMLAttr { return langIn(page, l.Tag, l.Dir) },
			"theirs": func(text string) template.HTMLAttr { return langIn(l.Tag, text, "") },
		}
	}
	base, err := template.New("").Funcs(in(locale.English)).Funcs(template.FuncMap{
		"siteStyle": func() template.CSS { return template.CSS(style) },
		"favicon":   ui.Favicon,
		"href":      href,
		"dirOf":     locale.DirOf,
	}).ParseFS(files, "site.html", "lead_form.html", "post.html")
	if err != nil {
		return nil, err
	}
	templates := map[string]func() (*template.Template, error){}
	for _, l := range append(locale.All(), locale.Accented, locale.Mirrored) {
		templates[l.Tag] = sync.OnceValues(func() (*template.Template, error) {
			page, err := base.Clone()
			if err != nil {
				return nil, err
			}
			return page.Funcs(in(l)), nil
		})
	}
	return templates, nil
}

// langIn returns the attributes that say in which language a text is, and in which direction that is written unless the direction is empty. It is nothing
// on a page that is in the language itself.
func langIn(page, tag, dir string) template.HTMLAttr {
	if locale.SameLanguage(page, tag) {
		return ""
	}
	said := ` lang="` + template.HTMLEscapeString(tag) + `"`
	if dir != "" {
		said += ` dir="` + dir + `"`
	}
	return template.HTMLAttr(said) //nolint:gosec // a tag, escaped, and a direction of ours
}

// writeStrange returns a page whose texts strangers have written. What is ours on it is in the language of the tag.
func (p *Pages) writeStrange(tag, name string, data any) ([]byte, error) {
	templates, err := p.siteTemplates[tag]()
	if err != nil {
		return nil, err
	}
	var text bytes.Buffer
	err = templates.ExecuteTemplate(&text, name, data)
	return text.Bytes(), err
}

// render answers with a page made from a template. The address of a page may be a secret, so browsers neither keep the page nor
// tell its address to others. A 422 that says when to try again becomes 429.
func (p *Pages) render(c echo.Context, status int, name string, frame ui.Frame, data any) error {
	var page bytes.Buffer
	l := p.spoken(c)
	templates, err := p.templates[l]()
	if err != nil {
		return err
	}
	if err := p.showPictures(c.Request().Context(), frame.Shop, data); err != nil {
		return err
	}
	if err := templates.Write(&page, name, frame, data); err != nil {
		return err
	}
	p.private(c)
	c.Response().Header().Set("Content-Language", l.Tag)
	c.Response().Header().Add(echo.HeaderVary, "Accept-Language")
	if status == http.StatusUnprocessableEntity && c.Response().Header().Get(echo.HeaderRetryAfter) != "" {
		status = http.StatusTooManyRequests
	}
	policy := p.policy + p.scripts.policyFor(data)
	if frame.Shop != nil {
		if colours := frame.Shop.Colours; colours != "" {
			policy = strings.Replace(policy, p.style, p.style+" "+ui.HashOf([]byte(colours)), 1)
		}
	}
	c.Response().Header().Set("Content-Security-Policy", policy+imagePolicy)
	return ui.WriteHTML(c.Response(), c.Request(), status, page.Bytes())
}

// imagePolicy lets a page show our pictures and its icon, and no others.
const imagePolicy = "; img-src 'self' " + ui.FaviconPolicy

// countryOptions returns a function that writes the options of a list of countries, of which one is selected. They are most of a checkout: a
// template that wrote each of them would take half of its time.
func countryOptions(countries []locale.Country) func(selected string) template.HTML {
	var all strings.Builder
	attributes := map[string]int{} // where those of a country's option end
	for _, c := range countries {
		all.WriteString(`<option value="` + c.Code + `"`)
		attributes[c.Code] = all.Len()
		all.WriteString(">" + template.HTMLEscapeString(c.Name) + "</option>")
	}
	options := all.String()
	return func(selected string) template.HTML {
		if at, ok := attributes[selected]; ok {
			return template.HTML(options[:at] + " selected" + options[at:]) //nolint:gosec // codes and names of countries, escaped
		}
		return template.HTML(options) //nolint:gosec // as above
	}
}

// shopOf returns what a page shows of its seller.
func shopOf(seller *tenant.Account) *ui.Shop {
	return &ui.Shop{ID: seller.ID, HasLogo: seller.LogoURL != nil, Name: seller.Name, Support: text(seller.SupportEmail), Colours: coloursOf(seller.AccentColor)}
}

// badgeOf returns the badge of a state, which is the key of its words.
func badgeOf(l *locale.Locale, state string) ui.Badge {
	badge := ui.Badge{Text: l.T(state), Icon: "returned"} // refunded, in part or in full
	switch state {
	case "status.paid":
		badge.Tone, badge.Icon = "good", "check"
	case "status.past_due", "status.uncollectible":
		badge.Tone, badge.Icon = "bad", "alert"
	case "status.due", "status.unpaid", "status.draft":
		badge.Tone, badge.Icon = "warn", "clock"
	case "status.void":
		badge.Tone, badge.Icon = "void", "cross"
	case "status.default":
		badge.Icon = "check"
	}
	return badge
}

// message is a page that only says something, such as why it is not the one that was asked for.
type message struct {
	Title, Text string
	Back        string // an address to go on to, empty for none
	To          string // what that is called, empty for the page before
	Request     string // the id of the request that was refused, by which the operator finds it in the log, else empty
}

// tell answers with a message.
func (p *Pages) tell(c echo.Context, status int, m message) error {
	return p.tellAt(c, status, nil, m)
}

// tellAt does what tell does on a page of a shop. If it is known until when that is so, the page looks again then.
func (p *Pages) tellAt(c echo.Context, status int, shop *ui.Shop, m message) error {
	if status >= http.StatusBadRequest {
		m.Request = caller.RequestID(c.Request().Context())
	}
	return p.render(c, status, "message.html", ui.Frame{Title: m.Title, Shop: shop, Again: againLater(c)}, m)
}

// said returns what a page says of which the catalogue has the title under this key, and the text below it.
func said(l *locale.Locale, key string) message {
	return message{Title: l.T(key), Text: l.T(key + ".text")}
}

func missing(l *locale.Locale) message { return said(l, "message.missing") }

// doorOf returns the relative address at which a buyer asks for a new link to the portal of a shop, nil for that of all. The page there is in the
// language. It is empty if this server sends no letters.
func (p *Pages) doorOf(c echo.Context, l *locale.Locale, seller *tenant.Account) string {
	if !p.post.Sends() {
		return ""
	}
	return strings.Repeat("../", strings.Count(c.Path(), "/")-1) + "portal" + atShop("?"+localeField+"="+l.Tag, seller)
}

// over answers 410: what an address opened for buyers of a shop is over. Theirs is the language of whoever it was for, and may be nil.
func (p *Pages) over(c echo.Context, seller *tenant.Account, theirs *string) error {
	l := p.speak(c, theirs, seller.Locale)
	said := outdated(l)
	if seller.DisabledAt != nil {
		return p.tell(c, http.StatusGone, said)
	}
	if door := p.doorOf(c, l, seller); door != "" {
		said.Text, said.Back, said.To = l.T("ended.door"), door, l.T("key.another")
	}
	return p.tellAt(c, http.StatusGone, shopOf(seller), said)
}

func outdated(l *locale.Locale) message { return said(l, "message.outdated") }

func unavailable(l *locale.Locale) message { return said(l, "message.unavailable") }

// refuse answers 404 with a page if something is missing. Every other error is left to the server.
func (p *Pages) refuse(c echo.Context, err error) error {
	if isMissing(err) {
		return p.tell(c, http.StatusNotFound, missing(p.spoken(c)))
	}
	return err
}

// Refused answers with a page that says why the one that was asked for is not shown. The reason is too many visits, a form that cannot be read, or a
// failure of ours. After a failure, whoever sent a form does not know whether it arrived, and the page says how to find out. With isCrowded nothing
// was done, because too much is under way: whoever loads the page again sends the same form.
func (p *Pages) Refused(c echo.Context, status int, isCrowded bool) error {
	return p.tell(c, status, why(p.spoken(c), c.Request().Method, status, isCrowded))
}

// why returns what the page says about a status. After a form, a failure of ours is explained with more care.
func why(l *locale.Locale, method string, status int, isCrowded bool) message {
	switch {
	case isCrowded && method == http.MethodPost:
		return message{Title: l.T("message.overloaded"), Text: l.T("message.overloaded.form")}
	case isCrowded:
		return said(l, "message.overloaded")
	case status >= http.StatusInternalServerError && method == http.MethodPost:
		return message{Title: l.T("message.failed"), Text: l.T("message.failed.form")}
	case status >= http.StatusInternalServerError:
		return said(l, "message.failed")
	case status == http.StatusTooManyRequests:
		return said(l, "message.crowded")
	case status == http.StatusNotFound:
		return missing(l)
	case status == http.StatusMethodNotAllowed:
		return said(l, "message.form_only")
	}
	return said(l, "message.unreadable")
}
