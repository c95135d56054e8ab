package metafake

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// do carries out a request that the table allows.
func (f *Fake) do(r *request) (any, *Error) {
	switch r.node.node + " " + r.method + " " + r.edge {
	case "AdAccount POST campaigns":
		return f.createCampaign(r)
	case "AdAccount POST adsets":
		return f.createAdSet(r)
	case "AdAccount POST adcreatives":
		return f.createCreative(r)
	case "AdAccount POST advideos":
		return f.createVideo(r)
	case "AdVideo GET .":
		return f.showVideo(r), nil
	case "AdAccount POST ads":
		return f.createAd(r)
	case "AdAccount POST customaudiences":
		return f.createAudience(r)
	case "AdAccount GET dsa_recommendations":
		return map[string]any{"data": []any{map[string]any{"recommendations": []string{Beneficiary}}}}, nil
	case "AdAccount GET insights":
		return f.insights(r)
	case "User GET permissions":
		return permissions(), nil
	case "CustomAudience POST users", "CustomAudience DELETE users":
		return f.changeUsers(r)
	case "AdsPixel POST events":
		return f.receiveEvents(r)
	case "AdAccount GET generatepreviews":
		return f.previewSpec(r)
	case "Ad GET previews":
		return previewed(r), nil
	case "AdAccount GET reachestimate":
		return f.reach(r)
	case "TargetingSearch GET .":
		return search(r)
	case "Campaign POST .", "AdSet POST .", "Ad POST .":
		return f.update(r)
	case "Page GET published_posts":
		if r.caller != r.id {
			return nil, oauth(http.StatusBadRequest, 190, "(#190) This method must be called with a Page Access Token")
		}
	}
	switch {
	case r.method == "DELETE" && r.edge == ".":
		return f.remove(r)
	case r.method == "GET" && r.edge == ".":
		return f.show(r.node, r.fields), nil
	case r.method == "GET":
		return f.list(r)
	}
	return nil, invalid("%s %s %s is not part of this fake", r.node.node, r.method, r.edge)
}

// show returns a node as it is answered, after its states were computed.
func (f *Fake) show(o *object, s selection) map[string]any {
	f.settle(o)
	return o.show(s)
}

// children returns the nodes on an edge. Ads, ad sets and campaigns are found by what they belong to.
func (f *Fake) children(r *request) []*object {
	var found []*object
	for _, id := range f.order {
		o := f.nodes[id]
		if o == nil || !f.isOn(r, o) {
			continue
		}
		found = append(found, o)
	}
	slices.Reverse(found) // Meta lists the newest first
	return found
}

// isOn reports whether a node is on the edge that a request asks for.
func (f *Fake) isOn(r *request, o *object) bool {
	if slices.Contains(f.edges[r.id+"/"+r.edge], o.id()) {
		return true
	}
	if o.node != edgeNodes[r.edge] {
		return false
	}
	switch r.node.node {
	case "AdAccount":
		return "act_"+o.text("account_id") == r.id
	case "Campaign":
		return o.text("campaign_id") == r.id
	case "AdSet":
		return o.text("adset_id") == r.id
	}
	return false
}

var edgeNodes = map[string]string{"campaigns": "Campaign", "adsets": "AdSet", "ads": "Ad", "customaudiences": "CustomAudience"}

// list answers with a page of an edge. Archived and deleted nodes are only in it if the request asks for them.
func (f *Fake) list(r *request) (any, *Error) {
	wanted, e := f.wanted(r)
	if e != nil {
		return nil, e
	}
	found := slices.DeleteFunc(f.children(r), func(o *object) bool {
		f.settle(o)
		return !wanted(o)
	})
	return f.page(r, found)
}

// wanted reads effective_status and filtering, and returns which nodes they let through.
func (f *Fake) wanted(r *request) (func(*object) bool, *Error) {
	var states []string
	var filters []filter
	_ = json.Unmarshal([]byte(r.params.Get("effective_status")), &states)
	_ = json.Unmarshal([]byte(r.params.Get("filtering")), &filters)
	if e := statesOf(edgeNodes[r.edge], states); e != nil {
		return nil, e
	}
	for _, x := range filters {
		if e := x.check(f.table, edgeNodes[r.edge]); e != nil {
			return nil, e
		}
		if _, field, _ := strings.Cut(x.Field, "."); field == "effective_status" {
			if e := statesOf(edgeNodes[r.edge], x.Value); e != nil {
				return nil, e
			}
		}
	}
	return func(o *object) bool {
		state := o.text("effective_status")
		if states == nil && (state == "ARCHIVED" || state == "DELETED") || states != nil && !slices.Contains(states, state) {
			return false
		}
		return !slices.ContainsFunc(filters, func(x filter) bool { return !x.matches(o) })
	}, nil
}

// filter is one condition of filtering.
type filter struct {
	Field, Operator string
	Value           []string
}

// prefixes are how the field of a filter begins on each kind of node.
var prefixes = map[string]string{"Campaign": "campaign", "AdSet": "adset", "Ad": "ad"}

// ancestors are the kinds of nodes above each, whose ids a filter may also name.
var ancestors = map[string][]string{"AdSet": {"campaign"}, "Ad": {"campaign", "adset"}}

// check refuses a filter that is not possible for a kind of node.
func (x filter) check(t *table, node string) *Error {
	prefix, field, _ := strings.Cut(x.Field, ".")
	known := map[string]string{"id": "IN", "adlabels": "ANY", "effective_status": "IN"}
	above := field == "id" && slices.Contains(ancestors[node], prefix)
	if !above && prefix != prefixes[node] || known[field] != x.Operator {
		return invalid("Param filtering[0] field %s with operator %s is not possible here", x.Field, x.Operator)
	}
	if len(x.Value) == 0 {
		return invalid("Param filtering[0] has no value")
	}
	for _, word := range x.Value {
		if field == "effective_status" && !t.enums[node+"_effective_status"][word] {
			return invalid("Param filtering[0] value %s is not a state of a %s", word, prefix)
		}
	}
	return nil
}

func (x filter) matches(o *object) bool {
	prefix, field, _ := strings.Cut(x.Field, ".")
	if prefix != prefixes[o.node] {
		field = prefix + "_id"
	}
	if field != "adlabels" {
		return slices.Contains(x.Value, o.text(field))
	}
	labels, _ := o.fields["adlabels"].([]*object)
	return slices.ContainsFunc(labels, func(l *object) bool { return slices.Contains(x.Value, l.text("name")) })
}

// page answers with a part of a list, after the cursor `after`. As with Meta, the address of the next page contains the token.
func (f *Fake) page(r *request, found []*object) (any, *Error) {
	from, limit := 0, 25
	if r.params.Has("limit") {
		limit, _ = strconv.Atoi(r.params.Get("limit"))
	}
	most := 500
	if r.edge == "published_posts" || r.edge == "media" {
		most = 100
	}
	if limit < 1 || limit > most {
		return nil, invalid("Param limit must be from 1 to %d", most)
	}
	if after := r.params.Get("after"); after != "" {
		id, err := base64.RawURLEncoding.DecodeString(after)
		if from = 1 + slices.IndexFunc(found, func(o *object) bool { return o.id() == string(id) }); err != nil || from == 0 {
			return nil, invalid("Invalid cursors values")
		}
	}
	shown := found[from:min(from+limit, len(found))]
	data := make([]any, len(shown))
	for i, o := range shown {
		data[i] = f.show(o, r.fields)
	}
	return f.envelope(r, data, shown, from+limit < len(found)), nil
}

func (f *Fake) envelope(r *request, data []any, shown []*object, more bool) any {
	if len(shown) == 0 {
		return map[string]any{"data": data}
	}
	cursor := func(o *object) string { return base64.RawURLEncoding.EncodeToString([]byte(o.id())) }
	after := cursor(shown[len(shown)-1])
	paging := map[string]any{"cursors": map[string]string{"before": cursor(shown[0]), "after": after}}
	if more {
		q := url.Values{"access_token": {r.token}, "after": {after}}
		paging["next"] = "https://graph.facebook.com/" + Version + "/" + r.id + "/" + r.edge + "?" + q.Encode()
	}
	return map[string]any{"data": data, "paging": paging}
}
