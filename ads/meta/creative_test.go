package meta_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/tests/harness/metafake"
)

const clip = "https://shop.example/leaves.mp4"

// uploaded brings a video to the network and waits until it is through with it.
func (w *world) uploaded(t *testing.T, address string) ads.Media {
	t.Helper()
	id, err := w.net.UploadVideo(t.Context(), w.conn, dollars, address)
	require.NoError(t, err)
	for range 10 {
		done, err := w.net.VideoReady(t.Context(), w.conn, dollars, id)
		require.NoError(t, err)
		if done {
			return ads.Media{address: id}
		}
	}
	t.Fatal("the network is never through with the video")
	return nil
}

// film makes a plan one for an ad with a video.
func film(media ads.Media, thumbnail string) func(*ads.Plan) {
	return func(p *ads.Plan) {
		p.Media, p.Creative.ImageURL, p.Creative.VideoURL, p.Creative.ThumbnailURL = media, "", clip, thumbnail
	}
}

// Rules K4 and K6: a video is there and has a picture before an ad shows it. Then it can be paid for by its views.
func TestCreate_ShowsAVideo(t *testing.T) {
	t.Parallel()
	for _, platform := range platforms {
		for _, thumbnail := range []string{"", "https://shop.example/cover.jpg"} {
			w := newWorld(t, platform)
			w.fake.Slow = 2
			media := w.uploaded(t, clip)
			made := w.create(t, plan(func(p *ads.Plan) {
				film(media, thumbnail)(p)
				p.Goal, p.Creative.Description = advert.GoalVideoViews, "In short"
			}))
			assert.Equal(t, []string{clip}, w.fake.Videos())
			assert.Empty(t, w.fake.Refused())
			spec := w.sent(t, "POST", "adcreatives").Get("object_story_spec")
			assert.Contains(t, spec, `"video_id":"`+media[clip]+`"`)
			assert.Contains(t, spec, `"link_description":"In short"`)
			assert.NotContains(t, spec, "link_data")
			if thumbnail != "" {
				assert.Contains(t, spec, thumbnail)
			}
			assert.Equal(t, clip, made.Ad.Creative.V.VideoURL)
			found, ok, err := w.net.Find(t.Context(), w.conn, dollars, plan(nil).Token)
			require.NoError(t, err)
			assert.True(t, ok)
			assert.True(t, found.Ad.Creative.V.IsZero(), "so that the mirror keeps where the video came from")
		}
	}
}

func TestVideoReady_RefusesAVideoThatCannotBeRead(t *testing.T) {
	t.Parallel()
	w := newWorld(t, advert.PlatformFacebook)
	id, err := w.net.UploadVideo(t.Context(), w.conn, dollars, "https://shop.example/broken.mp4")
	require.NoError(t, err)
	_, err = w.net.VideoReady(t.Context(), w.conn, dollars, id)
	var rejected *ads.Rejected
	require.ErrorAs(t, err, &rejected)
	assert.Equal(t, "video_url", rejected.Field)
}

// The fake holds rule K4: a video that it is not through with, or without a picture, is in no creative.
func TestCreate_OfAVideoThatIsNotReadyIsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t, advert.PlatformFacebook)
	w.fake.Slow = 100
	id, err := w.net.UploadVideo(t.Context(), w.conn, dollars, clip)
	require.NoError(t, err)
	for _, thumbnail := range []string{"https://shop.example/cover.jpg", ""} {
		_, err = w.net.Create(t.Context(), w.conn, plan(film(ads.Media{clip: id}, thumbnail)))
		var rejected *ads.Rejected
		require.ErrorAs(t, err, &rejected)
		assert.Contains(t, w.fake.Refused()[len(w.fake.Refused())-1], " K4 ")
		assert.Empty(t, w.fake.Live("Campaign"), "what was made is removed")
	}
}

// Rule K3: each of 2 to 10 cards has a link.
func TestCreate_ShowsCards(t *testing.T) {
	t.Parallel()
	w := newWorld(t, advert.PlatformFacebook)
	media := w.uploaded(t, clip)
	made := w.create(t, plan(func(p *ads.Plan) {
		p.Media, p.Creative.ImageURL = media, ""
		p.Creative.Cards = []advert.Card{
			{ImageURL: "https://shop.example/1.jpg", Headline: "One", Description: "First", LinkURL: "https://shop.example/one"}, {VideoURL: clip, Headline: "Two"},
		}
	}))
	assert.Empty(t, w.fake.Refused())
	spec := w.sent(t, "POST", "adcreatives").Get("object_story_spec")
	assert.Contains(t, spec, `{"link":"https://shop.example/one","name":"One","description":"First","picture":"https://shop.example/1.jpg"}`)
	assert.Contains(t, spec, `{"link":"https://shop.example/leaves","name":"Two","picture":"https://video.example/`+media[clip]+`.jpg","video_id":"`+media[clip]+`"}`)
	_, err := w.net.Create(t.Context(), w.conn, plan(func(p *ads.Plan) {
		p.Token, p.Creative.ImageURL, p.Creative.Cards = "adact_01kabc0000000000000000000b", "", made.Ad.Creative.V.Cards[:1]
	}))
	var rejected *ads.Rejected
	require.ErrorAs(t, err, &rejected)
	assert.Contains(t, strings.Join(w.fake.Refused(), "\n"), " K3 ")
	assert.Len(t, w.fake.Live("Campaign"), 1)
}

// three makes a plan one for three ads.
func three(p *ads.Plan) {
	one := p.Creative
	p.Creative = advert.Creative{}
	for _, name := range []string{"First", "Second", "Third"} {
		one.Headline = name + " leaf"
		p.Creatives = append(p.Creatives, ads.NamedCreative{Name: name, Creative: one})
	}
}

func TestCreate_MakesSeveralAdsOfOneAdGroup(t *testing.T) {
	t.Parallel()
	for _, platform := range platforms {
		w := newWorld(t, platform)
		p := plan(three)
		made := w.create(t, p)
		found, ok, err := w.net.Find(t.Context(), w.conn, dollars, p.Token)
		require.NoError(t, err)
		require.True(t, ok)
		for _, c := range []ads.Created{made, found} {
			assert.Equal(t, "First", c.Ad.Name)
			require.Len(t, c.More, 2)
			for i, name := range []string{"Second", "Third"} {
				ad := c.More[ads.AdToken(p.Token, i+1)]
				assert.Equal(t, name, ad.Name)
				assert.Equal(t, made.Group.PlatformID, ad.AdGroupID)
				assert.Equal(t, name+" leaf", ad.Creative.V.Headline)
			}
			assert.Len(t, c.Batch().Ads, 3)
		}
		assert.Len(t, w.fake.Live("Ad"), 3)
		assert.Len(t, w.fake.Live("AdSet"), 1)
	}
}

// TestFind_LeavesAllAdsOrNone lets the answer to each step of a creation get lost, with the step done or not.
func TestFind_LeavesAllAdsOrNone(t *testing.T) {
	t.Parallel()
	steps := []string{"campaigns", "adsets", "adcreatives", "adcreatives", "adcreatives", "ads", "ads", "ads"}
	for _, joins := range []bool{false, true} {
		for i, edge := range steps {
			for _, kind := range []metafake.FaultKind{metafake.FaultCutAfter, metafake.FaultCutBefore} {
				if joins && i < 2 {
					continue
				}
				w := newWorld(t, advert.PlatformFacebook)
				p := plan(three)
				campaigns := 0
				if joins {
					first := w.create(t, plan(nil))
					p.Token, p.CampaignID, p.AdGroupID = "adact_01kabc0000000000000000000j", first.Campaign.PlatformID, first.Group.PlatformID
					campaigns = 1
				}
				w.fake.Fail(metafake.Fault{Kind: kind, Method: "POST", Edge: edge, Skip: count(steps[:i], edge)})
				_, err := w.net.Create(t.Context(), w.conn, p)
				require.Error(t, err)
				w.fake.Heal()
				made, found, err := w.net.Find(t.Context(), w.conn, dollars, p.Token)
				require.NoError(t, err)
				whole := i == len(steps)-1 && kind == metafake.FaultCutAfter
				assert.Equal(t, whole, found, "%s %d %s", edge, i, kind)
				if whole {
					assert.Len(t, made.More, 2)
					assert.Len(t, w.fake.Live("Ad"), 3+campaigns)
					continue
				}
				assert.Len(t, w.fake.Live("Ad"), campaigns, "%s %d %s", edge, i, kind)
				assert.Len(t, w.fake.Live("Campaign"), campaigns, "%s %d %s", edge, i, kind)
			}
		}
	}
}

func count(of []string, what string) (n int) {
	for _, one := range of {
		if one == what {
			n++
		}
	}
	return n
}

func TestCreate_OfSeveralAdsInAnAdGroupIsUndoneWhenOneIsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t, advert.PlatformFacebook)
	first := w.create(t, plan(nil))
	w.fake.Fail(metafake.Fault{Kind: metafake.FaultReject, Method: "POST", Edge: "ads", Skip: 2})
	_, err := w.net.Create(t.Context(), w.conn, plan(func(p *ads.Plan) {
		three(p)
		p.Token, p.CampaignID, p.AdGroupID = "adact_01kabc0000000000000000000j", first.Campaign.PlatformID, first.Group.PlatformID
	}))
	var rejected *ads.Rejected
	require.ErrorAs(t, err, &rejected)
	assert.Len(t, w.fake.Live("Ad"), 1)
	assert.Len(t, w.fake.Live("AdCreative"), 1)
}

func TestUpdate_SwapsTheCreativeOfAnAdOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, advert.PlatformFacebook)
	made := w.create(t, plan(func(p *ads.Plan) { p.Goal, p.PromotedObject = advert.GoalLeadGeneration, `{"lead_gen_form_id":"77"}` }))
	w.fake.Review(made.Ad.PlatformID, "DISAPPROVED", "Too loud.")
	media := w.uploaded(t, clip)
	next := made.Ad.Creative.V
	next.ImageURL, next.VideoURL, next.Headline = "", clip, "Quieter"
	patch := ads.Patch{Token: "adact_01kabc0000000000000000000u", Creative: &next, Media: media, Name: new("Again")}
	shows, err := w.net.Shows(t.Context(), w.conn, adRef(made), patch.Token)
	require.NoError(t, err)
	assert.False(t, shows)
	w.fake.Forget()
	e, err := w.net.Update(t.Context(), w.conn, adRef(made), patch)
	require.NoError(t, err)
	assert.Equal(t, advert.StatusActive, e.Ad.Status, "the review begins again")
	assert.Equal(t, "Again", e.Ad.Name)
	assert.Contains(t, w.sent(t, "POST", "adcreatives").Get("object_story_spec"), `"lead_gen_form_id":"77"`, "K7")
	shows, err = w.net.Shows(t.Context(), w.conn, adRef(made), patch.Token)
	require.NoError(t, err)
	assert.True(t, shows)
	_, err = w.net.Update(t.Context(), w.conn, adRef(made), patch)
	require.NoError(t, err)
	assert.Len(t, w.calls("POST", "adcreatives"), 1, "it shows it already")
	assert.Empty(t, w.fake.Refused())
}

func TestUpdate_OfACreativeChangesNothingWhenTheCreativeGotLost(t *testing.T) {
	t.Parallel()
	for _, kind := range []metafake.FaultKind{metafake.FaultCutAfter, metafake.FaultCutBefore} {
		w := newWorld(t, advert.PlatformFacebook)
		made := w.create(t, plan(nil))
		next := made.Ad.Creative.V
		next.Headline = "Other"
		patch := ads.Patch{Token: "adact_01kabc0000000000000000000u", Creative: &next}
		w.fake.Fail(metafake.Fault{Kind: kind, Method: "POST", Edge: "adcreatives"})
		_, err := w.net.Update(t.Context(), w.conn, adRef(made), patch)
		require.ErrorIs(t, err, ads.ErrUnavailable)
		require.NotErrorIs(t, err, ads.ErrIndeterminate)
		shows, err := w.net.Shows(t.Context(), w.conn, adRef(made), patch.Token)
		require.NoError(t, err)
		assert.False(t, shows)
		w.fake.Fail(metafake.Fault{Kind: kind, Method: "POST", Edge: "."})
		_, err = w.net.Update(t.Context(), w.conn, adRef(made), patch)
		require.ErrorIs(t, err, ads.ErrIndeterminate)
		shows, err = w.net.Shows(t.Context(), w.conn, adRef(made), patch.Token)
		require.NoError(t, err)
		assert.Equal(t, kind == metafake.FaultCutAfter, shows)
	}
}
