package ads_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/store/customer"
)

// erase makes customers of addresses and deletes them.
func (w *world) erase(emails ...string) {
	w.t.Helper()
	for _, email := range emails {
		c := customer.Customer{Phone: new("+1 (555) 123-4567")}
		c.SetEmail(email)
		made, err := w.Customer.Create(w.t.Context(), w.by.Account, c)
		require.NoError(w.t, err)
		_, err = w.DeleteCustomer(w.t.Context(), w.by.Account, made.ID, false)
		require.NoError(w.t, err)
	}
}

// upload uploads people to a new audience.
func (w *world) upload(users []ads.User) *advert.Audience {
	w.t.Helper()
	a := w.audience("customer_list")
	_, err := w.UploadAudienceUsers(w.t.Context(), w.by, a.ID, users)
	require.NoError(w.t, err)
	return a
}

// newcomers returns how many of some people an audience did not have.
func (w *world) newcomers(a *advert.Audience, users []ads.User) int {
	w.t.Helper()
	result, err := w.UploadAudienceUsers(w.t.Context(), w.by, a.ID, users)
	require.NoError(w.t, err)
	return result.Accepted
}

func TestEraseDue_TakesWhoWasDeletedOutOfEveryAudience(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		a, b := w.upload(people(5)), w.upload([]ads.User{{Email: "user1@example.com", Phone: "+15551234567"}, {Email: "other@example.com"}})
		other := w.elsewhere(people(5))
		w.erase("User1@Example.com", "user2@example.com", "nobody@example.com")
		assert.Zero(t, w.erasedOf(other), "another account has its own customers")
		assert.Equal(t, 2, w.erasedOf(w.by))
		var replicas sync.WaitGroup
		for range 4 {
			replicas.Go(func() { assert.NoError(t, w.EraseDue(context.WithoutCancel(t.Context()))) })
		}
		replicas.Wait()
		require.NoError(t, w.EraseDue(t.Context()))
		assert.Equal(t, 2, w.line.of("RemoveUsers"), "each audience once")
		assert.Len(t, w.line.left, 4, "two addresses; an address and a number")
		for i, action := range w.actions()[:2] {
			assert.Equal(t, []any{advert.OpRemoveAudience, advert.ActionDone, "", ""}, []any{action.Op, action.State, action.Actor, action.RequestID}, i)
			assert.Contains(t, string(action.Plan), "customer_deleted")
			assert.NotContains(t, string(action.Plan)+string(action.After), advert.HashOf("user1@example.com"))
		}
		assert.Equal(t, 2, w.newcomers(a, people(5)), "who comes back is new")
		assert.Equal(t, 1, w.newcomers(b, []ads.User{{Email: "user1@example.com", Phone: "+15551234567"}, {Email: "other@example.com"}}))
	})
}

// elsewhere is another account that uploaded the same people.
func (w *world) elsewhere(users []ads.User) ads.Actor {
	w.t.Helper()
	by, mine, channel, account := w.newAccount("Somebody else's shop"), w.by, w.channel, w.account
	w.by = by
	w.channel = w.activate(advert.PlatformFacebook)
	w.account = w.adAccount(w.channel)
	w.upload(users)
	w.by, w.channel, w.account = mine, channel, account
	return by
}

// erasedOf returns how many audiences of an account somebody is to leave.
func (w *world) erasedOf(by ads.Actor) (n int) {
	w.t.Helper()
	due, err := w.Advert.DueErasures(w.t.Context(), 100)
	require.NoError(w.t, err)
	for _, one := range due {
		if one.AccountID == by.Account {
			n++
		}
	}
	return n
}

func TestEraseDue_IsNotedWithTheDeletionAlone(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.upload(people(2))
		_, _, err := w.request("k1", func(ctx context.Context) (any, error) {
			c := customer.Customer{}
			c.SetEmail("user1@example.com")
			made, err := w.Customer.Create(ctx, w.by.Account, c)
			require.NoError(t, err)
			_, err = w.DeleteCustomer(ctx, w.by.Account, made.ID, false)
			require.NoError(t, err)
			return nil, assert.AnError
		})
		require.Error(t, err)
		assert.Zero(t, w.erasedOf(w.by), "what was rolled back did not happen")
	})
}

func TestEraseDue_RepeatsALostAnswer(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		a := w.upload(people(3))
		w.erase("user1@example.com")
		w.line.say("RemoveUsers", ads.ErrIndeterminate)
		require.Error(t, w.EraseDue(t.Context()), "the log says so")
		w.advance.Add(int64(time.Hour))
		require.NoError(t, w.EraseDue(t.Context()))
		assert.Equal(t, 1, w.line.of("RemoveUsers"), "the reconciler is at work on it")
		w.line.say("", nil)
		w.due()
		require.NoError(t, w.Reconcile(t.Context()))
		assert.Equal(t, advert.ActionDone, w.actions()[0].State)
		assert.Zero(t, w.erasedOf(w.by))
		assert.Equal(t, 1, w.newcomers(a, people(3)))
	})
}

// A process that ends after it has claimed people leaves an action that the reconciler takes up.
func TestEraseDue_SurvivesTheProcess(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		a := w.upload(people(3))
		w.erase("user1@example.com")
		w.line.die.Store(true)
		assert.Panics(t, func() { _ = w.EraseDue(t.Context()) })
		w.line.die.Store(false)
		w.due()
		require.NoError(t, w.Reconcile(t.Context()))
		assert.Equal(t, advert.ActionDone, w.actions()[0].State)
		assert.Equal(t, 1, w.newcomers(a, people(3)))
	})
}

// Who is being uploaded at this moment leaves once that is over.
func TestEraseDue_ComesAfterAnUploadUnderWay(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		a := w.audience("customer_list")
		w.line.lose.Store(true)
		_, err := w.UploadAudienceUsers(t.Context(), w.by, a.ID, people(3))
		unknown(t, err)
		w.line.lose.Store(false)
		w.erase("user1@example.com")
		require.NoError(t, w.EraseDue(t.Context()))
		assert.Zero(t, w.line.of("RemoveUsers"))
		w.due()
		require.NoError(t, w.Reconcile(t.Context()))
		require.NoError(t, w.EraseDue(t.Context()))
		assert.Equal(t, 1, w.line.of("RemoveUsers"))
		assert.Equal(t, 1, w.newcomers(a, people(3)))
	})
}

func TestEraseDue_TellsAgainWhatWasRefusedAndGivesUpAfterAWeek(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.upload(people(3))
		w.erase("user1@example.com")
		w.line.say("RemoveUsers", &ads.RateLimited{})
		tries := 0
		for day := 0; day < 9; day++ {
			require.NoError(t, w.EraseDue(t.Context()))
			require.NoError(t, w.EraseDue(t.Context()), "not at once")
			if w.line.of("RemoveUsers") == tries {
				break
			}
			tries = w.line.of("RemoveUsers")
			w.advance.Add(int64(25 * time.Hour))
		}
		assert.Equal(t, 8, tries)
		last := w.actions()[0]
		assert.Equal(t, advert.ActionRefused, last.State)
		assert.Contains(t, last.Failure.V.Message, "facebook keeps its own")
	})
}

func TestEraseDue_SaysWhatANetworkKeeps(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.channel = w.activate(advert.PlatformLinkedIn)
		w.account = w.adAccount(w.channel)
		a := w.upload(people(3))
		w.erase("user1@example.com")
		require.NoError(t, w.EraseDue(t.Context()))
		assert.Zero(t, w.line.of("RemoveUsers"))
		last := w.actions()[0]
		assert.Equal(t, advert.ActionRefused, last.State)
		assert.Contains(t, last.Failure.V.Message, "linkedin removes nobody from a customer list.")
		assert.Equal(t, 1, w.newcomers(a, people(3)), "the hash is deleted here")
	})
}

func TestEraseDue_WaitsForAChannelForAWeek(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		a := w.upload(people(3))
		w.erase("user1@example.com")
		_, err := w.Service.DeactivateSocialAccount(t.Context(), w.by.Account, w.channel.ID)
		require.NoError(t, err)
		before := len(w.actions())
		for range 6 {
			require.NoError(t, w.EraseDue(t.Context()))
			w.advance.Add(int64(24 * time.Hour))
		}
		assert.Len(t, w.actions(), before, "there is nothing to tell")
		_, err = w.Service.ActivateSocialAccount(t.Context(), w.by.Account, w.channel.ID)
		require.NoError(t, err)
		w.erase("user2@example.com")
		require.NoError(t, w.EraseDue(t.Context()))
		assert.Equal(t, 2, w.newcomers(a, people(3)))

		w.erase("user0@example.com")
		_, err = w.Service.DeactivateSocialAccount(t.Context(), w.by.Account, w.channel.ID)
		require.NoError(t, err)
		w.advance.Add(int64(8 * 24 * time.Hour))
		require.NoError(t, w.EraseDue(t.Context()))
		assert.Contains(t, w.actions()[0].Failure.V.Message, "could not be used for 7 days")
		assert.Zero(t, w.erasedOf(w.by))
	})
}
