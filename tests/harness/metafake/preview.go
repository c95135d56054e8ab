package metafake

import (
	"encoding/json"
	"net/url"
	"strings"
)

// previewSpec shows a creative that was not made, if it could be.
func (f *Fake) previewSpec(r *request) (any, *Error) {
	var creative struct {
		Spec json.RawMessage `json:"object_story_spec"`
	}
	var spec struct {
		User string `json:"instagram_user_id"`
	}
	r.decode("creative", &creative)
	described := &request{node: r.node, params: url.Values{"object_story_spec": {string(creative.Spec)}}}
	if e := f.checkSpec(described); e != nil {
		return nil, e
	}
	if described.decode("object_story_spec", &spec); spec.User == "" && strings.HasPrefix(r.params.Get("ad_format"), "INSTAGRAM") {
		return nil, refused(1772103, "An ad on Instagram has instagram_user_id.")
	}
	return previewed(r), nil
}

// previewed answers with a page, as Meta does: in the HTML of a frame.
func previewed(r *request) any {
	body := `<iframe src="https://www.facebook.com/ads/api/preview_iframe.php?d=AQ` + strings.TrimPrefix(r.id, "act_") + `&amp;t=AQ1" width="335" height="450"></iframe>`
	return map[string]any{"data": []any{map[string]any{"body": body}}}
}
