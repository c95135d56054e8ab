package store

import (
	"context"

	"github.com/tillwright/tillwright/store/content"
	"github.com/tillwright/tillwright/store/customer"
	"github.com/tillwright/tillwright/store/grant"
)

// AccessVia says why something is open to a customer.
type AccessVia string

// To everybody, to each customer who has ordered something, or by a grant.
const (
	AccessViaPublic   AccessVia = "public"
	AccessViaCustomer AccessVia = "customer"
	AccessViaGrant    AccessVia = "grant"
)

// Access says whether something is open to a customer.
type Access struct {
	Via   AccessVia    // "" = it is not
	Grant *grant.Grant // of AccessViaGrant
}

// GetExperienceAccess returns whether an experience is open to a customer now. One that is not published is open to nobody. An experience that
// does not exist is CodeMissing, a customer is CodeMissing on customer.
func (s *Store) GetExperienceAccess(ctx context.Context, account, ref, customer string) (Access, error) {
	e, err := s.Content.ExperienceNamed(ctx, account, ref)
	if err != nil {
		return Access{}, err
	}
	c, err := s.Customer.Named(ctx, s.db, account, customer, "customer")
	switch {
	case err != nil || e.Status != content.ExperienceStatusPublished:
		return Access{}, err
	case e.Access == content.ExperienceAccessPublic:
		return Access{Via: AccessViaPublic}, nil
	}
	return accessBy(s.Grant.HasExperience(ctx, account, c.ID, e.ID))
}

// GetBlogPostAccess returns whether a customer may read a post now. One that is not published nobody may read. A post that does not exist
// is CodeMissing, a customer is CodeMissing on customer.
func (s *Store) GetBlogPostAccess(ctx context.Context, account, ref, customerID string) (Access, error) {
	b, err := s.Content.GetBlogPost(ctx, account, ref)
	if err != nil {
		return Access{}, err
	}
	c, err := s.Customer.Named(ctx, s.db, account, customerID, "customer")
	switch {
	case err != nil || b.Status != content.BlogPostStatusPublished:
		return Access{}, err
	case b.Access == content.BlogPostAccessPublic:
		return Access{Via: AccessViaPublic}, nil
	case b.Access == content.BlogPostAccessProduct:
		return accessBy(s.Grant.HasProduct(ctx, account, c.ID, *b.ProductID))
	case c.Type == customer.TypeCustomer:
		return Access{Via: AccessViaCustomer}, nil
	}
	return Access{}, nil
}

// accessBy returns the access that a grant gives, none if there is no grant.
func accessBy(g *grant.Grant, err error) (Access, error) {
	if g == nil {
		return Access{}, err
	}
	return Access{AccessViaGrant, g}, err
}
