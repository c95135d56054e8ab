package meta

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store/advert"
)

// storySpec describes a post that exists only as an ad.
type storySpec struct {
	Page      string     `json:"page_id,omitempty"`
	Instagram string     `json:"instagram_user_id,omitempty"`
	Link      *linkData  `json:"link_data,omitempty"`
	Video     *videoData `json:"video_data,omitempty"`
}

type linkData struct {
	Link        string       `json:"link"`
	Message     string       `json:"message"`
	Name        string       `json:"name,omitempty"`
	Description string       `json:"description,omitempty"`
	Picture     string       `json:"picture,omitempty"`
	Children    []child      `json:"child_attachments,omitempty"`
	Action      callToAction `json:"call_to_action"`
}

// child is a card of a carousel. A video has a picture, too.
type child struct {
	Link        string `json:"link"`
	Name        string `json:"name,omitempty"`
	Description string `json:"description,omitempty"`
	Picture     string `json:"picture,omitempty"`
	Video       string `json:"video_id,omitempty"`
}

// videoData is a video with the picture that people see before it plays.
type videoData struct {
	Video       string       `json:"video_id"`
	Image       string       `json:"image_url,omitempty"`
	Message     string       `json:"message"`
	Title       string       `json:"title,omitempty"`
	Description string       `json:"link_description,omitempty"`
	Action      callToAction `json:"call_to_action"`
}

type callToAction struct {
	Type  string `json:"type"`
	Value struct {
		Link string `json:"link,omitempty"`
		Form string `json:"lead_gen_form_id,omitempty"`
	} `json:"value"`
}

// creative returns what the post shows. Meta does not say where a video came from.
func (s storySpec) creative() advert.Creative {
	switch l, v := s.Link, s.Video; {
	case v != nil:
		return advert.Creative{Headline: v.Title, Body: v.Message, Description: v.Description, CallToAction: v.Action.Type, LinkURL: v.Action.Value.Link,
			ThumbnailURL: v.Image}
	case l != nil:
		c := advert.Creative{Headline: l.Name, Body: l.Message, Description: l.Description, CallToAction: l.Action.Type, LinkURL: l.Link, ImageURL: l.Picture}
		for _, card := range l.Children {
			c.Cards = append(c.Cards, advert.Card{ImageURL: card.Picture, Headline: card.Name, Description: card.Description, LinkURL: card.Link})
		}
		return c
	}
	return advert.Creative{}
}

// showsVideo reports whether the post has a video, as its only medium or on a card.
func (s storySpec) showsVideo() bool {
	return s.Video != nil || s.Link != nil && slices.ContainsFunc(s.Link.Children, func(card child) bool { return card.Video != "" })
}

// action returns the call to action of the post.
func (s storySpec) action() callToAction {
	switch {
	case s.Video != nil:
		return s.Video.Action
	case s.Link != nil:
		return s.Link.Action
	}
	return callToAction{}
}

// isOurs reports whether the creative was made by this program: what its video is, is known better here.
func (c creativeNode) isOurs() bool {
	return slices.ContainsFunc(c.Labels, func(l label) bool { return strings.HasPrefix(l.Name, "adact_") })
}

// creativeParams returns the parameters for what an ad shows: the post to boost, or a post of its own.
func (n *Network) creativeParams(ctx context.Context, c ads.Conn, plan ads.Plan, one ads.AdPlan, p pageNode) (url.Values, error) {
	params := url.Values{"name": {one.Name}, "adlabels": {labels(one.Token)}}
	switch {
	case plan.Post == nil:
		form, err := formOf(plan)
		if err != nil {
			return nil, err
		}
		spec, err := n.spec(ctx, c, one.Creative, plan.Media, form, p)
		params.Set("object_story_spec", jsonText(spec))
		return params, err
	case n.caps.Platform == advert.PlatformInstagram:
		params.Set("source_instagram_media_id", plan.Post.PlatformID)
		params.Set("instagram_user_id", p.Instagram.ID)
		params.Set("object_id", p.ID)
	default:
		params.Set("object_story_id", plan.Post.PlatformID)
	}
	return params, nil
}

// formOf returns the lead form that a plan promotes, or "".
func formOf(plan ads.Plan) (string, error) {
	var promoted map[string]any
	err := plan.PromotedObject.Decode(&promoted)
	form, _ := promoted[leadForm].(string)
	return form, err
}

// spec returns the description of the post that is made for an ad. A lead form is part of it, though a plan names it in the
// promoted object.
func (n *Network) spec(ctx context.Context, conn ads.Conn, c advert.Creative, media ads.Media, form string, p pageNode) (storySpec, error) {
	action := callToAction{Type: c.CallToAction}
	action.Value.Link, action.Value.Form = c.LinkURL, form
	spec := storySpec{Page: p.ID}
	if n.caps.Platform == advert.PlatformInstagram {
		spec.Instagram = p.Instagram.ID
	}
	var err error
	if c.VideoURL == "" {
		spec.Link = &linkData{Link: c.LinkURL, Message: c.Body, Name: c.Headline, Description: c.Description, Picture: c.ImageURL, Action: action}
		spec.Link.Children, err = n.children(ctx, conn, c, media)
		return spec, err
	}
	spec.Video = &videoData{Video: media[c.VideoURL], Image: c.ThumbnailURL, Message: c.Body, Title: c.Headline, Description: c.Description, Action: action}
	if c.ThumbnailURL == "" {
		spec.Video.Image, err = n.frame(ctx, conn, spec.Video.Video)
	}
	return spec, err
}

// children returns the cards of a carousel. A card without a link of its own leads where the ad does.
func (n *Network) children(ctx context.Context, conn ads.Conn, c advert.Creative, media ads.Media) (cards []child, err error) {
	for _, card := range c.Cards {
		of := child{Link: cmp.Or(card.LinkURL, c.LinkURL), Name: card.Headline, Description: card.Description, Picture: card.ImageURL}
		if card.VideoURL != "" {
			of.Video = media[card.VideoURL]
			if of.Picture, err = n.frame(ctx, conn, of.Video); err != nil {
				return nil, err
			}
		}
		cards = append(cards, of)
	}
	return cards, nil
}

// videoNode is a video that was uploaded.
type videoNode struct {
	Picture string // a frame of it
	Status  struct {
		Word string `json:"video_status"`
	}
}

// frame returns the address of a frame of a video, which stands for it before it plays.
func (n *Network) frame(ctx context.Context, c ads.Conn, id string) (string, error) {
	var video videoNode
	err := n.graph.get(ctx, c.Token, place{id: id}, url.Values{"fields": {"picture"}}, &video)
	return video.Picture, err
}

// UploadVideo implements ads.Network. Meta fetches the video from its address itself.
func (n *Network) UploadVideo(ctx context.Context, c ads.Conn, adAccount, address string) (string, error) {
	ctx, cancel := n.bounded(ctx)
	defer cancel()
	var video made
	err := n.graph.post(ctx, c.Token, place{adAccount, "advideos"}, url.Values{"file_url": {address}}, &video)
	if err == nil && video.ID == "" {
		err = fmt.Errorf("%w: the upload was answered without an id", ads.ErrIndeterminate)
	}
	return video.ID, err
}

// VideoReady implements ads.Network.
func (n *Network) VideoReady(ctx context.Context, c ads.Conn, _, id string) (bool, error) {
	ctx, cancel := n.bounded(ctx)
	defer cancel()
	var video videoNode
	if err := n.graph.get(ctx, c.Token, place{id: id}, url.Values{"fields": {"status"}}, &video); err != nil {
		return false, err
	}
	if video.Status.Word == "error" {
		return false, &ads.Rejected{Field: "video_url", Message: "The video cannot be read.", Raw: "video_status"}
	}
	return video.Status.Word == "ready", nil
}

// replacement makes the creative that an ad is to show from now on, and returns the parameters that swap it. If the ad shows the
// creative of this very change already, there is nothing to swap. A lead form is taken over.
func (n *Network) replacement(ctx context.Context, c ads.Conn, ref ads.Ref, patch ads.Patch) (url.Values, error) {
	var ad adNode
	if err := n.graph.get(ctx, c.Token, place{id: ref.ID}, url.Values{"fields": {adFields}}, &ad); err != nil || ad.Creative.carries(patch.Token) {
		return nil, err
	}
	page, err := n.pageOf(ctx, c, nil)
	if err != nil {
		return nil, err
	}
	spec, err := n.spec(ctx, c, *patch.Creative, patch.Media, ad.Creative.Spec.action().Value.Form, page)
	if err != nil {
		return nil, err
	}
	var creative made
	params := url.Values{"name": {ad.Name}, "adlabels": {labels(patch.Token)}, "object_story_spec": {jsonText(spec)}}
	err = n.graph.post(ctx, c.Token, place{ref.AdAccount, "adcreatives"}, params, &creative)
	if errors.Is(err, ads.ErrIndeterminate) || err == nil && creative.ID == "" { // a creative that no ad shows does nothing
		return nil, fmt.Errorf("meta: whether the creative was made is not known: %w", ads.ErrUnavailable)
	}
	swap := url.Values{"creative": {jsonText(map[string]string{"creative_id": creative.ID})}}
	if domain := domainOf(patch.Creative.LinkURL); domain != "" {
		swap.Set("conversion_domain", domain)
	}
	return swap, err
}

// Shows implements ads.Network.
func (n *Network) Shows(ctx context.Context, c ads.Conn, ref ads.Ref, token string) (bool, error) {
	ctx, cancel := n.bounded(ctx)
	defer cancel()
	var ad adNode
	err := n.graph.get(ctx, c.Token, place{id: ref.ID}, url.Values{"fields": {adFields}}, &ad)
	return err == nil && ad.Creative.carries(token), err
}

// labels returns the parameter that attaches the token as an ad label. Meta makes a label with a new name when it is
// used for the first time.
func labels(token string) string { return jsonText([]map[string]string{{"name": token}}) }
