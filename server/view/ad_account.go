package view

import (
	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/gen/api"
	"github.com/tillwright/tillwright/store/advert"
)

// AdAccount renders an ad account.
func AdAccount(a *advert.Account) api.AdAccount {
	return api.AdAccount{
		ID:                 a.PlatformID,
		Object:             "ad_account",
		Platform:           api.AdPlatform(a.Platform),
		AccountID:          a.ChannelID,
		Name:               a.Name,
		Currency:           a.Currency,
		Timezone:           a.Timezone,
		Status:             api.AdAccountStatus(a.Status),
		AccountStatus:      a.PlatformStatus,
		Selectable:         a.IsSelectable(),
		UnusableReason:     textOrNil(a.UnusableReason),
		MinimumDailyBudget: amount(a.MinimumDailyBudget),
		AmountSpent:        amount(a.AmountSpent),
		SpendCap:           amountOrNull(a.SpendCap),
		BusinessCenterID:   textOrNil(a.BusinessCenterID),
		Country:            textOrNil(a.Country),
		DsaBeneficiary:     textOrNil(a.Beneficiary()),
		DsaPayor:           textOrNil(a.Payor()),
		LastSyncedAt:       atOrNever(a.SyncedAt),
		CreatedAt:          at(a.CreatedAt),
		UpdatedAt:          at(a.UpdatedAt),
	}
}

// ListAdAccounts reads the query of a list.
func ListAdAccounts(q api.ListAdAccountsParams) ads.ListAdAccounts {
	return ads.ListAdAccounts{AccountID: q.AccountID, AdAccountID: value(q.AdAccountID), Paging: paging(q.Limit, q.Page, q.Cursor)}
}

// AdAccountChange reads the body of PATCH /ads/ad-accounts/{id}. Null removes what is kept here.
func AdAccountChange(b *api.AdAccountUpdate) ads.UpdateAdAccount {
	in := ads.UpdateAdAccount{AccountID: value(b.AccountID), Platform: string(value(b.Platform))}
	if b.DsaBeneficiary.IsSpecified() {
		in.Change.DSABeneficiary = new(value(sent(b.DsaBeneficiary)))
	}
	if b.DsaPayor.IsSpecified() {
		in.Change.DSAPayor = new(value(sent(b.DsaPayor)))
	}
	return in
}
