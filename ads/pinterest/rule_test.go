package pinterest_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/tests/harness/pinterestfake"
)

// An ad group says where it is shown: rule P1.
func TestCreate_IsShownInTheAdAccountsCountryIfNobodySaysWhere(t *testing.T) {
	t.Parallel()
	for targeting, wants := range map[advert.Object]struct {
		spec  map[string]any
		wider any
	}{
		``:                             {map[string]any{"LOCATION": []any{"US"}}, nil},
		`{"GENDER":["female"]}`:        {map[string]any{"GENDER": []any{"female"}, "LOCATION": []any{"US"}}, false},
		`{"GEO":["US-94107"]}`:         {map[string]any{"GEO": []any{"US-94107"}}, false},
		`{"LOCATION":["CA","GB"]}`:     {map[string]any{"LOCATION": []any{"CA", "GB"}}, false},
		`{"LOCALE":["de"],"GEO":[""]}`: {map[string]any{"LOCALE": []any{"de"}, "GEO": []any{""}}, false},
	} {
		w := newWorld("USD", nil)
		plan := w.boost("where")
		plan.Targeting = targeting
		w.create(t, plan)
		group := w.net.Groups(w.account)[0]
		assert.Equal(t, wants.spec, group["targeting_spec"], targeting)
		assert.Equal(t, wants.wider, group["auto_targeting_enabled"], "whoever names a targeting is not shown to others")
	}
}

func TestCreate_NeedsAPlaceWhereTheAdAccountHasNone(t *testing.T) {
	t.Parallel()
	w := newWorld("USD", nil)
	w.net.Relocate(w.account, "")
	_, err := w.driver.Create(t.Context(), w.conn, w.boost("nowhere"))
	var refused *ads.Rejected
	require.ErrorAs(t, err, &refused)
	assert.Equal(t, "targeting", refused.Field)
	assert.Empty(t, w.net.Campaigns(w.account))
}

// Video completions are of videos: rule P7.
func TestCreate_WantsAVideoForVideoViews(t *testing.T) {
	t.Parallel()
	w := newWorld("USD", nil)
	plan := w.boost("seen")
	plan.Goal = advert.GoalVideoViews
	w.create(t, plan)

	picture := w.boost("picture")
	picture.Goal, picture.Post = advert.GoalVideoViews, &advert.SocialPost{PlatformID: w.net.AddPin(secret, "REGULAR", "Cup")}
	_, err := w.driver.Create(t.Context(), w.conn, picture)
	var refused *ads.Rejected
	require.ErrorAs(t, err, &refused)
	assert.Equal(t, "post_id", refused.Field)
	assert.Len(t, w.net.Campaigns(w.account), 1, "nothing was made")
}

// A missing role or scope is nothing that a caller can mend in his request.
func TestForbidden_IsAboutTheChannel(t *testing.T) {
	t.Parallel()
	w := newWorld("USD", nil)
	w.net.Break("ad_groups/create", 0, pinterestfake.FaultForbidden)
	_, err := w.driver.Create(t.Context(), w.conn, w.boost("forbidden"))
	require.ErrorIs(t, err, ads.ErrForbidden)
	assert.Zero(t, w.running())
}
