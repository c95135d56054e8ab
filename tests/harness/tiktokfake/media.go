package tiktokfake

import "strings"

// video is a video of an ad account.
type video struct {
	id, name, url string
	looks         int // that find it still being worked on
}

// serveMedia serves videos and images.
func (n *Network) serveMedia(r *request) (any, *refusal, bool) {
	var data any
	var e *refusal
	switch r.operation {
	case "POST file/video/ad/upload":
		data, e = n.uploadVideo(r)
	case "GET file/video/ad/info":
		data, e = n.videos(r)
	case "POST file/image/ad/upload":
		data, e = n.uploadImage(r)
	default:
		return nil, nil, false
	}
	return data, e, true
}

// uploaded checks what an upload by an address must have.
func uploaded(r *request, address string) *refusal {
	switch {
	case r.account == nil:
		return invalid("advertiser_id is needed.")
	case r.params.Text("upload_type") != "UPLOAD_BY_URL":
		return invalid("upload_type: UPLOAD_BY_URL is played here.")
	case !strings.HasPrefix(r.params.Text(address), "http"):
		return invalid("%s: an address is needed.", address)
	}
	return nil
}

func (n *Network) uploadVideo(r *request) (any, *refusal) {
	if e := uploaded(r, "video_url"); e != nil {
		return nil, e
	}
	name := r.params.Text("file_name")
	for _, v := range r.account.videos {
		if v.name == name {
			return nil, broken("T13", "file_name: the name exists.")
		}
	}
	v := &video{"v10033" + n.id(), name, r.params.Text("video_url"), n.Slow}
	r.account.videos = append(r.account.videos, v)
	return []Object{{"video_id": v.id, "file_name": v.name, "displayable": false}}, nil
}

func (n *Network) videos(r *request) (any, *refusal) {
	ids := r.params.Texts("video_ids")
	if len(ids) == 0 || len(ids) > 60 {
		return nil, broken("T13", "video_ids: 1 to 60.")
	}
	list := []Object{}
	for _, v := range r.account.videos {
		for _, id := range ids {
			if v.id != id {
				continue
			}
			shown := Object{"video_id": v.id, "file_name": v.name, "displayable": v.looks == 0, "video_cover_url": ""}
			if v.looks > 0 {
				v.looks--
			} else {
				shown["video_cover_url"] = "https://p16.example/" + v.id + ".jpg"
			}
			list = append(list, shown)
		}
	}
	return Object{"list": list}, nil
}

func (n *Network) uploadImage(r *request) (any, *refusal) {
	if e := uploaded(r, "image_url"); e != nil {
		return nil, e
	}
	name := r.params.Text("file_name")
	for _, taken := range r.account.images {
		if taken == name || name == "" {
			return nil, broken("T13", "file_name: the name exists.")
		}
	}
	id := "ad-site-i18n/" + n.id()
	r.account.images[id] = name
	return Object{"image_id": id, "file_name": name}, nil
}
