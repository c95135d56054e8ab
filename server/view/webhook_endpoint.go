package view

import (
	"github.com/tillwright/tillwright/gen/api"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/outbox"
)

// WebhookEndpoint renders a webhook endpoint as it is now, with its secret only when the store has just made it.
func WebhookEndpoint(e *outbox.WebhookEndpoint, now core.Time) api.WebhookEndpoint {
	return api.WebhookEndpoint{
		ID:            e.ID,
		Object:        "webhook_endpoint",
		URL:           e.URL,
		Secret:        textOrNil(e.Secret),
		APIVersion:    e.APIVersion,
		Status:        api.WebhookEndpointStatus(e.Status),
		Format:        api.WebhookFormat(e.Format),
		EnabledEvents: list(e.EnabledEvents.V),
		Description:   e.Description,
		Metadata:      api.Metadata(e.Metadata.Text()),

		PreviousSecretExpiresAt: atOrNull(e.PreviousSecretAt(now)),
		ConsecutiveFailures:     int64(e.ConsecutiveFailures),
		FailingSince:            atOrNull(e.FailingSince),

		CreatedAt: at(e.CreatedAt),
		UpdatedAt: at(e.UpdatedAt),
	}
}

// ListWebhookEndpoints reads the query of a list.
func ListWebhookEndpoints(q api.ListWebhookEndpointsParams) outbox.ListWebhookEndpoints {
	return outbox.ListWebhookEndpoints{
		Page:       Page(q.Limit, q.StartingAfter, q.EndingBefore),
		ListFilter: Filter(q.CreatedAfter, q.CreatedBefore, q.Q, q.Metadata),
		Status:     outbox.WebhookEndpointStatus(value(q.Status)),
	}
}

// NewWebhookEndpoint reads the body of a create.
func NewWebhookEndpoint(b *api.WebhookEndpointCreate) outbox.WebhookEndpoint {
	return outbox.WebhookEndpoint{
		URL:           b.URL,
		EnabledEvents: core.JSONOf(b.EnabledEvents),
		Status:        outbox.WebhookEndpointStatus(value(b.Status)),
		Format:        outbox.WebhookFormat(value(b.Format)),
		Description:   b.Description,
		Metadata:      metadata(b.Metadata),
	}
}

// WebhookEndpointChange reads the body of a PATCH.
func WebhookEndpointChange(b *api.WebhookEndpointUpdate) func(*outbox.WebhookEndpoint) {
	return func(e *outbox.WebhookEndpoint) {
		set(&e.URL, b.URL)
		setAs(&e.Status, b.Status)
		setAs(&e.Format, b.Format)
		setOrClear(&e.Description, b.Description)
		setMetadata(&e.Metadata, b.Metadata)
		if b.EnabledEvents != nil {
			e.EnabledEvents.V = b.EnabledEvents
		}
	}
}
