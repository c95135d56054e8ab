package sandbox

import (
	"strings"

	"github.com/tillwright/tillwright/store/advert"
)

// word returns the network's word for the state of a thing.
func word(p advert.Platform, t *thing, status advert.Status) string {
	switch p {
	case advert.PlatformFacebook, advert.PlatformInstagram:
		return metaWord(t, status)
	case advert.PlatformTikTok:
		return tiktokWord(t, status)
	case advert.PlatformPinterest:
		if status == advert.StatusActive && t.Kind == advert.LevelAd {
			return "APPROVED"
		}
	}
	return words[p][status]
}

// words are the words of the networks that have one word for each state. They are never changed.
var words = map[advert.Platform]map[advert.Status]string{
	advert.PlatformLinkedIn: { // servingStatuses
		advert.StatusActive: "RUNNABLE", advert.StatusPaused: "PAUSED", advert.StatusPendingReview: "PENDING", advert.StatusRejected: "REJECTED",
		advert.StatusCompleted: "COMPLETED", advert.StatusCancelled: "REMOVED", advert.StatusError: "STOPPED",
	},
	advert.PlatformPinterest: { // summary_status
		advert.StatusActive: "RUNNING", advert.StatusPaused: "PAUSED", advert.StatusPendingReview: "PENDING", advert.StatusRejected: "REJECTED",
		advert.StatusCompleted: "COMPLETED", advert.StatusCancelled: "ARCHIVED", advert.StatusError: "ADVERTISER_DISABLED",
	},
	advert.PlatformGoogle: { // primary_status
		advert.StatusActive: "ELIGIBLE", advert.StatusPaused: "PAUSED", advert.StatusPendingReview: "PENDING", advert.StatusRejected: "DISAPPROVED",
		advert.StatusCompleted: "ENDED", advert.StatusCancelled: "REMOVED", advert.StatusError: "NOT_ELIGIBLE",
	},
	advert.PlatformTwitter: { // entity_status, or what stands in its way
		advert.StatusActive: "ACTIVE", advert.StatusPaused: "PAUSED", advert.StatusPendingReview: "UNDER_REVIEW", advert.StatusRejected: "REJECTED",
		advert.StatusCompleted: "EXPIRED", advert.StatusCancelled: "DELETED", advert.StatusError: "FUNDING_PROBLEM",
	},
}

// metaWord returns an effective_status. Meta calls even what has ended ACTIVE, so whoever reads it must look at the end.
func metaWord(t *thing, status advert.Status) string {
	switch status {
	case advert.StatusPaused:
		switch offLevel(t) {
		case advert.LevelCampaign:
			return "CAMPAIGN_PAUSED"
		case advert.LevelGroup:
			return "ADSET_PAUSED"
		}
		return "PAUSED"
	case advert.StatusPendingReview:
		return "PENDING_REVIEW"
	case advert.StatusRejected:
		return "DISAPPROVED"
	case advert.StatusCancelled:
		return "DELETED"
	case advert.StatusError:
		return "PENDING_BILLING_INFO"
	case advert.StatusActive, advert.StatusCompleted:
	}
	return "ACTIVE"
}

// offLevel returns the level above a thing at which it was switched off, or "" if its own switch is off or nothing above
// it is.
func offLevel(t *thing) advert.Level {
	switch {
	case t.Off || t.parent == nil || !t.isOff():
		return ""
	case t.parent.Off:
		return t.parent.Kind
	}
	return offLevel(t.parent)
}

// tiktokWord returns a secondary_status.
func tiktokWord(t *thing, status advert.Status) string {
	if status == advert.StatusError {
		return "STATUS_NOT_DELIVERY"
	}
	switch t.Kind {
	case advert.LevelCampaign:
		return tiktokCampaignWord(status)
	case advert.LevelGroup:
		return "ADGROUP_STATUS_" + tiktokSuffix(t, status, "TIME_DONE")
	default:
		return "AD_STATUS_" + tiktokSuffix(t, status, "DONE")
	}
}

// tiktokCampaignWord returns a secondary_status of a campaign, for which there are only a few words.
func tiktokCampaignWord(status advert.Status) string {
	switch status {
	case advert.StatusPaused:
		return "CAMPAIGN_STATUS_DISABLE"
	case advert.StatusCancelled:
		return "CAMPAIGN_STATUS_DELETE"
	case advert.StatusCompleted:
		return "STATUS_TIME_DONE"
	case advert.StatusActive, advert.StatusPendingReview, advert.StatusRejected, advert.StatusError:
	}
	return "CAMPAIGN_STATUS_ENABLE"
}

// tiktokSuffix returns the end of a secondary_status of an ad group or ad. done is the word for completed.
func tiktokSuffix(t *thing, status advert.Status, done string) string {
	switch status {
	case advert.StatusPaused:
		if level := offLevel(t); level != "" {
			return strings.ReplaceAll(strings.ToUpper(string(level)), "_", "") + "_DISABLE"
		}
		return "DISABLE"
	case advert.StatusPendingReview:
		return "AUDIT"
	case advert.StatusRejected:
		return "AUDIT_DENY"
	case advert.StatusCompleted:
		return done
	case advert.StatusCancelled:
		return "DELETE"
	case advert.StatusActive, advert.StatusError:
	}
	return "DELIVERY_OK"
}

// optimization returns what the ads of a goal are optimised for.
func optimization(goal advert.Goal) string {
	switch goal {
	case advert.GoalTraffic:
		return "LINK_CLICKS"
	case advert.GoalEngagement:
		return "POST_ENGAGEMENT"
	case advert.GoalAwareness:
		return "REACH"
	case advert.GoalVideoViews:
		return "VIDEO_VIEWS"
	case advert.GoalLeadGeneration, advert.GoalLeadConversion, advert.GoalJobApplicants:
		return "LEADS"
	case advert.GoalAppPromotion:
		return "APP_INSTALLS"
	default:
		return "CONVERSIONS"
	}
}
