package zerniofake

import (
	"net/http"
	"slices"
)

func (n *Network) findCampaign(id string) *Campaign {
	i := slices.IndexFunc(n.campaigns, func(c *Campaign) bool { return c.ID == id })
	if i < 0 {
		return nil
	}
	return n.campaigns[i]
}

func (n *Network) findSet(id string) (*Campaign, *AdSet) {
	for _, c := range n.campaigns {
		for _, set := range c.Sets {
			if set.ID == id {
				return c, set
			}
		}
	}
	return nil, nil
}

// findAd finds an ad by Zernio's id, or on Meta by the network's.
func (n *Network) findAd(id string) (*Campaign, *AdSet, *Ad) {
	for _, c := range n.campaigns {
		for _, set := range c.Sets {
			for _, a := range set.Ads {
				if a.Own == id || a.ID == id && isMeta(c.Platform) {
					return c, set, a
				}
			}
		}
	}
	return nil, nil, nil
}

// states returns the states of all ads of a campaign.
func (c *Campaign) states() map[*Ad]string {
	all := map[*Ad]string{}
	for _, set := range c.Sets {
		for _, a := range set.Ads {
			all[a] = a.status(set, c)
		}
	}
	return all
}

// turned counts which of the ads below a switch have another state than before.
func turned(before map[*Ad]string, c *Campaign, below []*Ad, status any) Object {
	updated, skipped, reasons := 0, 0, []string{}
	after := c.states()
	for _, a := range below {
		if before[a] != after[a] {
			updated++
			continue
		}
		if skipped++; !slices.Contains(reasons, after[a]) {
			reasons = append(reasons, after[a])
		}
	}
	return Object{"status": status, "updated": updated, "skipped": skipped, "skippedReasons": reasons}
}

func (q *request) campaign() (*Campaign, *refusal) {
	c := q.n.findCampaign(q.at["campaignId"])
	if c == nil || c.Platform != q.body["platform"] {
		return nil, missing("Campaign")
	}
	return c, nil
}

func (q *request) switchCampaign() (Object, *refusal) {
	c, err := q.campaign()
	if err != nil {
		return nil, err
	}
	before := c.states()
	c.On = q.body["status"] == "active"
	return turned(before, c, c.ads(), q.body["status"]), nil
}

func (q *request) updateCampaign() (Object, *refusal) {
	c, err := q.campaign()
	if err != nil {
		return nil, err
	}
	b := q.body
	if b["budget"] != nil {
		if !isMeta(c.Platform) {
			return nil, unsupported("budget")
		}
		if c.Budget == nil {
			return nil, &refusal{Error: "The campaign is ABO", Code: "BUDGET_LEVEL_MISMATCH", Param: "budget", status: http.StatusConflict}
		}
		c.Budget = b["budget"].(Object)
	}
	if b["bidStrategy"] != nil {
		if isMeta(c.Platform) && (b["bidAmount"] != nil || b["roasAverageFloor"] != nil) {
			return nil, invalid("bidAmount", "The amount is at the ad set.")
		}
		c.Strategy = text(b, "bidStrategy")
	}
	return Object{"updated": len(c.ads())}, nil
}

func (q *request) deleteCampaign() (Object, *refusal) {
	c, err := q.campaign()
	if err != nil {
		return nil, err
	}
	for _, a := range c.ads() {
		a.Cancelled = true
	}
	return Object{"deleted": true, "adCount": len(c.ads())}, nil
}

func (q *request) set() (*Campaign, *AdSet, *refusal) {
	c, set := q.n.findSet(q.at["adSetId"])
	if set == nil || c.Platform != q.body["platform"] {
		return nil, nil, missing("Ad set")
	}
	return c, set, nil
}

// switchAdSet turns the switch of an ad set, or of the ads in it where the network has none.
func (q *request) switchAdSet() (Object, *refusal) {
	c, set, err := q.set()
	if err != nil {
		return nil, err
	}
	before, on := c.states(), q.body["status"] == "active"
	if isMeta(c.Platform) || c.Platform == "linkedin" {
		set.On = on
		return turned(before, c, set.Ads, q.body["status"]), nil
	}
	acted := false
	for _, a := range set.Ads {
		if a.On != on && !a.Cancelled {
			a.On, acted = on, true
		}
	}
	if !acted {
		return Object{"updated": 0, "skipped": len(set.Ads), "skippedReasons": []string{"already"}, "message": "No ad could be switched."}, nil
	}
	return turned(before, c, set.Ads, q.body["status"]), nil
}

func (q *request) updateAdSet() (Object, *refusal) {
	c, set, err := q.set()
	if err != nil {
		return nil, err
	}
	b := q.body
	switch {
	case !isMeta(c.Platform) && (c.Platform != "tiktok" || b["name"] != nil || b["platformSpecificData"] != nil):
		return nil, unsupported("This change of an ad set")
	case b["budget"] != nil && set.Budget == nil:
		return nil, &refusal{Error: "The campaign is CBO", Code: "BUDGET_LEVEL_MISMATCH", Param: "budget", status: http.StatusConflict}
	}
	if budget, _ := b["budget"].(Object); budget != nil {
		set.Budget = budget
	}
	if b["bidStrategy"] != nil {
		if err := checkMoney(b, family(c.Platform), 100, "", ""); err != nil {
			return nil, err
		}
		set.Strategy, set.Bid, set.Floor = text(b, "bidStrategy"), b["bidAmount"], b["roasAverageFloor"]
	}
	if settings, _ := b["platformSpecificData"].(Object); settings["endDate"] != nil {
		for _, a := range set.Ads {
			a.Schedule = schedule(a.Schedule["startDate"], settings["endDate"])
		}
	}
	return Object{"budgetLevel": "adset"}, nil
}

func (q *request) ad() (*Campaign, *AdSet, *Ad, *refusal) {
	c, set, a := q.n.findAd(q.at["adId"])
	if a == nil {
		return nil, nil, nil, missing("Ad")
	}
	return c, set, a, nil
}

func (q *request) switchAd() (Object, *refusal) {
	_, _, a, err := q.ad()
	if err != nil {
		return nil, err
	}
	on := q.body["status"] == "active"
	if a.On == on || a.Cancelled {
		return Object{"updated": 0, "skipped": 1, "message": "It is so already."}, nil
	}
	a.On = on
	return Object{"updated": 1, "skipped": 0}, nil
}

func (q *request) updateAd() (Object, *refusal) {
	c, set, a, err := q.ad()
	if err != nil {
		return nil, err
	}
	b := q.body
	creative, _ := b["creative"].(Object)
	switch {
	case b["name"] != nil && !isMeta(c.Platform), creative != nil && !isMeta(c.Platform) && c.Platform != "tiktok", b["targeting"] != nil && !isMeta(c.Platform) && c.Platform != "tiktok":
		return nil, unsupported("This change of an ad")
	case creative != nil && isMeta(c.Platform):
		for _, field := range []string{"headline", "body", "callToAction", "linkUrl", "imageUrl"} {
			if creative[field] == nil {
				return nil, invalid("creative."+field, "%s is required", field)
			}
		}
	}
	if creative != nil {
		a.Creative, a.Review = Object{"body": creative["body"], "linkUrl": creative["linkUrl"]}, "in_review"
	}
	if name := text(b, "name"); name != "" {
		a.Name = name
	}
	if b["status"] != nil {
		a.On = b["status"] == "active"
	}
	if budget, _ := b["budget"].(Object); budget != nil {
		if c.Budget != nil {
			c.Budget = budget
		} else {
			set.Budget = budget
		}
	}
	return Object{"ad": q.adObject(c, set, a, q.days()), "message": "Ad updated"}, nil
}

func (q *request) deleteAd() (Object, *refusal) {
	_, _, a, err := q.ad()
	if err != nil {
		return nil, err
	}
	a.Cancelled = true
	return Object{"message": "Ad cancelled"}, nil
}
