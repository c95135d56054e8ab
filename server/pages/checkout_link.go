package pages

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/tillwright/tillwright/store/checkout"
	"github.com/tillwright/tillwright/store/core"
)

// maxSource is how many characters are kept of a parameter that says where a buyer came from.
const maxSource = 255

// offer shows what a checkout link sells, on the same page as a checkout. It stores nothing, because programs fetch addresses
// too, to scan them or in case somebody will want them. The checkout is made when the form is sent.
func (p *Pages) offer(c echo.Context) error {
	return p.showOffer(c, http.StatusOK, carried(c.Request()), nil, nil)
}

// showOffer answers with the page of a checkout link. Carried are the hidden fields of its form; form and problems are those of
// showCheckout.
func (p *Pages) showOffer(c echo.Context, status int, carried map[string]string, form, problems map[string]string) error {
	checkout, offer, err := p.store.Checkout.PreviewLink(c.Request().Context(), c.Param("checkout_link"), p.buyers(c))
	if err != nil {
		return p.refuseOffer(c, err)
	}
	asks, country, err := guessCountry(c, checkout, offer, form)
	if err != nil {
		return err
	}
	page, err := p.pageOf(c.Request().Context(), p.speak(c, nil, offer.Seller.Locale), checkout, offer)
	if err != nil {
		return err
	}
	page.Asks, page.Country = asks, country
	leaveRegion(form, &offer.Seller.Tax.V)
	page.Carried, page.Form, page.Problems, page.Ask = carried, form, problems, p.ask(c)
	dropOldTick(form, offer)
	page.askWaiver(offer)
	page.keepChoices()
	if err := p.askAds(c.Request().Context(), page, sentOrAsked(c)); err != nil {
		return err
	}
	if c.Request().Method != http.MethodPost {
		page.Base, page.Share = url.PathEscape(c.Param("checkout_link"))+"/", p.shareOf(page, c.Param("checkout_link"))
	}
	return p.render(c, status, "checkout.html", page.frame(), page)
}

// refuseOffer answers with a page that says that a checkout link sells nothing at the moment. Other errors are handled as by
// refuse.
func (p *Pages) refuseOffer(c echo.Context, err error) error {
	var refused *core.Error
	if !errors.As(err, &refused) || refused.Code != core.CodeInvalid && refused.Code != core.CodeMissing {
		return p.refuse(c, err)
	}
	seller, missing := p.store.Checkout.SellerOfLink(c.Request().Context(), c.Param("checkout_link"))
	if missing != nil {
		return p.refuse(c, missing)
	}
	status := http.StatusConflict
	if refused.Code == core.CodeMissing && refused.Param == "" { // switched off, or used up
		status = http.StatusNotFound
	}
	l := p.speak(c, nil, seller.Locale)
	said := unavailable(l)
	if website := text(seller.WebsiteURL); website != "" {
		said.Back, said.To = website, l.T("checkout.back")
	}
	return p.tellAt(c, status, shopOf(seller), said)
}

// follow takes the form of a checkout link. It makes a checkout, and has the browser send the same form to that checkout's
// page: status 307 keeps the method and the body. The field "once" tells one form from the next. The same form always gets the
// same checkout, so that a buyer who sends it twice buys once.
func (p *Pages) follow(c echo.Context) error {
	p.private(c)
	values, err := c.FormParams()
	if err != nil {
		return p.showOffer(c, http.StatusBadRequest, carried(c.Request()), nil, map[string]string{"": p.spoken(c).T("error.form")})
	}
	once := values.Get("once")
	if !onceForm.MatchString(once) {
		return p.backTo(c, c.Param("checkout_link"))
	}
	in := checkout.FollowLink{Source: sourceOf(values), From: buyer(c), Once: once, Locale: p.buyers(c)}
	checkout, err := p.followOnce(c.Request().Context(), c.Param("checkout_link"), in)
	if problem, slow := p.whyNot(c, err); slow && c.Response().Header().Get(echo.HeaderRetryAfter) != "" {
		return p.showOffer(c, http.StatusUnprocessableEntity, carriedBy(in.Source, once), typed(values), map[string]string{"": problem})
	}
	if err != nil {
		return p.refuseOffer(c, err)
	}
	return c.Redirect(http.StatusTemporaryRedirect, "../../checkout/"+url.PathEscape(checkout.ClientSecret)+"/pay"+p.ask(c))
}

// followOnce makes the checkout of a form. If the same form is being handled by another request at this moment, it waits for
// that one, at most followTime.
func (p *Pages) followOnce(ctx context.Context, ref string, in checkout.FollowLink) (*checkout.Checkout, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), followTime)
	defer cancel()
	for {
		checkout, err := p.store.Checkout.FollowLink(ctx, ref, in)
		var refused *core.Error
		if !errors.As(err, &refused) || refused.Code != core.CodeInProgress {
			return checkout, err
		}
		select {
		case <-time.After(50 * time.Millisecond):
		case <-ctx.Done():
			return nil, err
		}
	}
}

// followTime is how long the making of a link's checkout may take.
const followTime = 10 * time.Second

// carried returns the hidden fields of a link's form for a new visitor: a new "once", and where the visitor came from.
func carried(r *http.Request) map[string]string {
	query := r.URL.Query()
	query.Set("referrer", r.Referer())
	return carriedBy(sourceOf(query), newOnce())
}

// carriedBy returns the hidden fields for a source and a "once". What the source does not say is left out.
func carriedBy(source checkout.Source, once string) map[string]string {
	fields := map[string]string{"once": once}
	for name, said := range map[string]*string{
		"referrer": source.Referrer, "utm_source": source.UTMSource, "utm_medium": source.UTMMedium,
		"utm_campaign": source.UTMCampaign, "utm_term": source.UTMTerm, "utm_content": source.UTMContent,
	} {
		if said != nil {
			fields[name] = *said
		}
	}
	return fields
}

// sourceOf reads where the buyer came from: the referrer and the utm parameters, each cut to maxSource characters. What is
// empty is nil.
func sourceOf(query url.Values) checkout.Source {
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
	return checkout.Source{
		Referrer: said(query.Get("referrer")), UTMSource: said(query.Get("utm_source")), UTMMedium: said(query.Get("utm_medium")),
		UTMCampaign: said(query.Get("utm_campaign")), UTMTerm: said(query.Get("utm_term")), UTMContent: said(query.Get("utm_content")),
	}
}
