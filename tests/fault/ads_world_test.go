package fault

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/tests/harness"
)

// adNetworks are all of them.
var adNetworks = []string{"facebook", "instagram", "tiktok", "linkedin", "pinterest", "google", "twitter"}

// advertiser is an activated channel with an ad account in dollars.
type advertiser struct {
	platform, channel, account, post string
}

// advertise connects and activates a channel.
func advertise(t *testing.T, c *harness.Client, platform string) advertiser {
	t.Helper()
	a := advertiser{platform: platform}
	a.channel = c.Must(t, http.MethodPost, "/v1/socials", map[string]any{"platform": platform})["id"].(string)
	c.Must(t, http.MethodPost, "/v1/socials/activate", map[string]any{"account_id": a.channel})
	a.account = first(t, c, "/v1/ads/ad-accounts?account_id="+a.channel, func(o map[string]any) bool { return o["selectable"] == true && o["currency"] == "usd" })
	a.post = first(t, c, "/v1/socials/"+a.channel+"/posts", func(o map[string]any) bool { return o["status"] == "published" })
	return a
}

// first returns the id of the first item of a list that is wanted.
func first(t *testing.T, c *harness.Client, path string, wanted func(map[string]any) bool) string {
	t.Helper()
	for _, item := range c.Must(t, http.MethodGet, path, nil)["data"].([]any) {
		if item := item.(map[string]any); wanted(item) {
			return item["id"].(string)
		}
	}
	t.Fatalf("%s has nothing that fits", path)
	return ""
}

// ad is the body of an ad that can be created.
func (a advertiser) ad(name string, dollars int) map[string]any {
	draft := map[string]any{
		"account_id": a.channel, "ad_account_id": a.account, "name": name, "goal": "traffic", "budget_amount": dollars, "budget_type": "daily",
		"headline": "The Go Handbook", "body": "Learn Go in a weekend.", "call_to_action": "LEARN_MORE", "link_url": "https://example.com/go",
	}
	if a.platform == "tiktok" { // which shows videos only
		draft["video_url"] = "https://example.com/go.mp4"
	} else {
		draft["image_url"] = "https://example.com/go.png"
	}
	return draft
}

// creates makes an ad. A network may take longer to work on its video than a request waits, which is to be sent again then.
func (a advertiser) creates(t *testing.T, c *harness.Client, draft map[string]any) map[string]any {
	t.Helper()
	var made *harness.Response
	await(t, "the ad is made", func() bool {
		made = c.Do(t, http.MethodPost, "/v1/ads", draft, "Idempotency-Key", fmt.Sprint(a.platform, " ", draft["name"]))
		return made.Status != http.StatusConflict
	})
	require.Equal(t, http.StatusCreated, made.Status, "%s", made.Body)
	return made.Object(t)
}

// boost is the body of a boost of the post.
func (a advertiser) boost(name string, dollars int) map[string]any {
	return map[string]any{
		"account_id": a.channel, "ad_account_id": a.account, "post_id": a.post, "name": name, "goal": "engagement",
		"budget": map[string]any{"amount": dollars, "type": "daily"},
	}
}

// people are users of a customer list.
func people(count int) map[string]any {
	users := make([]map[string]any, count)
	for i := range users {
		users[i] = map[string]any{"email": fmt.Sprintf("person-%d@private.example", i), "phone": fmt.Sprintf("+4915%09d", i)}
	}
	return map[string]any{"users": users}
}
