package lead

import (
	"context"
	"strings"

	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/tenant"
)

// tell queues what ad networks are to be told of a lead that a form has just made, if its visitor agreed to that. Where addresses are confirmed
// they are told once this one is, see Confirm, because until then anybody may have typed it. Whoever did not agree to letters is sent none and
// can confirm nothing, so nobody is told of them. A lead that came in another way has no visitor who was asked.
func (s *Store) tell(ctx context.Context, u *db.Unit, seller *tenant.Account, l *Lead, v *advert.Visit) error {
	confirms := seller.LeadConfirmation == tenant.LeadConfirmationDoubleOptIn
	if !l.AdsConsent || confirms && l.LetterDueAt == nil {
		return nil
	}
	h := advert.Happening{
		Account: l.AccountID, Kind: advert.ConversionLead, EventID: l.ID, At: l.CreatedAt, CustomerID: l.CustomerID, Email: l.Email, Phone: core.Deref(l.Phone),
		Unconfirmed: confirms,
	}
	h.FirstName, h.LastName, _ = strings.Cut(strings.TrimSpace(core.Deref(l.Name)), " ")
	if l.ProductID != nil {
		h.ProductIDs = []string{*l.ProductID}
	}
	v.Tell(&h)
	return s.rooms.Advert.QueueConversions(ctx, u, h)
}
