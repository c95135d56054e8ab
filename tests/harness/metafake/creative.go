package metafake

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
		return nil, refused(1885183, "A creative needs a post or the description of one.")
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
			Action                       struct {
				Type  string
				Value struct{ Link string }
			} `json:"call_to_action"`
		} `json:"link_data"`
	}
	r.decode("object_story_spec", &spec)
	page, user := f.nodes[spec.Page], f.nodes[spec.User]
	switch {
	case page == nil || page.node != "Page":
		return broken("K1", 1885833, "page_id must be a page of the caller.")
	case spec.User != "" && (user == nil || user.node != "IGUser"):
		return refused(1772103, "instagram_user_id must be an account of the page.")
	case spec.Link.Link == "" || spec.Link.Message == "":
		return refused(1885183, "link_data needs a link and a message.")
	case spec.Link.Action.Type == "" || spec.Link.Action.Value.Link != spec.Link.Link:
		return broken("K2", 0, "call_to_action needs a type and the link of link_data.")
	}
	return nil
}

// link returns where a creative leads to, "" for a post.
func (o *object) link() string {
	spec, _ := o.fields["object_story_spec"].(map[string]any)
	link, _ := spec["link_data"].(map[string]any)
	address, _ := link["link"].(string)
	return address
}

// form returns the instant form of a creative.
func (o *object) form() string {
	spec, _ := o.fields["object_story_spec"].(map[string]any)
	link, _ := spec["link_data"].(map[string]any)
	action, _ := link["call_to_action"].(map[string]any)
	value, _ := action["value"].(map[string]any)
	id, _ := value["lead_gen_form_id"].(string)
	return id
}
