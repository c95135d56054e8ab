package invoicepdf

import (
	"bytes"
	"compress/gzip"
	"embed"
	"fmt"
	"io"
	"sync"

	"golang.org/x/image/font/sfnt"
)

//go:embed font/*.ttf.gz
var files embed.FS

// face is a font of the documents. It is unpacked when the first document needs it: a server that writes none does not
// hold it in memory.
type face struct {
	family string
	style  string
	file   string
	load   func() (*outline, error)
}

// outline is an unpacked font. Nobody writes to its bytes.
type outline struct {
	bytes []byte
	font  *sfnt.Font
}

func newFace(family, style, file string) *face {
	return &face{family: family, style: style, file: file, load: sync.OnceValues(func() (*outline, error) { return unpack(file) })}
}

func unpack(file string) (*outline, error) {
	packed, err := files.ReadFile("font/" + file + ".ttf.gz")
	if err != nil {
		return nil, err
	}
	reader, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, fmt.Errorf("unpack font %s: %w", file, err)
	}
	raw, err := io.ReadAll(reader)
	if err != nil {
		return nil, fmt.Errorf("unpack font %s: %w", file, err)
	}
	font, err := sfnt.Parse(raw)
	if err != nil {
		return nil, fmt.Errorf("parse font %s: %w", file, err)
	}
	return &outline{bytes: raw, font: font}, nil
}

// has says whether the font draws the character. What a PDF's text holds here is of the first plane of Unicode.
func (o *outline) has(buffer *sfnt.Buffer, r rune) bool {
	if r > 0xffff {
		return false
	}
	glyph, err := o.font.GlyphIndex(buffer, r)
	return err == nil && glyph != 0
}
