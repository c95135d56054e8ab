package picture

import (
	"encoding/binary"
	"errors"
	"fmt"
	"image/color"
	"iter"
)

// What a picture may be. It takes about 300 MB at most while it is decoded: see TestMake_DecodesInBoundedMemory.
const (
	mostBytes      = 10 << 20
	mostPixels     = 40_000_000
	mostInterlaced = 30_000_000 // pixels of an interlaced PNG, of which two pictures are held
	mostDear       = 13_000_000 // pixels of a progressive JPEG, or with 16 bits a channel: they take several times the memory
	mostSide       = 20_000     // pixels
	mostScans      = 20         // of a progressive JPEG, which has ten
)

var (
	errNone   = errors.New("this is no PNG, JPEG, GIF or WebP picture")
	errBroken = errors.New("the picture is broken")
	errCMYK   = errors.New("the picture is a JPEG in CMYK: save it in RGB")
	errScans  = errors.New("the picture is a JPEG with too many scans: save it anew")
	errWebP   = errors.New("the picture is a WebP that moves, is lossless or has transparency: save it as a PNG, JPEG or GIF")
)

// check says what is wrong with a picture before it is decoded: what would take much memory or time.
func check(file []byte, format string, w, h int, model color.Model) error {
	most := mostPixels
	switch format {
	case "jpeg":
		f := frameOf(file)
		switch {
		case model == color.CMYKModel:
			return errCMYK
		case f.progressive && f.scans > mostScans, !f.progressive && f.scans > f.components:
			return errScans
		case f.progressive:
			most = mostDear
		}
	case "png":
		const interlace = 28 // where IHDR says it
		if len(file) > interlace && file[interlace] != 0 {
			most = mostInterlaced
		}
	case "webp":
		if !isPlain(file) {
			return errWebP
		}
	}
	switch model {
	case color.RGBA64Model, color.NRGBA64Model, color.Gray16Model:
		most = mostDear
	}
	switch {
	case w < 1 || h < 1:
		return errBroken
	case max(w, h) > mostSide:
		return fmt.Errorf("the picture has %d x %d pixels: a side may have %d", w, h, mostSide)
	case w > most/h:
		return fmt.Errorf("the picture has %d x %d pixels: it may have %d million", w, h, most/1_000_000)
	}
	return nil
}

// frame is how a JPEG is made.
type frame struct {
	progressive       bool
	components, scans int
}

// The markers of a JPEG.
const (
	markerSOI  = 0xd8
	markerSOF0 = 0xc0
	markerSOF2 = 0xc2 // progressive
	markerRST0 = 0xd0
	markerRST7 = 0xd7
	markerEOI  = 0xd9
	markerSOS  = 0xda
	markerAPP1 = 0xe1
)

// frameOf looks at the segments of a JPEG.
func frameOf(file []byte) (f frame) {
	for marker, content := range segments(file) {
		switch {
		case marker >= markerSOF0 && marker <= markerSOF2 && len(content) > 5:
			f.progressive, f.components = marker == markerSOF2, int(content[5])
		case marker == markerSOS:
			f.scans++
		}
	}
	return f
}

// segments walks those of a JPEG as image/jpeg does, so that metadata and what follows the picture do not count. The last one may be cut off.
func segments(file []byte) iter.Seq2[byte, []byte] {
	return func(yield func(byte, []byte) bool) {
		for at := 2; at+4 <= len(file); {
			marker := file[at+1]
			switch {
			case file[at] != 0xff || marker == 0xff:
				at++
				continue
			case marker == 0 || marker >= markerRST0 && marker <= markerRST7:
				at += 2
				continue
			case marker == markerEOI:
				return
			}
			length := int(binary.BigEndian.Uint16(file[at+2:]))
			if length < 2 || !yield(marker, file[at+4:min(at+2+length, len(file))]) {
				return
			}
			at += 2 + length
		}
	}
}

// isPlain reports whether a WebP has one lossy picture without transparency. The others are compressed with up to 65,535 groups of tables, of some
// 50 KB each while they are decoded.
func isPlain(file []byte) bool {
	const movesOrIsClear = 1<<1 | 1<<4
	for kind, content := range chunks(file) {
		switch {
		case kind == "VP8 ":
			return true
		case kind == "VP8L", kind == "VP8X" && (len(content) == 0 || content[0]&movesOrIsClear != 0):
			return false
		}
	}
	return false
}

// chunks walks those of a WebP. The last one may be cut off.
func chunks(file []byte) iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		for at := 12; at+8 < len(file); {
			kind, length := string(file[at:at+4]), int64(binary.LittleEndian.Uint32(file[at+4:]))
			rest := file[at+8:]
			if length > int64(len(rest)) {
				yield(kind, rest)
				return
			}
			if !yield(kind, rest[:length]) {
				return
			}
			at += 8 + int(length+length&1)
		}
	}
}
