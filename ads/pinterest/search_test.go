package pinterest_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/ads"
)

func TestSearchTargeting_LooksThroughTheNetworksLists(t *testing.T) {
	t.Parallel()
	w := newWorld("USD", nil)
	for q, wants := range map[ads.Search][]ads.TargetingOption{
		{Type: ads.SearchCountry, Text: "UNITED"}: {{ID: "GB", Name: "United Kingdom", Country: "GB"}, {ID: "US", Name: "United States", Country: "US"}},
		{Type: ads.SearchMetro, Text: "ren"}:      {{ID: "811", Name: "Reno", Path: []string{"U.S."}, Country: "US"}},
		{Type: ads.SearchMetro, Text: "n", Country: "CA"}: {
			{ID: "124735", Name: "North Battleford", Path: []string{"Canada"}, Country: "CA"},
		},
		{Type: ads.SearchRegion, Text: "flanders"}: {{ID: "BE-VOV", Name: "East Flanders", Path: []string{"Belgium"}, Country: "BE"}},
		{Type: ads.SearchRegion, Text: "quebec"}:   {{ID: "CA-QC", Name: "Québec", Path: []string{"Canada"}, Country: "CA"}},
		{Type: ads.SearchRegion, Text: "a", Country: "CA"}: {
			{ID: "CA-AB", Name: "Alberta", Path: []string{"Canada"}, Country: "CA"},
		},
		{Type: ads.SearchZip, Text: "nr9 5al", Country: "GB"}:  {{ID: "GB-NR9 5AL", Name: "NR9 5AL", Country: "GB"}},
		{Type: ads.SearchZip, Text: "no code!", Country: "GB"}: nil,
		{Type: ads.SearchInterest, Text: "foot rug"}:           {{ID: "961238559656", Name: "Rugby football"}},
		{Type: ads.SearchInterest, Text: "ball"}:               nil,
		{Type: ads.SearchLanguage, Text: "francais"}:           {{ID: "fr", Name: "Français"}},
	} {
		for i := range wants {
			wants[i].Type = q.Type
		}
		found, err := w.driver.SearchTargeting(t.Context(), w.conn, q)
		require.NoError(t, err)
		assert.Equal(t, wants, found, "%+v", q)
	}
	assert.Empty(t, w.net.Refused())
}

// The lists are long, and hardly ever change.
func TestSearchTargeting_ReadsAListOnceAnHour(t *testing.T) {
	t.Parallel()
	w := newWorld("USD", nil)
	now := noon
	w.conn.Now = func() time.Time { return now }
	search := func(kind string) int {
		_, err := w.driver.SearchTargeting(t.Context(), w.conn, ads.Search{Type: kind, Text: "a"})
		require.NoError(t, err)
		return len(w.net.Calls())
	}
	assert.Equal(t, 1, search(ads.SearchCountry))
	assert.Equal(t, 1, search(ads.SearchMetro), "countries and metros are in one list")
	assert.Equal(t, 2, search(ads.SearchInterest))
	now = noon.Add(59 * time.Minute)
	assert.Equal(t, 2, search(ads.SearchInterest))
	w.conn.Channel = "sacct_2"
	assert.Equal(t, 3, search(ads.SearchInterest), "another channel may speak another language")
	now = now.Add(time.Hour)
	assert.Equal(t, 4, search(ads.SearchInterest))
}
