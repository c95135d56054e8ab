// Package reference serves the pages about the API at /docs. They are drawn from the API's document, each when it is first asked for.
package reference

import (
	"bytes"
	"embed"
	"fmt"
	"net/http"
	"runtime/debug"
	"strings"
	"sync"

	"github.com/labstack/echo/v4"

	"github.com/tillwright/tillwright/gen/spec"
	"github.com/tillwright/tillwright/server/ui"
)

//go:embed *.html
var files embed.FS

//go:embed reference.css
var sheet []byte

//go:embed reference.js
var script []byte

// Options are what New needs.
type Options struct {
	PublicURL string // where the API is
	Develops  bool   // this is a development server: it has operations of its own, and a GET may be tried without being asked
	Document  []byte // in the place of the API's, in tests
}

// Reference serves the pages.
type Reference struct {
	text          []byte
	address       string
	develops      bool
	guides        []guide
	templates     *ui.Templates
	sheet, script *ui.Asset

	mu    sync.Mutex // one page is drawn at a time: reading the document takes memory
	drawn map[string]*ui.Packed
	names map[string]bool // that exist, once the document was read
}

// New returns the pages. It reads nothing of the document.
func New(o Options) (*Reference, error) {
	r := &Reference{text: spec.JSON, address: o.PublicURL, develops: o.Develops, drawn: map[string]*ui.Packed{}}
	if o.Document != nil {
		r.text = o.Document
	}
	var err error
	if r.guides, err = readGuides(); err != nil {
		return nil, err
	}
	if r.templates, err = ui.New(files, nil, []string{"frame.html", "schema.html"}, []string{"overview.html", "resource.html", "events.html", "guides.html", "guide.html", "missing.html"}); err != nil {
		return nil, err
	}
	if r.sheet, err = ui.NewAsset("reference.css", sheet); err != nil {
		return nil, err
	}
	r.script, err = ui.NewAsset("reference.js", script)
	return r, err
}

// Routes returns the handlers by route.
func (r *Reference) Routes() map[string]echo.HandlerFunc {
	asset := func(a *ui.Asset) echo.HandlerFunc {
		return func(c echo.Context) error { return a.Serve(c.Response(), c.Request()) }
	}
	return map[string]echo.HandlerFunc{
		"/docs":              func(c echo.Context) error { return r.answer(c, "") },
		"/docs/:resource":    func(c echo.Context) error { return r.answer(c, c.Param("resource")) },
		"/docs/guide/:guide": func(c echo.Context) error { return r.answer(c, guidesName+"/"+c.Param("guide")) },
		"/docs/search.json":  func(c echo.Context) error { return r.answer(c, searchName) },
		"/llms.txt":          func(c echo.Context) error { return r.answer(c, llmsName) },
		r.sheet.Address:      asset(r.sheet),
		r.script.Address:     asset(r.script),
	}
}

// Names of what is drawn that no page has: they are no part of a path.
const (
	searchName  = "/search.json"
	llmsName    = "/llms.txt"
	missingName = "/missing"
)

// answer answers with what is drawn under a name.
func (r *Reference) answer(c echo.Context, name string) error {
	page, status, err := r.page(name)
	if err != nil {
		return err
	}
	h := c.Response().Header()
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'self' "+ui.SheetHash()+"; script-src 'self'; connect-src 'self'; img-src 'self' "+ui.FaviconPolicy+"; form-action 'none'; frame-ancestors 'none'; base-uri 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set(echo.HeaderCacheControl, "no-cache")
	return page.Write(c.Response(), c.Request(), status)
}

// page returns what is drawn under a name, with its status. For a name that does not exist that is a page which says so. It is drawn once, and
// the document is not read for another such name.
func (r *Reference) page(name string) (*ui.Packed, int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	status := http.StatusOK
	if r.names != nil && !r.names[name] {
		name, status = missingName, http.StatusNotFound
	}
	if drawn := r.drawn[name]; drawn != nil {
		return drawn, status, nil
	}
	defer debug.FreeOSMemory() // the document is many times larger than a page
	d, err := read(r.text, r.develops)
	if err != nil {
		return nil, 0, err
	}
	r.names = r.namesOf(d)
	if !r.names[name] {
		name, status = missingName, http.StatusNotFound
	}
	drawn, err := r.draw(d, name)
	if err == nil {
		r.drawn[name] = drawn
	}
	return drawn, status, err
}

// namesOf returns all names under which something is drawn for who asks for it.
func (r *Reference) namesOf(d *document) map[string]bool {
	all := map[string]bool{"": true, eventsName: true, guidesName: true, searchName: true, llmsName: true}
	for _, g := range r.guides {
		all[guidesName+"/"+g.Name] = true
	}
	for _, op := range d.operations {
		all[slug(d.titleOf(op.Tags[0]))] = true
	}
	return all
}

// draw draws what has a name.
func (r *Reference) draw(d *document, name string) (*ui.Packed, error) {
	switch name {
	case searchName:
		return ui.Pack(echo.MIMEApplicationJSON, r.index(d))
	case llmsName:
		return ui.Pack("text/plain; charset=utf-8", []byte(r.llms(d)))
	case missingName:
		return r.html("missing.html", "Page not found", r.frame(d, ""))
	case "":
		return r.html("overview.html", "API reference", r.overview(d))
	case eventsName:
		return r.html("events.html", "Events", r.events(d))
	case guidesName:
		return r.html("guides.html", "Guides", r.frame(d, name))
	}
	if strings.HasPrefix(name, guidesName+"/") {
		page, err := r.guide(d, name)
		if err != nil {
			return nil, err
		}
		return r.html("guide.html", page.Title, page)
	}
	page, err := r.resource(d, name)
	if err != nil {
		return nil, fmt.Errorf("draw /docs/%s: %w", name, err)
	}
	return r.html("resource.html", page.Title, page)
}

func (r *Reference) html(template, title string, data any) (*ui.Packed, error) {
	var text bytes.Buffer
	if err := r.templates.Write(&text, template, ui.Frame{Title: title + " · Tillwright API"}, data); err != nil {
		return nil, err
	}
	return ui.Pack(echo.MIMETextHTMLCharsetUTF8, text.Bytes())
}
