// Package sandbox is an ad network that is built in: seven of them, as it speaks for any platform. It spends no money and
// needs no network. To the rest of the program it behaves like another company's system: it keeps its own state, delivers
// by the clock, reviews, refuses and limits. It changes under the hands of people in its ad manager.
package sandbox

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/store/core"
)

// Options say how a sandbox behaves. The zero value reviews at once, limits nothing and has no faults.
type Options struct {
	ReviewDelay   time.Duration // from creation until an ad may deliver
	VideoDelay    time.Duration // from an upload until an ad can show the video
	AudienceDelay time.Duration // from an upload until an audience is ready; 0 = a minute, less than 0 = at once
	CallInterval  time.Duration // each channel's bucket gets one call more in this time; 0 = no limit
	CallBurst     int           // calls that a bucket holds; 0 = one
	Fault         Fault         // of every call whose context has none
}

// Driver plays one platform. All its state is in the store, so any number of replicas together are one network.
type Driver struct {
	store    *advert.Store
	platform advert.Platform
	options  Options
}

var _ ads.Network = (*Driver)(nil)

// New returns the sandbox of a platform.
func New(s *advert.Store, p advert.Platform, o Options) *Driver {
	if o.AudienceDelay == 0 {
		o.AudienceDelay = time.Minute
	}
	return &Driver{store: s, platform: p, options: o}
}

// All returns the sandbox of every platform.
func All(s *advert.Store, o Options) map[advert.Platform]ads.Network {
	networks := make(map[advert.Platform]ads.Network, len(advert.Platforms))
	for _, p := range advert.Platforms {
		networks[p] = New(s, p, o)
	}
	return networks
}

// Caps implements ads.Network. They are the platform's, except that Find always recognises a token.
func (d *Driver) Caps() ads.Caps {
	caps := ads.CapsOf(d.platform)
	caps.Reconcile = ads.ReconcileToken
	return caps
}

// AdAccounts implements ads.Network.
func (d *Driver) AdAccounts(ctx context.Context, c ads.Conn) ([]advert.Account, error) {
	if _, err := d.enter(ctx, c, false); err != nil {
		return nil, err
	}
	segments, err := d.store.GetSandboxSegments(ctx, c.Account, c.Channel)
	if err != nil {
		return nil, err
	}
	all, now := d.visible(c), core.TimeOf(c.Now())
	for _, owned := range byOwner(segments) {
		for i := range all {
			if a := &all[i]; a.PlatformID == owned[0].AdAccountID {
				d.marketOf(a).spend(owned, window{0, now}, now, func(s spending) { a.AmountSpent += advert.Amount(s.micros) })
			}
		}
	}
	return all, nil
}

// byOwner splits segments by their owners. Those of one owner must stand next to each other.
func byOwner(segments []advert.SandboxSegment) [][]advert.SandboxSegment {
	var all [][]advert.SandboxSegment
	for len(segments) > 0 {
		n := 1
		for n < len(segments) && segments[n].OwnerID == segments[0].OwnerID {
			n++
		}
		all, segments = append(all, segments[:n]), segments[n:]
	}
	return all
}

// BusinessCenters implements ads.Network.
func (d *Driver) BusinessCenters(ctx context.Context, c ads.Conn) ([]advert.BusinessCenter, error) {
	if _, err := d.enter(ctx, c, false); err != nil {
		return nil, err
	}
	if !d.Caps().BusinessCenters {
		return nil, fmt.Errorf("business centers of %s: %w", d.platform, ads.ErrUnsupported)
	}
	return d.centers(c), nil
}

// Posts implements ads.Network.
func (d *Driver) Posts(ctx context.Context, c ads.Conn) ([]advert.SocialPost, error) {
	if _, err := d.enter(ctx, c, false); err != nil {
		return nil, err
	}
	return d.posts(c), nil
}

// visible returns the ad accounts that the channel may use.
func (d *Driver) visible(c ads.Conn) []advert.Account {
	return slices.DeleteFunc(d.accounts(c), func(a advert.Account) bool {
		return len(c.AdAccounts) > 0 && !slices.Contains(c.AdAccounts, a.PlatformID)
	})
}

// account returns an ad account that the channel may use, or ads.ErrNotFound.
func (d *Driver) account(c ads.Conn, id string) (advert.Account, error) {
	for _, a := range d.visible(c) {
		if a.PlatformID == id {
			return a, nil
		}
	}
	return advert.Account{}, fmt.Errorf("ad account %s: %w", id, ads.ErrNotFound)
}

// enter begins every call. It connects a channel that is seen for the first time, counts the call, and fails if the
// call's fault lets it fail now. It returns the fault, for what is to go wrong later.
func (d *Driver) enter(ctx context.Context, c ads.Conn, writes bool) (*injected, error) {
	if err := d.connect(ctx, c); err != nil {
		return nil, unavailable(err)
	}
	if d.options.CallInterval > 0 {
		after, err := d.store.TakeSandboxCall(ctx, c.Account, c.Channel, core.TimeOf(c.Now()), d.options.CallInterval, max(d.options.CallBurst, 1))
		if err != nil {
			return nil, unavailable(err)
		}
		if after > 0 {
			return nil, &ads.RateLimited{After: after}
		}
	}
	fault := d.faultOf(ctx)
	return fault, fault.before(writes)
}

// unavailable returns the error of a call that did nothing because the database failed.
func unavailable(err error) error {
	return fmt.Errorf("sandbox: %w: %w", ads.ErrUnavailable, core.NewUnknownError("read", err))
}

// connect makes a channel known to the sandbox, if it is not yet.
func (d *Driver) connect(ctx context.Context, c ads.Conn) error {
	now := core.TimeOf(c.Now())
	channel := advert.SandboxChannel{AccountID: c.Account, ID: c.Channel, Platform: d.platform, LimitedAt: now, CreatedAt: now}
	return d.store.OpenSandbox(ctx, channel, func() advert.SandboxChange { return d.seed(c, now) })
}
