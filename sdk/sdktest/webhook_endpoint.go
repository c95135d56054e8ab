package sdktest

import (
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"time"

	"github.com/tillwright/tillwright/sdk/signature"
)

// webhookEndpoints are kept, and nothing is sent to them: a test says by Server.Webhooks where events go.
var webhookEndpoints = &kind{
	schema:   "WebhookEndpoint",
	defaults: object{"api_version": "v1", "status": "active", "format": "raw", "enabled_events": []any{"*"}},
	update:   func(_ *call, _, o object) error { return checkEndpoint(o) },
	remove:   func(*call, object) error { return nil },
}

var webhookHandlers = map[string]handler{
	"createWebhookEndpoint": func(c *call) (object, error) {
		o := c.blank(webhookEndpoints)
		c.fill(webhookEndpoints, o)
		if err := checkEndpoint(o); err != nil {
			return nil, err
		}
		c.put(o)
		return withSecret(o), nil
	},
	"rotateWebhookSecret": func(c *call) (object, error) {
		o, err := c.named(webhookEndpoints)
		if err != nil {
			return nil, err
		}
		overlap, sent := c.body["overlap_hours"].(int64)
		if !sent {
			overlap = 24
		}
		var until any
		if overlap > 0 {
			until = timestamp(time.Now().Add(time.Duration(overlap) * time.Hour))
		}
		return withSecret(c.change(o, object{"previous_secret_expires_at": until})), nil
	},
}

func checkEndpoint(o object) error {
	p := problems{}
	at, err := url.Parse(textOf(o, "url"))
	p.check(err == nil && at.Host != "" && (at.Scheme == "https" || at.Scheme == "http"), "url", "url must be an absolute URL beginning with https://.")
	for _, name := range list(o, "enabled_events") {
		p.check(name == "*" || slices.Contains(eventTypes, name.(string)), "enabled_events",
			fmt.Sprintf("'%s' is not an event type: GET /v1/webhook_endpoints/events lists them.", name))
	}
	return p.err()
}

// withSecret returns an endpoint with a new secret, which is shown once.
func withSecret(o object) object {
	var secret [32]byte
	_, _ = rand.Read(secret[:]) // never fails
	shown := maps.Clone(o)
	shown["secret"] = signature.Prefix + base64.StdEncoding.EncodeToString(secret[:])
	return shown
}
