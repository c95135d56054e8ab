package pinterestfake_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/tests/harness/pinterestfake"
)

const (
	somebody = "f660ab912ec121d1b1e928a0bb4bc61b15f5ad44d5efdc4e1c92a25e99b8e44a"
	ownToken = "conversion_1"
)

// event is one that the network takes, in which the old text is replaced by the new one.
func event(old, changed string) string {
	return strings.Replace(fmt.Sprintf(`{"event_name":"checkout","action_source":"web","event_time":1795262400,"event_id":"order_1",
		"user_data":{"em":["%s"]},"custom_data":{"value":"20.50","currency":"USD"}}`, somebody), old, changed, 1)
}

// tell sends events with a token and returns the answer.
func tell(t *testing.T, w *world, token string, events ...string) (int, pinterestfake.Object) {
	t.Helper()
	return w.sendAs(t, token, http.MethodPost, "/A/events", `{"data":[`+strings.Join(events, ",")+`]}`)
}

func TestEvents_AreRefusedAsAWholeWhenTheirShapeIsWrong(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.net.AddConversionToken(w.account, ownToken)
	for says, bad := range map[string]string{
		"event_naem":   event(`"event_name"`, `"event_naem"`),
		"email":        event(`"em"`, `"email"`),
		"array":        event(`["`+somebody+`"]`, `"`+somebody+`"`),
		"value":        event(`"20.50"`, `20.50`),
		"event_time":   event(`1795262400`, `"2026-11-21"`),
		"event_id":     event(`"event_id":"order_1",`, ``),
		"minimum":      "",
		"maximum":      strings.TrimSuffix(strings.Repeat(event("", "")+",", 1001), ","),
		"an integer":   event(`1795262400`, `1795262400.5`),
		"quantity_max": event(`"value"`, `"contents":[{"quantity_max":1}],"value"`),
	} {
		status, answer := tell(t, w, ownToken, bad)
		assert.Equal(t, http.StatusBadRequest, status, says)
		assert.Contains(t, answer.Text("message"), says)
	}
	assert.Empty(t, w.net.Events(w.account))
}

// Those that are right are counted, and the answer says which are not.
func TestEvents_AreRefusedOneByOneWhenTheirWordsAreWrong(t *testing.T) {
	t.Parallel()
	for says, bad := range map[string]string{
		"event_name is not":      event(`"checkout"`, `"Purchase"`),
		"action_source is not":   event(`"web"`, `"website"`),
		"user_data.em is not":    event(somebody, "ada@example.com"),
		"user_data needs em":     event(`"em":["`+somebody+`"]`, `"client_ip_address":"203.0.113.9","ph":["`+somebody+`"]`),
		"value is not a number":  event(`"20.50"`, `"20,50"`),
		"is not a code of ISO 4": event(`"USD"`, `"usd"`),
	} {
		w := newWorld()
		w.net.AddConversionToken(w.account, ownToken)
		status, answer := tell(t, w, ownToken, event("", ""), bad)
		assert.Equal(t, http.StatusUnprocessableEntity, status, says)
		results := answer["details"].(map[string]any)["events"].([]any)
		require.Len(t, results, 2)
		assert.Equal(t, "processed", results[0].(map[string]any)["status"])
		assert.Contains(t, results[1].(map[string]any)["error_message"], says)
		assert.Len(t, w.net.Events(w.account), 1)
	}
}

// Events have a token of their own, of an ad account, which nothing else is open to: rule P14.
func TestEvents_HaveATokenOfTheirOwn(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.net.AddConversionToken(w.net.AddAccount(token, "Other", "USD", "OWNER"), "conversion_2")
	w.net.AddConversionToken(w.account, ownToken)
	for sent, want := range map[string]int{token: http.StatusUnauthorized, "nobody's": http.StatusUnauthorized, "conversion_2": http.StatusForbidden, ownToken: http.StatusOK} {
		status, _ := tell(t, w, sent, event("", ""))
		assert.Equal(t, want, status, sent)
	}
	status, _ := w.sendAs(t, ownToken, http.MethodGet, "/A/campaigns", "")
	assert.Equal(t, http.StatusUnauthorized, status)
}

func TestEvents_CountOnceInADay(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	w := newWorldAt(func() time.Time { return now })
	w.net.AddConversionToken(w.account, ownToken)
	send := func(e string) {
		status, answer := tell(t, w, ownToken, e)
		require.Equal(t, http.StatusOK, status, answer)
	}
	send(event("", ""))
	now = now.Add(pinterestfake.EventsDeduped)
	send(event("", ""))
	send(event("checkout", "lead"))
	send(event(`"web"`, `"offline"`))
	send(event(`"web"`, `"offline"`))
	now = now.Add(time.Second)
	send(event("", ""))
	assert.Equal(t, "[checkout order_1 x2 lead order_1 x1 checkout order_1 x1 checkout order_1 x1 checkout order_1 x1]", fmt.Sprint(w.net.Events(w.account)))
}
