package sandbox

import (
	"context"
	"fmt"
	"strconv"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/store/core"
)

// syncPage is how many campaigns one call of Sync returns.
const syncPage = 25

// Sync implements ads.Network. What was deleted is left out.
func (d *Driver) Sync(ctx context.Context, c ads.Conn, adAccount, cursor string) (advert.Batch, string, error) {
	var batch advert.Batch
	account, err := d.read(ctx, c, adAccount)
	if err != nil {
		return batch, "", err
	}
	after, err := strconv.ParseInt("0"+cursor, 10, 64)
	if err != nil {
		return batch, "", fmt.Errorf("cursor %q: %w", cursor, ads.ErrNotFound)
	}
	page, err := d.store.NextSandboxCampaigns(ctx, c.Account, c.Channel, adAccount, after, syncPage)
	if err != nil {
		return batch, "", err
	}
	s, err := d.stateOf(&account, page, window{}, core.TimeOf(c.Now()))
	if err != nil {
		return batch, "", err
	}
	for _, campaign := range s.campaigns {
		b := s.batch(campaign)
		batch.Campaigns = append(batch.Campaigns, b.Campaigns...)
		batch.Groups = append(batch.Groups, b.Groups...)
		batch.Ads = append(batch.Ads, b.Ads...)
	}
	if len(s.campaigns) < syncPage {
		return batch, "", nil
	}
	return batch, strconv.FormatInt(s.campaigns[syncPage-1].Seq, 10), nil
}

// Report implements ads.Network. It takes a few statements for any number of ids, and also reports what was deleted.
func (d *Driver) Report(ctx context.Context, c ads.Conn, adAccount string, level advert.Level, ids []string, from, to ads.Date) (map[string]ads.Report, error) {
	account, err := d.read(ctx, c, adAccount)
	if err != nil {
		return nil, err
	}
	found, err := d.store.GetSandboxCampaigns(ctx, c.Account, c.Channel, ids)
	if err != nil {
		return nil, err
	}
	from, to, counts := d.Caps().Figures.Counted(from, to, c.Now())
	zone := d.marketOf(&account).zone
	s, err := d.stateOf(&account, found, window{core.TimeOf(from.Start(zone)), core.TimeOf(to.End(zone))}, core.TimeOf(c.Now()))
	if err != nil {
		return nil, err
	}
	reports := make(map[string]ads.Report, len(ids))
	for _, id := range ids {
		if t, ok := s.byID[id]; ok && t.Kind == level && t.AdAccountID == adAccount {
			r := s.report(t)
			if !counts {
				r.Metrics = advert.Metrics{}
			}
			reports[id] = r
		}
	}
	return reports, nil
}

// read begins a call that changes nothing, and returns its ad account.
func (d *Driver) read(ctx context.Context, c ads.Conn, adAccount string) (advert.Account, error) {
	if _, err := d.enter(ctx, c, false); err != nil {
		return advert.Account{}, err
	}
	return d.account(c, adAccount)
}
