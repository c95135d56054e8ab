package webhooks

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/webhooks/signature"
)

func TestDispatcher_WritesToChatServicesOneAfterTheOther(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		for format, want := range map[store.WebhookFormat]struct {
			gap time.Duration
			key string
		}{store.WebhookFormatSlack: {time.Second, `"blocks"`}, store.WebhookFormatDiscord: {2 * time.Second, `"allowed_mentions"`}} {
			in := newInbox(t, nil)
			e, err := w.CreateWebhookEndpoint(t.Context(), w.account, store.WebhookEndpoint{URL: in.URL, Format: format})
			require.NoError(t, err)
			w.product("Ada's <!channel> @everyone Handbook")
			w.product("Another")
			began := time.Now()
			stop := w.dispatch(w.Store)
			posts := in.wait(t, 2)
			stop()
			require.GreaterOrEqual(t, posts[1].at.Sub(began), want.gap) // the first may have been looked at late
			for _, post := range posts {
				require.True(t, json.Valid([]byte(post.body)))
				require.Contains(t, post.body, want.key)
				require.NotContains(t, post.body, `"api_version"`)
				require.True(t, signature.Verify([]byte(post.body), e.Secret, post.header.Get("X-Service-Hmac-SHA256")))
				require.Empty(t, post.header.Get("webhook-signature"))
			}
			_, err = w.DeleteWebhookEndpoint(t.Context(), w.account, e.ID)
			require.NoError(t, err)
		}
	})
}
