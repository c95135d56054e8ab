package contract

import (
	"bytes"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/sdk"
)

func TestAdKeys_AreSuchThatCanBeTold(t *testing.T) {
	onOneNetwork(t, sdk.AdPlatformGoogle, func(t *testing.T, n onNetwork) {
		body := n.draft("Key")
		for _, key := range []string{"", strings.Repeat("k", 256), "schlüssel"} {
			if f := n.sendUnder(t, key, body).Fault(t, http.StatusBadRequest, sdk.CodeBadRequest); f.Param != "Idempotency-Key" {
				t.Errorf("the key %.20q: param is %q", key, f.Param)
			}
		}
		if made := n.natives(t); len(made) != 0 {
			t.Errorf("it made %v", made)
		}
		if resp := n.sendUnder(t, strings.Repeat("k", 255), body); resp.Status != http.StatusCreated {
			t.Errorf("a key of 255 characters is answered %d %s", resp.Status, resp.Body)
		}
	})
}

// TestAdKeys_ReplayTheFirstAnswer sends each write twice.
func TestAdKeys_ReplayTheFirstAnswer(t *testing.T) {
	onNetworks(t, func(t *testing.T, n onNetwork) {
		ad, list := n.budgeted(t, "Replay"), n.audience(t, "Replay")
		campaign, group := "/v1/ads/campaigns/"+percentEncoded(ad.CampaignID), "/v1/ads/ad-groups/"+percentEncoded(ad.AdGroupID)
		for _, w := range []struct {
			method, path string
			body         any
		}{
			{"POST", "/v1/ads", n.draft("Twice")},
			{"POST", "/v1/ads/boost", n.boost(n.post(t, sdk.SocialPostStatusPublished))},
			{"POST", "/v1/ads/audiences", sdk.AdAudienceCreate{AccountID: n.channel, AdAccountID: n.account, Name: "Twice", Type: "customer_list"}},
			{"POST", "/v1/ads/audiences/" + list.ID + "/users", sdk.AdAudienceUsers{Users: people(3)}},
			{"PATCH", campaign, map[string]any{"budget": map[string]any{"amount": 30, "type": "daily"}}},
			{"POST", group + "/pause", n.body()},
			{"POST", group + "/resume", n.body()},
			{"POST", "/v1/ads/campaigns/bulk-pause", refs(ad.CampaignID)},
			{"POST", "/v1/ads/campaigns/bulk-resume", refs(ad.CampaignID)},
			{"DELETE", campaign, n.body()},
			{"DELETE", "/v1/ads/audiences/" + list.ID, nil},
		} {
			key := w.method + w.path
			first := n.raw.Do(t, w.method, w.path, w.body, "Idempotency-Key", key)
			actions := n.server.Count(t, "ad_actions WHERE account_id = '"+n.raw.Account+"'")
			again := n.raw.Do(t, w.method, w.path, w.body, "Idempotency-Key", key, "X-Sandbox-Fault", "5xx")
			assert.Less(t, first.Status, 300, "%s: the first answer", key)
			assert.Equal(t, first.Status, again.Status, "%s: the first answer", key)
			assert.True(t, bytes.Equal(again.Body, first.Body), "%s: the first answer", key)
			assert.Equal(t, "true", again.Header.Get("Idempotent-Replayed"), "%s: the first answer", key)
			assert.Empty(t, first.Header.Get("Idempotent-Replayed"), "%s: the first answer", key)
			if now := n.server.Count(t, "ad_actions WHERE account_id = '"+n.raw.Account+"'"); now != actions {
				t.Errorf("%s: the replay made %d actions", key, now-actions)
			}
		}
	})
}

func TestAdKeys_AreForOneRequest(t *testing.T) {
	onNetworks(t, func(t *testing.T, n onNetwork) {
		n.sendUnder(t, "one", n.draft("One"))
		other := n.draft("One")
		other.BudgetAmount = amount("21")
		f := n.sendUnder(t, "one", other).Fault(t, http.StatusUnprocessableEntity, sdk.CodeKeyReused)
		assert.Equal(t, "Idempotency-Key", f.Param, "another body")
		assert.NotEmpty(t, f.Errors["idempotency_key"], "another body")
		n.raw.Do(t, http.MethodPost, "/v1/ads/boost", n.boost("x"), "Idempotency-Key", "one").Fault(t, http.StatusUnprocessableEntity, sdk.CodeKeyReused)
		n.raw.Do(t, http.MethodPost, "/v1/ads?dry_run=true", n.draft("One"), "Idempotency-Key", "one").Fault(t, http.StatusUnprocessableEntity, sdk.CodeKeyReused)
		if made := n.natives(t); len(made) != 1 {
			t.Errorf("there are %v", made)
		}
	})
}

// TestAdKeys_StayWithAnUnknownOutcome loses the answer of a create, once after and once before it took place. The key is
// nobody else's, and sent again the request finds or makes one ad.
func TestAdKeys_StayWithAnUnknownOutcome(t *testing.T) {
	onNetworks(t, func(t *testing.T, n onNetwork) {
		for i, lost := range []string{"timeout_after_commit", "timeout"} {
			_, err := n.Ads.Create(background, n.draft(lost), fault(lost), sdk.WithIdempotencyKey(lost))
			refused(t, err, http.StatusInternalServerError, sdk.CodeAPIError, "")
			n.sendUnder(t, lost, n.draft("Another")).Fault(t, http.StatusUnprocessableEntity, sdk.CodeKeyReused)
			found := ok[*sdk.Ad](t)(n.Ads.Create(background, n.draft(lost), sdk.WithIdempotencyKey(lost)))
			made := n.natives(t)
			require.Len(t, made, i+1, "after %s there", lost)
			assert.Equal(t, found.ID, made[0], "after %s there", lost)
			if at := n.server.Strings(t, `SELECT count(*) FROM sandbox_entities WHERE kind = 'ad' AND channel_id = '`+n.channel+`' AND created_at = updated_at AND id = '`+found.ID+`'`); at[0] != "1" {
				t.Errorf("the network has the ad %s times", at)
			}
		}
		if at := n.server.Strings(t, `SELECT count(*) FROM sandbox_entities WHERE channel_id = '`+n.channel+`'`); at[0] != "69" { // 63 were there
			t.Errorf("the network has %s things", at)
		}
	})
}

// TestAdKeys_AreTakenWhileTheRequestRuns sends one request many times at once.
func TestAdKeys_AreTakenWhileTheRequestRuns(t *testing.T) {
	onNetworks(t, func(t *testing.T, n onNetwork) {
		var group sync.WaitGroup
		var mu sync.Mutex
		answers := map[string]bool{}
		for range 8 {
			group.Go(func() {
				resp := n.sendUnder(t, "crowd", n.draft("Crowd"))
				switch resp.Status {
				case http.StatusCreated:
					mu.Lock()
					answers[string(resp.Body)] = true
					mu.Unlock()
				default:
					resp.Fault(t, http.StatusConflict, sdk.CodeRequestInProgress)
					if resp.Header.Get("Retry-After") != "1" {
						t.Errorf("Retry-After is %q", resp.Header.Get("Retry-After"))
					}
				}
			})
		}
		group.Wait()
		made := n.natives(t)
		assert.Len(t, made, 1)
		assert.Len(t, answers, 1)
	})
}

// TestAdNetwork_ThatDoesNotServe asks while the network limits and while it is out of order.
func TestAdNetwork_ThatDoesNotServe(t *testing.T) {
	onNetworks(t, func(t *testing.T, n onNetwork) {
		ad, list := n.budgeted(t, "Limited"), n.audience(t, "Limited")
		ok[*sdk.AdAudienceUpload](t)(n.upload(list.ID, people(1)))
		ask := func(o sdk.Option) map[string]error {
			errs := map[string]error{}
			_, errs["list ads"] = n.Ads.List(background, nil, o)
			_, errs["list campaigns"] = n.AdCampaigns.List(background, nil, o)
			_, errs["get campaign"] = n.AdCampaigns.Get(background, ad.CampaignID, nil, o)
			_, errs["get ad group"] = n.AdGroups.Get(background, ad.AdGroupID, nil, o)
			_, errs["list ad groups"] = n.AdCampaigns.ListAdGroups(background, ad.CampaignID, nil, o)
			_, errs["list audiences"] = n.AdAudiences.List(background, &sdk.ListAdAudiencesParams{AccountID: n.channel, AdAccountID: n.account}, o)
			_, errs["get audience"] = n.AdAudiences.Get(background, list.ID, o)
			_, errs["create"] = n.Ads.Create(background, n.draft("x"), o)
			_, errs["boost"] = n.Ads.Boost(background, n.boost(n.post(t, sdk.SocialPostStatusPublished)), o)
			_, errs["update"] = n.AdCampaigns.Update(background, ad.CampaignID, &sdk.AdCampaignUpdate{Budget: budgetOf("30", "daily")}, o)
			_, errs["pause"] = n.AdGroups.Pause(background, ad.AdGroupID, n.body(), o)
			_, errs["create audience"] = n.AdAudiences.Create(background, &sdk.AdAudienceCreate{AccountID: n.channel, AdAccountID: n.account, Name: "x", Type: "retargeting", PixelID: new("1")}, o)
			_, errs["upload"] = n.upload(list.ID, people(2), o)
			_, errs["delete audience"] = n.AdAudiences.Delete(background, list.ID, o)
			_, errs["delete campaign"] = n.AdCampaigns.Delete(background, ad.CampaignID, n.body(), o)
			_, errs["sync"] = n.Socials.Sync(background, n.channel, o)
			return errs
		}
		for what, err := range ask(fault("rate_limit;after=7")) {
			t.Log(what)
			e := refused(t, err, http.StatusTooManyRequests, sdk.CodeRateLimitExceeded, "platform")
			assert.Equal(t, 7*time.Second, e.RetryAfter)
			assert.Equal(t, "invalid_request_error", e.Type)
			assert.Contains(t, e.Message, string(n.platform))
		}
		for what, err := range ask(unreachable) {
			t.Log(what)
			if e := refused(t, err, http.StatusInternalServerError, sdk.CodeAPIError, ""); e.Type != "api_error" {
				t.Errorf("it is %s", e.Type)
			}
		}
		after := ok[*sdk.AdCampaign](t)(n.AdCampaigns.Get(background, ad.CampaignID, nil))
		made := n.natives(t)
		assert.Len(t, made, 1)
		assert.EqualValues(t, "20.00", after.Budget.Amount)
		assert.Equal(t, sdk.AdStatusActive, after.Status)
		ok[*sdk.AdAudience](t)(n.AdAudiences.Get(background, list.ID))
	})
}
