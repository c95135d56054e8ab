package view

import (
	"maps"
	"slices"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/gen/api"
	"github.com/tillwright/tillwright/store/advert"
)

// AdAudience renders an audience.
func AdAudience(a *advert.Audience) api.AdAudience {
	return api.AdAudience{
		ID:                 a.ID,
		Object:             "audience",
		Platform:           api.AdPlatform(a.Platform),
		PlatformAudienceID: a.PlatformID,
		AccountID:          a.ChannelID,
		AdAccountID:        a.AdAccountID,
		Name:               a.Name,
		Description:        textOrNil(a.Description),
		Type:               api.AdAudienceType(a.Type),
		Status:             api.AdAudienceStatus(a.Status),
		PlatformStatus:     textOrNil(a.PlatformStatus),
		StatusReason:       textOrNil(a.StatusReason),
		Size:               a.Size,
		RetentionDays:      numberOrNull(a.RetentionDays),
		PixelID:            textOrNil(a.PixelID),
		SourceAudienceID:   textOrNil(a.SourceAudienceID),
		Country:            textOrNil(a.Country),
		Ratio:              ratioOrNull(a.Ratio),
		Source:             api.AdSource(a.Source),
		CreatedAt:          at(a.CreatedAt),
		UpdatedAt:          at(a.UpdatedAt),
		PlatformCreatedAt:  atOrNull(a.PlatformCreatedAt),
	}
}

// numberOrNull returns a number, nil for 0, which the store keeps for no number.
func numberOrNull(n int) *int64 {
	if n == 0 {
		return nil
	}
	return new(int64(n))
}

// ListAdAudiences reads the query of a list.
func ListAdAudiences(q api.ListAdAudiencesParams) ads.ListAudiences {
	return ads.ListAudiences{
		AccountID: q.AccountID, AdAccountID: q.AdAccountID, Platform: string(value(q.Platform)), Paging: paging(q.Limit, q.Page, q.Cursor),
	}
}

// NewAdAudience reads the body of a create.
func NewAdAudience(b *api.AdAudienceCreate) ads.CreateAudience {
	in := ads.CreateAudience{
		AccountID: b.AccountID, AdAccountID: b.AdAccountID, Platform: string(value(b.Platform)), Name: b.Name, Description: value(b.Description),
		Type: b.Type, SourceAudienceID: value(b.SourceAudienceID), Country: value(b.Country), Ratio: string(value(b.Ratio)), PixelID: value(b.PixelID),
	}
	if b.RetentionDays != nil {
		in.RetentionDays = new(int(*b.RetentionDays))
	}
	return in
}

// maxOther is how many unknown fields the answer to an upload names at most.
const maxOther = 100

// AdUsers reads the people of an upload. Other are the names of the unknown fields that were sent with them, sorted and at most
// maxOther.
func AdUsers(b *api.AdAudienceUsers) (users []ads.User, other []string) {
	users = make([]ads.User, len(b.Users))
	names := map[string]bool{}
	for i := range b.Users {
		u := &b.Users[i]
		users[i] = ads.User{
			Email: value(u.Email), Phone: value(u.Phone), EmailSHA256: value(u.EmailSHA256), PhoneSHA256: value(u.PhoneSHA256),
			FirstName: value(u.FirstName), LastName: value(u.LastName), City: value(u.City), State: value(u.State), Country: value(u.Country), Zip: value(u.Zip),
		}
		for name := range u.AdditionalProperties {
			names[name] = true
		}
	}
	other = slices.Sorted(maps.Keys(names))
	return users, mapped(other[:min(len(other), maxOther)], shortened)
}

// AdAudienceUpload renders what became of the people of an upload. Other are the names of the fields that were ignored.
func AdAudienceUpload(u *ads.AudienceUpload, other []string) api.AdAudienceUpload {
	return api.AdAudienceUpload{
		Object:       "audience_upload",
		AudienceID:   u.AudienceID,
		Received:     int64(u.Received),
		Accepted:     int64(u.Accepted),
		Invalid:      int64(u.Invalid),
		Duplicates:   int64(u.Duplicates),
		NumReceived:  int64(u.Received),
		NumInvalid:   int64(u.Invalid),
		Errors:       mapped(u.Errors, adUserError),
		Ignored:      list(slices.Concat(u.Ignored, other)),
		AudienceSize: u.Size,
		Status:       api.AdAudienceUploadStatus(u.Status),
	}
}

// AdAudienceRemoval renders what became of the people of a removal. Other are the names of the fields that were ignored.
func AdAudienceRemoval(r *ads.AudienceRemoval, other []string) api.AdAudienceRemoval {
	return api.AdAudienceRemoval{
		Object:       "audience_upload",
		AudienceID:   r.AudienceID,
		Received:     int64(r.Received),
		Removed:      int64(r.Removed),
		NotFound:     int64(r.NotFound),
		Invalid:      int64(r.Invalid),
		Duplicates:   int64(r.Duplicates),
		Errors:       mapped(r.Errors, adUserError),
		Ignored:      list(slices.Concat(r.Ignored, other)),
		AudienceSize: r.Size,
		Status:       api.AdAudienceRemovalStatus(r.Status),
	}
}

func adUserError(e ads.InvalidUser) api.AdAudienceUserError {
	return api.AdAudienceUserError{Index: int64(e.Index), Param: textOrNil(e.Param), Message: e.Message}
}
