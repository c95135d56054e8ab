package zerniofake

import (
	"slices"
	"strings"
)

type audience struct {
	account   *Account
	adAccount string
	object    Object
}

// AddAudience makes an audience that was made elsewhere, so that Zernio has no id of its own for it. It returns the network's.
func (n *Network) AddAudience(a *Account, adAccount, kind, name string) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	id := n.platformID()
	n.audiences = append(n.audiences, &audience{a, adAccount, Object{"id": nil, "platformAudienceId": id, "name": name, "type": kind, "platform": a.Platform, "size": 1200, "status": "ready"}})
	return id
}

func (q *request) listAudiences() (Object, *refusal) {
	a, err := q.account(q.query("accountId"))
	if err != nil {
		return nil, err
	}
	rows := []Object{}
	for _, one := range q.n.audiences {
		if q.n.IgnoreFilters || one.account == a && one.adAccount == q.query("adAccountId") {
			rows = append(rows, one.object)
		}
	}
	return Object{"audiences": rows}, nil
}

func (q *request) createAudience() (Object, *refusal) {
	a, platform, err := q.inAdAccount()
	if err != nil {
		return nil, err
	}
	b := q.body
	kind := text(b, "type")
	need := map[string][]string{"website": {"pixelId", "retentionDays"}, "lookalike": {"sourceAudienceId", "country", "ratio"}}[kind]
	switch {
	case need == nil:
		return nil, invalid("type", "This fake has no such audience.")
	case !isMeta(platform):
		return nil, unsupported("The audience")
	}
	for _, field := range need {
		if b[field] == nil {
			return nil, invalid(field, "%s is required", field)
		}
	}
	if kind == "website" && number(b["retentionDays"]) > 180 {
		return nil, invalid("retentionDays", "retentionDays is at most 180")
	}
	o := Object{"id": q.n.id(), "platformAudienceId": q.n.platformID(), "name": b["name"], "type": kind, "platform": platform, "status": "processing"}
	if b["description"] != nil {
		o["description"] = b["description"]
	}
	q.n.audiences = append(q.n.audiences, &audience{a, text(b, "adAccountId"), o})
	return Object{"audience": o, "message": "Audience created"}, nil
}

func (q *request) deleteAudience() (Object, *refusal) {
	id := q.at["audienceId"]
	i := slices.IndexFunc(q.n.audiences, func(a *audience) bool { return a.object["id"] == id || a.object["platformAudienceId"] == id })
	if i < 0 {
		return nil, missing("Audience")
	}
	q.n.audiences = slices.Delete(q.n.audiences, i, i+1)
	return Object{"message": "Audience deleted"}, nil
}

func (q *request) recommend() (Object, *refusal) {
	if a, err := q.account(q.query("accountId")); err != nil || a.Platform != "metaads" {
		return nil, invalid("adAccountId", "Only Meta has recommendations.")
	}
	return Object{"adAccountId": q.query("adAccountId"), "recommendations": []string{"Northwind GmbH"}}, nil
}

// options are what there is to find, by the kind that results have.
var options = map[string]string{"country": "Germany", "region": "Bavaria", "city": "Munich", "zip": "80331", "metro": "Munich area", "interest": "Mountaineering", "behavior": "Travellers"}

func (q *request) search() (Object, *refusal) {
	a, err := q.account(q.query("accountId"))
	if err != nil {
		return nil, err
	}
	kind, rows := q.query("dimension"), []Object{}
	if kind == "geo" {
		kind = strings.TrimSuffix(q.query("geoType"), "_area")
	}
	add := func(kind string) {
		rows = append(rows, Object{"id": "id-" + kind, "name": options[kind], "type": kind, "path": []string{"World"}, "audienceSize": 5000})
	}
	switch platform := a.platform(); {
	case platform == "linkedin":
		rows = append(rows, Object{"id": "urn:li:geo:1", "name": "Bavaria", "type": "location"})
	case platform == "twitter":
		return nil, missing("This dimension")
	case platform == "tiktok" && q.query("dimension") == "geo": // which has every level in one list
		for _, one := range []string{"country", "region", "city", "metro"} {
			add(one)
		}
	default:
		add(kind)
	}
	return Object{"results": rows}, nil
}

func (q *request) estimate() (Object, *refusal) {
	_, platform, err := q.inAdAccount()
	if err != nil {
		return nil, err
	}
	if err := checkTargeting(Object{"targeting": q.body["spec"]}, family(platform)); err != nil {
		return nil, err
	}
	if platform == "google" || platform == "tiktok" {
		return Object{"available": false}, nil
	}
	o := Object{"available": true, "lower": 1000, "upper": 2000}
	if isMeta(platform) {
		o["estimateReady"] = false
	}
	return o, nil
}

func (q *request) listDestinations() (Object, *refusal) {
	for _, a := range q.n.accounts {
		if a.ID == q.at["accountId"] && a.Platform == "metaads" {
			return Object{"platform": "metaads", "destinations": []Object{{"id": "3141592653", "name": "Shop", "status": "active"}}}, nil
		}
	}
	return nil, invalid("accountId", "Only accounts for ads have some.")
}
