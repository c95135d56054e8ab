package meta

import (
	"net/url"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store/advert"
)

// storySpec describes a post that exists only as an ad.
type storySpec struct {
	Page      string   `json:"page_id,omitempty"`
	Instagram string   `json:"instagram_user_id,omitempty"`
	Link      linkData `json:"link_data"`
}

type linkData struct {
	Link    string       `json:"link"`
	Message string       `json:"message"`
	Name    string       `json:"name,omitempty"`
	Picture string       `json:"picture,omitempty"`
	Action  callToAction `json:"call_to_action"`
}

type callToAction struct {
	Type  string `json:"type"`
	Value struct {
		Link string `json:"link,omitempty"`
		Form string `json:"lead_gen_form_id,omitempty"`
	} `json:"value"`
}

// creative returns what the post shows.
func (s storySpec) creative() advert.Creative {
	l := s.Link
	return advert.Creative{Headline: l.Name, Body: l.Message, CallToAction: l.Action.Type, LinkURL: l.Link, ImageURL: l.Picture}
}

// creativeParams returns the parameters for what an ad shows: the post to boost, or a post of its own.
func (n *Network) creativeParams(plan ads.Plan, p pageNode) (url.Values, error) {
	params := url.Values{"name": {plan.Name}, "adlabels": {labels(plan.Token)}}
	switch {
	case plan.Post == nil:
		spec, err := n.spec(plan, p)
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

// spec returns the description of the post that is made for an ad. A lead form is part of it, though the plan names it
// in the promoted object.
func (n *Network) spec(plan ads.Plan, p pageNode) (storySpec, error) {
	c := plan.Creative
	link := linkData{Link: c.LinkURL, Message: c.Body, Name: c.Headline, Picture: c.ImageURL, Action: callToAction{Type: c.CallToAction}}
	spec := storySpec{Page: p.ID, Link: link}
	if n.caps.Platform == advert.PlatformInstagram {
		spec.Instagram = p.Instagram.ID
	}
	var promoted map[string]any
	err := plan.PromotedObject.Decode(&promoted)
	spec.Link.Action.Value.Link = c.LinkURL
	spec.Link.Action.Value.Form, _ = promoted[leadForm].(string)
	return spec, err
}

// labels returns the parameter that attaches the token as an ad label. Meta makes a label with a new name when it is
// used for the first time.
func labels(token string) string { return jsonText([]map[string]string{{"name": token}}) }
