package tiktokfake

import (
	"fmt"
	"slices"
	"strings"
)

// serveTool serves what is known of ad accounts, identities, pixels and targeting.
func (n *Network) serveTool(r *request) (any, *refusal, bool) {
	var data any
	var e *refusal
	switch r.operation {
	case "GET advertiser/info":
		data, e = n.advertisers(r)
	case "GET identity/get":
		data, e = n.identities(r)
	case "GET identity/video/get":
		data, e = n.posts(r)
	case "GET bc/get":
		data, e = n.paged(r, n.centers, 50)
	case "GET bc/asset/get":
		data, e = n.assets(r)
	case "GET pixel/list":
		data, e = n.pixels(r)
	case "POST event/track":
		data, e = n.track(r)
	case "POST tool/targeting/search":
		data, e = places(r)
	case "GET tool/language":
		data = Object{"languages": []Object{{"code": "en", "name": "English"}, {"code": "es", "name": "Spanish"}, {"code": "ja", "name": "Japanese"}}}
	case "GET tool/interest_category":
		data = Object{"interest_categories": []Object{
			{"interest_category_id": "15", "interest_category_name": "Games", "level": 1, "sub_category_ids": []string{"15101"}},
			{"interest_category_id": "15101", "interest_category_name": "Puzzle Games", "level": 2, "sub_category_ids": []string{}},
		}}
	case "GET tool/action_category":
		data = Object{"action_categories": []Object{
			{"action_category_id": "28", "name": "Food", "action_scene": "VIDEO_RELATED", "level": 1, "sub_category_ids": []string{"28101"}},
			{"action_category_id": "28101", "name": "Tea", "action_scene": "VIDEO_RELATED", "level": 2, "sub_category_ids": []string{}},
			{"action_category_id": "35", "name": "Food creators", "action_scene": "CREATOR_RELATED", "level": 1, "sub_category_ids": []string{}},
		}}
	default:
		return nil, nil, false
	}
	return data, e, true
}

func (n *Network) advertisers(r *request) (any, *refusal) {
	ids := r.params.Texts("advertiser_ids")
	if len(ids) == 0 || len(ids) > 100 {
		return nil, broken("T13", "advertiser_ids: 1 to 100.")
	}
	list := []Object{}
	for _, id := range ids {
		if !slices.Contains(n.tokens[r.token], id) {
			return nil, &refusal{code: codeNoPermission, message: "No permission to operate advertiser " + id}
		}
		list = append(list, n.accounts[id].about)
	}
	return Object{"list": list}, nil
}

func (n *Network) identities(r *request) (any, *refusal) {
	data, e := n.paged(r, r.account.identities, 100)
	if e != nil {
		return nil, e
	}
	page := data.(Object)
	return Object{"identity_list": page["list"], "page_info": page["page_info"]}, nil
}

// posts serves two posts at once, whatever was asked for.
func (n *Network) posts(r *request) (any, *refusal) {
	p := r.params
	who := find(r.account.identities, "identity_id", p.Text("identity_id"))
	if who == nil || who.Text("identity_type") != p.Text("identity_type") || p.Text("identity_type") == "CUSTOMIZED_USER" {
		return nil, broken("T8", "The identity has no posts.")
	}
	if who["identity_authorized_bc_id"] != nil && who["identity_authorized_bc_id"] != p["identity_authorized_bc_id"] {
		return nil, broken("T8", "identity_authorized_bc_id is needed.")
	}
	if p.Number("count") > 20 {
		return nil, broken("T13", "count: 1 to 20.")
	}
	all := r.account.posts[p.Text("identity_id")]
	from := 0
	_, _ = fmt.Sscan(p.Text("cursor"), &from)
	to := min(from+2, len(all))
	return Object{"video_list": append([]Object{}, all[from:to]...), "has_more": to < len(all), "cursor": fmt.Sprint(to)}, nil
}

func (n *Network) assets(r *request) (any, *refusal) {
	id := r.params.Text("bc_id")
	if n.forbids[id] {
		return nil, &refusal{code: codeNoPermission, message: "No permission to the business center."}
	}
	var list []Object
	for _, account := range n.order {
		if a := n.accounts[account]; a.about.Text("owner_bc_id") == id {
			list = append(list, Object{"asset_id": a.ID, "asset_name": a.about["name"], "asset_type": "ADVERTISER"})
		}
	}
	return n.paged(r, list, 50)
}

func (n *Network) pixels(r *request) (any, *refusal) {
	rows := r.account.pixels
	if id := r.params.Text("pixel_id"); id != "" {
		rows = slices.DeleteFunc(slices.Clone(rows), func(o Object) bool { return o.Text("pixel_id") != id })
	}
	data, e := n.paged(r, rows, 20)
	if e != nil {
		return nil, e
	}
	page := data.(Object)
	return Object{"pixels": page["list"], "page_info": page["page_info"]}, nil
}

// track takes events, all of them or none.
func (n *Network) track(r *request) (any, *refusal) {
	known := false
	for _, id := range n.tokens[r.token] {
		known = known || find(n.accounts[id].pixels, "pixel_code", r.params.Text("event_source_id")) != nil
	}
	events := objects(r.params["data"])
	if !known || len(events) == 0 || len(events) > 1000 {
		return nil, invalid("event_source_id: no such pixel, or data: 1 to 1000.")
	}
	for i, one := range events {
		if user := one.Object("user"); len(user) == 0 {
			return nil, invalid("data[%d].user: who it was is needed.", i)
		}
	}
	n.events = append(n.events, events...)
	return Object{}, nil
}

// atlas are the places that the fake knows. Nobody can be reached in Newcastle.
var atlas = []struct{ id, name, kind, country, in string }{
	{"5332921", "California", "PROVINCE", "US", "United States"}, {"5128638", "New York", "PROVINCE", "US", "United States"},
	{"5128581", "New York City", "CITY", "US", "New York"}, {"10001", "10001", "ZIP_CODE", "US", "New York"}, {"2911297", "Hamburg", "PROVINCE", "DE", "Germany"},
	{"5102076", "Newcastle", "CITY", "US", "Wyoming"},
}

func places(r *request) (any, *refusal) {
	p := r.params
	if words := p.Texts("keywords"); p.Text("search_type") != "FUZZY_SEARCH" || len(words) != 1 || words[0] == "" {
		return nil, invalid("keywords: one with FUZZY_SEARCH.")
	}
	tags := []Object{}
	for _, place := range atlas {
		countries := p.Texts("region_codes")
		if strings.HasPrefix(strings.ToLower(place.name), strings.ToLower(p.Texts("keywords")[0])) && slices.Contains(p.Texts("geo_types"), place.kind) &&
			(countries == nil || slices.Contains(countries, place.country)) {
			tags = append(tags, Object{"name": place.name, "targeting_type": "GEO", "status_info": Object{"status": map[bool]string{true: "DISABLED", false: "ENABLED"}[place.name == "Newcastle"]},
				"geo": Object{"geo_id": place.id, "geo_type": place.kind, "region_code": place.country, "description": place.in}})
		}
	}
	return Object{"targeting_tag_list": tags}, nil
}
