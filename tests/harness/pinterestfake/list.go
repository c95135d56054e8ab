package pinterestfake

import (
	"encoding/base64"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// defaultPage is the size of a page if the request does not say it.
const defaultPage = 25

// page is the body of every list.
type page struct {
	Items    []Object `json:"items"`
	Bookmark *string  `json:"bookmark"`
}

// list answers with a page of the rows. A bookmark is only good for the list and the filters that it was given with.
func (c *call) list(rows []Object) answer {
	query := c.r.URL.Query()
	if query.Get("order") == "DESCENDING" {
		rows = slices.Clone(rows)
		slices.Reverse(rows)
	}
	size := defaultPage
	if text := query.Get("page_size"); text != "" {
		size, _ = strconv.Atoi(text)
	}
	if c.n.mostRows > 0 {
		size = min(size, c.n.mostRows)
	}
	start, refused := startOf(rows, c.r.URL.Path, query)
	if refused != nil {
		return refuse(refused)
	}
	end := min(start+size, len(rows))
	p := page{Items: append([]Object{}, rows[start:end]...)}
	if end < len(rows) {
		mark := bookmark(c.r.URL.Path, query, rows[end-1].Text("id"))
		p.Bookmark = &mark
	}
	return ok(p)
}

// startOf returns the index of the first row behind the bookmark.
func startOf(rows []Object, path string, query url.Values) (int, *refusal) {
	given := query.Get("bookmark")
	if given == "" {
		return 0, nil
	}
	for i, row := range rows {
		if bookmark(path, query, row.Text("id")) == given {
			return i + 1, nil
		}
	}
	return 0, invalid("Invalid bookmark.")
}

// bookmark returns the bookmark of the rows after the one with this id.
func bookmark(path string, query url.Values, id string) string {
	query = url.Values{"entity_statuses": query["entity_statuses"], "order": query["order"],
		"ids": slices.Concat(query["campaign_ids"], query["ad_group_ids"], query["ad_ids"])}
	return base64.RawURLEncoding.EncodeToString([]byte(path + "?" + query.Encode() + "#" + id))
}

// entities answers with a page of the rows that the query's filters let through. Columns names the property that each filter
// looks at. Archived rows are only in it if they are asked for.
func (c *call) entities(rows []Object, columns map[string]string) answer {
	query := c.r.URL.Query()
	statuses := query["entity_statuses"]
	if len(statuses) == 0 {
		statuses = []string{"ACTIVE", "PAUSED"}
	}
	var left []Object
	for _, row := range rows {
		keep := slices.Contains(statuses, row.Text("status"))
		for name, column := range columns {
			keep = keep && (!query.Has(name) || slices.Contains(query[name], row.Text(column)))
		}
		if keep {
			left = append(left, row)
		}
	}
	return c.list(left)
}

// refusedItem returns what the result of a batch has for an item that was refused, instead of data.
func refusedItem(r *refusal) Object { return Object{"code": r.Code, "message": r.Message} }

// batch calls do for each item of the body, and answers with their results in the same order. One is for ads, where the vendor
// describes "exceptions" as one object and not as a list.
func (c *call) batch(one bool, do func(item Object) (Object, *refusal)) answer {
	var items []Object
	c.read(&items)
	results := make([]Object, len(items))
	for i, item := range items {
		data, refused := do(item)
		switch {
		case refused == nil:
			results[i] = Object{"data": data}
		case one:
			results[i] = Object{"exceptions": refusedItem(refused)}
		default:
			results[i] = Object{"exceptions": []Object{refusedItem(refused)}}
		}
	}
	return ok(Object{"items": results})
}

// row returns the row with this id, or nil.
func row(rows []Object, id string) Object {
	i := slices.IndexFunc(rows, func(o Object) bool { return o.Text("id") == id })
	if i < 0 {
		return nil
	}
	return rows[i]
}

// merge returns a copy of the row, with the properties of the item in it.
func merge(row, item Object) Object {
	merged := Object{}
	for name, value := range row {
		merged[name] = value
	}
	for name, value := range item {
		merged[name] = value
	}
	return merged
}

// store writes a copy, which was checked, back into its row.
func store(row, merged Object) {
	for name, value := range merged {
		row[name] = value
	}
}

// only returns a copy of an object with only these properties.
func only(o Object, names ...string) Object {
	left := Object{}
	for _, name := range names {
		if value, has := o[name]; has {
			left[name] = value
		}
	}
	return left
}

// listAccounts implements ad_accounts/list.
func (c *call) listAccounts() answer {
	var rows []Object
	for _, a := range c.user.accounts {
		rows = append(rows, a.object)
	}
	return c.list(rows)
}

func (c *call) getAccount() answer { return ok(c.account.object) }

// Relocate sets the country of an ad account, "" for none.
func (n *Network) Relocate(a *Account, country string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if a.object["country"] = country; country == "" {
		delete(a.object, "country")
	}
}

// AddAccount creates an ad account that the token sees in the role, such as OWNER or ANALYST.
func (n *Network) AddAccount(token, name, currency, role string) *Account {
	n.mu.Lock()
	defer n.mu.Unlock()
	id := n.mint()
	a := &Account{ID: id, object: Object{"id": id, "name": name, "currency": strings.ToUpper(currency), "country": "US", "permissions": []string{role}}}
	n.accounts = append(n.accounts, a)
	a.owner = n.userOf(token)
	n.userOf(token).accounts = append(n.userOf(token).accounts, a)
	return a
}

// Share lets another token's user work in an ad account, whose ads show the owner's Pins all the same.
func (n *Network) Share(a *Account, token string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.userOf(token).accounts = append(n.userOf(token).accounts, a)
}

// AddTag creates a Pinterest tag, the source of visitors, and returns its id.
func (n *Network) AddTag(a *Account) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	a.tags = append(a.tags, n.mint())
	return a.tags[len(a.tags)-1]
}

// Revoke ends what a token may do, as its user does in the settings of Pinterest.
func (n *Network) Revoke(token string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.users, token)
}

func (n *Network) userOf(token string) *user {
	if n.users[token] == nil {
		id := n.mint()
		n.users[token] = &user{id: id, name: "user" + id}
	}
	return n.users[token]
}
