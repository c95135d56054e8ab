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

// face is a font of the documents. It is unpacked when the first document needs it, so that a server that writes none does not
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

// unpack reads a font that is part of the program.
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

// has reports whether the font can draw a character. The library writes only characters of Unicode's first 65,536.
func (o *outline) has(buffer *sfnt.Buffer, r rune) bool {
	if r > 0xffff {
		return false
	}
	glyph, err := o.font.GlyphIndex(buffer, r)
	return err == nil && glyph != 0
}
