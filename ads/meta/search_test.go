package meta_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store/advert"
)

func (w *world) search(t *testing.T, q ads.Search) []ads.TargetingOption {
	t.Helper()
	found, err := w.net.SearchTargeting(t.Context(), w.conn, q)
	require.NoError(t, err)
	return found
}

func TestSearchTargeting_FindsWhatTheNetworkNames(t *testing.T) {
	t.Parallel()
	for _, p := range platforms {
		w := newWorld(t, p)
		people := int64(336_332_120)
		often := int64(63_000_000)
		for q, wants := range map[ads.Search][]ads.TargetingOption{
			{Type: ads.SearchCountry, Text: "can"}:              {{ID: "CA", Name: "Canada", Path: []string{}, Country: "CA"}},
			{Type: ads.SearchRegion, Text: "al", Country: "CA"}: {{ID: "527", Name: "Alberta", Path: []string{"Canada"}, Country: "CA"}},
			{Type: ads.SearchCity, Text: "Manhattan"}: {
				{ID: "2447439", Name: "Manhattan", Path: []string{"United States", "Kansas"}, Country: "US"},
				{ID: "2439596", Name: "Manhattan", Path: []string{"United States", "Illinois"}, Country: "US"},
			},
			{Type: ads.SearchZip, Text: "900", Country: "US"}: {
				{ID: "US:90028", Name: "90028", Path: []string{"United States", "California", "Los Angeles"}, Country: "US"},
			},
			{Type: ads.SearchMetro, Text: "new y"}: {{ID: "COMSCORE_MARKET:2001", Name: "New York, NY", Path: []string{"United States"}, Country: "US"}},
			{Type: ads.SearchInterest, Text: "cosm"}: {
				{ID: "6002839660079", Name: "Cosmetics", Path: []string{"Interests", "Shopping and fashion", "Beauty"}, AudienceSize: &people},
			},
			{Type: ads.SearchBehavior, Text: "trav"}:            {{ID: "6002714895372", Name: "Frequent Travelers", Path: []string{"Behaviors", "Travel"}, AudienceSize: &often}},
			{Type: ads.SearchLanguage, Text: "port"}:            {{ID: "16", Name: "Portuguese (Brazil)", Path: []string{}}},
			{Type: ads.SearchInterest, Text: "nothing like it"}: nil,
		} {
			for i := range wants {
				wants[i].Type = q.Type
			}
			assert.Equal(t, wants, w.search(t, q), "%s %+v", p, q)
		}
		assert.Empty(t, w.fake.Refused())
	}
}

// Meta answers with 8 unless it is told how many are wanted.
func TestSearchTargeting_ListsAllOfAShortType(t *testing.T) {
	t.Parallel()
	w := newWorld(t, advert.PlatformFacebook)
	for kind, all := range map[string]int{ads.SearchCountry: 10, ads.SearchLanguage: 9, ads.SearchBehavior: 2} {
		assert.Len(t, w.search(t, ads.Search{Type: kind}), all, kind)
	}
}
