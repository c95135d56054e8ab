package outbox

import (
	"fmt"
	"slices"
)

// EventAll in enabled_events subscribes an endpoint to every type, those of later releases included.
const EventAll = "*"

// EventType is one entry of the catalogue that integrators read.
type EventType struct{ Type, Description string }

// isEventType reports whether an endpoint may subscribe to name.
func isEventType(name string) bool {
	return name == EventAll || slices.ContainsFunc(EventTypes(), func(t EventType) bool { return t.Type == name })
}

// notAnEventType returns the message for a name that is no event type.
func notAnEventType(name string) string {
	return fmt.Sprintf("'%s' is not an event type: GET /v1/webhook_endpoints/events lists them.", name)
}
