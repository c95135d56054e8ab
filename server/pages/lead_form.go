package pages

import (
	"bytes"
	"context"
	"errors"
	"html/template"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/labstack/echo/v4"

	"github.com/tillwright/tillwright/server/caller"
	"github.com/tillwright/tillwright/store/content"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/lead"
	"github.com/tillwright/tillwright/store/tenant"
)

// leadsAMinute is how many forms an address may send, here and by POST /public/leads together.
const leadsAMinute = 10

// nameMost is how many characters a name may have.
const nameMost = 255

// leadForm is a form by which a visitor of a site becomes a lead, and what was typed into it.
type leadForm struct {
	Action  string
	Token   string
	Email   string
	Name    string
	Problem string
	Ads     *leadAds // nil: it does not ask about ad networks
	Preview bool     // nobody can send it

	Language string // the tag of the seller's, which the texts of the block are in
}

// leadPage is the data of lead_form.html, the answer to such a form.
type leadPage struct {
	Name     string // of the site
	Mode     string
	Colours  template.CSS
	Back     string
	Language string // the tag of the seller's
	Block    pageBlock
	Received bool
}

// fillForms has the forms among the blocks of a page lead to where they are taken.
func (p *Pages) fillForms(c echo.Context, seller *tenant.Account, site *content.AISite, blocks []pageBlock, preview bool) error {
	up := strings.Repeat("../", max(0, strings.Count(c.Path(), "/")-1)) // from the page to the root
	for i := range blocks {
		if b := &blocks[i]; b.Type == content.SiteBlockLeadForm {
			b.Form = &leadForm{Action: up + "leads/" + site.AccountID + "/" + site.ID + "/" + b.ID + p.ask(c), Token: p.formToken, Preview: preview, Language: writesIn(seller)}
		}
	}
	return p.askLeadAds(c, seller, blocks)
}

// withToken returns the text of a page with what its forms send for this visitor. That is a fresh token, and what ad networks appended to the
// address of the page, as values have it. A page can be kept without them.
func (p *Pages) withToken(ctx context.Context, account string, blocks []pageBlock, text []byte, values url.Values) ([]byte, error) {
	if !slices.ContainsFunc(blocks, func(b pageBlock) bool { return b.Form != nil }) {
		return text, nil
	}
	form, err := p.store.Lead.NewForm(ctx, account)
	if err != nil {
		return nil, err
	}
	text = bytes.ReplaceAll(text, []byte(p.formClicks), carriedClicks(values))
	return bytes.ReplaceAll(text, []byte(p.formToken), []byte(form.Token)), nil
}

// leaveLead takes a form of a site. The answer is the same for whoever is new and whoever is known, and for programs that fill in what no person
// sees. What is wrong is said in the form, which keeps what was typed.
func (p *Pages) leaveLead(c echo.Context) error {
	ctx := c.Request().Context()
	counted, err := p.store.Tenant.CountFor(ctx, "leads", caller.Address(ctx), leadsAMinute)
	if err != nil {
		return err
	}
	if counted.Used > counted.Limit {
		c.Response().Header().Set(echo.HeaderRetryAfter, strconv.FormatInt(max(1, counted.WindowEnd-counted.Now), 10))
		return p.Refused(c, http.StatusTooManyRequests, false)
	}
	of, err := p.store.Content.VisitSiteByID(ctx, c.Param("account"), c.Param("site"))
	if err != nil {
		return p.refuse(c, err)
	}
	block := formOf(of, c.Param("block"))
	if block == nil {
		return p.tell(c, http.StatusNotFound, missing(p.spoken(c)))
	}
	seller, err := p.store.Tenant.GetAccount(ctx, of.Site.AccountID)
	if err != nil {
		return err
	}
	l := p.speak(c, nil, seller.Locale)
	page := leadPage{
		Name: of.Site.Name, Mode: of.Content.Theme.Mode, Colours: coloursOf(of.Content.Theme.Accent), Back: of.Site.URL + p.ask(c), Language: writesIn(seller), Block: pageBlock{SiteBlock: *block},
	}
	problem, err := p.capture(c, seller, of.Site, block)
	if err != nil {
		return err
	}
	page.Received = problem == ""
	status := http.StatusOK
	if !page.Received {
		status = http.StatusUnprocessableEntity
		page.Block.Form = &leadForm{
			Token: p.formToken, Email: entered(c, "email"), Name: entered(c, "name"), Problem: problem, Language: writesIn(seller),
		}
	}
	blocks := []pageBlock{page.Block}
	if err := p.askLeadAds(c, seller, blocks); err != nil {
		return err
	}
	text, err := p.writeStrange(l.Tag, "lead_form.html", page)
	if err != nil {
		return err
	}
	answer, err := p.withToken(ctx, of.Site.AccountID, blocks, text, sentOrAsked(c))
	if err != nil {
		return err
	}
	p.private(c)
	c.Response().Header().Set("Content-Language", l.Tag)
	c.Response().Header().Add(echo.HeaderVary, "Accept-Language")
	return p.showStrange(c, status, answer, page.Colours)
}

// capture makes a lead of what was typed, or returns what is wrong with it.
func (p *Pages) capture(c echo.Context, seller *tenant.Account, site *content.AISite, block *content.SiteBlock) (problem string, err error) {
	in := lead.Captured{
		NewLead: lead.NewLead{Email: entered(c, "email"), Product: core.Deref(block.Product), Source: lead.SourceAISite}, Locale: p.buyers(c),
		FormToken: c.FormValue("form_token"), Website: c.FormValue("website"), From: caller.Address(c.Request().Context()),
		Agrees: block.ConsentText != nil && isTicked(c, "consent"), Site: site,
	}
	if site.Type == content.AISiteTypeLinkInBio {
		in.Source = lead.SourceLinkInBio
	}
	if asksLeadAds(seller, block) && isTicked(c, "ads_consent") {
		in.AdsConsent, in.AdsVisit = true, visitOf(c, site.URL)
	}
	if name := entered(c, "name"); name != "" {
		in.Name = &name
	}
	l := p.spoken(c)
	if problem := wrongEmail(l, core.FaultOfEmail(in.Email), "error.email"); problem != "" {
		return problem, nil
	}
	if !core.HasAtMost(in.Name, nameMost) {
		return l.T("error.long", "count", int64(nameMost)), nil
	}
	_, err = p.store.Lead.Capture(c.Request().Context(), in)
	wrong, ok := errors.AsType[*core.Error](err)
	switch {
	case !ok:
		return "", err
	case wrong.Param == "form_token":
		return l.T("lead_form.again"), nil
	case wrong.Param == "product":
		return l.T("lead_form.gone"), nil
	case wrong.Code == core.CodeInvalid:
		return l.T("lead_form.refused"), nil
	}
	return "", err
}

// isTicked reports whether the visitor ticked a box. The address of a form ticks nothing. Nor is a box of a refused form ticked again. Other sites
// can send the form too, and whoever sees it then has agreed to nothing.
func isTicked(c echo.Context, box string) bool { return c.Request().PostFormValue(box) == "true" }

// entered returns what was typed into a field, without what no keyboard has.
func entered(c echo.Context, field string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if r == utf8.RuneError || unicode.IsControl(r) {
			return -1
		}
		return r
	}, c.FormValue(field)))
}

// formOf returns the form of a page with an id, nil if it shows none.
func formOf(page *content.SitePage, id string) *content.SiteBlock {
	if page.Content == nil {
		return nil
	}
	at := slices.IndexFunc(page.Content.Blocks, func(b content.SiteBlock) bool {
		return b.ID == id && b.Type == content.SiteBlockLeadForm && !b.Hidden
	})
	if at < 0 {
		return nil
	}
	return &page.Content.Blocks[at]
}
