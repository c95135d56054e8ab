package pinterestfake

import (
	"net/http"
	"net/url"
	"slices"
	"time"
)

func (c *call) listBoards() answer { return c.list(c.user.boards) }

// createBoard implements boards/create. A board for ads only is called what Pinterest calls it.
func (c *call) createBoard() answer {
	var item Object
	c.read(&item)
	board := merge(Object{"id": c.n.mint(), "is_ads_only": false}, item)
	if board.Is("is_ads_only") {
		board["name"] = "Ad-only Pins"
	}
	c.user.boards = append(c.user.boards, board)
	return answer{http.StatusCreated, board}
}

func (c *call) listPins() answer { return c.list(c.user.pins) }

func (c *call) getPin() answer {
	pin := row(c.user.pins, c.path("pin_id"))
	if pin == nil {
		return refuse(missing("Pin"))
	}
	return ok(pin)
}

// createPin implements the publication of a Pin with an image, with several, or with a video.
func (c *call) createPin() answer {
	var item Object
	c.read(&item)
	source, _ := item["media_source"].(map[string]any)
	if row(c.user.boards, item.Text("board_id")) == nil {
		return refuse(missing("Board"))
	}
	creative, refused := c.n.creativeOf(source)
	if refused != nil {
		return refuse(refused)
	}
	pin := merge(c.n.newPin(creative), only(item, "title", "description", "link"))
	c.user.pins = append(c.user.pins, pin)
	return answer{http.StatusCreated, pin}
}

// sources are the properties of each kind of source, besides its type.
var sources = map[string][]string{
	"image_url": {"url"}, "multiple_image_urls": {"items"}, "video_id": {"media_id", "cover_image_url", "cover_image_key_frame_time"},
}

// creativeOf returns the kind of creative that a source makes.
func (n *Network) creativeOf(source Object) (string, *refusal) {
	for name := range source {
		if kind := source.Text("source_type"); name != "source_type" && !slices.Contains(sources[kind], name) {
			return "", invalid("A source of the type %s has no %s.", kind, name)
		}
	}
	switch source.Text("source_type") {
	case "video_id":
		m := n.mediaWith(source.Text("media_id"))
		_, frame := source["cover_image_key_frame_time"]
		switch {
		case m == nil || m.state() != "succeeded": // rule P8
			return "", invalid("The video is not processed.")
		case source.Text("cover_image_url") == "" && !frame: // rule P8
			return "", invalid("A video Pin needs a cover image.")
		}
		return "VIDEO", nil
	case "multiple_image_urls":
		items, _ := source["items"].([]any)
		if len(items) < 2 {
			return "", invalid("A carousel has 2 to 5 images.")
		}
		for _, item := range items {
			image, _ := item.(map[string]any)
			if !isAddress(Object(image).Text("url")) {
				return "", invalid("The image cannot be fetched.")
			}
		}
		return "CAROUSEL", nil
	}
	if !isAddress(source.Text("url")) {
		return "", invalid("The image cannot be fetched.")
	}
	return "REGULAR", nil
}

func isAddress(text string) bool {
	address, err := url.Parse(text)
	return err == nil && address.Host != ""
}

func (c *call) deletePin() answer {
	pin := row(c.user.pins, c.path("pin_id"))
	if pin == nil {
		return refuse(missing("Pin"))
	}
	c.user.pins = slices.DeleteFunc(c.user.pins, func(o Object) bool { return o.Text("id") == pin.Text("id") })
	return answer{status: http.StatusNoContent}
}

func (n *Network) newPin(creative string) Object {
	return Object{"id": n.mint(), "creative_type": creative, "created_at": n.now().UTC().Format(time.RFC3339),
		"media": Object{"images": Object{"600x": Object{"url": "https://i.pinimg.example/600x/" + creative + ".jpg"}}}}
}

// AddBoard creates a board that everybody sees.
func (n *Network) AddBoard(token, name string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	u := n.userOf(token)
	u.boards = append(u.boards, Object{"id": n.mint(), "name": name, "is_ads_only": false})
}

// AddPin publishes a Pin of the token's user, REGULAR or VIDEO, and returns its id.
func (n *Network) AddPin(token, creative, title string) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	pin := merge(n.newPin(creative), Object{"title": title, "description": title + ", in words", "link": "https://shop.example/" + creative})
	u := n.userOf(token)
	u.pins = append(u.pins, pin)
	return pin.Text("id")
}
