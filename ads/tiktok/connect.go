package tiktok

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store/advert"
)

var _ ads.Connector = (*Driver)(nil)

// ConsentURL is the address of the pages on which people log in.
const ConsentURL = "https://business-api.tiktok.com"

// appSettings name the app by which people are asked.
var appSettings = []string{"TILLWRIGHT_TIKTOK_APP_ID", "TILLWRIGHT_TIKTOK_APP_SECRET"}

// Consent implements ads.Connector. What the app may do was said when the app was made; TikTok has no PKCE.
func (d *Driver) Consent(_ context.Context, q ads.ConsentQuestion) (string, error) {
	if d.config.App == "" || d.config.Secret == "" {
		return "", &ads.NoAppError{Settings: appSettings}
	}
	query := url.Values{"app_id": {d.config.App}, "state": {q.State}, "redirect_uri": {q.RedirectURI}}
	return d.config.ConsentURL + "/portal/auth?" + query.Encode(), nil
}

// Exchange implements ads.Connector. The token does not end, until whoever gave it takes it back. It is asked for once: a code is good
// once.
func (d *Driver) Exchange(ctx context.Context, a ads.ConsentAnswer) (ads.Grant, error) {
	var answer struct {
		Token  string `json:"access_token"`
		Scopes []int  `json:"scope"`
	}
	app := ads.Conn{}
	r := request{method: http.MethodPost, path: "oauth2/access_token", params: fields{
		"app_id": d.config.App, "secret": d.config.Secret.Reveal(), "auth_code": a.Code.Reveal(),
	}}
	err := d.writeAs(ctx, app, r, &answer)
	switch {
	case isRejected(err), errors.Is(err, ads.ErrOperator):
		return ads.Grant{}, failure(app, r, ads.ErrUnauthorized, err)
	case err != nil:
		return ads.Grant{}, err
	case answer.Token == "":
		return ads.Grant{}, fmt.Errorf("tiktok: %w: the answer has no token", ads.ErrUnavailable)
	}
	g := ads.Grant{Token: ads.Secret(answer.Token)}
	for _, scope := range answer.Scopes {
		g.Scopes = append(g.Scopes, strconv.Itoa(scope))
	}
	return g, nil
}

// Refresh implements ads.Connector. There is nothing to renew.
func (d *Driver) Refresh(context.Context, ads.Secret) (ads.Grant, error) {
	return ads.Grant{}, fmt.Errorf("tiktok: %w: a token of TikTok's does not end", ads.ErrUnauthorized)
}

// Profiles implements ads.Connector. They are the identities in whose names the token's ad accounts may speak, accounts on TikTok first. An
// ad account to which the token's owner may do nothing has none.
func (d *Driver) Profiles(ctx context.Context, c ads.Conn) ([]advert.SocialProfile, error) {
	ctx, cancel := d.bound(ctx)
	defer cancel()
	accounts, err := d.advertisers(ctx, c)
	if err != nil {
		return nil, err
	}
	var found []identity
	for _, account := range accounts {
		some, err := d.identitiesOf(ctx, c, account.ID)
		if errors.Is(err, ads.ErrForbidden) {
			continue
		}
		if err != nil {
			return nil, err
		}
		for _, one := range some {
			if !slices.ContainsFunc(found, func(known identity) bool { return known.ID == one.ID }) {
				found = append(found, one)
			}
		}
	}
	slices.SortStableFunc(found, func(a, b identity) int { return rank(a) - rank(b) })
	var profiles []advert.SocialProfile
	for _, one := range found {
		profiles = append(profiles, advert.SocialProfile{ID: one.ID, Username: one.Username, Name: orDefault(one.Name, one.Username)})
	}
	return profiles, nil
}

// rank puts accounts on TikTok before names without one.
func rank(i identity) int {
	if i.Type == customized {
		return 1
	}
	return 0
}
