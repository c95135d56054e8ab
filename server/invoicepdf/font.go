package invoicepdf

import (
	"bytes"
	"compress/gzip"
	"embed"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/go-text/typesetting/font"
)

//go:embed font/*.ttf.gz
var files embed.FS

// face is a font of the documents. It is unpacked when the first document needs it, so that a server that writes none does not
// hold it in memory.
type face struct {
	family string
	style  string
	file   string
	shaped bool      // its script is shaped: see shape
	blocks [][2]rune // the characters for which it is asked, from and to; nil for all
	load   func() (*outline, error)
}

// outline is an unpacked font. Nobody writes to its bytes.
type outline struct {
	bytes []byte
	font  *font.Font
}

func newFace(family, style, file string) *face {
	return &face{family: family, style: style, file: file, load: sync.OnceValues(func() (*outline, error) { return unpack(file) })}
}

// only returns the font, to be asked for these characters only, so that it is not loaded for others.
func (f *face) only(blocks ...[2]rune) *face {
	f.blocks = blocks
	return f
}

// shapes returns the font, whose script is shaped.
func (f *face) shapes() *face {
	f.shaped = true
	return f
}

// isAsked reports whether a font may have a character.
func (f *face) isAsked(r rune) bool {
	return f.blocks == nil || slices.ContainsFunc(f.blocks, func(b [2]rune) bool { return b[0] <= r && r <= b[1] })
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
	parsed, err := font.ParseTTF(bytes.NewReader(raw))
	if err != nil {
		return nil, fmt.Errorf("parse font %s: %w", file, err)
	}
	return &outline{bytes: raw, font: parsed.Font}, nil
}

// has reports whether the font can draw a character. The library writes only characters of Unicode's first 65,536.
func (o *outline) has(r rune) bool {
	if r > 0xffff {
		return false
	}
	glyph, ok := o.font.NominalGlyph(r)
	return ok && glyph != 0
}
