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

// event is the body of a delivery, read without trust: a field that is missing, or is of another type, reads as empty.
// A message about half of an object is worth more than none.
type event struct {
	id, kind  string
	createdAt string
	test      bool
	data      object
}

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

// object is a resource, or nil, which has no fields.
type object map[string]any

// str is a text on one line, cut to the length of a name.
func (o object) str(key string) string {
	s, _ := o[key].(string)
	return clean(s, longest)
}

// number is what an order or an invoice is called: the first counts, the second has a prefix.
func (o object) number() string {
	switch n := o["number"].(type) {
	case json.Number:
		return cut(n.String(), shorter)
	case string:
		return clean(n, shorter)
	}
	return ""
}

// int is an integer, and whether there is one.
func (o object) int(key string) (int64, bool) {
	n, _ := o[key].(json.Number)
	i, err := n.Int64()
	return i, err == nil
}

// object is a resource inlined, nil where only its id stands.
func (o object) object(key string) object {
	inner, _ := o[key].(map[string]any)
	return inner
}

// objects are the resources inlined in a list.
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

// money is an amount in the object's currency, which is a code of three letters or there is no saying what it amounts to.
func (o object) money(key string) string {
	amount, ok := o.int(key)
	currency, _ := o["currency"].(string)
	if !ok || !currencyCode.MatchString(currency) {
		return ""
	}
	return core.FormatAmount(amount, currency)
}

var currencyCode = regexp.MustCompile(`^[a-z]{3}$`)

// isZero reports that an amount is there and is nothing.
func (o object) isZero(key string) bool {
	amount, ok := o.int(key)
	return ok && amount == 0
}

// word is a state or a reason, readable.
func (o object) word(key string) string {
	s, _ := o[key].(string)
	return clean(strings.ReplaceAll(s, "_", " "), longest)
}

// day is the day of a time in UTC.
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

// paths are where the API keeps the objects that events are about.
var paths = map[string]string{
	"checkout": "checkouts", "customer": "customers", "invoice": "invoices", "lead": "leads", "order": "orders",
	"product": "products", "refund": "refunds", "subscription": "subscriptions",
}

// linkTo is the address of an object under the API's base, "" when there is none to give.
func linkTo(base string, o object) string {
	path, known := paths[o.str("object")]
	id := o.str("id")
	address, err := url.Parse(strings.TrimRight(base, "/"))
	if !known || id == "" || err != nil || address.Scheme != "http" && address.Scheme != "https" || address.Host == "" {
		return ""
	}
	return address.String() + "/" + path + "/" + url.PathEscape(id)
}
