package ads_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/store/core"
)

const (
	clip     = "https://shop.example/a.mp4"
	slowClip = "https://shop.example/[slow].mp4"
)

// film is a good ad with a video.
func (w *world) film(address string) ads.CreateAd {
	in := w.ad()
	in.Creative.ImageURL, in.Creative.VideoURL = "", address
	return in
}

func (w *world) filmUnder(key string, in ads.CreateAd) error {
	_, _, err := w.request(key, func(ctx context.Context) (any, error) { return w.CreateAd(ctx, w.by, in) })
	return err
}

func TestCreateAd_GoesOnWithTheUploadOfItsKey(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		err := w.filmUnder("k", w.film(slowClip))
		waits := refused(t, err, core.CodeMedia, "")
		assert.Equal(t, core.Unknown, waits.Outcome, "the key stays with the upload")
		assert.Positive(t, waits.After)
		require.NoError(t, w.Reconcile(t.Context()))
		assert.Equal(t, advert.ActionUnknown, w.actions()[0].State, "the reconciler leaves it to the caller")
		assert.Equal(t, 0, w.line.of("Create"))
		w.advance.Add(int64(2 * time.Minute))
		require.NoError(t, w.filmUnder("k", w.film(slowClip)))
		require.NoError(t, w.filmUnder("k", w.film(slowClip)))
		assert.Equal(t, 1, w.line.of("UploadVideo"))
		assert.Equal(t, 1, w.line.of("Create"))
		assert.Equal(t, 0, w.line.of("Find"), "it was known that nothing had been asked for")
		require.Len(t, w.native(), 1)
		assert.Equal(t, slowClip, w.native()[0].Row.Creative.V.VideoURL)
	})
}

func TestCreateAd_SetsNothingAsideForAVideoThatNobodyCanGoOnWith(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		before := w.seeded()
		for range 2 {
			_, err := w.CreateAd(t.Context(), w.by, w.film(slowClip))
			answer := refused(t, err, core.CodeMedia, "")
			assert.Contains(t, answer.Message, "with an Idempotency-Key")
			assert.Equal(t, core.Refused, answer.Outcome)
			assert.Equal(t, advert.ActionRefused, w.actions()[0].State)
			assert.Equal(t, before, w.seeded())
		}
		assert.Equal(t, 0, w.line.of("Create"))
	})
}

// What a caller waited for who does not come back is given up. The money that was set aside for it is free again.
func TestReconcile_GivesUpAVideoThatNobodyWaitsFor(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		before := w.seeded()
		refused(t, w.filmUnder("k", w.film(slowClip)), core.CodeMedia, "")
		assert.Equal(t, before+20, w.seeded())
		w.due()
		require.NoError(t, w.Reconcile(t.Context()))
		assert.Equal(t, advert.ActionRefused, w.actions()[0].State)
		assert.Equal(t, before, w.seeded())
		assert.Equal(t, 0, w.line.of("Create"))
	})
}

func TestCreateAd_WithAVideoIsMadeOnceThoughItsAnswerGotLost(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		joins := w.film(clip)
		one := w.create(w.ad()).Row
		joins.AdGroupID, joins.Goal, joins.BudgetAmount, joins.BudgetType = one.AdGroupID, "", "", ""
		for key, in := range map[string]ads.CreateAd{"whole": w.film(clip), "joins": joins} {
			made := len(w.native())
			w.line.lose.Store(true)
			unknown(t, w.filmUnder(key, in))
			w.line.lose.Store(false)
			require.NoError(t, w.filmUnder(key, in))
			assert.Len(t, w.native(), made+1, key)
		}
		assert.Equal(t, 2, w.line.of("UploadVideo"), "the video is not brought twice")
	})
}

func TestCreateAd_OfAVideoThatCannotBeBroughtChangesNothing(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		for name, failure := range map[string]error{"lost": ads.ErrIndeterminate, "down": ads.ErrUnavailable} {
			w.line.say("UploadVideo", failure)
			var e *core.Error
			require.ErrorAs(t, w.filmUnder(name, w.film(clip)), &e)
			assert.Equal(t, core.Refused, e.Outcome, "the key is free again")
			assert.Equal(t, advert.ActionRefused, w.actions()[0].State)
		}
		w.line.say("VideoReady", &ads.Rejected{Field: "video_url", Message: "It is a picture."})
		refused(t, w.filmUnder("bad", w.film(clip)), core.CodeInvalid, "video_url")
		w.line.say("VideoReady", &ads.RateLimited{After: time.Minute})
		assert.Equal(t, time.Minute, refused(t, w.filmUnder("limited", w.film(clip)), core.CodeMedia, "").After)
		w.line.say("", nil)
		require.NoError(t, w.filmUnder("limited", w.film(clip)))
		require.NoError(t, w.filmUnder("lost", w.film(clip)))
	})
}

func TestCreateAd_MakesSeveralOrNone(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		in := w.ad()
		one := in.Creative
		in.Creative = advert.Creative{}
		for _, name := range []string{"First", "Second"} {
			one.Headline = name
			in.Creatives = append(in.Creatives, ads.NamedCreative{Name: name, Creative: one})
		}
		w.line.lose.Store(true)
		unknown(t, w.filmUnder("k", in))
		w.line.lose.Store(false)
		w.due()
		require.NoError(t, w.Reconcile(t.Context()))
		require.Equal(t, advert.ActionDone, w.actions()[0].State)
		var out *ads.AdOutcome
		_, _, err := w.request("k", func(ctx context.Context) (any, error) {
			var err error
			out, err = w.CreateAd(ctx, w.by, in)
			return nil, err
		})
		require.NoError(t, err)
		require.Len(t, out.Ads, 2)
		for i, name := range []string{"First", "Second"} {
			assert.Equal(t, name, out.Ads[i].Row.Name)
			assert.Equal(t, name, out.Ads[i].Row.Creative.V.Headline)
			assert.Equal(t, advert.SourceNative, out.Ads[i].Row.Source)
		}
		assert.Len(t, w.native(), 2)
		assert.Equal(t, 1, w.line.of("Create"))
	})
}

func TestUpdateAd_SwapsItsCreative(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		ad := w.create(w.ad()).Row
		next := w.film(slowClip).Creative
		swap := func(ctx context.Context) (any, error) {
			return w.UpdateAd(ctx, w.by, ad.PlatformID, ads.UpdateAd{Creative: &next})
		}
		_, _, err := w.request("swap", swap)
		refused(t, err, core.CodeMedia, "")
		_, err = w.UpdateAdGroup(t.Context(), w.by, ad.AdGroupID, budget("21", "daily"))
		require.NoError(t, err, "a video that is waited for keeps no budget")
		w.advance.Add(int64(2 * time.Minute))
		w.line.lose.Store(true)
		_, _, err = w.request("swap", swap)
		unknown(t, err)
		w.line.lose.Store(false)
		w.due()
		require.NoError(t, w.Reconcile(t.Context()))
		assert.Equal(t, advert.ActionDone, w.actions()[1].State, "the network shows it")
		is, err := w.GetAd(t.Context(), w.by.Account, ad.PlatformID, ads.GetAdObject{})
		require.NoError(t, err)
		assert.Equal(t, next, is.Row.Creative.V)
		assert.Equal(t, 1, w.line.of("UploadVideo"))

		next.Headline, next.VideoURL = "Never seen", clip
		w.line.say("Update", ads.ErrIndeterminate)
		_, _, err = w.request("lost", swap)
		unknown(t, err)
		w.line.say("", nil)
		w.giveUp()
		assert.Equal(t, advert.ActionRefused, w.actions()[0].State, "the network shows what it did before")
	})
}

func TestUpdateAd_ChecksItsCreative(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		ad := w.create(w.ad()).Row
		_, err := w.UpdateAd(t.Context(), w.by, ad.PlatformID, ads.UpdateAd{Creative: &advert.Creative{Body: "x"}})
		var e *core.Error
		require.ErrorAs(t, err, &e)
		assert.Contains(t, e.Fields, "creative.headline")
		assert.Contains(t, e.Fields, "creative.image_url")
	})
}
