package tiktok

import (
	"context"
	"slices"
	"strings"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store/advert"
)

// audience is an audience as the network writes it.
type audience struct {
	ID        string     `json:"audience_id"`
	Name      string     `json:"name"`
	Type      string     `json:"audience_type"`
	Calculate string     `json:"calculate_type"` // how the people of a file are written
	Size      int64      `json:"cover_num"`
	IsValid   bool       `json:"is_valid"`
	Error     string     `json:"error_msg"`
	Created   string     `json:"create_time"`
	Lookalike *lookalike `json:"lookalike_spec"`
}

// lookalike says whom a lookalike is like.
type lookalike struct {
	SourceID      string   `json:"source_audience_id"`
	IncludeSource bool     `json:"include_source"`
	System        string   `json:"mobile_os"`
	Placements    []string `json:"placements"`
	Locations     []string `json:"location_ids"`
	Size          string   `json:"audience_size"`
}

// audienceTypes are the types of audience by TikTok's words, which are sentences.
var audienceTypes = map[string]advert.AudienceType{
	"Customer File Audience": advert.AudienceTypeCustomerList, "Website Audience": advert.AudienceTypeRetargeting, "Lookalike Audience": advert.AudienceTypeLookalike,
}

// sizes are TikTok's words for how many people a lookalike has, and the share of a country's people up to which each is meant here.
var sizes = []struct {
	upTo advert.Ratio
	word string
}{
	{3 * percent, "NARROW"}, {8 * percent, "BALANCED"}, {20 * percent, "BROAD"},
}

// percent is one percent as a ratio.
const percent = advert.RatioOne / 100

// audienceRow converts an audience. One that cannot be used yet is being calculated.
func audienceRow(w audience) advert.Audience {
	row := advert.Audience{
		PlatformID: &w.ID, Name: unmark(w.Name), Type: audienceTypes[w.Type], Status: advert.AudienceStatusProcessing, PlatformStatus: "calculating",
		StatusReason: w.Error, PlatformCreatedAt: moment(w.Created),
	}
	switch {
	case w.Error != "":
		row.Status, row.PlatformStatus = advert.AudienceStatusError, "failed"
	case w.IsValid:
		row.Status, row.PlatformStatus, row.Size = advert.AudienceStatusReady, "valid", &w.Size
	}
	if l := w.Lookalike; l != nil {
		if len(l.Locations) == 1 {
			row.Country = strings.ToLower(countryOf(l.Locations[0]))
		}
		for _, s := range sizes {
			if s.word == l.Size {
				row.Ratio = s.upTo
			}
		}
	}
	return row
}

// CreateAudience implements ads.Network. It makes an audience for retargeting or a lookalike. A customer list cannot be empty at TikTok, so
// UploadUsers makes it with its first people.
func (d *Driver) CreateAudience(ctx context.Context, c ads.Conn, plan ads.AudiencePlan) (advert.Audience, error) {
	ctx, cancel := d.bound(ctx)
	defer cancel()
	body := fields{"advertiser_id": plan.AdAccount.PlatformID, "custom_audience_name": mark(plan.Name, plan.Token, widestAudience)}
	path := "dmp/custom_audience/rule/create"
	switch plan.Type {
	case advert.AudienceTypeCustomerList:
		return advert.Audience{Name: plan.Name, Description: plan.Description, Type: plan.Type, Status: advert.AudienceStatusPending}, nil
	case advert.AudienceTypeRetargeting:
		body["audience_type"], body["is_auto_refresh"] = "PIXEL", true
		body["rule_spec"] = fields{"inclusion_rule_set": fields{"operator": "OR", "rules": []fields{{
			"event_source_ids": []string{plan.PixelID}, "retention_days": orDefault(plan.RetentionDays, 180), // without a filter: whoever was there
		}}}}
	case advert.AudienceTypeLookalike:
		spec, err := lookalikeOf(plan)
		if err != nil {
			return advert.Audience{}, err
		}
		path, body["lookalike_spec"] = "dmp/custom_audience/lookalike/create", spec
	default:
		return advert.Audience{}, unsupported()
	}
	return d.makeAudience(ctx, c, plan.AdAccount.PlatformID, path, body)
}

// lookalikeOf returns whom an audience is to be like. TikTok knows three sizes instead of a share.
func lookalikeOf(plan ads.AudiencePlan) (*lookalike, error) {
	place, known := locationOf(strings.ToUpper(plan.Country))
	if !known {
		return nil, rejected("country", "TikTok has no people in this country.")
	}
	i := slices.IndexFunc(sizes, func(s struct {
		upTo advert.Ratio
		word string
	}) bool {
		return plan.Ratio <= s.upTo
	})
	if i < 0 {
		return nil, rejected("ratio", "TikTok takes a ratio of up to 0.2.")
	}
	return &lookalike{
		SourceID: plan.SourceID, System: "ALL", Placements: []string{"TikTok"}, Locations: []string{place}, Size: sizes[i].word,
	}, nil
}

// makeAudience sends the request that creates an audience, and reads it.
func (d *Driver) makeAudience(ctx context.Context, c ads.Conn, adAccount, path string, body fields) (advert.Audience, error) {
	var made struct {
		ID string `json:"custom_audience_id"`
	}
	if err := d.write(ctx, c, path, body, &made); err != nil {
		return advert.Audience{}, err
	}
	if made.ID == "" {
		return advert.Audience{}, unread(ads.ErrNotFound)
	}
	w, err := d.audience(ctx, c, adAccount, made.ID)
	if err != nil {
		return advert.Audience{}, unread(err)
	}
	return audienceRow(w), nil
}

// Audience implements ads.Network.
func (d *Driver) Audience(ctx context.Context, c ads.Conn, adAccount, id string) (advert.Audience, error) {
	ctx, cancel := d.bound(ctx)
	defer cancel()
	w, err := d.audience(ctx, c, adAccount, id)
	if err != nil {
		return advert.Audience{}, err
	}
	return audienceRow(w), nil
}

func (d *Driver) audience(ctx context.Context, c ads.Conn, adAccount, id string) (audience, error) {
	var p page[struct {
		Details audience `json:"audience_details"`
	}]
	err := d.read(ctx, c, "dmp/custom_audience/get", fields{"advertiser_id": adAccount, "custom_audience_ids": []string{id}}, &p)
	if err == nil && (len(p.List) != 1 || p.List[0].Details.ID == "") {
		err = notFound("audience", id)
	}
	if err != nil {
		return audience{}, err
	}
	return p.List[0].Details, nil
}

// audiencesPerPage is how many audiences a page has at most.
const audiencesPerPage = 100

// Audiences implements ads.Network. Audiences of a type that we do not know are left out.
func (d *Driver) Audiences(ctx context.Context, c ads.Conn, adAccount string) ([]advert.Audience, error) {
	ctx, cancel := d.bound(ctx)
	defer cancel()
	found, err := all[audience](ctx, d, c, "dmp/custom_audience/list", fields{"advertiser_id": adAccount}, audiencesPerPage)
	if err != nil {
		return nil, err
	}
	var rows []advert.Audience
	for _, w := range found {
		if audienceTypes[w.Type] != "" {
			rows = append(rows, audienceRow(w))
		}
	}
	return rows, nil
}

// DeleteAudience implements ads.Network.
func (d *Driver) DeleteAudience(ctx context.Context, c ads.Conn, adAccount, id string) error {
	ctx, cancel := d.bound(ctx)
	defer cancel()
	if _, err := d.audience(ctx, c, adAccount, id); err != nil {
		return err
	}
	return d.write(ctx, c, "dmp/custom_audience/delete", fields{"advertiser_id": adAccount, "custom_audience_ids": []string{id}}, nil)
}

// findAudience returns the audience that was created with a token.
func (d *Driver) findAudience(ctx context.Context, c ads.Conn, adAccount, token string) (ads.Created, bool, error) {
	w, found, err := d.audienceMarked(ctx, c, adAccount, token)
	if err != nil || !found {
		return ads.Created{}, false, err
	}
	row := audienceRow(w)
	return ads.Created{Audience: &row}, true, nil
}

// audienceMarked returns the audience whose name carries a token.
func (d *Driver) audienceMarked(ctx context.Context, c ads.Conn, adAccount, token string) (made audience, found bool, err error) {
	err = walk(ctx, d, c, "dmp/custom_audience/list", fields{"advertiser_id": adAccount}, audiencesPerPage, func(page []audience) bool {
		i := slices.IndexFunc(page, func(w audience) bool { return carries(w.Name, token) })
		if found = i >= 0; found {
			made = page[i]
		}
		return !found
	})
	return made, found, err
}
