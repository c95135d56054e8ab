package tiktokfake

import (
	"crypto/rand"
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

const (
	consentPath = "/portal/auth"
	codeLife    = time.Hour
)

// consented is a code that was given to somebody.
type consented struct {
	at   time.Time
	used bool
}

var consentPage = template.Must(template.New("").Parse(`<!doctype html><title>TikTok for Business</title><h1>Authorize?</h1>
<p><a id="allow" href="{{.Allow}}">Confirm</a></p><p><a id="deny" href="{{.Deny}}">Cancel</a></p>`))

// ask is the page on which people say yes or no.
func (n *Network) ask(w http.ResponseWriter, r *http.Request) {
	n.mu.Lock()
	defer n.mu.Unlock()
	q := r.URL.Query()
	redirect := q.Get("redirect_uri")
	if q.Get("app_id") != n.App.ID || !slices.Contains(n.App.RedirectURIs, redirect) || q.Get("state") == "" || len(q) != 3 {
		http.Error(w, "The redirect_uri is not one of the app's.", http.StatusBadRequest)
		return
	}
	code := rand.Text()
	n.codes[code] = &consented{at: n.now()}
	back := func(values url.Values) string {
		values.Set("state", q.Get("state"))
		return redirect + "?" + values.Encode()
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_ = consentPage.Execute(w, map[string]string{"Allow": back(url.Values{"auth_code": {code}}), "Deny": back(url.Values{"error": {"access_denied"}})})
}

// ConsentOf makes the owner of a token the one who consents.
func (n *Network) ConsentOf(token string, app App) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.owner, n.App = token, app
}

// grant gives a token for a code. It does not end.
func (n *Network) grant(r *request) (any, *refusal) {
	c := n.codes[r.params.Text("auth_code")]
	switch {
	case r.params.Text("app_id") != n.App.ID || r.params.Text("secret") != n.App.Secret || n.App.ID == "":
		return nil, &refusal{code: codeAppRefused, message: "Illegal app or secret."}
	case c == nil || c.used || n.now().Sub(c.at) > codeLife:
		return nil, &refusal{code: codeBadAuthCode, message: "Auth_code is used or expired."}
	}
	c.used = true
	token := strings.ToLower(rand.Text() + rand.Text())
	n.tokens[token] = n.tokens[n.owner]
	n.minted = append(n.minted, token)
	return Object{"access_token": token, "advertiser_ids": n.tokens[token], "scope": []int{4, 5, 300}}, nil
}

// reached lists the ad accounts of a token to the token's app.
func (n *Network) reached(r *request) (any, *refusal) {
	if r.params.Text("app_id") != n.App.ID || r.params.Text("secret") != n.App.Secret || n.App.ID == "" {
		return nil, &refusal{code: codeAppRefused, message: "Illegal app or secret."}
	}
	list := []Object{}
	for _, id := range n.tokens[r.token] {
		list = append(list, Object{"advertiser_id": id, "advertiser_name": n.accounts[id].about["name"]})
	}
	return Object{"list": list}, nil
}

// Minted returns the tokens that were given for consents, in their order.
func (n *Network) Minted() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.minted)
}

// Revoke makes a token worthless.
func (n *Network) Revoke(token string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.tokens, token)
}
