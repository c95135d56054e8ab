package pinterest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime/multipart"
	"net/http"
	"slices"
	"strings"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store/advert"
)

// sourceOf returns where what a Pin shows comes from.
func sourceOf(c advert.Creative, media ads.Media) mediaSource {
	switch {
	case c.VideoURL != "":
		source := mediaSource{Type: "video_id", MediaID: media[c.VideoURL], Cover: c.ThumbnailURL}
		if c.ThumbnailURL == "" { // a Pin needs a cover: the first frame
			source.CoverFrame = new(0)
		}
		return source
	case len(c.Cards) > 0:
		source := mediaSource{Type: "multiple_image_urls"}
		for _, card := range c.Cards {
			source.Items = append(source.Items, imageItem{Title: card.Headline, Description: card.Description, Link: card.LinkURL, URL: card.ImageURL})
		}
		return source
	}
	return mediaSource{Type: "image_url", URL: c.ImageURL}
}

// newMedia announces a video.
type newMedia struct {
	Type string `json:"media_type"`
}

// upload is where the network wants a video to be sent, and what has to be sent along.
type upload struct {
	ID         string            `json:"media_id"`
	URL        string            `json:"upload_url"`
	Parameters map[string]string `json:"upload_parameters"`
}

// largestVideo is how many bytes of a video are passed on, as many as the network takes.
const largestVideo = 2 << 30

// UploadVideo implements ads.Network. Pinterest fetches nothing: the video is read from its address and passed on as it comes.
func (d *Driver) UploadVideo(ctx context.Context, c ads.Conn, _, address string) (string, error) {
	ctx, cancel := d.bound(ctx)
	defer cancel()
	video, err := d.open(ctx, address)
	if err != nil {
		return "", err
	}
	defer func() { _ = video.Body.Close() }()
	var to upload
	if err := d.write(ctx, c, request{http.MethodPost, path("media"), nil, newMedia{"video"}}, &to); err != nil {
		return "", err
	}
	if to.ID == "" || to.URL == "" {
		return "", fmt.Errorf("pinterest: the upload was answered without an address: %w", ads.ErrUnavailable)
	}
	return to.ID, d.pass(ctx, video, to)
}

// open begins to read a video. It must say how large it is, because the network wants to know that first.
func (d *Driver) open(ctx context.Context, address string) (*http.Response, error) {
	unfit := func(message string) error {
		return &ads.Rejected{Field: "video_url", Message: message, Raw: "video_url"}
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, unfit("The address of the video cannot be read.")
	}
	video, err := d.client.Do(req)
	switch {
	case err != nil:
		return nil, unfit("The video cannot be fetched from its address.")
	case video.StatusCode == http.StatusOK && video.ContentLength > 0 && video.ContentLength <= largestVideo:
		return video, nil
	}
	_ = video.Body.Close()
	if video.StatusCode != http.StatusOK {
		return nil, unfit(fmt.Sprintf("The address of the video answers with status %d. It must be the video itself, not lead to it.", video.StatusCode))
	}
	return nil, unfit("The address of the video must say how large it is, in Content-Length, and it must be at most 2 GiB.")
}

// pass sends a video to where the network wants it, as the last part of a form.
func (d *Driver) pass(ctx context.Context, video *http.Response, to upload) error {
	var head, tail strings.Builder
	form := multipart.NewWriter(&head)
	for _, name := range slices.Sorted(maps.Keys(to.Parameters)) {
		if err := form.WriteField(name, to.Parameters[name]); err != nil {
			return err
		}
	}
	if _, err := form.CreateFormFile("file", "video"); err != nil {
		return err
	}
	fmt.Fprintf(&tail, "\r\n--%s--\r\n", form.Boundary())
	size := video.ContentLength
	body := io.MultiReader(strings.NewReader(head.String()), io.LimitReader(video.Body, size), strings.NewReader(tail.String()))
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, to.URL, body)
	if err != nil {
		return fmt.Errorf("pinterest: the address for the upload cannot be read: %w", ads.ErrUnavailable)
	}
	req.ContentLength = int64(head.Len()) + size + int64(tail.Len())
	req.Header.Set("Content-Type", form.FormDataContentType())
	res, err := d.client.Do(req)
	if ctx.Err() != nil {
		return &ads.Rejected{Field: "video_url", Raw: "too slow", Message: "The video could not be passed on in the time of a request. Send a smaller one, or one at a faster address."}
	}
	if err != nil { // without a whole video the network is never through with it
		return fmt.Errorf("pinterest: the video could not be passed on: %w: %s", ads.ErrUnavailable, errors.Unwrap(err).Error())
	}
	defer func() { _ = res.Body.Close() }()
	if res.StatusCode/100 != 2 {
		return fmt.Errorf("pinterest: the video was answered with status %d: %w", res.StatusCode, ads.ErrUnavailable)
	}
	return nil
}

// VideoReady implements ads.Network.
func (d *Driver) VideoReady(ctx context.Context, c ads.Conn, _, id string) (bool, error) {
	ctx, cancel := d.bound(ctx)
	defer cancel()
	var media struct {
		Status string `json:"status"`
	}
	if err := d.read(ctx, c, path("media", id), nil, &media); err != nil {
		return false, err
	}
	if media.Status == "failed" {
		return false, &ads.Rejected{Field: "video_url", Message: "The video cannot be read.", Raw: "failed"}
	}
	return media.Status == "succeeded", nil
}

// Shows implements ads.Network. Update gives no ad another creative: "pin_id: this field may only be updated for draft ads".
func (d *Driver) Shows(context.Context, ads.Conn, ads.Ref, string) (bool, error) { return false, nil }
