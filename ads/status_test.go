package ads

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/tillwright/tillwright/store"
)

func TestStatusOf_MapsTheWordsOfEachNetwork(t *testing.T) {
	t.Parallel()
	for platform, words := range map[store.Platform]map[store.AdStatus][]string{
		store.PlatformFacebook: {
			store.AdStatusActive: {"ACTIVE"}, store.AdStatusPaused: {"PAUSED", "CAMPAIGN_PAUSED", "ADSET_PAUSED"},
			store.AdStatusPendingReview: {"PENDING_REVIEW", "IN_PROCESS", "PREAPPROVED"}, store.AdStatusRejected: {"DISAPPROVED"},
			store.AdStatusCancelled: {"ARCHIVED", "DELETED"}, store.AdStatusError: {"WITH_ISSUES", "PENDING_BILLING_INFO"},
		},
		store.PlatformInstagram: {store.AdStatusActive: {"ACTIVE"}, store.AdStatusRejected: {"DISAPPROVED"}},
		store.PlatformPinterest: {
			store.AdStatusActive: {"RUNNING", "APPROVED", "ACTIVE"}, store.AdStatusPaused: {"PAUSED", "DRAFT"},
			store.AdStatusPendingReview: {"NOT_STARTED", "PENDING"}, store.AdStatusRejected: {"REJECTED"},
			store.AdStatusCompleted: {"COMPLETED"}, store.AdStatusCancelled: {"ARCHIVED", "DELETED_DRAFT"}, store.AdStatusError: {"ADVERTISER_DISABLED"},
		},
		store.PlatformGoogle: {
			store.AdStatusActive: {"ELIGIBLE", "LIMITED", "LEARNING", "ENABLED"}, store.AdStatusPaused: {"PAUSED"},
			store.AdStatusPendingReview: {"PENDING"}, store.AdStatusCompleted: {"ENDED"}, store.AdStatusCancelled: {"REMOVED"},
			store.AdStatusError: {"MISCONFIGURED", "NOT_ELIGIBLE"},
		},
		store.PlatformLinkedIn: {
			store.AdStatusActive:    {"RUNNABLE", "ACTIVE"},
			store.AdStatusPaused:    {"PAUSED", "STOPPED_HOLD", "ACCOUNT_SERVING_HOLD", "CAMPAIGN_AUDIENCE_COUNT_HOLD", "CAMPAIGN_START_DATE_HOLD"},
			store.AdStatusCompleted: {"CAMPAIGN_END_DATE_HOLD", "CAMPAIGN_GROUP_END_DATE_HOLD", "CAMPAIGN_TOTAL_BUDGET_HOLD", "COMPLETED"},
			store.AdStatusCancelled: {"ARCHIVED", "CANCELED", "PENDING_DELETION", "REMOVED"}, store.AdStatusRejected: {"REJECTED"},
		},
		store.PlatformTikTok: {
			store.AdStatusActive: {"ENABLE", "AD_STATUS_DELIVERY_OK"}, store.AdStatusPaused: {"DISABLE", "FROZEN", "AD_STATUS_ADGROUP_DISABLE"},
			store.AdStatusPendingReview: {"AD_STATUS_AUDIT"}, store.AdStatusRejected: {"AD_STATUS_AUDIT_DENY"},
			store.AdStatusCompleted: {"ADGROUP_STATUS_TIME_DONE", "AD_STATUS_DONE"}, store.AdStatusCancelled: {"DELETE", "AD_STATUS_DELETE"},
		},
		store.PlatformTwitter: {
			store.AdStatusActive: {"ACTIVE", "ACCEPTED"}, store.AdStatusPaused: {"PAUSED", "DRAFT"}, store.AdStatusPendingReview: {"UNDER_REVIEW"},
			store.AdStatusRejected: {"REJECTED"}, store.AdStatusCompleted: {"EXPIRED"}, store.AdStatusCancelled: {"DELETED"},
			store.AdStatusError: {"FUNDING_PROBLEM"},
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
	for _, platform := range append([]store.Platform{"myspace"}, store.Platforms...) {
		for _, raw := range []string{"", "active", "Active", "NEVER_HEARD_OF", " ACTIVE", "HOLD"} {
			assert.Equal(t, store.AdStatusError, StatusOf(platform, raw), "%q of %s", raw, platform)
		}
	}
}

func TestReviewOf_FollowsTheStateOfDelivery(t *testing.T) {
	t.Parallel()
	want := map[store.AdStatus]store.AdReview{
		store.AdStatusActive: store.AdReviewApproved, store.AdStatusPaused: store.AdReviewApproved,
		store.AdStatusCompleted: store.AdReviewApproved, store.AdStatusCancelled: store.AdReviewApproved,
		store.AdStatusPendingReview: store.AdReviewInReview, store.AdStatusRejected: store.AdReviewRejected,
		store.AdStatusError: store.AdReviewWithIssues,
	}
	for _, status := range store.AdStatuses {
		assert.Equal(t, want[status], ReviewOf(status), status)
	}
}

func TestConfigured_IsOnOnlyForTheNetworksWordForOn(t *testing.T) {
	t.Parallel()
	for _, platform := range store.Platforms {
		caps := CapsOf(platform)
		for _, configured := range []store.AdConfigured{store.AdConfiguredActive, store.AdConfiguredPaused} {
			word := caps.SwitchWord(configured)
			assert.Equal(t, configured, caps.Configured(word), platform)
			assert.Equal(t, string(configured), string(StatusOf(platform, word)), "a switch is a word of delivery too on %s", platform)
		}
		assert.Equal(t, store.AdConfiguredPaused, caps.Configured("NEVER_HEARD_OF"), platform)
	}
}
