package contract

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"

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
			assert.Equal(t, "business_center", center.Object, "a business center")
			assert.Equal(t, channel.ID, center.AccountID, "a business center")
			assert.NotEmpty(t, center.Name, "a business center")
			if center.AdvertiserCount == nil {
				unknown++
			} else {
				known++
			}
		}
		assert.Equal(t, 1, known)
		assert.Equal(t, 1, unknown)
		other := activated(t, c, sdk.AdPlatformFacebook)
		_, err := c.BusinessCenters.List(background, &sdk.ListBusinessCentersParams{AccountID: other.ID})
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "account_id")
	})
}
