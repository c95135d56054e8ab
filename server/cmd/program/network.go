package program

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/http"
	"slices"
	"time"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/ads/meta"
	"github.com/tillwright/tillwright/ads/pinterest"
	"github.com/tillwright/tillwright/ads/sandbox"
	"github.com/tillwright/tillwright/ads/tiktok"
	"github.com/tillwright/tillwright/ads/zernio"
	"github.com/tillwright/tillwright/server"
	"github.com/tillwright/tillwright/server/caller"
	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/webhooks"
)

// adDrivers returns what speaks to the ad networks: real drivers for those that the configuration names, and the sandbox for
// all others. With a key at Zernio there is one more for each network, for those who ask for it by name.
func adDrivers(config *server.Config, s *advert.Store, guard *webhooks.Guard) (ads.Drivers, error) {
	live, err := config.AdNetworks()
	if err != nil {
		return nil, err
	}
	drivers := ads.Drivers{ads.DriverSandbox: sandbox.All(s, sandbox.Options{}), "meta": {}, "pinterest": {}, "tiktok": {}}
	client := outbound(guard)
	for _, p := range live {
		switch p {
		case advert.PlatformPinterest:
			drivers["pinterest"][p] = pinterest.New(pinterest.Config{
				Client: client, BaseURL: config.PinterestURL, ConsentURL: config.PinterestConsentURL, App: config.PinterestAppID, Secret: ads.Secret(config.PinterestSecret),
			})
		case advert.PlatformTikTok:
			drivers["tiktok"][p] = tiktok.New(tiktok.Config{
				Client: client, BaseURL: config.TikTokURL, ConsentURL: config.TikTokConsentURL, App: config.TikTokAppID, Secret: ads.Secret(config.TikTokSecret),
			})
		default:
			drivers["meta"][p] = meta.New(p, meta.Options{
				Client: client, BaseURL: config.MetaURL, Version: config.MetaVersion, Secret: ads.Secret(config.MetaSecret),
				App: config.MetaAppID, Consent: config.MetaConsentURL,
			})
		}
	}
	if config.ZernioKey != "" {
		drivers[ads.DriverZernio] = zernio.All(zernio.Config{Client: client, Key: ads.Secret(config.ZernioKey), BaseURL: config.ZernioURL})
	}
	return drivers, nil
}

// consents says how sellers come back who have consented on the page of a network.
func consents(config *server.Config, s *store.Store) ads.Consents {
	return ads.Consents{
		PublicURL: config.PublicURL, Development: config.Env == server.Development,
		Website: func(ctx context.Context, account string) (string, error) {
			a, err := s.Tenant.GetAccount(ctx, account)
			if err != nil {
				return "", err
			}
			return core.Deref(a.WebsiteURL), nil
		},
	}
}

// MetaWarning returns what is to be said about the version of Meta's API, "" if nothing is or Meta is played by the sandbox.
func MetaWarning(config *server.Config) string {
	live, err := config.AdNetworks()
	if err != nil || !slices.Contains(live, advert.PlatformFacebook) && !slices.Contains(live, advert.PlatformInstagram) {
		return ""
	}
	return meta.Warning(cmp.Or(config.MetaVersion, meta.DefaultVersion), time.Now())
}

// outbound returns the client by which ad networks and payment providers are reached. The guard checks every address that is
// dialled. No proxy is used, because it would dial where the guard cannot see it. Every request ends within a minute, its answer
// included, whatever time its caller has: after that another process may ask about the same payment.
func outbound(guard *webhooks.Guard) *http.Client { return believing(guard, nil) }

// believing returns such a client that believes whom these certificates vouch for, nil for those of the system.
func believing(guard *webhooks.Guard, roots *x509.CertPool) *http.Client {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.Proxy = nil
	if roots != nil {
		t.TLSClientConfig = &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
	}
	t.DialContext = (&net.Dialer{Timeout: 5 * time.Second, KeepAlive: 15 * time.Second, Control: guard.Control}).DialContext
	t.MaxIdleConnsPerHost = 16
	t.ResponseHeaderTimeout = 30 * time.Second
	return &http.Client{Transport: caller.Awaited{RoundTripper: oneProtocol{t}}, Timeout: time.Minute}
}

// oneProtocol refuses answers that switch to another protocol, because no deadline applies to what follows such an answer.
type oneProtocol struct{ http.RoundTripper }

func (o oneProtocol) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := o.RoundTripper.RoundTrip(req)
	if err == nil && resp.StatusCode == http.StatusSwitchingProtocols {
		_ = resp.Body.Close()
		return nil, errors.New("the answer switches to another protocol")
	}
	return resp, err
}
