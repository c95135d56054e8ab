package ui

import (
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// host is what the host of a picture may look like. It goes into the page's policy, where a semicolon would begin a rule.
var host = regexp.MustCompile(`^[a-zA-Z0-9.-]+(:[0-9]+)?$`)

// Picture returns the address of a picture that a seller chose, empty if a page may not show it: over http a browser would ask for it
// in the clear.
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

// ImagePolicy returns the part of a Content-Security-Policy that lets a page show these pictures and its icon, and no others. It names their
// hosts: a browser compares no more of an address that redirects.
func ImagePolicy(pictures []string) string {
	hosts := []string{FaviconPolicy}
	for _, picture := range pictures {
		if u, err := url.Parse(picture); picture != "" && err == nil && !slices.Contains(hosts, "https://"+u.Host) {
			hosts = append(hosts, "https://"+u.Host)
		}
	}
	return "; img-src " + strings.Join(hosts, " ")
}
