package sandbox

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/store/core"
)

// What the address of a video says about how the sandbox takes it: one is never shown, and the other takes a minute.
const (
	brokenMark = "[broken]"
	slowMark   = "[slow]"
)

// slowVideo is how long that is.
const slowVideo = time.Minute

// brokenVideo is the id of a video that cannot be shown.
const brokenVideo = "broken"

// UploadVideo implements ads.Network. The id of a video is the moment from which ads can show it, so that nothing has to be
// stored. Faults of writes are kept for those that spend.
func (d *Driver) UploadVideo(ctx context.Context, c ads.Conn, adAccount, address string) (string, error) {
	if _, err := d.enter(ctx, c, false); err != nil {
		return "", err
	}
	if _, err := d.account(c, adAccount); err != nil {
		return "", err
	}
	delay := d.options.VideoDelay
	switch {
	case strings.Contains(address, brokenMark):
		return brokenVideo, nil
	case strings.Contains(address, slowMark):
		delay += slowVideo
	}
	return strconv.FormatInt(int64(core.TimeOf(c.Now()).Add(delay)), 10), nil
}

// VideoReady implements ads.Network.
func (d *Driver) VideoReady(ctx context.Context, c ads.Conn, _, id string) (bool, error) {
	if _, err := d.enter(ctx, c, false); err != nil {
		return false, err
	}
	return isReady(id, core.TimeOf(c.Now()))
}

// isReady reports whether ads can show a video.
func isReady(id string, now core.Time) (bool, error) {
	if id == brokenVideo {
		return false, refuse("video_url", "The video cannot be read.")
	}
	from, err := strconv.ParseInt(id, 10, 64)
	if err != nil {
		return false, fmt.Errorf("video %s: %w", id, ads.ErrNotFound)
	}
	return now >= core.Time(from), nil
}

// checkCreative refuses a creative that does not go with the goal or the network, and one with a video that is not ready.
func checkCreative(caps ads.Caps, goal advert.Goal, creative advert.Creative, media ads.Media, now core.Time) error {
	if slices.Contains(caps.VideoGoals, goal) && creative.VideoURL == "" {
		return refuse("video_url", "The goal needs a video.")
	}
	if len(creative.Cards) > caps.Media.MaxCards {
		return refuse("cards", "There are too many cards.")
	}
	for _, address := range creative.Videos() {
		if done, err := isReady(media[address], now); err != nil || !done {
			return refuse("video_url", "The video was not uploaded.")
		}
	}
	return nil
}

// Shows implements ads.Network.
func (d *Driver) Shows(ctx context.Context, c ads.Conn, ref ads.Ref, token string) (bool, error) {
	t, err := d.adOf(ctx, c, ref)
	return err == nil && t.CreativeToken == token, err
}

// adOf returns an ad.
func (d *Driver) adOf(ctx context.Context, c ads.Conn, ref ads.Ref) (*thing, error) {
	account, err := d.read(ctx, c, ref.AdAccount)
	if err != nil {
		return nil, err
	}
	found, err := d.store.GetSandboxCampaigns(ctx, c.Account, c.Channel, []string{ref.ID})
	if err != nil {
		return nil, err
	}
	s, err := d.stateOf(&account, found, window{}, core.TimeOf(c.Now()))
	if err != nil {
		return nil, err
	}
	return s.find(ref)
}
