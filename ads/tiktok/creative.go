package tiktok

import (
	"context"
	"crypto/rand"
	"errors"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store/advert"
)

// video is a video in an ad account.
type video struct {
	ID          string `json:"video_id"`
	Displayable bool   `json:"displayable"`
	CoverURL    string `json:"video_cover_url"`
}

// UploadVideo implements ads.Network. TikTok fetches the video from its address. Two videos of one name are refused, so each has a name of
// its own.
func (d *Driver) UploadVideo(ctx context.Context, c ads.Conn, adAccount, address string) (string, error) {
	ctx, cancel := d.bound(ctx)
	defer cancel()
	var made []video
	err := d.write(ctx, c, "file/video/ad/upload", fields{
		"advertiser_id": adAccount, "upload_type": "UPLOAD_BY_URL", "video_url": address, "file_name": rand.Text() + ".mp4",
	}, &made)
	if err != nil {
		return "", inField("video_url", err)
	}
	if len(made) != 1 || made[0].ID == "" {
		return "", failure(c, request{method: "POST", path: "file/video/ad/upload"}, ads.ErrUnavailable, ads.ErrNotFound)
	}
	return made[0].ID, nil
}

// inField says of a refusal to which field it belongs.
func inField(field string, err error) error {
	if refused := (*ads.Rejected)(nil); errors.As(err, &refused) {
		refused.Field = field
	}
	return err
}

// VideoReady implements ads.Network. A video that has no cover yet is being worked on.
func (d *Driver) VideoReady(ctx context.Context, c ads.Conn, adAccount, id string) (bool, error) {
	ctx, cancel := d.bound(ctx)
	defer cancel()
	v, err := d.video(ctx, c, adAccount, id)
	return err == nil && v.Displayable && v.CoverURL != "", err
}

func (d *Driver) video(ctx context.Context, c ads.Conn, adAccount, id string) (video, error) {
	var p page[video]
	err := d.read(ctx, c, "file/video/ad/info", fields{"advertiser_id": adAccount, "video_ids": []string{id}}, &p)
	if err != nil || len(p.List) == 0 {
		return video{}, err
	}
	return p.List[0], nil
}

// cover brings the picture to an ad account that stands for a video until it plays: that of the creative, or else the video's own.
func (d *Driver) cover(ctx context.Context, c ads.Conn, adAccount, videoID, address string) (string, error) {
	if address == "" {
		v, err := d.video(ctx, c, adAccount, videoID)
		if err != nil {
			return "", err
		}
		address = v.CoverURL
	}
	var made struct {
		ID string `json:"image_id"`
	}
	err := d.write(ctx, c, "file/image/ad/upload", fields{
		"advertiser_id": adAccount, "upload_type": "UPLOAD_BY_URL", "image_url": address, "file_name": rand.Text() + ".jpg",
	}, &made)
	return made.ID, harmless(c, inField("thumbnail_url", err))
}

// shows makes the creatives of the ads, with the covers of their videos. Nothing is spent by that.
func (m *making) shows(ctx context.Context) error {
	who, err := m.d.identity(ctx, m.c, m.plan.AdAccount.PlatformID)
	if err != nil {
		return err
	}
	if err := m.speaks(who); err != nil {
		return err
	}
	for _, one := range m.ads {
		if one.body, err = m.creative(ctx, one, who); err != nil {
			return err
		}
	}
	return nil
}

// speaks refuses an identity that cannot speak for the ad: a post, and an ad for engagement, are of an account of TikTok's own (T8).
func (m *making) speaks(who identity) error {
	if who.Type == customized && (m.plan.Post != nil || m.plan.Goal == advert.GoalEngagement) {
		return rejected("account_id", "The channel's profile is a name and a picture, not an account on TikTok. Connect the account whose posts are to be boosted.")
	}
	return nil
}

// creative returns what an ad shows, in TikTok's words.
func (m *making) creative(ctx context.Context, one *adMaking, who identity) (fields, error) {
	body := who.fields()
	body["ad_name"], body["operation_status"] = mark(one.Name, one.Token, widestName), m.d.caps.SwitchWord(m.plan.Configured)
	body["ad_format"] = singleVideo
	if m.plan.Post != nil {
		body["tiktok_item_id"] = m.plan.Post.PlatformID
		return body, nil
	}
	return body, m.d.show(ctx, m.c, m.plan.AdAccount.PlatformID, body, one.Creative, m.plan.Media, m.promoted.PageID)
}

// singleVideo is TikTok's word for an ad with a video.
const singleVideo = "SINGLE_VIDEO"

// show adds a creative to the words of an ad.
func (d *Driver) show(ctx context.Context, c ads.Conn, adAccount string, body fields, creative advert.Creative, media ads.Media, pageID string) error {
	id := media[creative.VideoURL]
	if id == "" {
		return rejected("video_url", "An ad on TikTok shows a video.")
	}
	picture, err := d.cover(ctx, c, adAccount, id, creative.ThumbnailURL)
	if err != nil {
		return err
	}
	body["video_id"], body["image_ids"], body["ad_text"], body["call_to_action"] = id, []string{picture}, creative.Body, creative.CallToAction
	switch {
	case pageID == "" && creative.LinkURL != "":
		body["landing_page_url"] = creative.LinkURL
	case pageID != "" && creative.LinkURL != "":
		return rejected("link_url", "On TikTok an ad for leads opens its form and leads nowhere else. Leave link_url out.")
	case pageID != "":
		page, err := number(pageID)
		if err != nil {
			return rejected("promoted_object.page_id", "Send the id of a page, a number.")
		}
		body["page_id"] = page
	}
	return nil
}

// Shows implements ads.Network. A creative has no place for a token. To give an ad the same one twice does no harm.
func (d *Driver) Shows(context.Context, ads.Conn, ads.Ref, string) (bool, error) { return false, nil }
