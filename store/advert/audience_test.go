package advert

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/internal/dbtest"
)

// audience makes a customer list.
func (a *advertiser) audience(t *testing.T, platformID *string) *Audience {
	t.Helper()
	begun, err := a.BeginAction(t.Context(), a.account, BeginAction{Op: OpCreateAudience, AdAccount: a.in})
	require.NoError(t, err)
	made := &Audience{ID: begun.Action.AudienceOf(), PlatformID: platformID, Name: "Buyers", Type: AudienceTypeCustomerList, Status: AudienceStatusPending}
	_, err = a.SettleAction(t.Context(), a.account, begun.Action.ID, Outcome{State: ActionDone, Audience: made})
	require.NoError(t, err)
	found, err := a.GetAudience(t.Context(), a.account, made.ID, "")
	require.NoError(t, err)
	return found
}

func membersOf(from, to int) []Member {
	var members []Member
	for i := from; i < to; i++ {
		sum := sha256.Sum256([]byte(strconv.Itoa(i)))
		for _, kind := range []Identifier{IdentifierEmail, IdentifierPhone} {
			members = append(members, Member{Kind: kind, Hash: hex.EncodeToString(sum[:]), Index: i - from})
		}
	}
	return members
}

func (a *advertiser) upload(t *testing.T, audience string, members []Member) *BegunUpload {
	t.Helper()
	begun, err := a.BeginUpload(t.Context(), a.account, BeginAction{Op: OpUploadAudience, AdAccount: a.in, TargetID: audience}, audience, members)
	require.NoError(t, err)
	return begun
}

func (a *advertiser) settle(t *testing.T, action string, out Outcome) {
	t.Helper()
	_, err := a.SettleAction(t.Context(), a.account, action, out)
	require.NoError(t, err)
}

func TestBeginUpload_HasOnlyWhatIsNew(t *testing.T) {
	eachAdvertiser(t, func(t *testing.T, a *advertiser) {
		list, other := a.audience(t, new("23")), a.audience(t, new("24"))
		users := membersOf(0, 10)
		users[3].Details = map[string]string{"city": "hash"}
		first := a.upload(t, list.ID, append(users, membersOf(0, 5)...))
		assert.Equal(t, users, first.Fresh)
		a.settle(t, first.Action.ID, Outcome{State: ActionDone, InvalidMembers: membersOf(9, 10)})
		second := a.upload(t, list.ID, membersOf(5, 15))
		assert.Len(t, second.Fresh, 12, "5 new users, and the one that the network did not take")
		assert.Len(t, a.upload(t, other.ID, membersOf(0, 10)).Fresh, 20, "another list is another list")

		third := a.upload(t, list.ID, membersOf(10, 15))
		assert.Len(t, third.Fresh, 10, "nobody knows yet what becomes of the second")
		a.settle(t, second.Action.ID, Outcome{State: ActionRefused, Failure: &Failure{Code: core.CodeInvalid}})
		a.settle(t, third.Action.ID, Outcome{State: ActionDone})
		assert.Equal(t, 18+10, a.count(t, `SELECT count(*) FROM ad_audience_members WHERE audience_id = ? AND uploaded_at IS NOT NULL`, list.ID))
		assert.Empty(t, a.upload(t, list.ID, membersOf(10, 15)).Fresh)
	})
}

func TestBeginUpload_TakesTenThousandUsersAtOnce(t *testing.T) {
	eachAdvertiser(t, func(t *testing.T, a *advertiser) {
		list, members := a.audience(t, nil), membersOf(0, 10_000)
		atOnce := func() {
			t.Helper()
			if a.db.Engine == core.PostgreSQL { // which notes at each row which statement of its transaction wrote it, and takes a round trip for each
				assert.Equal(t, 1, a.count(t, `SELECT count(DISTINCT CAST(cmin AS TEXT)) FROM ad_audience_members`), "one statement, not ten thousand")
			}
		}
		first := a.upload(t, list.ID, members)
		atOnce()
		a.settle(t, first.Action.ID, Outcome{State: ActionDone})
		atOnce()
		assert.Len(t, first.Fresh, 20_000)
		assert.Empty(t, a.upload(t, list.ID, members).Fresh)
	})
}

func TestDeleteAudience_ForgetsWhoWasInIt(t *testing.T) {
	eachAdvertiser(t, func(t *testing.T, a *advertiser) {
		list := a.audience(t, new("23"))
		a.settle(t, a.upload(t, list.ID, membersOf(0, 3)).Action.ID, Outcome{State: ActionDone})
		begun, err := a.BeginAction(t.Context(), a.account, BeginAction{Op: OpDeleteAudience, AdAccount: a.in, TargetID: list.ID})
		require.NoError(t, err)
		a.settle(t, begun.Action.ID, Outcome{State: ActionDone, DeletedAudience: list.ID})
		_, err = a.GetAudience(t.Context(), a.account, list.ID, "")
		dbtest.RequireCode(t, err, core.CodeMissing)
		assert.Zero(t, a.count(t, `SELECT count(*) FROM ad_audience_members`))
		left, err := a.ListAudiences(t.Context(), a.account, a.channel.ID, "act_1", "", Page{Limit: 10})
		require.NoError(t, err)
		assert.Empty(t, left.Items)
	})
}

func TestPutAudiences_KnowsOursAgain(t *testing.T) {
	eachAdvertiser(t, func(t *testing.T, a *advertiser) {
		ours := a.audience(t, new("23"))
		size := int64(1200)
		seen := []Audience{
			{PlatformID: new("23"), Name: "Buyers", Type: AudienceTypeRetargeting, Size: &size, Status: AudienceStatusReady},
			{PlatformID: new("99"), Name: "Theirs", Type: AudienceTypeLookalike, Status: AudienceStatusReady},
		}
		require.NoError(t, a.PutAudiences(t.Context(), a.in, seen, a.Now()))
		list := func() []Audience {
			found, err := a.ListAudiences(t.Context(), a.account, a.channel.ID, "act_1", "", Page{Limit: 10})
			require.NoError(t, err)
			return found.Items
		}
		all := list()
		require.Len(t, all, 2)
		assert.Equal(t, SourceExternal, all[0].Source)
		assert.Equal(t, ours.ID, all[1].ID)
		assert.Equal(t, SourceNative, all[1].Source)
		assert.Equal(t, AudienceTypeCustomerList, all[1].Type)
		assert.Equal(t, &size, all[1].Size)

		all[1].Status = AudienceStatusTooSmall
		require.NoError(t, a.RecordAudience(t.Context(), all[1]))
		require.NoError(t, a.PutAudiences(t.Context(), a.in, seen[:1], a.Now()))
		assert.Len(t, list(), 1, "what the network has no more is deleted")
	})
}

func TestSettleAction_TakesTheAudienceThatTheMirrorIsFinding(t *testing.T) {
	eachAdvertiser(t, func(t *testing.T, a *advertiser) {
		begun, err := a.BeginAction(t.Context(), a.account, BeginAction{Op: OpCreateAudience, AdAccount: a.in})
		require.NoError(t, err)
		await, settled, tries := dbtest.Waiter(t, a.db), make(chan error, 1), 0
		_, err = db.Tx(t.Context(), a.db, func(ctx context.Context, u *db.Unit) (any, error) {
			theirs := Audience{ID: core.NewID(core.KindAudience), PlatformID: new("23"), Name: "Buyers", Type: AudienceTypeCustomerList, Status: AudienceStatusReady, CreatedAt: a.Now()}
			theirs.place(a.in, SourceExternal, a.Now())
			if err := audienceRows.upsert(ctx, a.Store, u, []Audience{theirs}); err != nil {
				return nil, err
			}
			go func() {
				made := &Audience{ID: begun.Action.AudienceOf(), PlatformID: new("23"), Name: "Buyers", Type: AudienceTypeCustomerList, Status: AudienceStatusPending}
				_, err := db.Tx(context.Background(), a.db, func(ctx context.Context, u *db.Unit) (*Action, error) {
					tries++
					return a.settleAction(ctx, u, a.account, begun.Action.ID, Outcome{State: ActionDone, Audience: made})
				})
				settled <- err
			}()
			await()
			return nil, nil
		})
		require.NoError(t, err)
		require.NoError(t, <-settled)
		require.Equal(t, 1, tries, "a request that has asked a network has one try")
		found, err := a.ListAudiences(t.Context(), a.account, a.channel.ID, "act_1", "", Page{Limit: 10})
		require.NoError(t, err)
		require.Len(t, found.Items, 1)
		assert.Equal(t, SourceNative, found.Items[0].Source)
		action, err := a.GetAction(t.Context(), a.account, begun.Action.ID)
		require.NoError(t, err)
		assert.Equal(t, found.Items[0].ID, action.TargetID)
	})
}

func TestSettleAction_TakesTheListThatTheMirrorFoundBeforeItsUploadEnded(t *testing.T) {
	eachAdvertiser(t, func(t *testing.T, a *advertiser) {
		ours, asked := a.audience(t, nil), a.Now() // which the network makes with its first users
		seen := []Audience{{PlatformID: new("23"), Name: "Buyers", Type: AudienceTypeCustomerList, Status: AudienceStatusReady}}
		require.NoError(t, a.PutAudiences(t.Context(), a.in, seen, a.Now()))
		made := *ours
		made.PlatformID = new("23")
		a.settle(t, a.upload(t, ours.ID, membersOf(0, 3)).Action.ID, Outcome{State: ActionDone, Audience: &made})
		for _, late := range [][]Audience{nil, seen} { // the network was asked before the upload
			require.NoError(t, a.PutAudiences(t.Context(), a.in, late, asked))
			found, err := a.ListAudiences(t.Context(), a.account, a.channel.ID, "act_1", "", Page{Limit: 10})
			require.NoError(t, err)
			require.Len(t, found.Items, 1)
			assert.Equal(t, ours.ID, found.Items[0].ID)
			assert.Equal(t, SourceNative, found.Items[0].Source)
			assert.Equal(t, new("23"), found.Items[0].PlatformID)
		}
	})
}
