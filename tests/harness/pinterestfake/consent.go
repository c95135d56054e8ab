package pinterestfake

import (
	"crypto/rand"
	"encoding/json"
	"html/template"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// App is an app that people give their consent to.
type App struct {
	ID           string
	Secret       string
	RedirectURIs []string
}

// How long tokens live (rule P15).
const (
	AccessLife  = 30 * 24 * time.Hour
	RefreshLife = 60 * 24 * time.Hour
	codeLife    = 10 * time.Minute
)

// consented is a code, or a refresh token, that was given to somebody.
type consented struct {
	redirect string // of a code
	ends     time.Time
	used     bool
	user     *user
}

// adsScopes are what an ads driver cannot do without.
var adsScopes = []string{"ads:read", "ads:write", "boards:read", "boards:write", "pins:read", "pins:write", "user_accounts:read", "catalogs:read"}

// ConsentTo sets up an app, and whose consent is given to it: that of whoever has the token.
func (n *Network) ConsentTo(app App, token string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.app, n.consenting = app, n.userOf(token)
}

// Minted returns the access tokens that were given for consents, in their order.
func (n *Network) Minted() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.minted)
}

var consentPage = template.Must(template.New("").Parse(`<!doctype html><title>Pinterest</title><h1>Give access?</h1>
<p>The app wants: {{.Scope}}</p><p><a id="allow" href="{{.Allow}}">Give access</a></p><p><a id="deny" href="{{.Deny}}">Cancel</a></p>`))

// ask is the page on which people say yes or no.
func (n *Network) ask(w http.ResponseWriter, r *http.Request) {
	n.mu.Lock()
	defer n.mu.Unlock()
	q := r.URL.Query()
	redirect, scope := q.Get("redirect_uri"), q.Get("scope")
	missing := slices.ContainsFunc(adsScopes, func(s string) bool { return !slices.Contains(strings.Split(scope, ","), s) })
	if q.Get("client_id") != n.app.ID || !slices.Contains(n.app.RedirectURIs, redirect) || q.Get("response_type") != "code" || q.Get("state") == "" || missing {
		http.Error(w, "Invalid request: the redirect URI or a scope is not one of the app's.", http.StatusBadRequest)
		return
	}
	code := rand.Text()
	n.codes[code] = &consented{redirect: redirect, ends: n.now().Add(codeLife), user: n.consenting}
	back := func(values url.Values) string {
		values.Set("state", q.Get("state"))
		return redirect + "?" + values.Encode()
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_ = consentPage.Execute(w, map[string]string{"Scope": scope, "Allow": back(url.Values{"code": {code}}), "Deny": back(url.Values{"error": {"access_denied"}})})
}

// grant serves POST /oauth/token: rule P15.
func (n *Network) grant(w http.ResponseWriter, r *http.Request) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.calls = append(n.calls, "oauth/token")
	body, refused := n.granted(r)
	if refused != nil {
		n.refused = append(n.refused, "oauth/token: "+refused.Message)
		write(w, refused.status, *refused)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(body)
}

// isApp reports whether a request is the app's own.
func (n *Network) isApp(r *http.Request) bool {
	id, secret, basic := r.BasicAuth()
	return basic && id == n.app.ID && secret == n.app.Secret && n.app.ID != ""
}

func (n *Network) granted(r *http.Request) (Object, *refusal) {
	unauthorized := &refusal{Code: codeUnauthorized, Message: "Authentication failed.", status: http.StatusUnauthorized}
	if !n.isApp(r) {
		return nil, unauthorized
	}
	if r.Header.Get("Content-Type") != "application/x-www-form-urlencoded" || r.URL.RawQuery != "" || r.ParseForm() != nil {
		return nil, invalid("The parameters are sent as a form.")
	}
	form := r.PostForm
	if form.Get("continuous_refresh") != "true" { // the app is older than 2025-09-25
		return nil, invalid("Refresh tokens that end for good are no longer given: send continuous_refresh=true.")
	}
	var c *consented
	kind := form.Get("grant_type")
	switch kind {
	case "authorization_code":
		c = n.codes[form.Get("code")]
		if c != nil && (c.redirect != form.Get("redirect_uri") || c.used) {
			c = nil
		}
	case "refresh_token":
		c = n.refreshes[form.Get("refresh_token")]
	default:
		return nil, invalid("grant_type is not one of authorization_code, refresh_token.")
	}
	if c == nil || !n.now().Before(c.ends) {
		return nil, unauthorized
	}
	c.used = true
	return n.mintTokens(kind, c.user), nil
}

// mintTokens gives a user's app an access token and a refresh token. With each refresh there is another one.
func (n *Network) mintTokens(kind string, u *user) Object {
	access, refresh := "pina_"+rand.Text()+rand.Text(), "pinr_"+rand.Text()+rand.Text()
	n.users[access], n.ends[access] = u, n.now().Add(AccessLife)
	n.refreshes[refresh] = &consented{ends: n.now().Add(RefreshLife), user: u}
	n.minted = append(n.minted, access)
	return Object{
		"access_token": access, "token_type": "bearer", "expires_in": int64(AccessLife.Seconds()), "scope": strings.Join(adsScopes, " "), "response_type": kind,
		"refresh_token": refresh, "refresh_token_expires_in": int64(RefreshLife.Seconds()), "refresh_token_expires_at": n.now().Add(RefreshLife).Unix(),
	}
}

// hasEnded reports whether the life of an access token is over. One that was not minted here does not end.
func (n *Network) hasEnded(token string) bool {
	end, ends := n.ends[token]
	return ends && !n.now().Before(end)
}
