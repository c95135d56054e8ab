package picture

import (
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/color"
	"image/draw"
	"image/gif"
	"image/jpeg"
	"image/png"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/picture"
)

// drawn returns a PNG of a size: of one colour, which may be transparent.
func drawn(t testing.TB, w, h int, of color.Color) []byte {
	t.Helper()
	p := image.NewNRGBA(image.Rect(0, 0, w, h))
	draw.Draw(p, p.Rect, image.NewUniform(of), image.Point{}, draw.Src)
	var file bytes.Buffer
	require.NoError(t, png.Encode(&file, p))
	return file.Bytes()
}

// webp is a picture of one pixel, which the standard library does not write.
func webp(t testing.TB) []byte {
	t.Helper()
	file, err := base64.StdEncoding.DecodeString("UklGRiQAAABXRUJQVlA4IBgAAAAwAQCdASoBAAEAAwA0JaQAA3AA/vuUAAA=")
	require.NoError(t, err)
	return file
}

func TestMake_WritesEachWidthThatThePictureHas(t *testing.T) {
	t.Parallel()
	var moving, photo bytes.Buffer
	frame := image.NewPaletted(image.Rect(0, 0, 30, 20), color.Palette{color.Black, color.White})
	require.NoError(t, gif.EncodeAll(&moving, &gif.GIF{Image: []*image.Paletted{frame, frame, frame}, Delay: []int{1, 1, 1}}))
	require.NoError(t, jpeg.Encode(&photo, image.NewGray(image.Rect(0, 0, 700, 500)), nil))
	for name, one := range map[string]struct {
		file  []byte
		kind  string
		sizes []picture.Size
	}{
		"wide":  {drawn(t, 3000, 1500, color.White), "jpg", []picture.Size{{Width: 96, Height: 48}, {Width: 320, Height: 160}, {Width: 640, Height: 320}, {Width: 1280, Height: 640}}},
		"clear": {drawn(t, 400, 400, color.NRGBA{R: 255, A: 128}), "png", []picture.Size{{Width: 96, Height: 96}, {Width: 320, Height: 320}, {Width: 400, Height: 400}}},
		"tall":  {drawn(t, 100, 1000, color.Black), "jpg", []picture.Size{{Width: 19, Height: 192}, {Width: 64, Height: 640}, {Width: 100, Height: 1000}}},
		"line":  {drawn(t, 1, 20_000, color.Black), "jpg", []picture.Size{{Width: 1, Height: 192}}},
		"photo": {photo.Bytes(), "jpg", []picture.Size{{Width: 96, Height: 68}, {Width: 320, Height: 228}, {Width: 640, Height: 457}, {Width: 700, Height: 500}}},
		"gif":   {moving.Bytes(), "jpg", []picture.Size{{Width: 30, Height: 20}}},
		"webp":  {webp(t), "jpg", []picture.Size{{Width: 1, Height: 1}}},
	} {
		made, err := Make(one.file, name == "clear")
		require.NoError(t, err, name)
		assert.Equal(t, one.kind, made.Kind, name)
		assert.Equal(t, one.sizes, made.Sizes, name)
		for file, content := range made.Files {
			about, format, err := image.DecodeConfig(bytes.NewReader(content))
			require.NoError(t, err, "%s of %s", file, name)
			assert.Equal(t, map[string]string{"jpg": "jpeg", "png": "png"}[file[len(file)-3:]], format, "%s of %s", file, name)
			switch size := (picture.Size{Width: about.Width, Height: about.Height}); file {
			case picture.Card:
				assert.Equal(t, picture.Size{Width: 1200, Height: 630}, size)
			case picture.Letter:
				assert.Equal(t, picture.Size{Width: 160, Height: 160}, size)
			default:
				assert.Contains(t, one.sizes, size, name)
			}
		}
		assert.Equal(t, name == "clear", made.Files[picture.Letter] != nil, "a logo has one for letters: %s", name)
	}
}

// exif returns a JPEG that says how it lies, and where it was taken.
func exif(t testing.TB, file []byte, orientation int) []byte {
	t.Helper()
	said := []byte("Exif\x00\x00II*\x00\x08\x00\x00\x00\x02\x00") // two entries follow
	said = append(said, 0x12, 1, 3, 0, 1, 0, 0, 0, byte(orientation), 0, 0, 0)
	said = append(said, 0x3b, 1, 2, 0, 4, 0, 0, 0, 'A', 'd', 'a', 0) // the artist
	said = append(said, 0, 0, 0, 0)
	head := binary.BigEndian.AppendUint16([]byte{0xff, 0xd8, 0xff, 0xe1}, uint16(len(said)+2))
	return append(append(head, said...), file[2:]...)
}

func TestMake_TurnsAPictureUprightAndSaysNothingMoreOfIt(t *testing.T) {
	t.Parallel()
	// A black picture with one white corner, which is at the top left once it is upright.
	corners := map[int]image.Point{1: {0, 0}, 2: {1, 0}, 3: {1, 1}, 4: {0, 1}, 5: {0, 0}, 6: {0, 1}, 7: {1, 1}, 8: {1, 0}}
	for orientation, corner := range corners {
		lying := image.NewGray(image.Rect(0, 0, 96, 64))
		draw.Draw(lying, image.Rect(0, 0, 48, 32).Add(image.Pt(corner.X*48, corner.Y*32)), image.White, image.Point{}, draw.Src)
		var file bytes.Buffer
		require.NoError(t, jpeg.Encode(&file, lying, nil))
		made, err := Make(exif(t, file.Bytes(), orientation), false)
		require.NoError(t, err)
		size := picture.Size{Width: 96, Height: 64}
		if orientation >= 5 {
			size = picture.Size{Width: 64, Height: 96}
		}
		assert.Equal(t, []picture.Size{size}, made.Sizes, orientation)
		for name, content := range made.Files {
			assert.NotContains(t, string(content), "Exif", name)
			assert.NotContains(t, string(content), "Ada", name)
			upright, _, err := image.Decode(bytes.NewReader(content))
			require.NoError(t, err)
			if name == picture.Card { // the middle of it alone
				continue
			}
			bright := func(x, y int) bool {
				r, _, _, _ := upright.At(x, y).RGBA()
				return r > 0x8000
			}
			w, h := size.Width, size.Height
			assert.Equal(t, []bool{true, false, false, false}, []bool{bright(8, 8), bright(w-8, 8), bright(8, h-8), bright(w-8, h-8)}, orientation)
		}
	}
}

// What is no picture, and what would take much memory or time, is refused before it is decoded.
func TestMake_SaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	var deep bytes.Buffer
	require.NoError(t, png.Encode(&deep, image.NewNRGBA64(image.Rect(0, 0, 16, 16))))
	huge := func(file []byte, w, h uint32) []byte { // a PNG that says it is so large
		file = bytes.Clone(file)
		binary.BigEndian.PutUint32(file[16:], w)
		binary.BigEndian.PutUint32(file[20:], h)
		binary.BigEndian.PutUint32(file[29:], crc32.ChecksumIEEE(file[12:29]))
		return file
	}
	var photo bytes.Buffer
	require.NoError(t, jpeg.Encode(&photo, image.NewGray(image.Rect(0, 0, 64, 64)), nil))
	clear := append([]byte("RIFF\x1c\x00\x00\x00WEBPVP8X\x0a\x00\x00\x00\x10\x00\x00\x00"), make([]byte, 6)...)
	for problem, file := range map[string][]byte{
		"this is no PNG, JPEG, GIF or WebP picture": []byte(`<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>`),
		"the picture is broken":                     photo.Bytes()[:photo.Len()-20],
		"the picture has more than 10 MB":           append(drawn(t, 16, 16, color.White), make([]byte, mostBytes)...),
		errScans.Error():                            grey(jpegKind{components: 3, scans: 4}, 8, 8),
		errCMYK.Error():                             grey(jpegKind{components: 4, scans: 1}, 8, 8),
		errWebP.Error():                             clear,
		"the picture has 65535 x 65535 pixels: a side may have 20000": huge(drawn(t, 16, 16, color.White), 65535, 65535),
		"the picture has 8001 x 5000 pixels: it may have 40 million":  huge(drawn(t, 16, 16, color.White), 8001, 5000),
		"the picture has 5000 x 5000 pixels: it may have 13 million":  grey(jpegKind{progressive: true, components: 3, scans: 1}, 5000, 5000),
		"the picture has 6001 x 5000 pixels: it may have 30 million":  huge(interlaced(16, 16, 6, 8), 6001, 5000),
		"the picture has 3000 x 5000 pixels: it may have 13 million":  huge(deep.Bytes(), 3000, 5000),
	} {
		made, err := Make(file, true)
		assert.Nil(t, made)
		assert.EqualError(t, err, problem)
	}
	for _, file := range [][]byte{nil, {}, []byte("GIF89a"), []byte("BM6"), webp(t)[:30]} {
		_, err := Make(file, true)
		assert.Error(t, err)
	}
}

// jpegKind is how a JPEG is made that the standard library does not write.
type jpegKind struct {
	progressive, rgb  bool
	components, scans int
}

// grey returns such a JPEG of one shade, with colours that have as many pixels as it has. Each block takes two bits, or one.
func grey(kind jpegKind, w, h uint16) []byte {
	file := append([]byte{0xff, markerSOI}, segment(0xdb, append([]byte{0}, bytes.Repeat([]byte{1}, 64)...))...)
	if kind.rgb || kind.components == 4 {
		file = append(file, segment(0xee, []byte("Adobe\x00\x64\x00\x00\x00\x00\x00"))...)
	}
	sof, end := byte(markerSOF0), byte(63)
	if kind.progressive {
		sof, end = markerSOF2, 0
	}
	frame := []byte{8, byte(h >> 8), byte(h), byte(w >> 8), byte(w), byte(kind.components)}
	scan := []byte{byte(kind.components)}
	for i := range kind.components {
		frame, scan = append(frame, byte(i+1), 0x11, 0), append(scan, byte(i+1), 0)
	}
	file = append(file, segment(sof, frame)...)
	for _, table := range []byte{0, 0x10} { // of one code, which says that there is nothing
		file = append(file, segment(0xc4, append([]byte{table, 1}, make([]byte, 16)...))...)
	}
	blocks := (int(w) + 7) / 8 * ((int(h) + 7) / 8) * kind.components
	for range kind.scans {
		file = append(append(file, segment(markerSOS, append(scan, 0, end, 0))...), make([]byte, blocks/4+1)...)
	}
	return append(file, 0xff, markerEOI)
}

func segment(marker byte, content []byte) []byte {
	return append(binary.BigEndian.AppendUint16([]byte{0xff, marker}, uint16(len(content)+2)), content...)
}

// interlaced returns a black PNG that is sent in seven passes, which the standard library does not write.
func interlaced(w, h int, kind, depth byte) []byte {
	chunk := func(name string, content []byte) []byte {
		said := append([]byte(name), content...)
		file := binary.BigEndian.AppendUint32(nil, uint32(len(content)))
		return binary.BigEndian.AppendUint32(append(file, said...), crc32.ChecksumIEEE(said))
	}
	var rows bytes.Buffer
	z := zlib.NewWriter(&rows)
	channels := map[byte]int{2: 3, 3: 1, 4: 2, 6: 4}[kind]
	for _, pass := range [][4]int{{8, 8, 0, 0}, {8, 8, 4, 0}, {4, 8, 0, 4}, {4, 4, 2, 0}, {2, 4, 0, 2}, {2, 2, 1, 0}, {1, 2, 0, 1}} {
		across, down := (w-pass[2]+pass[0]-1)/pass[0], (h-pass[3]+pass[1]-1)/pass[1]
		_, _ = z.Write(make([]byte, down*(1+across*channels*int(depth)/8))) // into memory
	}
	_ = z.Close()
	head := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, uint32(w)), uint32(h))
	head = append(head, depth, kind, 0, 0, 1)
	var palette []byte
	if kind == 3 {
		palette = chunk("PLTE", make([]byte, 3))
	}
	return slices.Concat([]byte("\x89PNG\r\n\x1a\n"), chunk("IHDR", head), palette, chunk("IDAT", rows.Bytes()), chunk("IEND", nil))
}

// Each kind of picture takes so many bytes a pixel, and may have so many pixels, that it takes no more than 300 MB. The test is not parallel, so that it
// alone allocates.
func TestMake_DecodesInBoundedMemory(t *testing.T) {
	const w, h = 1024, 512
	encoded := func(p image.Image) []byte {
		var file bytes.Buffer
		require.NoError(t, png.Encode(&file, p))
		return file.Bytes()
	}
	clear := image.NewNRGBA(image.Rect(0, 0, w, h))
	for name, one := range map[string]struct {
		file []byte
		most int
	}{
		"PNG":                    {encoded(clear), mostPixels},
		"PNG of 16 bits":         {encoded(image.NewNRGBA64(clear.Rect)), mostDear},
		"interlaced PNG":         {interlaced(w, h, 6, 8), mostInterlaced},
		"interlaced, 16 bits":    {interlaced(w, h, 6, 16), mostDear},
		"interlaced, opaque":     {interlaced(w, h, 2, 8), mostInterlaced},
		"interlaced, grey":       {interlaced(w, h, 4, 8), mostInterlaced},
		"interlaced, palette":    {interlaced(w, h, 3, 8), mostInterlaced},
		"JPEG":                   {grey(jpegKind{components: 3, scans: 1}, w, h), mostPixels},
		"JPEG in RGB":            {grey(jpegKind{components: 3, scans: 1, rgb: true}, w, h), mostPixels},
		"progressive JPEG":       {grey(jpegKind{components: 3, scans: 1, progressive: true}, w, h), mostDear},
		"progressive JPEG, RGB":  {grey(jpegKind{components: 3, scans: 1, progressive: true, rgb: true}, w, h), mostDear},
		"progressive JPEG, grey": {grey(jpegKind{components: 1, scans: 1, progressive: true}, w, h), mostDear},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := pixels(one.file)
		runtime.ReadMemStats(&after)
		require.NoError(t, err, name)
		each := float64(after.TotalAlloc-before.TotalAlloc) / (w * h)
		t.Logf("%s: %.1f bytes a pixel, %.0f MB", name, each, each*float64(one.most)/(1<<20))
		assert.Less(t, each*float64(one.most), float64(300<<20), name)
	}
}

// What stands in metadata, or behind a picture, is none of its segments.
func TestFrameOf_CountsSegmentsAlone(t *testing.T) {
	t.Parallel()
	plain := grey(jpegKind{components: 3, scans: 1}, 16, 16)
	inside := segment(0xe1, bytes.Repeat([]byte{0xff, markerSOF2, 0xff, markerSOS}, 100))
	whole := slices.Concat(plain[:2], inside, plain[2:], grey(jpegKind{components: 3, scans: 4}, 16, 16))
	assert.Equal(t, frame{components: 3, scans: 1}, frameOf(whole))
	_, err := Make(whole, false)
	assert.NoError(t, err)
	assert.Equal(t, frame{components: 3, scans: 7, progressive: true}, frameOf(grey(jpegKind{components: 3, scans: 7, progressive: true}, 100, 90)))
	for n := range plain {
		frameOf(plain[:n])
	}
}

// The server holds a file for each reader, so none is large, whatever its picture is.
func TestMake_WritesNoLargeFile(t *testing.T) {
	t.Parallel()
	noise := func(w, h int, opaque bool) *image.RGBA {
		p := image.NewRGBA(image.Rect(0, 0, w, h))
		random := rand.New(rand.NewPCG(1, 2))
		for i := range p.Pix {
			p.Pix[i] = byte(random.Uint32())
			if i%4 == 3 {
				if opaque {
					p.Pix[i] = 255
				}
				for c := i - 3; c < i; c++ { // no colour is more than the light that comes through
					p.Pix[c] = min(p.Pix[c], p.Pix[i])
				}
			}
		}
		return p
	}
	for _, one := range []struct {
		picture *image.RGBA
		kind    string
		widest  int
	}{
		{noise(320, 640, false), "png", 320},
		{noise(640, 700, false), "jpg", 640},
		{noise(1280, 1600, true), "jpg", 640},
	} {
		made, err := write(one.picture, one.kind == "png")
		require.NoError(t, err)
		assert.Equal(t, one.kind, made.Kind)
		assert.Equal(t, one.widest, made.Sizes[len(made.Sizes)-1].Width)
		for name, file := range made.Files {
			assert.LessOrEqual(t, len(file), mostFile, name)
		}
	}
}

func FuzzMake(f *testing.F) {
	f.Add(drawn(f, 20, 10, color.White))
	f.Add(drawn(f, 20, 10, color.NRGBA{R: 9, A: 9}))
	f.Add(webp(f))
	f.Add([]byte("GIF89a"))
	var photo bytes.Buffer
	require.NoError(f, jpeg.Encode(&photo, image.NewGray(image.Rect(0, 0, 16, 16)), nil))
	f.Add(exif(f, photo.Bytes(), 6))
	f.Add(saying(f, "png", exifBomb(3)))
	f.Add(saying(f, "webp", exifBomb(3)))
	f.Fuzz(func(t *testing.T, file []byte) {
		made, err := Make(file, true)
		if err != nil {
			return
		}
		for _, name := range []string{picture.Card, picture.Letter} {
			require.NotEmpty(t, made.Files[name])
		}
		require.Len(t, made.Files, len(made.Sizes)+2)
	})
}
