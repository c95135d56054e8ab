package grant

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
)

// Status says whether a grant opens what its product delivers.
type Status string

// The states of a grant. Expired is no state that is stored: a grant that is not revoked has it once its ExpiresAt is over.
const (
	StatusActive    Status = "active"
	StatusSuspended Status = "suspended"
	StatusRevoked   Status = "revoked"
	StatusExpired   Status = "expired"
)

// lifecycle lists, for each state of a grant, the states that may follow it.
var lifecycle = core.Lifecycle[Status]{
	StatusActive:    {StatusSuspended, StatusRevoked},
	StatusSuspended: {StatusActive, StatusRevoked},
	StatusRevoked:   {StatusActive, StatusSuspended},
}

// Reason says why a grant is suspended or revoked.
type Reason string

// The reasons. A refund that fails is taken back, so any other reason that ends a grant goes before it.
const (
	ReasonPastDue           Reason = "past_due" // suspended, like the next
	ReasonPaused            Reason = "paused"
	ReasonRefund            Reason = "refund"
	ReasonSubscriptionEnded Reason = "subscription_ended"
	ReasonPlanChange        Reason = "plan_change"
	ReasonCustomerDeleted   Reason = "customer_deleted"
	ReasonManual            Reason = "manual" // the seller revoked it
)

// SourceType is the kind of thing by which somebody has a product.
type SourceType string

// The types of a source.
const (
	SourceTypeOrder        SourceType = "order"
	SourceTypeSubscription SourceType = "subscription"
	SourceTypeManual       SourceType = "manual"
)

// Source is by what somebody has a product. Of a grant that the seller gave, ID is the grant's own.
type Source struct {
	Type SourceType
	ID   string
}

// Grant says that a customer has a product. What that opens is read from the product when it is asked for.
type Grant struct {
	AccountID      string     `db:"account_id"`
	ID             string     `db:"id"`
	CustomerID     string     `db:"customer_id"`
	ProductID      string     `db:"product_id"`
	PriceVariantID *string    `db:"price_variant_id"`
	Quantity       int64      `db:"quantity"`
	SourceType     SourceType `db:"source_type"`
	SourceID       string     `db:"source_id"`
	ItemID         string     `db:"item_id"` // what of its source it is: commerce says so
	Status         Status     `db:"status"`
	Reason         *Reason    `db:"reason"`
	ByHand         bool       `db:"by_hand"`    // the seller revoked or reinstated it, and nothing but pauses and refunds came after that
	Refunded       bool       `db:"refunded"`   // a refund that stands took it away, whatever Reason says since
	PaidUntil      *core.Time `db:"paid_until"` // the end of the period that a subscription has paid for
	ExpiresAt      *core.Time `db:"expires_at"`
	Keyless        bool       `db:"keyless"`        // its plan asks for no licence key any more
	DownloadLimit  *int64     `db:"download_limit"` // for each file, instead of the product's; nil = the product's
	SuspendedAt    *core.Time `db:"suspended_at"`
	RevokedAt      *core.Time `db:"revoked_at"`
	CreatedAt      core.Time  `db:"created_at"`
	UpdatedAt      core.Time  `db:"updated_at"`

	Deliverables []Deliverable `db:"-"` // what it opens
	IsExpired    bool          `db:"-"` // ExpiresAt is over
}

var grantColumns = db.ColumnsOf[Grant]("grants")

// StatusNow returns the state of a grant that was read with what it opens: expired counts for one that is not revoked.
func (g *Grant) StatusNow() Status {
	if g.IsExpired && g.Status != StatusRevoked {
		return StatusExpired
	}
	return g.Status
}

// ListGrants holds the filters of a list of grants, by ids. An empty one does not filter.
type ListGrants struct {
	core.Page
	core.ListFilter
	Customer   string
	Product    string
	Status     Status
	SourceType SourceType
	Source     string // id
}

// GetGrant returns a grant with what it opens, or CodeMissing.
func (s *Store) GetGrant(ctx context.Context, account, ref string) (*Grant, error) {
	return s.GetGrantIn(ctx, s.db, account, ref)
}

// GetGrantIn does what GetGrant does, where r says.
func (s *Store) GetGrantIn(ctx context.Context, r db.Reader, account, ref string) (*Grant, error) {
	g, err := s.getGrant(ctx, r, account, ref)
	if err != nil {
		return nil, err
	}
	return g, s.open(ctx, r, account, []*Grant{g})
}

// GrantsByID returns those of the grants with these ids that exist, by id, with what they open.
func (s *Store) GrantsByID(ctx context.Context, account string, ids []string) (map[string]*Grant, error) {
	found, err := db.ByID(ctx, s.db, grantColumns, account, ids)
	if err != nil {
		return nil, err
	}
	return found, s.open(ctx, s.db, account, slices.Collect(maps.Values(found)))
}

// CurrentGrants returns the grants of a customer that are active or suspended and not over, with what they open: the newest hundred.
func (s *Store) CurrentGrants(ctx context.Context, account, customer string) ([]Grant, error) {
	now, err := db.BusinessNow(ctx, s.db, account)
	if err != nil {
		return nil, err
	}
	grants, err := db.Select[Grant](ctx, s.db, grantColumns.SelectSQL+`
		WHERE account_id = ? AND customer_id = ? AND status IN ('active', 'suspended') AND (expires_at IS NULL OR expires_at > ?)
		ORDER BY account_id DESC, customer_id DESC, id DESC LIMIT 100`, account, customer, now)
	if err != nil {
		return nil, fmt.Errorf("read a customer's grants: %w", err)
	}
	return grants, s.open(ctx, s.db, account, pointers(grants))
}

// GrantNamed reads a grant, without what it opens, as a field of a request names it, or returns CodeMissing on that field.
func (s *Store) GrantNamed(ctx context.Context, account, ref, field string) (*Grant, error) {
	g, err := s.getGrant(ctx, s.db, account, ref)
	if missing, ok := errors.AsType[*core.Error](err); ok {
		missing.Param = field
	}
	return g, err
}

// ListGrants returns a page of grants with what they open, newest first, and whether there are more.
func (s *Store) ListGrants(ctx context.Context, account string, in ListGrants) ([]Grant, bool, error) {
	now, err := db.BusinessNow(ctx, s.db, account)
	if err != nil {
		return nil, false, err
	}
	var f db.Filter
	f.OrderedIfSet("customer_id", in.Customer)
	f.OrderedIfSet("product_id", in.Product)
	f.OrderedIfSet("source_type", string(in.SourceType))
	f.FewIfSet("source_id", in.Source)
	switch in.Status {
	case StatusExpired:
		f.And("status <> 'revoked'")
		db.Between(&f, "expires_at", nil, "<=", &now)
	case StatusActive, StatusSuspended:
		f.And("(expires_at IS NULL OR expires_at > ?)", now)
		f.OrderedIfSet("status", string(in.Status))
	case StatusRevoked:
		f.OrderedIfSet("status", string(in.Status))
	}
	f.List(s.db, "grants", core.KindGrant, in.ListFilter)
	grants, more, err := db.Page(ctx, s.db, grantColumns, core.KindGrant, account, in.Page, &f)
	if err != nil {
		return nil, false, err
	}
	return grants, more, s.open(ctx, s.db, account, pointers(grants))
}

// UpdateGrant locks the grant, applies change and stores it, and has its licence key expire with it. Change may set DownloadLimit, and ExpiresAt, which is CodeInvalid if it is over already.
func (s *Store) UpdateGrant(ctx context.Context, account, ref string, change func(*Grant)) (*Grant, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (*Grant, error) {
		g, err := s.lockGrant(ctx, u, account, ref)
		if err != nil {
			return nil, err
		}
		now, err := db.BusinessNow(ctx, u, account)
		if err != nil {
			return nil, err
		}
		before := *g
		change(g)
		moved := !core.SameJSON(before.ExpiresAt, g.ExpiresAt)
		if err := g.checkExpiry(now); err != nil && moved {
			return nil, err
		}
		if !core.SameJSON(before, *g) {
			g.UpdatedAt = now
			if err := u.Update(ctx, grantColumns, g); err != nil {
				return nil, err
			}
		}
		if moved {
			if err := s.expireLicense(ctx, u, g, before.ExpiresAt); err != nil {
				return nil, err
			}
		}
		return g, s.open(ctx, u, account, []*Grant{g})
	})
}

// checkExpiry returns CodeInvalid on expires_at for a moment that is over.
func (g *Grant) checkExpiry(now core.Time) error {
	if g.ExpiresAt != nil && *g.ExpiresAt <= now {
		return core.Invalid("expires_at", "This moment is over. Send a later one, or revoke the grant.")
	}
	return nil
}

// RevokeGrant ends a grant by the seller's word. Revoking a revoked grant changes nothing.
func (s *Store) RevokeGrant(ctx context.Context, account, ref string) (*Grant, error) {
	return s.decide(ctx, account, ref, func(ctx context.Context, u *db.Unit, g *Grant) error {
		if g.Status == StatusRevoked {
			return nil
		}
		return s.enter(ctx, u, g, StatusRevoked, ReasonManual, true)
	})
}

// ReinstateGrant takes back that a grant was revoked, whatever the reason. Reinstating an active grant changes nothing. A suspended
// one is CodeInvalid on status: it goes on with its subscription. So is one whose customer was deleted.
func (s *Store) ReinstateGrant(ctx context.Context, account, ref string) (*Grant, error) {
	return s.decide(ctx, account, ref, func(ctx context.Context, u *db.Unit, g *Grant) error {
		switch {
		case g.Status == StatusActive:
			return nil
		case g.Status == StatusSuspended:
			return core.Invalid("status", "The grant is suspended with its subscription, and goes on with it.")
		case *g.Reason == ReasonCustomerDeleted:
			return core.Invalid("status", "The customer of this grant was deleted.")
		}
		g.Refunded = false
		return s.enter(ctx, u, g, StatusActive, "", true)
	})
}

// decide locks a grant and has the seller's decision made.
func (s *Store) decide(ctx context.Context, account, ref string, decision func(context.Context, *db.Unit, *Grant) error) (*Grant, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (*Grant, error) {
		g, err := s.lockGrant(ctx, u, account, ref)
		if err != nil {
			return nil, err
		}
		if err := decision(ctx, u, g); err != nil {
			return nil, err
		}
		return g, s.open(ctx, u, account, []*Grant{g})
	})
}

// getGrant reads a grant, or returns CodeMissing.
func (s *Store) getGrant(ctx context.Context, r db.Reader, account, ref string) (*Grant, error) {
	return findGrant(ctx, r, account, ref)
}

// lockGrant does what getGrant does, and locks the row until the transaction ends.
func (s *Store) lockGrant(ctx context.Context, u *db.Unit, account, ref string) (*Grant, error) {
	return findGrant(ctx, u.Locked(), account, ref)
}

func findGrant(ctx context.Context, r db.Reader, account, ref string) (*Grant, error) {
	id, ok := core.ParseID(core.KindGrant, ref)
	if !ok {
		return nil, core.Missing("grant", "", ref)
	}
	g, err := db.Get[Grant](ctx, r, grantColumns.SelectSQL+` WHERE account_id = ? AND id = ?`, account, id)
	if err != nil {
		return nil, fmt.Errorf("read grant: %w", err)
	}
	if g == nil {
		return nil, core.Missing("grant", "", ref)
	}
	return g, nil
}

// pointers returns pointers to the elements.
func pointers(grants []Grant) []*Grant {
	all := make([]*Grant, len(grants))
	for i := range grants {
		all[i] = &grants[i]
	}
	return all
}
