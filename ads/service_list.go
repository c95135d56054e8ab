package ads

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/store/core"
)

// The limits of a page.
const (
	defaultLimit = 20
	maxLimit     = 100
)

// Paging says which page of a list is wanted, as it was sent. "" and 0 mean that a field was not sent. Cursor wins over
// Page.
type Paging struct {
	Limit  int
	Page   int
	Cursor string
}

// read returns the page, or CodeBadRequest on the parameter that is out of range. Without a limit it is defaultLimit.
func (p Paging) read() (advert.Page, error) {
	if p.Limit == 0 {
		p.Limit = defaultLimit
	}
	switch {
	case p.Limit < 1 || p.Limit > maxLimit:
		return advert.Page{}, badRequest("limit", fmt.Sprintf("limit must be from 1 to %d.", maxLimit))
	case p.Page < 0:
		return advert.Page{}, badRequest("page", "page must be 1 or more.")
	}
	return advert.Page{Limit: p.Limit, Page: p.Page, Cursor: p.Cursor}, nil
}

// ListAds are the filters of a list of ads, as they are sent. "" is absent.
type ListAds struct {
	Paging
	AccountID   string
	AdAccountID string
	Platform    string
	Status      string // states with commas between them
	CampaignID  string
	Source      string // native | all (default)
	From, To    string // days of the metrics; they hide no ads
}

// ListCampaigns are the filters of a list of campaigns, as they are sent. "" is absent.
type ListCampaigns struct {
	Paging
	AccountID   string
	AdAccountID string
	Platform    string
	Status      string
	Source      string
	From, To    string
}

// ListAdGroups are the filters of a list of a campaign's ad groups, as they are sent. "" is absent.
type ListAdGroups struct {
	Paging
	Platform string
	From, To string
}

// ListAds returns a page of ads, newest first, with their state and figures as their networks report them now.
//
// Without AccountID it lists the ads of all activated channels. If one of the networks does not answer then, its ads are
// shown as the mirror has them, without figures. Filters that contradict each other find nothing.
func (s *Service) ListAds(ctx context.Context, account string, in ListAds) (*advert.List[ShownAd], error) {
	q, err := readQuery(s.store.Now(), in.Paging, in.Platform, in.Status, in.Source, in.From, in.To)
	if err != nil {
		return nil, err
	}
	rows, err := s.store.ListAds(ctx, account, advert.ListAds{
		Page: q.page, Channel: in.AccountID, AdAccountID: in.AdAccountID, Platform: q.platform, Statuses: q.statuses,
		CampaignID: in.CampaignID, Source: q.source,
	})
	if err != nil {
		return nil, err
	}
	return reportList(ctx, s, inquiry{account, advert.LevelAd, q.window, in.AccountID == ""}, rows, adSubject)
}

// ListCampaigns returns a page of campaigns as ListAds does of ads.
func (s *Service) ListCampaigns(ctx context.Context, account string, in ListCampaigns) (*advert.List[ShownCampaign], error) {
	q, err := readQuery(s.store.Now(), in.Paging, in.Platform, in.Status, in.Source, in.From, in.To)
	if err != nil {
		return nil, err
	}
	rows, err := s.store.ListCampaigns(ctx, account, advert.ListCampaigns{
		Page: q.page, Channel: in.AccountID, AdAccountID: in.AdAccountID, Platform: q.platform, Statuses: q.statuses, Source: q.source,
	})
	if err != nil {
		return nil, err
	}
	return reportList(ctx, s, inquiry{account, advert.LevelCampaign, q.window, in.AccountID == ""}, rows, campaignSubject)
}

// ListCampaignAdGroups returns a page of a campaign's ad groups as ListAds does of ads.
func (s *Service) ListCampaignAdGroups(ctx context.Context, account, campaign string, in ListAdGroups) (*advert.List[ShownAdGroup], error) {
	q, err := readQuery(s.store.Now(), in.Paging, in.Platform, "", "", in.From, in.To)
	if err != nil {
		return nil, err
	}
	rows, err := s.store.ListGroups(ctx, account, q.platform, campaign, q.page)
	if err != nil {
		return nil, err
	}
	if err := s.nameAudiences(ctx, account, rows.Items); err != nil {
		return nil, err
	}
	return reportList(ctx, s, inquiry{account, advert.LevelGroup, q.window, false}, rows, groupSubject)
}

// GetAdObject says for which days the figures are wanted, and of which network a platform id is. That is needed if two
// networks have the id.
type GetAdObject struct {
	Platform string
	From, To string
}

// GetCampaign returns a campaign as its network has it now, with its figures.
func (s *Service) GetCampaign(ctx context.Context, account, id string, in GetAdObject) (*ShownCampaign, error) {
	q, err := readQuery(s.store.Now(), Paging{}, in.Platform, "", "", in.From, in.To)
	if err != nil {
		return nil, err
	}
	row, err := s.store.GetCampaign(ctx, account, q.platform, id)
	if err != nil {
		return nil, err
	}
	return reportOne(ctx, s, inquiry{account, advert.LevelCampaign, q.window, false}, row, campaignSubject)
}

// GetAdGroup returns an ad group as GetCampaign does a campaign.
func (s *Service) GetAdGroup(ctx context.Context, account, id string, in GetAdObject) (*ShownAdGroup, error) {
	q, err := readQuery(s.store.Now(), Paging{}, in.Platform, "", "", in.From, in.To)
	if err != nil {
		return nil, err
	}
	row, err := s.store.GetGroup(ctx, account, q.platform, id)
	if err != nil {
		return nil, err
	}
	groups := []advert.Group{*row}
	if err := s.nameAudiences(ctx, account, groups); err != nil {
		return nil, err
	}
	return reportOne(ctx, s, inquiry{account, advert.LevelGroup, q.window, false}, &groups[0], groupSubject)
}

// query holds the parameters of a read after they were checked.
type query struct {
	page     advert.Page
	platform advert.Platform
	statuses []advert.Status
	source   advert.Source
	window   window
}

// readQuery checks the parameters of a read. The first one that is wrong is CodeBadRequest.
func readQuery(now core.Time, p Paging, platform, status, source, from, to string) (q query, err error) {
	if q.page, err = p.read(); err != nil {
		return q, err
	}
	if q.window, err = windowOf(from, to, now); err != nil {
		return q, err
	}
	if q.platform = advert.Platform(platform); platform != "" && !q.platform.IsKnown() {
		return q, badRequest("platform", "platform must be one of "+list(advert.Platforms)+".")
	}
	if q.statuses, err = readStatuses(status); err != nil {
		return q, err
	}
	switch source {
	case "", "all":
	case string(advert.SourceNative):
		q.source = advert.SourceNative
	default:
		return q, badRequest("source", "source must be native or all.")
	}
	return q, nil
}

// readStatuses reads a list of states with commas between them, and drops repetitions.
func readStatuses(text string) ([]advert.Status, error) {
	if text == "" {
		return nil, nil
	}
	var statuses []advert.Status
	for _, word := range strings.Split(text, ",") {
		status := advert.Status(strings.TrimSpace(word))
		if !status.IsKnown() {
			return nil, badRequest("status", "status must be one of "+list(advert.Statuses)+", or several with commas between them.")
		}
		if !slices.Contains(statuses, status) {
			statuses = append(statuses, status)
		}
	}
	return statuses, nil
}

// ListAdAccounts are the filters of a list of ad accounts, as they are sent. "" is absent.
type ListAdAccounts struct {
	Paging
	AccountID   string
	AdAccountID string
}

// ListAdAccounts returns a page of the ad accounts of a channel.
func (s *Service) ListAdAccounts(ctx context.Context, account string, in ListAdAccounts) (*advert.List[advert.Account], error) {
	if err := (required{{"account_id", in.AccountID}}).err(); err != nil {
		return nil, err
	}
	page, err := in.read()
	if err != nil {
		return nil, err
	}
	return s.store.ListAccounts(ctx, account, in.AccountID, in.AdAccountID, page)
}

// ListBusinessCenters are the filters of a list of business centers, as they are sent.
type ListBusinessCenters struct {
	Paging
	AccountID string
}

// ListBusinessCenters returns a page of the business centers of a channel. A channel whose network has no business
// centers is CodeInvalid on account_id.
func (s *Service) ListBusinessCenters(ctx context.Context, account string, in ListBusinessCenters) (*advert.List[advert.BusinessCenter], error) {
	if err := (required{{"account_id", in.AccountID}}).err(); err != nil {
		return nil, err
	}
	page, err := in.read()
	if err != nil {
		return nil, err
	}
	line, err := s.activated(ctx, account, in.AccountID)
	if err != nil {
		return nil, err
	}
	if !line.Caps().BusinessCenters {
		return nil, core.Invalid("account_id", fmt.Sprintf("%s has no business centers. Send the account_id of a channel of %s.", line.channel.Platform, advert.PlatformTikTok))
	}
	return s.store.ListBusinessCenters(ctx, account, in.AccountID, page)
}
