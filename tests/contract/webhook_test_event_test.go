package contract

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/tests/harness"
)

func TestTestWebhookEndpoint_SendsEveryTypeAndStoresNothing(t *testing.T) {
	onEachAlone(t, func(t *testing.T, c *sdk.Client, s *harness.Server) {
		types := ok[*sdk.EventTypeList](t)(c.WebhookEndpoints.ListEventTypes(background)).Data
		var endpoints []*sdk.WebhookEndpoint
		for range types {
			endpoints = append(endpoints, endpoint(t, c, s.Hooks.URL, sdk.EventOrderPaid))
		}
		before := counts(t, s)
		for i, kind := range types {
			answer := ok[*sdk.WebhookTest](t)(c.WebhookEndpoints.Test(background, endpoints[i].ID, &sdk.WebhookTestRequest{Type: &kind.Type}))
			assert.Equal(t, "webhook_test", answer.Object)
			assert.True(t, answer.Delivered)
			assert.Equal(t, kind.Type, answer.Type)
			assert.EqualValues(t, 200, *answer.StatusCode)
			require.Nil(t, answer.Reason)
			assert.LessOrEqual(t, answer.DurationMS, int64(5000))
			d := s.Hooks.Await(t, 1, kind.Type)[0]
			event := ok[*sdk.Event](t)(sdk.VerifyWebhook(d.Body, d.Header, *endpoints[i].Secret))
			var example struct{ Data json.RawMessage }
			if err := json.Unmarshal(kind.Example, &example); err != nil {
				t.Fatal(err)
			}
			assert.True(t, event.Test, "the test of %s is the event", kind.Type)
			assert.Equal(t, answer.Event, event.ID, "the test of %s is the event", kind.Type)
			assert.Equal(t, string(example.Data), string(event.Data), "the test of %s is the event", kind.Type)
			assert.True(t, strings.HasSuffix(string(d.Body), `,"test":true}`), "the test of %s is the event", kind.Type)
			if _, err := c.WebhookEvents.Get(background, event.ID); err == nil {
				t.Error("the event is kept")
			}
		}
		if after := counts(t, s); after != before {
			t.Errorf("rows before: %s\nafter: %s", before, after)
		}
	})
}

// counts returns how many rows each table has, but for those that every request is counted, written down or repeated by.
func counts(t *testing.T, s *harness.Server) string {
	t.Helper()
	rows := map[string]int{}
	for _, table := range s.Tables(t) {
		if table != "idempotency_keys" && !strings.HasPrefix(table, "rate_") && !strings.HasPrefix(table, "request") {
			rows[table] = s.Count(t, table)
		}
	}
	text, err := json.Marshal(rows)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestTestWebhookEndpoint_SaysWhatFailed(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		e := endpoint(t, c, newBroken(t).URL)
		answer := ok[*sdk.WebhookTest](t)(c.WebhookEndpoints.Test(background, e.ID, nil))
		assert.False(t, answer.Delivered, "the test")
		assert.Equal(t, sdk.EventOrderPaid, answer.Type, "the test")
		assert.EqualValues(t, 500, *answer.StatusCode, "the test")
		assert.Equal(t, sdk.WebhookDeliveryReasonHTTPStatus, *answer.Reason, "the test")
		assert.Equal(t, "out of order", *answer.Response, "the test")
		if e := ok[*sdk.WebhookEndpoint](t)(c.WebhookEndpoints.Get(background, e.ID)); e.ConsecutiveFailures != 0 {
			t.Error("a failed test counts as a failed delivery")
		}
		nobody := endpoint(t, c, "http://127.0.0.1:1/")
		answer = ok[*sdk.WebhookTest](t)(c.WebhookEndpoints.Test(background, nobody.ID, &sdk.WebhookTestRequest{}))
		assert.False(t, answer.Delivered, "the test of a port without a listener")
		require.Nil(t, answer.StatusCode, "the test of a port without a listener")
		assert.Equal(t, sdk.WebhookDeliveryReasonConnectRefused, *answer.Reason, "the test of a port without a listener")
		assert.Nil(t, answer.Response, "the test of a port without a listener")
	})
}

func TestTestWebhookEndpoint_Refuses(t *testing.T) {
	onEachAlone(t, func(t *testing.T, c *sdk.Client, s *harness.Server) {
		s.Clock.Stop() // which counts the tests of a minute
		e, other := endpoint(t, c, s.Hooks.URL), endpoint(t, c, s.Hooks.URL)
		for _, kind := range []string{"order.eaten", "*"} {
			_, err := c.WebhookEndpoints.Test(background, e.ID, &sdk.WebhookTestRequest{Type: &kind})
			if e := refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "type"); !strings.Contains(e.Message, "'"+kind+"'") {
				t.Errorf("the message does not name the type: %s", e.Message)
			}
		}
		for range 60 {
			ok[*sdk.WebhookTest](t)(c.WebhookEndpoints.Test(background, e.ID, &sdk.WebhookTestRequest{}))
		}
		_, err := c.WebhookEndpoints.Test(background, e.ID, &sdk.WebhookTestRequest{})
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "base")
		ok[*sdk.WebhookTest](t)(c.WebhookEndpoints.Test(background, other.ID, &sdk.WebhookTestRequest{}))
		ok[*sdk.WebhookEndpoint](t)(c.WebhookEndpoints.Update(background, other.ID, &sdk.WebhookEndpointUpdate{Status: new(sdk.WebhookEndpointStatusInactive)}))
		_, err = c.WebhookEndpoints.Test(background, other.ID, &sdk.WebhookTestRequest{})
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "status")
		if n := s.Hooks.Count(); n != 61 {
			t.Errorf("%d tests arrived", n)
		}
	})
}

// TestTestWebhookEndpoint_RepeatsUnderItsKey: whoever repeats the request is told what came of the one test there was.
func TestTestWebhookEndpoint_RepeatsUnderItsKey(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		hooks := harness.NewReceiver(t)
		e := endpoint(t, c, hooks.URL)
		_, err := c.WebhookEndpoints.Test(background, e.ID, &sdk.WebhookTestRequest{Type: new("order.eaten")}, sdk.WithIdempotencyKey("test"))
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "type")
		first := ok[*sdk.WebhookTest](t)(c.WebhookEndpoints.Test(background, e.ID, &sdk.WebhookTestRequest{}, sdk.WithIdempotencyKey("test")))
		again := ok[*sdk.WebhookTest](t)(c.WebhookEndpoints.Test(background, e.ID, &sdk.WebhookTestRequest{}, sdk.WithIdempotencyKey("test")))
		assert.Equal(t, again.Event, first.Event)
		assert.Equal(t, 1, hooks.Count())
	})
}
