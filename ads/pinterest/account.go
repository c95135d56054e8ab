package pinterest

import (
	"context"
	"slices"
	"strings"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store/advert"
)

// reportingZone is the time zone in which the days of a report are counted.
const reportingZone = "UTC"

// account is an ad account as the network writes it.
type account struct {
	ID          string   `json:"id"`
	Name        string   `json:"name"`
	Currency    string   `json:"currency"`
	Country     string   `json:"country"`
	Permissions []string `json:"permissions"`
}

// spenders are the roles in an ad account that may make ads.
var spenders = []string{"OWNER", "ADMIN", "CAMPAIGN_MANAGER"}

// AdAccounts implements ads.Network. It returns the channel's own ad accounts and those that are shared with it.
func (d *Driver) AdAccounts(ctx context.Context, c ads.Conn) ([]advert.Account, error) {
	ctx, cancel := d.bound(ctx)
	defer cancel()
	found, err := all[account](ctx, d, c, path("ad_accounts"), nil)
	if err != nil {
		return nil, err
	}
	var accounts []advert.Account
	for _, a := range found {
		if len(c.AdAccounts) == 0 || slices.Contains(c.AdAccounts, a.ID) {
			accounts = append(accounts, d.adAccount(a))
		}
	}
	return accounts, nil
}

// adAccount converts an ad account. The network tells no state of it; that one is disabled shows only in what is in it.
func (d *Driver) adAccount(a account) advert.Account {
	return advert.Account{
		PlatformID: a.ID, Name: a.Name, Currency: strings.ToLower(a.Currency), Timezone: reportingZone,
		Status: advert.AccountActive, PlatformStatus: strings.Join(a.Permissions, " "), UnusableReason: d.unusable(a),
		MinimumDailyBudget: d.caps.MinimumDailyBudget, Country: strings.ToUpper(a.Country),
	}
}

// unusable returns why ads cannot be made in an ad account, or "" if they can.
func (d *Driver) unusable(a account) string {
	if _, ok := d.caps.Decimals(strings.ToLower(a.Currency)); !ok {
		return "The currency of this ad account is not supported."
	}
	if !slices.ContainsFunc(a.Permissions, func(p string) bool { return slices.Contains(spenders, p) }) {
		return "The channel's role in this ad account does not allow it to make ads."
	}
	return ""
}
