package pages

import (
	"context"
	"net/http"
	"net/netip"
	"net/url"
	"regexp"
	"slices"

	"github.com/labstack/echo/v4"

	"github.com/tillwright/tillwright/server/caller"
	"github.com/tillwright/tillwright/server/locale"
	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/store/checkout"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/tenant"
)

// A seller may have the page ask whether ad networks may be told of the purchase. What a network appended to the page's address is handed
// on from page to page in hidden fields of the form. Nothing of it is stored before a form comes back in which the buyer ticked the box.

// clickID is what a click id may look like, as the API's document says.
var clickID = regexp.MustCompile(`^[A-Za-z0-9._~=-]{1,512}$`)

// longestUserAgent is how much of a browser's own words is kept.
const longestUserAgent = 512

// clicks returns what ad networks appended to the address of a page, from its query or from the form that handed it on. What does not look
// like that is left out: anybody can append anything.
func clicks(values url.Values) map[string]string {
	ids := map[string]string{}
	for _, platform := range advert.Platforms {
		param := platform.ClickParam()
		if id := values.Get(param); param != "" && clickID.MatchString(id) {
			ids[param] = id
		}
	}
	return ids
}

// sentOrAsked returns the form that was sent, or the query of a page that is only looked at.
func sentOrAsked(c echo.Context) url.Values {
	if c.Request().Method != http.MethodPost {
		return c.QueryParams()
	}
	values, _ := c.FormParams() // one that cannot be read has no fields
	return values
}

// askAds has the page ask whether ad networks may be told of the purchase, if its seller wants that. The page also hands on what they
// appended to its address.
func (p *Pages) askAds(ctx context.Context, page *checkoutPage, values url.Values) error {
	if !page.Seller.CheckoutAdsConsent || page.State != string(checkout.StatusOpen) {
		return nil
	}
	var err error
	if page.AdNetworks, err = p.adNetworks(ctx, page.l, page.Seller); err != nil {
		return err
	}
	for param, id := range clicks(values) {
		if page.Carried == nil {
			page.Carried = map[string]string{}
		}
		page.Carried[param] = id
	}
	return nil
}

// adNetworks returns who is told of what happens in a seller's shop, in words.
func (p *Pages) adNetworks(ctx context.Context, l *locale.Locale, seller *tenant.Account) (string, error) {
	platforms, err := p.store.Advert.ConversionPlatforms(ctx, seller.ID)
	if err != nil {
		return "", err
	}
	var names []string
	for _, platform := range platforms {
		if name := company(platform); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	switch last := len(names) - 1; last {
	case -1:
		return l.T("ads.networks", "seller", seller.Name), nil
	case 0:
		return names[0], nil
	default:
		return l.T("ads.and", "names", l.List(names[:last]...), "last", names[last]), nil
	}
}

// company returns the name under which buyers know who is told.
func company(platform advert.Platform) string {
	switch platform {
	case advert.PlatformFacebook, advert.PlatformInstagram:
		return "Meta (Facebook, Instagram)"
	case advert.PlatformPinterest:
		return "Pinterest"
	case advert.PlatformTikTok:
		return "TikTok"
	case advert.PlatformGoogle:
		return "Google"
	}
	return string(platform)
}

// adsAnswer returns what the buyer answered, nil if the form did not ask, or the seller wants to know it no more.
func (p *Pages) adsAnswer(ctx context.Context, account string, f form) (*bool, error) {
	answer, asked := f["ads_consent"]
	if !asked {
		return nil, nil
	}
	agrees := answer == "true"
	if agrees {
		seller, err := p.store.Tenant.GetAccount(ctx, account)
		if err != nil || !seller.CheckoutAdsConsent {
			return nil, err
		}
	}
	return &agrees, nil
}

// answerAds puts into a checkout what the buyer answered, and with a yes their visit.
func (p *Pages) answerAds(c echo.Context, d *checkout.Draft, agrees *bool) {
	before := d.AdsVisit.V
	if d.AnswerAds(agrees); !core.Deref(agrees) {
		return
	}
	visit := visitOf(c, p.store.Checkout.HostedPage(d.Checkout))
	if len(visit.ClickIDs) == 0 && before != nil { // the page was opened again, without what was appended to its address
		visit.ClickIDs = before.ClickIDs
	}
	d.AdsVisit = core.JSONOf(visit)
}

// visitOf returns the visit of who sends a form of a page.
func visitOf(c echo.Context, page string) *advert.Visit {
	visit := &advert.Visit{PageURL: page, ClickIDs: clicks(sentOrAsked(c)), UserAgent: textOnly(c.Request().UserAgent())}
	if len(visit.UserAgent) > longestUserAgent {
		visit.UserAgent = textOnly(visit.UserAgent[:longestUserAgent])
	}
	// An address of a network inside is that of a proxy whom nobody named.
	if addr, err := netip.ParseAddr(caller.Address(c.Request().Context())); err == nil && addr.IsGlobalUnicast() && !addr.IsPrivate() {
		visit.ClientIP = addr.String()
	}
	return visit
}
