package contract

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/sdk"
)

// refs name campaigns.
func refs(ids ...string) *sdk.AdCampaignBulk {
	bulk := &sdk.AdCampaignBulk{}
	for _, id := range ids {
		bulk.Campaigns = append(bulk.Campaigns, sdk.AdCampaignRef{ID: id})
	}
	return bulk
}

func TestBulk_TakesOneToFiftyCampaigns(t *testing.T) {
	onNetworksAlone(t, func(t *testing.T, n onNetwork) {
		ad := n.ad(t, "Counted")
		many := slices.Repeat([]string{ad.CampaignID}, 51)
		unchanged(t, n.server, "a bulk that is refused", func() {
			for _, ids := range [][]string{{}, many} {
				empty := refs(ids...)
				empty.Campaigns = append([]sdk.AdCampaignRef{}, empty.Campaigns...)
				for _, bulk := range []func() error{
					func() error { _, err := n.AdCampaigns.BulkPause(background, empty); return err },
					func() error { _, err := n.AdCampaigns.BulkResume(background, empty); return err },
					func() error { _, err := n.AdCampaigns.PlanBulkPause(background, empty); return err },
				} {
					refused(t, bulk(), http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "campaigns")
				}
			}
		})
		if still := ok[*sdk.AdCampaign](t)(n.AdCampaigns.Get(background, ad.CampaignID, nil)); still.Status != sdk.AdStatusActive {
			t.Errorf("the campaign is %s", still.Status)
		}
		result := ok[*sdk.AdBulkResult](t)(n.AdCampaigns.BulkPause(background, refs(many[:50]...)))
		assert.False(t, result.Totals != (sdk.AdBulkTotals{Requested: 50, Updated: 1, Skipped: 49}), "the totals")
		assert.Equal(t, "duplicate", *result.Results[49].Reason, "the totals")
	})
}

// TestBulk_OfFiftyHasEachResultInItsPlace pauses campaigns of which three cannot be. One is not there, one is on a
// channel that was deactivated, and one meets the network's limit.
func TestBulk_OfFiftyHasEachResultInItsPlace(t *testing.T) {
	onOneNetwork(t, sdk.AdPlatformLinkedIn, func(t *testing.T, n onNetwork) {
		const unknown, idle, limited = 10, 20, 49
		other := advertise(t, n.Client, n.otherPlatform())
		ids := make([]string, 50)
		for i := range ids {
			ids[i] = "999"
			switch i {
			case unknown:
			case idle:
				ids[i] = other.ad(t, "Idle").CampaignID
			default:
				ids[i] = n.ad(t, fmt.Sprint("Campaign ", i)).CampaignID
			}
		}
		ok[*sdk.SocialAccount](t)(n.Socials.Deactivate(background, other.channel))
		result := ok[*sdk.AdBulkResult](t)(n.AdCampaigns.BulkPause(background, refs(ids...), fault("rate_limit;after=7;calls=47")))
		require.False(t, result.Totals != (sdk.AdBulkTotals{Requested: 50, Updated: 47, Failed: 3}), "the totals")
		require.Equal(t, sdk.AdConfiguredStatusPaused, result.Status, "the totals")
		require.Len(t, result.Results, 50, "the totals")
		codes := map[int]string{unknown: sdk.CodeResourceMissing, idle: sdk.CodeAccountNotActivated, limited: sdk.CodeRateLimitExceeded}
		for i, item := range result.Results {
			assert.Equal(t, int64(i), item.Index)
			assert.Equal(t, ids[i], item.ID)
			assert.Equal(t, ids[i], item.PlatformCampaignID)
			code, fails := codes[i]
			switch {
			case !fails && (item.Outcome != sdk.AdBulkItemOutcomeUpdated || *item.Status != sdk.AdStatusPaused || item.Updated != 1 || item.Error != nil || *item.Platform != n.platform):
				t.Errorf("result %d is %+v %+v", i, item, item.Error)
			case fails && (item.Outcome != sdk.AdBulkItemOutcomeFailed || item.Error == nil || item.Error.Code != code || item.Error.Retryable != (i == limited)):
				t.Errorf("result %d is %+v %+v", i, item, item.Error)
			}
		}
		if left := ok[*sdk.AdCampaign](t)(n.AdCampaigns.Get(background, ids[limited], nil)); left.Status != sdk.AdStatusActive {
			t.Errorf("the campaign that met the limit is %s", left.Status)
		}
		again := ok[*sdk.AdBulkResult](t)(n.AdCampaigns.BulkPause(background, refs(ids[0], ids[limited])))
		assert.False(t, again.Totals != (sdk.AdBulkTotals{Requested: 2, Updated: 1, Skipped: 1}), "sent again, the results")
		assert.Equal(t, "unchanged", *again.Results[0].Reason, "sent again, the results")
	})
}

// TestBulk_NamesCampaignsInEveryForm sends the forms that there are for an item, and the same campaign twice.
func TestBulk_NamesCampaignsInEveryForm(t *testing.T) {
	onNetworks(t, func(t *testing.T, n onNetwork) {
		var ids []string
		for i := range 4 {
			ids = append(ids, n.ad(t, fmt.Sprint("Form ", i)).CampaignID)
		}
		over, gone := n.external(t, sdk.AdStatusCompleted).ID, n.ad(t, "Deleted").CampaignID
		ok[*sdk.DeletedAdCampaign](t)(n.AdCampaigns.Delete(background, gone, n.body()))
		body := strings.NewReplacer("A", ids[0], "B", ids[1], "C", ids[2], "D", ids[3], "OVER", over, "GONE", gone, "HERE", string(n.platform), "THERE", string(n.otherPlatform())).Replace(
			`{"campaigns":["A",{"id":"B"},{"campaign_id":"C"},{"platform_campaign_id":"D","platform":"HERE"},"A",{"id":"A","platform":"HERE"},{"id":"A","platform":"THERE"},"OVER","GONE",{"id":"A","platform":"nowhere"}]}`)
		result := n.raw.Must(t, http.MethodPost, "/v1/ads/campaigns/bulk-pause", body)
		var got []string
		for _, item := range result["results"].([]any) {
			item := item.(map[string]any)
			word := fmt.Sprint(item["outcome"])
			if item["reason"] != nil {
				word += " " + item["reason"].(string)
			}
			if e, failed := item["error"].(map[string]any); failed {
				word += " " + e["code"].(string)
			}
			got = append(got, word)
		}
		if want := []string{
			"updated", "updated", "updated", "updated", "skipped duplicate", "skipped duplicate", "failed resource_missing", "failed validation_failed", "failed resource_missing",
			"failed validation_failed",
		}; !slices.Equal(got, want) {
			t.Errorf("the results are %q", got)
		}
	})
}

// TestBulk_WhenTheNetworkFails is about what is told of items, and what of the request.
func TestBulk_WhenTheNetworkFails(t *testing.T) {
	onNetworks(t, func(t *testing.T, n onNetwork) {
		ids := []string{n.ad(t, "First").CampaignID, n.ad(t, "Second").CampaignID, n.ad(t, "Third").CampaignID}
		for text, code := range map[string]string{"rate_limit;after=7;calls=1": sdk.CodeRateLimitExceeded, "partial:1": sdk.CodeAPIError} {
			ok[*sdk.AdBulkResult](t)(n.AdCampaigns.BulkResume(background, refs(ids...)))
			result := ok[*sdk.AdBulkResult](t)(n.AdCampaigns.BulkPause(background, refs(ids...), fault(text)))
			assert.False(t, result.Totals != (sdk.AdBulkTotals{Requested: 3, Updated: 1, Failed: 2}), "%s: the results", text)
			assert.EqualValues(t, "updated", result.Results[0].Outcome, "%s: the results", text)
			for _, item := range result.Results[1:] {
				require.NotNil(t, item.Error, "%s: a result", text)
				assert.Equal(t, code, item.Error.Code, "%s: a result", text)
				assert.True(t, item.Error.Retryable, "%s: a result", text)
			}
		}
		ok[*sdk.AdBulkResult](t)(n.AdCampaigns.BulkResume(background, refs(ids...)))
		_, err := n.AdCampaigns.BulkPause(background, refs(ids...), fault("rate_limit;after=7"), sdk.WithIdempotencyKey("limited"))
		if e := refused(t, err, http.StatusTooManyRequests, sdk.CodeRateLimitExceeded, "platform"); e.RetryAfter != 7*time.Second {
			t.Errorf("the network asks to wait %s", e.RetryAfter)
		}
		for _, id := range ids {
			if still := ok[*sdk.AdCampaign](t)(n.AdCampaigns.Get(background, id, nil)); still.Status != sdk.AdStatusActive {
				t.Errorf("a campaign of the refused request is %s", still.Status)
			}
		}
		if result := ok[*sdk.AdBulkResult](t)(n.AdCampaigns.BulkPause(background, refs(ids...), sdk.WithIdempotencyKey("limited"))); result.Totals.Updated != 3 {
			t.Errorf("sent again under its key, it has %+v", result.Totals)
		}
	})
}
