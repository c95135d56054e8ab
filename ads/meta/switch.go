package meta

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store/advert"
)

// atOnce is how many switches are turned at the same time. Meta has no call that turns several.
const atOnce = 4

// SetStatus implements ads.Network. It reads the ads before and after, to see which of them it has stopped or started.
func (n *Network) SetStatus(ctx context.Context, c ads.Conn, refs []ads.Ref, to advert.Configured) ([]ads.ItemResult, error) {
	if len(refs) == 0 {
		return nil, nil
	}
	ctx, cancel := n.bounded(ctx)
	defer cancel()
	before, err := n.adsOf(ctx, c, refs)
	if err != nil {
		return nil, err
	}
	results := make([]ads.ItemResult, len(refs))
	if err := n.turnFirst(ctx, c, refs, to, results); err != nil {
		return nil, err
	}
	n.turnRest(ctx, c, refs, to, results)
	n.tell(ctx, c, refs, before, results)
	return results, nil
}

// turnFirst turns the first switch on its own, to see whether Meta takes requests at all. It returns an error only if it
// does not.
func (n *Network) turnFirst(ctx context.Context, c ads.Conn, refs []ads.Ref, to advert.Configured, results []ads.ItemResult) error {
	results[0] = ads.ItemResult{Ref: refs[0], Err: n.switchStatus(ctx, c, refs[0], to)}
	var limited *ads.RateLimited
	if errors.As(results[0].Err, &limited) || errors.Is(results[0].Err, ads.ErrUnauthorized) {
		return results[0].Err
	}
	return nil
}

// switchStatus turns one switch.
func (n *Network) switchStatus(ctx context.Context, c ads.Conn, ref ads.Ref, to advert.Configured) error {
	return n.graph.order(ctx, http.MethodPost, c.Token, place{id: ref.ID}, url.Values{"status": {n.caps.SwitchWord(to)}})
}

// turnRest turns the other switches, a few at a time. Once Meta takes no more requests, the rest is not tried and gets
// that error.
func (n *Network) turnRest(ctx context.Context, c ads.Conn, refs []ads.Ref, to advert.Configured, results []ads.ItemResult) {
	var wg sync.WaitGroup
	var stop atomic.Pointer[ads.RateLimited]
	slots := make(chan struct{}, atOnce)
	for i := 1; i < len(refs); i++ {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			results[i] = ads.ItemResult{Ref: refs[i]}
			limited := stop.Load()
			if limited != nil {
				results[i].Err = limited
				return
			}
			results[i].Err = n.switchStatus(ctx, c, refs[i], to)
			if errors.As(results[i].Err, &limited) {
				stop.Store(limited)
			}
		})
	}
	wg.Wait()
}

// byLevel returns the ids of references by their level.
func byLevel(refs []ads.Ref) map[advert.Level][]string {
	ids := map[advert.Level][]string{}
	for _, ref := range refs {
		ids[ref.Level] = append(ids[ref.Level], ref.ID)
	}
	return ids
}

// adsOf returns the ads that the references name, and those below what they name.
func (n *Network) adsOf(ctx context.Context, c ads.Conn, refs []ads.Ref) ([]adNode, error) {
	return below[adNode](ctx, n, c, refs, advert.LevelAd, adFields)
}

// below returns the things of one level that the references name, or that are below what they name. What is above is
// never returned.
func below[T any](ctx context.Context, n *Network, c ads.Conn, refs []ads.Ref, of advert.Level, fields string) ([]T, error) {
	var found []T
	ids := byLevel(refs)
	for _, by := range []advert.Level{advert.LevelCampaign, advert.LevelGroup, advert.LevelAd} {
		if len(ids[by]) > 0 {
			some, err := lookup[T](ctx, n, c, refs[0].AdAccount, of, by, ids[by], fields)
			if err != nil {
				return nil, err
			}
			found = append(found, some...)
		}
		if by == of {
			break
		}
	}
	return found, nil
}

// tell adds to the results how things are now. If that cannot be read, the results stay without it: the switches were
// turned all the same.
func (n *Network) tell(ctx context.Context, c ads.Conn, refs []ads.Ref, before []adNode, results []ads.ItemResult) {
	after, err := n.batchOf(ctx, c, refs)
	if err != nil {
		return
	}
	was := map[string]advert.Status{}
	for _, ad := range before {
		was[ad.ID] = n.status(ad.state)
	}
	for i := range results {
		if results[i].Err == nil {
			results[i].State = refs[i].Part(after)
			countAds(&results[i], was)
		}
	}
}

// countAds counts the ads whose state has changed and those whose state has not, and adds a reason for each of these.
func countAds(r *ads.ItemResult, was map[string]advert.Status) {
	for _, ad := range r.State.Ads {
		if was[ad.PlatformID] != ad.Status {
			r.Updated++
			continue
		}
		r.Skipped++
		r.Reasons = append(r.Reasons, ad.PlatformID+" is "+string(ad.Status))
	}
}

// batchOf reads what the references name and everything below it.
func (n *Network) batchOf(ctx context.Context, c ads.Conn, refs []ads.Ref) (b advert.Batch, err error) {
	currency, err := n.currency(ctx, c, refs[0].AdAccount)
	if err != nil {
		return b, err
	}
	campaigns, err := below[campaignNode](ctx, n, c, refs, advert.LevelCampaign, campaignFields)
	if err != nil {
		return b, err
	}
	groups, err := below[groupNode](ctx, n, c, refs, advert.LevelGroup, groupFields)
	if err != nil {
		return b, err
	}
	nodes, err := n.adsOf(ctx, c, refs)
	return advert.Batch{Campaigns: n.campaigns(campaigns, currency), Groups: n.groups(groups, currency), Ads: n.ads(nodes)}, err
}
