package ads_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/store/core"
)

func TestRemoveAudienceUsers_CountsUsers(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		a := w.audience("customer_list")
		_, err := w.UploadAudienceUsers(t.Context(), w.by, a.ID, people(300))
		require.NoError(t, err)
		users := append(people(200), ads.User{Email: "USER0@example.com "}, ads.User{}, ads.User{Email: "stranger@example.com", City: "Rome"})
		result, err := w.RemoveAudienceUsers(t.Context(), w.by, a.ID, users)
		require.NoError(t, err)
		assert.Equal(t, []int{203, 200, 1, 1, 1}, []int{result.Received, result.Removed, result.NotFound, result.Invalid, result.Duplicates})
		assert.Equal(t, []string{"city"}, result.Ignored)
		assert.Equal(t, 201, result.Errors[0].Index)

		again, err := w.RemoveAudienceUsers(t.Context(), w.by, a.ID, people(200))
		require.NoError(t, err)
		assert.Equal(t, []int{0, 200}, []int{again.Removed, again.NotFound})
		shown, err := w.Service.GetAudience(t.Context(), w.by.Account, a.ID)
		require.NoError(t, err)
		require.NotNil(t, shown.Size)
		assert.InDelta(t, 60, *shown.Size, 30, "six of ten of the hundred who are left")

		back, err := w.UploadAudienceUsers(t.Context(), w.by, a.ID, people(300))
		require.NoError(t, err)
		assert.Equal(t, []int{200, 100}, []int{back.Accepted, back.Duplicates}, "who has left can come back")
	})
}

func TestRemoveAudienceUsers_SaysWhatIsWrong(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		a := w.audience("customer_list")
		remove := func(id string, users []ads.User) error {
			_, err := w.RemoveAudienceUsers(t.Context(), w.by, id, users)
			return err
		}
		refused(t, remove("aud_1", people(1)), core.CodeMissing, "")
		refused(t, remove(a.ID, []ads.User{}), core.CodeInvalid, "users")
		refused(t, remove(a.ID, people(10_001)), core.CodeInvalid, "users")
		refused(t, remove(a.ID, make([]ads.User, 5)), core.CodeInvalid, "users")
		refused(t, remove(w.audience("retargeting").ID, people(1)), core.CodeInvalid, "type")
		w.channel = w.activate(advert.PlatformLinkedIn)
		w.account = w.adAccount(w.channel)
		refused(t, remove(w.audience("customer_list").ID, people(1)), core.CodeInvalid, "users")
		assert.Zero(t, w.line.of("RemoveUsers"))
	})
}

// A removal of which nothing was heard is sent again by the reconciler, from the hashes that its action holds.
func TestReconcile_RepeatsARemoval(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		a := w.audience("customer_list")
		_, err := w.UploadAudienceUsers(t.Context(), w.by, a.ID, people(3))
		require.NoError(t, err)
		w.line.say("RemoveUsers", ads.ErrIndeterminate)
		_, err = w.RemoveAudienceUsers(t.Context(), w.by, a.ID, people(2))
		unknown(t, err)
		w.line.say("", nil)
		w.due()
		require.NoError(t, w.Reconcile(t.Context()))
		assert.Equal(t, advert.ActionDone, w.actions()[0].State)
		again, err := w.UploadAudienceUsers(t.Context(), w.by, a.ID, people(3))
		require.NoError(t, err)
		assert.Equal(t, []int{2, 1}, []int{again.Accepted, again.Duplicates})
	})
}
