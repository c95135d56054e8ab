// Package devmail serves the page /dev/mail, which shows the letters that a development server wrote as files. Whoever reads them can sign in as
// others, by a link to choose another password. So the page is there only where the public URL is that of this machine, and answers only a browser on
// it.
package devmail

import (
	"bytes"
	"errors"
	"io/fs"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/tillwright/tillwright/server/mail"
	"github.com/tillwright/tillwright/server/ui"
	"github.com/tillwright/tillwright/store/core"
)

// Path is where the page is.
const Path = "/dev/mail"

// shown is how many letters the page lists.
const shown = 200

const (
	policy = "default-src 'none'; style-src 'self'; img-src " + ui.FaviconPolicy + "; frame-src 'self'; form-action 'none'; frame-ancestors 'none'; base-uri 'none'"

	// letterPolicy has a letter do no more than a mail program lets it. Its style stands at its elements, and its links open beside the page.
	letterPolicy = "sandbox allow-popups allow-popups-to-escape-sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; form-action 'none'; frame-ancestors 'self'; base-uri 'none'"
)

// Box shows the letters of a folder.
type Box struct {
	folder    mail.Folder
	templates *ui.Templates
	sheet     *ui.Asset
}

// New returns the page of a folder.
func New(f mail.Folder) (*Box, error) {
	templates, err := ui.NewDesk()
	if err != nil {
		return nil, err
	}
	sheet, err := ui.DeskSheet()
	return &Box{f, templates, sheet}, err
}

// Serves reports whether a server with a public URL has the page: one that others reach, such as through a tunnel, has none.
func Serves(publicURL string) bool {
	u, err := url.Parse(publicURL)
	return err == nil && u.Scheme == "http" && isLocal(u.Host)
}

// Routes returns the handlers by route. The style sheet is the dashboard's.
func (b *Box) Routes() map[string]echo.HandlerFunc {
	return map[string]echo.HandlerFunc{
		Path:                 near(b.list),
		Path + "/:name":      near(b.letter),
		Path + "/:name/html": near(b.html),
	}
}

// near has serve answer a browser on this machine, and others with 404. A page of another site whose name leads here by DNS has another Host. A proxy
// says in a header that it forwards, or speaks HTTP/1.0, as no browser does. One that does neither and sends a Host of this machine is taken for a
// browser. So is a tunnel that forwards a port, such as ssh -R: nothing tells them apart.
func near(serve echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		r := c.Request()
		peer, err := netip.ParseAddrPort(r.RemoteAddr)
		if err != nil || !peer.Addr().Unmap().IsLoopback() || !isLocal(r.Host) || !r.ProtoAtLeast(1, 1) || isForwarded(r.Header) {
			return missing()
		}
		return serve(c)
	}
}

// forwarding are the beginnings of the headers by which proxies say that they forward a request, and for whom.
var forwarding = []string{"Forwarded", "Via", "X-Forwarded", "X-Real-Ip", "X-Client-Ip", "X-Original-", "True-Client-Ip", "Cf-", "Cdn-Loop"}

func isForwarded(h http.Header) bool {
	for name := range h {
		if slices.ContainsFunc(forwarding, func(begins string) bool { return strings.HasPrefix(name, begins) }) {
			return true
		}
	}
	return false
}

func missing() error {
	return &core.Error{Code: core.CodeMissing, Message: "There is nothing here for you. Open " + Path + " by http://127.0.0.1 or http://localhost, on the machine of the server."}
}

// isLocal reports whether a Host names this machine.
func isLocal(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	addr, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return strings.EqualFold(host, "localhost") || err == nil && addr.Unmap().IsLoopback()
}

// list lists the letters, newest first.
func (b *Box) list(c echo.Context) error {
	letters, err := b.folder.List(shown)
	if err != nil {
		return err
	}
	t := &ui.Table{Label: "Letters", Columns: []string{"Subject", "To", "Written"}, Empty: &ui.Empty{
		Text: "No letter was written yet. Sell something, or ask for another password at /recover: the letter comes here within some seconds.",
	}}
	for _, l := range letters {
		t.Rows = append(t.Rows, []ui.Cell{{Text: l.Subject, Address: Path + "/" + url.PathEscape(l.Name)}, {Text: l.To}, {Time: moment(l.At)}})
	}
	lead := "This development server sends no mail. It writes letters as files into " + b.folder.Path + "."
	if len(letters) == shown {
		lead += " These are the newest."
	}
	return b.write(c, http.StatusOK, ui.Page{Heading: "Letters", Lead: lead, Table: t})
}

// letter shows one: as its reader sees it, as text, and with its headers.
func (b *Box) letter(c echo.Context) error {
	l, err := b.folder.Open(c.Param("name"))
	if errors.Is(err, fs.ErrNotExist) {
		return b.write(c, http.StatusNotFound, ui.Page{Heading: "There is no such letter", Up: up(), Lead: "Its file was deleted, or never was here."})
	}
	if err != nil {
		return err
	}
	p := ui.Page{Heading: l.Subject, Up: up(), Sections: []ui.Section{{Terms: []ui.Term{
		{Name: "To", Value: ui.Cell{Text: l.To}}, {Name: "Written", Value: ui.Cell{Time: moment(l.At)}}, {Name: "File", Value: ui.Cell{Text: l.Name, Code: true}},
	}}}}
	if l.HTML != "" {
		p.Sections = append(p.Sections, ui.Section{Title: "As a page", Inset: &ui.Inset{Title: "The letter as a page", Address: Path + "/" + url.PathEscape(l.Name) + "/html"}})
	}
	p.Sections = append(p.Sections, ui.Section{Title: "As text", Code: l.Text}, ui.Section{Title: "Headers", Code: l.Headers})
	return b.write(c, http.StatusOK, p)
}

func up() *ui.Link { return &ui.Link{Text: "Letters", Address: Path} }

// html answers with a letter as a page, for the frame in which it is shown. It is never part of a page of ours: opened by itself, it is as
// shut in.
func (b *Box) html(c echo.Context) error {
	l, err := b.folder.Open(c.Param("name"))
	if errors.Is(err, fs.ErrNotExist) {
		return missing()
	}
	if err != nil {
		return err
	}
	private(c, letterPolicy)
	page := strings.Replace(l.HTML, "<head>", `<head><base target="_blank">`, 1)
	return ui.WriteHTML(c.Response(), c.Request(), http.StatusOK, []byte(page))
}

func moment(at time.Time) *ui.Moment {
	return &ui.Moment{Shown: at.Format("2 Jan 2006, 15:04:05"), Machine: at.UTC().Format(time.RFC3339), Zone: at.Format("MST")}
}

func private(c echo.Context, policy string) {
	h := c.Response().Header()
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Robots-Tag", "noindex")
}

// write answers with a page.
func (b *Box) write(c echo.Context, status int, p ui.Page) error {
	var text bytes.Buffer
	if err := b.templates.Write(&text, ui.Desk, ui.Frame{Sheet: b.sheet.Address, Title: p.Heading}, p); err != nil {
		return err
	}
	private(c, policy)
	return ui.WriteHTML(c.Response(), c.Request(), status, text.Bytes())
}
