package pinterest_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/tests/harness/pinterestfake"
)

// shop is where videos are fetched from, before the network. They are sent to the network past what is between, and so come reports.
type shop struct{ next, network http.RoundTripper }

func (s shop) RoundTrip(r *http.Request) (*http.Response, error) {
	switch r.URL.Host {
	case "upload.example", "reports.example":
		return s.network.RoundTrip(r)
	case "shop.example":
	default:
		return s.next.RoundTrip(r)
	}
	if r.Header.Get("Authorization") != "" {
		panic("the shop was shown a token")
	}
	answer := &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(r.URL.Path)), ContentLength: int64(len(r.URL.Path)), Request: r}
	switch r.URL.Path {
	case "/moved.mp4":
		answer.StatusCode = http.StatusFound
		answer.Header.Set("Location", "https://shop.example/video.mp4")
	case "/endless.mp4":
		answer.ContentLength = -1
	case "/huge.mp4":
		answer.ContentLength = 3 << 30
	case "/broken.mp4":
		answer.Body, answer.ContentLength = io.NopCloser(strings.NewReader("broken")), 6
	}
	return answer, nil
}

const clip = "https://shop.example/video.mp4"

func newShop() *world {
	return newWorld("USD", func(n http.RoundTripper) http.RoundTripper { return shop{n, n} })
}

// uploaded brings a video to the network and waits until it is through with it.
func (w *world) uploaded(t *testing.T, address string) ads.Media {
	t.Helper()
	id, err := w.driver.UploadVideo(t.Context(), w.conn, w.account.ID, address)
	require.NoError(t, err)
	for range 10 {
		done, err := w.driver.VideoReady(t.Context(), w.conn, w.account.ID, id)
		require.NoError(t, err)
		if done {
			return ads.Media{address: id}
		}
	}
	t.Fatal("the network is never through with the video")
	return nil
}

// film is a plan for an ad with a video.
func (w *world) film(name string, media ads.Media) ads.Plan {
	p := w.standalone(name)
	p.Goal, p.Media = advert.GoalVideoViews, media
	p.Creative.ImageURL, p.Creative.VideoURL = "", clip
	return p
}

// Rules P7 and P8: the video is passed on and processed, then a Pin shows it, and an ad of this kind shows the Pin.
func TestCreate_ShowsAVideo(t *testing.T) {
	t.Parallel()
	for _, thumbnail := range []string{"", "https://shop.example/cover.jpg"} {
		w := newShop()
		w.net.SlowVideos(2)
		p := w.film("Film", w.uploaded(t, clip))
		p.Creative.ThumbnailURL = thumbnail
		made := w.create(t, p)
		assert.Equal(t, []string{"/video.mp4"}, w.net.Videos())
		assert.Empty(t, w.net.Refused())
		assert.Equal(t, clip, made.Ad.Creative.V.VideoURL)
		pins := w.net.Pins(secret)
		assert.Equal(t, "VIDEO", pins[len(pins)-1].Text("creative_type"))
	}
}

func TestUploadVideo_RefusesWhatCannotBePassedOn(t *testing.T) {
	t.Parallel()
	w := newShop()
	for _, name := range []string{"moved", "endless", "huge"} {
		_, err := w.driver.UploadVideo(t.Context(), w.conn, w.account.ID, "https://shop.example/"+name+".mp4")
		var rejected *ads.Rejected
		require.ErrorAs(t, err, &rejected, name)
		assert.Equal(t, "video_url", rejected.Field)
	}
	assert.NotContains(t, w.net.Calls(), "media/create")
	id, err := w.driver.UploadVideo(t.Context(), w.conn, w.account.ID, "https://shop.example/broken.mp4")
	require.NoError(t, err)
	_, err = w.driver.VideoReady(t.Context(), w.conn, w.account.ID, id)
	var rejected *ads.Rejected
	require.ErrorAs(t, err, &rejected)
}

// The fake holds rule P8: no Pin shows a video that is not processed.
func TestCreate_OfAVideoThatIsNotReadyIsRefused(t *testing.T) {
	t.Parallel()
	w := newShop()
	w.net.SlowVideos(100)
	id, err := w.driver.UploadVideo(t.Context(), w.conn, w.account.ID, clip)
	require.NoError(t, err)
	done, err := w.driver.VideoReady(t.Context(), w.conn, w.account.ID, id)
	require.NoError(t, err)
	assert.False(t, done)
	_, err = w.driver.Create(t.Context(), w.conn, w.film("Film", ads.Media{clip: id}))
	var rejected *ads.Rejected
	require.ErrorAs(t, err, &rejected)
	assert.Zero(t, w.running())
}

func TestCreate_ShowsCards(t *testing.T) {
	t.Parallel()
	w := newWorld("USD", nil)
	p := w.standalone("Cards")
	p.Creative.ImageURL = ""
	p.Creative.Cards = []advert.Card{
		{ImageURL: "https://shop.example/1.jpg", Headline: "One", Description: "First", LinkURL: "https://shop.example/one"}, {ImageURL: "https://shop.example/2.jpg"},
	}
	w.create(t, p)
	assert.Empty(t, w.net.Refused())
	pins := w.net.Pins(secret)
	assert.Equal(t, "CAROUSEL", pins[len(pins)-1].Text("creative_type"))
}

// three is a plan for three ads.
func (w *world) three(name string) ads.Plan {
	p := w.standalone(name)
	one := p.Creative
	p.Creative = advert.Creative{}
	for _, name := range []string{"First", "Second", "Third"} {
		one.Headline = name + " mug"
		p.Creatives = append(p.Creatives, ads.NamedCreative{Name: name, Creative: one})
	}
	return p
}

func TestCreate_MakesSeveralAdsOfOneAdGroup(t *testing.T) {
	t.Parallel()
	for _, joins := range []bool{false, true} {
		w := newWorld("USD", nil)
		p := w.three("several")
		if joins {
			first := w.create(t, w.boost("First"))
			p.CampaignID, p.AdGroupID = first.Campaign.PlatformID, first.Group.PlatformID
		}
		made := w.create(t, p)
		found, ok, err := w.driver.Find(t.Context(), w.conn, w.account.ID, p.Token)
		require.NoError(t, err)
		require.True(t, ok)
		for _, c := range []ads.Created{made, found} {
			assert.Equal(t, "First", c.Ad.Name)
			require.Len(t, c.More, 2)
			for i, name := range []string{"Second", "Third"} {
				assert.Equal(t, name, c.More[ads.AdToken(p.Token, i+1)].Name)
			}
			assert.Equal(t, joins, c.Campaign == nil)
		}
		assert.Equal(t, "Second mug", made.More[ads.AdToken(p.Token, 1)].Creative.V.Headline)
	}
}

// live returns how many ads are not archived, whose campaign is not either.
func (w *world) live() int {
	over := map[string]bool{}
	for _, c := range w.net.Campaigns(w.account) {
		over[c.Text("id")] = c.Text("status") == "ARCHIVED"
	}
	n := 0
	for _, ad := range w.net.Ads(w.account) {
		if ad.Text("status") != "ARCHIVED" && !over[ad.Text("campaign_id")] {
			n++
		}
	}
	return n
}

// TestFind_LeavesAllAdsOrNone lets the answer to each step of a creation get lost, with the step done or not.
func TestFind_LeavesAllAdsOrNone(t *testing.T) {
	t.Parallel()
	steps := []string{"pins/create", "pins/create", "pins/create", "campaigns/create", "ad_groups/create", "ads/create", "ads/create", "ads/create"}
	for _, joins := range []bool{false, true} {
		for i, op := range steps {
			for _, kind := range []pinterestfake.Fault{pinterestfake.FaultDropAfter, pinterestfake.FaultDrop} {
				if joins && (op == "campaigns/create" || op == "ad_groups/create") {
					continue
				}
				w, before := newWorld("USD", nil), 0
				p := w.three("several")
				if joins {
					first := w.create(t, w.boost("First"))
					p.CampaignID, p.AdGroupID, before = first.Campaign.PlatformID, first.Group.PlatformID, 1
				}
				w.net.Break(op, countOf(steps[:i], op), kind)
				_, err := w.driver.Create(t.Context(), w.conn, p)
				require.Error(t, err)
				made, found, err := w.driver.Find(t.Context(), w.conn, w.account.ID, p.Token)
				require.NoError(t, err)
				whole := i == len(steps)-1 && kind == pinterestfake.FaultDropAfter
				assert.Equal(t, whole, found, "%s %d %d", op, i, kind)
				if whole {
					assert.Len(t, made.More, 2)
					before += 3
				}
				assert.Equal(t, before, w.live(), "%s %d %d", op, i, kind)
			}
		}
	}
}

func countOf(of []string, what string) (n int) {
	for _, one := range of {
		if one == what {
			n++
		}
	}
	return n
}
