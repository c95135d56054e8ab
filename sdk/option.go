package sdk

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"
)

// Option changes a single call.
type Option interface{ apply(*settings) }

// settings are what all options of a call ask for.
type settings struct {
	key      string
	timeout  time.Duration
	header   http.Header
	expand   []string
	fields   map[string]json.RawMessage
	extra    url.Values
	response *Response
	// at is the position of All. Nil outside All.
	at *position
	// dryRun asks for the plan of a write.
	dryRun bool
	misuse error
}

func dryRun() Option { return optionFunc(func(s *settings) { s.dryRun = true }) }

type optionFunc func(*settings)

func (f optionFunc) apply(s *settings) { f(s) }

// WithIdempotencyKey sends your own Idempotency-Key with a write, instead of a random one. Store the key before you send it: then
// the write happens once even if your program stops between two attempts. The server remembers it for 24 hours.
func WithIdempotencyKey(key string) Option {
	return optionFunc(func(s *settings) {
		s.key = key
		if key == "" {
			s.misuse = errors.New("WithIdempotencyKey: the key is empty: leave the option out for a random one")
		}
	})
}

// WithCallTimeout bounds the call: all attempts and the waits between them.
func WithCallTimeout(d time.Duration) Option {
	return optionFunc(func(s *settings) { s.timeout = d })
}

// WithHeader sends one more header, or replaces one that the client sends.
func WithHeader(name, value string) Option {
	return optionFunc(func(s *settings) {
		if s.header == nil {
			s.header = http.Header{}
		}
		s.header.Set(name, value)
	})
}

// WithField adds a field to the body of a write, or replaces one. It is for what a newer server takes and this package has no name
// for. The value is sent as encoding/json writes it. In a read it is an error.
func WithField(name string, value any) Option {
	return optionFunc(func(s *settings) {
		text, err := json.Marshal(value)
		if err != nil {
			s.misuse = fmt.Errorf("WithField: %s: %w", name, err)
			return
		}
		if s.fields == nil {
			s.fields = map[string]json.RawMessage{}
		}
		s.fields[name] = text
	})
}

// WithQuery adds a parameter to the query, or replaces one, for what a newer server takes and this package has no name for.
func WithQuery(name, value string) Option {
	return optionFunc(func(s *settings) {
		if s.extra == nil {
			s.extra = url.Values{}
		}
		s.extra.Set(name, value)
	})
}

// WithResponse fills r with the status, headers, body and number of attempts, whether the call succeeds or fails.
func WithResponse(r *Response) Option {
	return optionFunc(func(s *settings) { s.response = r })
}

// Response is the last answer of a call.
type Response struct {
	// Status is the HTTP status, and 0 if no answer came.
	Status int
	Header http.Header
	// Body is the answer as it came. It has the fields that a newer server adds and this package does not know.
	Body []byte
	// RequestID names the request in the server's log.
	RequestID string
	// Replayed tells that the answer is the stored one of an earlier request with the same Idempotency-Key.
	Replayed bool
	// Attempts counts the requests of the call, from 1.
	Attempts int
}

// Expansion is the result of Expand. It is an Option, and a value for the Expand field of list parameters.
type Expansion []string

// Expand asks for references as whole objects, by the names of their fields. Dots lead further: "customer", "line_items.product".
// Read them with the Get method of Expandable.
func Expand(names ...string) Expansion { return names }

func (e Expansion) apply(s *settings) { s.expand = append(s.expand, e...) }
