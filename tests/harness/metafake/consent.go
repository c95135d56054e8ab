package metafake

import (
	"crypto/rand"
	"fmt"
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

// How long tokens live: a short one for an hour or two, a long one for about sixty days (rule O1).
const (
	ShortLife = 2 * time.Hour
	LongLife  = 60 * 24 * time.Hour
)

// codeLife is how long a code is good.
const codeLife = 10 * time.Minute

// consented is a code that was given to somebody.
type consented struct {
	redirect string
	at       time.Time
	used     bool
}

// adsScopes are what an ads driver cannot do without (rule O1).
var adsScopes = []string{"ads_management", "ads_read", "business_management", "pages_show_list", "pages_read_engagement"}

// consents serves the page that asks people, and the tokens for what they say. It reports whether the request was for one of them.
func (f *Fake) consents(w http.ResponseWriter, r *http.Request) bool {
	switch r.URL.Path {
	case "/" + Version + "/dialog/oauth":
		f.ask(w, r)
	case "/" + Version + "/oauth/access_token":
		f.mu.Lock()
		body, e := f.grant(r)
		f.calls = append(f.calls, Call{Method: r.Method, Path: "oauth/access_token", Edge: "access_token", Params: r.URL.Query(), Refused: e})
		f.mu.Unlock()
		if e != nil {
			e.write(w, "")
			return true
		}
		answer(w, http.StatusOK, body)
	default:
		return false
	}
	return true
}

var page = template.Must(template.New("").Parse(`<!doctype html><title>Log in with Facebook</title><h1>Continue?</h1>
<p>The app wants: {{.Scope}}</p><p><a id="allow" href="{{.Allow}}">Continue</a></p><p><a id="deny" href="{{.Deny}}">Cancel</a></p>`))

// ask is the page on which people say yes or no. An app that is not set up as it has to be gets no answer for them.
func (f *Fake) ask(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	q := r.URL.Query()
	redirect, scope := q.Get("redirect_uri"), q.Get("scope")
	missing := slices.ContainsFunc(adsScopes, func(s string) bool { return !slices.Contains(strings.Split(scope, ","), s) })
	if q.Get("client_id") != f.App.ID || !slices.Contains(f.App.RedirectURIs, redirect) || q.Get("response_type") != "code" || q.Get("state") == "" || missing {
		http.Error(w, "URL blocked: This redirect failed because the redirect URI is not white-listed in the app's client OAuth settings.", http.StatusBadRequest)
		return
	}
	code := rand.Text()
	f.codes[code] = &consented{redirect: redirect, at: f.Now()}
	back := func(values url.Values) string {
		values.Set("state", q.Get("state"))
		return redirect + "?" + values.Encode() + "#_=_"
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_ = page.Execute(w, map[string]string{
		"Scope": scope, "Allow": back(url.Values{"code": {code}}),
		"Deny": back(url.Values{"error": {"access_denied"}, "error_reason": {"user_denied"}, "error_description": {"Permissions error"}}),
	})
}

// grant gives a token for a code, or a long one for another one (rule O1).
func (f *Fake) grant(r *http.Request) (any, *Error) {
	q := r.URL.Query()
	switch {
	case r.Method != http.MethodGet:
		return nil, oauth(http.StatusBadRequest, 100, "Unsupported method")
	case q.Get("client_id") != f.App.ID:
		return nil, oauth(http.StatusBadRequest, 101, "Error validating application. Cannot get application info due to a system error.")
	case q.Get("client_secret") != f.App.Secret:
		return nil, oauth(http.StatusBadRequest, 1, "Error validating client secret.")
	case q.Get("grant_type") == "fb_exchange_token":
		token := q.Get("fb_exchange_token")
		if f.tokens[token] == "" || f.hasEnded(token) {
			return nil, oauth(http.StatusBadRequest, 190, "Error validating access token: Session has expired")
		}
		return f.mint(LongLife), nil
	}
	c := f.codes[q.Get("code")]
	switch {
	case c == nil:
		return nil, codeRefused(36007, "Invalid verification code format.")
	case c.used:
		return nil, codeRefused(36009, "This authorization code has been used.")
	case f.Now().Sub(c.at) > codeLife:
		return nil, codeRefused(36007, "This authorization code has expired.")
	case c.redirect != q.Get("redirect_uri"):
		return nil, codeRefused(36008, "Error validating verification code. Please make sure your redirect_uri is identical to the one you used in the OAuth dialog request")
	}
	c.used = true
	return f.mint(ShortLife), nil
}

func codeRefused(subcode int, message string) *Error {
	e := oauth(http.StatusBadRequest, 100, message)
	e.Subcode, e.Rule = subcode, "O1"
	return e
}

// mint makes a token of the user that lives for so long.
func (f *Fake) mint(life time.Duration) map[string]any {
	token := "EAA" + rand.Text() + rand.Text()
	f.tokens[token] = "me"
	f.ends[token] = f.Now().Add(life)
	f.minted = append(f.minted, token)
	return map[string]any{"access_token": token, "token_type": "bearer", "expires_in": int64(life.Seconds())}
}

// hasEnded reports whether the life of a token is over. One that was not minted here does not end.
func (f *Fake) hasEnded(token string) bool {
	end, ends := f.ends[token]
	return ends && !f.Now().Before(end)
}

// Minted returns the tokens that were given for consents, in their order.
func (f *Fake) Minted() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.minted)
}

// permissions lists what the person lets the app do.
func permissions() map[string]any {
	rows := []any{map[string]any{"permission": "email", "status": "declined"}}
	for _, scope := range adsScopes {
		rows = append(rows, map[string]any{"permission": scope, "status": "granted"})
	}
	return map[string]any{"data": rows}
}

func expired(token string) *Error {
	e := unauthorized(token)
	e.Subcode, e.Rule = 463, "O1"
	e.Message = fmt.Sprintf("Error validating access token %s: Session has expired", token)
	return e
}
