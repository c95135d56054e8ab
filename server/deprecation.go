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

// deprecation is the three headers of a deprecated operation, ready to be set.
type deprecation struct {
	since  []string // RFC 9745: a structured-field date
	sunset []string // RFC 8594: an HTTP date
	link   []string
}

// readDeprecation returns nil for an operation that is not deprecated. It is an
// error if the notice is shorter than minNotice, or a date or the link is missing.
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
	link := x.text("x-deprecation-link")
	if link == "" {
		return nil, fmt.Errorf("it is deprecated without x-deprecation-link")
	}
	return &deprecation{
		since:  []string{"@" + strconv.FormatInt(since.Unix(), 10)},
		sunset: []string{sunset.Format(http.TimeFormat)},
		link:   []string{"<" + link + `>; rel="deprecation"; type="text/html"`},
	}, nil
}

// date reads a YYYY-MM-DD. YAML readers may have made a time of it.
func (x extensions) date(name string) (time.Time, error) {
	if t, ok := x[name].(time.Time); ok {
		return t.UTC(), nil
	}
	t, err := time.Parse(time.DateOnly, x.text(name))
	if err != nil {
		return time.Time{}, fmt.Errorf("%s must be a date, YYYY-MM-DD", name)
	}
	return t, nil
}

// headers puts the deprecation headers on every response of the operation, a 401
// or 429 too: it stands before all that may refuse.
func (d *deprecation) headers(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		h := c.Response().Header()
		h["Deprecation"], h["Sunset"], h["Link"] = d.since, d.sunset, d.link
		return next(c)
	}
}
