package metafake

import "strings"

// createCreative creates what an ad shows: a post that exists, or the description of a new one.
func (f *Fake) createCreative(r *request) (any, *Error) {
	var check func(*request) *Error
	switch {
	case r.params.Has("object_story_id"):
		check = f.checkStory
	case r.params.Has("source_instagram_media_id"):
		check = f.checkMedia
	case r.params.Has("object_story_spec"):
		check = f.checkSpec
	default:
		return nil, invalid("A creative needs a post or the description of one.")
	}
	if f.Development {
		return nil, broken("K8", 1885183, "Ads creative post was created by an app that is in development mode. It must be in public to create this ad.")
	}
	if e := check(r); e != nil {
		return nil, e
	}
	fields := map[string]any{"account_id": r.account()}
	for _, name := range []string{"name", "object_story_id", "source_instagram_media_id", "instagram_user_id"} {
		if r.params.Has(name) {
			fields[name] = r.params.Get(name)
		}
	}
	var spec map[string]any
	if r.decode("object_story_spec", &spec); spec != nil {
		fields["object_story_spec"] = spec
	}
	o := f.add("AdCreative", fields)
	f.label(o, r)
	return map[string]any{"id": o.id()}, nil
}

func (f *Fake) checkStory(r *request) *Error {
	if o := f.nodes[r.params.Get("object_story_id")]; o == nil || o.node != "PagePost" {
		return refused(1487472, "The post does not exist or cannot be promoted.")
	}
	return nil
}

func (f *Fake) checkMedia(r *request) *Error {
	named := func(param string) string { return nodeOf(f.nodes[r.params.Get(param)]) }
	if named("source_instagram_media_id") != "IGMedia" || named("instagram_user_id") != "IGUser" || named("object_id") != "Page" {
		return refused(1487472, "The media, its account and a page are needed to promote it.")
	}
	return nil
}

// checkSpec checks the description of a new post.
func (f *Fake) checkSpec(r *request) *Error {
	var spec struct {
		Page string `json:"page_id"`
		User string `json:"instagram_user_id"`
		Link struct {
			Link, Message, Name, Picture string
			Children                     []struct {
				Link, Picture string
				Video         string `json:"video_id"`
			} `json:"child_attachments"`
			Action action `json:"call_to_action"`
		} `json:"link_data"`
		Video *video `json:"video_data"`
	}
	r.decode("object_story_spec", &spec)
	page, user := f.nodes[spec.Page], f.nodes[spec.User]
	switch {
	case page == nil || page.node != "Page":
		return broken("K1", 1885833, "page_id must be a page of the caller.")
	case spec.User != "" && (user == nil || user.node != "IGUser"):
		return refused(1772103, "instagram_user_id must be an account of the page.")
	case spec.Video != nil:
		return f.checkVideo(spec.Video)
	case spec.Link.Link == "" || spec.Link.Message == "":
		return invalid("link_data needs a link and a message.")
	case spec.Link.Action.Type == "" || spec.Link.Action.Value.Link != spec.Link.Link:
		return broken("K2", 0, "call_to_action needs a type and the link of link_data.")
	case len(spec.Link.Children) == 1 || len(spec.Link.Children) > 10:
		return broken("K3", 0, "A carousel has 2 to 10 child_attachments.")
	}
	for _, child := range spec.Link.Children {
		switch {
		case child.Link == "" || child.Picture == "":
			return broken("K3", 0, "Each of child_attachments has a link and a picture.")
		case child.Video != "" && !f.isReady(child.Video):
			return broken("K4", 0, "The video is not ready.")
		}
	}
	return nil
}

type action struct {
	Type  string
	Value struct{ Link string }
}

// video is what a creative says of its video.
type video struct {
	ID      string `json:"video_id"`
	Image   string `json:"image_url"`
	Hash    string `json:"image_hash"`
	Message string
	Action  action `json:"call_to_action"`
}

// checkVideo checks the description of a post with a video: rule K4.
func (f *Fake) checkVideo(v *video) *Error {
	switch {
	case !f.isReady(v.ID):
		return broken("K4", 0, "The video is not ready.")
	case v.Image == "" && v.Hash == "":
		return broken("K4", 1443226, "Please provide a thumbnail: image_hash or image_url in video_data.")
	case v.Action.Type == "" || v.Action.Value.Link == "":
		return broken("K2", 0, "call_to_action needs a type and a link.")
	}
	return nil
}

// isReady reports whether a video is one that was uploaded and processed.
func (f *Fake) isReady(id string) bool {
	o := f.nodes[id]
	return o != nil && o.node == "AdVideo" && f.stateOfVideo(o) == "ready"
}

// createVideo begins to fetch a video from its address.
func (f *Fake) createVideo(r *request) (any, *Error) {
	if r.params.Get("file_url") == "" {
		return nil, invalid("file_url is needed")
	}
	o := f.add("AdVideo", map[string]any{"source": r.params.Get("file_url"), "title": r.params.Get("title")})
	f.link(r.id, "advideos", o)
	f.pending[o.id()] = f.Slow
	return map[string]any{"id": o.id()}, nil
}

// stateOfVideo is how far a video is: it takes Slow reads until it is ready. One at an address with "broken" in it never is.
func (f *Fake) stateOfVideo(o *object) string {
	switch {
	case f.pending[o.id()] > 0:
		return "processing"
	case strings.Contains(o.text("source"), "broken"):
		return "error"
	}
	return "ready"
}

func (f *Fake) showVideo(r *request) any {
	state := f.stateOfVideo(r.node)
	r.node.set(f.table, "status", map[string]any{"video_status": state})
	if state == "ready" {
		r.node.set(f.table, "picture", "https://video.example/"+r.node.id()+".jpg")
	}
	if f.pending[r.node.id()] > 0 {
		f.pending[r.node.id()]--
	}
	return f.show(r.node, r.fields)
}

// Videos returns the addresses of the videos that were uploaded.
func (f *Fake) Videos() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	var addresses []string
	for _, id := range f.order {
		if o := f.nodes[id]; o != nil && o.node == "AdVideo" {
			addresses = append(addresses, o.text("source"))
		}
	}
	return addresses
}

// link returns where a creative leads to, "" for a post.
func (o *object) link() string {
	spec, _ := o.fields["object_story_spec"].(map[string]any)
	if video, is := spec["video_data"].(map[string]any); is {
		action, _ := video["call_to_action"].(map[string]any)
		value, _ := action["value"].(map[string]any)
		address, _ := value["link"].(string)
		return address
	}
	link, _ := spec["link_data"].(map[string]any)
	address, _ := link["link"].(string)
	return address
}

// form returns the instant form of a creative.
func (o *object) form() string {
	spec, _ := o.fields["object_story_spec"].(map[string]any)
	link, is := spec["video_data"].(map[string]any)
	if !is {
		link, _ = spec["link_data"].(map[string]any)
	}
	action, _ := link["call_to_action"].(map[string]any)
	value, _ := action["value"].(map[string]any)
	id, _ := value["lead_gen_form_id"].(string)
	return id
}
