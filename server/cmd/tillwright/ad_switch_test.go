package main

import (
	"context"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/sdk"
)

func TestAdsPause_SaysWhatBecameOfEach(t *testing.T) {
	t.Parallel()
	a := newAdvertiser(t, sdk.AdPlatformFacebook)
	first, second := a.campaign(t, "First"), a.campaign(t, "Second")
	p := a.run(t, "pause", first, "999", second, first)
	require.Equal(t, "1 of 4 failed", p.failure)
	require.Regexp(t, `(?m)^`+first+` +facebook +updated +paused +1 +`, p.out)
	require.Regexp(t, `(?m)^999 +- +failed +- +0 +No such campaign`, p.out)
	require.Regexp(t, `(?m)^`+first+` +facebook +skipped +[a-z]+ +0 +duplicate`, p.out)
	require.Equal(t, sdk.AdConfiguredStatusPaused, a.statusOf(t, second))
	p = a.run(t, "pause", first, "--json")
	require.Empty(t, p.failure, "what is paused stays so")
	var list struct{ Data []sdk.AdBulkItem }
	require.NoError(t, json.Unmarshal([]byte(p.out), &list))
	require.Equal(t, "unchanged", *list.Data[0].Reason)
	require.Contains(t, a.run(t, "pause", first, "--platform", "google").out, "No such campaign")
}

func TestAdsPause_TakesMoreThanOneRequestHolds(t *testing.T) {
	t.Parallel()
	a := newAdvertiser(t, sdk.AdPlatformFacebook)
	mine := a.campaign(t, "Last")
	ids := append(strings.Fields(strings.Repeat("999 ", maxSwitched)), mine)
	p := a.run(t, append([]string{"pause"}, ids...)...)
	require.Equal(t, "50 of 51 failed", p.failure)
	require.Equal(t, sdk.AdConfiguredStatusPaused, a.statusOf(t, mine))
}

func TestAdsResume_NeedsAYesWhereNobodyCanBeAsked(t *testing.T) {
	t.Parallel()
	a := newAdvertiser(t, sdk.AdPlatformFacebook)
	id := a.campaign(t, "Spring")
	require.Empty(t, a.run(t, "pause", id).failure)
	p := a.run(t, "resume", id)
	require.Contains(t, p.failure, "pass --yes")
	require.Empty(t, p.out)
	require.Equal(t, sdk.AdConfiguredStatusPaused, a.statusOf(t, id))

	p = a.run(t, "resume", id, "999", "--yes")
	require.Equal(t, "1 of 2 failed", p.failure)
	require.Regexp(t, `(?m)^`+id+` +facebook +updated +active +1 +`, p.out)
	require.Regexp(t, `Everything that is switched on might spend \d+\.\d\d USD a day then, \d+\.\d\d now\. The limit is 50000\.00\.`, p.notes)
	require.Equal(t, sdk.AdConfiguredStatusActive, a.statusOf(t, id))
}

// asked resumes campaigns as somebody who answers.
func (a *advertiser) asked(t *testing.T, answer string, ids ...string) (items []sdk.AdBulkItem, shown string, err error) {
	t.Helper()
	out := &safeText{}
	items, err = a.resume(t.Context(), campaignRefs(ids, ""), resumeOptions{}, &console{in: strings.NewReader(answer), out: out, answers: true})
	return items, out.String(), err
}

func TestAdsResume_AsksBeforeItSpends(t *testing.T) {
	t.Parallel()
	a := newAdvertiser(t, sdk.AdPlatformFacebook)
	first, second := a.campaign(t, "First"), a.campaign(t, "Second")
	require.Empty(t, a.run(t, "pause", first, second).failure)
	for _, no := range []string{"n\n", "\n", "", "nay, yes\n"} {
		_, shown, err := a.asked(t, no, first, second)
		require.EqualError(t, err, "nothing was resumed", no)
		require.Contains(t, shown, "Resume 2 campaigns? [y/N] ")
		require.Contains(t, shown, first+" on facebook would be resumed.\n"+second+" on facebook")
		require.Equal(t, sdk.AdConfiguredStatusPaused, a.statusOf(t, first))
	}
	for answer, id := range map[string]string{"y\n": first, " YES": second} {
		items, _, err := a.asked(t, answer, id)
		require.NoError(t, err)
		require.Equal(t, sdk.AdBulkItemOutcomeUpdated, items[0].Outcome)
		require.Equal(t, sdk.AdConfiguredStatusActive, a.statusOf(t, id))
	}
	_, shown, err := a.asked(t, "y\n", first)
	require.EqualError(t, err, "there is nothing to resume")
	require.Contains(t, shown, first+" would be skipped: it is as wanted already.")
	require.NotContains(t, shown, "[y/N]")
}

// TestAdsResume_SpendsNoMoreThanWasShown frees the limits while somebody reads.
func TestAdsResume_SpendsNoMoreThanWasShown(t *testing.T) {
	t.Parallel()
	a := newAdvertiser(t, sdk.AdPlatformFacebook)
	first, second := a.campaign(t, "First"), a.campaign(t, "Second")
	require.Empty(t, a.run(t, "pause", first, second).failure)
	plan, err := a.AdCampaigns.PlanBulkResume(t.Context(), &sdk.AdCampaignBulk{Campaigns: campaignRefs([]string{first}, "")})
	require.NoError(t, err)
	require.Empty(t, a.run(t, "limits", "--currency", "usd", "--total", plan.Figures[0].DailyTotal.String()).failure)
	answer, ask := io.Pipe()
	out := &safeText{}
	ended := make(chan error, 1)
	go func() {
		_, err := a.resume(t.Context(), campaignRefs([]string{first, second}, ""), resumeOptions{}, &console{in: answer, out: out, answers: true})
		ended <- err
	}()
	eventually(t, func() bool { return strings.Contains(out.String(), "Resume 1 campaign? [y/N]") }, out.String)
	require.Contains(t, out.String(), second+" would fail: ")
	require.Empty(t, a.run(t, "limits", "--currency", "usd", "--reset").failure)
	_, err = io.WriteString(ask, "y\n")
	require.NoError(t, err)
	require.NoError(t, <-ended)
	require.Equal(t, sdk.AdConfiguredStatusActive, a.statusOf(t, first))
	require.Equal(t, sdk.AdConfiguredStatusPaused, a.statusOf(t, second))
}

func TestConsole_CanBeInterrupted(t *testing.T) {
	t.Parallel()
	silent, closer := io.Pipe()
	defer closer.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	_, err := (&console{in: silent, out: io.Discard, answers: true}).agrees(ctx, "Wait?")
	require.EqualError(t, err, "interrupted")
}
