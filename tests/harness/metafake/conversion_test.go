package metafake

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const somebody = "f660ab912ec121d1b1e928a0bb4bc61b15f5ad44d5efdc4e1c92a25e99b8e44a"

// event is one that Meta takes, which each test spoils.
func event(at time.Time, change func(e, user, custom map[string]any)) map[string]any {
	user := map[string]any{"em": []string{somebody}, "client_user_agent": "Mozilla/5.0", "client_ip_address": "203.0.113.9"}
	custom := map[string]any{"value": json.Number("20.50"), "currency": "usd"}
	e := map[string]any{"event_name": "Purchase", "event_time": at.Unix(), "event_id": "order_1", "action_source": "website",
		"event_source_url": "https://shop.example", "user_data": user, "custom_data": custom}
	change(e, user, custom)
	return e
}

func told(events ...map[string]any) url.Values {
	text, _ := json.Marshal(events)
	return url.Values{"data": {string(text)}}
}

func TestEvents_FollowTheirRules(t *testing.T) {
	t.Parallel()
	f := New("t")
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	f.Now = func() time.Time { return now }
	f.AddAccount(Account{ID: account, Currency: "USD", Minimum: 100})
	f.AddPixel(account, "60", "Shop")
	path := "/" + Version + "/60/events"
	address := f.Serve(t)
	for says, change := range map[string]func(e, user, custom map[string]any){
		`has no key "event_nam"`:    func(e, _, _ map[string]any) { e["event_nam"] = "Purchase" },
		`has no key "email"`:        func(_, user, _ map[string]any) { user["email"] = somebody },
		"must be an array":          func(_, user, _ map[string]any) { user["em"] = somebody },
		"must be of type SHA256":    func(_, user, _ map[string]any) { user["em"] = []string{"ada@example.com"} },
		"must be of type ClickID":   func(_, user, _ map[string]any) { user["fbc"] = "IwAR2F4" },
		"must be of type float":     func(_, _, custom map[string]any) { custom["value"] = "20,50" },
		"ServerEvent_action_source": func(e, _, _ map[string]any) { e["action_source"] = "web" },
		"must be of type unsigned":  func(e, _, _ map[string]any) { e["event_time"] = "2026-11-21T12:00:00Z" },
		"too far in the past":       func(e, _, _ map[string]any) { e["event_time"] = now.Add(-OldestEvent - time.Second).Unix() },
		"has event_name":            func(e, _, _ map[string]any) { delete(e, "event_name") },
		"has event_source_url":      func(e, _, _ map[string]any) { delete(e, "event_source_url") },
		"and client_user_agent":     func(_, user, _ map[string]any) { delete(user, "client_user_agent") },
		"sufficient customer": func(_, user, _ map[string]any) {
			delete(user, "em")
			delete(user, "client_ip_address")
		},
		"a value and a currency": func(_, _, custom map[string]any) { delete(custom, "currency") },
	} {
		status, e := ask(t, address, "POST", path, told(event(now, func(_, _, _ map[string]any) {}), event(now, change)))
		require.NotNil(t, e, says)
		assert.Equal(t, 400, status, says)
		assert.Contains(t, e.Message+e.User, says)
	}
	_, e := ask(t, address, "POST", path, told(make([]map[string]any, MostEvents+1)...))
	require.NotNil(t, e, "too many")
	_, e = ask(t, address, "POST", path, told())
	require.NotNil(t, e, "none")
	_, e = ask(t, address, "POST", path, url.Values{})
	require.NotNil(t, e)
	assert.Contains(t, e.Message, "parameter data is required")
	assert.Empty(t, f.Events("60"), "one bad event spoils all that come with it")
}

// An event that comes again within 48 hours counts once.
func TestEvents_CountOnceInFortyEightHours(t *testing.T) {
	t.Parallel()
	f := New("t")
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	f.Now = func() time.Time { return now }
	f.AddAccount(Account{ID: account, Currency: "USD", Minimum: 100})
	f.AddPixel(account, "60", "Shop")
	address, at := f.Serve(t), now
	send := func(change func(e, user, custom map[string]any)) {
		_, e := ask(t, address, "POST", "/"+Version+"/60/events", told(event(at, change)))
		require.Nil(t, e)
	}
	same := func(_, _, _ map[string]any) {}
	send(same)
	now = now.Add(EventsDeduped)
	send(same)
	send(func(e, _, _ map[string]any) { e["event_name"] = "Lead" })
	send(func(e, _, _ map[string]any) { e["event_id"] = "order_2" })
	now = now.Add(time.Second)
	send(same)
	assert.Equal(t, "[Purchase order_1 x2 Lead order_1 x1 Purchase order_2 x1 Purchase order_1 x1]", strings.ReplaceAll(fmt.Sprint(f.Events("60")), ", ", " "))
}
