package mail

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"mime"
	netmail "net/mail"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	gomail "github.com/wneessen/go-mail"
)

// letterSuffix ends the names of the files in a Folder that are letters.
const letterSuffix = ".eml"

// Folder writes letters into files of a folder, for development.
type Folder struct{ Path string }

// Send implements Mailer.
func (f Folder) Send(_ context.Context, l Letter) error {
	message, err := l.message("shop@localhost.localdomain")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(f.Path, 0o700); err != nil {
		return err
	}
	file, err := os.CreateTemp(f.Path, time.Now().UTC().Format("20060102-150405")+"-*"+letterSuffix)
	if err != nil {
		return err
	}
	if _, err := message.WriteTo(file); err != nil {
		_ = file.Close()
		return fmt.Errorf("write mail to %s: %w", filepath.Base(file.Name()), err)
	}
	return file.Close()
}

// Written is a letter in a file of a Folder.
type Written struct {
	Name        string // of the file
	At          time.Time
	To, Subject string
}

// Opened is a letter in a file with all that it says.
type Opened struct {
	Written
	Headers    string // as they stand in the file
	Text, HTML string // HTML has its logo in it
}

// List returns the newest letters of the folder, newest first, at most limit. A folder that is not there has none.
func (f Folder) List(limit int) ([]Written, error) {
	entries, err := os.ReadDir(f.Path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("list letters: %w", err)
	}
	var all []Written
	for _, entry := range entries {
		info, err := entry.Info()
		if err == nil && info.Mode().IsRegular() && strings.HasSuffix(info.Name(), letterSuffix) {
			all = append(all, Written{Name: info.Name(), At: info.ModTime()})
		}
	}
	slices.SortFunc(all, func(a, b Written) int { return cmp.Or(b.At.Compare(a.At), cmp.Compare(b.Name, a.Name)) })
	all = all[:min(len(all), limit)]
	for i := range all {
		opened, err := f.Open(all[i].Name)
		if err != nil { // of a letter that is being written, or was not written by us
			all[i].Subject = all[i].Name
			continue
		}
		all[i] = opened.Written
	}
	return all, nil
}

// Open returns the letter in a file of the folder. The error is fs.ErrNotExist for a name that is none of a letter here.
func (f Folder) Open(name string) (*Opened, error) {
	if path.Base(name) != name || !strings.HasSuffix(name, letterSuffix) {
		return nil, fs.ErrNotExist
	}
	root, err := os.OpenRoot(f.Path) // no link leads out of it either
	if err != nil {
		return nil, fs.ErrNotExist
	}
	defer func() { _ = root.Close() }()
	info, err := root.Stat(name)
	if err != nil || !info.Mode().IsRegular() {
		return nil, fs.ErrNotExist
	}
	text, err := root.ReadFile(name)
	if err != nil {
		return nil, err
	}
	o, err := open(text)
	if err != nil {
		return nil, fmt.Errorf("read letter %s: %w", name, err)
	}
	o.Name, o.At = name, info.ModTime()
	return o, nil
}

// open reads a letter.
func open(text []byte) (*Opened, error) {
	m, err := gomail.EMLToMsgFromReader(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	read, err := netmail.ReadMessage(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	headers, _, _ := strings.Cut(strings.ReplaceAll(string(text), "\r\n", "\n"), "\n\n")
	o := &Opened{Headers: headers}
	o.Subject, o.To = decoded(read.Header.Get("Subject")), decoded(read.Header.Get("To"))
	for _, part := range m.GetParts() {
		content, err := part.GetContent()
		if err != nil {
			return nil, err
		}
		switch part.GetContentType() {
		case gomail.TypeTextPlain:
			o.Text = string(content)
		case gomail.TypeTextHTML:
			o.HTML = string(content)
		}
	}
	for _, embed := range m.GetEmbeds() {
		var picture bytes.Buffer
		if _, err := embed.Writer(&picture); err != nil {
			return nil, err
		}
		id := strings.Trim(embed.Header.Get("Content-ID"), "<>")
		o.HTML = strings.ReplaceAll(o.HTML, `"cid:`+id+`"`, `"data:image/png;base64,`+base64.StdEncoding.EncodeToString(picture.Bytes())+`"`)
	}
	return o, nil
}

// decoded returns the value of a header as its reader sees it.
func decoded(value string) string {
	if text, err := new(mime.WordDecoder).DecodeHeader(value); err == nil {
		return text
	}
	return value
}
