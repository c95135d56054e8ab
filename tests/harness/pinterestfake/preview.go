package pinterestfake

// createPreview answers with the page of a Pin that could be an ad, or of an image with a title. It makes neither.
func (c *call) createPreview() answer {
	var item Object
	c.read(&item)
	id, image, title := item.Text("pin_id"), item.Text("image_url"), item.Text("title")
	switch pin := row(c.user.pins, id); {
	case id != "" && image+title != "":
		return refuse(invalid("A preview is of pin_id, or of image_url and title."))
	case id != "" && pin == nil:
		return refuse(missing("Pin"))
	case id != "" && pin.Text("link") == "":
		return refuse(invalid("The Pin has no link, so that it cannot be promoted."))
	case id == "" && (!isAddress(image) || title == ""):
		return refuse(invalid("A preview needs image_url and title."))
	}
	return ok(Object{"url": "https://ads.pinterest.com/ad-preview/" + c.n.mint() + "/"})
}
