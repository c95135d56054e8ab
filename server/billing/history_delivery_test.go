package billing_test

import (
	"context"
	"errors"
	"slices"

	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/grant"
)

// deliver changes what the buyers of a product receive, and who of them.
func (p *player) deliver() error {
	v, err := p.variant()
	if err != nil {
		return err
	}
	product, err := p.Catalog.GetProduct(everywhere, p.account, v.ProductID)
	switch {
	case isRefusal(err):
		return errIdle // somebody has just deleted it
	case err != nil:
		return err
	case slices.ContainsFunc(product.Deliverables, func(d catalog.Deliverable) bool { return d.Type == catalog.DeliverableTypeLicenseKey }):
		return errIdle // who has bought a key has one, whatever the product says later: then nobody can tell who is to have one
	}
	links := make([]catalog.Deliverable, p.roll(3))
	for i := range links {
		links[i] = catalog.Deliverable{Type: catalog.DeliverableTypeLink, Ref: new("https://example.com/" + core.NewULID()), Name: new("Link")}
	}
	updates := pick(p, []catalog.DeliveryUpdates{catalog.DeliveryUpdatesAllBuyers, catalog.DeliveryUpdatesNewBuyers})
	_, err = p.Catalog.UpdateProduct(everywhere, p.account, v.ProductID, func(product *catalog.Product) {
		product.Deliverables, product.DeliveryUpdates = links, updates
	})
	return p.answered("deliver something else", err)
}

// decide has the seller give, revoke or reinstate a grant.
func (p *player) decide() error {
	if p.odds(4) {
		c, err := p.customer()
		v, missing := p.variant()
		if err = errors.Join(err, missing); err != nil {
			return err
		}
		_, err = request(p, func(ctx context.Context) (*grant.Grant, error) {
			return p.CreateGrant(ctx, p.account, store.NewGrant{Customer: c.ID, Product: v.ProductID})
		})
		return p.answered("give something to "+c.ID, err)
	}
	all, more, err := p.ListGrants(everywhere, p.account, store.ListGrants{ListGrants: grant.ListGrants{Page: latest}})
	g, err := some(p, all, more, err)
	if err != nil {
		return err
	}
	p.decided.Store(g.SourceID, true)
	decision := pick(p, []func(context.Context, string, string) (*grant.Grant, error){p.Grant.ReinstateGrant, p.Grant.RevokeGrant})
	_, err = request(p, func(ctx context.Context) (*grant.Grant, error) { return decision(ctx, p.account, g.ID) })
	return p.answered("decide about "+g.ID, err)
}
