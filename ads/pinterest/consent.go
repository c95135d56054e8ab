package pinterest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/tillwright/tillwright/ads"
)

// ConsentURL is the address of the pages on which people log in.
const ConsentURL = "https://www.pinterest.com"

// scopes are what the app asks people for.
const scopes = "ads:read,ads:write,boards:read,boards:write,pins:read,pins:write,user_accounts:read,catalogs:read"

// Consent implements ads.Connector. Pinterest has no PKCE: the code is of no use without the app's secret.
func (d *Driver) Consent(_ context.Context, q ads.ConsentQuestion) (string, error) {
	if d.config.App == "" || d.config.Secret == "" {
		return "", &ads.NoAppError{Settings: []string{"TILLWRIGHT_PINTEREST_APP_ID", "TILLWRIGHT_PINTEREST_APP_SECRET"}}
	}
	query := url.Values{
		"client_id": {d.config.App}, "redirect_uri": {q.RedirectURI}, "response_type": {"code"}, "scope": {scopes}, "state": {q.State},
	}
	return d.config.ConsentURL + "/oauth/?" + query.Encode(), nil
}

// Exchange implements ads.Connector.
func (d *Driver) Exchange(ctx context.Context, a ads.ConsentAnswer) (ads.Grant, error) {
	return d.token(ctx, url.Values{"grant_type": {"authorization_code"}, "code": {a.Code.Reveal()}, "redirect_uri": {a.RedirectURI}})
}

// Refresh implements ads.Connector. The answer has another refresh token, which is good for sixty days from then. Pinterest's 401 is ErrOperator,
// because it does not tell the token from the app. A wrong secret of the app must not take their access from all channels. If it is the token, the
// channel ends with its access.
func (d *Driver) Refresh(ctx context.Context, refresh ads.Secret) (ads.Grant, error) {
	return d.token(ctx, url.Values{"grant_type": {"refresh_token"}, "refresh_token": {refresh.Reveal()}})
}

// token asks for a token on behalf of the app. Apps that are older than 2025-09-25 have to ask for a refresh token that can be renewed
// without an end. What Pinterest refuses is ads.ErrUnauthorized.
func (d *Driver) token(ctx context.Context, form url.Values) (ads.Grant, error) {
	form.Set("continuous_refresh", "true")
	var answer struct {
		Token   string `json:"access_token"`
		Expires int64  `json:"expires_in"` // seconds
		Refresh string `json:"refresh_token"`
		Scope   string `json:"scope"`
	}
	if err := d.asApp(ctx, "/oauth/token", form, &answer); err != nil {
		return ads.Grant{}, err
	}
	if answer.Token == "" {
		return ads.Grant{}, fmt.Errorf("pinterest: %w: the answer has no token", ads.ErrUnavailable)
	}
	g := ads.Grant{Token: ads.Secret(answer.Token), Refresh: ads.Secret(answer.Refresh), Life: time.Duration(answer.Expires) * time.Second}
	g.Scopes = strings.FieldsFunc(answer.Scope, func(r rune) bool { return r == ',' || r == ' ' })
	if g.Refresh == "" {
		g.Refresh = ads.Secret(form.Get("refresh_token")) // it stays the same
	}
	return g, nil
}

// asApp sends a form as the app.
func (d *Driver) asApp(ctx context.Context, path string, form url.Values, into any) error {
	ctx, cancel := context.WithTimeout(ctx, d.config.Request)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, d.config.BaseURL+path, strings.NewReader(form.Encode()))
	if err != nil {
		return fmt.Errorf("pinterest: the address of the network is wrong: %w", ads.ErrUnavailable)
	}
	req.SetBasicAuth(d.config.App, d.config.Secret.Reveal())
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	res, err := d.client.Do(req)
	if err != nil {
		var inURL *url.Error
		if errors.As(err, &inURL) {
			err = inURL.Err
		}
		return fmt.Errorf("pinterest: %w: %w", ads.ErrUnavailable, err)
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(res.Body, largest))
	switch {
	case err != nil, isFault(res.StatusCode), res.StatusCode == http.StatusTooManyRequests:
		return fmt.Errorf("pinterest: %w: status %d", ads.ErrUnavailable, res.StatusCode)
	case res.StatusCode/100 != 2:
		var p problem
		_ = json.Unmarshal(body, &p) // without words, the status has to do
		for _, word := range []string{form.Get("refresh_token"), form.Get("code")} {
			p.Message = clean(ads.Conn{Token: ads.Secret(word)}, p.Message)
		}
		why := ads.ErrUnauthorized
		if res.StatusCode == http.StatusUnauthorized && form.Has("refresh_token") { // it may be the app that is not let in: see Refresh
			why = ads.ErrOperator
		}
		return fmt.Errorf("pinterest: %w: status %d: %s", why, res.StatusCode, p.Message)
	}
	if err := json.Unmarshal(body, into); err != nil {
		return fmt.Errorf("pinterest: %w: the answer cannot be read", ads.ErrUnavailable)
	}
	return nil
}
