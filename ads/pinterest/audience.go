package pinterest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store/advert"
)

// audience is an audience as the network writes it.
type audience struct {
	ID          string `json:"id"`
	Name        string `json:"name"`
	Description string `json:"description"`
	Type        string `json:"audience_type"`
	Size        *int64 `json:"size"`
	Status      string `json:"status"`
	Created     int64  `json:"created_timestamp"`
	Rule        rule   `json:"rule"`
}

// newAudience is an audience to create.
type newAudience struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	Type        string `json:"audience_type"`
	Rule        rule   `json:"rule"`
}

// rule says who is in an audience. Each type of audience uses other fields of it.
type rule struct {
	ListID    string   `json:"customer_list_id,omitempty"`
	TagID     string   `json:"visitor_source_id,omitempty"`
	Retention int      `json:"retention_days,omitempty"`
	Seeds     []string `json:"seed_id,omitempty"`
	Country   string   `json:"country,omitempty"`
	Percent   int      `json:"percentage,omitempty"`
}

// The network's words for the types of audience.
const (
	typeList      = "CUSTOMER_LIST"
	typeVisitor   = "VISITOR"
	typeLookalike = "ACTALIKE"
)

var audienceTypes = map[string]advert.AudienceType{
	typeList: advert.AudienceTypeCustomerList, typeVisitor: advert.AudienceTypeRetargeting, typeLookalike: advert.AudienceTypeLookalike,
}

var audienceStatuses = map[string]advert.AudienceStatus{
	"INITIALIZING": advert.AudienceStatusProcessing, "READY": advert.AudienceStatusReady, "TOO_SMALL": advert.AudienceStatusTooSmall,
}

// audienceRow converts an audience. A state that we do not know is an error.
func audienceRow(w audience) advert.Audience {
	status := audienceStatuses[w.Status]
	if status == "" {
		status = advert.AudienceStatusError
	}
	return advert.Audience{
		PlatformID: &w.ID, Name: w.Name, Description: unmark(w.Description), Type: audienceTypes[w.Type], Size: w.Size,
		Status: status, PlatformStatus: w.Status, RetentionDays: w.Rule.Retention, PixelID: w.Rule.TagID,
		Country: strings.ToLower(w.Rule.Country), Ratio: advert.Ratio(w.Rule.Percent) * percent,
		PlatformCreatedAt: moment(w.Created),
	}
}

// percent is one percent as a ratio.
const percent = advert.RatioOne / 100

// CreateAudience implements ads.Network. It makes an audience for retargeting or a lookalike. A customer list cannot be
// empty at Pinterest, so UploadUsers makes it with its first people.
func (d *Driver) CreateAudience(ctx context.Context, c ads.Conn, plan ads.AudiencePlan) (advert.Audience, error) {
	ctx, cancel := d.bound(ctx)
	defer cancel()
	item := newAudience{Name: plan.Name, Description: mark(plan.Description, plan.Token)}
	switch plan.Type {
	case advert.AudienceTypeCustomerList:
		return advert.Audience{
			Name: plan.Name, Description: plan.Description, Type: plan.Type, Status: advert.AudienceStatusPending,
		}, nil
	case advert.AudienceTypeRetargeting:
		item.Type, item.Rule = typeVisitor, rule{TagID: plan.PixelID, Retention: plan.RetentionDays}
	case advert.AudienceTypeLookalike:
		item.Type = typeLookalike
		item.Rule = rule{Seeds: []string{plan.SourceID}, Country: strings.ToUpper(plan.Country), Percent: int(plan.Ratio / percent)}
	default:
		return advert.Audience{}, fmt.Errorf("pinterest: %w", ads.ErrUnsupported)
	}
	made, err := d.makeAudience(ctx, c, plan.AdAccount.PlatformID, item)
	var refused *ads.Rejected
	if plan.Type == advert.AudienceTypeLookalike && errors.As(err, &refused) {
		refused.Field = "source_audience_id" // nothing else of it is not checked before
	}
	return made, err
}

// makeAudience sends the request that creates an audience. If the answer has no id, the error is ErrIndeterminate.
func (d *Driver) makeAudience(ctx context.Context, c ads.Conn, adAccount string, item newAudience) (advert.Audience, error) {
	r := request{method: http.MethodPost, path: inAccount(adAccount, "audiences"), body: item}
	var made audience
	if err := d.write(ctx, c, r, &made); err != nil {
		return advert.Audience{}, err
	}
	if made.ID == "" {
		return advert.Audience{}, failure(c, r, ads.ErrIndeterminate, errors.New("it has no id"))
	}
	return audienceRow(made), nil
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

func (d *Driver) audience(ctx context.Context, c ads.Conn, adAccount, id string) (w audience, err error) {
	err = d.read(ctx, c, inAccount(adAccount, "audiences", id), nil, &w)
	return w, err
}

// Audiences implements ads.Network. Audiences of a type that we do not know are left out.
func (d *Driver) Audiences(ctx context.Context, c ads.Conn, adAccount string) ([]advert.Audience, error) {
	ctx, cancel := d.bound(ctx)
	defer cancel()
	found, err := all[audience](ctx, d, c, inAccount(adAccount, "audiences"), nil)
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
	body := struct {
		Operation string `json:"operation_type"`
	}{"REMOVE"}
	return d.write(ctx, c, request{method: http.MethodPatch, path: inAccount(adAccount, "audiences", id), body: body}, nil)
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

// audienceMarked returns the audience whose description carries a token.
func (d *Driver) audienceMarked(ctx context.Context, c ads.Conn, adAccount, token string) (audience, bool, error) {
	found, err := marking[audience](ctx, d, c, inAccount(adAccount, "audiences"), url.Values{}, token)
	if err != nil || len(found) == 0 {
		return audience{}, false, err
	}
	return found[0], true, nil
}

// newList is a customer list to create. Records are the SHA-256 hashes of email addresses, with commas between them.
type newList struct {
	Name    string `json:"name"`
	Type    string `json:"list_type"`
	Records string `json:"records"`
}

// change is what is added to a customer list or taken away, as in newList.
type change struct {
	Operation string `json:"operation_type"`
	Records   string `json:"records"`
}

// list is a customer list as the network writes it.
type list struct {
	ID string `json:"id"`
}

// UploadUsers implements ads.Network. It adds the hashes of email addresses to the customer list, and first makes the
// list if there is none. An audience that an earlier call made without hearing of it is recognised by our id in its
// description.
func (d *Driver) UploadUsers(ctx context.Context, c ads.Conn, u ads.Upload) (ads.Uploaded, error) {
	ctx, cancel := d.bound(ctx)
	defer cancel()
	uploaded := ads.Uploaded{Audience: u.Audience}
	var hashes []string
	for place, member := range u.Members {
		if member.Kind != advert.IdentifierEmail {
			uploaded.Invalid = append(uploaded.Invalid, ads.InvalidMember{Place: place, Message: "Pinterest knows people by their e-mail only."})
			continue
		}
		hashes = append(hashes, member.Hash)
	}
	if len(hashes) == 0 {
		return uploaded, nil
	}
	row, err := d.addHashes(ctx, c, u.Audience, hashes)
	if err != nil {
		return ads.Uploaded{}, err
	}
	uploaded.Audience, uploaded.Accepted = row, len(hashes)
	return uploaded, nil
}

// addHashes adds hashes to the customer list of an audience, as many in each call as the network takes. Without an
// audience it makes the list with the first of them, and the audience last.
func (d *Driver) addHashes(ctx context.Context, c ads.Conn, a advert.Audience, hashes []string) (advert.Audience, error) {
	w, made, err := d.listOf(ctx, c, a)
	if err != nil {
		return advert.Audience{}, err
	}
	listID, size := w.Rule.ListID, d.caps.UsersPerCall
	if !made {
		first := hashes[:min(size, len(hashes))]
		if listID, err = d.makeList(ctx, c, a, first); err != nil {
			return advert.Audience{}, err
		}
		hashes = hashes[len(first):]
	}
	if err := d.change(ctx, c, a.AdAccountID, listID, "ADD", hashes); err != nil {
		return advert.Audience{}, err
	}
	if made {
		if w, err = d.audience(ctx, c, a.AdAccountID, w.ID); err != nil {
			return advert.Audience{}, unread(err)
		}
		return audienceRow(w), nil
	}
	return d.makeAudience(ctx, c, a.AdAccountID, newAudience{
		Name: a.Name, Description: mark(a.Description, a.ID), Type: typeList, Rule: rule{ListID: listID},
	})
}

// change adds hashes to a customer list or takes them out of it, as many in each call as the network takes.
func (d *Driver) change(ctx context.Context, c ads.Conn, adAccount, listID, operation string, hashes []string) error {
	for chunk := range slices.Chunk(hashes, d.caps.UsersPerCall) {
		r := request{method: http.MethodPatch, path: inAccount(adAccount, "customer_lists", listID), body: change{operation, strings.Join(chunk, ",")}}
		if err := d.write(ctx, c, r, nil); err != nil {
			return err
		}
	}
	return nil
}

// RemoveUsers implements ads.Network.
func (d *Driver) RemoveUsers(ctx context.Context, c ads.Conn, u ads.Upload) (advert.Audience, error) {
	ctx, cancel := d.bound(ctx)
	defer cancel()
	w, _, err := d.listOf(ctx, c, u.Audience)
	if err != nil {
		return advert.Audience{}, err
	}
	var hashes []string
	for _, member := range u.Members {
		if member.Kind == advert.IdentifierEmail {
			hashes = append(hashes, member.Hash)
		}
	}
	if err := d.change(ctx, c, u.Audience.AdAccountID, w.Rule.ListID, "REMOVE", hashes); err != nil {
		return advert.Audience{}, err
	}
	if w, err = d.audience(ctx, c, u.Audience.AdAccountID, w.ID); err != nil {
		return advert.Audience{}, unread(err)
	}
	return audienceRow(w), nil
}

// listOf returns the audience as the network has it, or false if it has none yet.
func (d *Driver) listOf(ctx context.Context, c ads.Conn, a advert.Audience) (audience, bool, error) {
	if a.PlatformID == nil {
		return d.audienceMarked(ctx, c, a.AdAccountID, a.ID)
	}
	w, err := d.audience(ctx, c, a.AdAccountID, *a.PlatformID)
	return w, err == nil, err
}

// makeList makes a customer list with its first people and returns its id.
func (d *Driver) makeList(ctx context.Context, c ads.Conn, a advert.Audience, hashes []string) (string, error) {
	r := request{method: http.MethodPost, path: inAccount(a.AdAccountID, "customer_lists"),
		body: newList{Name: a.Name, Type: "EMAIL", Records: strings.Join(hashes, ",")}}
	var made list
	if err := d.write(ctx, c, r, &made); err != nil {
		return "", err
	}
	if made.ID == "" {
		return "", failure(c, r, ads.ErrIndeterminate, errors.New("it has no id"))
	}
	return made.ID, nil
}
