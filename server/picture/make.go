// Package picture makes our files of sellers' pictures, and fetches each picture once from the address that its seller gave.
package picture

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	_ "image/gif" // the first frame of one
	"image/jpeg"
	"image/png"
	"runtime"
	"slices"
	"strconv"

	"golang.org/x/image/draw"
	_ "golang.org/x/image/webp" // one that does not move

	"github.com/tillwright/tillwright/store/picture"
)

const (
	quality  = 80      // of a JPEG
	usual    = 640     // the width for a browser that does not choose
	mostFile = 1 << 20 // bytes of a file that we make: the server holds one for each reader
)

// widths are those of the files, in pixels. None is wider than the picture, or more than twice as high as it may be wide.
var widths = []int{96, 320, usual, 1280}

// The other files: what is shown with a link, and the logo of a letter.
var (
	card   = image.Rect(0, 0, 1200, 630)
	letter = image.Pt(480, 160)
	paper  = image.NewUniform(color.RGBA{R: 251, G: 250, B: 247, A: 255}) // of our pages
)

// formats are those that a picture may have.
var formats = []string{"png", "jpeg", "gif", "webp"}

// Make makes the files of a picture, each of mostFile at most. They are upright, have nothing but its pixels, and are JPEG, or PNG where it has
// transparency. A logo has one more for letters. An error says what is wrong with the picture. What would take much memory or time is refused before
// it is decoded.
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
	runtime.GC() // what one step leaves is as much as the next one takes
	defer runtime.GC()
	return write(decoded, isLogo)
}

// decode returns a picture upright, and not much larger than the largest file.
func decode(file []byte) (*image.RGBA, error) {
	if len(file) > mostBytes {
		return nil, fmt.Errorf("the picture has more than %d MB", mostBytes>>20)
	}
	about, format, err := image.DecodeConfig(bytes.NewReader(file))
	if err != nil || !slices.Contains(formats, format) {
		return nil, errNone
	}
	if err := check(file, format, about.Width, about.Height, about.ColorModel); err != nil {
		return nil, err
	}
	decoded, err := pixels(file)
	if err != nil {
		return nil, errBroken
	}
	return upright(reduce(decoded, 2*widths[len(widths)-1]), orientation(file, format)), nil
}

func pixels(file []byte) (image.Image, error) {
	decoded, _, err := image.Decode(bytes.NewReader(file))
	return decoded, err
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

// write makes the files. A picture with transparency of which not even the usual width fits into mostFile loses it, and is written on paper.
func write(p *image.RGBA, isLogo bool) (*picture.Made, error) {
	kind := "png"
	if p.Opaque() {
		kind = "jpg"
	}
	made, cut, err := inWidths(p, kind)
	if err == nil && kind == "png" && cut > 0 && cut <= usual {
		made, _, err = inWidths(on(paper, p), "jpg")
	}
	if err != nil {
		return nil, err
	}
	if made.Files[picture.Card], err = encode(filled(p), "jpg"); err != nil || !isLogo {
		return made, err
	}
	made.Files[picture.Letter], err = encode(scaled(p, within(p.Rect.Size(), letter)), "png")
	return made, err
}

// inWidths makes a file of each width that the picture has, up to the first that is larger than mostFile. Cut is the width of that one, 0 if there is none.
func inWidths(p *image.RGBA, kind string) (made *picture.Made, cut int, err error) {
	made = &picture.Made{Kind: kind, Files: map[string][]byte{}}
	for _, w := range widths {
		small := scaled(p, within(p.Rect.Size(), image.Pt(w, 2*w)))
		size := picture.Size{Width: small.Rect.Dx(), Height: small.Rect.Dy()}
		name := strconv.Itoa(size.Width) + "." + kind
		if made.Files[name] != nil { // it has no more pixels
			break
		}
		file, err := encode(small, kind)
		if err != nil {
			return nil, 0, err
		}
		if len(file) > mostFile {
			return made, w, nil
		}
		made.Sizes, made.Files[name] = append(made.Sizes, size), file
	}
	return made, 0, nil
}

// on returns a picture without transparency, on a ground.
func on(ground image.Image, p *image.RGBA) *image.RGBA {
	opaque := image.NewRGBA(p.Rect)
	draw.Draw(opaque, p.Rect, ground, image.Point{}, draw.Src)
	draw.Draw(opaque, p.Rect, p, p.Rect.Min, draw.Over)
	return opaque
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

// filled returns the middle of a picture as large as a card, on paper.
func filled(p *image.RGBA) *image.RGBA {
	part, to := p.Rect, card.Size()
	if w := part.Dy() * to.X / to.Y; w < part.Dx() {
		part.Min.X += (part.Dx() - w) / 2
		part.Max.X = part.Min.X + max(1, w)
	} else if h := part.Dx() * to.Y / to.X; h < part.Dy() {
		part.Min.Y += (part.Dy() - h) / 2
		part.Max.Y = part.Min.Y + max(1, h)
	}
	whole := image.NewRGBA(card)
	draw.Draw(whole, card, paper, image.Point{}, draw.Src)
	draw.CatmullRom.Scale(whole, card, p, part, draw.Over, nil)
	return whole
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
