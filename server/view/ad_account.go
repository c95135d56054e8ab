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
		UnusableReason:     text(a.UnusableReason),
		MinimumDailyBudget: amount(a.MinimumDailyBudget),
		AmountSpent:        amount(a.AmountSpent),
		SpendCap:           amountOrNull(a.SpendCap),
		BusinessCenterID:   text(a.BusinessCenterID),
		LastSyncedAt:       atOrNever(a.SyncedAt),
		CreatedAt:          at(a.CreatedAt),
		UpdatedAt:          at(a.UpdatedAt),
	}
}

// ListAdAccounts reads the query of a list.
func ListAdAccounts(q api.ListAdAccountsParams) ads.ListAdAccounts {
	return ads.ListAdAccounts{AccountID: q.AccountID, AdAccountID: value(q.AdAccountID), Paging: paging(q.Limit, q.Page, q.Cursor)}
}
