package ads_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/store/core"
)

func TestCreateAd_ResumesByItsToken(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.line.lose.Store(true)
		_, err := w.keyed("k1")
		unknown(t, err)
		w.line.lose.Store(false)
		_, err = w.keyed("k1")
		require.NoError(t, err)
		assert.Equal(t, 1, w.line.of("Create"), "what was made is found, not made again")
		assert.Equal(t, 1, w.line.of("Find"))
		assert.Len(t, w.native(), 1)
		assert.Len(t, w.actions(), 1)
	})
}

func TestCreateAd_IsMadeOnceProvenThatItWasNot(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.line.say("Create", fmt.Errorf("line: %w", ads.ErrIndeterminate))
		_, err := w.keyed("k1")
		unknown(t, err)
		w.line.say("Find", errors.New("down"))
		_, err = w.keyed("k1")
		unknown(t, err)
		assert.Equal(t, 1, w.line.of("Create"), "nobody knows, so nobody creates")
		w.line.say("", nil)
		_, err = w.keyed("k1")
		require.NoError(t, err)
		assert.Equal(t, 2, w.line.of("Create"))
		assert.Len(t, w.native(), 1)
	})
}

func TestCreateAd_ProcessEndsBetweenTheNetworkAndTheAnswer(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.line.die.Store(true)
		assert.PanicsWithValue(t, "the process ends", func() { _, _ = w.keyed("k1") })
		w.line.die.Store(false)
		assert.Equal(t, advert.ActionBegun, w.actions()[0].State)
		assert.Equal(t, 20*advert.AmountUnit, w.actions()[0].Daily, "it counts as spent")

		_, err := w.keyed("k1")
		assert.Equal(t, core.Unknown, refused(t, err, core.CodeInProgress, "Idempotency-Key").Outcome)
		require.NoError(t, w.Reconcile(t.Context()))
		assert.Zero(t, w.line.of("Find"), "whoever began may still be at it")

		w.due()
		_, err = w.keyed("k1")
		require.NoError(t, err)
		assert.Equal(t, 1, w.line.of("Create"))
		assert.Len(t, w.native(), 1)
	})
}

func TestCreateAd_JoinsOnceWhileTheFirstTimeMayBeOnItsWay(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		home := w.create(w.ad()).Row
		in := w.ad()
		in.AdGroupID, in.Goal, in.BudgetAmount, in.BudgetType = home.AdGroupID, "", "", ""
		join := func() error {
			_, _, err := w.request("k1", func(ctx context.Context) (any, error) { return w.CreateAd(ctx, w.by, in) })
			return err
		}
		w.line.late.Store(true)
		unknown(t, join())
		unknown(t, join())
		w.due()
		require.NoError(t, w.Reconcile(t.Context()))
		assert.Equal(t, 2, w.line.of("Create"), "nothing is sent again that may be on its way")
		w.line.arrive()
		require.NoError(t, join())
		assert.Equal(t, 2, w.line.of("Create"))
		assert.Len(t, w.native(), 2)

		w.line.say("Create", ads.ErrIndeterminate)
		again := func() error {
			_, _, err := w.request("k2", func(ctx context.Context) (any, error) { return w.CreateAd(ctx, w.by, in) })
			return err
		}
		unknown(t, again())
		w.line.say("", nil)
		w.advance.Add(int64(2 * time.Minute))
		require.NoError(t, again(), "nothing can be on its way any more")
		assert.Len(t, w.native(), 3)
	})
}

func TestCreateAd_NetworkSaysNo(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.line.say("Create", &ads.RateLimited{After: 7 * time.Second})
		_, err := w.keyed("k1")
		e := refused(t, err, core.CodeRateLimit, "platform")
		assert.Equal(t, 7*time.Second, e.After)
		assert.Equal(t, advert.ActionRefused, w.actions()[0].State)

		w.line.say("Create", &ads.Rejected{Message: "Your ad breaks our rules.", Raw: "1885183"})
		_, err = w.keyed("k1")
		e = refused(t, err, core.CodeInvalid, "platform")
		assert.Contains(t, e.Fields["platform"][0], "Your ad breaks our rules.")

		w.line.say("Create", ads.ErrUnavailable)
		_, err = w.keyed("k1")
		require.ErrorAs(t, err, &e)
		assert.EqualValues(t, "api_error", e.Code)

		w.line.say("", nil)
		_, err = w.keyed("k1")
		require.NoError(t, err, "each refusal freed the key")
		assert.Zero(t, w.line.of("Find"))
		assert.Len(t, w.native(), 1)
		assert.Len(t, w.actions(), 4)

		w.line.say("Create", ads.ErrUnauthorized)
		_, err = w.CreateAd(t.Context(), w.by, w.ad())
		refused(t, err, core.CodeNotActivated, "account_id")
		channel, err := w.Advert.GetSocialAccount(t.Context(), w.by.Account, w.channel.ID)
		require.NoError(t, err)
		assert.Equal(t, advert.AdsStatusError, channel.AdsStatus)
	})
}
