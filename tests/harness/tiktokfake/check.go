package tiktokfake

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

var (
	integer = regexp.MustCompile(`^-?(0|[1-9][0-9]{0,18})$`)
	decimal = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?$`)
	hash    = regexp.MustCompile(`^[0-9a-f]{64}$`)
	code    = regexp.MustCompile(`^[A-Z]{3}$`)
)

// checkObject returns why an object does not have the fields that it may and must have, nil if it does.
func (t *table) checkObject(fields map[string]param, object Object) error {
	for name, value := range object {
		p, known := fields[name]
		if !known {
			return fmt.Errorf("%s: no such parameter", name)
		}
		if err := t.check(p.kind, value); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	for name, p := range fields {
		if _, sent := object[name]; p.required && !sent {
			return fmt.Errorf("%s: missing data for required field", name)
		}
	}
	return nil
}

// check returns why a value does not fit a type, nil if it does. Numbers are numbers, texts are texts.
func (t *table) check(kind string, value any) error {
	if inner, is := strings.CutPrefix(kind, "list<"); is {
		list, ok := value.([]any)
		if !ok {
			return fmt.Errorf("must be a list")
		}
		for i, one := range list {
			if err := t.check(strings.TrimSuffix(inner, ">"), one); err != nil {
				return fmt.Errorf("[%d]: %w", i, err)
			}
		}
		return nil
	}
	if fields, is := t.nodes[kind]; is {
		object, ok := value.(map[string]any)
		if !ok {
			return fmt.Errorf("must be an object")
		}
		return t.checkObject(fields, object)
	}
	if kind == "any" || kind == "object" {
		return nil
	}
	if !t.fits(kind, value) {
		return fmt.Errorf("must be of type %s, not %v", kind, value)
	}
	return nil
}

// fits reports whether a value is of a type without parts.
func (t *table) fits(kind string, value any) bool {
	if number, is := value.(json.Number); is {
		return kind == "int" && integer.MatchString(number.String()) || kind == "float" && decimal.MatchString(number.String())
	}
	if _, is := value.(bool); is {
		return kind == "bool"
	}
	text, is := value.(string)
	if !is {
		return false
	}
	switch kind {
	case "str":
		return true
	case "datetime":
		_, err := time.Parse(time.DateTime, text)
		return err == nil
	case "date":
		_, err := time.Parse(time.DateOnly, text)
		return err == nil
	case "int64text":
		_, err := strconv.ParseInt(text, 10, 64)
		return err == nil && integer.MatchString(text)
	case "sha256":
		return hash.MatchString(text)
	case "currency":
		return code.MatchString(text)
	}
	return t.enums[kind][text]
}

// fromQuery reads the parameters of an address: texts and numbers as they are, everything else as JSON.
func (t *table) fromQuery(fields map[string]param, query map[string][]string) (Object, error) {
	params := Object{}
	for name, values := range query {
		p, known := fields[name]
		if !known {
			return nil, fmt.Errorf("%s: no such parameter", name)
		}
		if len(values) != 1 {
			return nil, fmt.Errorf("%s: is sent twice", name)
		}
		if slices.Contains([]string{"str", "date"}, p.kind) || t.enums[p.kind] != nil {
			params[name] = values[0]
			continue
		}
		value, err := decode([]byte(values[0]))
		if err != nil {
			return nil, fmt.Errorf("%s: must be JSON of type %s", name, p.kind)
		}
		params[name] = value
	}
	return params, nil
}

// decode reads JSON, with numbers as they are written.
func decode(text []byte) (any, error) {
	d := json.NewDecoder(strings.NewReader(string(text)))
	d.UseNumber()
	var value any
	err := d.Decode(&value)
	if err == nil && d.More() {
		err = fmt.Errorf("more than one value")
	}
	return value, err
}
