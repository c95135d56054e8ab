package pages

import (
	"bytes"
	"fmt"
	"maps"
	"net/url"
	"slices"

	"github.com/labstack/echo/v4"

	"github.com/tillwright/tillwright/store/content"
	"github.com/tillwright/tillwright/store/tenant"
)

// leadAds is what a form asks about ad networks, if its seller wants to know.
type leadAds struct {
	Networks string
	Seller   string
	Confirms bool   // they are told once the visitor has confirmed their address
	Clicks   string // stands where what they appended to the address of the page belongs, which is handed on as on a page of a checkout
}

// asksLeadAds reports whether a form asks if ad networks may be told. Where addresses are confirmed, nobody would be told of a form that asks for no
// letters: see store.CaptureLead.
func asksLeadAds(seller *tenant.Account, block *content.SiteBlock) bool {
	return seller.LeadAdsConsent && (block.ConsentText != nil || seller.LeadConfirmation == tenant.LeadConfirmationNone)
}

// askLeadAds has the forms of blocks ask whether ad networks may be told, if the seller wants that.
func (p *Pages) askLeadAds(c echo.Context, seller *tenant.Account, blocks []pageBlock) error {
	asks := func(b pageBlock) bool { return b.Form != nil && asksLeadAds(seller, &b.SiteBlock) }
	if !slices.ContainsFunc(blocks, asks) {
		return nil
	}
	networks, err := p.adNetworks(c.Request().Context(), p.spoken(c), seller)
	if err != nil {
		return err
	}
	for _, b := range blocks {
		if asks(b) {
			b.Form.Ads = &leadAds{Networks: networks, Seller: seller.Name, Confirms: seller.LeadConfirmation != tenant.LeadConfirmationNone, Clicks: p.formClicks}
		}
	}
	return nil
}

// carriedClicks returns the fields by which a form hands on what ad networks appended to the address of its page.
func carriedClicks(values url.Values) []byte {
	var fields bytes.Buffer
	ids := clicks(values) // which are nothing else to HTML
	for _, param := range slices.Sorted(maps.Keys(ids)) {
		fmt.Fprintf(&fields, `<input type="hidden" name="%s" value="%s">`, param, ids[param])
	}
	return fields.Bytes()
}
