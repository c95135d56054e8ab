package metafake

// createAd creates an ad in an ad set, with a creative that exists.
func (f *Fake) createAd(r *request) (any, *Error) {
	group := f.nodes[r.params.Get("adset_id")]
	if group == nil || group.node != "AdSet" || group.text("account_id") != r.account() || group.text("status") == "DELETED" {
		return nil, invalid("Param adset_id must be the id of an ad set of this account")
	}
	creative, e := f.creativeOf(r, group)
	switch {
	case e != nil:
		return nil, e
	case r.params.Get("status") == "":
		return nil, invalid("status is needed")
	}
	campaign := group.fields["campaign"].(*object)
	o := f.add("Ad", map[string]any{"account_id": r.account(), "campaign": campaign, "campaign_id": campaign.id(), "adset": group, "creative": creative,
		"created_time": f.stamp(), "updated_time": f.stamp()})
	f.keep(o, r)
	return map[string]any{"id": o.id()}, nil
}

// creativeOf returns the creative that a request names for an ad of an ad set.
func (f *Fake) creativeOf(r *request, group *object) (*object, *Error) {
	var ref struct {
		ID string `json:"creative_id"`
	}
	r.decode("creative", &ref)
	creative := f.nodes[ref.ID]
	if creative == nil || creative.node != "AdCreative" || creative.text("account_id") != group.text("account_id") {
		return nil, invalid("Param creative must be the id of a creative of this account")
	}
	switch goal := group.text("optimization_goal"); {
	case goal == "LEAD_GENERATION" && creative.form() == "":
		return nil, broken("K7", 0, "An ad for leads needs an instant form in its call to action.")
	case goal == "THRUPLAY" && !f.showsVideo(creative):
		return nil, broken("K6", 0, "THRUPLAY shows videos.")
	}
	return creative, checkDomain(r, group, creative)
}

// Review plays Meta's review of a node. It sets an effective status that lasts while the switch is on, and the reason for it.
func (f *Fake) Review(id, effective, reason string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.states[id] = effective
	if reason != "" {
		f.nodes[id].set(f.table, "ad_review_feedback", map[string]any{"global": map[string]string{"Content": reason}})
	}
}
