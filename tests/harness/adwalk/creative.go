package adwalk

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tillwright/tillwright/sdk"
)

// day is so many days from now.
func day(ahead int) string { return time.Now().UTC().AddDate(0, 0, ahead).Format(time.DateOnly) }

// less is a cent less than an amount.
func less(amount json.Number) json.Number {
	n, _ := new(big.Rat).SetString(string(amount))
	return json.Number(n.Sub(n, big.NewRat(1, 100)).FloatString(2))
}

// shows is what a creative has that shows a kind of media, and nothing else.
func (w *World) shows(kind sdk.AdMediaRulesKinds) object {
	change := object{"image_url": nil, "video_url": nil, "cards": nil}
	switch kind {
	case "image":
		change["image_url"] = w.Image
	case "video":
		change["video_url"] = w.Video
	default:
		change["cards"] = w.pictures(2)
	}
	return change
}

// pictures are so many cards.
func (w *World) pictures(cards int) []object {
	return slices.Repeat([]object{{"image_url": w.Image, "headline": "Card", "link_url": "https://shop.example/card"}}, cards)
}

// fields are those of each kind of media.
var fields = map[sdk.AdMediaRulesKinds]string{"image": "image_url", "video": "video_url", "carousel": "cards"}

func (w *World) media(t *testing.T) {
	for kind, field := range fields {
		w.is(t, slices.Contains(w.Can.Media.Kinds, kind), field, "ads that show a "+string(kind), w.make(w.shows(kind)))
	}
	nothing := w.make(object{"image_url": nil, "video_url": nil})
	w.is(t, w.Can.Media.Optional, fields[w.Can.Media.Kinds[0]], "ads of text alone", nothing)

	ad := w.made(t)
	next := &sdk.AdCreativeInput{}
	body := object{"headline": "Another", "body": "Body", "link_url": "https://shop.example/offer", "call_to_action": "LEARN_MORE"}
	maps.Copy(body, w.shows(w.Can.Media.Kinds[0]))
	into(body, next)
	_, err := w.Ads.Update(background, ad.ID, &sdk.AdUpdate{Platform: &w.Can.Platform, Creative: next})
	w.is(t, w.Can.Media.Replaceable, "creative", "another creative for an ad", err)
}

func (w *World) cards(t *testing.T) {
	most := int(w.Can.Media.MaxCards)
	with := func(cards []object) error { return w.make(w.shows("carousel"), object{"cards": cards}) }
	for _, cards := range []int{1, 2, most, most + 1} {
		if cards > 0 && cards <= 10 { // as many as there can be in a request
			w.is(t, cards >= 2 && cards <= most, "cards", fmt.Sprintf("%d cards", cards), with(w.pictures(cards)))
		}
	}
	if most > 0 {
		w.is(t, w.Can.Media.VideoCards, "cards.1.video_url", "a video on a card", with([]object{w.pictures(1)[0], {"video_url": w.Video}}))
	}
}

func (w *World) creatives(t *testing.T) {
	for _, field := range w.Can.Creative.Required {
		w.no(t, field, "ads without "+field, w.make(object{field: nil}))
	}
	for _, field := range w.Can.Creative.Ignored {
		value := any("Words")
		if field == "call_to_action" {
			value = "LEARN_MORE"
		}
		ad := w.made(t, object{field: value})
		if !slices.ContainsFunc(ad.Warnings, func(said string) bool { return strings.HasPrefix(said, field) }) {
			t.Errorf("%s is said to ignore %s, of which the ad warns by %v", w.Can.Platform, field, ad.Warnings)
		}
	}
	for field, most := range w.Can.Creative.Limits {
		w.yes(t, "the longest "+field, w.make(object{field: textOf(most)}))
		w.no(t, field, "a longer "+field, w.make(object{field: textOf(most + 1)}))
	}
	w.actions(t)
}

// actions makes an ad with each call to action, ten of them at a time.
func (w *World) actions(t *testing.T) {
	t.Helper()
	for some := range slices.Chunk(w.Can.CallToActions, 10) {
		var several []object
		for _, action := range some {
			one := object{"name": action, "headline": "Headline", "body": "Body", "call_to_action": action, "link_url": "https://shop.example/offer"}
			maps.Copy(one, w.shows(w.Can.Media.Kinds[0]))
			maps.DeleteFunc(one, func(_ string, value any) bool { return value == nil })
			several = append(several, one)
		}
		alone := object{"headline": nil, "body": nil, "call_to_action": nil, "link_url": nil, "image_url": nil, "video_url": nil, "cards": nil, "creatives": several}
		w.yes(t, fmt.Sprint("the calls to action ", some), w.make(alone))
	}
	if !slices.Contains(w.Can.Creative.Ignored, "call_to_action") {
		w.no(t, "call_to_action", "a call to action that there is none of", w.make(object{"call_to_action": "NO_SUCH_ACTION"}))
	}
}
