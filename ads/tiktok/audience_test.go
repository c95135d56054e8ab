package tiktok_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/tests/harness/tiktokfake"
)

func (w *world) buyers() advert.Audience {
	return advert.Audience{ID: "aud_" + strings.Repeat("1", 26), AdAccountID: w.account.ID, Name: "Buyers", Description: "Who bought"}
}

func TestUploadUsers_MakesOneListHoweverOftenAnAnswerIsLost(t *testing.T) {
	t.Parallel()
	for _, step := range []string{
		"POST dmp/custom_audience/file/upload", "POST dmp/custom_audience/create", "POST dmp/custom_audience/update", "GET dmp/custom_audience/get", "GET dmp/custom_audience/list",
	} {
		for _, kind := range []tiktokfake.FaultKind{tiktokfake.FaultCutBefore, tiktokfake.FaultCutAfter, tiktokfake.FaultSystemDone, tiktokfake.FaultGarbage} {
			w := newWorld(nil)
			list, all := w.buyers(), people(6)
			for _, some := range [][]advert.Member{all[:3], all[3:]} {
				w.net.BreakAlways(step, kind)
				_, err := w.driver.UploadUsers(t.Context(), w.conn, ads.Upload{Audience: list, Members: some})
				w.net.Heal()
				if err != nil {
					_, err = w.driver.UploadUsers(t.Context(), w.conn, ads.Upload{Audience: list, Members: some})
				}
				require.NoError(t, err, "%s %s", step, kind)
			}
			rows, err := w.driver.Audiences(t.Context(), w.conn, w.account.ID)
			require.NoError(t, err)
			require.Len(t, rows, 1, "%s %s", step, kind)
			assert.Len(t, w.net.People(w.account, *rows[0].PlatformID), 6)
			assert.Empty(t, w.net.Refused())
		}
	}
}

func TestUploadUsers_TakesOneKindOfIdentifier(t *testing.T) {
	t.Parallel()
	w := newWorld(nil)
	both := people(4)
	both[1].Kind, both[3].Kind = advert.IdentifierPhone, advert.IdentifierPhone
	uploaded, err := w.driver.UploadUsers(t.Context(), w.conn, ads.Upload{Audience: w.buyers(), Members: both})
	require.NoError(t, err)
	assert.Equal(t, 2, uploaded.Accepted)
	require.Len(t, uploaded.Invalid, 2)
	assert.Equal(t, 1, uploaded.Invalid[0].Place)
	list := uploaded.Audience
	list.AdAccountID, list.ID = w.account.ID, w.buyers().ID
	assert.Equal(t, advert.AudienceStatusProcessing, list.Status)
	removed, err := w.driver.RemoveUsers(t.Context(), w.conn, ads.Upload{Audience: list, Members: both[:1]})
	require.NoError(t, err)
	assert.Equal(t, []string{both[2].Hash}, w.net.People(w.account, *removed.PlatformID))
	w.net.Settle(w.account, *list.PlatformID, 1200)
	row, err := w.driver.Audience(t.Context(), w.conn, w.account.ID, *list.PlatformID)
	require.NoError(t, err)
	assert.Equal(t, []any{advert.AudienceStatusReady, int64(1200)}, []any{row.Status, *row.Size})
	assert.Empty(t, w.net.Refused())
}

func TestCreateAudience_SaysHowManyAreAlike(t *testing.T) {
	t.Parallel()
	w := newWorld(nil)
	uploaded, err := w.driver.UploadUsers(t.Context(), w.conn, ads.Upload{Audience: w.buyers(), Members: people(2)})
	require.NoError(t, err)
	plan := ads.AudiencePlan{
		Token: token("alike"), AdAccount: w.ad, Name: "Alike", Type: advert.AudienceTypeLookalike, SourceID: *uploaded.Audience.PlatformID, Country: "us",
	}
	for share, want := range map[advert.Ratio]advert.Ratio{1: 3, 3: 3, 4: 8, 9: 20, 20: 20} {
		plan.Ratio = share * advert.RatioOne / 100
		row, err := w.driver.CreateAudience(t.Context(), w.conn, plan)
		require.NoError(t, err)
		assert.Equal(t, []any{want * advert.RatioOne / 100, "us", "Alike"}, []any{row.Ratio, row.Country, row.Name})
	}
	plan.Ratio = 21 * advert.RatioOne / 100
	_, err = w.driver.CreateAudience(t.Context(), w.conn, plan)
	rejection(t, err, "ratio")
	plan.Country = "aq"
	_, err = w.driver.CreateAudience(t.Context(), w.conn, plan)
	rejection(t, err, "country")
}

func TestSendConversions_TellsWhichOneIsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(nil)
	id, _ := w.net.AddPixel(w.account, "Shop")
	nobody := happened()
	nobody.User = advert.ConversionUser{}
	batch := ads.ConversionBatch{AdAccount: w.account.ID, PixelID: id, Events: []advert.ConversionEvent{happened(), nobody, happened()}}
	results, err := w.driver.SendConversions(t.Context(), w.conn, batch)
	require.NoError(t, err)
	require.Len(t, results, 3)
	assert.NoError(t, results[0])
	rejection(t, results[1], "")
	assert.NoError(t, results[2])
	assert.Len(t, w.net.Events(), 2)
	batch.PixelID = "404"
	_, err = w.driver.SendConversions(t.Context(), w.conn, batch)
	require.ErrorIs(t, err, ads.ErrNotFound)
	batch.PixelID, batch.Token = id, "another_SECRET"
	_, err = w.driver.SendConversions(t.Context(), w.conn, batch)
	require.ErrorIs(t, err, ads.ErrUnauthorized)
}
