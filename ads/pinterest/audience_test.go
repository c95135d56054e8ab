package pinterest_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store/advert"
)

// buyers is a customer list without an audience at the network, and people for it.
func (w *world) buyers(people int) ads.Upload {
	u := ads.Upload{Audience: advert.Audience{ID: "aud_00000000000000000000000001", AdAccountID: w.account.ID, Name: "Buyers", Type: advert.AudienceTypeCustomerList}}
	for i := range people {
		u.Members = append(u.Members, advert.Member{Kind: advert.IdentifierEmail, Hash: fmt.Sprintf("%064x", i), Index: i})
	}
	return u
}

func TestUploadUsers_MakesTheAudienceWithTheFirstPeople(t *testing.T) {
	t.Parallel()
	w := newWorld("USD", nil)
	made, err := w.driver.CreateAudience(t.Context(), w.conn, ads.AudiencePlan{AdAccount: w.ad, Name: "Buyers", Type: advert.AudienceTypeCustomerList})
	require.NoError(t, err)
	assert.Nil(t, made.PlatformID)
	assert.Equal(t, advert.AudienceStatusPending, made.Status)
	assert.Empty(t, w.net.Calls())

	u := w.buyers(99)
	uploaded, err := w.driver.UploadUsers(t.Context(), w.conn, u)
	require.NoError(t, err)
	assert.Equal(t, 99, uploaded.Accepted)
	require.NotNil(t, uploaded.Audience.PlatformID)
	assert.Equal(t, advert.AudienceStatusTooSmall, uploaded.Audience.Status)

	u.Audience.PlatformID, u.Members = uploaded.Audience.PlatformID, w.buyers(100).Members
	uploaded, err = w.driver.UploadUsers(t.Context(), w.conn, u)
	require.NoError(t, err)
	assert.Equal(t, advert.AudienceStatusReady, uploaded.Audience.Status)
	assert.Equal(t, int64(100), *uploaded.Audience.Size, "nobody is in it twice")
}

func TestUploadUsers_SplitsMany(t *testing.T) {
	t.Parallel()
	w := newWorld("USD", nil)
	u := w.buyers(20_000)
	uploaded, err := w.driver.UploadUsers(t.Context(), w.conn, u)
	require.NoError(t, err)
	assert.Equal(t, int64(20_000), *uploaded.Audience.Size)
	assert.Equal(t, []string{"audiences/list", "customer_lists/create", "customer_lists/update", "audiences/create"}, w.net.Calls())
}

func TestUploadUsers_NamesWhomPinterestCannotKnow(t *testing.T) {
	t.Parallel()
	w := newWorld("USD", nil)
	u := w.buyers(2)
	u.Members[0].Kind = advert.IdentifierPhone
	uploaded, err := w.driver.UploadUsers(t.Context(), w.conn, u)
	require.NoError(t, err)
	assert.Equal(t, 1, uploaded.Accepted)
	require.Len(t, uploaded.Invalid, 1)
	assert.Zero(t, uploaded.Invalid[0].Place)

	u.Members = u.Members[:1]
	w.net.Forget()
	uploaded, err = w.driver.UploadUsers(t.Context(), w.conn, u)
	require.NoError(t, err)
	assert.Zero(t, uploaded.Accepted)
	assert.Empty(t, w.net.Calls())
}

func TestUploadUsers_OfUnknownOutcomeMakesNoSecondAudience(t *testing.T) {
	t.Parallel()
	for fault := range unknowns {
		for _, step := range []string{"customer_lists/create", "audiences/create"} {
			t.Run(fmt.Sprint(step, " ", fault), func(t *testing.T) {
				t.Parallel()
				w := newWorld("USD", nil)
				w.net.Break(step, 0, fault)
				_, err := w.driver.UploadUsers(t.Context(), w.conn, w.buyers(120))
				require.ErrorIs(t, err, ads.ErrIndeterminate)
				assert.Equal(t, 1, count(w.net.Calls(), step))
				uploaded, err := w.driver.UploadUsers(t.Context(), w.conn, w.buyers(120))
				require.NoError(t, err)
				assert.Equal(t, int64(120), *uploaded.Audience.Size)
				all, err := w.driver.Audiences(t.Context(), w.conn, w.account.ID)
				require.NoError(t, err)
				assert.Len(t, all, 1)
			})
		}
	}
}

func TestCreateAudience_OfUnknownOutcomeIsSettledByFind(t *testing.T) {
	t.Parallel()
	for fault, happened := range unknowns {
		t.Run(fmt.Sprint(fault), func(t *testing.T) {
			t.Parallel()
			w := newWorld("USD", nil)
			plan := ads.AudiencePlan{
				Token: token("v"), AdAccount: w.ad, Name: "Visitors", Description: "Who came", Type: advert.AudienceTypeRetargeting,
				PixelID: w.net.AddTag(w.account), RetentionDays: 180,
			}
			w.net.Break("audiences/create", 0, fault)
			_, err := w.driver.CreateAudience(t.Context(), w.conn, plan)
			require.ErrorIs(t, err, ads.ErrIndeterminate)
			found, ok, err := w.driver.Find(t.Context(), w.conn, w.account.ID, plan.Token)
			require.NoError(t, err)
			assert.Equal(t, happened, ok)
			if ok {
				assert.Equal(t, "Who came", found.Audience.Description)
				assert.Equal(t, 180, found.Audience.RetentionDays)
				assert.Equal(t, plan.PixelID, found.Audience.PixelID)
			}
		})
	}
}

func TestDeleteAudience_OfOneThatIsGoneIsNotFound(t *testing.T) {
	t.Parallel()
	w := newWorld("USD", nil)
	uploaded, err := w.driver.UploadUsers(t.Context(), w.conn, w.buyers(1))
	require.NoError(t, err)
	id := *uploaded.Audience.PlatformID
	require.NoError(t, w.driver.DeleteAudience(t.Context(), w.conn, w.account.ID, id))
	require.ErrorIs(t, w.driver.DeleteAudience(t.Context(), w.conn, w.account.ID, id), ads.ErrNotFound)
	_, err = w.driver.Audience(t.Context(), w.conn, w.account.ID, id)
	require.ErrorIs(t, err, ads.ErrNotFound)
}

// People leave a customer list by REMOVE: rule P13.
func TestRemoveUsers_LeaveTheList(t *testing.T) {
	t.Parallel()
	w := newWorld("USD", nil)
	u := w.buyers(150)
	uploaded, err := w.driver.UploadUsers(t.Context(), w.conn, u)
	require.NoError(t, err)
	u.Audience, u.Members = uploaded.Audience, append(u.Members[:30:30], advert.Member{Kind: advert.IdentifierPhone, Hash: u.Members[40].Hash})
	u.Audience.AdAccountID = w.account.ID
	for range 2 {
		left, err := w.driver.RemoveUsers(t.Context(), w.conn, u)
		require.NoError(t, err)
		assert.Equal(t, int64(120), *left.Size)
	}
	u.Members = u.Members[30:]
	w.net.Forget()
	_, err = w.driver.RemoveUsers(t.Context(), w.conn, u)
	require.NoError(t, err)
	assert.Zero(t, count(w.net.Calls(), "customer_lists/update"), "nobody is known by a phone number")
}
