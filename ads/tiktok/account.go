package tiktok

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store/advert"
)

// advertiser is an ad account as the network writes it.
type advertiser struct {
	ID       string `json:"advertiser_id"`
	Name     string `json:"name"`
	Currency string `json:"currency"`
	Timezone string `json:"display_timezone"` // IANA name
	Country  string `json:"country"`
	Status   string `json:"status"`
	Center   string `json:"owner_bc_id"`
}

// advertisersPerCall is how many ad accounts are described in one answer.
const advertisersPerCall = 100

// advertisers returns the ad accounts that the channel sees. TikTok lists those of a token to the token's app only; without an app it is
// those that the channel is limited to.
func (d *Driver) advertisers(ctx context.Context, c ads.Conn) ([]advertiser, error) {
	ids := c.AdAccounts
	if d.config.App != "" && d.config.Secret != "" {
		var p page[struct {
			ID string `json:"advertiser_id"`
		}]
		if err := d.read(ctx, c, "oauth2/advertiser/get", fields{"app_id": d.config.App, "secret": d.config.Secret.Reveal()}, &p); err != nil {
			return nil, err
		}
		ids = nil
		for _, one := range p.List {
			if len(c.AdAccounts) == 0 || slices.Contains(c.AdAccounts, one.ID) {
				ids = append(ids, one.ID)
			}
		}
	} else if len(ids) == 0 {
		return nil, fmt.Errorf("tiktok: %w: TikTok lists the ad accounts of a token to its app only: set %s", ads.ErrOperator, strings.Join(appSettings, " and "))
	}
	var found []advertiser
	for chunk := range slices.Chunk(ids, advertisersPerCall) {
		var p page[advertiser]
		if err := d.read(ctx, c, "advertiser/info", fields{"advertiser_ids": chunk}, &p); err != nil {
			return nil, err
		}
		found = append(found, p.List...)
	}
	return found, nil
}

// AdAccounts implements ads.Network.
func (d *Driver) AdAccounts(ctx context.Context, c ads.Conn) ([]advert.Account, error) {
	ctx, cancel := d.bound(ctx)
	defer cancel()
	found, err := d.advertisers(ctx, c)
	if err != nil {
		return nil, err
	}
	var accounts []advert.Account
	for _, a := range found {
		accounts = append(accounts, d.adAccount(a))
	}
	return accounts, nil
}

// adAccount converts an ad account.
func (d *Driver) adAccount(a advertiser) advert.Account {
	row := advert.Account{
		PlatformID: a.ID, Name: a.Name, Currency: strings.ToLower(a.Currency), Timezone: a.Timezone, Status: accountStatus(a.Status),
		PlatformStatus: a.Status, MinimumDailyBudget: d.caps.MinimumDailyBudget, BusinessCenterID: a.Center, Country: strings.ToUpper(a.Country),
	}
	if _, ok := d.caps.Decimals(row.Currency); !ok {
		row.UnusableReason = "The currency of this ad account is not supported."
	}
	return row
}

// accountStatus returns the state of an ad account. What is no approval, and no end, is on its way to one.
func accountStatus(word string) advert.AccountStatus {
	switch word {
	case "STATUS_ENABLE":
		return advert.AccountActive
	case "STATUS_PENDING_CONFIRM", "STATUS_PENDING_VERIFIED", "STATUS_PENDING_CONFIRM_MODIFY", "STATUS_WAIT_FOR_BPM_AUDIT",
		"STATUS_WAIT_FOR_PUBLIC_AUTH", "STATUS_SELF_SERVICE_UNAUDITED", "STATUS_CONTRACT_PENDING":
		return advert.AccountPending
	}
	return advert.AccountDisabled
}

// center is a business center as the network writes it.
type center struct {
	Info struct {
		ID   string `json:"bc_id"`
		Name string `json:"name"`
	} `json:"bc_info"`
}

// centersPerPage is how many rows a list of a business center has at most.
const centersPerPage = 50

// BusinessCenters implements ads.Network. How many ad accounts one has is not known to everybody who is in it.
func (d *Driver) BusinessCenters(ctx context.Context, c ads.Conn) ([]advert.BusinessCenter, error) {
	ctx, cancel := d.bound(ctx)
	defer cancel()
	found, err := all[center](ctx, d, c, "bc/get", fields{}, centersPerPage)
	if err != nil {
		return nil, err
	}
	var centers []advert.BusinessCenter
	for _, w := range found {
		row := advert.BusinessCenter{PlatformID: w.Info.ID, Name: w.Info.Name}
		var p page[struct{}]
		err := d.read(ctx, c, "bc/asset/get", fields{"bc_id": w.Info.ID, "asset_type": "ADVERTISER", "page": 1, "page_size": 1}, &p)
		switch {
		case err == nil:
			row.AdvertiserCount = &p.Info.Rows
		case !errors.Is(err, ads.ErrForbidden):
			return nil, err
		}
		centers = append(centers, row)
	}
	return centers, nil
}
