package ads

import (
	"strings"

	"github.com/tillwright/tillwright/store/advert"
)

// StatusOf returns the state of delivery that a network's word stands for. An unknown word is the state error. What we do
// not understand must not look as if it were delivered well, nor as if it cost nothing.
func StatusOf(p advert.Platform, raw string) advert.Status {
	if status, ok := statusWords(p)[raw]; ok {
		return status
	}
	if p == advert.PlatformLinkedIn {
		return heldStatus(raw)
	}
	return advert.StatusError
}

// ReviewOf returns the state of review that follows from a state of delivery, for networks that do not report the review
// by itself.
func ReviewOf(status advert.Status) advert.Review {
	switch status {
	case advert.StatusPendingReview:
		return advert.ReviewInReview
	case advert.StatusRejected:
		return advert.ReviewRejected
	case advert.StatusError:
		return advert.ReviewWithIssues
	case advert.StatusActive, advert.StatusPaused, advert.StatusCompleted, advert.StatusCancelled:
	}
	return advert.ReviewApproved
}

// Configured returns whether a switch is on, from the network's word. Every word but its word for on means off.
func (c Caps) Configured(raw string) advert.Configured {
	if raw == c.Switch.Active {
		return advert.ConfiguredActive
	}
	return advert.ConfiguredPaused
}

// SwitchWord returns the network's word for a switch that is on or off.
func (c Caps) SwitchWord(configured advert.Configured) string {
	if configured == advert.ConfiguredActive {
		return c.Switch.Active
	}
	return c.Switch.Paused
}

// heldStatus returns the state of delivery for LinkedIn's words that end in _HOLD. There is one for each reason why
// something is held, such as CAMPAIGN_GROUP_END_DATE_HOLD.
func heldStatus(raw string) advert.Status {
	switch {
	case strings.HasSuffix(raw, "_END_DATE_HOLD"), strings.HasSuffix(raw, "_TOTAL_BUDGET_HOLD"):
		return advert.StatusCompleted
	case strings.HasSuffix(raw, "_HOLD"):
		return advert.StatusPaused
	default:
		return advert.StatusError
	}
}

// statusWords returns the states of delivery by a network's words for them.
func statusWords(p advert.Platform) map[string]advert.Status {
	switch p {
	case advert.PlatformFacebook, advert.PlatformInstagram:
		return metaStatuses
	case advert.PlatformTikTok:
		return tiktokStatuses
	case advert.PlatformLinkedIn:
		return linkedInStatuses
	case advert.PlatformPinterest:
		return pinterestStatuses
	case advert.PlatformGoogle:
		return googleStatuses
	case advert.PlatformTwitter:
		return twitterStatuses
	}
	return nil
}

// What each network calls the states of delivery. These are constants.
var (
	metaStatuses = map[string]advert.Status{ // effective_status
		"ACTIVE": advert.StatusActive,
		"PAUSED": advert.StatusPaused, "CAMPAIGN_PAUSED": advert.StatusPaused, "ADSET_PAUSED": advert.StatusPaused,
		"PENDING_REVIEW": advert.StatusPendingReview, "IN_PROCESS": advert.StatusPendingReview, "PREAPPROVED": advert.StatusPendingReview,
		"DISAPPROVED": advert.StatusRejected,
		"ARCHIVED":    advert.StatusCancelled, "DELETED": advert.StatusCancelled,
		"WITH_ISSUES": advert.StatusError, "PENDING_BILLING_INFO": advert.StatusError,
	}
	tiktokStatuses = map[string]advert.Status{ // operation_status, primary_status, secondary_status
		"ENABLE": advert.StatusActive, "STATUS_DELIVERY_OK": advert.StatusActive, "CAMPAIGN_STATUS_ENABLE": advert.StatusActive,
		"ADGROUP_STATUS_DELIVERY_OK": advert.StatusActive, "ADGROUP_STATUS_PARTIAL_AUDIT_DELIVERY_OK": advert.StatusActive,
		"ADGROUP_STATUS_SHADOW_ADGROUP_REAUDIT": advert.StatusActive, "ADGROUP_STATUS_REVIEW_PARTIALLY_APPROVED": advert.StatusActive,
		"AD_STATUS_DELIVERY_OK": advert.StatusActive, "AD_STATUS_PARTIAL_AUDIT_DELIVERY_OK": advert.StatusActive, "AD_STATUS_REVIEW_PARTIALLY_APPROVED": advert.StatusActive,
		// A daily budget that is used up is there again the next day; of a lifetime budget the driver says that it is spent.
		"CAMPAIGN_STATUS_BUDGET_EXCEED": advert.StatusActive, "ADGROUP_STATUS_BUDGET_EXCEED": advert.StatusActive, "ADGROUP_STATUS_CAMPAIGN_EXCEED": advert.StatusActive,
		"AD_STATUS_BUDGET_EXCEED": advert.StatusActive, "AD_STATUS_CAMPAIGN_EXCEED": advert.StatusActive,
		"DISABLE": advert.StatusPaused, "FROZEN": advert.StatusPaused, "STATUS_DISABLE": advert.StatusPaused, "STATUS_FROZEN": advert.StatusPaused,
		"CAMPAIGN_STATUS_DISABLE": advert.StatusPaused, "CAMPAIGN_STATUS_AWAITING_RELEASE": advert.StatusPaused, "ADGROUP_STATUS_DISABLE": advert.StatusPaused,
		"ADGROUP_STATUS_CAMPAIGN_DISABLE": advert.StatusPaused, "ADGROUP_STATUS_FROZEN": advert.StatusPaused, "AD_STATUS_DISABLE": advert.StatusPaused,
		"AD_STATUS_ADGROUP_DISABLE": advert.StatusPaused, "AD_STATUS_CAMPAIGN_DISABLE": advert.StatusPaused,
		"ADGROUP_STATUS_NOT_START": advert.StatusPendingReview, "ADGROUP_STATUS_AUDIT": advert.StatusPendingReview,
		"ADGROUP_STATUS_REAUDIT": advert.StatusPendingReview, "ADGROUP_STATUS_PARTIAL_AUDIT_NO_DELIVERY": advert.StatusPendingReview,
		"AD_STATUS_AUDIT": advert.StatusPendingReview, "AD_STATUS_REAUDIT": advert.StatusPendingReview, "AD_STATUS_NOT_START": advert.StatusPendingReview,
		"AD_STATUS_PARTIAL_AUDIT_NO_DELIVERY": advert.StatusPendingReview, "AD_STATUS_ADGROUP_PARTIAL_AUDIT_NO_DELIVERY": advert.StatusPendingReview,
		"ADGROUP_STATUS_AUDIT_DENY": advert.StatusRejected, "AD_STATUS_AUDIT_DENY": advert.StatusRejected, "AD_STATUS_ADGROUP_AUDIT_DENY": advert.StatusRejected,
		"STATUS_TIME_DONE": advert.StatusCompleted, "ADGROUP_STATUS_TIME_DONE": advert.StatusCompleted, "AD_STATUS_DONE": advert.StatusCompleted,
		"DELETE": advert.StatusCancelled, "STATUS_DELETE": advert.StatusCancelled, "CAMPAIGN_STATUS_DELETE": advert.StatusCancelled,
		"ADGROUP_STATUS_DELETE": advert.StatusCancelled, "ADGROUP_STATUS_CAMPAIGN_DELETE": advert.StatusCancelled,
		"AD_STATUS_DELETE": advert.StatusCancelled, "AD_STATUS_ADGROUP_DELETE": advert.StatusCancelled, "AD_STATUS_CAMPAIGN_DELETE": advert.StatusCancelled,
		"STATUS_NOT_DELIVERY": advert.StatusError,
	}
	linkedInStatuses = map[string]advert.Status{ // status, servingStatuses; heldStatus reads the rest
		"ACTIVE": advert.StatusActive, "RUNNABLE": advert.StatusActive,
		"PAUSED": advert.StatusPaused, "DRAFT": advert.StatusPaused,
		"PENDING": advert.StatusPendingReview, "REJECTED": advert.StatusRejected, "COMPLETED": advert.StatusCompleted,
		"ARCHIVED": advert.StatusCancelled, "CANCELED": advert.StatusCancelled, "PENDING_DELETION": advert.StatusCancelled, "REMOVED": advert.StatusCancelled,
	}
	pinterestStatuses = map[string]advert.Status{ // status, summary_status
		"ACTIVE": advert.StatusActive, "RUNNING": advert.StatusActive, "APPROVED": advert.StatusActive,
		"PAUSED": advert.StatusPaused, "DRAFT": advert.StatusPaused,
		"NOT_STARTED": advert.StatusPendingReview, "PENDING": advert.StatusPendingReview,
		"REJECTED": advert.StatusRejected, "COMPLETED": advert.StatusCompleted,
		"ARCHIVED": advert.StatusCancelled, "DELETED_DRAFT": advert.StatusCancelled,
		"ADVERTISER_DISABLED": advert.StatusError,
	}
	googleStatuses = map[string]advert.Status{ // status, primary_status
		"ENABLED": advert.StatusActive, "ELIGIBLE": advert.StatusActive, "LIMITED": advert.StatusActive, "LEARNING": advert.StatusActive,
		"PAUSED": advert.StatusPaused, "PENDING": advert.StatusPendingReview, "ENDED": advert.StatusCompleted,
		"DISAPPROVED": advert.StatusRejected, "REMOVED": advert.StatusCancelled,
		"MISCONFIGURED": advert.StatusError, "NOT_ELIGIBLE": advert.StatusError,
	}
	twitterStatuses = map[string]advert.Status{ // entity_status, approval_status, reasons_not_servable
		"ACTIVE": advert.StatusActive, "RUNNING": advert.StatusActive, "ACCEPTED": advert.StatusActive,
		"PAUSED": advert.StatusPaused, "PAUSED_BY_ADVERTISER": advert.StatusPaused, "DRAFT": advert.StatusPaused,
		"UNDER_REVIEW": advert.StatusPendingReview, "REJECTED": advert.StatusRejected, "EXPIRED": advert.StatusCompleted,
		"DELETED": advert.StatusCancelled, "FUNDING_PROBLEM": advert.StatusError,
	}
)
