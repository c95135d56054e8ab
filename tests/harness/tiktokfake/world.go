package tiktokfake

import (
	"maps"
	"slices"
)

// AddAccount adds an ad account that a token reaches, and returns it.
func (n *Network) AddAccount(token, name, currency, country string) *Account {
	n.mu.Lock()
	defer n.mu.Unlock()
	a := &Account{ID: "7" + n.id(), images: map[string]string{}, files: map[string]file{}, posts: map[string][]Object{}}
	a.about = Object{
		"advertiser_id": a.ID, "name": name, "currency": currency, "country": country, "status": "STATUS_ENABLE", "display_timezone": "America/New_York",
		"timezone": "Etc/GMT+5", "owner_bc_id": "",
	}
	n.accounts[a.ID] = a
	n.order = append(n.order, a.ID)
	n.tokens[token] = append(n.tokens[token], a.ID)
	return a
}

// SetStatus changes what TikTok says of an ad account.
func (n *Network) SetStatus(a *Account, status string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	a.about["status"] = status
}

// AddIdentity lets an ad account speak in a name, and returns its id.
func (n *Network) AddIdentity(a *Account, kind, name string) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	one := Object{"identity_id": "id-" + n.id(), "identity_type": kind, "display_name": name, "user_name": "@" + name, "identity_authorized_bc_id": nil}
	if kind == "BC_AUTH_TT" {
		one["identity_authorized_bc_id"] = "6" + n.id()
	}
	a.identities = append(a.identities, one)
	return one.Text("identity_id")
}

// Share lets another ad account speak in the name of an identity.
func (n *Network) Share(from, to *Account, identity string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, one := range from.identities {
		if one.Text("identity_id") == identity {
			to.identities = append(to.identities, one)
		}
	}
}

// AddPost adds a post to an identity, and returns its id.
func (n *Network) AddPost(a *Account, identity, text string) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	one := Object{"item_id": "72" + n.id(), "item_type": "VIDEO", "text": text, "status": "TIKTOK_ITEM_STATUS_NORMAL",
		"video_info": Object{"poster_url": "https://p16.example/" + text + ".jpg", "preview_url": "https://v16.example/" + text}}
	a.posts[identity] = append(a.posts[identity], one)
	return one.Text("item_id")
}

// AddCenter adds a business center. What is in a closed one is not shown.
func (n *Network) AddCenter(name string, closed bool) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	id := "6" + n.id()
	n.centers = append(n.centers, Object{"bc_info": Object{"bc_id": id, "name": name}, "user_role": "ADMIN"})
	n.forbids[id] = closed
	return id
}

// Own puts an ad account into a business center.
func (n *Network) Own(center string, a *Account) {
	n.mu.Lock()
	defer n.mu.Unlock()
	a.about["owner_bc_id"] = center
}

// AddPixel adds a pixel, and returns its id and its code.
func (n *Network) AddPixel(a *Account, name string) (id, code string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	id = "5" + n.id()
	code = "C" + n.id()
	a.pixels = append(a.pixels, Object{"pixel_id": id, "pixel_code": code, "pixel_name": name})
	return id, code
}

// Campaigns returns the campaigns of an ad account, as they are shown.
func (n *Network) Campaigns(a *Account) []Object { return n.shown(a, a.showCampaign, &a.campaigns) }

// Groups returns the ad groups of an ad account, as they are shown.
func (n *Network) Groups(a *Account) []Object { return n.shown(a, a.showGroup, &a.groups) }

// Ads returns the ads of an ad account, as they are shown.
func (n *Network) Ads(a *Account) []Object { return n.shown(a, a.showAd, &a.ads) }

func (n *Network) shown(_ *Account, show func(*Network, Object) Object, rows *[]Object) []Object {
	n.mu.Lock()
	defer n.mu.Unlock()
	var all []Object
	for _, one := range *rows {
		all = append(all, show(n, one))
	}
	return all
}

// Live returns how many campaigns, ad groups and ads are not deleted.
func (n *Network) Live(a *Account) (campaigns, groups, ads int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, one := range a.campaigns {
		if !isDeleted(one) {
			campaigns++
		}
	}
	for _, one := range a.groups {
		if a.secondaryOfGroup(n, one) != "ADGROUP_STATUS_DELETE" && a.secondaryOfGroup(n, one) != "ADGROUP_STATUS_CAMPAIGN_DELETE" {
			groups++
		}
	}
	for _, one := range a.ads {
		switch a.secondaryOfAd(n, one) {
		case "AD_STATUS_DELETE", "AD_STATUS_CAMPAIGN_DELETE", "AD_STATUS_ADGROUP_DELETE":
		default:
			ads++
		}
	}
	return campaigns, groups, ads
}

// Review says what TikTok decided about an ad: AUDIT, AUDIT_DENY or DELIVERY_OK.
func (n *Network) Review(a *Account, ad, verdict string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	find(a.ads, "ad_id", ad)["review"] = verdict
}

// Rename gives a campaign, an ad group or an ad another name, as somebody in the ads manager.
func (n *Network) Rename(a *Account, id, name string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for kind, rows := range map[string][]Object{"campaign": a.campaigns, "adgroup": a.groups, "ad": a.ads} {
		if one := find(rows, kind+"_id", id); one != nil {
			one[kind+"_name"] = name
		}
	}
}

// Events returns the events that pixels were told of.
func (n *Network) Events() []Object {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.events)
}

// People returns the hashes in the audience with an id.
func (n *Network) People(a *Account, id string) []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, one := range a.audiences {
		if one.about.Text("audience_id") == id {
			return slices.Sorted(maps.Keys(one.hashes))
		}
	}
	return nil
}

// find returns the object with an id, nil if there is none.
func find(rows []Object, field, id string) Object {
	i := slices.IndexFunc(rows, func(o Object) bool { return o.Text(field) == id })
	if i < 0 {
		return nil
	}
	return rows[i]
}

// isDeleted reports whether a thing is deleted itself.
func isDeleted(o Object) bool { return o.Text("operation_status") == "DELETE" }
