package picture

import (
	"bytes"
	"encoding/binary"
)

// What is read of a picture's EXIF. A block may name the same directory thousands of times, so nothing is followed but the first one.
const (
	mostExif    = 64 << 10 // bytes from its start
	mostEntries = 200      // of its first directory
	entryLength = 12       // tag, type, count and value
)

// orientation returns how a picture lies, as EXIF counts it: 1, upright, if nothing is said.
func orientation(file []byte, format string) int {
	const tag, short = 0x0112, 3
	block := exifOf(file, format)
	block = bytes.TrimPrefix(block[:min(len(block), mostExif)], []byte("Exif\x00\x00"))
	if len(block) < 8 {
		return 1
	}
	var order binary.ByteOrder
	switch string(block[:4]) {
	case "II*\x00":
		order = binary.LittleEndian
	case "MM\x00*":
		order = binary.BigEndian
	default:
		return 1
	}
	start := int64(order.Uint32(block[4:]))
	if start+2 > int64(len(block)) {
		return 1
	}
	entries := block[start+2:]
	for range min(order.Uint16(block[start:]), mostEntries) {
		if len(entries) < entryLength {
			return 1
		}
		if order.Uint16(entries) == tag {
			said := int(order.Uint16(entries[8:]))
			if order.Uint16(entries[2:]) != short || order.Uint32(entries[4:]) != 1 || said < 1 || said > 8 {
				return 1
			}
			return said
		}
		entries = entries[entryLength:]
	}
	return 1
}

// exifOf returns the first block of EXIF in a picture, nil if there is none.
func exifOf(file []byte, format string) []byte {
	switch format {
	case "jpeg":
		for marker, content := range segments(file) {
			switch {
			case marker == markerSOS:
				return nil
			case marker == markerAPP1 && bytes.HasPrefix(content, []byte("Exif\x00\x00")):
				return content
			}
		}
	case "png":
		for at := 8; at+8 <= len(file); { // length, kind, content, checksum
			length := int64(binary.BigEndian.Uint32(file[at:]))
			kind, rest := string(file[at+4:at+8]), file[at+8:]
			if length+4 > int64(len(rest)) {
				return nil
			}
			switch kind {
			case "eXIf":
				return rest[:length]
			case "IEND":
				return nil
			}
			at += 8 + int(length) + 4
		}
	case "webp":
		for kind, content := range chunks(file) {
			if kind == "EXIF" {
				return content
			}
		}
	}
	return nil
}
