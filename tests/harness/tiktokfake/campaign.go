package tiktokfake

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"
)

// serve carries out a request.
func (n *Network) serve(r *request) (any, *refusal) {
	switch r.operation {
	case "POST campaign/create":
		return n.createCampaign(r)
	case "POST adgroup/create":
		return n.createGroup(r)
	case "POST ad/create":
		return n.createAds(r)
	case "GET campaign/get":
		return n.list(r, "campaign", r.account.campaigns, r.account.showCampaign)
	case "GET adgroup/get":
		return n.list(r, "adgroup", r.account.groups, r.account.showGroup)
	case "GET ad/get":
		return n.list(r, "ad", r.account.ads, r.account.showAd)
	case "POST campaign/update":
		return n.updateCampaign(r)
	case "POST adgroup/update":
		return n.updateGroup(r)
	case "POST ad/update":
		return n.updateAds(r)
	case "POST campaign/status/update", "POST adgroup/status/update", "POST ad/status/update":
		return n.turn(r)
	case "POST oauth2/access_token":
		return n.grant(r)
	case "GET oauth2/advertiser/get":
		return n.reached(r)
	case "GET report/integrated/get":
		return n.report(r)
	}
	for _, room := range []func(*request) (any, *refusal, bool){n.serveMedia, n.serveAudience, n.serveTool} {
		if data, refusal, mine := room(r); mine {
			return data, refusal
		}
	}
	return nil, invalid("%s is not played here", r.operation)
}

// made keeps a new thing with its id.
func (n *Network) made(rows *[]Object, kind string, params Object) Object {
	one := maps.Clone(params)
	delete(one, "request_id")
	one[kind+"_id"] = n.id()
	one["create_time"], one["modify_time"] = n.stamp(), n.stamp()
	if one.Text("operation_status") == "" {
		one["operation_status"] = "ENABLE"
	}
	*rows = append(*rows, one)
	return one
}

func (n *Network) createCampaign(r *request) (any, *refusal) {
	if e := n.once(r, r.account.campaigns, "campaign_name"); e != nil {
		return nil, e
	}
	if e := checkCampaign(r.params); e != nil {
		return nil, e
	}
	n.done(r)
	return r.account.showCampaign(n, n.made(&r.account.campaigns, "campaign", r.params)), nil
}

func (n *Network) createGroup(r *request) (any, *refusal) {
	campaign := find(r.account.campaigns, "campaign_id", r.params.Text("campaign_id"))
	if campaign == nil || isDeleted(campaign) {
		return nil, broken("T4", "The campaign does not exist or is deleted.")
	}
	siblings := slices.DeleteFunc(slices.Clone(r.account.groups), func(g Object) bool { return g.Text("campaign_id") != campaign.Text("campaign_id") })
	if e := n.once(r, siblings, "adgroup_name"); e != nil {
		return nil, e
	}
	if e := n.checkGroup(campaign, r.params); e != nil {
		return nil, e
	}
	n.done(r)
	return r.account.showGroup(n, n.made(&r.account.groups, "adgroup", r.params)), nil
}

func (n *Network) createAds(r *request) (any, *refusal) {
	group := find(r.account.groups, "adgroup_id", r.params.Text("adgroup_id"))
	if group == nil || strings.HasSuffix(r.account.secondaryOfGroup(n, group), "DELETE") {
		return nil, broken("T4", "The ad group does not exist or is deleted.")
	}
	creatives := objects(r.params["creatives"])
	if len(creatives) == 0 || len(creatives) > 20 {
		return nil, broken("T12", "creatives: 1 to 20.")
	}
	for _, one := range creatives {
		if one.Text("ad_id") != "" {
			return nil, invalid("ad_id: no such parameter")
		}
		if e := n.checkAd(r.account, group, one); e != nil {
			return nil, e
		}
	}
	ids, shown := []string{}, []Object{}
	for _, one := range creatives {
		one["adgroup_id"], one["campaign_id"], one["review"] = group["adgroup_id"], group["campaign_id"], "DELIVERY_OK"
		made := n.made(&r.account.ads, "ad", one)
		ids, shown = append(ids, made.Text("ad_id")), append(shown, r.account.showAd(n, made))
	}
	return Object{"ad_ids": ids, "creatives": shown, "need_audit": true}, nil
}

// objects reads a list of objects.
func objects(value any) []Object {
	list, _ := value.([]any)
	var all []Object
	for _, one := range list {
		object, _ := one.(map[string]any)
		all = append(all, maps.Clone(object))
	}
	return all
}

func (a *Account) showCampaign(_ *Network, o Object) Object {
	shown := maps.Clone(o)
	shown["secondary_status"] = map[string]string{"ENABLE": "CAMPAIGN_STATUS_ENABLE", "DISABLE": "CAMPAIGN_STATUS_DISABLE", "DELETE": "CAMPAIGN_STATUS_DELETE"}[o.Text("operation_status")]
	hide(shown)
	return shown
}

// hide says of a deleted thing that it is off, as TikTok does: that it is deleted shows in its secondary status.
func hide(shown Object) {
	if isDeleted(shown) {
		shown["operation_status"] = "DISABLE"
	}
}

func (a *Account) showGroup(n *Network, o Object) Object {
	shown := maps.Clone(o)
	shown["secondary_status"] = a.secondaryOfGroup(n, o)
	if o.Text("schedule_type") == "SCHEDULE_FROM_NOW" {
		shown["schedule_end_time"] = n.now().AddDate(10, 0, 0).UTC().Format(time.DateTime)
	}
	if o["search_result_enabled"] == nil {
		shown["search_result_enabled"] = a.performs(o) && (o.Text("placement_type") != "PLACEMENT_TYPE_NORMAL" || slices.Contains(o.Texts("placements"), "PLACEMENT_TIKTOK"))
	}
	for _, name := range []string{"bid_price", "conversion_bid_price", "roas_bid"} {
		if o[name] == nil {
			shown[name] = json.Number("0")
		}
	}
	hide(shown)
	return shown
}

func (a *Account) secondaryOfGroup(n *Network, o Object) string {
	campaign := find(a.campaigns, "campaign_id", o.Text("campaign_id"))
	now := n.stamp()
	switch {
	case isDeleted(campaign):
		return "ADGROUP_STATUS_CAMPAIGN_DELETE"
	case isDeleted(o):
		return "ADGROUP_STATUS_DELETE"
	case o.Text("schedule_type") == "SCHEDULE_START_END" && o.Text("schedule_end_time") <= now:
		return "ADGROUP_STATUS_TIME_DONE"
	case o.Text("operation_status") == "DISABLE":
		return "ADGROUP_STATUS_DISABLE"
	case campaign.Text("operation_status") == "DISABLE":
		return "ADGROUP_STATUS_CAMPAIGN_DISABLE"
	case o.Text("schedule_start_time") > now:
		return "ADGROUP_STATUS_NOT_START"
	}
	return "ADGROUP_STATUS_DELIVERY_OK"
}

func (a *Account) showAd(n *Network, o Object) Object {
	shown := maps.Clone(o)
	delete(shown, "review")
	shown["secondary_status"] = a.secondaryOfAd(n, o)
	hide(shown)
	return shown
}

func (a *Account) secondaryOfAd(n *Network, o Object) string {
	group := find(a.groups, "adgroup_id", o.Text("adgroup_id"))
	above := a.secondaryOfGroup(n, group)
	switch {
	case above == "ADGROUP_STATUS_CAMPAIGN_DELETE":
		return "AD_STATUS_CAMPAIGN_DELETE"
	case above == "ADGROUP_STATUS_DELETE":
		return "AD_STATUS_ADGROUP_DELETE"
	case isDeleted(o):
		return "AD_STATUS_DELETE"
	case above == "ADGROUP_STATUS_TIME_DONE":
		return "AD_STATUS_DONE"
	case o.Text("operation_status") == "DISABLE":
		return "AD_STATUS_DISABLE"
	case above == "ADGROUP_STATUS_DISABLE":
		return "AD_STATUS_ADGROUP_DISABLE"
	case above == "ADGROUP_STATUS_CAMPAIGN_DISABLE":
		return "AD_STATUS_CAMPAIGN_DISABLE"
	}
	return "AD_STATUS_" + o.Text("review")
}

// list serves a list: the newest first, without deleted things unless they are asked for.
func (n *Network) list(r *request, kind string, rows []Object, show func(*Network, Object) Object) (any, *refusal) {
	filter := r.params.Object("filtering")
	for _, name := range []string{"campaign_ids", "adgroup_ids", "ad_ids"} {
		if filter[name] != nil && (len(filter.Texts(name)) == 0 || len(filter.Texts(name)) > 100) {
			return nil, broken("T13", "%s: 1 to 100.", name)
		}
	}
	var found []Object
	for _, one := range slices.Backward(rows) {
		shown := show(n, one)
		gone := strings.HasSuffix(shown.Text("secondary_status"), "_DELETE")
		if filter.Text("primary_status") != "STATUS_ALL" && gone || shown.Text("create_time") < filter.Text("creation_filter_start_time") {
			continue
		}
		fits := true
		for _, name := range []string{"campaign", "adgroup", "ad"} {
			if wanted := filter.Texts(name + "_ids"); wanted != nil && !slices.Contains(wanted, shown.Text(name+"_id")) {
				fits = false
			}
		}
		if name := filter.Text(kind + "_name"); fits && strings.Contains(shown.Text(kind+"_name"), name) {
			found = append(found, shown)
		}
	}
	return n.paged(r, found, 1000)
}

// paged returns a page of rows, ten of them if nothing else is asked for.
func (n *Network) paged(r *request, rows []Object, most int) (any, *refusal) {
	page, size := 1, 10
	if r.params["page"] != nil {
		page = int(r.params.Number("page"))
	}
	if r.params["page_size"] != nil {
		size = int(r.params.Number("page_size"))
	}
	if page < 1 || size < 1 || size > most {
		return nil, broken("T13", "page_size: 1 to %d.", most)
	}
	if n.Most > 0 {
		size = min(size, n.Most)
	}
	from, to := min((page-1)*size, len(rows)), min(page*size, len(rows))
	list := append([]Object{}, rows[from:to]...)
	return Object{"list": list, "page_info": Object{
		"page": page, "page_size": size, "total_number": len(rows), "total_page": (len(rows) + size - 1) / size,
	}}, nil
}

func (n *Network) updateCampaign(r *request) (any, *refusal) {
	one := find(r.account.campaigns, "campaign_id", r.params.Text("campaign_id"))
	if one == nil || isDeleted(one) {
		return nil, broken("T4", "The campaign does not exist or is deleted.")
	}
	after := maps.Clone(one)
	maps.Copy(after, r.params)
	if e := checkCampaign(after); e != nil {
		return nil, e
	}
	maps.Copy(one, after)
	return r.account.showCampaign(n, one), nil
}

func (n *Network) updateGroup(r *request) (any, *refusal) {
	one := find(r.account.groups, "adgroup_id", r.params.Text("adgroup_id"))
	if one == nil || strings.HasSuffix(r.account.secondaryOfGroup(n, one), "DELETE") {
		return nil, broken("T4", "The ad group does not exist or is deleted.")
	}
	after := maps.Clone(one)
	maps.Copy(after, r.params)
	campaign := find(r.account.campaigns, "campaign_id", one.Text("campaign_id"))
	delete(after, "started")
	if e := n.checkGroup(campaign, after); e != nil {
		return nil, e
	}
	maps.Copy(one, after)
	return r.account.showGroup(n, one), nil
}

// patchable are the fields of an ad that can be changed alone (T11).
var patchable = []string{"ad_id", "ad_name", "identity_id", "identity_type", "identity_authorized_bc_id", "video_id", "image_ids", "music_id", "tiktok_item_id", "ad_text"}

func (n *Network) updateAds(r *request) (any, *refusal) {
	group := find(r.account.groups, "adgroup_id", r.params.Text("adgroup_id"))
	if group == nil {
		return nil, broken("T4", "The ad group does not exist.")
	}
	patch, _ := r.params["patch_update"].(bool)
	ids := []string{}
	for _, change := range objects(r.params["creatives"]) {
		one := find(r.account.ads, "ad_id", change.Text("ad_id"))
		if one == nil || one.Text("adgroup_id") != group.Text("adgroup_id") || strings.HasSuffix(r.account.secondaryOfAd(n, one), "DELETE") {
			return nil, broken("T4", "The ad does not exist or is deleted.")
		}
		after := Object{}
		for name := range change {
			if patch && !slices.Contains(patchable, name) {
				return nil, broken("T11", "%s cannot be patched.", name)
			}
		}
		if patch {
			after = maps.Clone(one)
		}
		for _, kept := range []string{"ad_id", "adgroup_id", "campaign_id", "review", "operation_status", "create_time", "modify_time"} {
			after[kept] = one[kept]
		}
		maps.Copy(after, change)
		if e := n.checkAd(r.account, group, after); e != nil {
			return nil, e
		}
		clear(one)
		maps.Copy(one, after)
		ids = append(ids, one.Text("ad_id"))
	}
	return Object{"ad_ids": ids}, nil
}

// turn turns switches, all of them or none.
func (n *Network) turn(r *request) (any, *refusal) {
	kind, _, _ := strings.Cut(strings.TrimPrefix(r.operation, "POST "), "/")
	rows := map[string][]Object{"campaign": r.account.campaigns, "adgroup": r.account.groups, "ad": r.account.ads}[kind]
	show := map[string]func(*Network, Object) Object{"campaign": r.account.showCampaign, "adgroup": r.account.showGroup, "ad": r.account.showAd}[kind]
	ids := r.params.Texts(kind + "_ids")
	if len(ids) == 0 || len(ids) > 20 {
		return nil, broken("T14", "%s_ids: 1 to 20.", kind)
	}
	for _, id := range ids {
		one := find(rows, kind+"_id", id)
		if one == nil || strings.HasSuffix(show(n, one).Text("secondary_status"), "_DELETE") {
			return nil, broken("T4", "%s %s does not exist or is deleted.", kind, id)
		}
	}
	for _, id := range ids {
		find(rows, kind+"_id", id)["operation_status"] = r.params.Text("operation_status")
	}
	return Object{kind + "_ids": ids, "status": r.params.Text("operation_status")}, nil
}
