// Package ui is how our pages look: the page around them, the style sheet, the parts they are made of and the icons. It knows
// nothing of what a page is about.
package ui

import (
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"html/template"
	"io"
	"io/fs"
	"sync"

	"github.com/tillwright/tillwright/server/locale"
)

//go:embed base.html parts.html desk.html gallery.html
var files embed.FS

//go:embed sheet.css
var sheet string

//go:embed icons/*.svg
var icons embed.FS

// Frame is what stands around the content of a page.
type Frame struct {
	Title    string    // without the shop's name
	Shop     *Shop     // whose page it is, nil for nobody's
	Problems []Problem // what is wrong with what was sent: the first thing that is read
	Forward  string    // address to which the page sends its reader at once, else empty
	Again    int       // seconds after which the page is loaded anew, because it waits for something; 0: it is not
	Split    bool      // two columns where there is room
	Menu     *Menu     // of somebody who is signed in to the dashboard, else nil
	Sheet    string    // address of the style sheet of a page of the dashboard, empty for a page that has its own in it
}

// Shop is what a page shows of its seller.
type Shop struct {
	ID            string // of the account
	Name, Support string
	HasLogo       bool         // the seller gave the address of one
	Logo          Image        // of ours, none before it was fetched
	Colours       template.CSS // what Accent made of its colour, empty for the sheet's; a page that has them needs their hash in its policy
}

// Problem is something that has to be corrected.
type Problem struct {
	Field string // id of the control, empty if it is about the whole
	Label string // of the control
	Text  string
}

// Field is a control of one line with its label. Its name is its id too.
type Field struct {
	Name, Label, Hint  string
	Form               string // id of the form that it belongs to, empty for the one around it
	Type               string // text if empty
	Value, Problem     string
	Autocomplete       string
	InputMode          string
	Placeholder        string
	Longest            int
	Required, Optional bool // Optional says so in words
}

// Badge is a state in a word, with an icon and a colour of the same sense.
type Badge struct{ Text, Tone, Icon string }

// Templates are the pages of a room. A page is parsed when it is first asked for: many never are, and each has the parts in it.
type Templates struct {
	base  *template.Template
	pages map[string]func() (*template.Template, error)
}

// New returns the pages of a room in English: each of names defines "main", and may define "scripts". What shared names is parsed
// into each.
func New(files fs.FS, funcs template.FuncMap, shared, names []string) (*Templates, error) {
	return In(locale.English, files, funcs, shared, names)
}

// In returns the pages of a room, as New does, in a language. Their templates say {{t "key"}}, with the placeholders of the message after it.
func In(l *locale.Locale, files fs.FS, funcs template.FuncMap, shared, names []string) (*Templates, error) {
	base, err := parseBase(l)
	if err != nil {
		return nil, err
	}
	base = base.Funcs(funcs)
	if len(shared) > 0 {
		if base, err = base.ParseFS(files, shared...); err != nil {
			return nil, err
		}
	}
	t := &Templates{base: base, pages: map[string]func() (*template.Template, error){}}
	for _, name := range names {
		t.pages[name] = sync.OnceValues(func() (*template.Template, error) {
			page, err := base.Clone()
			if err != nil {
				return nil, err
			}
			return page.ParseFS(files, name)
		})
	}
	return t, nil
}

// parseBase returns the page without its content, and the parts.
func parseBase(l *locale.Locale) (*template.Template, error) {
	return template.New("ui").Funcs(template.FuncMap{
		"sheet":   func() template.CSS { return template.CSS(sheet) },
		"favicon": Favicon,
		"icon":    icon,
		"t":       l.T,
		"gap":     l.Gap,
		"lang":    func() string { return l.Tag },
		"dir":     func() string { return l.Dir },
	}).ParseFS(files, "base.html", "parts.html")
}

// Write writes a page with its data.
func (t *Templates) Write(w io.Writer, name string, frame Frame, data any) error {
	page, ok := t.pages[name]
	if !ok {
		return fs.ErrNotExist
	}
	parsed, err := page()
	if err != nil {
		return err
	}
	return parsed.ExecuteTemplate(w, "base", struct {
		Frame Frame
		Data  any
	}{frame, data})
}

// icon returns an icon that says nothing to a screen reader: a word stands beside it.
func icon(name string) (template.HTML, error) {
	paths, err := icons.ReadFile("icons/" + name + ".svg")
	if err != nil {
		return "", err
	}
	return template.HTML(`<svg class="icon" viewBox="0 0 24 24" aria-hidden="true">` + string(paths) + `</svg>`), nil
}

// SheetWith returns the style sheet of our pages with rules of a page's own below it, which use its tokens.
func SheetWith(rules string) string { return sheet + rules }

// SheetHash returns the hash by which a Content-Security-Policy allows the style sheet of our pages.
func SheetHash() string { return HashOf([]byte(sheet)) }

// HashOf returns the hash by which a Content-Security-Policy allows a script or style that is part of the page.
func HashOf(text []byte) string {
	hash := sha256.Sum256(text)
	return "'sha256-" + base64.StdEncoding.EncodeToString(hash[:]) + "'"
}
