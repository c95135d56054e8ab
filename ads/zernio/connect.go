package zernio

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store/advert"
)

// profile is a container of accounts at Zernio. One of ours has the name of the account whose it is.
type profile struct {
	ID   string `json:"_id"`
	Name string `json:"name"`
}

// account is an access to a network at Zernio. It may be one for posting alone; one for ads has the other as its parent, where the network
// gives the same access for both.
type account struct {
	ID       string          `json:"_id"`
	Platform string          `json:"platform"`
	Profile  json.RawMessage `json:"profileId"` // an id, or an object with one
	Username string          `json:"username"`
	Name     string          `json:"displayName"`
	Parent   string          `json:"parentAccountId"`
	Active   bool            `json:"isActive"`
}

// adsPlatforms are Zernio's words for the accounts with which ads are made. Facebook and Instagram have the same: an account of it is of
// the one whose posting account is its parent.
var adsPlatforms = map[advert.Platform]string{
	advert.PlatformFacebook: "metaads", advert.PlatformInstagram: "metaads", advert.PlatformTikTok: "tiktokads", advert.PlatformLinkedIn: "linkedinads",
	advert.PlatformPinterest: "pinterestads", advert.PlatformGoogle: "googleads", advert.PlatformTwitter: "xads",
}

// idOf reads an id, or that of an object.
func idOf(wire json.RawMessage) string {
	var id string
	if json.Unmarshal(wire, &id) == nil {
		return id
	}
	var object struct {
		ID string `json:"_id"`
	}
	_ = json.Unmarshal(wire, &object) // what is neither has no id
	return object.ID
}

// Consent implements ads.Connector. It makes the account's profile at Zernio if there is none yet. It returns the address of the network's page, from
// which people come back by way of Zernio. X asks twice, first for the access by which it posts.
func (d *Driver) Consent(ctx context.Context, q ads.ConsentQuestion) (string, error) {
	ctx, cancel := d.bound(ctx)
	defer cancel()
	id, err := d.makeProfile(ctx, q.Account)
	if err != nil {
		return "", err
	}
	query := url.Values{"profileId": {id}, "redirect_url": {q.RedirectURI + "?" + url.Values{"state": {q.State}}.Encode()}}
	at, err := d.asks(ctx, query, id)
	if err != nil {
		return "", err
	}
	var answer struct {
		URL string `json:"authUrl"`
	}
	if _, err := d.read(ctx, at, query, &answer); err != nil {
		return "", err
	}
	if answer.URL == "" {
		return "", fmt.Errorf("zernio: %w: the answer has no address", ads.ErrUnavailable)
	}
	return answer.URL, nil
}

// asks returns where the address of the network's page is asked for, and adds to the query what that needs.
func (d *Driver) asks(ctx context.Context, query url.Values, profile string) (string, error) {
	if d.platform == advert.PlatformTwitter {
		accounts, err := d.accountsIn(ctx, profile)
		if err != nil {
			return "", err
		}
		posting := slices.IndexFunc(accounts, func(a account) bool { return a.Platform == string(d.platform) })
		if posting < 0 {
			return path("connect", d.connectName()), nil
		}
		query.Set("accountId", accounts[posting].ID)
	}
	query.Set("force", "true") // or nobody would be asked who has connected the network before
	return path("connect", d.connectName(), "ads"), nil
}

// connectName is Zernio's word for the network where it is connected.
func (d *Driver) connectName() string {
	if d.platform == advert.PlatformGoogle {
		return "googleads"
	}
	return string(d.platform)
}

// Exchange implements ads.Connector. Zernio keeps the access. What comes back is the id of an account, of which Profiles says whether it is
// whose.
func (d *Driver) Exchange(_ context.Context, a ads.ConsentAnswer) (ads.Grant, error) {
	return ads.Grant{Token: a.Code}, nil
}

// Refresh implements ads.Connector. Zernio renews what it keeps by itself.
func (d *Driver) Refresh(context.Context, ads.Secret) (ads.Grant, error) {
	return ads.Grant{}, fmt.Errorf("zernio: %w: there is nothing to renew", ads.ErrUnauthorized)
}

// Profiles implements ads.Connector. The token of a channel is the id of the Zernio account, or of the posting account that it belongs to. Without a
// token it is all that the account has connected. One that is not in the profile of the account that asks is ads.ErrUnauthorized, whoever else's it
// is.
func (d *Driver) Profiles(ctx context.Context, c ads.Conn) ([]advert.SocialProfile, error) {
	ctx, cancel := d.bound(ctx)
	defer cancel()
	mine, err := d.mine(ctx, c.Account)
	if err != nil {
		return nil, err
	}
	token := c.Token.Reveal()
	var found []advert.SocialProfile
	for _, a := range mine {
		if (token == "" || a.ID == token || a.Parent == token) && d.isFor(a, mine) && a.Active {
			found = append(found, advert.SocialProfile{ID: a.ID, AlsoID: a.Parent, Username: a.Username, Name: orDefault(a.Name, a.Username)})
		}
	}
	if len(found) == 0 && token != "" && !slices.ContainsFunc(mine, func(a account) bool { return a.ID == token }) {
		return nil, fmt.Errorf("zernio: %w: the account has no such Zernio account", ads.ErrUnauthorized)
	}
	return found, nil
}

// isFor reports whether ads on the driver's network are made with an account.
func (d *Driver) isFor(a account, among []account) bool {
	if a.Platform != adsPlatforms[d.platform] {
		return false
	}
	if !d.isMeta() {
		return true
	}
	onInstagram := slices.ContainsFunc(among, func(p account) bool { return p.ID == a.Parent && p.Platform == string(advert.PlatformInstagram) })
	return onInstagram == (d.platform == advert.PlatformInstagram)
}

// mine returns the Zernio accounts in the profile of an account of ours; none if it has no profile.
func (d *Driver) mine(ctx context.Context, name string) ([]account, error) {
	id, err := d.findProfile(ctx, name)
	if err != nil || id == "" {
		return nil, err
	}
	return d.accountsIn(ctx, id)
}

// accountsIn returns the Zernio accounts in a profile.
func (d *Driver) accountsIn(ctx context.Context, profile string) ([]account, error) {
	var answer struct {
		Accounts []account `json:"accounts"`
	}
	if _, err := d.read(ctx, path("accounts"), url.Values{"profileId": {profile}}, &answer); err != nil {
		return nil, err
	}
	return slices.DeleteFunc(answer.Accounts, func(a account) bool { return idOf(a.Profile) != profile }), nil
}

// findProfile returns the id of the profile with a name, "" if there is none.
func (d *Driver) findProfile(ctx context.Context, name string) (string, error) {
	var answer struct {
		Profiles []profile `json:"profiles"`
	}
	if _, err := d.read(ctx, path("profiles"), url.Values{"name": {name}}, &answer); err != nil {
		return "", err
	}
	i := slices.IndexFunc(answer.Profiles, func(p profile) bool { return name != "" && p.Name == name })
	if i < 0 {
		return "", nil
	}
	return answer.Profiles[i].ID, nil
}

// makeProfile returns the id of the profile of an account of ours, which it makes if there is none. Its name is its key too, so that two
// requests make one.
func (d *Driver) makeProfile(ctx context.Context, name string) (string, error) {
	if id, err := d.findProfile(ctx, name); err != nil || id != "" {
		return id, err
	}
	var answer struct {
		Profile profile `json:"profile"`
	}
	err := d.write(ctx, request{method: http.MethodPost, path: path("profiles"), body: map[string]string{"name": name}, key: name}, &answer)
	if err == nil {
		return answer.Profile.ID, nil
	}
	if id, again := d.findProfile(ctx, name); again == nil && id != "" { // another request was first, or the answer was lost
		return id, nil
	}
	return "", err
}
