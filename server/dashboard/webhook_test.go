package dashboard_test

import (
	"html"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/store/person"
	"github.com/tillwright/tillwright/tests/harness"
)

// endpoint makes an endpoint by the form, and returns its page and its secret.
func endpoint(t *testing.T, w *world, form url.Values) (page, secret string) {
	t.Helper()
	page = sends(t, w.owner, "/app/developers/webhooks/new", form)
	return page, html.UnescapeString(between(t, sees(t, w.owner, page, "Signing secret", "It is not shown again"), `class="key" value="`, `"`))
}

func TestWebhooks_AreMadeTriedAndChanged(t *testing.T) {
	t.Parallel()
	eachAlone(t, func(t *testing.T, w *world) {
		form := sees(t, w.owner, "/app/developers/webhooks/new", "Endpoint URL", "Orders", "order.paid", "incoming webhook", "Create endpoint")
		status, page := w.owner.Post("/app/developers/webhooks/new", url.Values{"url": {`ftp://"><img src=x>`}, "description": {"<b>mine"}, "format": {"raw"}, "enabled_events": {"order.paid"}})
		require.Equal(t, http.StatusUnprocessableEntity, status)
		for _, piece := range []string{`href="#url"`, "&lt;b&gt;mine", `value="order.paid" checked`} {
			require.Contains(t, page, piece)
		}
		require.NotContains(t, page, "<img")

		wanted := url.Values{"url": {w.Hooks.URL + "/a"}, "description": {"<b>mine"}, "format": {"raw"}, "once": {between(t, form, `name="once" value="`, `"`)}}
		at, secret := endpoint(t, w, wanted)
		require.Equal(t, at, sends(t, w.owner, "/app/developers/webhooks/new", wanted), "a double click")
		sees(t, w.owner, at) // the second answer has the same secret
		require.NotContains(t, sees(t, w.owner, at, "<h1 dir=\"auto\">"+w.Hooks.URL+"/a</h1>", "Enabled", "All events", "&lt;b&gt;mine", "Nothing was sent yet"), secret)
		sees(t, w.owner, "/app/developers/webhooks", w.Hooks.URL+"/a", "All events")
		sees(t, w.owner, "/app/developers/webhooks?status=inactive", "Nothing matches")

		require.Equal(t, at, sends(t, w.owner, at+"/test", url.Values{"type": {"product.created"}}))
		sees(t, w.owner, at, "product.created was delivered: status 200")
		sent := w.Hooks.Deliveries()
		require.Len(t, sent, 1)
		_, err := sdk.VerifyWebhook(sent[0].Body, sent[0].Header, secret)
		require.NoError(t, err)

		sends(t, w.owner, at+"/rotate", url.Values{"overlap_hours": {"24"}})
		page = sees(t, w.owner, at, "and with the old one until", "The old secret signs until")
		require.NotEqual(t, secret, between(t, page, `class="key" value="`, `"`))
		status, _ = w.owner.Post(at+"/rotate", url.Values{"overlap_hours": {"never"}})
		require.Equal(t, http.StatusUnprocessableEntity, status)

		sees(t, w.owner, at+"/edit", w.Hooks.URL+"/a")
		sends(t, w.owner, at+"/edit", url.Values{"url": {w.Hooks.URL + "/b"}, "format": {"slack"}, "enabled_events": {"order.paid", "order.created"}})
		sees(t, w.owner, at, w.Hooks.URL+"/b", "order.paid", "in Slack")
		sends(t, w.owner, at+"/status", url.Values{"status": {"inactive"}})
		require.NotContains(t, sees(t, w.owner, at, "Disabled", "Enable"), "Send test event")
		sees(t, w.owner, at+"/delete", "Nothing more is sent")
		require.Equal(t, "/app/developers/webhooks", sends(t, w.owner, at+"/delete", nil))
		status, _ = w.owner.Get(at)
		require.Equal(t, http.StatusNotFound, status)
	})
}

func TestWebhooks_ShowDeliveriesAndSendThemAgain(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		broken := harness.NewReceiverThat(t, func(rw http.ResponseWriter, _ *http.Request) { http.Error(rw, "<i>broken", http.StatusTeapot) })
		at, _ := endpoint(t, w, url.Values{"url": {broken.URL}, "format": {"raw"}})
		sends(t, w.owner, at+"/test", url.Values{"type": {"order.paid"}})
		sees(t, w.owner, at, "order.paid was not delivered: status 418", "&lt;i&gt;broken", "note bad")
		_, err := w.api.SDK().Products.Create(t.Context(), &sdk.ProductCreate{Name: "Guide <b>"})
		require.NoError(t, err)
		var page string
		require.Eventually(t, func() bool {
			page = sees(t, w.owner, at, "product.created")
			return strings.Contains(page, "status 418") && strings.Contains(page, "Failing since")
		}, harness.Patience, 50*time.Millisecond)
		sees(t, w.owner, at+"?status=succeeded", "Nothing matches")
		sees(t, w.owner, at+"?status=failed&type=product.created", "status 418")
		event := at + "/events/" + between(t, page, `href="`+at+"/events/", `"`)
		shown := sees(t, w.owner, event, "<h1 dir=\"auto\">product.created</h1>", "<h2>Request</h2>", "<h2>Response</h2>", "Attempts", "Redeliver", "&lt;i&gt;broken", "X-Service-Event-Id", "Guide \\u003cb\\u003e")
		require.NotContains(t, shown, "All deliveries")

		require.Equal(t, strings.Split(event, "?")[0], sends(t, w.owner, strings.Split(event, "?")[0]+"/redeliver", nil))
		require.Eventually(t, func() bool {
			return strings.Count(sees(t, w.owner, event, "All deliveries of this event"), "status 418") == 3
		}, harness.Patience, 50*time.Millisecond)
		again := sees(t, w.owner, at+"/redeliver", "From", "Until")
		from, until := between(t, again, `name="created_after" type="datetime-local" value="`, `"`), between(t, again, `name="created_before" type="datetime-local" value="`, `"`)
		status, _ := w.owner.Post(at+"/redeliver", url.Values{"created_after": {"yesterday"}, "created_before": {until}})
		require.Equal(t, http.StatusUnprocessableEntity, status)
		sends(t, w.owner, at+"/redeliver", url.Values{"created_after": {from}, "created_before": {until}})
		sees(t, w.owner, at, "One event is on its way again.")
	})
}

// Whoever may only look sees neither buttons nor what they lead to.
func TestWebhooks_AreLookedAtWithoutButtons(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		at, _ := endpoint(t, w, url.Values{"url": {w.Hooks.URL}, "format": {"raw"}})
		support := w.Member(t, w.api.Account, person.RoleSupport)
		page := sees(t, support, at, "Nothing was sent yet")
		for _, piece := range []string{"Send test event", "/edit", "/rotate", "/delete", "Disable"} {
			require.NotContains(t, page, piece)
		}
		status, _ := support.Get(at + "/rotate")
		require.Equal(t, http.StatusForbidden, status)
	})
}
