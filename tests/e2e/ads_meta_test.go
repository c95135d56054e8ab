package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/tests/harness/metafake"
)

// onMeta is Meta with a page, its Instagram account and two ad accounts, of which one is closed.
type onMeta struct {
	*metafake.Fake
	post string
}

func newOnMeta(platform sdk.AdPlatform) onMeta {
	f := metafake.New(adToken)
	f.AddAccount(metafake.Account{ID: "act_1015000000000101", Name: "Dollars", Currency: "USD", Timezone: "America/New_York", Minimum: 100, Country: "US"})
	f.AddAccount(metafake.Account{ID: "act_1015000000000104", Name: "Closed", Currency: "USD", Timezone: "Europe/Berlin", Minimum: 100, Status: 2})
	f.AddPage("2020000000000001", "Northwind", adToken+"OfThePage", "17840000000000001")
	f.AddPost("2020000000000001", "2020000000000001_3030000000000001", "Autumn is here", time.Now().Add(-48*time.Hour))
	f.AddMedia("17840000000000001", "17900000000000001", "Leaves", time.Now().Add(-24*time.Hour))
	if platform == sdk.AdPlatformInstagram {
		return onMeta{f, "17900000000000001"}
	}
	return onMeta{f, "2020000000000001_3030000000000001"}
}

func (m onMeta) live() (campaigns, ads int) { return len(m.Live("Campaign")), len(m.Live("Ad")) }

func (m onMeta) names() []string {
	var names []string
	for _, kind := range []string{"Campaign", "AdSet", "Ad"} {
		for _, id := range m.Live(kind) {
			names = append(names, fmt.Sprint(m.Field(id, "name")))
		}
	}
	return names
}

func (m onMeta) status(_, id string) string { return fmt.Sprint(m.Field(id, "status")) }

func (m onMeta) dailyBudget(_, id string) string { return fmt.Sprint(m.Field(id, "daily_budget")) }

func (m onMeta) deliver(ad, day string) {
	m.Deliver(ad, day, metafake.Delivery{Impressions: 1000, Reach: 700, Clicks: 30, Spend: "12.34"})
}

func (m onMeta) steps() []string {
	return []string{"advideos", "campaigns", "adsets", "adcreatives", "ads"}
}

func (m onMeta) breakOff(step string, done bool) {
	kind := metafake.FaultCutBefore
	if done {
		kind = metafake.FaultCutAfter
	}
	m.Fail(metafake.Fault{Kind: kind, Method: http.MethodPost, Edge: step})
}

func (m onMeta) loseNextAd() {
	m.Fail(metafake.Fault{Kind: metafake.FaultTimeoutAfter, Method: http.MethodPost, Edge: "ads"})
}

func (m onMeta) servedAt(string) {}

func (m onMeta) consentTo(redirect string) {
	m.Secret, m.App = appSecret, metafake.App{ID: appID, Secret: appSecret, RedirectURIs: []string{redirect}}
}

func (m onMeta) minted() []string { return m.Minted() }

func (m onMeta) addProfile() {
	m.AddPage("2020000000000002", "Southwind", adToken+"OfTheOtherPage", "17840000000000002")
}

func (m onMeta) revoke() { m.Revoke(adToken) }

func (m onMeta) revokeOne(token string) { m.Revoke(token) }

func (m onMeta) facts() (adAccount, post, dollars string) {
	return "act_1015000000000101", m.post, "6000"
}

func (m onMeta) films() (post, pixel string) {
	page, user := "2020000000000001", "17840000000000001"
	if strings.HasPrefix(m.post, page) {
		post = page + "_3030000000000002"
		m.AddPost(page, post, "How leaves fall", time.Now().Add(-72*time.Hour))
	} else {
		post = "17900000000000002"
		m.AddMedia(user, post, "How leaves fall", time.Now().Add(-72*time.Hour))
	}
	m.Film(post)
	m.AddPixel("act_1015000000000101", "6060000000000001", "Site")
	return post, "6060000000000001"
}

func (m onMeta) tokenOfPixel() *string { return nil }
