package server

import (
	"bytes"
	"strconv"
	"unicode/utf8"
)

// The limits of a JSON body, which RFC 8259 does not set.
const (
	maxJSONDepth  = 64
	maxJSONNumber = 100 // characters; a float64 needs at most 24
)

// jsonLimits are the limits that differ between operations; 0 means no limit.
type jsonLimits struct {
	items  int // of an array
	keys   int // of an object
	values int // of the whole body: objects, arrays and what is in them
}

// jsonFault says why a body is not the strict JSON that the API takes.
type jsonFault struct {
	path    []string // keys and indexes from the innermost outwards
	message string
	tooMany bool // a list or an object has more in it than is taken: fine JSON, but not acceptable
}

// param returns the dotted path of the value at fault, empty for the whole body.
func (f *jsonFault) param() string {
	var path []byte
	for i := len(f.path) - 1; i >= 0; i-- {
		if len(path) > 0 {
			path = append(path, '.')
		}
		path = append(path, f.path[i]...)
	}
	return string(path)
}

// checkJSON reads data once, without building anything. It returns nil if data is one JSON value without trailing data,
// duplicate keys, or a depth over 64. Nor may there be invalid UTF-8, NUL or lone surrogates in strings, or numbers that no
// float64 holds. Parsers disagree about exactly these, so none of them is let in. A body with too much in it is refused here
// as well: a million items that are each wrong would cost a million errors.
func checkJSON(data []byte, limits jsonLimits) *jsonFault {
	if bytes.HasPrefix(data, []byte("\xef\xbb\xbf")) {
		return &jsonFault{message: "The body starts with a byte order mark. Send plain UTF-8."}
	}
	if !utf8.Valid(data) {
		return &jsonFault{message: "The body is not valid UTF-8."}
	}
	s := jsonScan{data: data, limits: limits}
	s.space()
	if fault := s.value(1); fault != nil {
		return fault
	}
	s.space()
	if s.pos < len(data) {
		return &jsonFault{message: "The body has data after the JSON value, at byte " + strconv.Itoa(s.pos) + "."}
	}
	return nil
}

// jsonScan is a position in a body, and the keys of the objects open there.
type jsonScan struct {
	data []byte
	pos  int
	keys [][]byte // of every open object, the innermost last

	limits jsonLimits
	values int // so far
}

func (s *jsonScan) syntax(expected string) *jsonFault {
	if s.pos >= len(s.data) {
		return &jsonFault{message: "The body ends in the middle of the JSON: expected " + expected + "."}
	}
	return &jsonFault{message: "The body is not valid JSON: expected " + expected + " at byte " + strconv.Itoa(s.pos) + "."}
}

// peek returns the next byte, 0 at the end. Wherever it is called, a NUL in the body is not valid.
func (s *jsonScan) peek() byte {
	if s.pos < len(s.data) {
		return s.data[s.pos]
	}
	return 0
}

func (s *jsonScan) space() {
	for s.pos < len(s.data) {
		switch s.data[s.pos] {
		case ' ', '\t', '\n', '\r':
			s.pos++
		default:
			return
		}
	}
}

// value steps over a value of any type.
func (s *jsonScan) value(depth int) *jsonFault {
	if s.values++; s.limits.values > 0 && s.values > s.limits.values {
		return &jsonFault{message: "The body has more than the " + strconv.Itoa(s.limits.values) + " values that this operation takes. Send it in parts."}
	}
	switch c := s.peek(); {
	case c == '{':
		return s.object(depth)
	case c == '[':
		return s.array(depth)
	case c == '"':
		_, fault := s.scanString()
		return fault
	case c == '-' || isDigit(c):
		return s.scanNumber()
	case c == 't':
		return s.literal("true")
	case c == 'f':
		return s.literal("false")
	case c == 'n':
		return s.literal("null")
	}
	return s.syntax("a value")
}

func (s *jsonScan) literal(word string) *jsonFault {
	if !bytes.HasPrefix(s.data[s.pos:], []byte(word)) {
		return s.syntax("a value")
	}
	s.pos += len(word)
	return nil
}

// object steps over an object, and refuses one that has a key twice or too many keys.
func (s *jsonScan) object(depth int) *jsonFault {
	if depth > maxJSONDepth {
		return &jsonFault{message: "The body is nested more than 64 levels deep."}
	}
	keys := keySet{scan: s, first: len(s.keys)}
	defer keys.close()
	s.pos++ // {
	s.space()
	if s.peek() == '}' {
		s.pos++
		return nil
	}
	for n := 0; ; n++ {
		if s.limits.keys > 0 && n == s.limits.keys {
			return &jsonFault{tooMany: true, message: "must have at most " + count(uint64(s.limits.keys), "key")}
		}
		if s.peek() != '"' {
			return s.syntax("a key in double quotes")
		}
		key, fault := s.scanString()
		if fault != nil {
			return fault
		}
		if !keys.add(key) {
			return &jsonFault{path: []string{string(key)}, message: "The key " + quote(string(key)) + " appears twice in one object."}
		}
		if s.space(); s.peek() != ':' {
			return s.syntax("a colon")
		}
		s.pos++
		s.space()
		if fault := s.value(depth + 1); fault != nil {
			fault.path = append(fault.path, string(key))
			return fault
		}
		if more, fault := s.next('}'); !more {
			return fault
		}
	}
}

// array steps over an array, and refuses one that has too many items.
func (s *jsonScan) array(depth int) *jsonFault {
	if depth > maxJSONDepth {
		return &jsonFault{message: "The body is nested more than 64 levels deep."}
	}
	s.pos++ // [
	s.space()
	if s.peek() == ']' {
		s.pos++
		return nil
	}
	for i := 0; ; i++ {
		if s.limits.items > 0 && i == s.limits.items {
			return &jsonFault{tooMany: true, message: "must have at most " + count(uint64(s.limits.items), "item")}
		}
		if fault := s.value(depth + 1); fault != nil {
			fault.path = append(fault.path, strconv.Itoa(i))
			return fault
		}
		if more, fault := s.next(']'); !more {
			return fault
		}
	}
}

// next steps over what follows an element: a comma, after which there is more to come, or the end.
func (s *jsonScan) next(end byte) (more bool, fault *jsonFault) {
	s.space()
	switch s.peek() {
	case ',':
		s.pos++
		s.space()
		return true, nil
	case end:
		s.pos++
		return false, nil
	}
	return false, s.syntax("a comma or " + string(end))
}

// scanNumber steps over a number, and refuses one that no float64 holds.
func (s *jsonScan) scanNumber() *jsonFault {
	start := s.pos
	if s.peek() == '-' {
		s.pos++
	}
	switch {
	case s.peek() == '0':
		s.pos++
	case !s.digits():
		return s.syntax("a digit")
	}
	if s.peek() == '.' {
		s.pos++
		if !s.digits() {
			return s.syntax("a digit")
		}
	}
	exponent := s.peek() == 'e' || s.peek() == 'E'
	if exponent {
		s.pos++
		if c := s.peek(); c == '+' || c == '-' {
			s.pos++
		}
		if !s.digits() {
			return s.syntax("a digit")
		}
	}
	if s.pos-start > maxJSONNumber {
		return &jsonFault{message: "A number has more than 100 characters."}
	}
	if exponent { // without one, 100 digits fit a float64
		if _, err := strconv.ParseFloat(string(s.data[start:s.pos]), 64); err != nil {
			return &jsonFault{message: "A number is too large."}
		}
	}
	return nil
}

func (s *jsonScan) digits() bool {
	start := s.pos
	for s.pos < len(s.data) && isDigit(s.data[s.pos]) {
		s.pos++
	}
	return s.pos > start
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// scanString steps over a string and returns what it means: a part of the body itself, or a copy if the string has escapes.
func (s *jsonScan) scanString() ([]byte, *jsonFault) {
	s.pos++ // "
	start := s.pos
	for s.pos < len(s.data) {
		switch c := s.data[s.pos]; {
		case c == '"':
			s.pos++
			return s.data[start : s.pos-1], nil
		case c == '\\':
			return s.escapedText(start)
		case c < ' ':
			return nil, s.syntax("no control character in a string")
		}
		s.pos++
	}
	return nil, s.syntax("a closing double quote")
}

// escapedText is text for a string that has escapes; start is where it begins.
func (s *jsonScan) escapedText(start int) ([]byte, *jsonFault) {
	out := append([]byte(nil), s.data[start:s.pos]...)
	for s.pos < len(s.data) {
		c := s.data[s.pos]
		switch {
		case c == '"':
			s.pos++
			return out, nil
		case c < ' ':
			return nil, s.syntax("no control character in a string")
		case c != '\\':
			out = append(out, c)
			s.pos++
			continue
		}
		r, fault := s.escape()
		if fault != nil {
			return nil, fault
		}
		out = utf8.AppendRune(out, r)
	}
	return nil, s.syntax("a closing double quote")
}

// escape steps over one escape sequence. A surrogate pair counts as one.
func (s *jsonScan) escape() (rune, *jsonFault) {
	s.pos++ // backslash
	c := s.peek()
	if c != 'u' {
		i := bytes.IndexByte([]byte(`"\/bfnrt`), c)
		if i < 0 {
			return 0, s.syntax("a valid escape sequence")
		}
		s.pos++
		return rune("\"\\/\b\f\n\r\t"[i]), nil
	}
	r, ok := s.hex4()
	switch {
	case !ok:
		return 0, s.syntax("four hexadecimal digits")
	case r == 0:
		return 0, &jsonFault{message: `A string has a NUL character (\u0000).`}
	case r < 0xd800 || r > 0xdfff:
		return r, nil
	}
	if r < 0xdc00 && s.peek() == '\\' && s.pos+1 < len(s.data) && s.data[s.pos+1] == 'u' {
		s.pos++
		if low, ok := s.hex4(); ok && 0xdc00 <= low && low <= 0xdfff {
			return (r-0xd800)<<10 | (low - 0xdc00) + 0x10000, nil
		}
	}
	return 0, &jsonFault{message: "A string has half of a surrogate pair."}
}

// hex4 steps over u and four hexadecimal digits.
func (s *jsonScan) hex4() (rune, bool) {
	if s.pos+5 > len(s.data) {
		return 0, false
	}
	n, err := strconv.ParseUint(string(s.data[s.pos+1:s.pos+5]), 16, 16)
	if err != nil {
		return 0, false
	}
	s.pos += 5
	return rune(n), true
}

// keySet holds the keys of one object. They are compared one by one while they are few, and kept in a map when there are
// thousands.
type keySet struct {
	scan  *jsonScan
	first int // where this object's keys begin in scan.keys
	many  map[string]struct{}
}

const fewKeys = 24

// add adds a key, and returns false if it was there already.
func (k *keySet) add(key []byte) bool {
	if k.many != nil {
		_, seen := k.many[string(key)]
		k.many[string(key)] = struct{}{}
		return !seen
	}
	own := k.scan.keys[k.first:]
	for _, other := range own {
		if bytes.Equal(other, key) {
			return false
		}
	}
	k.scan.keys = append(k.scan.keys, key)
	if len(own) == fewKeys {
		k.many = make(map[string]struct{}, 4*fewKeys)
		for _, key := range k.scan.keys[k.first:] {
			k.many[string(key)] = struct{}{}
		}
	}
	return true
}

func (k *keySet) close() { k.scan.keys = k.scan.keys[:k.first] }
