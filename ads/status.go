package ads

import (
	"strings"

	"github.com/tillwright/tillwright/store"
)

// StatusOf returns the state of delivery that a network's word stands for. An unknown word is the state error: what we
// do not understand must not look as if it were delivered well, nor as if it cost nothing.
func StatusOf(p store.Platform, raw string) store.AdStatus {
	if status, ok := statusWords(p)[raw]; ok {
		return status
	}
	if p == store.PlatformLinkedIn {
		return heldStatus(raw)
	}
	return store.AdStatusError
}

// ReviewOf returns the state of review that follows from a state of delivery, for networks that do not report the review
// by itself.
func ReviewOf(status store.AdStatus) store.AdReview {
	switch status {
	case store.AdStatusPendingReview:
		return store.AdReviewInReview
	case store.AdStatusRejected:
		return store.AdReviewRejected
	case store.AdStatusError:
		return store.AdReviewWithIssues
	case store.AdStatusActive, store.AdStatusPaused, store.AdStatusCompleted, store.AdStatusCancelled:
	}
	return store.AdReviewApproved
}

// Configured returns whether a switch is on, from the network's word. Every word but its word for on means off.
func (c Caps) Configured(raw string) store.AdConfigured {
	if raw == c.Switch.Active {
		return store.AdConfiguredActive
	}
	return store.AdConfiguredPaused
}

// SwitchWord returns the network's word for a switch that is on or off.
func (c Caps) SwitchWord(configured store.AdConfigured) string {
	if configured == store.AdConfiguredActive {
		return c.Switch.Active
	}
	return c.Switch.Paused
}

// heldStatus returns the state of delivery for LinkedIn's words that end in _HOLD. There is one for each reason why
// something is held, such as CAMPAIGN_GROUP_END_DATE_HOLD.
func heldStatus(raw string) store.AdStatus {
	switch {
	case strings.HasSuffix(raw, "_END_DATE_HOLD"), strings.HasSuffix(raw, "_TOTAL_BUDGET_HOLD"):
		return store.AdStatusCompleted
	case strings.HasSuffix(raw, "_HOLD"):
		return store.AdStatusPaused
	default:
		return store.AdStatusError
	}
}

// statusWords returns the states of delivery by a network's words for them.
func statusWords(p store.Platform) map[string]store.AdStatus {
	switch p {
	case store.PlatformFacebook, store.PlatformInstagram:
		return metaStatuses
	case store.PlatformTikTok:
		return tiktokStatuses
	case store.PlatformLinkedIn:
		return linkedInStatuses
	case store.PlatformPinterest:
		return pinterestStatuses
	case store.PlatformGoogle:
		return googleStatuses
	case store.PlatformTwitter:
		return twitterStatuses
	}
	return nil
}

// What each network calls the states of delivery. These are constants.
var (
	metaStatuses = map[string]store.AdStatus{ // effective_status
		"ACTIVE": store.AdStatusActive,
		"PAUSED": store.AdStatusPaused, "CAMPAIGN_PAUSED": store.AdStatusPaused, "ADSET_PAUSED": store.AdStatusPaused,
		"PENDING_REVIEW": store.AdStatusPendingReview, "IN_PROCESS": store.AdStatusPendingReview, "PREAPPROVED": store.AdStatusPendingReview,
		"DISAPPROVED": store.AdStatusRejected,
		"ARCHIVED":    store.AdStatusCancelled, "DELETED": store.AdStatusCancelled,
		"WITH_ISSUES": store.AdStatusError, "PENDING_BILLING_INFO": store.AdStatusError,
	}
	tiktokStatuses = map[string]store.AdStatus{ // operation_status, primary_status, secondary_status
		"ENABLE": store.AdStatusActive, "STATUS_DELIVERY_OK": store.AdStatusActive, "CAMPAIGN_STATUS_ENABLE": store.AdStatusActive,
		"ADGROUP_STATUS_DELIVERY_OK": store.AdStatusActive, "AD_STATUS_DELIVERY_OK": store.AdStatusActive,
		"DISABLE": store.AdStatusPaused, "FROZEN": store.AdStatusPaused, "STATUS_DISABLE": store.AdStatusPaused, "STATUS_FROZEN": store.AdStatusPaused,
		"CAMPAIGN_STATUS_DISABLE": store.AdStatusPaused, "ADGROUP_STATUS_DISABLE": store.AdStatusPaused,
		"ADGROUP_STATUS_CAMPAIGN_DISABLE": store.AdStatusPaused, "AD_STATUS_DISABLE": store.AdStatusPaused,
		"AD_STATUS_ADGROUP_DISABLE": store.AdStatusPaused, "AD_STATUS_CAMPAIGN_DISABLE": store.AdStatusPaused,
		"ADGROUP_STATUS_NOT_START": store.AdStatusPendingReview, "ADGROUP_STATUS_AUDIT": store.AdStatusPendingReview,
		"ADGROUP_STATUS_REAUDIT": store.AdStatusPendingReview, "AD_STATUS_AUDIT": store.AdStatusPendingReview, "AD_STATUS_REAUDIT": store.AdStatusPendingReview,
		"ADGROUP_STATUS_AUDIT_DENY": store.AdStatusRejected, "AD_STATUS_AUDIT_DENY": store.AdStatusRejected,
		"STATUS_TIME_DONE": store.AdStatusCompleted, "ADGROUP_STATUS_TIME_DONE": store.AdStatusCompleted, "AD_STATUS_DONE": store.AdStatusCompleted,
		"DELETE": store.AdStatusCancelled, "STATUS_DELETE": store.AdStatusCancelled, "CAMPAIGN_STATUS_DELETE": store.AdStatusCancelled,
		"ADGROUP_STATUS_DELETE": store.AdStatusCancelled, "AD_STATUS_DELETE": store.AdStatusCancelled,
		"STATUS_NOT_DELIVERY": store.AdStatusError,
	}
	linkedInStatuses = map[string]store.AdStatus{ // status, servingStatuses; heldStatus reads the rest
		"ACTIVE": store.AdStatusActive, "RUNNABLE": store.AdStatusActive,
		"PAUSED": store.AdStatusPaused, "DRAFT": store.AdStatusPaused,
		"PENDING": store.AdStatusPendingReview, "REJECTED": store.AdStatusRejected, "COMPLETED": store.AdStatusCompleted,
		"ARCHIVED": store.AdStatusCancelled, "CANCELED": store.AdStatusCancelled, "PENDING_DELETION": store.AdStatusCancelled, "REMOVED": store.AdStatusCancelled,
	}
	pinterestStatuses = map[string]store.AdStatus{ // status, summary_status
		"ACTIVE": store.AdStatusActive, "RUNNING": store.AdStatusActive, "APPROVED": store.AdStatusActive,
		"PAUSED": store.AdStatusPaused, "DRAFT": store.AdStatusPaused,
		"NOT_STARTED": store.AdStatusPendingReview, "PENDING": store.AdStatusPendingReview,
		"REJECTED": store.AdStatusRejected, "COMPLETED": store.AdStatusCompleted,
		"ARCHIVED": store.AdStatusCancelled, "DELETED_DRAFT": store.AdStatusCancelled,
		"ADVERTISER_DISABLED": store.AdStatusError,
	}
	googleStatuses = map[string]store.AdStatus{ // status, primary_status
		"ENABLED": store.AdStatusActive, "ELIGIBLE": store.AdStatusActive, "LIMITED": store.AdStatusActive, "LEARNING": store.AdStatusActive,
		"PAUSED": store.AdStatusPaused, "PENDING": store.AdStatusPendingReview, "ENDED": store.AdStatusCompleted,
		"DISAPPROVED": store.AdStatusRejected, "REMOVED": store.AdStatusCancelled,
		"MISCONFIGURED": store.AdStatusError, "NOT_ELIGIBLE": store.AdStatusError,
	}
	twitterStatuses = map[string]store.AdStatus{ // entity_status, approval_status, reasons_not_servable
		"ACTIVE": store.AdStatusActive, "RUNNING": store.AdStatusActive, "ACCEPTED": store.AdStatusActive,
		"PAUSED": store.AdStatusPaused, "PAUSED_BY_ADVERTISER": store.AdStatusPaused, "DRAFT": store.AdStatusPaused,
		"UNDER_REVIEW": store.AdStatusPendingReview, "REJECTED": store.AdStatusRejected, "EXPIRED": store.AdStatusCompleted,
		"DELETED": store.AdStatusCancelled, "FUNDING_PROBLEM": store.AdStatusError,
	}
)
