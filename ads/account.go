package ads

import (
	"context"
	"fmt"

	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/store/core"
)

// UpdateAdAccount says what to change about an ad account, and which one is meant where several have its id.
type UpdateAdAccount struct {
	AccountID string
	Platform  string
	Change    advert.UpdateAccount
}

// UpdateAdAccount changes what is kept here about an ad account, and asks no network. A field that its network has no such thing as is
// CodeInvalid. The other errors are those of advert.Store.FindAccount.
func (s *Service) UpdateAdAccount(ctx context.Context, account, id string, in UpdateAdAccount) (*advert.Account, error) {
	platform, err := bodyPlatform(in.Platform)
	if err != nil {
		return nil, err
	}
	a, err := s.store.FindAccount(ctx, account, in.AccountID, platform, id)
	if err != nil {
		return nil, err
	}
	var p core.Problems
	if !CapsOf(a.Platform).Targeting.DSA {
		message := fmt.Sprintf("%s has no such field. Leave it out.", a.Platform)
		p.Check(in.Change.DSABeneficiary == nil, "dsa_beneficiary", message)
		p.Check(in.Change.DSAPayor == nil, "dsa_payor", message)
	}
	if err := p.Err(); err != nil {
		return nil, err
	}
	return s.store.UpdateAccount(ctx, a, in.Change)
}
