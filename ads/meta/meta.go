// Package meta drives facebook and instagram through Meta's Graph API. What it sends is checked against Meta's own
// descriptions by the fake that its tests run on.
//
// A campaign is a Campaign, an ad group an AdSet, an audience a CustomAudience. The token of an action is left as an ad
// label on everything that is made for it. It also stands at the end of an audience's description.
package meta

import (
	"cmp"
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store/advert"
)

// DefaultBaseURL is the address of the Graph API.
const DefaultBaseURL = "https://graph.facebook.com"

// Options say how the network is reached. Only Client has no default: it decides which addresses may be dialled.
type Options struct {
	Client  *http.Client
	BaseURL string        // "" = DefaultBaseURL
	Version string        // "" = DefaultVersion
	Secret  ads.Secret    // of the app that the channels' tokens are of; with it every request is signed
	App     string        // its id; with both, people can be asked for their consent
	Consent string        // address of the pages that ask; "" = DefaultConsentURL
	Timeout time.Duration // of one request; 0 = 10 s
	Total   time.Duration // of one call with all its requests, and once more to clean up after it; 0 = 25 s
	Backoff time.Duration // before a read is tried again, doubled each time; 0 = 300 ms
}

// Network is one of Meta's two platforms.
type Network struct {
	caps  ads.Caps
	graph *graph
	total time.Duration

	app, consent, version string
}

var _ ads.Network = (*Network)(nil)

// New returns the driver of facebook or instagram.
func New(p advert.Platform, o Options) *Network {
	if o.BaseURL == "" {
		o.BaseURL = DefaultBaseURL
	}
	return &Network{
		caps: ads.CapsOf(p), total: orDefault(o.Total, 25*time.Second), graph: newGraph(o),
		app: o.App, consent: strings.TrimSuffix(cmp.Or(o.Consent, DefaultConsentURL), "/"), version: cmp.Or(o.Version, DefaultVersion),
	}
}

func orDefault(d, otherwise time.Duration) time.Duration {
	if d == 0 {
		return otherwise
	}
	return d
}

// Caps implements ads.Network.
func (n *Network) Caps() ads.Caps { return n.caps }

// BusinessCenters implements ads.Network. Meta's business portfolios are not listed; an ad account only names its own.
func (n *Network) BusinessCenters(context.Context, ads.Conn) ([]advert.BusinessCenter, error) {
	return nil, ads.ErrUnsupported
}

// bounded returns a context that ends when the time for one call of ads.Network is up.
func (n *Network) bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, n.total)
}
