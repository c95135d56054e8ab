// Package handlers implements the operations of the specification. Each reads its request, calls one use case, and returns one
// view. Everything that operations have in common is done before they are called (package server).
package handlers

import (
	"context"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/gen/api"
	"github.com/tillwright/tillwright/server/billing"
	"github.com/tillwright/tillwright/server/caller"
	"github.com/tillwright/tillwright/server/mail"
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
	tester     *webhooks.Tester
	kinds      map[string]kind // the types that a reference may point at, by the prefix of their ids
	eventTypes api.EventTypeList
}

var _ api.StrictServerInterface = (*Handlers)(nil)

// New returns the operations on a store. B takes money, a spends it on ads, p writes to customers, g says which URLs may be
// called, and t sends test events to them.
func New(s *store.Store, b *billing.Billing, a *ads.Service, p *mail.Post, g *webhooks.Guard, t *webhooks.Tester) *Handlers {
	return &Handlers{store: s, billing: b, ads: a, post: p, guard: g, tester: t, kinds: kindsOf(s), eventTypes: view.EventTypes()}
}

func account(ctx context.Context) string { return caller.Account(ctx) }
