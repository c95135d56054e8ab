package sandbox

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store/advert"
)

// audiencePlan returns a customer list.
func (n *network) audiencePlan(token string) ads.AudiencePlan {
	return ads.AudiencePlan{Token: token, AdAccount: n.mine(), Name: "Buyers", Type: advert.AudienceTypeCustomerList}
}

// people returns so many members, from the n-th on.
func people(from, count int) []advert.Member {
	members := make([]advert.Member, count)
	for i := range members {
		digest := sha256.Sum256(fmt.Appendf(nil, "user%d@example.com", from+i))
		members[i] = advert.Member{Kind: advert.IdentifierEmail, Hash: hex.EncodeToString(digest[:]), Index: i}
	}
	return members
}

func (n *network) upload(a advert.Audience, members []advert.Member) ads.Uploaded {
	n.t.Helper()
	uploaded, err := n.UploadUsers(n.t.Context(), n.conn, ads.Upload{Token: "adact_u", Audience: a, Members: members})
	require.NoError(n.t, err)
	return uploaded
}

func (n *network) audienceNow(id string) advert.Audience {
	n.t.Helper()
	a, err := n.Audience(n.t.Context(), n.conn, n.mine().PlatformID, id)
	require.NoError(n.t, err)
	return a
}

func TestAudience_FillsByTheClockAndCountsEverybodyOnce(t *testing.T) {
	each(t, advert.PlatformFacebook, Options{AudienceDelay: time.Hour}, func(t *testing.T, n *network) {
		list, err := n.CreateAudience(t.Context(), n.conn, n.audiencePlan("adact_1"))
		require.NoError(t, err)
		n.now = n.now.Add(100 * time.Hour)
		assert.Equal(t, list, n.audienceNow(*list.PlatformID))
		assert.Equal(t, advert.AudienceStatusPending, list.Status, "nobody is in it")
		assert.Nil(t, list.Size)

		uploaded := n.upload(list, people(0, 10_000))
		assert.Equal(t, 10_000, uploaded.Accepted)
		assert.Equal(t, advert.AudienceStatusProcessing, uploaded.Audience.Status)
		assert.Nil(t, uploaded.Audience.Size)
		n.now = n.now.Add(time.Hour)
		ready := n.audienceNow(*list.PlatformID)
		assert.Equal(t, advert.AudienceStatusReady, ready.Status)
		assert.InDelta(t, 6000, *ready.Size, 200)

		n.upload(list, people(0, 10_000))
		n.now = n.now.Add(time.Hour)
		assert.Equal(t, *ready.Size, *n.audienceNow(*list.PlatformID).Size)
		n.upload(list, people(5_000, 10_000))
		n.now = n.now.Add(time.Hour)
		assert.InDelta(t, 9000, *n.audienceNow(*list.PlatformID).Size, 300)
	})
}

func TestAudience_IsTooSmallBelowAHundred(t *testing.T) {
	each(t, advert.PlatformPinterest, Options{AudienceDelay: -1}, func(t *testing.T, n *network) {
		list, err := n.CreateAudience(t.Context(), n.conn, n.audiencePlan("adact_1"))
		require.NoError(t, err)
		small := n.upload(list, people(0, 100)).Audience
		assert.Equal(t, advert.AudienceStatusTooSmall, small.Status)
		assert.Equal(t, "TOO_SMALL", small.PlatformStatus)
		assert.InDelta(t, 60, *small.Size, 25)
		assert.Equal(t, advert.AudienceStatusReady, n.upload(list, people(100, 200)).Audience.Status)
	})
}

func TestUpload_TakesAUserWithTwoIdentifiersForOnePerson(t *testing.T) {
	each(t, advert.PlatformFacebook, Options{AudienceDelay: -1}, func(t *testing.T, n *network) {
		list, err := n.CreateAudience(t.Context(), n.conn, n.audiencePlan("adact_1"))
		require.NoError(t, err)
		emails, phones := people(0, 300), people(10_000, 300)
		once := n.upload(list, emails)
		twice := n.upload(list, append(emails, phones...))
		assert.Equal(t, 600, twice.Accepted)
		assert.Equal(t, once.Audience.Size, twice.Audience.Size)
	})
}

func TestUpload_TellsWhatItDoesNotTake(t *testing.T) {
	each(t, advert.PlatformFacebook, Options{}, func(t *testing.T, n *network) {
		list, err := n.CreateAudience(t.Context(), n.conn, n.audiencePlan("adact_1"))
		require.NoError(t, err)
		members := people(0, 5)
		members[1].Hash, members[3].Hash = "ada@example.com", members[3].Hash[1:]
		uploaded := n.upload(list, members)
		assert.Equal(t, 3, uploaded.Accepted)
		assert.Equal(t, []int{1, 3}, []int{uploaded.Invalid[0].Place, uploaded.Invalid[1].Place})
		partial, err := n.UploadUsers(n.failing("partial:3"), n.conn, ads.Upload{Audience: list, Members: people(0, 5)})
		require.NoError(t, err)
		assert.Equal(t, 3, partial.Accepted)
		assert.Len(t, partial.Invalid, 2)

		list.Type = advert.AudienceTypeLookalike
		_, err = n.UploadUsers(t.Context(), n.conn, ads.Upload{Audience: list, Members: members})
		requireRejected(t, err, "type")
	})
}

func TestAudience_OfTikTokComesIntoBeingWithItsFirstUpload(t *testing.T) {
	each(t, advert.PlatformTikTok, Options{}, func(t *testing.T, n *network) {
		list, err := n.CreateAudience(t.Context(), n.conn, n.audiencePlan("adact_1"))
		require.NoError(t, err)
		assert.Nil(t, list.PlatformID)
		list.ID = "aud_1"
		_, err = n.UploadUsers(n.failing("timeout_after_commit"), n.conn, ads.Upload{Audience: list, Members: people(0, 3)})
		require.ErrorIs(t, err, ads.ErrIndeterminate)
		again := n.upload(list, people(0, 3)).Audience
		all, err := n.Audiences(t.Context(), n.conn, n.mine().PlatformID)
		require.NoError(t, err)
		assert.Equal(t, []advert.Audience{again}, all, "it was made once")
	})
}

func TestAudience_OfOtherTypes(t *testing.T) {
	each(t, advert.PlatformFacebook, Options{AudienceDelay: time.Hour}, func(t *testing.T, n *network) {
		source, err := n.CreateAudience(t.Context(), n.conn, n.audiencePlan("adact_1"))
		require.NoError(t, err)
		plan := n.audiencePlan("adact_2")
		alone := plan
		alone.Type, alone.Country, alone.Ratio, alone.SourceID = advert.AudienceTypeLookalike, "DE", advert.RatioOne/50, *source.PlatformID
		_, err = n.CreateAudience(t.Context(), n.conn, alone)
		requireRejected(t, err, "source_audience_id")
		n.upload(source, people(0, 300))
		plan.Type, plan.Country, plan.Ratio, plan.SourceID = advert.AudienceTypeLookalike, "DE", advert.RatioOne/50, *source.PlatformID
		alike, err := n.CreateAudience(n.failing("timeout_after_commit"), n.conn, plan)
		require.ErrorIs(t, err, ads.ErrIndeterminate)
		assert.Equal(t, advert.AudienceStatusPending, alike.Status)
		found, ok := n.found("adact_2")
		require.True(t, ok)
		assert.Equal(t, alike, *found.Audience)
		n.now = n.now.Add(30 * time.Minute)
		assert.Equal(t, advert.AudienceStatusProcessing, n.audienceNow(*alike.PlatformID).Status)
		n.now = n.now.Add(30 * time.Minute)
		ready := n.audienceNow(*alike.PlatformID)
		assert.Equal(t, advert.AudienceStatusReady, ready.Status)
		assert.Greater(t, *ready.Size, int64(99_999))

		require.NoError(t, n.DeleteAudience(t.Context(), n.conn, n.mine().PlatformID, *source.PlatformID))
		assert.ErrorIs(t, n.DeleteAudience(t.Context(), n.conn, n.mine().PlatformID, *source.PlatformID), ads.ErrNotFound)
		_, err = n.Audience(t.Context(), n.conn, n.mine().PlatformID, *source.PlatformID)
		require.ErrorIs(t, err, ads.ErrNotFound)
		_, err = n.CreateAudience(t.Context(), n.conn, plan)
		requireRejected(t, err, "source_audience_id")
		_, err = n.UploadUsers(t.Context(), n.conn, ads.Upload{Audience: source, Members: people(0, 1)})
		require.ErrorIs(t, err, ads.ErrNotFound)
	})
}
