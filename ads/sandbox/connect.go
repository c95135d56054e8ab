package sandbox

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store/advert"
)

var _ ads.Connector = (*Driver)(nil)

// What a consent is given for: one profile, or several, of which one is then selected. The page of the sandbox offers both.
const (
	ConsentOne     = "one"
	ConsentSeveral = "several"
)

// consentLife is how long an access lives that somebody has consented to.
const consentLife = 60 * 24 * time.Hour

// Profiles implements ads.Connector. Any text is a token of one profile, which follows from it; a consent for several is one of two.
func (d *Driver) Profiles(_ context.Context, c ads.Conn) ([]advert.SocialProfile, error) {
	token := c.Token.Reveal()
	if token == tokenOf(ConsentSeveral) {
		return []advert.SocialProfile{d.profile(c, tokenOf(ConsentOne)), d.profile(c, token)}, nil
	}
	return []advert.SocialProfile{d.profile(c, token)}, nil
}

// profile returns the profile that belongs to a text, of one account and platform.
func (d *Driver) profile(c ads.Conn, text string) advert.SocialProfile {
	sum := sha256.Sum256([]byte(c.Account + "\x00" + string(d.platform) + "\x00" + text))
	number := binary.BigEndian.Uint64(sum[:]) % 1_000_000_000
	return advert.SocialProfile{ID: fmt.Sprintf("100000%09d", number), Username: fmt.Sprintf("shop%09d", number), Name: fmt.Sprintf("Shop %d", number%1000)}
}

func tokenOf(consent string) string { return "sandbox-consent-" + consent }

// Consent implements ads.Connector. The page is one of this service's own, below the address to which people come back.
func (d *Driver) Consent(_ context.Context, q ads.ConsentQuestion) (string, error) {
	return q.RedirectURI + "/sandbox?" + url.Values{"state": {q.State}, "code_challenge": {q.Challenge}}.Encode(), nil
}

// Exchange implements ads.Connector. It takes a code from whoever has the verifier of its question. The page gives the code, which is the consent and
// the challenge with a dot between them.
func (d *Driver) Exchange(_ context.Context, a ads.ConsentAnswer) (ads.Grant, error) {
	consent, challenge, _ := strings.Cut(a.Code.Reveal(), ".")
	sum := sha256.Sum256([]byte(a.Verifier.Reveal()))
	if challenge != base64.RawURLEncoding.EncodeToString(sum[:]) || consent != ConsentOne && consent != ConsentSeveral {
		return ads.Grant{}, fmt.Errorf("the code is not of this consent: %w", ads.ErrUnauthorized)
	}
	return d.granted(tokenOf(consent)), nil
}

// Refresh implements ads.Connector. The token stays the same.
func (d *Driver) Refresh(_ context.Context, refresh ads.Secret) (ads.Grant, error) {
	return d.granted(refresh.Reveal()), nil
}

func (d *Driver) granted(token string) ads.Grant {
	return ads.Grant{Token: ads.Secret(token), Refresh: ads.Secret(token), Life: consentLife, Scopes: []string{"ads:read", "ads:write"}}
}
