package meta_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/tests/harness/metafake"
)

// audiencePlan is an audience of a type with all that the type needs.
func audiencePlan(kind advert.AudienceType, source string) ads.AudiencePlan {
	p := ads.AudiencePlan{Token: "adact_01kaud0000000000000000000" + string(kind[0]), AdAccount: account(dollars), Name: "Buyers", Description: "All of them", Type: kind}
	switch kind {
	case advert.AudienceTypeRetargeting:
		p.PixelID, p.RetentionDays = "6060", 30
	case advert.AudienceTypeLookalike:
		p.SourceID, p.Country, p.Ratio = source, "US", 50_000
	}
	return p
}

func (w *world) audience(t *testing.T, kind advert.AudienceType, source string) advert.Audience {
	t.Helper()
	a, err := w.net.CreateAudience(t.Context(), w.conn, audiencePlan(kind, source))
	require.NoError(t, err)
	require.NotNil(t, a.PlatformID)
	return a
}

func TestCreateAudience_MakesEachType(t *testing.T) {
	t.Parallel()
	w := newWorld(t, advert.PlatformFacebook)
	source := ""
	for _, kind := range []advert.AudienceType{advert.AudienceTypeCustomerList, advert.AudienceTypeRetargeting, advert.AudienceTypeLookalike} {
		made := w.audience(t, kind, source)
		source = *made.PlatformID
		w.fake.Grow(source, 1000, 1200, 200, 200)
		read, err := w.net.Audience(t.Context(), w.conn, dollars, source)
		require.NoError(t, err)
		p := audiencePlan(kind, "")
		size, created := int64(1100), core.TimeOf(now)
		assert.Equal(t, advert.Audience{PlatformID: &source, Name: p.Name, Description: p.Description, Type: kind, Size: &size, Status: advert.AudienceStatusReady,
			PlatformStatus: "200/200", RetentionDays: p.RetentionDays, PixelID: p.PixelID, Country: p.Country, Ratio: p.Ratio, PlatformCreatedAt: &created}, read)
	}
	all, err := w.net.Audiences(t.Context(), w.conn, dollars)
	require.NoError(t, err)
	assert.Len(t, all, 3)
}

func TestAudience_TellsHowFarItIs(t *testing.T) {
	t.Parallel()
	w := newWorld(t, advert.PlatformFacebook)
	id := *w.audience(t, advert.AudienceTypeCustomerList, "").PlatformID
	for _, c := range []struct {
		lower, upper, operation, delivery int
		status                            advert.AudienceStatus
		known                             bool
	}{
		{-1, -1, 410, 300, advert.AudienceStatusPending, false},
		{-1, -1, 441, 300, advert.AudienceStatusProcessing, false},
		{-1, -1, 200, 200, advert.AudienceStatusProcessing, false},
		{0, 1000, 200, 300, advert.AudienceStatusTooSmall, true},
		{1000, 1200, 200, 200, advert.AudienceStatusReady, true},
		{1000, 1200, 411, 200, advert.AudienceStatusReady, true},
		{1000, 1200, 471, 200, advert.AudienceStatusError, true},
		{1000, 1200, 999, 200, advert.AudienceStatusError, true},
	} {
		w.fake.Grow(id, c.lower, c.upper, c.operation, c.delivery)
		a, err := w.net.Audience(t.Context(), w.conn, dollars, id)
		require.NoError(t, err)
		assert.Equal(t, c.status, a.Status, "%d/%d", c.operation, c.delivery)
		assert.Equal(t, c.known, a.Size != nil, "an unknown size is not 0")
	}
}

func TestDeleteAudience_IsForGood(t *testing.T) {
	t.Parallel()
	w := newWorld(t, advert.PlatformFacebook)
	id := *w.audience(t, advert.AudienceTypeCustomerList, "").PlatformID
	require.NoError(t, w.net.DeleteAudience(t.Context(), w.conn, dollars, id))
	require.ErrorIs(t, w.net.DeleteAudience(t.Context(), w.conn, dollars, id), ads.ErrNotFound)
	_, err := w.net.Audience(t.Context(), w.conn, dollars, id)
	require.ErrorIs(t, err, ads.ErrNotFound)
}

func member(kind advert.Identifier, user int) advert.Member {
	sum := sha256.Sum256([]byte(fmt.Sprint(kind, user)))
	return advert.Member{Kind: kind, Hash: hex.EncodeToString(sum[:]), Index: user}
}

func TestUploadUsers_SendsTenThousandUsersInOneCall(t *testing.T) {
	t.Parallel()
	w := newWorld(t, advert.PlatformFacebook)
	a := w.audience(t, advert.AudienceTypeCustomerList, "")
	var members []advert.Member
	for i := range 10_000 {
		members = append(members, member(advert.IdentifierEmail, i), member(advert.IdentifierPhone, i))
	}
	uploaded, err := w.net.UploadUsers(t.Context(), w.conn, ads.Upload{Token: "adact_3", Audience: a, Members: members})
	require.NoError(t, err)
	assert.Equal(t, 20_000, uploaded.Accepted)
	assert.Equal(t, 20_000, w.fake.Members(*a.PlatformID))
	assert.Len(t, w.calls("POST", "users"), 1)
	assert.Equal(t, advert.AudienceStatusProcessing, uploaded.Audience.Status)

	_, err = w.net.UploadUsers(t.Context(), w.conn, ads.Upload{Token: "adact_3", Audience: a, Members: members})
	require.NoError(t, err)
	assert.Equal(t, 20_000, w.fake.Members(*a.PlatformID), "adding them again changes nothing")
}

func TestUploadUsers_SendsWhatElseIsKnownOfAUser(t *testing.T) {
	t.Parallel()
	w := newWorld(t, advert.PlatformFacebook)
	a := w.audience(t, advert.AudienceTypeCustomerList, "")
	detail := func(name string) string { return member(advert.Identifier(name), 0).Hash }
	ada, bob := member(advert.IdentifierEmail, 0), member(advert.IdentifierPhone, 1)
	ada.Details = map[string]string{}
	for _, name := range []string{"first_name", "last_name", "city", "state", "country", "zip"} {
		ada.Details[name] = detail(name)
	}
	_, err := w.net.UploadUsers(t.Context(), w.conn, ads.Upload{Audience: a, Members: []advert.Member{ada, bob}})
	require.NoError(t, err)
	want, err := json.Marshal(map[string]any{"schema": []string{"EMAIL", "PHONE", "FN", "LN", "CT", "ST", "COUNTRY", "ZIP"}, "data": [][]string{
		{ada.Hash, "", detail("first_name"), detail("last_name"), detail("city"), detail("state"), detail("country"), detail("zip")},
		{"", bob.Hash, "", "", "", "", "", ""},
	}})
	require.NoError(t, err)
	assert.JSONEq(t, string(want), w.sent(t, "POST", "users").Get("payload"))
	assert.Equal(t, 2, w.fake.Members(*a.PlatformID))
}

func TestUploadUsers_SplitsWhatDoesNotFitIntoACall(t *testing.T) {
	t.Parallel()
	w := newWorld(t, advert.PlatformFacebook)
	a := w.audience(t, advert.AudienceTypeCustomerList, "")
	var members []advert.Member
	for i := range 10_001 {
		members = append(members, member(advert.IdentifierEmail, i))
	}
	uploaded, err := w.net.UploadUsers(t.Context(), w.conn, ads.Upload{Audience: a, Members: members})
	require.NoError(t, err)
	assert.Equal(t, 10_001, uploaded.Accepted)
	assert.Len(t, w.calls("POST", "users"), 2)
}

func TestUploadUsers_CountsWhatMetaDoesNotTake(t *testing.T) {
	t.Parallel()
	w := newWorld(t, advert.PlatformFacebook)
	a := w.audience(t, advert.AudienceTypeCustomerList, "")
	bad := advert.Member{Kind: advert.IdentifierEmail, Hash: "ABC", Index: 1}
	uploaded, err := w.net.UploadUsers(t.Context(), w.conn, ads.Upload{Audience: a, Members: []advert.Member{member(advert.IdentifierEmail, 0), bad}})
	require.NoError(t, err)
	assert.Equal(t, 1, uploaded.Accepted)
}

func TestUploadUsers_IsRefusedByOtherAudiences(t *testing.T) {
	t.Parallel()
	w := newWorld(t, advert.PlatformFacebook)
	a := w.audience(t, advert.AudienceTypeRetargeting, "")
	_, err := w.net.UploadUsers(t.Context(), w.conn, ads.Upload{Audience: a, Members: []advert.Member{member(advert.IdentifierEmail, 0)}})
	var rejected *ads.Rejected
	require.ErrorAs(t, err, &rejected)
}

func TestUploadUsers_MayBeRepeatedAfterATimeout(t *testing.T) {
	t.Parallel()
	w := newWorld(t, advert.PlatformFacebook)
	a := w.audience(t, advert.AudienceTypeCustomerList, "")
	upload := ads.Upload{Audience: a, Members: []advert.Member{member(advert.IdentifierEmail, 0)}}
	w.fake.Fail(metafake.Fault{Kind: metafake.FaultTimeoutAfter, Edge: "users"})
	_, err := w.net.UploadUsers(t.Context(), w.conn, upload)
	require.ErrorIs(t, err, ads.ErrIndeterminate)
	_, err = w.net.UploadUsers(t.Context(), w.conn, upload)
	require.NoError(t, err)
	assert.Equal(t, 1, w.fake.Members(*a.PlatformID))
}

func TestCreateAudience_IsFoundAgainAfterATimeout(t *testing.T) {
	t.Parallel()
	w := newWorld(t, advert.PlatformFacebook)
	p := audiencePlan(advert.AudienceTypeCustomerList, "")
	_, found, err := w.net.Find(t.Context(), w.conn, dollars, p.Token)
	require.NoError(t, err)
	assert.False(t, found)
	w.fake.Fail(metafake.Fault{Kind: metafake.FaultTimeoutAfter, Edge: "customaudiences", Method: "POST"})
	_, err = w.net.CreateAudience(t.Context(), w.conn, p)
	require.ErrorIs(t, err, ads.ErrIndeterminate)
	made, found, err := w.net.Find(t.Context(), w.conn, dollars, p.Token)
	require.NoError(t, err)
	require.True(t, found)
	assert.Equal(t, p.Name, made.Audience.Name)
	assert.Equal(t, p.Description, made.Audience.Description, "the token is not shown")
}

// Whoever is removed leaves by a DELETE on the same edge, hashed in the same way, 10,000 in a call: rule U3.
func TestRemoveUsers_LeaveTheList(t *testing.T) {
	t.Parallel()
	w := newWorld(t, advert.PlatformFacebook)
	a := w.audience(t, advert.AudienceTypeCustomerList, "")
	members := make([]advert.Member, 10_001)
	for i := range members {
		members[i] = member(advert.IdentifierEmail, i)
	}
	_, err := w.net.UploadUsers(t.Context(), w.conn, ads.Upload{Audience: a, Members: members})
	require.NoError(t, err)
	w.fake.Fail(metafake.Fault{Kind: metafake.FaultTimeoutAfter, Edge: "users", Method: "DELETE"})
	leaving := ads.Upload{Audience: a, Members: append(members[:10_000:10_000], member(advert.IdentifierEmail, 77_777))}
	_, err = w.net.RemoveUsers(t.Context(), w.conn, leaving)
	require.ErrorIs(t, err, ads.ErrIndeterminate)
	left, err := w.net.RemoveUsers(t.Context(), w.conn, leaving)
	require.NoError(t, err)
	assert.Equal(t, advert.AudienceStatusProcessing, left.Status, "the count lags")
	assert.Equal(t, 1, w.fake.Members(*a.PlatformID))
}

// Without signed terms an audience is neither made nor filled: rule U2. The error says where they are signed.
func TestAudiences_SayWhereTheirTermsAreSigned(t *testing.T) {
	t.Parallel()
	w := newWorld(t, advert.PlatformFacebook)
	a := w.audience(t, advert.AudienceTypeCustomerList, "")
	a.AdAccountID = dollars
	w.fake.Unsigned = true
	_, created := w.net.CreateAudience(t.Context(), w.conn, audiencePlan(advert.AudienceTypeCustomerList, ""))
	_, uploaded := w.net.UploadUsers(t.Context(), w.conn, ads.Upload{Audience: a, Members: []advert.Member{member(advert.IdentifierEmail, 0)}})
	for _, err := range []error{created, uploaded} {
		require.ErrorIs(t, err, ads.ErrForbidden)
		require.ErrorContains(t, err, "/customaudiences/tos/?act="+strings.TrimPrefix(dollars, "act_"))
	}
}

// An audience that Meta flagged must not be used, and says why: rule U5.
func TestAudience_ThatIsFlaggedSaysWhy(t *testing.T) {
	t.Parallel()
	w := newWorld(t, advert.PlatformFacebook)
	a := w.audience(t, advert.AudienceTypeCustomerList, "")
	w.fake.Grow(*a.PlatformID, 1000, 1200, 471, 200)
	flagged, err := w.net.Audience(t.Context(), w.conn, dollars, *a.PlatformID)
	require.NoError(t, err)
	assert.Equal(t, advert.AudienceStatusError, flagged.Status)
	assert.Contains(t, flagged.StatusReason, "health or money")
}
