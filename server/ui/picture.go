package ui

import (
	"net/url"
	"regexp"
)

// Image is a picture of ours on a page, with its size in pixels so that nothing moves when it has come. The zero value is none.
type Image struct {
	Address       string
	Set           string // other widths of it, as srcset says them, empty for none
	Width, Height int
}

// host is what the host of a picture may look like.
var host = regexp.MustCompile(`^[a-zA-Z0-9.-]+(:[0-9]+)?$`)

// Picture returns the address of a picture that a seller chose for a site. It is empty if a page may not show it: over http a browser would ask
// for it in the clear.
func Picture(address *string) string {
	if address == nil {
		return ""
	}
	u, err := url.Parse(*address)
	if err != nil || u.Scheme != "https" || u.User != nil || !host.MatchString(u.Host) {
		return ""
	}
	return u.String()
}
