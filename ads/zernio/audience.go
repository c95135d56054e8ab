package zernio

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store/advert"
)

// audience is an audience as Zernio writes it.
type audience struct {
	Own         string `json:"id"` // Zernio's; empty for one that was not made through it
	ID          string `json:"platformAudienceId"`
	Name        string `json:"name"`
	Description string `json:"description"`
	Type        string `json:"type"`
	Size        *int64 `json:"size"`
	Status      string `json:"status"`
}

// audienceTypes are our words for Zernio's. One that is not here is none of the network's.
var audienceTypes = map[string]advert.AudienceType{
	"customer_list": advert.AudienceTypeCustomerList, "company_list": advert.AudienceTypeCustomerList, "website": advert.AudienceTypeRetargeting,
	"website_retargeting": advert.AudienceTypeRetargeting, "engagement": advert.AudienceTypeRetargeting, "meta_engagement": advert.AudienceTypeRetargeting,
	"lookalike": advert.AudienceTypeLookalike,
}

// row converts an audience. A size of 0 is one that is not known.
func (w audience) row(adAccount string) advert.Audience {
	row := advert.Audience{
		PlatformID: &w.ID, AdAccountID: adAccount, Name: w.Name, Description: w.Description, Type: audienceTypes[w.Type],
		Status: advert.AudienceStatusError, PlatformStatus: w.Status,
	}
	if w.Size != nil && *w.Size > 0 {
		row.Size = w.Size
	}
	switch s := advert.AudienceStatus(w.Status); s {
	case "active":
		row.Status = advert.AudienceStatusReady
	case advert.AudienceStatusPending, advert.AudienceStatusProcessing, advert.AudienceStatusReady, advert.AudienceStatusTooSmall, advert.AudienceStatusError:
		row.Status = s
	}
	return row
}

// audiences returns what there is in an ad account at the network.
func (d *Driver) audiences(ctx context.Context, c ads.Conn, adAccount string) ([]audience, error) {
	query, err := within(c, adAccount)
	if err != nil {
		return nil, err
	}
	var answer struct {
		Audiences []audience `json:"audiences"`
	}
	if _, err := d.read(ctx, path("ads", "audiences"), query, &answer); err != nil {
		return nil, err
	}
	return slices.DeleteFunc(answer.Audiences, func(a audience) bool { return a.ID == "" || audienceTypes[a.Type] == "" }), nil
}

// named returns one of them by platform id.
func (d *Driver) named(ctx context.Context, c ads.Conn, adAccount, id string) (audience, error) {
	all, err := d.audiences(ctx, c, adAccount)
	if err != nil {
		return audience{}, err
	}
	if i := slices.IndexFunc(all, func(a audience) bool { return a.ID == id }); i >= 0 {
		return all[i], nil
	}
	return audience{}, fmt.Errorf("zernio: audience %s: %w", id, ads.ErrNotFound)
}

// Audiences implements ads.Network.
func (d *Driver) Audiences(ctx context.Context, c ads.Conn, adAccount string) ([]advert.Audience, error) {
	ctx, cancel := d.bound(ctx)
	defer cancel()
	all, err := d.audiences(ctx, c, adAccount)
	if err != nil {
		return nil, err
	}
	rows := make([]advert.Audience, 0, len(all))
	for _, one := range all {
		rows = append(rows, one.row(adAccount))
	}
	return rows, nil
}

// Audience implements ads.Network.
func (d *Driver) Audience(ctx context.Context, c ads.Conn, adAccount, id string) (advert.Audience, error) {
	ctx, cancel := d.bound(ctx)
	defer cancel()
	one, err := d.named(ctx, c, adAccount, id)
	return one.row(adAccount), err
}

// newAudience is an audience to make.
type newAudience struct {
	AccountID     string      `json:"accountId"`
	AdAccountID   string      `json:"adAccountId"`
	Name          string      `json:"name"`
	Description   string      `json:"description,omitempty"`
	Type          string      `json:"type"`
	PixelID       string      `json:"pixelId,omitempty"`
	RetentionDays int         `json:"retentionDays,omitempty"`
	SourceID      string      `json:"sourceAudienceId,omitempty"`
	Country       string      `json:"country,omitempty"`
	Ratio         json.Number `json:"ratio,omitempty"`
}

// longestRetention is how many days Zernio needs for one of a website, where the caller names none.
const longestRetention = 180

// CreateAudience implements ads.Network. Zernio takes no key for it, so that it is sent only once.
func (d *Driver) CreateAudience(ctx context.Context, c ads.Conn, p ads.AudiencePlan) (advert.Audience, error) {
	ctx, cancel := d.bound(ctx)
	defer cancel()
	if _, err := of(c); err != nil {
		return advert.Audience{}, err
	}
	w := newAudience{AccountID: c.PlatformID, AdAccountID: p.AdAccount.PlatformID, Name: p.Name, Description: p.Description}
	switch p.Type {
	case advert.AudienceTypeRetargeting:
		w.Type, w.PixelID, w.RetentionDays = "website", p.PixelID, orDefault(p.RetentionDays, longestRetention)
	case advert.AudienceTypeLookalike:
		w.Type, w.SourceID, w.Country, w.Ratio = "lookalike", p.SourceID, p.Country, json.Number(p.Ratio.String())
	default:
		return advert.Audience{}, people()
	}
	var answer struct {
		Audience audience `json:"audience"`
	}
	r := request{method: http.MethodPost, path: path("ads", "audiences"), body: w}
	if err := d.write(ctx, r, &answer); err != nil {
		return advert.Audience{}, err
	}
	if answer.Audience.ID == "" {
		return advert.Audience{}, d.failure(r, ads.ErrIndeterminate, errors.New("the answer has no id"))
	}
	row := answer.Audience.row(p.AdAccount.PlatformID)
	row.Name, row.Description, row.Type = p.Name, p.Description, p.Type
	return row, nil
}

// DeleteAudience implements ads.Network.
func (d *Driver) DeleteAudience(ctx context.Context, c ads.Conn, adAccount, id string) error {
	ctx, cancel := d.bound(ctx)
	defer cancel()
	one, err := d.named(ctx, c, adAccount, id)
	if err != nil {
		return err
	}
	return d.write(ctx, request{method: http.MethodDelete, path: path("ads", "audiences", orDefault(one.Own, one.ID))}, nil)
}

// people says why no list of people is made or changed: Zernio takes addresses as they are and hashes them itself. We keep hashes only, and
// would not tell a third party the addresses of buyers.
func people() error {
	return refused("type", "Zernio takes people by their plain addresses, which this service neither keeps nor hands on. Connect the network itself for customer lists.")
}

// UploadUsers implements ads.Network.
func (d *Driver) UploadUsers(context.Context, ads.Conn, ads.Upload) (ads.Uploaded, error) {
	return ads.Uploaded{}, people()
}

// RemoveUsers implements ads.Network.
func (d *Driver) RemoveUsers(context.Context, ads.Conn, ads.Upload) (advert.Audience, error) {
	return advert.Audience{}, people()
}
