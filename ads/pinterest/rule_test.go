package pinterest_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/tests/harness/pinterestfake"
)

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

// Conversions are of a tag and an event of it: rule P6.
func TestCreate_NamesTheTagOfConversions(t *testing.T) {
	t.Parallel()
	w := newWorld("USD", nil)
	tag := w.net.AddTag(w.account)
	for promoted, event := range map[string]string{`{"pixel_id":"` + tag + `"}`: "CHECKOUT", `{"pixel_id":"` + tag + `","custom_event_type":"LEAD"}`: "LEAD"} {
		plan := w.boost("sold" + strings.ToLower(event))
		plan.Goal, plan.PromotedObject = advert.GoalConversions, advert.Object(promoted)
		made := w.create(t, plan)
		groups := w.net.Groups(w.account)
		text, err := json.Marshal(groups[len(groups)-1]["optimization_goal_metadata"])
		require.NoError(t, err)
		assert.JSONEq(t, `{"conversion_tag_v3_goal_metadata":{"conversion_event":"`+event+`","conversion_tag_id":"`+tag+`",
			"attribution_windows":{"click_window_days":30,"engagement_window_days":30,"view_window_days":1}}}`, string(text))
		assert.JSONEq(t, `{"pixel_id":"`+tag+`","custom_event_type":"`+event+`"}`, made.Group.PromotedObject.Text())
		assert.Equal(t, "WEB_CONVERSION", made.Campaign.Objective)
	}
	plan := w.boost("more")
	plan.Goal, plan.PromotedObject = advert.GoalConversions, advert.Object(`{"pixel_id":"`+tag+`","page_id":"7"}`)
	_, err := w.driver.Create(t.Context(), w.conn, plan)
	var refused *ads.Rejected
	require.ErrorAs(t, err, &refused)
	assert.Equal(t, "promoted_object.page_id", refused.Field)
	assert.Empty(t, w.net.Refused())
}

// A lookalike is of a hundred people at least: rule P13.
func TestCreateAudience_BlamesTheSourceOfALookalike(t *testing.T) {
	t.Parallel()
	w := newWorld("USD", nil)
	few, err := w.driver.UploadUsers(t.Context(), w.conn, w.buyers(99))
	require.NoError(t, err)
	_, err = w.driver.CreateAudience(t.Context(), w.conn, ads.AudiencePlan{
		Token: token("alike"), AdAccount: w.ad, Name: "Alike", Type: advert.AudienceTypeLookalike, SourceID: *few.Audience.PlatformID, Country: "us", Ratio: advert.RatioOne / 100,
	})
	var refused *ads.Rejected
	require.ErrorAs(t, err, &refused)
	assert.Equal(t, "source_audience_id", refused.Field)
}

// The ads of an ad account that is shared show its owner's Pins, old and new ones: Business Access.
func TestSharedAdAccount_ShowsItsOwnersPins(t *testing.T) {
	t.Parallel()
	const agency = "pina_AGENCYAGENCYAGENCY"
	w := newWorld("USD", nil)
	w.net.Share(w.account, agency)
	w.net.AddAccount(agency, "Of its own", "USD", "OWNER")
	own := w.net.AddPin(agency, "REGULAR", "An agency's")
	w.conn.Token = agency
	posts, err := w.driver.Posts(t.Context(), w.conn)
	require.NoError(t, err)
	var ids []string
	for _, post := range posts {
		ids = append(ids, post.PlatformID)
	}
	assert.Equal(t, []string{own, w.pin}, ids, "each once")
	w.create(t, w.boost("boosted"))
	w.create(t, w.standalone("new"))
	assert.Len(t, w.net.Pins(secret), 2, "the new Pin is the owner's")
	assert.Len(t, w.net.Pins(agency), 1)
	assert.Empty(t, w.net.Refused())

	stranger := w.boost("stranger")
	stranger.Post = &advert.SocialPost{PlatformID: own}
	_, err = w.driver.Create(t.Context(), w.conn, stranger)
	var refused *ads.Rejected
	require.ErrorAs(t, err, &refused)
	assert.Equal(t, "post_id", refused.Field)
}

// A bid is not below the least one: rule P4.
func TestCreate_KeepsToTheLeastBid(t *testing.T) {
	t.Parallel()
	for bid, ok := range map[advert.Amount]bool{advert.AmountUnit - advert.AmountUnit/100: false, advert.AmountUnit: true} {
		w := newWorld("USD", nil)
		plan := w.boost("bids")
		plan.BidStrategy, plan.BidAmount = advert.BidStrategyBidCap, bid
		_, err := w.driver.Create(t.Context(), w.conn, plan)
		assert.Empty(t, w.net.Refused())
		if ok {
			require.NoError(t, err)
			continue
		}
		var refused *ads.Rejected
		require.ErrorAs(t, err, &refused)
		assert.Equal(t, "bid_amount", refused.Field)
		assert.Contains(t, refused.Message, "1.00")
		assert.Empty(t, w.net.Campaigns(w.account))
	}
}
