package stripefake

import (
	"net/http"
	"slices"
	"strings"
)

// Lack takes permissions such as payment_intent_write from the key, which makes it a restricted key.
func (f *Fake) Lack(permissions ...string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.lacks = permissions
}

// permission names what a restricted key needs for a request: to read what it is about for GET, else to write it. See "Review the secret key's API usage"
// in https://docs.stripe.com/keys/restricted-api-keys.
func permission(r *http.Request) string {
	resource, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/v1/"), "/")
	verb := "_write"
	if r.Method == http.MethodGet {
		verb = "_read"
	}
	return strings.TrimSuffix(resource, "s") + verb
}

// forbid returns the refusal of a request for which the key lacks the permission. https://docs.stripe.com/api/errors has the status, and
// https://docs.stripe.com/keys/restricted-api-keys the type. The message is as https://github.com/stripe/stripe-node/issues/2246 quotes it, without a code.
func (f *Fake) forbid(r *http.Request) (reply, bool) {
	needs := permission(r)
	return fail(http.StatusForbidden, "invalid_request_error", "", "", "The provided key 'rk_test_*********Fake' does not have the required permissions for this endpoint on account 'acct_1Fake'. "+
		"Having the 'rak_"+needs+"' permission would allow this request to continue."), slices.Contains(f.lacks, needs)
}
