package e2e

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tillwright/tillwright/tests/harness/tiktokfake"
)

// onTikTok is TikTok with an ad account that speaks for an account with a post.
type onTikTok struct {
	*tiktokfake.Network
	account *tiktokfake.Account
	post    string
}

func newOnTikTok() onTikTok {
	n := tiktokfake.New(time.Now)
	account := n.AddAccount(adToken, "Shop", "USD", "US")
	return onTikTok{n, account, n.AddPost(account, n.AddIdentity(account, "BC_AUTH_TT", "Northwind"), "Mug")}
}

func (k onTikTok) live() (campaigns, ads int) {
	campaigns, _, ads = k.Live(k.account)
	return campaigns, ads
}

func (k onTikTok) rows(level string) []tiktokfake.Object {
	return map[string]func(*tiktokfake.Account) []tiktokfake.Object{"campaign": k.Campaigns, "adgroup": k.Groups, "ad": k.Ads}[level](k.account)
}

func (k onTikTok) names() []string {
	var names []string
	for _, kind := range []string{"campaign", "adgroup", "ad"} {
		for _, row := range k.rows(kind) {
			if !strings.HasSuffix(row.Text("secondary_status"), "DELETE") {
				names = append(names, row.Text(kind+"_name"))
			}
		}
	}
	return names
}

func (k onTikTok) object(level, id string) tiktokfake.Object {
	kind := strings.ReplaceAll(level, "_", "")
	rows := k.rows(kind)
	return rows[slices.IndexFunc(rows, func(o tiktokfake.Object) bool { return o.Text(kind+"_id") == id })]
}

func (k onTikTok) status(level, id string) string {
	return map[string]string{"ENABLE": "ACTIVE", "DISABLE": "PAUSED"}[k.object(level, id).Text("operation_status")]
}

func (k onTikTok) dailyBudget(level, id string) string {
	return fmt.Sprint(k.object(level, id).Number("budget"))
}

func (k onTikTok) deliver(ad, day string) {
	k.Deliver(k.account, ad, day, map[string]string{"spend": "12.34", "impressions": "1000", "clicks": "30"}, nil)
}

func (k onTikTok) steps() []string {
	return []string{"POST file/video/ad/upload", "POST campaign/create", "POST adgroup/create", "POST ad/create"}
}

func (k onTikTok) breakOff(step string, done bool) {
	kind := tiktokfake.FaultCutBefore
	if done {
		kind = tiktokfake.FaultCutAfter
	}
	k.Break(step, 0, kind)
}

func (k onTikTok) loseNextAd() { k.Break("POST ad/create", 0, tiktokfake.FaultHangAfter) }

func (k onTikTok) servedAt(string) {}

func (k onTikTok) consentTo(redirect string) {
	k.ConsentOf(adToken, tiktokfake.App{ID: appID, Secret: appSecret, RedirectURIs: []string{redirect}})
}

func (k onTikTok) minted() []string { return k.Minted() }

func (k onTikTok) addProfile() { k.AddIdentity(k.account, "TT_USER", "Southwind") }

func (k onTikTok) revoke() { k.Revoke(adToken) }

func (k onTikTok) revokeOne(token string) { k.Revoke(token) }

func (k onTikTok) facts() (adAccount, post, dollars string) { return k.account.ID, k.post, "60" }

func (k onTikTok) films() (post, pixel string) {
	pixel, _ = k.AddPixel(k.account, "Site")
	return k.post, pixel
}

func (k onTikTok) tokenOfPixel() *string { return nil }
