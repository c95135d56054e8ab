package webhooks

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/sdk/signature"
	"github.com/tillwright/tillwright/store/outbox"
)

func TestDispatcher_WritesToChatServicesOneAfterTheOther(t *testing.T) {
	eachBubble(t, func(t *testing.T, w *world) {
		for format, want := range map[outbox.WebhookFormat]struct {
			gap time.Duration
			key string
		}{outbox.WebhookFormatSlack: {time.Second, `"blocks"`}, outbox.WebhookFormatDiscord: {2 * time.Second, `"allowed_mentions"`}} {
			in := &inbox{}
			e, err := w.Outbox.CreateWebhookEndpoint(t.Context(), w.account, outbox.WebhookEndpoint{URL: "http://chat.test", Format: format})
			require.NoError(t, err)
			w.product("Ada's <!channel> @everyone Handbook")
			w.product("Another")
			began := time.Now()
			stop := w.dispatchTo(in, w.Outbox)
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
			_, err = w.Outbox.DeleteWebhookEndpoint(t.Context(), w.account, e.ID)
			require.NoError(t, err)
		}
	})
}
