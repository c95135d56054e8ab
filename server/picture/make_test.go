package picture

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/color"
	"image/draw"
	"image/gif"
	"image/jpeg"
	"image/png"
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
	scans := append(bytes.Clone(photo.Bytes()), bytes.Repeat([]byte{0xff, 0xda, 0, 8, 1, 1, 0, 0, 63, 0, 0}, mostScans)...)
	for problem, file := range map[string][]byte{
		"this is no PNG, JPEG, GIF or WebP picture":                   []byte(`<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>`),
		"the picture is broken, or moves as a WebP":                   photo.Bytes()[:photo.Len()-20],
		"the picture has more than 10 MB":                             append(drawn(t, 16, 16, color.White), make([]byte, mostBytes)...),
		"the picture has more than 50 scans":                          scans,
		"the picture has 65535 x 65535 pixels: a side may have 20000": huge(drawn(t, 16, 16, color.White), 65535, 65535),
		"the picture has 8001 x 5000 pixels: it may have 40 million":  huge(drawn(t, 16, 16, color.White), 8001, 5000),
		"the picture has 5000 x 5000 pixels: it may have 20 million":  progressive(t, 5000, 5000),
		"the picture has 5001 x 5000 pixels: it may have 20 million":  huge(deep.Bytes(), 5001, 5000),
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

// progressive returns the beginning of a progressive JPEG that says it is so large.
func progressive(t testing.TB, w, h uint16) []byte {
	t.Helper()
	var file bytes.Buffer
	require.NoError(t, jpeg.Encode(&file, image.NewGray(image.Rect(0, 0, 64, 64)), nil))
	at := bytes.Index(file.Bytes(), []byte{0xff, 0xc0})
	require.Positive(t, at)
	said := file.Bytes()
	said[at+1] = 0xc2
	binary.BigEndian.PutUint16(said[at+5:], h)
	binary.BigEndian.PutUint16(said[at+7:], w)
	return said
}

func FuzzMake(f *testing.F) {
	f.Add(drawn(f, 20, 10, color.White))
	f.Add(drawn(f, 20, 10, color.NRGBA{R: 9, A: 9}))
	f.Add(webp(f))
	f.Add([]byte("GIF89a"))
	var photo bytes.Buffer
	require.NoError(f, jpeg.Encode(&photo, image.NewGray(image.Rect(0, 0, 16, 16)), nil))
	f.Add(exif(f, photo.Bytes(), 6))
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
