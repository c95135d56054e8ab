package ui

import (
	_ "embed"
	"html/template"
	"net/url"
	"strings"
)

//go:embed favicon.svg
var bag string

// favicon is part of the page, so that a browser asks no address for it. A page that has it needs FaviconPolicy.
var favicon = template.HTML(`<link rel="icon" href="data:image/svg+xml,` + url.PathEscape(strings.TrimSpace(bag)) + `">`)

// FaviconPolicy is the source in a Content-Security-Policy's img-src that lets a page have Favicon.
const FaviconPolicy = "data:"

// Favicon returns the element by which a page has the icon that browsers show beside its title.
func Favicon() template.HTML { return favicon }
