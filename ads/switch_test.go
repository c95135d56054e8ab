package ads_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/store/core"
)

// between makes a pause take place while a network switches on, which is what it does last. The pause is not stored
// before what was switched on is.
func (w *world) between(pause, resume func() error) {
	w.t.Helper()
	turnedOff, settledOn, paused := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	w.line.switching = func(to advert.Configured, done bool) {
		switch {
		case to == advert.ConfiguredActive && !done:
			go func() { paused <- pause() }()
			<-turnedOff
		case to == advert.ConfiguredPaused && done:
			close(turnedOff)
			<-settledOn
		}
	}
	require.NoError(w.t, resume())
	close(settledOn)
	require.NoError(w.t, <-paused)
	w.line.switching = nil
}

func TestPause_KnowsWhatTheNetworkDidLast(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		ad := w.create(w.ad()).Row
		on := w.seeded()
		for name, turn := range w.turns(ad) {
			require.NoError(t, turn.pause())
			assert.Equal(t, on-20, w.seeded(), name)
			for _, silent := range []error{nil, ads.ErrUnavailable} {
				w.line.say("Report", silent)
				w.between(turn.pause, turn.resume)
				w.line.say("", nil)
				assert.Equal(t, on, w.seeded(), name)
				require.NoError(t, turn.pause())
			}
			w.between(turn.pause, func() error {
				w.line.lose.Store(true)
				_ = turn.resume() // its outcome is not known
				w.line.lose.Store(false)
				return nil
			})
			assert.Equal(t, on, w.seeded(), name+": what is not known counts once")
			w.giveUp()
			w.spends(on, name)
		}
	})
}

func TestUpdate_LeavesWhatTheNetworkHasWhenManyChangeAtOnce(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		ad := w.create(w.ad()).Row
		done := make(chan error, 12)
		for i := range cap(done) {
			go func() {
				_, err := w.UpdateAdGroup(t.Context(), w.by, ad.AdGroupID, budget([]string{"21", "22", "23"}[i%3], "daily"))
				done <- err
			}()
		}
		for range cap(done) {
			if err := <-done; err != nil {
				refused(t, err, core.CodeInProgress, "")
			}
		}
		mirrored := w.seeded()
		w.advance.Store(int64(time.Hour))
		require.NoError(t, w.SyncDue(t.Context()))
		assert.Equal(t, mirrored, w.seeded())
	})
}
