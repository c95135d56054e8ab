package sdktest

import "time"

// accountOf returns the account of a new server.
func accountOf(s *state) object {
	c := &call{state: s, now: timestamp(time.Now())}
	o := c.blank(&kind{schema: "Account", defaults: object{
		"name": "Test shop", "handle": "test-shop", "email": "seller@example.com", "default_currency": "usd", "timezone": "UTC", "locale": "en",
		"plan": "pro", "invoice_prefix": "INV", "next_invoice_number": int64(1), "payments_provider": "test", "lead_confirmation": "none",
		"past_due_access": "keep", "proration_behavior": "invoice_immediately", "plan_features": []any{"custom_domain", "remove_branding"},
		"tax":           object{"mode": "none", "behavior": "exclusive", "rates": []any{}},
		"dunning":       object{"intervals_days": []any{int64(2), int64(5), int64(7), int64(7)}, "on_exhausted": "cancel"},
		"decline_limit": int64(100), "payment_hold_minutes": int64(30),
	}})
	letters := object{}
	for _, kind := range described().schema("LetterSettings").Required { // all are on
		letters[kind] = true
	}
	o["letters"] = letters
	s.put(o)
	return o
}

var accountHandlers = map[string]handler{
	"getAccount": func(c *call) (object, error) { return c.account, nil },
}
