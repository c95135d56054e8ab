package pages

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/core"
)

// maxSource is how much is kept of a parameter that says where a buyer came from.
const maxSource = 255

// offer shows what a checkout link sells, as the page of its checkout would. It makes nothing: programs look at addresses too, and
// fetch them in case that somebody will want them.
func (p *Pages) offer(c echo.Context) error {
	return p.showOffer(c, http.StatusOK, carried(c.Request()), nil, nil)
}

// showOffer answers with what a link sells. Carried is what its form hands on.
func (p *Pages) showOffer(c echo.Context, status int, carried map[string]string, form, problems map[string]string) error {
	checkout, offer, err := p.store.PreviewCheckoutLink(c.Request().Context(), c.Param("checkout_link"))
	if err != nil {
		return p.refuseOffer(c, err)
	}
	page, err := p.pageOf(c.Request().Context(), checkout, offer)
	if err != nil {
		return err
	}
	page.Carried, page.Form, page.Problems = carried, form, problems
	if c.Request().Method != http.MethodPost {
		page.Base = url.PathEscape(c.Param("checkout_link")) + "/"
	}
	return p.render(c, status, "checkout.html", page)
}

// refuseOffer says why a link sells nothing.
func (p *Pages) refuseOffer(c echo.Context, err error) error {
	var refused *core.Error
	if errors.As(err, &refused) && (refused.Code == core.CodeInvalid || refused.Code == core.CodeMissing && refused.Param != "") {
		return p.render(c, http.StatusConflict, "unavailable.html", nil)
	}
	return p.refuse(c, err)
}

// follow makes the checkout of whoever sends the form of a link, and has their browser send it there as it is: 307 keeps it.
// The same form gets the same checkout, so that who sends it twice buys once.
func (p *Pages) follow(c echo.Context) error {
	p.private(c)
	values, err := c.FormParams()
	if err != nil {
		return p.showOffer(c, http.StatusBadRequest, carried(c.Request()), nil, map[string]string{"": "The form could not be read."})
	}
	once := values.Get("once")
	if !onceForm.MatchString(once) {
		return c.Redirect(http.StatusSeeOther, "../"+url.PathEscape(c.Param("checkout_link")))
	}
	in := store.FollowCheckoutLink{Source: sourceOf(values), From: buyer(c), Once: once}
	checkout, err := p.followOnce(c.Request().Context(), c.Param("checkout_link"), in)
	if problem, slow := whyNot(c, err); slow && c.Response().Header().Get(echo.HeaderRetryAfter) != "" {
		return p.showOffer(c, http.StatusUnprocessableEntity, carriedBy(in.Source, once), typed(values), map[string]string{"": problem})
	}
	if err != nil {
		return p.refuseOffer(c, err)
	}
	return c.Redirect(http.StatusTemporaryRedirect, "../../checkout/"+url.PathEscape(checkout.ClientSecret)+"/pay")
}

// followOnce waits for the same form, if it was sent a moment before.
func (p *Pages) followOnce(ctx context.Context, ref string, in store.FollowCheckoutLink) (*store.Checkout, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), followTime)
	defer cancel()
	for {
		checkout, err := p.store.FollowCheckoutLink(ctx, ref, in)
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

const followTime = 10 * time.Second

// carried is what the form of a link hands on: what tells it from the next, and where the buyer came from.
func carried(r *http.Request) map[string]string {
	query := r.URL.Query()
	query.Set("referrer", r.Referer())
	return carriedBy(sourceOf(query), newOnce())
}

func carriedBy(source store.CheckoutSource, once string) map[string]string {
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

// sourceOf is where the buyer came from, as their browser and the address say.
func sourceOf(query url.Values) store.CheckoutSource {
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
		Referrer: said(query.Get("referrer")), UTMSource: said(query.Get("utm_source")), UTMMedium: said(query.Get("utm_medium")),
		UTMCampaign: said(query.Get("utm_campaign")), UTMTerm: said(query.Get("utm_term")), UTMContent: said(query.Get("utm_content")),
	}
}
