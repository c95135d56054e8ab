package pinterestfake

import "unicode/utf8"

func (c *call) listAds() answer {
	columns := map[string]string{"ad_ids": "id", "campaign_ids": "campaign_id"}
	return c.entities(each(c.account.ads, c.ad), columns)
}

// createAds implements the creation of ads, each by itself.
func (c *call) createAds() answer {
	return c.batch(true, func(item Object) (Object, *refusal) {
		group := row(c.account.groups, item.Text("ad_group_id"))
		pin := row(c.account.owner.pins, item.Text("pin_id"))
		switch {
		case group == nil:
			return nil, missing("Ad group")
		case group.Text("status") == "ARCHIVED":
			return nil, invalid("The ad group is archived.")
		case pin == nil:
			return nil, missing("Pin")
		case pin.Text("creative_type") != item.Text("creative_type"): // rule P8
			return nil, invalid("creative_type differs from the Pin's.")
		case group.Text("billable_event") == "VIDEO_V_50_MRC" && pin.Text("creative_type") != "VIDEO": // rule P7
			return nil, invalid("VIDEO_COMPLETION shows videos.")
		case utf8.RuneCountInString(item.Text("name")) > longestName:
			return nil, invalid("Ad name is too long.")
		}
		start := Object{"id": c.n.mint(), "status": "ACTIVE", "campaign_id": group["campaign_id"],
			"review_status": "APPROVED", "created_time": c.n.now().Unix()}
		ad := merge(start, item)
		c.account.ads = append(c.account.ads, ad)
		return c.ad(ad), nil
	})
}

func (c *call) updateAds() answer {
	return c.batch(true, func(item Object) (Object, *refusal) {
		ad := row(c.account.ads, item.Text("id"))
		if ad == nil {
			return nil, missing("Ad")
		}
		merged := merge(ad, item)
		if refused := reopened(ad, merged); refused != nil {
			return nil, refused
		}
		store(ad, merged)
		return c.ad(ad), nil
	})
}

// ad is an ad as a caller sees it.
func (c *call) ad(o Object) Object {
	status := o.Text("status")
	switch {
	case status != "ACTIVE":
	case c.account.Disabled:
		status = "ADVERTISER_DISABLED"
	case o.Text("review_status") == "OTHER":
		status = "PENDING"
	default:
		status = o.Text("review_status")
	}
	seen := merge(o, Object{"summary_status": status})
	delete(seen, "creative_type")
	return seen
}
