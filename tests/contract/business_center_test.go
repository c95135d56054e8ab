package contract

import (
	"net/http"
	"testing"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/tests/harness"
)

func TestListBusinessCenters_AreOfShortVideoChannels(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		channel := activated(t, c, sdk.AdPlatformTikTok)
		known, unknown := 0, 0
		for center, err := range sdk.All(background, c.BusinessCenters.List, &sdk.ListBusinessCentersParams{AccountID: channel.ID, Limit: new(int64(1))}) {
			if err != nil {
				t.Fatal(err)
			}
			if center.Object != "business_center" || center.AccountID != channel.ID || center.Name == "" {
				t.Errorf("a business center is %+v", center)
			}
			if center.AdvertiserCount == nil {
				unknown++
			} else {
				known++
			}
		}
		if known != 1 || unknown != 1 {
			t.Errorf("%d business centers say how many advertisers they have, %d do not", known, unknown)
		}
		other := activated(t, c, sdk.AdPlatformFacebook)
		_, err := c.BusinessCenters.List(background, &sdk.ListBusinessCentersParams{AccountID: other.ID})
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "account_id")
	})
}
