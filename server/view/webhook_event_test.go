package view

import (
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/openapi/answer"
	"github.com/tillwright/tillwright/store/outbox"
)

// TestWebhookEvent_AnswersTheBytesThatWereSent, those that a decoder would change: order of keys, large numbers, escapes.
func TestWebhookEvent_AnswersTheBytesThatWereSent(t *testing.T) {
	t.Parallel()
	data := `{"z":12345678901234567890,"a":1.10,"text":"\u003cb\u003e \u2028 é","nested":{"y":[],"b":null}}`
	e := &outbox.Event{ID: "whev_" + sampleID, Type: outbox.EventOrderPaid, CreatedAt: sampleTime(), Status: outbox.DeliveryPending}
	e.Body = outbox.EventBody(e, []byte(data))
	w := httptest.NewRecorder()
	require.NoError(t, answer.JSON(w, 200, WebhookEvent(e)))
	require.Equal(t, `{"id":"`+e.ID+`","object":"webhook_event","type":"order.paid","api_version":"v1","status":"pending","created_at":"2026-11-21T09:30:00.000Z","expires_at":null,"data":`+data+"}\n",
		w.Body.String())
}
