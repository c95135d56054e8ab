package metafake

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// checkText returns why a parameter's text does not fit its type, nil if it does.
func (t *table) checkText(kind, text string) error {
	if !t.isJSON(kind) {
		return t.checkScalar(kind, text)
	}
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var value any
	if err := d.Decode(&value); err != nil || d.More() {
		return fmt.Errorf("must be JSON of type %s", kind)
	}
	return t.checkValue(kind, value)
}

// isJSON reports whether values of a type are written as JSON.
func (t *table) isJSON(kind string) bool {
	return strings.HasPrefix(kind, "list<") || strings.HasPrefix(kind, "map") || kind == "Object" || t.nodes[kind] != nil
}

// checkValue returns why a decoded value does not fit a type, nil if it does. Numbers may be JSON numbers or strings.
func (t *table) checkValue(kind string, value any) error {
	switch {
	case kind == "any":
		return nil
	case strings.HasPrefix(kind, "list<"):
		return t.checkList(strings.TrimSuffix(strings.TrimPrefix(kind, "list<"), ">"), value)
	case t.isJSON(kind):
		return t.checkObject(kind, value)
	}
	switch v := value.(type) {
	case string:
		return t.checkScalar(kind, v)
	case json.Number:
		if kind == "string" {
			return fmt.Errorf("must be a string, not the number %s", v)
		}
		return t.checkScalar(kind, v.String())
	case bool:
		return t.checkScalar(kind, strconv.FormatBool(v))
	}
	return fmt.Errorf("must be of type %s", kind)
}

func (t *table) checkList(kind string, value any) error {
	list, ok := value.([]any)
	if !ok {
		return fmt.Errorf("must be an array")
	}
	for i, v := range list {
		if err := t.checkValue(kind, v); err != nil {
			return fmt.Errorf("[%d]: %w", i, err)
		}
	}
	return nil
}

// checkObject refuses a key that the node does not have. A map may have any key, and so may a node that is not in the table.
func (t *table) checkObject(kind string, value any) error {
	object, ok := value.(map[string]any)
	if !ok {
		return fmt.Errorf("must be an object")
	}
	fields, known := t.nodes[kind]
	for key, v := range object {
		if !known {
			continue
		}
		if fields[key] == "" {
			return fmt.Errorf("has no key %q", key)
		}
		if err := t.checkValue(fields[key], v); err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
	}
	return nil
}

var (
	unsigned = regexp.MustCompile(`^(0|[1-9][0-9]{0,18})$`)
	signed   = regexp.MustCompile(`^(0|-?[1-9][0-9]{0,18})$`)
	decimal  = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?$`)
	day      = regexp.MustCompile(`^\d{4}-\d\d-\d\d$`)
	click    = regexp.MustCompile(`^fb\.[0-2]\.1[0-9]{12}\.[^.\s]+$`) // when it was made, in milliseconds
)

// checkScalar is checkText for types that are not written as JSON.
func (t *table) checkScalar(kind, text string) error {
	ok := utf8.ValidString(text)
	switch kind {
	case "unsigned int":
		ok = unsigned.MatchString(text)
	case "int":
		ok = signed.MatchString(text)
	case "float":
		ok = decimal.MatchString(text)
	case "bool":
		ok = text == "true" || text == "false"
	case "datetime":
		ok = isMoment(text)
	case "date":
		ok = day.MatchString(text)
	case "SHA256":
		ok = hash.MatchString(text)
	case "ClickID":
		ok = click.MatchString(text)
	case "string":
	default:
		members, known := t.enums[kind]
		if !known {
			return fmt.Errorf("has the type %s, which the table does not know", kind)
		}
		ok = members[text]
	}
	if !ok {
		return fmt.Errorf("must be of type %s, not %q", kind, text)
	}
	return nil
}

// isMoment reports whether a moment is written so that it cannot be misread: with an offset, or as Unix seconds.
func isMoment(text string) bool {
	if unsigned.MatchString(text) {
		return true
	}
	_, err := time.Parse(timeLayout, text)
	_, rfc := time.Parse(time.RFC3339, text)
	return err == nil || rfc == nil
}

// timeLayout is how Meta writes a moment.
const timeLayout = "2006-01-02T15:04:05-0700"
