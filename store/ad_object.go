package store

import (
	"bytes"
	"database/sql/driver"
	"encoding/json"
	"fmt"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
)

// AdObject is the text of a JSON object whose content this program does not interpret, such as a network's targeting. It
// is stored and sent as it stands, so numbers keep every digit. An empty AdObject is {}.
type AdObject string

// NewAdObject returns the text of a value that is a JSON object. It panics if v has no text.
func NewAdObject(v any) AdObject {
	text := core.JSONText(v)
	if text == "{}" || text == "null" {
		return ""
	}
	return AdObject(text)
}

// Text returns the JSON object, "{}" for none.
func (o AdObject) Text() string {
	if o == "" {
		return "{}"
	}
	return string(o)
}

// Decode reads the object into v. Where v does not say the type of a number, it becomes a json.Number, which keeps every
// digit.
func (o AdObject) Decode(v any) error {
	d := json.NewDecoder(bytes.NewReader([]byte(o.Text())))
	d.UseNumber()
	return d.Decode(v)
}

// MarshalJSON writes the object.
func (o AdObject) MarshalJSON() ([]byte, error) { return []byte(o.Text()), nil }

// UnmarshalJSON keeps the text of an object without its white space. null counts as {}; any other value is an error.
func (o *AdObject) UnmarshalJSON(text []byte) error {
	var compact bytes.Buffer
	if err := json.Compact(&compact, text); err != nil {
		return err
	}
	*o = AdObject(compact.String())
	if *o == "{}" || *o == "null" {
		*o = ""
	}
	if *o != "" && (*o)[0] != '{' {
		return fmt.Errorf("store: a JSON object is needed, not %.20q", string(*o))
	}
	return nil
}

// Scan reads a text column.
func (o *AdObject) Scan(src any) error {
	text, ok := db.Text(src)
	if !ok {
		return fmt.Errorf("scan JSON object column: unexpected %T", src)
	}
	*o = AdObject(text)
	if text == "{}" {
		*o = ""
	}
	return nil
}

// Value writes the object's text.
func (o AdObject) Value() (driver.Value, error) { return o.Text(), nil }
