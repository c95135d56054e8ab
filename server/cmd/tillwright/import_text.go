package main

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

// decoded reads text as UTF-8. A mark at its beginning says that it is UTF-16, as spreadsheets write it; that of UTF-8 is left out.
func decoded(file io.Reader) io.Reader {
	return transform.NewReader(file, unicode.BOMOverride(encoding.Nop.NewDecoder()))
}

// lineCount counts the ends of lines.
type lineCount int

func (n *lineCount) Write(text []byte) (int, error) {
	*n += lineCount(bytes.Count(text, []byte("\n")))
	return len(text), nil
}

// hashText returns the size and the SHA-256 of a file. It refuses text that is neither UTF-8 nor UTF-16 with a mark: nobody knows which letters it
// has.
func hashText(file io.Reader) (size int64, sum []byte, err error) {
	hash, lines := sha256.New(), lineCount(0)
	buffer := bufio.NewReader(file)
	var text io.Reader = io.TeeReader(buffer, hash)
	if mark, _ := buffer.Peek(2); string(mark) != "\xff\xfe" && string(mark) != "\xfe\xff" {
		text = transform.NewReader(text, encoding.UTF8Validator)
	}
	size, err = io.Copy(&lines, text)
	if errors.Is(err, encoding.ErrInvalidUTF8) {
		return 0, nil, fmt.Errorf("line %d is not UTF-8, and nothing is imported: save the file as UTF-8 (in Excel as \"CSV UTF-8\"), or convert it, such as with iconv -f WINDOWS-1252 -t UTF-8", lines+1)
	} else if err != nil {
		return 0, nil, fmt.Errorf("it must be a file that can be read twice: %w", err)
	}
	return size, hash.Sum(nil), nil
}

// failedLine returns a line of JSON with the reason why it failed, in the order in which it came. What is no object stands in it as a text.
func failedLine(line []byte, reason string) []byte {
	text := []byte{'{'}
	add := func(name string, value []byte) {
		text = append(append(append(append(text, quoted(name)...), ':'), value...), ',')
	}
	decoder := json.NewDecoder(bytes.NewReader(line))
	if isObject(line) {
		_, _ = decoder.Token() // it was read before
		for decoder.More() {
			name, _ := decoder.Token()
			var value json.RawMessage
			if _ = decoder.Decode(&value); name != reasonColumn {
				add(name.(string), value)
			}
		}
	} else {
		add("line", quoted(string(line)))
	}
	add(reasonColumn, quoted(reason))
	text[len(text)-1] = '}'
	return append(text, '\n')
}

// isObject reports whether a line is one object in JSON.
func isObject(line []byte) bool {
	var object map[string]json.RawMessage
	return json.Unmarshal(line, &object) == nil && object != nil
}

func quoted(text string) []byte {
	raw, _ := json.Marshal(text) // a text is always JSON
	return raw
}
