package conformance

import (
	"crypto/rand"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"
)

// World is what an account has that can be asked for.
type World struct {
	*Client
	Document *Document

	IDs        map[string]string // prefix -> id, e.g. "prod" -> prod_...
	Found      map[string]string // the same of what was there before, which is only read; nil if nothing was looked for
	Slugs      map[string]string // prefix -> the slug that serves in the place of the id
	Secret     string            // an open checkout's client_secret
	ExternalID string            // a customer's
	Hooks      string            // a URL that takes webhooks
	Code       string            // a discount's
	License    string            // a licence key's
	Form       string            // a token for forms, which works from
	FormFrom   time.Time
	Bidding    string        // a campaign that bids, instead of its ad groups
	SentLetter func() string // the id of a letter that was sent, waited for
}

// networkKinds are the prefixes of ids that are a network's own and have none.
var networkKinds = []string{"ad", "ad_account", "ad_group", "campaign", "bc"}

// IsNetworkKind reports whether ids of a prefix are an ad network's own, which do not have it.
func IsNetworkKind(prefix string) bool { return slices.Contains(networkKinds, prefix) }

// Fields maps the name of a query parameter or body field that takes an id to the id's prefix.
var Fields = map[string]string{
	"discount": "disc", "subscription": "sub",
	"product": "prod", "price_variant": "price", "customer": "cus", "checkout": "chk", "order": "order",
	"default_price_variant": "price", "default_payment_method": "pm", "payment_method": "pm", "webhook_endpoint": "we", "event": "whev",
	"account_id": "sacct", "ad_account_id": "ad_account", "post_id": "spost", "ad_group_id": "ad_group", "campaign_id": "campaign",
	"destination_id": "cdest", "activation": "lact", "grant": "grant", "ai_site": "site",
}

// prefixes maps the segment of a path to the prefix of the ids below it. The specification says it by the pattern of the id that
// a GET answers with; of those that have none it is said here.
func prefixes(operations []*Operation) map[string]string {
	found := map[string]string{
		"payments": "pay",
		"ads":      "ad", "ad-accounts": "ad_account", "ad-groups": "ad_group", "campaigns": "campaign", "business-centers": "bc",
	}
	for _, op := range operations {
		path := strings.TrimSuffix(op.Path, "/{id}")
		if prefix := op.AnsweredPrefix(); prefix != "" && !strings.Contains(path, "{") { // several have versions
			found[path[strings.LastIndex(path, "/")+1:]] = prefix
		}
	}
	return found
}

// Prefix returns the prefix of the id that the operation's path carries.
func (o *Operation) Prefix() string {
	before, _, _ := strings.Cut(o.Path, "/{")
	return o.document.Prefixes[before[strings.LastIndex(before, "/")+1:]]
}

// Listed returns the prefix of the ids that a list operation lists.
func (o *Operation) Listed() string {
	if prefix := o.AnsweredPrefix(); prefix != "" && !strings.HasSuffix(o.Path, "/{id}") {
		return prefix
	}
	return o.document.Prefixes[o.Path[strings.LastIndexByte(o.Path, '/')+1:]]
}

// id returns what a prefix stands for in a request of the operation.
func (w *World) id(op *Operation, prefix string) string {
	if id := w.IDs[prefix]; id != "" || op.IsWrite() {
		return id
	}
	return w.Found[prefix]
}

// Parameter returns the world's own value for a path parameter of the operation. It is an error if it has none.
func (w *World) Parameter(op *Operation, name string) (string, error) {
	value, kind := w.parameter(op, name)
	if value == "" {
		return "", fmt.Errorf("the account has no %s for {%s}", kind, name)
	}
	return value, nil
}

func (w *World) parameter(op *Operation, name string) (value, kind string) {
	switch {
	case w.IDs["archived "+strings.TrimSuffix(op.Path, "/{id}/unarchive")] != "":
		return w.IDs["archived "+strings.TrimSuffix(op.Path, "/{id}/unarchive")], "archived one"
	case op.ID == "uncancelSubscription" || op.ID == "resumeSubscription":
		return w.IDs["ending sub"], "ending subscription"
	case op.Path == "/v1/ads/campaigns/{id}":
		return w.Bidding, "campaign"
	}
	switch name {
	case "client_secret":
		return w.Secret, "open checkout"
	case "account":
		return w.Account, "account"
	case "payment_method":
		return w.id(op, "pm"), "pm"
	case "portal_session":
		return w.id(op, "psess"), "psess"
	case "external_id":
		return w.ExternalID, "customer with an external_id"
	case "version": // a number
		if w.Found == nil {
			return "1", ""
		}
		return w.id(op, "version of "+strings.TrimSuffix(op.Path, "/{version}")), "version"
	case "activation":
		return w.id(op, "lact"), "lact"
	}
	switch op.ID {
	case "payInvoice", "sendInvoice", "voidInvoice", "markInvoiceUncollectible":
		return w.IDs["issued invoice"], "issued invoice"
	case "resendLetter":
		return w.SentLetter(), "letter that was sent"
	case "completeFile":
		return w.IDs["whole file"], "file with its bytes"
	case "voidOrder":
		return w.IDs["pending order"], "pending order"
	}
	return w.id(op, op.Prefix()), op.Prefix()
}

// Path fills the operation's path with the world's own values, or with those given by name.
func (w *World) Path(op *Operation, instead ...string) (string, error) {
	path := op.Path
	for i := 0; i+1 < len(instead); i += 2 {
		path = strings.ReplaceAll(path, "{"+instead[i]+"}", instead[i+1])
	}
	for _, name := range op.PathParameters() {
		if strings.Contains(path, "{"+name+"}") {
			value, err := w.Parameter(op, name)
			if err != nil {
				return "", err
			}
			path = strings.ReplaceAll(path, "{"+name+"}", value)
		}
	}
	return path, nil
}

// At is the operation's path, filled as by Path, with a query, and with the parameters that it needs besides.
func (w *World) At(op *Operation, query string, instead ...string) (string, error) {
	path, err := w.Path(op, instead...)
	if err != nil {
		return "", err
	}
	sent, _ := url.ParseQuery(query)
	needed := url.Values{}
	for _, p := range op.QueryParameters() {
		if !p.Required || sent.Has(p.Name) {
			continue
		}
		value := w.needed(op, p.Name)
		if value == "" {
			return "", fmt.Errorf("the account has nothing for ?%s", p.Name)
		}
		needed.Set(p.Name, value)
	}
	if query != "" && len(needed) > 0 {
		query += "&"
	}
	if query += needed.Encode(); query == "" {
		return path, nil
	}
	return path + "?" + query, nil
}

// needed returns the world's own value for a query parameter that the operation requires.
func (w *World) needed(op *Operation, name string) string {
	switch {
	case op.ID == "listBusinessCenters":
		return w.IDs["agency"]
	case op.ID == "getGrantDownload":
		return w.IDs["whole file"]
	case op.ID == "lookupDiscount":
		return w.Code
	case op.ID == "searchAdTargeting" && name == "type":
		return "country"
	case op.ID == "search":
		return "first" // the name of the site
	}
	return w.id(op, Fields[name])
}

// AnID is what an id looks like, with its prefix.
var AnID = regexp.MustCompile(`^([a-z]+)_[0-9a-hjkmnp-tv-z]{26}$`)

// Body returns the specification's example with the world's own ids in it, nil (untyped) for an operation without one. It is an
// error if the world lacks one of them.
func (w *World) Body(op *Operation) (any, error) {
	example := op.Example()
	if example == nil {
		return nil, nil
	}
	missing := ""
	body := w.Own(op, "", example, &missing)
	if missing != "" {
		return nil, fmt.Errorf("the account has no %s for the body", missing)
	}
	return body, nil
}

// Own replaces every example id by the world's own, and the example receiver of webhooks by one that is there. Field is
// where the value stands. What the world lacks is put into missing.
func (w *World) Own(op *Operation, field string, v any, missing *string) any {
	switch v := v.(type) {
	case map[string]any:
		for name := range v {
			v[name] = w.Own(op, name, v[name], missing)
		}
	case []any:
		for i := range v {
			v[i] = w.Own(op, field, v[i], missing)
		}
	case string:
		value, kind := w.own(op, field, v)
		if value == "" && v != "" && missing != nil {
			*missing = kind
		}
		return value
	}
	return v
}

func (w *World) own(op *Operation, field, v string) (value, kind string) {
	if strings.Contains(op.Path, "/license_keys/") && op.ID != "importLicenseKeys" {
		if known := map[string]string{"account": w.Account, "key": w.License, "product": w.IDs["prod"]}[field]; known != "" {
			return known, ""
		}
	}
	switch {
	case field == "form_token":
		time.Sleep(time.Until(w.FormFrom))
		return w.Form, "form"
	case field == "from": // who is merged into the customer
		return w.IDs["double"], "second customer"
	case field == "ad_account_id" || field == "campaigns":
		kind = strings.TrimSuffix(strings.TrimSuffix(field, "_id"), "s")
		return w.IDs[kind], kind
	case field == "pixel_id":
		return w.IDs["pixel"], "pixel"
	case field == "occurred_at": // networks are told of nothing old
		return time.Now().UTC().Format(time.RFC3339), ""
	case field == "platform_account_id" && op.ID == "selectSocialProfile":
		return w.IDs["profile"], "profile"
	case strings.HasPrefix(v, "https://example.com/") && strings.Contains(op.Path, "webhook"):
		return w.Hooks, "receiver of webhooks"
	}
	id := AnID.FindStringSubmatch(v)
	if id == nil {
		return v, ""
	}
	switch kind = id[1]; {
	case kind == "price" && strings.Contains(op.Path, "/subscriptions"):
		kind = "recurring price"
	case kind == "price": // what a checkout sells must be on sale
		kind = "sold price"
	case kind == "prod" && strings.HasSuffix(op.Path, "/grants"): // one that somebody has is not deleted
		kind = "sold"
	}
	return w.IDs[kind], kind
}

// Unique returns a short text that no other call returns, fit for slugs and addresses. It begins with a letter that no word begins with which a
// test looks for, so that chance finds nothing.
func Unique() string { return "z" + strings.ToLower(rand.Text())[:15] }

// RandomID returns a well-formed id that names nothing.
func RandomID(prefix string) string {
	const digits = "0123456789abcdefghjkmnpqrstvwxyz"
	b := make([]byte, 26)
	_, _ = rand.Read(b)
	for i := range b {
		b[i] = digits[b[i]&31]
	}
	b[0] = '0' + b[0]&7 // 26 characters carry 130 bits, an id has 128
	return prefix + "_" + string(b)
}
