package meta

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store/advert"
)

// DefaultConsentURL is the address of the pages on which people log in.
const DefaultConsentURL = "https://www.facebook.com"

// scopes are what the app asks people for ("Permissions Reference").
var scopes = map[advert.Platform][]string{
	advert.PlatformFacebook:  {"ads_management", "ads_read", "business_management", "pages_show_list", "pages_read_engagement"},
	advert.PlatformInstagram: {"ads_management", "ads_read", "business_management", "pages_show_list", "pages_read_engagement", "instagram_basic"},
}

// Consent implements ads.Connector ("Manually Build a Login Flow"). Meta has PKCE in testing for OpenID Connect alone: the code is of no use
// without the app's secret.
func (n *Network) Consent(_ context.Context, q ads.ConsentQuestion) (string, error) {
	if n.app == "" || n.graph.secret == "" {
		return "", &ads.NoAppError{Settings: []string{"TILLWRIGHT_META_APP_ID", "TILLWRIGHT_META_APP_SECRET"}}
	}
	query := url.Values{
		"client_id": {n.app}, "redirect_uri": {q.RedirectURI}, "state": {q.State}, "response_type": {"code"},
		"scope": {strings.Join(scopes[n.caps.Platform], ",")},
	}
	return n.consent + "/" + n.version + "/dialog/oauth?" + query.Encode(), nil
}

// Exchange implements ads.Connector. The code gives a token for hours, which is exchanged for one for about sixty days ("Long-Lived Access Tokens").
// The tokens of pages are read with it, each time they are needed.
func (n *Network) Exchange(ctx context.Context, a ads.ConsentAnswer) (ads.Grant, error) {
	ctx, cancel := n.bounded(ctx)
	defer cancel()
	short, err := n.token(ctx, url.Values{"code": {a.Code.Reveal()}, "redirect_uri": {a.RedirectURI}})
	if err != nil {
		return ads.Grant{}, err
	}
	g, err := n.extend(ctx, short.Token)
	if err == nil {
		g.Scopes, err = n.granted(ctx, g.Token)
	}
	return g, err
}

// Refresh implements ads.Connector. A long-lived token is exchanged for another one.
func (n *Network) Refresh(ctx context.Context, refresh ads.Secret) (ads.Grant, error) {
	ctx, cancel := n.bounded(ctx)
	defer cancel()
	return n.extend(ctx, refresh)
}

// extend exchanges a token for one that lives longer, and by which it is renewed itself.
func (n *Network) extend(ctx context.Context, token ads.Secret) (ads.Grant, error) {
	g, err := n.token(ctx, url.Values{"grant_type": {"fb_exchange_token"}, "fb_exchange_token": {token.Reveal()}})
	if g.Life > 0 {
		g.Refresh = g.Token
	}
	return g, err
}

// granted returns what the person has let the app do.
func (n *Network) granted(ctx context.Context, token ads.Secret) ([]string, error) {
	type permission struct{ Permission, Status string }
	all, err := list[permission](ctx, n.graph, token, place{"me", "permissions"}, url.Values{})
	var names []string
	for _, p := range all {
		if p.Status == "granted" {
			names = append(names, p.Permission)
		}
	}
	return names, err
}

// token asks for a token on behalf of the app. What Meta refuses about it is ads.ErrUnauthorized, unless it would refuse any: then another
// try may be answered. The app's secret stands in the
// address, which is how Meta has it; no error and no log shows an address.
func (n *Network) token(ctx context.Context, params url.Values) (ads.Grant, error) {
	params.Set("client_id", n.app)
	params.Set("client_secret", n.graph.secret.Reveal())
	var answer struct {
		Token   string `json:"access_token"`
		Expires int64  `json:"expires_in"` // seconds; 0 = it does not end
	}
	r := n.graph.ask(ctx, "oauth/access_token", params, &answer)
	switch {
	case r == nil && answer.Token == "":
		return ads.Grant{}, fmt.Errorf("%w: the answer has no token", ads.ErrUnavailable)
	case r == nil:
		return ads.Grant{Token: ads.Secret(answer.Token), Life: time.Duration(answer.Expires) * time.Second}, nil
	case r.soft, isNotAboutToken(r.err):
		return ads.Grant{}, fmt.Errorf("%w: %w", ads.ErrUnavailable, r.err)
	}
	return ads.Grant{}, fmt.Errorf("%w: %w", ads.ErrUnauthorized, r.err)
}

// isNotAboutToken reports whether Meta has refused to look at what was asked for, whatever the token is. The cause may be a limit of the app, which
// all channels use up together. It may also be the app itself, which whoever runs this installation can put right.
func isNotAboutToken(err error) bool {
	var limited *ads.RateLimited
	var refused *ads.Rejected
	return errors.As(err, &limited) || errors.Is(err, ads.ErrOperator) ||
		errors.As(err, &refused) && strings.HasPrefix(refused.Raw, "101/") // "Error validating application"
}
