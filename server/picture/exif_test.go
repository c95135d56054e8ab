package picture

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/color"
	"image/jpeg"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

type byteOrder interface {
	binary.ByteOrder
	binary.AppendByteOrder
}

// directory returns a block of EXIF: after so many other entries it says how the picture lies.
func directory(order byteOrder, others, orientation int) []byte {
	block := []byte("II*\x00")
	if order.String() == binary.BigEndian.String() {
		block = []byte("MM\x00*")
	}
	block = order.AppendUint16(order.AppendUint32(block, 8), uint16(others+1))
	for range others {
		block = entry(block, order, 0x0100, 4, 1, 9)
	}
	block = order.AppendUint16(order.AppendUint16(block, 0x0112), 3)
	block = order.AppendUint16(order.AppendUint32(block, 1), uint16(orientation))
	return append(block, 0, 0, 0, 0, 0, 0)
}

func entry(block []byte, order byteOrder, tag, kind uint16, count, value uint32) []byte {
	block = order.AppendUint16(order.AppendUint16(block, tag), kind)
	return order.AppendUint32(order.AppendUint32(block, count), value)
}

// exifBomb returns a block of EXIF that names one directory, of as many entries as there may be, so often.
func exifBomb(times int) []byte {
	order := binary.LittleEndian
	block := order.AppendUint16(append([]byte("II*\x00"), 8, 0, 0, 0), 1)
	list := uint32(len(block) + entryLength + 4)
	block = entry(block, order, 0x014a, 4, uint32(times), list)
	block = order.AppendUint32(block, 0)
	for range times {
		block = order.AppendUint32(block, list+4*uint32(times))
	}
	block = order.AppendUint16(block, math.MaxUint16)
	for range math.MaxUint16 {
		block = entry(block, order, 0xfff1, 4, 1<<16, 0)
	}
	return block
}

// saying returns a small picture with a block of EXIF.
func saying(t testing.TB, format string, block []byte) []byte {
	t.Helper()
	switch format {
	case "png":
		const head = 33 // the signature and IHDR
		file := drawn(t, 20, 10, color.White)
		said := append([]byte("eXIf"), block...)
		length, sum := binary.BigEndian.AppendUint32(nil, uint32(len(block))), binary.BigEndian.AppendUint32(nil, crc32.ChecksumIEEE(said))
		return slices.Concat(file[:head], length, said, sum, file[head:])
	case "webp":
		said := binary.LittleEndian.AppendUint32([]byte("EXIF"), uint32(len(block)))
		file := slices.Concat(webp(t), said, block, make([]byte, len(block)%2))
		binary.LittleEndian.PutUint32(file[4:], uint32(len(file)-8))
		return file
	}
	var photo bytes.Buffer
	require.NoError(t, jpeg.Encode(&photo, image.NewGray(image.Rect(0, 0, 16, 16)), nil))
	return slices.Concat(photo.Bytes()[:2], segment(markerAPP1, []byte("http://ns.adobe.com/xap/1.0/\x00")),
		segment(markerAPP1, append([]byte("Exif\x00\x00"), block...)), photo.Bytes()[2:])
}

func TestOrientation_IsReadInEachFormatAndOrder(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"jpeg", "png", "webp"} {
		for _, order := range []byteOrder{binary.LittleEndian, binary.BigEndian} {
			for n := 1; n <= 8; n++ {
				file := saying(t, format, directory(order, 3, n))
				assert.Equal(t, n, orientation(file, format), "%s, %s", format, order)
			}
			for _, n := range []int{0, 9, math.MaxUint16} {
				assert.Equal(t, 1, orientation(saying(t, format, directory(order, 0, n)), format), "%s, %s: it says %d", format, order, n)
			}
		}
		assert.Equal(t, 1, orientation(saying(t, format, nil), format), format)
		file := saying(t, format, directory(binary.BigEndian, 3, 6))
		_, err := Make(file, false)
		require.NoError(t, err, format)
		for n := range file {
			assert.Contains(t, []int{1, 6}, orientation(file[:n], format), "%s: it ends after %d bytes", format, n)
		}
	}
	words := directory(binary.LittleEndian, 0, 6)
	words[12] = 4 // LONG, where EXIF has SHORT
	assert.Equal(t, 1, orientation(saying(t, "png", words), "png"))
}

// A file of 800 KB may name 160 million entries. The test is not parallel, so that it alone allocates.
func TestOrientation_ReadsFewEntriesOfOneDirectory(t *testing.T) {
	few, many := directory(binary.LittleEndian, mostEntries-1, 6), directory(binary.LittleEndian, mostEntries, 6)
	far := binary.LittleEndian.AppendUint32([]byte("II*\x00"), mostExif)
	far = append(append(far, make([]byte, mostExif-8)...), few[8:]...)
	for _, format := range []string{"png", "webp"} {
		assert.Equal(t, 6, orientation(saying(t, format, few), format), format)
		assert.Equal(t, 1, orientation(saying(t, format, many), format), "%s: it has one entry more", format)
		assert.Equal(t, 1, orientation(saying(t, format, far), format), "%s: it stands behind what is read", format)
		bomb := saying(t, format, exifBomb(2500))
		assert.LessOrEqual(t, testing.AllocsPerRun(1, func() { orientation(bomb, format) }), 100.0, format)
		_, err := Make(bomb, false)
		assert.NoError(t, err, format)
	}
}
