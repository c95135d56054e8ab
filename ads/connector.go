package ads

import (
	"context"
	"time"

	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/store/core"
)

// Connector is a Network that tells whose access a token is. People give it access on a page of the network (OAuth 2.0, the authorization code
// grant).
type Connector interface {
	// Profiles returns the profiles or pages that the connection's token can speak for. A token that the network does not take is
	// ErrUnauthorized.
	Profiles(context.Context, Conn) ([]advert.SocialProfile, error)
	// Consent returns the address of the page that asks for consent. Without an app at the network it fails with *NoAppError.
	Consent(context.Context, ConsentQuestion) (string, error)
	// Exchange returns the access that somebody has consented to. A code that the network does not take is ErrUnauthorized.
	Exchange(context.Context, ConsentAnswer) (Grant, error)
	// Refresh returns a new access for one that ends. If the network does not renew it, the error is ErrUnauthorized.
	Refresh(ctx context.Context, refresh Secret) (Grant, error)
}

// ConsentQuestion is what a network's page is asked with.
type ConsentQuestion struct {
	Account     string // acct_, for which it is asked
	State       string // is brought back with the answer
	Challenge   string // S256 of the verifier (RFC 7636), for networks that know PKCE
	RedirectURI string
}

// ConsentAnswer is what the access is asked for with.
type ConsentAnswer struct {
	Code        Secret
	Verifier    Secret // of the question's challenge
	RedirectURI string // of the question
}

// Grant is the access that a network gives.
type Grant struct {
	Token   Secret
	Refresh Secret        // by which it is renewed; empty if it cannot be
	Life    time.Duration // of the token; 0 = it does not end
	Scopes  []string      // in the network's words; of a renewed one empty for those of before
}

// access returns a grant as it is stored, from now on.
func (g *Grant) access(now core.Time) advert.SocialAccess {
	a := advert.SocialAccess{Token: g.Token.Reveal(), Refresh: g.Refresh.Reveal(), Scopes: g.Scopes}
	if g.Life > 0 {
		end := now.Add(g.Life)
		a.ExpiresAt = &end
	}
	return a
}

// is reports whether an id is one of the profile's.
func is(p advert.SocialProfile, id string) bool { return id == p.ID || id != "" && id == p.AlsoID }

// connector returns the Connector of a platform, or nil if it is none.
func (o outside) connector() Connector {
	connector, _ := o.network.(Connector)
	return connector
}

// Profiles implements Connector. A network that is none knows no profiles, and any token is taken as it is.
func (o outside) Profiles(ctx context.Context, c Conn) ([]advert.SocialProfile, error) {
	if o.connector() == nil {
		return nil, ErrUnsupported
	}
	ctx, cancel := leave(ctx, readTimeout)
	defer cancel()
	return o.connector().Profiles(ctx, c)
}

// Consent implements Connector.
func (o outside) Consent(ctx context.Context, q ConsentQuestion) (string, error) {
	if o.connector() == nil {
		return "", ErrUnsupported
	}
	ctx, cancel := leave(ctx, writeTimeout)
	defer cancel()
	return o.connector().Consent(ctx, q)
}

// Exchange implements Connector.
func (o outside) Exchange(ctx context.Context, a ConsentAnswer) (Grant, error) {
	if o.connector() == nil {
		return Grant{}, ErrUnsupported
	}
	ctx, cancel := leave(ctx, writeTimeout)
	defer cancel()
	return o.connector().Exchange(ctx, a)
}

// Refresh implements Connector.
func (o outside) Refresh(ctx context.Context, refresh Secret) (Grant, error) {
	if o.connector() == nil {
		return Grant{}, ErrUnsupported
	}
	ctx, cancel := leave(ctx, writeTimeout)
	defer cancel()
	return o.connector().Refresh(ctx, refresh)
}
