package outbox

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/dbtest"
)

func TestCreateWebhookEndpoint_CapHoldsInParallel(t *testing.T) {
	eachOutbox(t, func(t *testing.T, s *outbox) {
		var made atomic.Int32
		var wg sync.WaitGroup
		for range 6 {
			wg.Go(func() {
				for range 10 {
					_, err := s.CreateWebhookEndpoint(context.Background(), s.account, WebhookEndpoint{URL: "https://example.com/"})
					if err == nil {
						made.Add(1)
					}
				}
			})
		}
		wg.Wait()
		require.Equal(t, int32(maxWebhookEndpoints), made.Load())
		_, err := s.CreateWebhookEndpoint(t.Context(), s.account, WebhookEndpoint{URL: "https://example.com/"})
		dbtest.RequireInvalid(t, err, "base")
	})
}

func TestGetWebhookEndpoint_OfAnotherAccountIsMissing(t *testing.T) {
	eachOutbox(t, func(t *testing.T, s *outbox) {
		e, err := s.CreateWebhookEndpoint(t.Context(), s.account, WebhookEndpoint{URL: "https://example.com/"})
		require.NoError(t, err)
		for _, ref := range []string{e.ID, core.NewID(core.KindWebhookEndpoint), "prod_" + e.ID[3:], e.ID[3:], ""} {
			_, err := s.GetWebhookEndpoint(t.Context(), core.NewID(core.KindAccount), ref)
			dbtest.RequireCode(t, err, core.CodeMissing)
		}
	})
}

func TestEnabledEvents_AreNormalized(t *testing.T) {
	eachOutbox(t, func(t *testing.T, s *outbox) {
		events := core.JSONOf([]string{EventProductUpdated, EventProductCreated, EventProductUpdated})
		e, err := s.CreateWebhookEndpoint(t.Context(), s.account, WebhookEndpoint{URL: "https://example.com/", EnabledEvents: events})
		require.NoError(t, err)
		require.Equal(t, []string{EventProductUpdated, EventProductCreated}, e.EnabledEvents.V)
		e, err = s.UpdateWebhookEndpoint(t.Context(), s.account, e.ID, func(e *WebhookEndpoint) { e.EnabledEvents.V = []string{EventProductCreated, EventAll} })
		require.NoError(t, err)
		require.Equal(t, []string{EventAll}, e.EnabledEvents.V)
		_, err = s.UpdateWebhookEndpoint(t.Context(), s.account, e.ID, func(e *WebhookEndpoint) { e.EnabledEvents.V = []string{EventAll, "order.eaten"} })
		dbtest.RequireInvalid(t, err, "enabled_events")
	})
}
