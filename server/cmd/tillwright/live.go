package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/tillwright/tillwright/sdk"
)

// tooSlow is how long the server waits for the answer to a delivery.
const tooSlow = 5 * time.Second

// liveOutput prints what happens while it happens. It prints whole lines, and may be used by several goroutines at once.
type liveOutput struct {
	mu     sync.Mutex
	events io.Writer
	notes  io.Writer
	json   bool
}

// newLiveOutput returns a liveOutput. With --json only events are printed to out, and everything else to errOut.
func newLiveOutput(out, errOut io.Writer, asJSON bool) *liveOutput {
	if !asJSON {
		errOut = out
	}
	return &liveOutput{events: out, notes: errOut, json: asJSON}
}

func (o *liveOutput) print(w io.Writer, format string, values ...any) {
	o.mu.Lock()
	defer o.mu.Unlock()
	fmt.Fprintln(w, printable(fmt.Sprintf(format, values...)))
}

func (o *liveOutput) welcome(apiURL string, e *sdk.WebhookEndpoint, f *forwarder) {
	o.print(o.notes, "Listening for %s of %s, as %s, until an interrupt.", describeEvents(e.EnabledEvents), apiURL, e.ID)
	if f.target != "" {
		o.print(o.notes, "Passing them on to %s. Verify them there with this secret, the same at every run:", f.target)
		o.print(o.notes, "")
		o.print(o.notes, "  %s", f.secret)
		o.print(o.notes, "")
	}
}

func describeEvents(types []string) string {
	if len(types) == 1 && types[0] == "*" {
		return "all events"
	}
	return strings.Join(types, ", ")
}

// event prints an event: a line about it, or with --json its body on one line.
func (o *liveOutput) event(e *sdk.Event, body []byte) {
	if o.json {
		var line bytes.Buffer
		if err := json.Compact(&line, body); err == nil { // it was parsed already
			o.print(o.events, "%s", printableJSON(line.Bytes()))
		}
		return
	}
	mark := ""
	if e.Test {
		mark = "  test"
	}
	o.print(o.events, "%s  --> %-17s %s  %s%s", clock(), e.Type, e.ID, objectID(e), mark)
}

// forwarded prints what the target answered to an event.
func (o *liveOutput) forwarded(e *sdk.Event, outcome string, took time.Duration) {
	late := ""
	if took > tooSlow {
		late = ": too late, the server gives up after " + tooSlow.String()
	}
	o.print(o.notes, "%s  <-- %-17s %s  %s in %s%s", clock(), e.Type, e.ID, outcome, took.Round(time.Millisecond), late)
}

func (o *liveOutput) note(format string, values ...any) {
	o.print(o.notes, "%s  "+format, append([]any{clock()}, values...)...)
}

func clock() string { return time.Now().Format(time.TimeOnly) }

// objectID returns the id of the resource that an event is about, empty if it has none.
func objectID(e *sdk.Event) string {
	var object struct{ ID string }
	_ = json.Unmarshal(e.Data, &object) // without an id there is none to print
	return object.ID
}
