package handlers

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/tillwright/tillwright/gen/spec"
	"github.com/tillwright/tillwright/server/caller"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/outbox"
)

// eventScopes maps each type of event to the scopes that a key needs to read one, because events show other resources. It
// panics if the specification does not name them for a type.
var eventScopes = sync.OnceValue(func() map[string][]string {
	var document struct {
		Components struct {
			Schemas struct {
				WebhookEvent struct {
					Scopes map[string][]string `json:"x-type-scopes"`
				}
			} `json:"schemas"`
		} `json:"components"`
	}
	if err := json.Unmarshal(spec.JSON, &document); err != nil {
		panic(fmt.Sprintf("handlers: the API document: %v", err))
	}
	scopes := document.Components.Schemas.WebhookEvent.Scopes
	for _, t := range outbox.EventTypes() {
		if len(scopes[t.Type]) == 0 {
			panic("handlers: nothing says who may read " + t.Type)
		}
	}
	return scopes
})

// mayRead returns CodeForbidden unless the calling key may read events of all these types; "*" stands for every type. To have
// events sent somewhere needs the same scopes, because they can be read there.
func mayRead(ctx context.Context, types []string) error {
	scopes := eventScopes()
	if slices.Contains(types, outbox.EventAll) {
		types = slices.Sorted(maps.Keys(scopes))
	}
	for _, t := range types {
		for _, scope := range scopes[t] {
			if !caller.Of(ctx).May(scope) {
				return &core.Error{
					Code: core.CodeForbidden, Param: scope,
					Message: fmt.Sprintf("An event %s shows what an API key reads with the scope %s, which this one lacks.", t, scope),
				}
			}
		}
	}
	return nil
}
