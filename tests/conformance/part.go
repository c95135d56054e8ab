package conformance

import (
	"bytes"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// part is a check under way, or its part for one operation. It keeps the last request of its own, which a failure shows.
type part struct {
	run       *run
	result    *Result // of the promise that is checked
	operation string

	mu     sync.Mutex
	last   *exchange
	failed bool
	isGap  bool
}

// over ends a part.
type over struct{}

// Helper implements TB.
func (p *part) Helper() {}

// Failed implements TB.
func (p *part) Failed() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.failed
}

// Error implements TB.
func (p *part) Error(args ...any) { p.fail(p.result, strings.TrimSuffix(fmt.Sprintln(args...), "\n")) }

// Errorf implements TB.
func (p *part) Errorf(format string, args ...any) { p.fail(p.result, fmt.Sprintf(format, args...)) }

// Fatal implements TB.
func (p *part) Fatal(args ...any) {
	p.Error(args...)
	panic(over{})
}

// Fatalf implements TB.
func (p *part) Fatalf(format string, args ...any) {
	p.Errorf(format, args...)
	panic(over{})
}

// Run implements T.
func (p *part) Run(name string, check func(t T)) {
	inner := &part{run: p.run, result: p.result, operation: name}
	if name != "" {
		p.result.parts++
	}
	defer func() {
		if cause := recover(); cause != nil && cause != any(over{}) {
			panic(cause)
		}
	}()
	if p.run.pace.ctx.Err() == nil {
		check(inner)
	}
}

// NotChecked implements T.
func (p *part) NotChecked(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.skip(fmt.Sprintf(format, args...))
}

// skip notes that the part, or some of it, was not checked. The caller holds p.mu.
func (p *part) skip(reason string) {
	p.run.mu.Lock()
	defer p.run.mu.Unlock()
	p.result.skip(p.operation, reason)
	if !p.isGap {
		p.isGap = true
		p.result.gaps++
	}
}

func (p *part) saw(e *exchange) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last = e
}

func (p *part) breaks(promise, message string) {
	result := p.run.results[promise]
	if result == nil { // it is that of who sent this
		result = p.result
	}
	p.fail(result, message)
}

// fail notes a break. Once an answer has broken a promise of every answer, what the check itself says about that answer says it twice.
func (p *part) fail(result *Result, message string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.run.pace.ctx.Err() != nil {
		p.failed = true
		return
	}
	if p.failed && result == p.result && p.last != nil && p.last.broken {
		p.skip("its answer broke another promise")
		return
	}
	p.failed = true
	if p.last != nil && result != p.result {
		p.last.broken = true
	}
	p.run.mu.Lock()
	defer p.run.mu.Unlock()
	if result.Breaks++; len(result.Broken) >= shownBreaks {
		return
	}
	b := &Break{Operation: p.operation, Message: string(shortened([]byte(message)))}
	if p.last != nil {
		b.Request, b.Answer = p.last.describe()
	}
	result.Broken = append(result.Broken, b)
}

// describe writes a request, without its key, and its answer.
func (e *exchange) describe() (request, answer string) {
	var sent, got strings.Builder
	fmt.Fprintf(&sent, "%s %s\n", e.request.Method, hidden([]byte(e.request.URL.RequestURI())))
	writeHeader(&sent, e.request.Header)
	fmt.Fprintf(&sent, "\n%s", shortened(e.sent))
	fmt.Fprintf(&got, "%d %s\n", e.response.StatusCode, http.StatusText(e.response.StatusCode))
	writeHeader(&got, e.response.Header)
	fmt.Fprintf(&got, "\n%s", shortened(e.received))
	return strings.TrimSpace(sent.String()), strings.TrimSpace(got.String())
}

func writeHeader(b *strings.Builder, h http.Header) {
	for _, name := range slices.Sorted(maps.Keys(h)) {
		for _, value := range h[name] {
			if scheme, _, _ := strings.Cut(value, " "); name == "Authorization" {
				value = scheme + " (hidden)"
			}
			fmt.Fprintf(b, "%s: %s\n", name, value)
		}
	}
}

// shownBytes is how much of a body is told.
const shownBytes = 1000

// secret is what nobody else may read in a report: keys, what webhooks are signed with, and what a checkout is opened with.
var secret = regexp.MustCompile(`(\bsk|\bwhsec|_secret)_[0-9A-Za-z+/=_-]{16,}`)

func hidden(text []byte) []byte { return secret.ReplaceAll(text, []byte("${1}_(hidden)")) }

func shortened(body []byte) []byte {
	body = hidden(bytes.TrimSpace(body))
	if len(body) <= shownBytes {
		return body
	}
	return fmt.Appendf(nil, "%s... (%d bytes)", body[:shownBytes], len(body))
}
