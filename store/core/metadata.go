package core

import (
	"database/sql/driver"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"
)

// Metadata holds the merchant's own keys and values on an object. It is the text of a JSON object of strings with its keys
// sorted, so that equal metadata is equal text; "" means none. It is stored and sent as it is.
type Metadata string

// The limits of metadata, in entries and characters.
const (
	MetadataMaxKeys  = 50
	MetadataMaxKey   = 40
	MetadataMaxValue = 500
)

// NewMetadata returns the metadata of a map.
func NewMetadata(values map[string]string) Metadata {
	if len(values) == 0 {
		return ""
	}
	text, err := json.Marshal(values)
	if err != nil { // a map of strings always has a text
		panic(err)
	}
	return Metadata(text)
}

// Map returns the entries. It is never nil.
func (m Metadata) Map() map[string]string {
	values := map[string]string{}
	if m != "" {
		_ = json.Unmarshal([]byte(m), &values) // the text is our own
	}
	return values
}

// Merge returns the metadata with a patch applied: a value sets its key, nil removes the key.
func (m Metadata) Merge(patch map[string]*string) Metadata {
	values := m.Map()
	for key, value := range patch {
		if value == nil {
			delete(values, key)
		} else {
			values[key] = *value
		}
	}
	return NewMetadata(values)
}

// Text returns the JSON object, "{}" for none.
func (m Metadata) Text() string {
	if m == "" {
		return "{}"
	}
	return string(m)
}

// MarshalJSON writes the object.
func (m Metadata) MarshalJSON() ([]byte, error) { return []byte(m.Text()), nil }

// Scan reads a text column.
func (m *Metadata) Scan(src any) error {
	switch text := src.(type) {
	case string:
		*m = Metadata(text)
	case []byte:
		*m = Metadata(text)
	default:
		return fmt.Errorf("scan metadata column: unexpected %T", src)
	}
	if *m == "{}" {
		*m = ""
	}
	return nil
}

// Value writes the object's text.
func (m Metadata) Value() (driver.Value, error) { return m.Text(), nil }

// Check adds a problem for everything that exceeds the limits of metadata.
func (m Metadata) Check(p *Problems) {
	if m == "" {
		return
	}
	values := m.Map()
	p.Check(len(values) <= MetadataMaxKeys, "metadata", "Send at most 50 metadata keys.")
	for key, value := range values {
		p.Check(key != "" && utf8.RuneCountInString(key) <= MetadataMaxKey, "metadata."+key, "A metadata key has 1 to 40 characters.")
		p.Check(!strings.ContainsAny(key, "[]"), "metadata."+key, "A metadata key has no square brackets: a filter could not name it.")
		p.Check(utf8.RuneCountInString(value) <= MetadataMaxValue, "metadata."+key, "A metadata value has at most 500 characters.")
	}
}

// Fill returns the metadata with the entries of other added whose keys it does not have. They are added in the order of their keys and as far as
// there is room.
func (m Metadata) Fill(other Metadata) Metadata {
	values, more := m.Map(), other.Map()
	for _, key := range slices.Sorted(maps.Keys(more)) {
		if _, taken := values[key]; !taken && len(values) < MetadataMaxKeys {
			values[key] = more[key]
		}
	}
	return NewMetadata(values)
}
