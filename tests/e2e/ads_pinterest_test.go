package e2e

import (
	"fmt"
	"slices"
	"time"

	"github.com/tillwright/tillwright/tests/harness/pinterestfake"
)

// onPinterest is Pinterest with an ad account and a Pin.
type onPinterest struct {
	*pinterestfake.Network
	account *pinterestfake.Account
	pin     string
}

func newOnPinterest() onPinterest {
	n := pinterestfake.New(time.Now)
	return onPinterest{n, n.AddAccount(adToken, "Shop", "USD", "OWNER"), n.AddPin(adToken, "REGULAR", "Mug")}
}

func (p onPinterest) live() (campaigns, ads int) {
	for _, campaign := range p.Campaigns(p.account) {
		if campaign.Text("status") != "ARCHIVED" {
			campaigns++
			ads += len(slices.DeleteFunc(p.Ads(p.account), func(ad pinterestfake.Object) bool { return ad.Text("campaign_id") != campaign.Text("id") }))
		}
	}
	return campaigns, ads
}

func (p onPinterest) names() []string {
	var names []string
	ended := map[string]bool{}
	for _, campaign := range p.Campaigns(p.account) {
		ended[campaign.Text("id")] = campaign.Text("status") == "ARCHIVED"
		if !ended[campaign.Text("id")] {
			names = append(names, campaign.Text("name"))
		}
	}
	for _, row := range append(p.Groups(p.account), p.Ads(p.account)...) {
		if !ended[row.Text("campaign_id")] {
			names = append(names, row.Text("name"))
		}
	}
	return names
}

func (p onPinterest) object(level, id string) pinterestfake.Object {
	rows := map[string][]pinterestfake.Object{"campaign": p.Campaigns(p.account), "ad_group": p.Groups(p.account)}[level]
	i := slices.IndexFunc(rows, func(o pinterestfake.Object) bool { return o.Text("id") == id })
	return rows[i]
}

func (p onPinterest) status(level, id string) string { return p.object(level, id).Text("status") }

func (p onPinterest) dailyBudget(level, id string) string {
	name := map[string]string{"campaign": "daily_spend_cap", "ad_group": "budget_in_micro_currency"}[level]
	return fmt.Sprint(p.object(level, id).Number(name))
}

func (p onPinterest) deliver(ad, day string) {
	p.Deliver(p.account, ad, day, map[string]float64{"SPEND_IN_MICRO_DOLLAR": 12_340_000, "TOTAL_IMPRESSION": 1000, "TOTAL_CLICKTHROUGH": 30})
}

func (p onPinterest) steps() []string {
	return []string{"media/create", "pins/create", "campaigns/create", "ad_groups/create", "ads/create"}
}

func (p onPinterest) breakOff(step string, done bool) {
	kind := pinterestfake.FaultDrop
	if done {
		kind = pinterestfake.FaultDropAfter
	}
	p.Break(step, 0, kind)
}

func (p onPinterest) loseNextAd() { p.Break("ads/create", 0, pinterestfake.FaultHangAfter) }

func (p onPinterest) servedAt(url string) {
	p.UploadTo(url)
	p.ReportsAt(url)
}

func (p onPinterest) consentTo(redirect string) {
	p.ConsentTo(pinterestfake.App{ID: appID, Secret: appSecret, RedirectURIs: []string{redirect}}, adToken)
}

func (p onPinterest) minted() []string { return p.Minted() }

func (p onPinterest) addProfile() {}

func (p onPinterest) revoke() { p.Revoke(adToken) }

func (p onPinterest) revokeOne(token string) { p.Revoke(token) }

func (p onPinterest) facts() (adAccount, post, dollars string) {
	return p.account.ID, p.pin, "60000000"
}

func (p onPinterest) films() (post, pixel string) {
	return p.AddPin(adToken, "VIDEO", "How a mug is made"), p.AddTag(p.account)
}

func (p onPinterest) tokenOfPixel() *string {
	p.AddConversionToken(p.account, "aTokenOfConversionsThatMustNotBeSeen")
	return new("aTokenOfConversionsThatMustNotBeSeen")
}
