package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/tests/harness"
	"github.com/tillwright/tillwright/tests/harness/database"
)

// runTrigger runs the command and returns what it prints and what it says on failure.
func (s *shop) runTrigger(t *testing.T, args ...string) (string, string) {
	t.Helper()
	args = append([]string{"trigger", "--api-url", s.url, "--api-key", s.account.Key}, args...)
	out, err := tillwright(t, t.TempDir(), args...)
	if err != nil {
		return out, explain(err)
	}
	return out, ""
}

func TestTrigger_SendsToWhoeverIsSubscribed(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		s := newShop(t, url)
		failing := httptest.NewServer(http.NotFoundHandler())
		t.Cleanup(failing.Close)
		register := func(url string, status sdk.WebhookEndpointStatus, events ...string) *sdk.WebhookEndpoint {
			e, err := s.WebhookEndpoints.Create(t.Context(), &sdk.WebhookEndpointCreate{URL: url, Status: &status, EnabledEvents: events})
			require.NoError(t, err)
			return e
		}
		other := harness.NewReceiver(t)
		register(other.URL, sdk.WebhookEndpointStatusActive, sdk.EventProductCreated)
		inactive := register(other.URL, sdk.WebhookEndpointStatusInactive, "*")
		_, failure := s.runTrigger(t, sdk.EventOrderPaid)
		require.Equal(t, "no active endpoint is subscribed to order.paid: register one, or start `tillwright listen`", failure)

		good := register(s.Hooks.URL, sdk.WebhookEndpointStatusActive, sdk.EventOrderPaid)
		out, failure := s.runTrigger(t, sdk.EventOrderPaid)
		require.Empty(t, failure)
		require.Regexp(t, good.ID+` +yes +200 +\d+ ms +- +http://127`, out)
		came := s.Hooks.Await(t, 1, sdk.EventOrderPaid)[0]
		event, err := sdk.VerifyWebhook(came.Body, came.Header, *good.Secret)
		require.NoError(t, err)
		require.True(t, event.Test)

		bad := register(failing.URL, sdk.WebhookEndpointStatusActive)
		out, failure = s.runTrigger(t, sdk.EventOrderPaid)
		require.Equal(t, "1 of 2 not delivered", failure)
		require.Regexp(t, bad.ID+` +no +404 +\d+ ms +http_status`, out)
		require.Regexp(t, good.ID+` +yes +200`, out)

		out, failure = s.runTrigger(t, sdk.EventOrderPaid, "--endpoint", good.ID)
		require.Empty(t, failure)
		require.NotContains(t, out, bad.ID)
		out, failure = s.runTrigger(t, sdk.EventOrderPaid, "--endpoint", inactive.ID)
		require.Equal(t, "1 of 1 not delivered", failure)
		require.Regexp(t, inactive.ID+` +no +- +0 ms +.*active`, out)
		require.Empty(t, other.Deliveries())
	})
}

func TestTrigger_PrintsJSON(t *testing.T) {
	t.Parallel()
	s := newShop(t, database.URL(t, "sqlite"))
	e, err := s.WebhookEndpoints.Create(t.Context(), &sdk.WebhookEndpointCreate{URL: s.Hooks.URL})
	require.NoError(t, err)
	out, failure := s.runTrigger(t, sdk.EventProductUpdated, "--json")
	require.Empty(t, failure)
	var list struct{ Data []map[string]any }
	require.NoError(t, json.Unmarshal([]byte(out), &list))
	require.Len(t, list.Data, 1)
	require.Subset(t, list.Data[0], map[string]any{
		"object": "webhook_test", "type": sdk.EventProductUpdated, "delivered": true, "status_code": 200.0, "webhook_endpoint": e.ID, "url": s.Hooks.URL,
	})
}

func TestTrigger_ReachesListen(t *testing.T) {
	t.Parallel()
	s := newShop(t, database.URL(t, "sqlite"))
	l := s.listen(t, listenOptions{})
	out, failure := s.runTrigger(t, sdk.EventCheckoutCreated)
	require.Empty(t, failure, out)
	l.sees(t, `--> checkout.created  whev_\w+  chk_\w+  test\n`)
}

func TestTrigger_SaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	s := newShop(t, database.URL(t, "sqlite"))
	_, failure := s.runTrigger(t, "order.lost")
	require.Contains(t, failure, `"order.lost" is not an event type. These are:`)
	require.Contains(t, failure, "\n  order.paid\n")
	_, failure = s.runTrigger(t, sdk.EventOrderPaid, "--endpoint", "we_none")
	require.Contains(t, failure, "No such webhook endpoint: 'we_none'.")
	_, failure = s.runTrigger(t, sdk.EventOrderPaid, "--api-key", "sk_other")
	require.Contains(t, failure, "does not know this API key")
	_, failure = s.runTrigger(t, sdk.EventOrderPaid, "--api-key", s.Key(t, s.account.Account, "orders:read"))
	require.Contains(t, failure, "needs the scopes webhooks:read and webhooks:write")
	_, err := tillwright(t, t.TempDir(), "trigger")
	require.ErrorContains(t, err, "accepts 1 arg")
}
