package ads_test

import (
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/ads/sandbox"
	"github.com/tillwright/tillwright/store/advert"
)

// slow is a network that takes its time for each stretch of the world's ad account.
type slow struct {
	*world
	mu    sync.Mutex
	each  time.Duration
	asked []string         // cursors
	fail  map[string]error // by cursor
}

func (w *world) slow(each time.Duration) *slow {
	s := &slow{world: w, each: each, fail: map[string]error{}}
	w.line.stretch = func(adAccount, cursor string) error {
		s.mu.Lock()
		defer s.mu.Unlock()
		if adAccount != w.account.PlatformID {
			return nil
		}
		s.asked = append(s.asked, cursor)
		w.advance.Add(int64(s.each))
		return s.fail[cursor]
	}
	return s
}

// round lets the turn of the ad account come once more, and returns the cursors that its network was asked for.
func (s *slow) round() []string {
	s.t.Helper()
	s.asked = nil
	s.advance.Add(int64(16 * time.Minute))
	for range 5 { // a slow one takes the turns of the others
		if _ = s.SyncDue(s.t.Context()); len(s.asked) > 0 {
			break
		}
	}
	return s.asked
}

func TestSync_GoesOnWhereTheLastRoundStopped(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		list, err := w.Service.ListCampaigns(t.Context(), w.by.Account, ads.ListCampaigns{AdAccountID: w.account.PlatformID})
		require.NoError(t, err)
		require.Len(t, list.Items, 3)
		deleted := list.Items[0].Row.PlatformID
		manager := sandbox.New(w.Advert, advert.PlatformFacebook, sandbox.Options{})
		conn := ads.Conn{Account: w.by.Account, Channel: w.channel.ID, Platform: advert.PlatformFacebook, Now: func() time.Time { return w.Store.Now().Time() }}
		require.NoError(t, manager.Manage(t.Context(), conn, ads.Ref{AdAccount: w.account.PlatformID, Level: advert.LevelCampaign, ID: deleted}, sandbox.Edit{Delete: true}))
		statusOf := func(id string) advert.Status {
			c, err := w.Advert.GetCampaign(t.Context(), w.by.Account, advert.PlatformFacebook, id)
			require.NoError(t, err)
			return c.Status
		}

		s := w.slow(3 * time.Minute)
		assert.Equal(t, []string{"", "1"}, s.round())
		assert.NotEqual(t, advert.StatusCancelled, statusOf(deleted), "the walk is not over")
		made := w.create(w.ad()).Row.CampaignID
		assert.Equal(t, []string{"2", "3"}, s.round())
		assert.Equal(t, advert.StatusCancelled, statusOf(deleted), "the whole of it did not mention this")
		assert.NotEqual(t, advert.StatusCancelled, statusOf(made))
		assert.NotEqual(t, advert.StatusCancelled, statusOf(list.Items[1].Row.PlatformID), "which the first round saw")
		assert.Equal(t, []string{"", "1"}, s.round(), "then there is a new one")
	})
}

func TestSync_BeginsAnewWhereACursorIsOfNoUse(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		s := w.slow(3 * time.Minute)
		assert.Equal(t, []string{"", "1"}, s.round())
		s.fail["2"] = &ads.RateLimited{After: time.Second}
		assert.Equal(t, []string{"2"}, s.round())
		s.fail["2"] = &ads.Rejected{Message: "This cursor has expired."}
		assert.Equal(t, []string{"2"}, s.round(), "a limit passes")
		assert.Equal(t, []string{"", "1"}, s.round())
		w.advance.Add(int64(25 * time.Hour))
		assert.Equal(t, []string{"", "1"}, s.round(), "too much has changed meanwhile")
		delete(s.fail, "2")
		s.each = time.Second
		assert.Equal(t, []string{"2", "3"}, s.round())
		assert.Equal(t, []string{"", "1", "2", "3"}, s.round())
	})
}
