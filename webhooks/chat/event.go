package chat

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/tillwright/tillwright/store/core"
)

// event is the body of a delivery. It is read without trust: a field that is missing or has another type reads as empty. A
// message about a part of an object is worth more than none.
type event struct {
	id, kind  string
	createdAt string
	test      bool
	data      object
}

// readEvent reads the body of a delivery. It is an error only if the body is not a JSON object.
func readEvent(body []byte) (event, error) {
	var top object
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber() // amounts are integers, never floats
	if err := d.Decode(&top); err != nil {
		return event{}, fmt.Errorf("chat: read event: %w", err)
	}
	if top == nil {
		return event{}, errors.New("chat: read event: it is null")
	}
	test, _ := top["test"].(bool)
	return event{id: top.str("id"), kind: top.str("type"), createdAt: top.str("created_at"), test: test, data: top.object("data")}, nil
}

// object is a resource of the API. A nil object has no fields.
type object map[string]any

// str returns a text field on one line, cut to the length of a name.
func (o object) str(key string) string {
	s, _ := o[key].(string)
	return clean(s, longest)
}

// documentNumber returns what an order or an invoice is called: an order has a plain number, an invoice one with a prefix. It is
// "" if there is none.
func (o object) documentNumber() string {
	switch n := o["number"].(type) {
	case json.Number:
		return cut(n.String(), shorter)
	case string:
		return clean(n, shorter)
	}
	return ""
}

// int returns an integer field, and whether there is one.
func (o object) int(key string) (int64, bool) {
	n, _ := o[key].(json.Number)
	i, err := n.Int64()
	return i, err == nil
}

// object returns a resource that is inlined in a field, or nil if only its id is there.
func (o object) object(key string) object {
	inner, _ := o[key].(map[string]any)
	return inner
}

// objects returns the resources that are inlined in a list.
func (o object) objects(key string) []object {
	list, _ := o[key].([]any)
	found := []object{}
	for _, item := range list {
		if inner, ok := item.(map[string]any); ok {
			found = append(found, inner)
		}
	}
	return found
}

// money returns an amount in the object's currency. Without a currency code of three letters it is "", because nobody
// could say how much it is.
func (o object) money(key string) string {
	amount, ok := o.int(key)
	currency, _ := o["currency"].(string)
	if !ok || !currencyCode.MatchString(currency) {
		return ""
	}
	return core.FormatAmount(amount, currency)
}

var currencyCode = regexp.MustCompile(`^[a-z]{3}$`)

// isZero reports whether there is an amount and it is 0.
func (o object) isZero(key string) bool {
	amount, ok := o.int(key)
	return ok && amount == 0
}

// word returns a state or a reason in readable form.
func (o object) word(key string) string {
	s, _ := o[key].(string)
	return clean(strings.ReplaceAll(s, "_", " "), longest)
}

// day returns the day of a time, in UTC, or "".
func (o object) day(key string) string {
	at, ok := parseTime(o.str(key))
	if !ok {
		return ""
	}
	return at.Format("2 Jan 2006")
}

func parseTime(s string) (time.Time, bool) {
	at, err := time.Parse(time.RFC3339, s)
	return at.UTC(), err == nil && at.Year() > 0
}

// paths are the paths of the API for the objects that events are about.
var paths = map[string]string{
	"checkout": "checkouts", "customer": "customers", "invoice": "invoices", "lead": "leads", "order": "orders",
	"product": "products", "refund": "refunds", "subscription": "subscriptions",
}

// linkTo returns the address of an object below the API's base, or "" if there is none to give.
func linkTo(base string, o object) string {
	path, known := paths[o.str("object")]
	id := o.str("id")
	address, err := url.Parse(strings.TrimRight(base, "/"))
	if !known || id == "" || err != nil || address.Scheme != "http" && address.Scheme != "https" || address.Host == "" {
		return ""
	}
	return address.String() + "/" + path + "/" + url.PathEscape(id)
}
