package view

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/advert"
)

// TestAdState_SpeaksTheWordsOfTheAPI holds what lines of the audit trail were written as, long ago and now.
func TestAdState_SpeaksTheWordsOfTheAPI(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		op         advert.Op
		kept, want string
	}{
		{advert.OpPauseGroup, `{"ref": {"AdAccount": "act_1", "Level": "ad_group", "ID": "7", "CampaignID": "5", "AdGroupID": ""}, "to": "active"}`, `{"configured_status": "active"}`},
		{advert.OpResumeCampaign, `{"to": "active", "status": "active", "updated": 1, "skipped": 0}`, `{"configured_status": "active", "status": "active", "updated": 1, "skipped": 0}`},
		{advert.OpPauseCampaign, `{"status": "paused", "updated": 2, "skipped": 0, "settled_by": "ops"}`, `{"status": "paused", "updated": 2, "skipped": 0, "settled_by": "ops"}`},
		{advert.OpPauseCampaign, ``, `{}`},
		{advert.OpUploadAudience, `{"audience_id": "aud_1", "size": 9007199254740993, "errors": [{"Index": 3, "Param": "email", "Message": "no"}]}`,
			`{"audience_id": "aud_1", "size": 9007199254740993, "errors": [{"index": 3, "param": "email", "message": "no"}]}`},
		{advert.OpUploadAudience, `{"audience_id": "aud_1", "errors": null}`, `{"audience_id": "aud_1", "errors": null}`},
		{advert.OpUpdateGroup, `{"token": "adact_1", "currency": "usd", "timezone": "UTC", "bid_strategy": "COST_CAP"}`, `{"bid_strategy": "COST_CAP"}`},
		{advert.OpCreateAd, `{"ad_id": "1"}`, `{"ad_id": "1"}`},
	} {
		require.JSONEq(t, c.want, string(adState(c.op, advert.Object(c.kept))), c.op)
	}
}
