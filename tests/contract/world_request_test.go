package contract

import (
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/tillwright/tillwright/tests/harness"
)

// resources maps the segment of a path to the prefix of the ids below it. The specification says it by the pattern of the id that
// a GET answers with; of those that have none it is said here.
var resources = func() map[string]string {
	prefixes := map[string]string{
		"payments": "pay",
		"ads":      "ad", "ad-accounts": "ad_account", "ad-groups": "ad_group", "campaigns": "campaign", "business-centers": "bc",
	}
	for _, op := range harness.Operations() {
		path := strings.TrimSuffix(op.Path, "/{id}")
		if prefix := op.AnsweredPrefix(); prefix != "" && !strings.Contains(path, "{") { // several have versions
			prefixes[path[strings.LastIndex(path, "/")+1:]] = prefix
		}
	}
	return prefixes
}()

// networkKinds are the prefixes in resources of ids that are a network's own and have none.
var networkKinds = []string{"ad", "ad_account", "ad_group", "campaign", "bc"}

// parameter returns the world's own value for a path parameter of the operation.
func (w *world) parameter(op *harness.Operation, name string) string {
	switch {
	case w.ids["archived "+strings.TrimSuffix(op.Path, "/{id}/unarchive")] != "":
		return w.ids["archived "+strings.TrimSuffix(op.Path, "/{id}/unarchive")]
	case op.ID == "uncancelSubscription" || op.ID == "resumeSubscription":
		return w.ids["ending sub"]
	case op.Path == "/v1/ads/campaigns/{id}":
		return w.bidding
	}
	switch name {
	case "client_secret":
		return w.secret
	case "account":
		return w.Account
	case "payment_method":
		return w.ids["pm"]
	case "portal_session":
		return w.ids["psess"]
	case "external_id":
		return w.externalID
	case "version": // a number
		return "1"
	}
	switch op.ID {
	case "payInvoice", "sendInvoice", "voidInvoice", "markInvoiceUncollectible":
		return w.ids["issued invoice"]
	case "resendLetter":
		return w.sentLetter()
	case "completeFile":
		return w.ids["whole file"]
	case "voidOrder":
		return w.ids["pending order"]
	}
	id := w.ids[prefixOf(op)]
	if name == "activation" {
		id = w.ids["lact"]
	}
	if id == "" {
		panic(fmt.Sprintf("%s: the world has nothing for {%s}: add it to newWorld", op.ID, name))
	}
	return id
}

// prefixOf returns the prefix of the id that the operation's path carries.
func prefixOf(op *harness.Operation) string {
	before, _, _ := strings.Cut(op.Path, "/{")
	return resources[before[strings.LastIndex(before, "/")+1:]]
}

// path fills the operation's path with the world's own values, or with those given by name.
func (w *world) path(op *harness.Operation, instead ...string) string {
	path := op.Path
	for i := 0; i+1 < len(instead); i += 2 {
		path = strings.ReplaceAll(path, "{"+instead[i]+"}", instead[i+1])
	}
	for _, name := range op.PathParameters() {
		if strings.Contains(path, "{"+name+"}") {
			path = strings.ReplaceAll(path, "{"+name+"}", w.parameter(op, name))
		}
	}
	return path
}

// at is the operation's path, filled as by path, with a query, and with the parameters that it needs besides.
func (w *world) at(op *harness.Operation, query string, instead ...string) string {
	sent, _ := url.ParseQuery(query)
	needed := url.Values{}
	for _, p := range op.QueryParameters() {
		if p.Required && !sent.Has(p.Name) {
			needed.Set(p.Name, w.needed(op, p.Name))
		}
	}
	if query != "" && len(needed) > 0 {
		query += "&"
	}
	if query += needed.Encode(); query == "" {
		return w.path(op, instead...)
	}
	return w.path(op, instead...) + "?" + query
}

// needed returns the world's own value for a query parameter that the operation requires.
func (w *world) needed(op *harness.Operation, name string) string {
	switch {
	case op.ID == "listBusinessCenters":
		return w.ids["agency"]
	case op.ID == "getGrantDownload":
		return w.ids["whole file"]
	case op.ID == "lookupDiscount":
		return w.code
	case op.ID == "searchAdTargeting" && name == "type":
		return "country"
	case op.ID == "search":
		return "first" // the name of the site
	}
	return w.ids[fields[name]]
}

var anID = regexp.MustCompile(`^([a-z]+)_[0-9a-hjkmnp-tv-z]{26}$`)

// body returns the specification's example with the world's own ids in it, nil (untyped) for an operation without one.
func (w *world) body(op *harness.Operation) any {
	example := op.Example()
	if example == nil {
		return nil
	}
	return w.own(op, "", example)
}

// own replaces every example id by the world's own, and the example receiver of webhooks by one that is there. field is
// where the value stands.
func (w *world) own(op *harness.Operation, field string, v any) any {
	switch v := v.(type) {
	case map[string]any:
		for name := range v {
			v[name] = w.own(op, name, v[name])
		}
	case []any:
		for i := range v {
			v[i] = w.own(op, field, v[i])
		}
	case string:
		if strings.Contains(op.Path, "/license_keys/") && op.ID != "importLicenseKeys" {
			if known := map[string]string{"account": w.Account, "key": w.license, "product": w.ids["prod"]}[field]; known != "" {
				return known
			}
		}
		if field == "form_token" {
			time.Sleep(time.Until(w.formFrom))
			return w.form
		}
		if field == "from" { // who is merged into the customer
			return w.ids["double"]
		}
		if field == "ad_account_id" || field == "campaigns" {
			return w.ids[strings.TrimSuffix(strings.TrimSuffix(field, "_id"), "s")]
		}
		if field == "pixel_id" {
			return w.ids["pixel"]
		}
		if field == "occurred_at" { // networks are told of nothing old
			return time.Now().UTC().Format(time.RFC3339)
		}
		if field == "platform_account_id" && op.ID == "selectSocialProfile" {
			return w.ids["profile"]
		}
		if strings.HasPrefix(v, "https://example.com/") && strings.Contains(op.Path, "webhook") {
			return w.hooks
		}
		if id := anID.FindStringSubmatch(v); id != nil {
			if id[1] == "price" && strings.Contains(op.Path, "/subscriptions") {
				return w.ids["recurring price"]
			}
			if id[1] == "price" { // what a checkout sells must be on sale
				return w.ids["sold price"]
			}
			if id[1] == "prod" && strings.HasSuffix(op.Path, "/grants") { // one that somebody has is not deleted
				return w.ids["sold"]
			}
			return w.ids[id[1]]
		}
	}
	return v
}

// send sends the operation's example request.
func (w *world) send(t testing.TB, op *harness.Operation, headers ...string) *harness.Response {
	t.Helper()
	return w.Do(t, op.Method, w.at(op, ""), w.body(op), headers...)
}
