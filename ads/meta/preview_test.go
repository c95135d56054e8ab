package meta_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/tests/harness/metafake"
)

func cards() []advert.Card {
	return []advert.Card{{ImageURL: "https://shop.example/1.jpg", Headline: "One"}, {ImageURL: "https://shop.example/2.jpg", LinkURL: "https://shop.example/two"}}
}

func (w *world) preview(t *testing.T, p ads.Plan) (ads.Preview, error) {
	t.Helper()
	return w.net.Preview(t.Context(), w.conn, ads.PreviewQuery{Plan: p})
}

// What Meta is shown is what an ad would be made of.
func TestPreview_ShowsWhatWouldBeMade(t *testing.T) {
	t.Parallel()
	formats := map[advert.Platform]string{advert.PlatformFacebook: "MOBILE_FEED_STANDARD", advert.PlatformInstagram: "INSTAGRAM_STANDARD"}
	for _, p := range platforms {
		w := newWorld(t, p)
		lead := plan(func(p *ads.Plan) { p.Goal, p.PromotedObject = advert.GoalLeadGeneration, `{"lead_gen_form_id":"1"}` })
		shown, err := w.preview(t, lead)
		require.NoError(t, err)
		assert.Nil(t, shown.Until, "Meta does not say")
		params := w.sent(t, "GET", "generatepreviews")
		assert.Equal(t, formats[p], params.Get("ad_format"))
		w.create(t, lead)
		assert.JSONEq(t, `{"object_story_spec":`+w.sent(t, "POST", "adcreatives").Get("object_story_spec")+`}`, params.Get("creative"))
	}
}

func TestPreview_OfAnAdThatIsThere(t *testing.T) {
	t.Parallel()
	w := newWorld(t, advert.PlatformFacebook)
	made := w.create(t, plan(nil))
	w.fake.Forget()
	shown, err := w.net.Preview(t.Context(), w.conn, ads.PreviewQuery{Ad: &ads.Ref{AdAccount: dollars, Level: advert.LevelAd, ID: made.Ad.PlatformID}})
	require.NoError(t, err)
	assert.Equal(t, "https://www.facebook.com/ads/api/preview_iframe.php?d=AQ"+made.Ad.PlatformID+"&t=AQ1", shown.URL)
	for _, c := range w.fake.Calls() {
		assert.Equal(t, "GET", c.Method)
	}
	_, err = w.net.Preview(t.Context(), w.conn, ads.PreviewQuery{Ad: &ads.Ref{AdAccount: dollars, Level: advert.LevelAd, ID: "404"}})
	require.ErrorIs(t, err, ads.ErrNotFound)
}

func TestPreview_ErrorsHaveTheirClass(t *testing.T) {
	t.Parallel()
	w := newWorld(t, advert.PlatformFacebook)
	w.fake.Fail(metafake.Fault{Kind: metafake.FaultReject, Edge: "generatepreviews"})
	_, err := w.preview(t, plan(nil))
	var refused *ads.Rejected
	require.ErrorAs(t, err, &refused)
	w.fake.Fail(metafake.Fault{Kind: metafake.FaultServerError, Edge: "generatepreviews", Times: 2})
	_, err = w.preview(t, plan(nil))
	require.NoError(t, err, "it makes nothing, so that it is tried again")
}

// framing answers a preview with another frame.
type framing struct {
	next http.RoundTripper
	body *string
}

func (f framing) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := f.next.RoundTrip(r)
	if err == nil && strings.HasSuffix(r.URL.Path, "/generatepreviews") {
		text, _ := json.Marshal(map[string]any{"data": []any{map[string]any{"body": *f.body}}})
		answer.Body = io.NopCloser(strings.NewReader(string(text)))
		answer.Header.Del("Content-Length")
	}
	return answer, err
}

// People open the address. It is a page of Meta's and carries no token.
func TestPreview_GivesNoOtherAddress(t *testing.T) {
	t.Parallel()
	body := ""
	w := worldThrough(t, advert.PlatformFacebook, func(_ *metafake.Fake, next http.RoundTripper) http.RoundTripper { return framing{next, &body} })
	for _, body = range []string{
		"", "<p>none</p>", `<iframe src="javascript:alert(1)">`, `<iframe src="http://www.facebook.com/a">`, `<iframe src="https://facebook.com.evil.example/a">`,
		`<iframe src="https://evilfacebook.com/a">`, `<iframe src="https://www.facebook.com/a?access_token=` + token + `">`, `<iframe src="https://www.facebook.com/a?x=` + token + `">`,
	} {
		_, err := w.preview(t, plan(nil))
		require.ErrorIs(t, err, ads.ErrUnavailable, body)
		assert.NotContains(t, err.Error(), token)
	}
	body = `<iframe width="1" src="https://business.facebook.com/a?d=1&amp;t=2"></iframe>`
	shown, err := w.preview(t, plan(nil))
	require.NoError(t, err)
	assert.Equal(t, "https://business.facebook.com/a?d=1&t=2", shown.URL)
}
