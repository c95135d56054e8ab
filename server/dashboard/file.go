package dashboard

import (
	"bufio"
	"errors"
	"io"
	"mime"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/server/ui"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/person"
)

// Uploads returns the routes that take bytes of any size.
func (d *Dashboard) Uploads() map[string]echo.HandlerFunc {
	return map[string]echo.HandlerFunc{"POST /app/products/:id/files": d.signedIn(page{scope: "files:write", serve: d.addFile})}
}

// addFile takes a file, and has a product give it to its buyers. The bytes go where files are kept while they arrive: their number is known from the
// request's own length, because the form has one field.
func (d *Dashboard) addFile(v *visit) error {
	p, err := d.api.Products.Get(v.ctx(), v.Param("id"))
	if err != nil {
		return err
	}
	name, size, bytes, err := readUpload(v.Request())
	var f *sdk.File
	if err == nil {
		f, err = d.api.Files.Create(v.ctx(), &sdk.FileCreate{Name: name, Size: size})
	}
	if err == nil {
		r := v.Request().Clone(v.ctx())
		r.Body, r.ContentLength = io.NopCloser(bytes), size
		outer := v.Request()
		v.SetRequest(r)
		err = d.files.Take(v, f.Upload.URL[strings.LastIndex(f.Upload.URL, "/")+1:])
		v.SetRequest(outer)
	}
	if err == nil {
		f, err = d.api.Files.Complete(v.ctx(), f.ID)
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

// readUpload returns the one file of a form that is being sent: its name, how many bytes it has, and these. CodeInvalid says that there is none.
func readUpload(r *http.Request) (name string, size int64, bytes io.Reader, err error) {
	_, params, err := mime.ParseMediaType(r.Header.Get(echo.HeaderContentType))
	boundary := params["boundary"]
	if err != nil || boundary == "" || r.ContentLength < 0 {
		return "", 0, nil, core.Invalid("file", "Choose a file.")
	}
	in := bufio.NewReaderSize(r.Body, 16<<10)
	head := &counted{in: in}
	first := head.line()
	disposition := ""
	for line := head.line(); line != "" && head.err == nil && head.n < 8<<10; line = head.line() {
		if key, value, _ := strings.Cut(line, ":"); strings.EqualFold(key, "Content-Disposition") {
			disposition = strings.TrimSpace(value)
		}
	}
	_, field, err := mime.ParseMediaType(disposition)
	size = r.ContentLength - head.n - int64(len("\r\n--"+boundary+"--\r\n"))
	if err != nil || head.err != nil || first != "--"+boundary || field["name"] != "file" || strings.TrimSpace(field["filename"]) == "" || size <= 0 {
		return "", 0, nil, errors.Join(head.broken(), core.Invalid("file", "Choose a file that is not empty."))
	}
	return strings.TrimSpace(field["filename"]), size, io.LimitReader(in, size), nil
}

// counted reads lines, and counts their bytes. None is longer than the buffer of in: whoever sends it may never end it.
type counted struct {
	in  *bufio.Reader
	n   int64
	err error
}

func (c *counted) line() string {
	text, err := c.in.ReadSlice('\n')
	c.n += int64(len(text))
	c.err = errors.Join(c.err, err)
	return strings.TrimRight(string(text), "\r\n")
}

// broken returns the error of a body that could not be read, nil for one that is just no such form.
func (c *counted) broken() error {
	if errors.Is(c.err, io.EOF) || errors.Is(c.err, bufio.ErrBufferFull) {
		return nil
	}
	return c.err
}
