package main

import (
	"errors"
	"net"
	"net/http"
	"time"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/ads/meta"
	"github.com/tillwright/tillwright/ads/pinterest"
	"github.com/tillwright/tillwright/ads/sandbox"
	"github.com/tillwright/tillwright/server"
	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/webhooks"
)

// adDrivers returns who speaks to ad networks: the sandbox to all of them, and real drivers to those that the
// configuration names.
func adDrivers(config *server.Config, s *store.Store, guard *webhooks.Guard) (ads.Drivers, error) {
	live, err := config.AdNetworks()
	if err != nil {
		return nil, err
	}
	drivers := ads.Drivers{ads.DriverSandbox: sandbox.All(s, sandbox.Options{}), "meta": {}, "pinterest": {}}
	client := &http.Client{Transport: outbound(guard), Timeout: time.Minute}
	for _, p := range live {
		switch p {
		case store.PlatformPinterest:
			drivers["pinterest"][p] = pinterest.New(pinterest.Config{Client: client, BaseURL: config.PinterestURL})
		default:
			drivers["meta"][p] = meta.New(p, meta.Options{Client: client, BaseURL: config.MetaURL})
		}
	}
	return drivers, nil
}

// outbound is how ad networks and payment providers are reached: past the guard at every dial, and through no proxy, which would dial behind its
// back. The drivers bound each request themselves.
func outbound(guard *webhooks.Guard) http.RoundTripper {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.Proxy = nil
	t.DialContext = (&net.Dialer{Timeout: 5 * time.Second, KeepAlive: 15 * time.Second, Control: guard.Control}).DialContext
	t.MaxIdleConnsPerHost = 16
	t.ResponseHeaderTimeout = 30 * time.Second
	return oneProtocol{t}
}

// oneProtocol takes no answer that switches to another protocol: what follows such an answer looks at no deadline.
type oneProtocol struct{ http.RoundTripper }

func (o oneProtocol) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := o.RoundTripper.RoundTrip(req)
	if err == nil && resp.StatusCode == http.StatusSwitchingProtocols {
		_ = resp.Body.Close()
		return nil, errors.New("the answer switches to another protocol")
	}
	return resp, err
}
