package pinterestfake

import (
	"regexp"
	"slices"
	"strings"
)

// smallest is how many people an audience needs at least.
const smallest = 100

// record matches a record of a customer list: a SHA-256. The network would also take a plain address, which must not be sent.
var record = regexp.MustCompile(`^[0-9a-f]{64}$`)

// customerList is a list of people, each once.
type customerList struct {
	object Object

	people map[string]bool
}

// createList implements the creation of a customer list.
func (c *call) createList() answer {
	var item Object
	c.read(&item)
	list := &customerList{object: Object{"id": c.n.mint(), "name": item["name"]}, people: map[string]bool{}}
	switch kind := item.Text("list_type"); {
	case item.Text("name") == "":
		return refuse(invalid("A customer list needs a name."))
	case kind != "" && kind != "EMAIL":
		return refuse(invalid("The records are not of this list_type."))
	}
	if refused := list.change("ADD", item.Text("records")); refused != nil {
		return refuse(refused)
	}
	c.account.lists = append(c.account.lists, list)
	return ok(list.see())
}

func (c *call) updateList() answer {
	var item Object
	c.read(&item)
	list := c.account.list(c.path("customer_list_id"))
	if list == nil {
		return refuse(missing("Customer list"))
	}
	if refused := list.change(item.Text("operation_type"), item.Text("records")); refused != nil {
		return refuse(refused)
	}
	return ok(list.see())
}

// change adds records to the list or removes them from it. If one of them is no record, none is changed.
func (l *customerList) change(operation, records string) *refusal {
	hashes := strings.Split(records, ",")
	if i := slices.IndexFunc(hashes, func(h string) bool { return !record.MatchString(h) }); i >= 0 {
		return invalid("Record %d is not a SHA-256.", i)
	}
	for _, hash := range hashes {
		switch operation {
		case "ADD":
			l.people[hash] = true
		case "REMOVE":
			delete(l.people, hash)
		default:
			return invalid("%q is neither ADD nor REMOVE.", operation)
		}
	}
	return nil
}

func (l *customerList) see() Object { return only(l.object, "id") }

func sizeStatus(people int) string {
	if people < smallest {
		return "TOO_SMALL"
	}
	return "READY"
}

func (a *Account) list(id string) *customerList {
	i := slices.IndexFunc(a.lists, func(l *customerList) bool { return l.object.Text("id") == id })
	if i < 0 {
		return nil
	}
	return a.lists[i]
}

func (c *call) listAudiences() answer { return c.list(each(c.account.audiences, c.audience)) }

func (c *call) getAudience() answer {
	audience := row(c.account.audiences, c.path("audience_id"))
	if audience == nil {
		return refuse(missing("Audience"))
	}
	return ok(c.audience(audience))
}

// createAudience implements the creation of an audience.
func (c *call) createAudience() answer {
	var item Object
	c.read(&item)
	rule := Object(item["rule"].(map[string]any))
	switch {
	case item.Text("name") == "":
		return refuse(invalid("An audience needs a name."))
	case item.Text("ad_account_id") != "" && item.Text("ad_account_id") != c.account.ID:
		return refuse(invalid("ad_account_id differs from the path."))
	}
	if refused := c.checkRule(item.Text("audience_type"), rule); refused != nil {
		return refuse(refused)
	}
	audience := merge(Object{"id": c.n.mint(), "created_timestamp": c.n.now().Unix()}, item)
	delete(audience, "ad_account_id")
	c.account.audiences = append(c.account.audiences, audience)
	return ok(c.audience(audience))
}

// checkRule checks what the description only says in words: each type of audience needs its own properties, and takes no
// others.
func (c *call) checkRule(kind string, rule Object) *refusal {
	takes := map[string][]string{"CUSTOMER_LIST": {"customer_list_id"}, "VISITOR": {"visitor_source_id", "retention_days"},
		"ACTALIKE": {"seed_id", "country", "percentage"}}[kind]
	for name := range rule {
		if !slices.Contains(takes, name) {
			return invalid("%s takes no %s.", kind, name)
		}
	}
	switch kind {
	case "CUSTOMER_LIST":
		if c.account.list(rule.Text("customer_list_id")) == nil {
			return missing("Customer list")
		}
	case "VISITOR":
		return c.checkVisitor(rule)
	case "ACTALIKE":
		return c.checkActalike(rule)
	default:
		return invalid("Unsupported audience_type.")
	}
	return nil
}

func (c *call) checkVisitor(rule Object) *refusal {
	if !slices.Contains(c.account.tags, rule.Text("visitor_source_id")) {
		return missing("Conversion tag")
	}
	if _, has := rule["retention_days"]; has && (rule.Number("retention_days") < 1 || rule.Number("retention_days") > 540) {
		return invalid("retention_days must be 1 to 540.")
	}
	return nil
}

// checkActalike checks the rule of an audience of people who are like those of another one.
func (c *call) checkActalike(rule Object) *refusal {
	seeds, _ := rule["seed_id"].([]any)
	if len(seeds) == 0 {
		return invalid("ACTALIKE needs seed_id.")
	}
	switch percentage := rule.Number("percentage"); { // rule P9
	case !slices.Contains([]string{"US", "CA", "GB"}, rule.Text("country")):
		return invalid("ACTALIKE needs a country: US, CA or GB.")
	case percentage < 1 || percentage > 10:
		return invalid("percentage must be 1 to 10.")
	}
	for _, seed := range seeds {
		audience := row(c.account.audiences, seed.(string))
		if audience == nil {
			return missing("Seed audience")
		}
		if c.audience(audience).Text("status") == "TOO_SMALL" { // rule P13
			return invalid("The seed audience has less than 100 people.")
		}
	}
	return nil
}

// updateAudience implements audiences/update. This fake only knows how to remove one.
func (c *call) updateAudience() answer {
	var item Object
	c.read(&item)
	audience := row(c.account.audiences, c.path("audience_id"))
	switch {
	case audience == nil:
		return refuse(missing("Audience"))
	case item.Text("ad_account_id") != "" && item.Text("ad_account_id") != c.account.ID:
		return refuse(invalid("ad_account_id differs from the path."))
	case item.Text("operation_type") != "REMOVE":
		return refuse(invalid("Nothing to update."))
	}
	seen := c.audience(audience)
	c.account.audiences = slices.DeleteFunc(c.account.audiences, func(o Object) bool { return o.Text("id") == audience.Text("id") })
	return ok(seen)
}

// audience returns an audience as a caller sees it. One of a customer list has its size; the others are still being counted.
func (c *call) audience(o Object) Object {
	rule, _ := o["rule"].(map[string]any)
	o = merge(o, Object{"rule": only(rule, "customer_list_id", "visitor_source_id", "retention_days", "country", "percentage")})
	list := c.account.list(Object(rule).Text("customer_list_id"))
	if list == nil {
		return merge(o, Object{"status": "INITIALIZING", "size": nil})
	}
	return merge(o, Object{"status": sizeStatus(len(list.people)), "size": len(list.people)})
}
