package sandbox

import (
	"strings"

	"github.com/tillwright/tillwright/store"
)

// word returns the network's word for the state of a thing.
func word(p store.Platform, t *thing, status store.AdStatus) string {
	switch p {
	case store.PlatformFacebook, store.PlatformInstagram:
		return metaWord(t, status)
	case store.PlatformTikTok:
		return tiktokWord(t, status)
	case store.PlatformPinterest:
		if status == store.AdStatusActive && t.Kind == store.AdLevelAd {
			return "APPROVED"
		}
	}
	return words[p][status]
}

// words are the words of the networks that have one word for each state. They are never changed.
var words = map[store.Platform]map[store.AdStatus]string{
	store.PlatformLinkedIn: { // servingStatuses
		store.AdStatusActive: "RUNNABLE", store.AdStatusPaused: "PAUSED", store.AdStatusPendingReview: "PENDING", store.AdStatusRejected: "REJECTED",
		store.AdStatusCompleted: "COMPLETED", store.AdStatusCancelled: "REMOVED", store.AdStatusError: "STOPPED",
	},
	store.PlatformPinterest: { // summary_status
		store.AdStatusActive: "RUNNING", store.AdStatusPaused: "PAUSED", store.AdStatusPendingReview: "PENDING", store.AdStatusRejected: "REJECTED",
		store.AdStatusCompleted: "COMPLETED", store.AdStatusCancelled: "ARCHIVED", store.AdStatusError: "ADVERTISER_DISABLED",
	},
	store.PlatformGoogle: { // primary_status
		store.AdStatusActive: "ELIGIBLE", store.AdStatusPaused: "PAUSED", store.AdStatusPendingReview: "PENDING", store.AdStatusRejected: "DISAPPROVED",
		store.AdStatusCompleted: "ENDED", store.AdStatusCancelled: "REMOVED", store.AdStatusError: "NOT_ELIGIBLE",
	},
	store.PlatformTwitter: { // entity_status, or what stands in its way
		store.AdStatusActive: "ACTIVE", store.AdStatusPaused: "PAUSED", store.AdStatusPendingReview: "UNDER_REVIEW", store.AdStatusRejected: "REJECTED",
		store.AdStatusCompleted: "EXPIRED", store.AdStatusCancelled: "DELETED", store.AdStatusError: "FUNDING_PROBLEM",
	},
}

// metaWord returns an effective_status. Meta calls even what has ended ACTIVE, so whoever reads it must look at the end.
func metaWord(t *thing, status store.AdStatus) string {
	switch status {
	case store.AdStatusPaused:
		switch offLevel(t) {
		case store.AdLevelCampaign:
			return "CAMPAIGN_PAUSED"
		case store.AdLevelGroup:
			return "ADSET_PAUSED"
		}
		return "PAUSED"
	case store.AdStatusPendingReview:
		return "PENDING_REVIEW"
	case store.AdStatusRejected:
		return "DISAPPROVED"
	case store.AdStatusCancelled:
		return "DELETED"
	case store.AdStatusError:
		return "PENDING_BILLING_INFO"
	case store.AdStatusActive, store.AdStatusCompleted:
	}
	return "ACTIVE"
}

// offLevel returns the level above a thing at which it was switched off, or "" if its own switch is off or nothing above
// it is.
func offLevel(t *thing) store.AdLevel {
	switch {
	case t.Off || t.parent == nil || !t.isOff():
		return ""
	case t.parent.Off:
		return t.parent.Kind
	}
	return offLevel(t.parent)
}

// tiktokWord returns a secondary_status.
func tiktokWord(t *thing, status store.AdStatus) string {
	if status == store.AdStatusError {
		return "STATUS_NOT_DELIVERY"
	}
	switch t.Kind {
	case store.AdLevelCampaign:
		return tiktokCampaignWord(status)
	case store.AdLevelGroup:
		return "ADGROUP_STATUS_" + tiktokSuffix(t, status, "TIME_DONE")
	default:
		return "AD_STATUS_" + tiktokSuffix(t, status, "DONE")
	}
}

// tiktokCampaignWord returns a secondary_status of a campaign, for which there are only a few words.
func tiktokCampaignWord(status store.AdStatus) string {
	switch status {
	case store.AdStatusPaused:
		return "CAMPAIGN_STATUS_DISABLE"
	case store.AdStatusCancelled:
		return "CAMPAIGN_STATUS_DELETE"
	case store.AdStatusCompleted:
		return "STATUS_TIME_DONE"
	case store.AdStatusActive, store.AdStatusPendingReview, store.AdStatusRejected, store.AdStatusError:
	}
	return "CAMPAIGN_STATUS_ENABLE"
}

// tiktokSuffix returns the end of a secondary_status of an ad group or ad. done is the word for completed.
func tiktokSuffix(t *thing, status store.AdStatus, done string) string {
	switch status {
	case store.AdStatusPaused:
		if level := offLevel(t); level != "" {
			return strings.ReplaceAll(strings.ToUpper(string(level)), "_", "") + "_DISABLE"
		}
		return "DISABLE"
	case store.AdStatusPendingReview:
		return "AUDIT"
	case store.AdStatusRejected:
		return "AUDIT_DENY"
	case store.AdStatusCompleted:
		return done
	case store.AdStatusCancelled:
		return "DELETE"
	case store.AdStatusActive, store.AdStatusError:
	}
	return "DELIVERY_OK"
}

// optimization returns what the ads of a goal are optimised for.
func optimization(goal store.AdGoal) string {
	switch goal {
	case store.AdGoalTraffic:
		return "LINK_CLICKS"
	case store.AdGoalEngagement:
		return "POST_ENGAGEMENT"
	case store.AdGoalAwareness:
		return "REACH"
	case store.AdGoalVideoViews:
		return "VIDEO_VIEWS"
	case store.AdGoalLeadGeneration, store.AdGoalLeadConversion, store.AdGoalJobApplicants:
		return "LEADS"
	case store.AdGoalAppPromotion:
		return "APP_INSTALLS"
	default:
		return "CONVERSIONS"
	}
}
