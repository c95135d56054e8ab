package sandbox

import (
	"strings"

	"github.com/tillwright/tillwright/store"
)

// word is what a network calls the state of a thing.
func word(p store.Platform, t *thing, status store.AdStatus) string {
	switch p {
	case store.PlatformFacebook, store.PlatformInstagram:
		return metaWord(t, status)
	case store.PlatformTikTok:
		return tiktokWord(t, status)
	case store.PlatformLinkedIn:
		return linkedInWord(status)
	case store.PlatformPinterest:
		return pinterestWord(t, status)
	case store.PlatformGoogle:
		return googleWord(status)
	default:
		return twitterWord(status)
	}
}

// metaWord is an effective_status. Meta calls what has ended ACTIVE: whoever reads it has to look at the clock.
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
	}
	return "ACTIVE"
}

// offLevel returns the level above a thing at which it is paused, "" if it is paused by its own switch or those below.
func offLevel(t *thing) store.AdLevel {
	switch {
	case t.Off || t.parent == nil || !t.isOff():
		return ""
	case t.parent.Off:
		return t.parent.Kind
	}
	return offLevel(t.parent)
}

// tiktokWord is a secondary_status.
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

// tiktokCampaignWord is one of the few words that there are for a campaign.
func tiktokCampaignWord(status store.AdStatus) string {
	switch status {
	case store.AdStatusPaused:
		return "CAMPAIGN_STATUS_DISABLE"
	case store.AdStatusCancelled:
		return "CAMPAIGN_STATUS_DELETE"
	case store.AdStatusCompleted:
		return "STATUS_TIME_DONE"
	}
	return "CAMPAIGN_STATUS_ENABLE"
}

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
	}
	return "DELIVERY_OK"
}

// linkedInWord is one of the servingStatuses.
func linkedInWord(status store.AdStatus) string {
	switch status {
	case store.AdStatusPaused:
		return "PAUSED"
	case store.AdStatusPendingReview:
		return "PENDING"
	case store.AdStatusRejected:
		return "REJECTED"
	case store.AdStatusCompleted:
		return "COMPLETED"
	case store.AdStatusCancelled:
		return "REMOVED"
	case store.AdStatusError:
		return "STOPPED"
	}
	return "RUNNABLE"
}

// pinterestWord is a summary_status.
func pinterestWord(t *thing, status store.AdStatus) string {
	switch status {
	case store.AdStatusPaused:
		return "PAUSED"
	case store.AdStatusPendingReview:
		return "PENDING"
	case store.AdStatusRejected:
		return "REJECTED"
	case store.AdStatusCompleted:
		return "COMPLETED"
	case store.AdStatusCancelled:
		return "ARCHIVED"
	case store.AdStatusError:
		return "ADVERTISER_DISABLED"
	}
	if t.Kind == store.AdLevelAd {
		return "APPROVED"
	}
	return "RUNNING"
}

// googleWord is a primary_status.
func googleWord(status store.AdStatus) string {
	switch status {
	case store.AdStatusPaused:
		return "PAUSED"
	case store.AdStatusPendingReview:
		return "PENDING"
	case store.AdStatusRejected:
		return "DISAPPROVED"
	case store.AdStatusCompleted:
		return "ENDED"
	case store.AdStatusCancelled:
		return "REMOVED"
	case store.AdStatusError:
		return "NOT_ELIGIBLE"
	}
	return "ELIGIBLE"
}

// twitterWord is an entity_status, or what stands in its way.
func twitterWord(status store.AdStatus) string {
	switch status {
	case store.AdStatusPaused:
		return "PAUSED"
	case store.AdStatusPendingReview:
		return "UNDER_REVIEW"
	case store.AdStatusRejected:
		return "REJECTED"
	case store.AdStatusCompleted:
		return "EXPIRED"
	case store.AdStatusCancelled:
		return "DELETED"
	case store.AdStatusError:
		return "FUNDING_PROBLEM"
	}
	return "ACTIVE"
}

// optimization is what ads of a goal are optimised for.
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
