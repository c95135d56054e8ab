// Package handlers implements the operations of the specification. Each reads its request, calls one use case, and returns one
// view. Everything that operations have in common is done before they are called (package server).
package handlers

import (
	"context"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/gen/api"
	"github.com/tillwright/tillwright/server/billing"
	"github.com/tillwright/tillwright/server/caller"
	"github.com/tillwright/tillwright/server/composer"
	"github.com/tillwright/tillwright/server/domains"
	"github.com/tillwright/tillwright/server/export"
	"github.com/tillwright/tillwright/server/mail"
	"github.com/tillwright/tillwright/server/transfer"
	"github.com/tillwright/tillwright/server/view"
	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/webhooks"
)

// Handlers implements the interface that is generated from the specification.
type Handlers struct {
	store      *store.Store
	billing    *billing.Billing
	ads        *ads.Service
	post       *mail.Post
	guard      *webhooks.Guard
	transfer   *transfer.Service
	tester     *webhooks.Tester
	domains    *domains.Service
	composer   *composer.Composer
	kinds      map[string]kind // the types that a reference may point at, by the prefix of their ids
	eventTypes api.EventTypeList
}

var _ api.StrictServerInterface = (*Handlers)(nil)

// New returns the operations on a store. B takes money, a spends it on ads, p writes to customers, and g says which URLs may
// be called. T sends test events to such URLs, and f has the bytes of files. D looks at the domains of sites, and c makes
// pages of sites.
func New(s *store.Store, b *billing.Billing, a *ads.Service, p *mail.Post, g *webhooks.Guard, t *webhooks.Tester, f *transfer.Service, d *domains.Service, c *composer.Composer) *Handlers {
	return &Handlers{store: s, billing: b, ads: a, post: p, guard: g, tester: t, transfer: f, domains: d, composer: c, kinds: kindsOf(s), eventTypes: view.EventTypes()}
}

func account(ctx context.Context) string { return caller.Account(ctx) }

// export returns where a list with the parameters of its export is as a file.
func (h *Handlers) export(ctx context.Context, list string, query any) (api.SignedURL, error) {
	u, err := export.Sign(ctx, h.store, list, account(ctx), caller.Of(ctx).KeyID, caller.Of(ctx).Needed, query)
	if err != nil {
		return api.SignedURL{}, err
	}
	return view.SignedURL(u), nil
}
