package ads

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/store/core"
)

// Consents says how people come back from a network that asked for their consent.
type Consents struct {
	PublicURL   string                                                    // of this server, without a slash at its end
	Development bool                                                      // people may be sent to addresses of this machine
	Website     func(ctx context.Context, account string) (string, error) // an account's own site, "" if it has none
}

// CreateSocialConnection is a channel to connect by consent, as it was sent.
type CreateSocialConnection struct {
	Platform  string
	Driver    string // "" = the network's own if this service has it, else the sandbox
	ReturnURL string
}

// BegunConnection is a connection with the address of the page that asks for consent, which is told once.
type BegunConnection struct {
	*advert.SocialConnection
	URL string
}

// CreateSocialConnection begins to connect a channel by the consent of whoever has the profile. What is wrong with it is CodeInvalid;
// so is a network for which whoever runs the service has set no app.
func (s *Service) CreateSocialConnection(ctx context.Context, account string, in CreateSocialConnection) (*BegunConnection, error) {
	if err := (required{{"platform", in.Platform}, {"return_url", in.ReturnURL}}).err(); err != nil {
		return nil, err
	}
	platform, err := bodyPlatform(in.Platform)
	if err != nil {
		return nil, err
	}
	driver := in.Driver
	if driver == "" {
		driver = s.driverOf(platform)
	}
	connector, _ := s.drivers[driver][platform].(Connector)
	if connector == nil {
		return nil, core.Invalid("driver", fmt.Sprintf("This service does not speak to %s through %q. It has: %s.", platform, driver, list(s.driversOf(platform))))
	}
	if err := s.checkReturn(ctx, account, in.ReturnURL); err != nil {
		return nil, err
	}
	state, verifier := random(16), random(32)
	sum := sha256.Sum256([]byte(verifier))
	if err := s.store.Leave(ctx); err != nil {
		return nil, err
	}
	page, err := connector.Consent(ctx, ConsentQuestion{Account: account, State: state, Challenge: base64.RawURLEncoding.EncodeToString(sum[:]), RedirectURI: s.redirectURI(platform)})
	if err != nil {
		return nil, cannotAsk(platform, err)
	}
	c, err := s.store.CreateSocialConnection(ctx, account, advert.NewSocialConnection{
		Platform: platform, Driver: driver, ReturnURL: in.ReturnURL, State: state, Verifier: verifier,
	})
	if err != nil {
		return nil, err
	}
	return &BegunConnection{c, page}, nil
}

// cannotAsk returns why nobody can be asked for consent.
func cannotAsk(platform advert.Platform, err error) error {
	var app *NoAppError
	switch {
	case errors.As(err, &app):
		return core.Invalid("platform", fmt.Sprintf("Nobody can be asked for consent on %s, because this service has no app there. Whoever runs it sets %s. "+
			"A token connects a channel as well, with POST /socials.", platform, strings.Join(app.Settings, " and ")))
	case errors.Is(err, ErrUnsupported):
		return core.Invalid("platform", fmt.Sprintf("%s asks nobody for consent here. Connect the channel with POST /socials.", platform))
	}
	return unanswered(platform, "consent", err)
}

// NoAppError says that no app at a network is configured, and by which settings it would be.
type NoAppError struct{ Settings []string }

func (e *NoAppError) Error() string { return "no app is set: " + strings.Join(e.Settings, ", ") }

// random returns a text with so many random bytes.
func random(bytes int) string {
	b := make([]byte, bytes)
	_, _ = rand.Read(b) // never fails
	return base64.RawURLEncoding.EncodeToString(b)
}

// redirectURI returns where a network sends people back to. It has to be entered at the network's app.
func (s *Service) redirectURI(platform advert.Platform) string {
	return s.consents.PublicURL + "/connect/" + string(platform)
}

// checkReturn returns CodeInvalid for an address to which nobody may be sent. The server sends people only to the account's own site, or it would
// lend its name to any site.
func (s *Service) checkReturn(ctx context.Context, account, address string) error {
	u, err := url.Parse(address)
	if err != nil || u.Hostname() == "" || u.User != nil || u.Fragment != "" || strings.ContainsAny(address, "\\ \t\r\n") {
		return core.Invalid("return_url", "return_url must be a whole address, such as https://example.com/connected, without a user or a fragment.")
	}
	if _, err := url.ParseQuery(u.RawQuery); err != nil { // it would be lost where connection and status are added
		return core.Invalid("return_url", "The query of return_url cannot be read. Encode what is in it: % as %25, ; as %3B.")
	}
	if s.consents.Development && (u.Scheme == "http" || u.Scheme == "https") && isLoopback(u.Hostname()) {
		return nil
	}
	website, err := s.consents.Website(ctx, account)
	if err != nil {
		return err
	}
	own, err := url.Parse(website)
	switch {
	case website == "" || err != nil:
		return core.Invalid("return_url", "The account has no website_url. Set it with PATCH /account first: people are sent back to its host alone.")
	case u.Scheme != "https":
		return core.Invalid("return_url", "return_url must begin with https://.")
	case !strings.EqualFold(u.Host, own.Host):
		return core.Invalid("return_url", fmt.Sprintf("return_url must be on %s, the host of the account's website_url.", own.Host))
	}
	return nil
}

func isLoopback(host string) bool {
	addr, err := netip.ParseAddr(host)
	return strings.EqualFold(host, "localhost") || err == nil && addr.IsLoopback()
}

// ConsentReturn is what somebody brings back from a network's page.
type ConsentReturn struct {
	Platform string
	State    string
	Code     Secret // empty if they did not consent
	Error    string // the network's word for why not
}

// FollowConsent takes the answer of somebody who comes back from a network's page. It connects the channel, or keeps the access until one of several
// profiles is selected. It returns the connection as it is then. It is nil for a state that is not known, was brought before, or is late. Nothing is
// stored then, and the network is not asked.
func (s *Service) FollowConsent(ctx context.Context, in ConsentReturn) (*advert.SocialConnection, error) {
	if in.Code == "" && in.Error == "" {
		return nil, nil
	}
	c, verifier, err := s.store.TakeSocialConnection(ctx, advert.Platform(in.Platform), in.State)
	if err != nil || c == nil {
		return nil, err
	}
	connector, _ := s.drivers[c.Driver][c.Platform].(Connector)
	switch {
	case connector == nil:
		return s.failed(ctx, c, "This service does not speak to the network any more.")
	case in.Code == "" && in.Error == "access_denied":
		return s.store.EndSocialConnection(ctx, c, advert.ConnectionDenied, "")
	case in.Code == "":
		return s.failed(ctx, c, "The network asked nobody for consent, because the app or what it asks for is not set up there as it has to be.")
	}
	grant, err := connector.Exchange(ctx, ConsentAnswer{Code: in.Code, Verifier: Secret(verifier), RedirectURI: s.redirectURI(c.Platform)})
	if err != nil {
		return s.refusedConsent(ctx, c, err)
	}
	access := grant.access(s.store.Now())
	profiles, err := connector.Profiles(ctx, Conn{
		Account: c.AccountID, Platform: c.Platform, Token: grant.Token, Now: func() time.Time { return s.store.Now().Time() },
	})
	if err != nil {
		return s.refusedConsent(ctx, c, err)
	}
	switch len(profiles) {
	case 0:
		return s.failed(ctx, c, "The consent reaches no profile or page. It has to be given by somebody who may advertise for one, and for that one.")
	case 1:
		connected, err := s.store.ConnectProfile(ctx, c, access, profiles[0])
		var refused *core.Error
		if errors.As(err, &refused) && refused.Code == core.CodeInvalid {
			return s.failed(ctx, c, refused.Message)
		}
		return connected, err
	}
	return s.store.OfferProfiles(ctx, c, access, profiles)
}

func (s *Service) failed(ctx context.Context, c *advert.SocialConnection, why string) (*advert.SocialConnection, error) {
	return s.store.EndSocialConnection(ctx, c, advert.ConnectionFailed, why)
}

// refusedConsent ends a connection whose access the network did not give, and tells whoever runs the service why.
func (s *Service) refusedConsent(ctx context.Context, c *advert.SocialConnection, err error) (*advert.SocialConnection, error) {
	s.log.LogAttrs(ctx, slog.LevelWarn, "a consent gave no access", slog.String("connection", c.ID), slog.String("platform", string(c.Platform)), slog.String("error", err.Error()))
	why := "The network did not answer. Begin again."
	if errors.Is(err, ErrUnauthorized) || errors.Is(err, ErrOperator) {
		why = "The network did not take the consent. Begin again; if it stays so, whoever runs this service finds the reason in its log."
	}
	return s.failed(context.WithoutCancel(ctx), c, why)
}

// GetSocialConnection returns a connection, or CodeMissing.
func (s *Service) GetSocialConnection(ctx context.Context, account, id string) (*advert.SocialConnection, error) {
	return s.store.GetSocialConnection(ctx, account, id)
}

// SelectSocialProfile connects one of the profiles that a connection offers. The errors are those of advert.Store.SelectProfile.
func (s *Service) SelectSocialProfile(ctx context.Context, account, id, profile string) (*advert.SocialConnection, error) {
	return s.store.SelectProfile(ctx, account, id, profile)
}
