package zerniofake

import (
	"slices"
	"strconv"
	"time"
)

// Campaign is a campaign with what is in it.
type Campaign struct {
	ID        string
	Platform  string
	Name      string
	On        bool
	Objective string
	Budget    Object // nil if its ad sets have it
	Strategy  string
	Sets      []*AdSet
	account   *Account
	adAccount string
}

// AdSet is an ad set of a campaign.
type AdSet struct {
	ID       string
	Name     string
	On       bool
	Budget   Object
	Strategy string
	Bid      any
	Floor    any
	Promoted any
	End      string
	Ads      []*Ad
}

// Ad is an ad of an ad set.
type Ad struct {
	Own       string
	ID        string
	Name      string
	On        bool
	Cancelled bool
	Review    string
	Goal      string
	Type      string
	Creative  Object
	Targeting any
	Schedule  Object
	figures   map[string]Object // by day
}

// account returns the account that the parameter names, an ads account or the posting account of one.
func (q *request) account(id string) (*Account, *refusal) {
	for _, a := range q.n.accounts {
		if a.ID == id && len(a.AdAccounts) > 0 || a.parent != nil && a.parent.ID == id {
			return a, nil
		}
	}
	return nil, missing("Account")
}

func paging(page, total, limit int) Object {
	return Object{"page": page, "limit": limit, "total": total, "pages": max((total+limit-1)/limit, 1)}
}

// status returns the state of delivery of an ad.
func (a *Ad) status(set *AdSet, c *Campaign) string {
	switch {
	case a.Cancelled:
		return "cancelled"
	case a.Review == "rejected":
		return "rejected"
	case !c.On || !set.On || !a.On:
		return "paused"
	case a.Review == "in_review":
		return "pending_review"
	}
	return "active"
}

// rolled returns the state of what has ads in these states.
func rolled(states []string) string {
	for _, s := range []string{"active", "pending_review", "paused", "error", "completed", "cancelled", "rejected"} {
		if slices.Contains(states, s) {
			return s
		}
	}
	return "paused"
}

func isMeta(platform string) bool { return platform == "facebook" || platform == "instagram" }

// days are the days of a question about figures.
type days struct {
	from, to string
	daily    string // the level that has a row for each day
}

func (q *request) days() days {
	d := days{q.query("fromDate"), q.query("toDate"), ""}
	if d.from == "" {
		d.from = q.n.now().AddDate(0, 0, -90).Format(time.DateOnly)
	}
	if d.to == "" {
		d.to = q.n.now().Format(time.DateOnly)
	}
	if q.query("timeIncrement") == "1" {
		d.daily = q.query("dailyLevel")
		if d.daily == "" {
			d.daily = "campaign"
		}
	}
	return d
}

// metrics adds up what was delivered of some ads.
func (d days) metrics(all []*Ad) Object {
	sum := Object{"spend": 0.0, "impressions": 0.0, "reach": 0.0, "clicks": 0.0, "engagement": 0.0, "conversions": 0.0, "purchaseValue": 0.0, "videoPlayActions": 0.0, "actions": Object{}}
	for _, a := range all {
		for day, figures := range a.figures {
			if day < d.from || day > d.to {
				continue
			}
			for name, n := range figures {
				if name == "actions" {
					for action, count := range n.(Object) {
						known, _ := sum["actions"].(Object)[action].(float64)
						sum["actions"].(Object)[action] = known + count.(float64)
					}
					continue
				}
				sum[name] = sum[name].(float64) + n.(float64)
			}
		}
	}
	return sum
}

// series returns a row for each day on which one of the ads was delivered.
func (d days) series(all []*Ad) []Object {
	var dates []string
	for _, a := range all {
		for day := range a.figures {
			if day >= d.from && day <= d.to {
				dates = append(dates, day)
			}
		}
	}
	slices.Sort(dates)
	rows := []Object{}
	for _, day := range slices.Compact(dates) {
		row := days{day, day, ""}.metrics(all)
		row["date"] = day
		rows = append(rows, row)
	}
	return rows
}

func (q *request) adObject(c *Campaign, set *AdSet, a *Ad, d days) Object {
	o := Object{
		"_id": a.Own, "platformAdId": a.ID, "name": a.Name, "platform": c.Platform, "status": a.status(set, c), "reviewStatus": a.Review, "adType": a.Type,
		"goal": a.Goal, "isExternal": false, "platformAdAccountId": c.adAccount, "platformCampaignId": c.ID, "platformAdSetId": set.ID, "campaignName": c.Name,
		"adSetName": set.Name, "creative": a.Creative, "platformCreatedAt": q.n.now(), "metrics": d.metrics([]*Ad{a}), "schedule": a.Schedule,
	}
	if a.Targeting != nil {
		o["targeting"] = a.Targeting
	}
	if a.Review == "rejected" {
		o["rejectionReason"] = "It shows a weapon."
	}
	if isMeta(c.Platform) {
		o["configuredStatus"], o["platformObjective"] = onOff(a.On), c.Objective
	}
	o["metrics"].(Object)["lastSyncedAt"] = q.n.now().Add(-time.Hour)
	if d.daily == "ad" {
		o["daily"] = d.series([]*Ad{a})
	}
	return o
}

func onOff(on bool) string {
	if on {
		return "ACTIVE"
	}
	return "PAUSED"
}

// shownAds is how many ads of an ad set the tree shows.
const shownAds = 100

// few returns how many rows there are of at most so many, or of fewer if Few says so.
func (n *Network) few(most int) int {
	if n.Few > 0 {
		return min(n.Few, most)
	}
	return most
}

func (q *request) setObject(c *Campaign, set *AdSet, d days) Object {
	rows, states := []Object{}, []string{}
	for i, a := range set.Ads {
		if states = append(states, a.status(set, c)); i < q.n.few(shownAds) {
			rows = append(rows, q.adObject(c, set, a, d))
		}
	}
	o := Object{
		"platformAdSetId": set.ID, "adSetName": set.Name, "status": rolled(states), "adCount": len(set.Ads), "adSetBudget": nil, "budget": c.Budget, "metrics": d.metrics(set.Ads),
		"bidStrategy": null(set.Strategy), "bidAmount": set.Bid, "roasAverageFloor": set.Floor, "promotedObject": set.Promoted, "ads": rows, "optimizationGoal": "LINK_CLICKS",
	}
	if set.Budget != nil {
		o["adSetBudget"], o["budget"] = set.Budget, set.Budget
	}
	if d.daily == "adset" || d.daily == "ad" {
		o["daily"] = d.series(set.Ads)
	}
	return o
}

func null(text string) any {
	if text == "" {
		return nil
	}
	return text
}

func (c *Campaign) ads() []*Ad {
	var all []*Ad
	for _, set := range c.Sets {
		all = append(all, set.Ads...)
	}
	return all
}

func (q *request) campaignObject(c *Campaign, d days) Object {
	sets, states := []Object{}, []string{}
	for _, set := range c.Sets {
		sets = append(sets, q.setObject(c, set, d))
		for _, a := range set.Ads {
			states = append(states, a.status(set, c))
		}
	}
	o := Object{
		"platformCampaignId": c.ID, "platform": c.Platform, "campaignName": c.Name, "status": rolled(states), "reviewStatus": nil, "adCount": len(c.ads()), "adSetCount": len(c.Sets),
		"campaignBudget": nil, "budget": nil, "budgetLevel": nil, "currency": "USD", "metrics": d.metrics(c.ads()), "platformAdAccountId": c.adAccount, "accountId": c.account.ID,
		"platformObjective": nil, "bidStrategy": null(c.Strategy), "adSets": sets,
	}
	if isMeta(c.Platform) {
		o["platformObjective"], o["platformCampaignStatus"], o["budgetLevel"] = c.Objective, onOff(c.On), "adset"
	}
	if c.Budget != nil {
		o["campaignBudget"], o["budget"], o["budgetLevel"] = c.Budget, c.Budget, "campaign"
	} else if len(c.Sets) > 0 {
		o["budget"] = c.Sets[0].Budget
	}
	if d.daily != "" {
		o["daily"] = d.series(c.ads())
	}
	return o
}

// matching returns the campaigns that a question is about.
func (q *request) matching() []*Campaign {
	var all []*Campaign
	for _, c := range q.n.campaigns {
		account := q.query("accountId")
		mine := account == "" || c.account.ID == account || c.account.parent != nil && c.account.parent.ID == account
		is := func(name, value string) bool { return q.query(name) == "" || q.query(name) == value }
		if q.n.IgnoreFilters || mine && is("adAccountId", c.adAccount) && is("campaignId", c.ID) {
			all = append(all, c)
		}
	}
	return all
}

func (q *request) page() (number, limit int) {
	number, _ = strconv.Atoi(q.query("page"))
	limit, _ = strconv.Atoi(q.query("limit"))
	if number == 0 {
		number = 1
	}
	if limit == 0 {
		limit = 20
	}
	return number, q.n.few(limit)
}

func cut[T any](all []T, number, limit int) []T {
	from := min((number-1)*limit, len(all))
	return all[from:min(from+limit, len(all))]
}

func (q *request) tree() (Object, *refusal) {
	all := q.matching()
	number, limit := q.page()
	rows := []Object{}
	for _, c := range cut(all, number, limit) {
		rows = append(rows, q.campaignObject(c, q.days()))
	}
	return Object{"campaigns": rows, "pagination": paging(number, len(all), limit)}, nil
}

func (q *request) listAds() (Object, *refusal) {
	rows := []Object{}
	for _, c := range q.matching() {
		for _, set := range c.Sets {
			for _, a := range set.Ads {
				rows = append(rows, q.adObject(c, set, a, q.days()))
			}
		}
	}
	number, limit := q.page()
	return Object{"ads": cut(rows, number, limit), "pagination": paging(number, len(rows), limit)}, nil
}

func (q *request) listAdAccounts() (Object, *refusal) {
	a, err := q.account(q.query("accountId"))
	if err != nil {
		return nil, err
	}
	return Object{"accounts": a.AdAccounts}, nil
}

func (q *request) listCenters() (Object, *refusal) {
	if a, err := q.account(q.query("accountId")); err != nil || a.Platform != "tiktokads" {
		return nil, missing("TikTok account")
	}
	return Object{"businessCenters": []Object{{"bcId": "7123456789012345678", "name": "Agency", "advertiserCount": 2}, {"bcId": "7123456789012345679", "name": "Other", "advertiserCount": nil}}}, nil
}

// Deliver counts figures of an ad on a day.
func (n *Network) Deliver(ad, day string, figures Object) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, c := range n.campaigns {
		for _, a := range c.ads() {
			if a.ID == ad {
				if a.figures == nil {
					a.figures = map[string]Object{}
				}
				a.figures[day] = figures
			}
		}
	}
}

// Review gives an ad another state of its review.
func (n *Network) Review(ad, state string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, c := range n.campaigns {
		for _, a := range c.ads() {
			if a.ID == ad {
				a.Review = state
			}
		}
	}
}

// Campaigns returns all campaigns of everybody.
func (n *Network) Campaigns() []*Campaign {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.campaigns)
}
