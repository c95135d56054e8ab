package dashboard

import (
	"bufio"
	"errors"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/server/ui"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/person"
)

// Uploads returns the routes that take bytes of any size.
func (d *Dashboard) Uploads() map[string]echo.HandlerFunc {
	return map[string]echo.HandlerFunc{
		"POST /app/products/:id/files":       d.signedIn(page{scope: "files:write", serve: d.addFile}),
		"POST /app/products/:id/files/:file": d.signedIn(page{scope: "files:write", serve: d.addVersion}),
	}
}

// addFile takes a file, and has a product give it to its buyers. The bytes go where files are kept while they arrive: their number is known from the
// request's own length.
func (d *Dashboard) addFile(v *visit) error {
	p, err := d.api.Products.Get(v.ctx(), v.Param("id"))
	if err != nil {
		return err
	}
	sent, err := readUpload(v.Request())
	var f *sdk.File
	if err == nil {
		f, err = d.api.Files.Create(v.ctx(), &sdk.FileCreate{Name: sent.name, Size: sent.size})
	}
	if err == nil {
		f, err = d.complete(v, f.ID, f.Upload, sent)
	}
	if err == nil {
		given := append(p.Deliverables, sdk.Deliverable{Type: sdk.DeliverableTypeFile, Ref: &f.ID, Name: &f.Name})
		_, err = d.api.Products.Update(v.ctx(), p.ID, &sdk.ProductUpdate{Deliverables: given})
	}
	if wrong, ok := problems(err, &ui.Form{Controls: []ui.Control{{Name: "file", Label: "Add a file"}}}); ok {
		return d.showProduct(v, http.StatusUnprocessableEntity, nil, wrong...)
	}
	if err != nil {
		return err
	}
	return v.done(productsPage+"/"+p.ID, person.Notice{Text: f.Name + " was added. Buyers can download it."})
}

// complete takes the bytes of an upload, and makes them those of their file.
func (d *Dashboard) complete(v *visit, file string, to *sdk.FileUpload, sent *upload) (*sdk.File, error) {
	outer := v.Request()
	r := outer.Clone(v.ctx())
	r.Body, r.ContentLength = io.NopCloser(sent.bytes), sent.size
	v.SetRequest(r)
	err := d.files.Take(v, to.URL[strings.LastIndex(to.URL, "/")+1:])
	v.SetRequest(outer)
	if err != nil {
		return nil, err
	}
	return d.api.Files.Complete(v.ctx(), file)
}

// newVersion shows the form for a new version of a file that a product delivers.
func (d *Dashboard) newVersion(v *visit) error { return d.showNewVersion(v, http.StatusOK) }

func (d *Dashboard) showNewVersion(v *visit, status int, problems ...ui.Problem) error {
	p, err := d.api.Products.Get(v.ctx(), v.Param("id"))
	if err != nil {
		return err
	}
	f, err := d.api.Files.Get(v.ctx(), v.Param("file"))
	if err != nil {
		return err
	}
	form := &ui.Form{Upload: true, Submit: "Upload", Cancel: productsPage + "/" + p.ID, Controls: versionControls(),
		Text: "Buyers download the new version once it is here. You keep the former ones."}
	return v.show(status, ui.Page{Heading: "New version of " + f.Name, Up: &ui.Link{Text: p.Name, Address: productsPage + "/" + p.ID}, Form: form}, problems...)
}

// versionControls has the tick before the file: what is sent is read in this order, and the file is the end of it.
func versionControls() []ui.Control {
	return []ui.Control{
		{Kind: "checkbox", Name: tellBuyers, Label: "Tell buyers", Hint: "Everybody who has this file gets a letter with a link to it."},
		{Kind: "file", Name: "file", Label: "File", Required: true},
	}
}

// addVersion takes a new version of a file.
func (d *Dashboard) addVersion(v *visit) error {
	sent, err := readUpload(v.Request())
	var made *sdk.FileVersion
	if err == nil {
		made, err = d.api.Files.CreateVersion(v.ctx(), v.Param("file"), &sdk.FileVersionCreate{Size: sent.size, TellBuyers: &sent.tells})
	}
	var f *sdk.File
	if err == nil {
		f, err = d.complete(v, v.Param("file"), made.Upload, sent)
	}
	if wrong, ok := problems(err, &ui.Form{Controls: versionControls()}); ok {
		return d.showNewVersion(v, http.StatusUnprocessableEntity, wrong...)
	}
	if err != nil {
		return err
	}
	text := "Buyers download version " + strconv.FormatInt(f.Version, 10) + " of " + f.Name + " now."
	if sent.tells {
		text += " They are sent a letter."
	}
	return v.done(productsPage+"/"+v.Param("id"), person.Notice{Text: text})
}

// upload is a form that is being sent, as far as its file. Its bytes are still to be read.
type upload struct {
	name  string
	size  int64
	bytes io.Reader
	tells bool // buyers are told of it
}

// tellBuyers is the name of the tick.
const tellBuyers = "tell_buyers"

// readUpload reads a form with one file, which is its end: its name, how many bytes it has, and these. CodeInvalid says that there is none.
func readUpload(r *http.Request) (*upload, error) {
	_, params, err := mime.ParseMediaType(r.Header.Get(echo.HeaderContentType))
	boundary := params["boundary"]
	if err != nil || boundary == "" || r.ContentLength < 0 {
		return nil, core.Invalid("file", "Choose a file.")
	}
	in := bufio.NewReaderSize(r.Body, 16<<10)
	head, sent := &counted{in: in}, &upload{}
	for head.line() == "--"+boundary {
		field := head.field()
		if field["name"] == tellBuyers {
			sent.tells = head.line() == "yes"
			continue
		}
		sent.name, sent.size = strings.TrimSpace(field["filename"]), r.ContentLength-head.n-int64(len("\r\n--"+boundary+"--\r\n"))
		if head.err != nil || field["name"] != "file" || sent.name == "" || sent.size <= 0 {
			break
		}
		sent.bytes = io.LimitReader(in, sent.size)
		return sent, nil
	}
	return nil, errors.Join(head.broken(), core.Invalid("file", "Choose a file that is not empty."))
}

// counted reads lines, and counts their bytes, of which it reads a few thousand. None is longer than the buffer of in: whoever sends it may never end it.
type counted struct {
	in  *bufio.Reader
	n   int64
	err error
}

func (c *counted) line() string {
	if c.n >= 8<<10 {
		c.err = errors.Join(c.err, bufio.ErrBufferFull)
		return ""
	}
	text, err := c.in.ReadSlice('\n')
	c.n += int64(len(text))
	c.err = errors.Join(c.err, err)
	return strings.TrimRight(string(text), "\r\n")
}

// field reads the head of a field, and returns what it says of it: its name, and that of its file.
func (c *counted) field() map[string]string {
	disposition := ""
	for line := c.line(); line != ""; line = c.line() {
		if key, value, _ := strings.Cut(line, ":"); strings.EqualFold(key, "Content-Disposition") {
			disposition = strings.TrimSpace(value)
		}
	}
	_, field, _ := mime.ParseMediaType(disposition)
	return field
}

// broken returns the error of a body that could not be read, nil for one that is just no such form.
func (c *counted) broken() error {
	if errors.Is(c.err, io.EOF) || errors.Is(c.err, bufio.ErrBufferFull) {
		return nil
	}
	return c.err
}
