package ads

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/tillwright/tillwright/store/advert"
)

func TestStatusOf_MapsTheWordsOfEachNetwork(t *testing.T) {
	t.Parallel()
	for platform, words := range map[advert.Platform]map[advert.Status][]string{
		advert.PlatformFacebook: {
			advert.StatusActive: {"ACTIVE"}, advert.StatusPaused: {"PAUSED", "CAMPAIGN_PAUSED", "ADSET_PAUSED"},
			advert.StatusPendingReview: {"PENDING_REVIEW", "IN_PROCESS", "PREAPPROVED"}, advert.StatusRejected: {"DISAPPROVED"},
			advert.StatusCancelled: {"ARCHIVED", "DELETED"}, advert.StatusError: {"WITH_ISSUES", "PENDING_BILLING_INFO"},
		},
		advert.PlatformInstagram: {advert.StatusActive: {"ACTIVE"}, advert.StatusRejected: {"DISAPPROVED"}},
		advert.PlatformPinterest: {
			advert.StatusActive: {"RUNNING", "APPROVED", "ACTIVE"}, advert.StatusPaused: {"PAUSED", "DRAFT"},
			advert.StatusPendingReview: {"NOT_STARTED", "PENDING"}, advert.StatusRejected: {"REJECTED"},
			advert.StatusCompleted: {"COMPLETED"}, advert.StatusCancelled: {"ARCHIVED", "DELETED_DRAFT"}, advert.StatusError: {"ADVERTISER_DISABLED"},
		},
		advert.PlatformGoogle: {
			advert.StatusActive: {"ELIGIBLE", "LIMITED", "LEARNING", "ENABLED"}, advert.StatusPaused: {"PAUSED"},
			advert.StatusPendingReview: {"PENDING"}, advert.StatusCompleted: {"ENDED"}, advert.StatusCancelled: {"REMOVED"},
			advert.StatusError: {"MISCONFIGURED", "NOT_ELIGIBLE"},
		},
		advert.PlatformLinkedIn: {
			advert.StatusActive:    {"RUNNABLE", "ACTIVE"},
			advert.StatusPaused:    {"PAUSED", "STOPPED_HOLD", "ACCOUNT_SERVING_HOLD", "CAMPAIGN_AUDIENCE_COUNT_HOLD", "CAMPAIGN_START_DATE_HOLD"},
			advert.StatusCompleted: {"CAMPAIGN_END_DATE_HOLD", "CAMPAIGN_GROUP_END_DATE_HOLD", "CAMPAIGN_TOTAL_BUDGET_HOLD", "COMPLETED"},
			advert.StatusCancelled: {"ARCHIVED", "CANCELED", "PENDING_DELETION", "REMOVED"}, advert.StatusRejected: {"REJECTED"},
		},
		advert.PlatformTikTok: {
			advert.StatusActive: {"ENABLE", "AD_STATUS_DELIVERY_OK"}, advert.StatusPaused: {"DISABLE", "FROZEN", "AD_STATUS_ADGROUP_DISABLE"},
			advert.StatusPendingReview: {"AD_STATUS_AUDIT"}, advert.StatusRejected: {"AD_STATUS_AUDIT_DENY"},
			advert.StatusCompleted: {"ADGROUP_STATUS_TIME_DONE", "AD_STATUS_DONE"}, advert.StatusCancelled: {"DELETE", "AD_STATUS_DELETE"},
		},
		advert.PlatformTwitter: {
			advert.StatusActive: {"ACTIVE", "ACCEPTED"}, advert.StatusPaused: {"PAUSED", "DRAFT"}, advert.StatusPendingReview: {"UNDER_REVIEW"},
			advert.StatusRejected: {"REJECTED"}, advert.StatusCompleted: {"EXPIRED"}, advert.StatusCancelled: {"DELETED"},
			advert.StatusError: {"FUNDING_PROBLEM"},
		},
	} {
		for want, raws := range words {
			for _, raw := range raws {
				assert.Equal(t, want, StatusOf(platform, raw), "%s of %s", raw, platform)
			}
		}
	}
}

func TestStatusOf_TakesAnUnknownWordForAnError(t *testing.T) {
	t.Parallel()
	for _, platform := range append([]advert.Platform{"myspace"}, advert.Platforms...) {
		for _, raw := range []string{"", "active", "Active", "NEVER_HEARD_OF", " ACTIVE", "HOLD"} {
			assert.Equal(t, advert.StatusError, StatusOf(platform, raw), "%q of %s", raw, platform)
		}
	}
}

func TestReviewOf_FollowsTheStateOfDelivery(t *testing.T) {
	t.Parallel()
	want := map[advert.Status]advert.Review{
		advert.StatusActive: advert.ReviewApproved, advert.StatusPaused: advert.ReviewApproved,
		advert.StatusCompleted: advert.ReviewApproved, advert.StatusCancelled: advert.ReviewApproved,
		advert.StatusPendingReview: advert.ReviewInReview, advert.StatusRejected: advert.ReviewRejected,
		advert.StatusError: advert.ReviewWithIssues,
	}
	for _, status := range advert.Statuses {
		assert.Equal(t, want[status], ReviewOf(status), status)
	}
}

func TestConfigured_IsOnOnlyForTheNetworksWordForOn(t *testing.T) {
	t.Parallel()
	for _, platform := range advert.Platforms {
		caps := CapsOf(platform)
		for _, configured := range []advert.Configured{advert.ConfiguredActive, advert.ConfiguredPaused} {
			word := caps.SwitchWord(configured)
			assert.Equal(t, configured, caps.Configured(word), platform)
			assert.Equal(t, string(configured), string(StatusOf(platform, word)), "a switch is a word of delivery too on %s", platform)
		}
		assert.Equal(t, advert.ConfiguredPaused, caps.Configured("NEVER_HEARD_OF"), platform)
	}
}
