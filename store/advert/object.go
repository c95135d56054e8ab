package advert

import (
	"bytes"
	"database/sql/driver"
	"encoding/json"
	"fmt"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
)

// Object is the text of a JSON object whose content this program does not interpret, such as a network's targeting. It
// is stored and sent as it stands, so numbers keep every digit. An empty Object is {}.
type Object string

// NewObject returns the text of a value that is a JSON object. It panics if v has no text.
func NewObject(v any) Object {
	text := core.JSONText(v)
	if text == "{}" || text == "null" {
		return ""
	}
	return Object(text)
}

// Text returns the JSON object, "{}" for none.
func (o Object) Text() string {
	if o == "" {
		return "{}"
	}
	return string(o)
}

// Decode reads the object into v. Where v does not say the type of a number, it becomes a json.Number, which keeps every
// digit.
func (o Object) Decode(v any) error {
	d := json.NewDecoder(bytes.NewReader([]byte(o.Text())))
	d.UseNumber()
	return d.Decode(v)
}

// MarshalJSON writes the object.
func (o Object) MarshalJSON() ([]byte, error) { return []byte(o.Text()), nil }

// UnmarshalJSON keeps the text of an object without its white space. null counts as {}; any other value is an error.
func (o *Object) UnmarshalJSON(text []byte) error {
	var compact bytes.Buffer
	if err := json.Compact(&compact, text); err != nil {
		return err
	}
	*o = Object(compact.String())
	if *o == "{}" || *o == "null" {
		*o = ""
	}
	if *o != "" && (*o)[0] != '{' {
		return fmt.Errorf("store: a JSON object is needed, not %.20q", string(*o))
	}
	return nil
}

// Scan reads a text column.
func (o *Object) Scan(src any) error {
	text, ok := db.Text(src)
	if !ok {
		return fmt.Errorf("scan JSON object column: unexpected %T", src)
	}
	*o = Object(text)
	if text == "{}" {
		*o = ""
	}
	return nil
}

// Value writes the object's text.
func (o Object) Value() (driver.Value, error) { return o.Text(), nil }
