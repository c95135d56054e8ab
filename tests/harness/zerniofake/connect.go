package zerniofake

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// asked is a consent that somebody was sent to give.
type asked struct {
	profile  *profile
	platform string // facebook, googleads, ...
	ads      bool   // or for posting alone
	back     string // "" = nobody is sent back
}

// sameToken are the networks that give one access for posting and for ads. People come back from these alone.
var sameToken = []string{"facebook", "instagram", "linkedin", "pinterest"}

// adsKinds are the kinds of accounts for ads.
var adsKinds = map[string]string{
	"facebook": "metaads", "instagram": "metaads", "linkedin": "linkedinads", "pinterest": "pinterestads", "tiktok": "tiktokads", "twitter": "xads", "googleads": "googleads",
}

func (p *profile) object() Object { return Object{"_id": p.id, "name": p.name, "isDefault": false} }

func (q *request) listProfiles() (Object, *refusal) {
	all := []Object{}
	for _, p := range q.n.profiles {
		if name := q.query("name"); name == "" || q.n.IgnoreFilters || p.name == name {
			all = append(all, p.object())
		}
	}
	return Object{"profiles": all}, nil
}

func (q *request) createProfile() (Object, *refusal) {
	name := text(q.body, "name")
	for _, p := range q.n.profiles {
		if p.name == name {
			return nil, &refusal{status: http.StatusConflict, Error: "A profile with this name already exists", Code: "profile_name_conflict", Details: Object{"existingProfileId": p.id}}
		}
	}
	p := &profile{q.n.id(), name}
	q.n.profiles = append(q.n.profiles, p)
	return Object{"message": "Profile created successfully", "profile": p.object()}, nil
}

func (n *Network) profile(id string) *profile {
	i := slices.IndexFunc(n.profiles, func(p *profile) bool { return p.id == id })
	if i < 0 {
		return nil
	}
	return n.profiles[i]
}

func (a *Account) object() Object {
	o := Object{
		"_id": a.ID, "platform": a.Platform, "profileId": a.profile.object(), "username": strings.ToLower(a.Name), "displayName": a.Name, "isActive": true,
		"parentAccountId": nil, "enabled": a.parent != nil,
	}
	if a.parent != nil {
		o["parentAccountId"] = a.parent.ID
	}
	return o
}

func (q *request) listAccounts() (Object, *refusal) {
	all := []Object{}
	for _, a := range q.n.accounts {
		if id := q.query("profileId"); id == "" || q.n.IgnoreFilters || a.profile.id == id {
			all = append(all, a.object())
		}
	}
	return Object{"accounts": all, "hasAnalyticsAccess": false}, nil
}

// connect answers with the address of a page that asks for consent.
func (q *request) connect() (Object, *refusal) {
	p := q.n.profile(q.query("profileId"))
	if p == nil {
		return nil, missing("Profile")
	}
	a := &asked{profile: p, platform: q.at["platform"], ads: strings.HasSuffix(q.call.Path, "/ads")}
	if a.ads && a.platform == "twitter" && q.query("accountId") == "" {
		return nil, invalid("accountId", "accountId is required for X Ads")
	}
	if !a.ads || slices.Contains(sameToken, a.platform) {
		a.back = q.query("redirect_url")
	}
	if a.ads && q.query("force") != "true" {
		for _, known := range q.n.accounts {
			if known.profile == p && known.Platform == adsKinds[a.platform] {
				return Object{"alreadyConnected": true, "accountId": known.ID, "platform": a.platform, "username": known.Name}, nil
			}
		}
	}
	state := q.n.id()
	q.n.states[state] = a
	return Object{"authUrl": q.n.URL + "/consent/" + a.platform + "?state=" + state, "state": state}, nil
}

// consent is the page: without an answer it asks, with one it sends people back.
func (n *Network) consent(w http.ResponseWriter, r *http.Request) {
	state := r.URL.Query().Get("state")
	a := n.states[state]
	if a == nil {
		http.NotFound(w, r)
		return
	}
	back, err := url.Parse(a.back)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	query := back.Query()
	switch r.URL.Query().Get("answer") {
	case "":
		w.Header().Set("Content-Type", "text/html")
		_, _ = fmt.Fprintf(w, `<!doctype html><title>Consent</title><a id="allow" href="?state=%[1]s&answer=yes">Allow</a> <a id="deny" href="?state=%[1]s&answer=no">Deny</a>`, state)
		return
	case "no":
		query.Set("error", "access_denied")
	default:
		account := n.grant(a)
		for name, value := range map[string]string{"connected": a.platform, "profileId": a.profile.id, "accountId": account.ID, "username": account.Name} {
			query.Set(name, value)
		}
	}
	delete(n.states, state)
	if a.back == "" {
		w.Header().Set("Content-Type", "text/html")
		_, _ = fmt.Fprint(w, "<!doctype html><title>Connected</title>You can close this page.")
		return
	}
	back.RawQuery = query.Encode()
	http.Redirect(w, r, back.String(), http.StatusFound)
}

// grant makes the account that was consented to, or renews it, and returns the one that people come back with.
func (n *Network) grant(a *asked) *Account {
	posting := n.accountOf(a.profile, a.platform, nil)
	if !a.ads {
		return posting
	}
	if a.platform == "googleads" {
		return n.accountOf(a.profile, "googleads", nil)
	}
	n.accountOf(a.profile, adsKinds[a.platform], posting)
	return posting
}

// accountOf returns an account of a profile, made if need be.
func (n *Network) accountOf(p *profile, platform string, parent *Account) *Account {
	for _, a := range n.accounts {
		if a.profile == p && a.Platform == platform && a.parent == parent {
			return a
		}
	}
	a := &Account{ID: n.id(), Platform: platform, profile: p, parent: parent, Name: "Shop of " + p.name}
	if slices.Contains([]string{"metaads", "linkedinads", "pinterestads", "tiktokads", "xads", "googleads"}, platform) {
		a.AdAccounts = n.adAccounts(platform)
	}
	n.accounts = append(n.accounts, a)
	return a
}

// adAccounts are one that can be used, and one that cannot where a network says so.
func (n *Network) adAccounts(platform string) []Object {
	one, other := Object{"id": n.platformID(), "name": "Dollars", "currency": "USD"}, Object{"id": n.platformID(), "name": "Closed", "currency": "EUR"}
	switch platform {
	case "metaads":
		for i, o := range []Object{one, other} {
			o["id"], o["timezoneName"], o["minimumDailyBudget"], o["accountStatus"], o["selectable"] = "act_"+fmt.Sprint(o["id"]), "America/New_York", 1, 1+i, i == 0
		}
		other["unusableReason"] = "It was disabled."
	case "xads":
		one["approvalStatus"], one["selectable"] = "ACCEPTED", true
		other["approvalStatus"], other["selectable"] = "PENDING", false
		other["unusableReason"] = "It is being approved."
	case "linkedinads":
		one["status"], other["status"] = "ACTIVE", "ACTIVE"
	default:
		one["accountStatus"], other["accountStatus"] = "ENABLED", "ENABLED"
	}
	return []Object{one, other}
}

// Connect makes what a consent of an account of ours makes, and returns the account for ads. The name is the profile's.
func (n *Network) Connect(name, platform string) *Account {
	n.mu.Lock()
	defer n.mu.Unlock()
	i := slices.IndexFunc(n.profiles, func(p *profile) bool { return p.name == name })
	if i < 0 {
		n.profiles = append(n.profiles, &profile{n.id(), name})
		i = len(n.profiles) - 1
	}
	back := n.grant(&asked{profile: n.profiles[i], platform: platform, ads: true})
	for _, a := range n.accounts {
		if a.profile == n.profiles[i] && a.Platform == adsKinds[platform] && (a.parent == back || a == back) {
			return a
		}
	}
	return back
}

// Parent returns the posting account of one for ads, nil if it has none.
func (a *Account) Parent() *Account { return a.parent }

// AddPost publishes a post with the posting account of an account for ads.
func (n *Network) AddPost(a *Account, id, content string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	a.parent.posts = append(a.parent.posts, Object{
		"_id": n.id(), "content": content, "status": "published", "mediaItems": []Object{{"type": "image", "url": "https://shop.example/post.jpg"}},
		"platforms": []Object{
			{"platform": a.parent.Platform, "accountId": a.parent.object(), "status": "published", "platformPostId": id, "platformPostUrl": "https://network.example/" + id, "publishedAt": n.now()},
			{"platform": "threads", "accountId": n.id(), "status": "published", "platformPostId": "elsewhere"},
		},
	})
}

func (q *request) listPosts() (Object, *refusal) {
	all := []Object{}
	for _, a := range q.n.accounts {
		if a.ID == q.query("accountId") && q.query("source") != "external" && q.query("status") != "draft" {
			all = append(all, a.posts...)
		}
	}
	return Object{"posts": all, "pagination": paging(1, len(all), 1)}, nil
}
