package server

import (
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"
)

// minNotice is how long a deprecated operation keeps answering, at least.
const minNotice = 183 * 24 * time.Hour

// deprecation holds the three headers of a deprecated operation, ready to be set.
type deprecation struct {
	since  []string // RFC 9745: a structured-field date
	sunset []string // RFC 8594: an HTTP date
	link   []string
	until  time.Time // what sunset says
}

// readDeprecation reads when an operation was deprecated and when it will be removed. It is nil for one that is not deprecated.
// It is an error if the notice is shorter than minNotice, or if a date or the link is missing.
func readDeprecation(deprecated bool, x extensions) (*deprecation, error) {
	if !deprecated {
		return nil, nil
	}
	since, err := x.date("x-deprecated-at")
	if err != nil {
		return nil, err
	}
	sunset, err := x.date("x-sunset-at")
	if err != nil {
		return nil, err
	}
	if sunset.Sub(since) < minNotice {
		return nil, fmt.Errorf("x-sunset-at is less than 183 days after x-deprecated-at")
	}
	link := x.textOf("x-deprecation-link")
	if link == "" {
		return nil, fmt.Errorf("it is deprecated without x-deprecation-link")
	}
	return &deprecation{
		since:  []string{"@" + strconv.FormatInt(since.Unix(), 10)},
		sunset: []string{sunset.Format(http.TimeFormat)},
		link:   []string{"<" + link + `>; rel="deprecation"; type="text/html"`},
		until:  sunset,
	}, nil
}

// date reads a date, YYYY-MM-DD. YAML readers may have turned it into a time already.
func (x extensions) date(name string) (time.Time, error) {
	if t, ok := x[name].(time.Time); ok {
		return t.UTC(), nil
	}
	t, err := time.Parse(time.DateOnly, x.textOf(name))
	if err != nil {
		return time.Time{}, fmt.Errorf("%s must be a date, YYYY-MM-DD", name)
	}
	return t, nil
}

// headers sets the deprecation headers on every response of the operation, also on a 401 or 429: it comes before everything
// that may refuse.
func (d *deprecation) headers(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		d.set(c.Response().Header())
		return next(c)
	}
}

func (d *deprecation) set(h http.Header) {
	h["Deprecation"], h["Sunset"], h["Link"] = d.since, d.sunset, d.link
}

// outdated holds the deprecated values of the enums in a body, by field and value.
type outdated map[string]map[string]*deprecation

// readOutdated reads x-deprecated-values of the body's fields. For a field that is a list, those of its items are read.
func (o *Operation) readOutdated() (outdated, error) {
	if o.body == nil || o.body.Content.Get(echo.MIMEApplicationJSON) == nil {
		return nil, nil
	}
	found := outdated{}
	for field, property := range o.body.Content.Get(echo.MIMEApplicationJSON).Schema.Value.Properties {
		schema := property.Value
		if schema.Items != nil {
			schema = schema.Items.Value
		}
		values, _ := schema.Extensions["x-deprecated-values"].(map[string]any)
		for value, terms := range values {
			terms, _ := terms.(map[string]any)
			d, err := readDeprecation(true, terms)
			if err != nil {
				return nil, fmt.Errorf("%s of %s: %w", value, field, err)
			}
			if found[field] == nil {
				found[field] = map[string]*deprecation{}
			}
			found[field][value] = d
		}
	}
	return found, nil
}

// headers sets the deprecation headers on the answer to a body that has a deprecated value.
func (o outdated) headers(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		if body, ok := c.Request().Body.(interface{ ValidatedValue() any }); ok {
			fields, _ := body.ValidatedValue().(map[string]any)
			for field, values := range o {
				sent, many := fields[field].([]any)
				if !many {
					sent = []any{fields[field]}
				}
				for _, value := range sent {
					if text, ok := value.(string); ok && values[text] != nil {
						values[text].set(c.Response().Header())
					}
				}
			}
		}
		return next(c)
	}
}

// ofPath returns the deprecation of a path, which is that of the operation that is removed last. It is nil if any operation of
// the path stays.
func ofPath(all []*Operation) *deprecation {
	var last *deprecation
	for _, op := range all {
		if op.deprecation == nil {
			return nil
		}
		if last == nil || op.deprecation.until.After(last.until) {
			last = op.deprecation
		}
	}
	return last
}
