package ads

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/tillwright/tillwright/store/advert"
)

// Refusal returns why a network that has these rules is not told of an event, or nil if it is.
func (r ConversionRules) Refusal(e advert.ConversionEvent, now time.Time) *Rejected {
	switch {
	case r.Words[e.Kind] == "":
		return &Rejected{Field: "kind", Message: fmt.Sprintf("The network has no word for %s.", e.Kind)}
	case now.Sub(e.At.Time()) > r.MaxAge:
		return &Rejected{Field: "at", Message: fmt.Sprintf("The network takes nothing that is older than %d days.", r.MaxAge/(24*time.Hour))}
	}
	return nil
}

// ConversionValue writes the value of a conversion exactly, and without decimals in a currency that has none: 20.50, 2000.
func ConversionValue(value advert.Amount, currency string) string {
	text, _, _ := strings.Cut(value.Format(currency), " ")
	return text
}

// mostHalves is how many calls Isolate makes at most, which is enough to find three bad events among a thousand.
const mostHalves = 64

// Isolate sends events by send, which returns nil for each or why it was refused. If the network refuses all of them without saying which it means
// (*Rejected), each half is sent alone, and so on. So a bad event keeps no other from being counted, and what was taken is not sent again. Isolate
// stops after a fault on the way, or when there are too many bad events to find them. The events that it did not come to then have that error. An
// error of Isolate itself is about all of them: the network was told of none, or nobody knows.
func Isolate[E any](events []E, send func([]E) ([]error, error)) ([]error, error) {
	i := isolation[E]{send: send, left: mostHalves}
	results := make([]error, len(events))
	i.tell(events, results)
	if i.stopped != nil && i.left == mostHalves-1 {
		return nil, i.stopped
	}
	return results, nil
}

type isolation[E any] struct {
	send    func([]E) ([]error, error)
	left    int   // calls
	stopped error // why no more are made
}

// tell sends events and writes the result of each.
func (i *isolation[E]) tell(events []E, results []error) {
	switch {
	case len(events) == 0:
		return
	case i.left == 0 && i.stopped == nil:
		i.stopped = fmt.Errorf("%w: it refused too many events to find out which", ErrUnavailable)
	}
	if i.stopped != nil {
		fill(results, i.stopped)
		return
	}
	i.left--
	each, err := i.send(events)
	var refused *Rejected
	switch {
	case err == nil:
		copy(results, each)
	case !errors.As(err, &refused):
		i.stopped = err
		fill(results, err)
	case len(events) == 1:
		results[0] = refused
	default:
		half := len(events) / 2
		i.tell(events[:half], results[:half])
		i.tell(events[half:], results[half:])
	}
}

func fill(results []error, err error) {
	for i := range results {
		results[i] = err
	}
}
