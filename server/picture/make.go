// Package picture makes our files of sellers' pictures, and fetches each picture once from the address that its seller gave.
package picture

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/color"
	_ "image/gif" // the first frame of one
	"image/jpeg"
	"image/png"
	"slices"
	"strconv"

	"golang.org/x/image/draw"
	_ "golang.org/x/image/webp" // one that does not move

	"github.com/tillwright/tillwright/store/picture"
)

// What a picture may be. It is decoded in about 300 MB at most.
const (
	mostBytes  = 10 << 20
	mostPixels = 40_000_000
	mostDear   = 20_000_000 // pixels of a progressive JPEG, or with 16 bits a channel: they take twice the memory
	mostSide   = 20_000     // pixels
	mostScans  = 50         // of a JPEG, which has ten
)

const quality = 80 // of a JPEG

// widths are those of the files, in pixels. None is wider than the picture, or more than twice as high as it may be wide.
var widths = []int{96, 320, 640, 1280}

// The other files: what is shown with a link, and the logo of a letter.
var (
	card   = image.Rect(0, 0, 1200, 630)
	letter = image.Pt(480, 160)
)

// formats are those that a picture may have.
var formats = []string{"png", "jpeg", "gif", "webp"}

// Make makes the files of a picture: upright, with nothing but its pixels, as JPEG, or as PNG where it has transparency. A logo has one more for letters. An
// error says what is wrong with the picture. What would take much memory or time is refused before it is decoded.
func Make(file []byte, isLogo bool) (made *picture.Made, err error) {
	defer func() {
		if recover() != nil { // a decoder failed on what it was given
			made, err = nil, errBroken
		}
	}()
	decoded, err := decode(file)
	if err != nil {
		return nil, err
	}
	return write(decoded, isLogo)
}

var (
	errNone   = errors.New("this is no PNG, JPEG, GIF or WebP picture")
	errBroken = errors.New("the picture is broken, or moves as a WebP")
)

// decode returns a picture upright, and not much larger than the largest file.
func decode(file []byte) (*image.RGBA, error) {
	if len(file) > mostBytes {
		return nil, fmt.Errorf("the picture has more than %d MB", mostBytes>>20)
	}
	about, format, err := image.DecodeConfig(bytes.NewReader(file))
	if err != nil || !slices.Contains(formats, format) {
		return nil, errNone
	}
	w, h, most := about.Width, about.Height, mostPixels
	if format == "jpeg" {
		if bytes.Count(file, []byte{0xff, 0xda}) > mostScans {
			return nil, fmt.Errorf("the picture has more than %d scans", mostScans)
		}
		if bytes.Contains(file, []byte{0xff, 0xc2}) {
			most = mostDear
		}
	}
	switch about.ColorModel {
	case color.RGBA64Model, color.NRGBA64Model, color.Gray16Model:
		most = mostDear
	}
	switch {
	case w < 1 || h < 1:
		return nil, errBroken
	case max(w, h) > mostSide:
		return nil, fmt.Errorf("the picture has %d x %d pixels: a side may have %d", w, h, mostSide)
	case w > most/h:
		return nil, fmt.Errorf("the picture has %d x %d pixels: it may have %d million", w, h, most/1_000_000)
	}
	decoded, _, err := image.Decode(bytes.NewReader(file))
	if err != nil {
		return nil, errBroken
	}
	return upright(reduce(decoded, 2*widths[len(widths)-1]), orientation(file, format)), nil
}

// reduce returns a picture with each square of pixels made one, so that no side has more than most.
func reduce(p image.Image, most int) *image.RGBA {
	from := p.Bounds()
	n := (max(from.Dx(), from.Dy()) + most - 1) / most
	w, h := max(1, from.Dx()/n), max(1, from.Dy()/n)
	squares := image.NewRGBA(image.Rect(0, 0, min(w*n, from.Dx()), min(n, from.Dy())))
	small := image.NewRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		draw.Draw(squares, squares.Rect, p, from.Min.Add(image.Pt(0, y*n)), draw.Src)
		for x := range w {
			square := image.Rect(x*n, 0, x*n+n, n).Intersect(squares.Rect)
			small.SetRGBA(x, y, mean(squares, square))
		}
	}
	return small
}

// mean returns the mean colour of a part of a picture.
func mean(p *image.RGBA, part image.Rectangle) color.RGBA {
	var sum [4]int
	for y := part.Min.Y; y < part.Max.Y; y++ {
		row := p.Pix[p.PixOffset(part.Min.X, y):p.PixOffset(part.Max.X, y)]
		for i, v := range row {
			sum[i%4] += int(v)
		}
	}
	n := part.Dx() * part.Dy()
	return color.RGBA{R: uint8(sum[0] / n), G: uint8(sum[1] / n), B: uint8(sum[2] / n), A: uint8(sum[3] / n)}
}

// write makes the files.
func write(p *image.RGBA, isLogo bool) (*picture.Made, error) {
	made := &picture.Made{Kind: "png", Files: map[string][]byte{}}
	if p.Opaque() {
		made.Kind = "jpg"
	}
	var errs []error
	keep := func(name string, file []byte, err error) {
		made.Files[name] = file
		errs = append(errs, err)
	}
	for _, w := range widths {
		small := scaled(p, within(p.Rect.Size(), image.Pt(w, 2*w)))
		size := picture.Size{Width: small.Rect.Dx(), Height: small.Rect.Dy()}
		if slices.Contains(made.Sizes, size) {
			break
		}
		name := strconv.Itoa(size.Width) + "." + made.Kind
		if made.Files[name] != nil { // a line of pixels
			break
		}
		made.Sizes = append(made.Sizes, size)
		file, err := encode(small, made.Kind)
		keep(name, file, err)
	}
	file, err := encode(filled(p), "jpg")
	keep(picture.Card, file, err)
	if isLogo {
		file, err := encode(scaled(p, within(p.Rect.Size(), letter)), "png")
		keep(picture.Letter, file, err)
	}
	return made, errors.Join(errs...)
}

// within returns a size with the same sides that is no larger than another.
func within(size, most image.Point) image.Point {
	if size.X > most.X {
		size.X, size.Y = most.X, max(1, size.Y*most.X/size.X)
	}
	if size.Y > most.Y {
		size.X, size.Y = max(1, size.X*most.Y/size.Y), most.Y
	}
	return size
}

func scaled(p *image.RGBA, to image.Point) *image.RGBA {
	small := image.NewRGBA(image.Rectangle{Max: to})
	draw.CatmullRom.Scale(small, small.Rect, p, p.Rect, draw.Src, nil)
	return small
}

// filled returns the middle of a picture as large as a card, on white.
func filled(p *image.RGBA) *image.RGBA {
	part, to := p.Rect, card.Size()
	if w := part.Dy() * to.X / to.Y; w < part.Dx() {
		part.Min.X += (part.Dx() - w) / 2
		part.Max.X = part.Min.X + max(1, w)
	} else if h := part.Dx() * to.Y / to.X; h < part.Dy() {
		part.Min.Y += (part.Dy() - h) / 2
		part.Max.Y = part.Min.Y + max(1, h)
	}
	on := image.NewRGBA(card)
	draw.Draw(on, card, image.White, image.Point{}, draw.Src)
	draw.CatmullRom.Scale(on, card, p, part, draw.Over, nil)
	return on
}

func encode(p *image.RGBA, kind string) ([]byte, error) {
	var file bytes.Buffer
	if kind == "jpg" {
		err := jpeg.Encode(&file, p, &jpeg.Options{Quality: quality})
		return file.Bytes(), err
	}
	plain := image.NewNRGBA(p.Rect) // 8 bits a channel, with transparency, whatever it was
	draw.Draw(plain, p.Rect, p, image.Point{}, draw.Src)
	err := (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&file, plain)
	return file.Bytes(), err
}
