package conformance

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// An id of another account must answer exactly as an id that does not exist. The status is the same, the bytes too but
// for the id that the message repeats, and nothing is changed.

// Place is somewhere in a request that takes an id.
type Place struct {
	In     string // path, query or body
	Name   string // of the parameter or field
	Prefix string // of the ids that belong there
	Slug   bool   // the slug in the place of the id
}

func (p Place) String() string { return fmt.Sprintf("%s %s (%s)", p.In, p.Name, p.Prefix) }

// Places lists every place of the operation that takes an id.
func (o *Operation) Places() []Place {
	var found []Place
	for _, name := range o.PathParameters() {
		prefix := o.Prefix()
		switch name {
		case "version": // a number, below the id
			continue
		case "payment_method":
			prefix = "pm"
		case "portal_session":
			prefix = "psess"
		case "activation":
			prefix = "lact"
		}
		found = append(found, Place{In: "path", Name: name, Prefix: prefix})
		if slices.Contains([]string{"prod", "site", "exp", "post", "legal"}, prefix) {
			found = append(found, Place{In: "path", Name: name, Prefix: prefix, Slug: true})
		}
	}
	for _, p := range o.QueryParameters() {
		prefix := Fields[p.Name]
		if o.ID == "listGrants" && p.Name == "source" {
			prefix = "order"
		}
		if prefix != "" {
			found = append(found, Place{In: "query", Name: p.Name, Prefix: prefix})
		}
		if p.Name == "starting_after" || p.Name == "ending_before" {
			found = append(found, Place{In: "query", Name: p.Name, Prefix: o.Listed()})
		}
	}
	if schema := o.BodySchema(); schema != nil {
		for name := range schema.Properties {
			if prefix := Fields[name]; prefix != "" {
				found = append(found, Place{In: "body", Name: name, Prefix: prefix})
			}
			if name == "from" {
				found = append(found, Place{In: "body", Name: name, Prefix: "cus"})
			}
			if name == "product_ids" {
				found = append(found, Place{In: "body", Name: name, Prefix: "prod"})
			}
			if name == "line_items" {
				found = append(found, Place{In: "body", Name: "line_items.price_variant", Prefix: "price"})
			}
			if name == "applies_to" {
				found = append(found, Place{In: "body", Name: "applies_to.products", Prefix: "prod"}, Place{In: "body", Name: "applies_to.price_variants", Prefix: "price"})
			}
		}
	}
	return found
}

// Unknown returns a value that names nothing. As a position in a list it must be of the same moment as the other id,
// because any well-formed id is a position.
func (p Place) Unknown(like string) string {
	switch {
	case p.Slug:
		return Unique()
	case p.Name == "external_id":
		return "ext-" + Unique()
	case IsNetworkKind(p.Prefix): // the network's ids end in digits
		return like[:len(like)-6] + fmt.Sprintf("%06d", rand.IntN(1_000_000))
	}
	random, moment := RandomID(p.Prefix), len(p.Prefix)+1+10
	return like[:moment] + random[moment:]
}

// value returns what the world has for a place, "" for nothing.
func (w *World) value(op *Operation, p Place) string {
	switch {
	case p.Slug:
		return w.Slugs[p.Prefix]
	case p.In == "path":
		value, _ := w.Parameter(op, p.Name)
		return value
	}
	return w.IDs[p.Prefix]
}

type maskedResponse struct {
	*Response
	masked []byte // the body with the id, wherever it is repeated, blotted out
}

// is reports whether another answer is the same but for the id.
func (r *maskedResponse) is(other *maskedResponse) bool {
	return r.Status == other.Status && bytes.Equal(r.masked, other.masked)
}

// ask sends the operation's example with an id put in one place. It returns nil if there is nothing to ask for.
func (s *Subject) ask(t T, client *Client, op *Operation, p Place, id string) *maskedResponse {
	t.Helper()
	query, instead := "", []string(nil)
	switch p.In {
	case "path":
		instead = []string{p.Name, id}
	case "query":
		query = url.Values{p.Name: {id}}.Encode()
	}
	path, sent, ok := s.request(t, op, query, instead...)
	if !ok {
		return nil
	}
	body, _ := sent.(map[string]any)
	switch {
	case p.In != "body":
	case p.Name == "line_items.price_variant":
		body["line_items"] = []any{map[string]any{"price_variant": id}}
	case p.Name == "product_ids":
		body[p.Name] = []any{id}
	case strings.HasPrefix(p.Name, "applies_to."):
		body["applies_to"] = map[string]any{strings.TrimPrefix(p.Name, "applies_to."): []any{id}}
	case p.Name == "customer": // instead of the address that the example names
		delete(body, "customer_email")
		body[p.Name] = id
	default:
		body[p.Name] = id
	}
	resp := client.Do(t, op.Method, path, sent)
	return &maskedResponse{resp, ofAFile.ReplaceAll(bytes.ReplaceAll(resp.Body, []byte(id), []byte("(id)")), []byte("(file)"))}
}

// ofAFile is what is another one whenever somebody asks where a file is, which says nothing of what is in it.
var ofAFile = regexp.MustCompile(`/files/[\w-]+","expires_at":"[^"]+`)

// changes reports whether a question is answered in another way than before.
func (s *Subject) changes(t T, client *Client, op *Operation, p Place, id string, before *maskedResponse) bool {
	t.Helper()
	again := s.ask(t, client, op, p, id)
	return again == nil || !again.is(before)
}

// HidesOtherAccounts asks for what another account has, and for what nobody has. Where lists differ it looks again: in an account that is used, rows come
// in between.
func HidesOtherAccounts(t T, mine, theirs *Subject) {
	mine.Every(t, Private, func(t T, op *Operation, turn int) {
		client, places := mine.Fresh(t), op.Places()
		if len(places) > 1 { // that of the path comes first
			places = append(places[:1:1], turns(mine, turn, 1, places[1:])...)
		}
		for _, p := range places {
			theirID := theirs.value(op, p)
			if theirID == "" {
				t.NotChecked("the other account has no %s", p.Prefix)
				continue
			}
			foreign := mine.ask(t, client, op, p, theirID)
			if foreign == nil {
				return
			}
			unknown := mine.ask(t, client, op, p, p.Unknown(theirID))
			if unknown == nil {
				return
			}
			if !foreign.is(unknown) {
				if alike := p.In != "path" && foreign.Status == unknown.Status; alike && !op.IsWrite() && !mine.Thorough && mine.changes(t, client, op, p, theirID, foreign) {
					t.NotChecked("it changed meanwhile")
					continue
				}
				t.Errorf("%s: another account's id is answered %d %s\nand an unknown one %d %s", p, foreign.Status, foreign.masked, unknown.Status, unknown.masked)
			}
			if p.In == "path" {
				foreign.Fault(t, http.StatusNotFound, "resource_missing")
			}
			if p.In == "body" && foreign.Status < 400 {
				t.Errorf("%s: an id that names nothing is accepted: %s", p, foreign.Body)
			}
		}
	})
}

// ListsNothingForeign looks for the other account's ids in each list.
func ListsNothingForeign(t T, mine, theirs *Subject) {
	lists := func(op *Operation) bool { return op.Method == http.MethodGet && !op.Public && op.Listed() != "" }
	client := mine.Fresh(t) // one for all: another key each time would fill the list of keys
	mine.Every(t, lists, func(t T, op *Operation, _ int) {
		resp := mine.asks(t, client.For(t), op, "")
		if resp == nil {
			return
		}
		for kind, id := range theirs.IDs {
			if id != "" && bytes.Contains(resp.Body, []byte(id)) {
				t.Errorf("the list shows the other account's %s %s", kind, id)
			}
		}
		if own := mine.IDs[op.Listed()]; mine.Thorough && !bytes.Contains(resp.Body, []byte(own)) {
			t.Errorf("the list does not show the account's own %s", own)
		}
	})
}
