package view

import (
	"encoding/json"

	"github.com/tillwright/tillwright/gen/api"
	"github.com/tillwright/tillwright/store/outbox"
)

// WebhookEvent renders an event with the data that it was sent with, byte for byte.
func WebhookEvent(e *outbox.Event) api.WebhookEvent {
	var sent struct {
		APIVersion string          `json:"api_version"`
		Data       json.RawMessage `json:"data"`
	}
	if err := json.Unmarshal([]byte(e.Body), &sent); err != nil {
		panic("view: the body of " + e.ID + " is not JSON: " + err.Error())
	}
	var status *outbox.DeliveryState
	if e.Status != "" {
		status = &e.Status
	}
	return api.WebhookEvent{
		ID:         e.ID,
		Object:     "webhook_event",
		Type:       e.Type,
		APIVersion: sent.APIVersion,
		Status:     enum[api.WebhookEventStatus](status),
		CreatedAt:  at(e.CreatedAt),
		ExpiresAt:  atOrNull(e.ExpiresAt),
		Data:       sent.Data,
	}
}

// ListWebhookEvents returns the filters of a list of events.
func ListWebhookEvents(q api.ListWebhookEventsParams) outbox.ListEvents {
	return outbox.ListEvents{
		Page:       Page(q.Limit, q.StartingAfter, q.EndingBefore),
		ListFilter: Filter(q.CreatedAfter, q.CreatedBefore, nil, nil),
		Type:       value(q.Type),
	}
}
