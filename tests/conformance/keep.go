package conformance

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// keeping notes whatever is made by requests that it sends, also by one that ought to be refused.
type keeping struct {
	http.RoundTripper
	b *builder
}

// RoundTrip sends a request. Of one whose answer does not say what became of it, it notes what that may have made.
func (k keeping) RoundTrip(r *http.Request) (*http.Response, error) {
	op, _ := k.b.Document.Match(r.Method, r.URL.Path)
	if op == nil || !op.makes() {
		return k.RoundTripper.RoundTrip(r)
	}
	sent, err := drain(&r.Body)
	if err != nil {
		return nil, err
	}
	resp, err := k.RoundTripper.RoundTrip(r)
	switch {
	case errors.Is(err, errUnanswered):
		k.b.mayHaveMade(r.URL.Path, "not answered", sent)
	case err == nil && resp.StatusCode >= http.StatusInternalServerError: // of a proxy, say, which waited for less than the write took
		k.b.mayHaveMade(r.URL.Path, fmt.Sprint("answered ", resp.StatusCode), sent)
	}
	if err != nil || resp.StatusCode >= 300 {
		return resp, err
	}
	body, err := drain(&resp.Body)
	if err != nil {
		return nil, err
	}
	var object map[string]any
	if json.Unmarshal(body, &object) == nil {
		if resp.StatusCode == http.StatusCreated || !op.Documents(resp.StatusCode) {
			k.b.keep(r.URL.Path, object)
		}
		items, _ := object["results"].([]any)
		for _, item := range items { // of a write of many
			if made, _ := item.(map[string]any); made["status"] == "created" {
				k.b.keep(r.URL.Path, made)
			}
		}
	}
	return resp, nil
}

func (b *builder) mayHaveMade(path, how string, sent []byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.notes = append(b.notes, fmt.Sprintf("POST %s was %s, and may have made what it sent: %.500s", path, how, sent))
}

// makes reports whether an operation makes objects: the one that it answers with, or several, which it counts as created.
func (o *Operation) makes() bool {
	if o.Method != http.MethodPost || o.Public {
		return false
	}
	if o.Documents(http.StatusCreated) {
		return true
	}
	answer := o.route.Operation.Responses.Value("200")
	if answer == nil {
		return false
	}
	media := answer.Value.Content.Get("application/json") // a server of another version may answer with something else
	return media != nil && media.Schema != nil && media.Schema.Value.Properties["created"] != nil
}

// keep notes where an object is that a request to a path has made, so that it can be taken away. That is at the path, or where the others of its kind
// are. What is neither is a part of another object, and goes with that.
func (b *builder) keep(path string, object map[string]any) {
	id, _ := object["id"].(string)
	kind, _ := object["object"].(string) // what a network gives ids has no prefix
	if prefix, _, is := strings.Cut(id, "_"); is {
		kind = prefix
	}
	collection := path
	if !b.removes(path + "/" + id) {
		i := slices.IndexFunc(b.Document.Operations, func(op *Operation) bool {
			return op.makes() && !strings.Contains(op.Path, "{") && op.Listed() == kind && b.removes(op.Path+"/"+id)
		})
		if i < 0 {
			return
		}
		collection = b.Document.Operations[i].Path
	}
	if kind == "lead" && object["customer"] == nil { // it was one of many
		if resp, err := b.Try(http.MethodGet, collection+"/"+id, nil); err == nil && resp.Status == http.StatusOK {
			_ = json.Unmarshal(resp.Body, &object)
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, place := range []struct{ collection, field string }{{"/v1/customers", "customer"}, {"/v1/ads/campaigns", "campaign_id"}} {
		if with, _ := object[place.field].(string); with != "" && (kind == "lead" || kind == "ad") { // which was made with it
			b.note(place.collection + "/" + with)
		}
	}
	b.note(collection + "/" + id)
}

// note notes a path, to be removed. The caller holds b.mu.
func (b *builder) note(path string) {
	if !slices.Contains(b.made, path) {
		b.made = append(b.made, path)
	}
}

// isMade reports whether what is at a path is to be removed.
func (b *builder) isMade(path string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Contains(b.made, path)
}

// removals are how an object is taken away, the best way first.
var removals = []struct{ method, suffix string }{
	{http.MethodDelete, ""}, {http.MethodPost, "/archive"}, {http.MethodPost, "/expire"}, {http.MethodPost, "/revoke"}, {http.MethodPost, "/disable"},
}

// removes reports whether the API can take away what is at a path.
func (b *builder) removes(path string) bool {
	for _, way := range removals {
		if op, _ := b.Document.Match(way.method, path+way.suffix); op != nil {
			return true
		}
	}
	return false
}

// remove takes away what was made, the last first.
func (b *builder) remove() {
	slices.Reverse(b.made)
	for _, path := range b.made {
		collection, id := path[:strings.LastIndex(path, "/")], path[strings.LastIndex(path, "/")+1:]
		if why := b.removeOne(collection, id); why != "" {
			b.notes = append(b.notes, fmt.Sprintf("%s is left behind: %s", path, why))
		}
	}
}

func (b *builder) removeOne(collection, id string) (why string) {
	why = "the API cannot remove it"
	for _, way := range removals {
		op, _ := b.Document.Match(way.method, collection+"/"+id+way.suffix)
		if op == nil {
			continue
		}
		var body any
		if op.NeedsBody() {
			body = map[string]any{"platform": "facebook"} // that of the sandbox's channel
		}
		resp, err := b.Try(way.method, collection+"/"+id+way.suffix, body)
		switch {
		case err != nil:
			return err.Error()
		case resp.Status < 300 || resp.Status == http.StatusNotFound:
			return ""
		}
		why = fmt.Sprintf("%s %s is answered %d %s", way.method, op.Path, resp.Status, resp.faultCode())
	}
	return why
}
