package pinterestfake

import (
	"bytes"
	"io"
	"net/http"
	"slices"
)

// uploadPath is where videos are sent to. At the network that is another company's host.
const uploadPath = "/upload/"

// media is a video that was announced.
type media struct {
	id      string
	video   []byte // nil until it was sent
	pending int    // looks until it is processed
}

// state is how far the network is with it. A video that begins with "broken" fails.
func (m *media) state() string {
	switch {
	case m.video == nil:
		return "registered"
	case m.pending > 0:
		return "processing"
	case bytes.HasPrefix(m.video, []byte("broken")):
		return "failed"
	}
	return "succeeded"
}

// SlowVideos makes so many looks at a video find it still processing.
func (n *Network) SlowVideos(looks int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.slow = looks
}

// UploadTo lets videos be sent to another host than upload.example.
func (n *Network) UploadTo(url string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.uploads = url
}

// Videos returns the videos that were sent.
func (n *Network) Videos() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	var videos []string
	for _, m := range n.media {
		if m.video != nil {
			videos = append(videos, string(m.video))
		}
	}
	return videos
}

func (n *Network) mediaWith(id string) *media {
	i := slices.IndexFunc(n.media, func(m *media) bool { return m.id == id })
	if i < 0 {
		return nil
	}
	return n.media[i]
}

func (c *call) createMedia() answer {
	m := &media{id: c.n.mint(), pending: c.n.slow}
	c.n.media = append(c.n.media, m)
	return answer{http.StatusCreated, Object{"media_id": m.id, "upload_url": c.n.uploads + uploadPath + m.id,
		"upload_parameters": Object{"key": "uploads/" + m.id, "policy": "eyJleHBpcmF0aW9uIjoiMj"}}}
}

func (c *call) getMedia() answer {
	m := c.n.mediaWith(c.path("media_id"))
	if m == nil {
		return refuse(missing("Media"))
	}
	state := m.state()
	if m.video != nil && m.pending > 0 {
		m.pending--
	}
	return ok(Object{"media_id": m.id, "status": state})
}

// receive takes a video. As the store behind the network does, it wants to know its size first, the parameters before it, and
// nobody's token.
func (n *Network) receive(w http.ResponseWriter, r *http.Request) {
	n.mu.Lock()
	m := n.mediaWith(r.PathValue("media_id"))
	n.mu.Unlock()
	form, err := r.MultipartReader()
	if err != nil || m == nil || r.ContentLength <= 0 || r.Header.Get("Authorization") != "" {
		w.WriteHeader(http.StatusForbidden)
		return
	}
	sent := map[string]string{}
	for {
		part, err := form.NextPart()
		if err != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		data, err := io.ReadAll(part)
		switch {
		case err != nil:
			w.WriteHeader(http.StatusBadRequest)
			return
		case part.FormName() != "file":
			sent[part.FormName()] = string(data)
			continue
		case sent["key"] != "uploads/"+m.id || sent["policy"] == "":
			w.WriteHeader(http.StatusForbidden)
			return
		}
		n.mu.Lock()
		defer n.mu.Unlock()
		m.video = data
		w.WriteHeader(http.StatusNoContent)
		return
	}
}
