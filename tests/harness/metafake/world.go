package metafake

import (
	"strings"
	"time"
)

// Account describes an ad account.
type Account struct {
	ID       string // act_<digits>
	Name     string
	Currency string // ISO 4217, upper case
	Timezone string
	Minimum  int64 // of a daily budget, in the units of the wire
	Status   int   // 1 active, 2 disabled, 9 in grace period, 101 closed; 0 is 1
	Business string
	Country  string

	Beneficiary, Payor string // of ads in the EU that do not name them
}

// AddAccount adds an ad account that the user may use.
func (f *Fake) AddAccount(a Account) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if a.Status == 0 {
		a.Status = 1
	}
	fields := map[string]any{"id": a.ID, "account_id": strings.TrimPrefix(a.ID, "act_"), "name": a.Name, "currency": a.Currency, "timezone_name": a.Timezone,
		"min_daily_budget": a.Minimum, "account_status": a.Status, "amount_spent": "0", "spend_cap": "0", "disable_reason": 0, "business_country_code": a.Country,
		"default_dsa_beneficiary": a.Beneficiary, "default_dsa_payor": a.Payor}
	if a.Status != 1 {
		fields["disable_reason"] = 1
	}
	if b := f.nodes[a.Business]; b != nil {
		fields["business"] = b
	}
	f.link("me", "adaccounts", f.add("AdAccount", fields))
}

// AddBusiness adds a business portfolio.
func (f *Fake) AddBusiness(id, name string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.link("me", "businesses", f.add("Business", map[string]any{"id": id, "name": name}))
}

// AddPage adds a page with a token of its own and, if an id is given, its Instagram account.
func (f *Fake) AddPage(id, name, token, instagram string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	fields := map[string]any{"id": id, "name": name, "access_token": token}
	if instagram != "" {
		fields["instagram_business_account"] = f.add("IGUser", map[string]any{"id": instagram, "username": strings.ToLower(name)})
	}
	f.link("me", "accounts", f.add("Page", fields))
	f.tokens[token] = id
}

// Revoke ends what a token may do, as its user does in the settings of Facebook.
func (f *Fake) Revoke(token string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.tokens, token)
}

// AddPost adds a post to a page.
func (f *Fake) AddPost(page, id, message string, at time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.link(page, "published_posts", f.add("PagePost", map[string]any{"id": id, "message": message, "is_published": true, "created_time": at.UTC().Format(timeLayout),
		"permalink_url": "https://www.facebook.com/" + id, "full_picture": "https://scontent.example/" + id + ".jpg", "attachments": attached("photo")}))
}

// attached is what a post has attached, as the edge of it is written.
func attached(kind string) map[string]any {
	return map[string]any{"data": []map[string]any{{"media_type": kind}}}
}

// Film makes a post or media show a video.
func (f *Fake) Film(id string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if o := f.nodes[id]; o.node == "IGMedia" {
		o.set(f.table, "media_type", "VIDEO")
	} else {
		o.set(f.table, "attachments", attached("video"))
	}
}

// AddMedia adds media to an Instagram account.
func (f *Fake) AddMedia(user, id, caption string, at time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.link(user, "media", f.add("IGMedia", map[string]any{"id": id, "caption": caption, "media_type": "IMAGE", "timestamp": at.UTC().Format(timeLayout),
		"permalink": "https://www.instagram.com/p/" + id, "media_url": "https://scontent.example/" + id + ".jpg"}))
}

// AddExternal adds a campaign, an ad set or an ad as if somebody had created it in the ad manager, and returns its id.
func (f *Fake) AddExternal(node string, fields map[string]any) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	for name, edge := range map[string]string{"campaign": "campaign_id", "adset": "adset_id"} {
		if id, ok := fields[edge].(string); ok {
			fields[name] = f.nodes[id]
		}
	}
	if kept[node] != nil {
		fields["created_time"] = f.stamp()
	}
	return f.add(node, fields).id()
}

// Set changes a field of a node without any call.
func (f *Fake) Set(id, field string, value any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.nodes[id].set(f.table, field, value)
}

// Field returns a field of a node, nil if either does not exist.
func (f *Fake) Field(id, field string) any {
	f.mu.Lock()
	defer f.mu.Unlock()
	if o := f.nodes[id]; o != nil {
		f.settle(o)
		return o.fields[field]
	}
	return nil
}

// Live returns the ids of all nodes of a kind that were not deleted, oldest first.
func (f *Fake) Live(node string) []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	var ids []string
	for _, id := range f.order {
		if o := f.nodes[id]; o != nil && o.node == node && o.text("status") != "DELETED" {
			ids = append(ids, id)
		}
	}
	return ids
}

// Node returns the kind of the node with an id, "" if there is none.
func (f *Fake) Node(id string) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return nodeOf(f.nodes[id])
}

// IsEnum reports whether a parameter of a call takes one or more of a fixed set of words.
func (f *Fake) IsEnum(c Call, param string) bool {
	known := f.table.calls[c.Node+" "+c.Method+" "+c.Edge]
	if known == nil {
		return false
	}
	kind := strings.TrimSuffix(strings.TrimPrefix(known.params[param].kind, "list<"), ">")
	return f.table.enums[kind] != nil
}

// Link makes a field of a node refer to another node.
func (f *Fake) Link(id, field, to string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.nodes[id].set(f.table, field, f.nodes[to])
}
