package zernio

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/store/core"
)

// adAccount is an ad account as Zernio writes it. Which of the states it has depends on the network.
type adAccount struct {
	ID             string          `json:"id"`
	Name           string          `json:"name"`
	Currency       string          `json:"currency"`
	Status         string          `json:"status"`
	AccountStatus  json.RawMessage `json:"accountStatus"` // a number at Meta, else a text
	ApprovalStatus string          `json:"approvalStatus"`
	Timezone       string          `json:"timezoneName"`
	Minimum        json.Number     `json:"minimumDailyBudget"`
	Selectable     *bool           `json:"selectable"` // absent = yes
	UnusableReason string          `json:"unusableReason"`
}

// Meta's and X's words for an ad account that is looked at before it can be used.
var pendingStates = []string{"7", "PENDING"}

// AdAccounts implements ads.Network. The time zone is known of Meta's alone; days of all others are read as those of UTC.
func (d *Driver) AdAccounts(ctx context.Context, c ads.Conn) ([]advert.Account, error) {
	ctx, cancel := d.bound(ctx)
	defer cancel()
	query, err := of(c)
	if err != nil {
		return nil, err
	}
	var answer struct {
		Accounts []adAccount `json:"accounts"`
	}
	if _, err := d.read(ctx, path("ads", "accounts"), query, &answer); err != nil {
		return nil, err
	}
	rows := make([]advert.Account, 0, len(answer.Accounts))
	for _, a := range answer.Accounts {
		row := advert.Account{
			PlatformID: a.ID, Name: orDefault(a.Name, a.ID), Currency: strings.ToLower(a.Currency), Timezone: orDefault(a.Timezone, "UTC"),
			Status: advert.AccountActive, UnusableReason: a.UnusableReason,
			PlatformStatus: orDefault(orDefault(strings.Trim(string(a.AccountStatus), `"`), a.ApprovalStatus), a.Status),
		}
		if a.Selectable != nil && !*a.Selectable {
			row.Status = advert.AccountDisabled
			if slices.Contains(pendingStates, row.PlatformStatus) {
				row.Status = advert.AccountPending
			}
		}
		if minimum := scaled[advert.Amount](a.Minimum, int64(advert.AmountUnit)); minimum != nil {
			row.MinimumDailyBudget = *minimum
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// of returns the parameters that say whose something is. A connection that Profiles did not make has no Zernio account, and reaches nothing.
func of(c ads.Conn) (url.Values, error) {
	if c.PlatformID == "" {
		return nil, fmt.Errorf("zernio: %w: the channel is of no Zernio account", ads.ErrUnauthorized)
	}
	return url.Values{"accountId": {c.PlatformID}}, nil
}

// within returns the parameters that say which ad account of it.
func within(c ads.Conn, adAccount string) (url.Values, error) {
	query, err := of(c)
	if err == nil {
		query.Set("adAccountId", adAccount)
	}
	return query, err
}

// BusinessCenters implements ads.Network. TikTok alone has some.
func (d *Driver) BusinessCenters(ctx context.Context, c ads.Conn) ([]advert.BusinessCenter, error) {
	if !d.caps.BusinessCenters {
		return nil, fmt.Errorf("zernio: %w", ads.ErrUnsupported)
	}
	ctx, cancel := d.bound(ctx)
	defer cancel()
	query, err := of(c)
	if err != nil {
		return nil, err
	}
	var answer struct {
		Centers []struct {
			ID    string `json:"bcId"`
			Name  string `json:"name"`
			Count *int64 `json:"advertiserCount"`
		} `json:"businessCenters"`
	}
	if _, err := d.read(ctx, path("ads", "business-centers"), query, &answer); err != nil {
		return nil, err
	}
	rows := make([]advert.BusinessCenter, 0, len(answer.Centers))
	for _, b := range answer.Centers {
		rows = append(rows, advert.BusinessCenter{PlatformID: b.ID, Name: b.Name, AdvertiserCount: b.Count})
	}
	return rows, nil
}

// post is a post as Zernio writes it: one text for several networks, each with an id of its own.
type post struct {
	Content string `json:"content"`
	Media   []struct {
		URL string `json:"url"`
	} `json:"mediaItems"`
	Platforms []struct {
		Account   json.RawMessage `json:"accountId"` // an id, or an object with one
		Status    string          `json:"status"`
		ID        string          `json:"platformPostId"`
		URL       string          `json:"platformPostUrl"`
		Published *time.Time      `json:"publishedAt"`
	} `json:"platforms"`
}

// Posts implements ads.Network. It returns what the posting account of the channel has published, through Zernio or elsewhere, as far as
// Zernio knows the network's id of it. A post that is not published yet has none, and cannot be named.
func (d *Driver) Posts(ctx context.Context, c ads.Conn) ([]advert.SocialPost, error) {
	ctx, cancel := d.bound(ctx)
	defer cancel()
	mine, err := d.mine(ctx, c.Account)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(mine, func(a account) bool { return a.ID == c.PlatformID })
	if i < 0 || mine[i].Parent == "" {
		return nil, nil
	}
	var rows []advert.SocialPost
	for _, source := range []string{"zernio", "external"} {
		query := url.Values{"accountId": {mine[i].Parent}, "status": {"published"}, "source": {source}, "limit": {"100"}}
		var answer struct {
			Posts []post `json:"posts"`
		}
		if _, err := d.read(ctx, path("posts"), query, &answer); err != nil {
			return nil, err
		}
		for _, p := range answer.Posts {
			rows = append(rows, p.rows(mine[i].Parent)...)
		}
	}
	return rows, nil
}

// rows returns what a post is on the networks of one posting account.
func (p post) rows(posting string) []advert.SocialPost {
	var rows []advert.SocialPost
	for _, t := range p.Platforms {
		if idOf(t.Account) != posting || t.ID == "" || t.Status != "published" {
			continue
		}
		row := advert.SocialPost{PlatformID: t.ID, Status: advert.SocialPostPublished, Text: p.Content, LinkURL: t.URL}
		if len(p.Media) > 0 {
			row.MediaURL = p.Media[0].URL
		}
		if t.Published != nil {
			at := core.TimeOf(*t.Published)
			row.PublishedAt = &at
		}
		rows = append(rows, row)
	}
	return rows
}

// pageSize is how many rows a page of a list has.
const pageSize = 100

// pageOf sets which page of a list is asked for, from 1 on.
func pageOf(query url.Values, number int) url.Values {
	query.Set("page", strconv.Itoa(number))
	query.Set("limit", strconv.Itoa(pageSize))
	return query
}
