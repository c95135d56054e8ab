package conformance

import (
	"slices"
	"time"
)

// Report is what a run has found.
type Report struct {
	URL        string        `json:"url"`
	Requests   int           `json:"requests"`
	Operations int           `json:"operations"` // of the document that the server serves
	Asked      int           `json:"operations_asked"`
	Duration   time.Duration `json:"-"`
	Promises   []*Result     `json:"promises"`
	Notes      []string      `json:"notes"` // what was left behind, or not made
}

// Outcome is what became of a promise.
type Outcome string

// Kept promises were checked and nothing broke them.
const (
	OutcomeKept       Outcome = "kept"
	OutcomeBroken     Outcome = "broken"
	OutcomeNotChecked Outcome = "not_checked"
)

// Result is what became of one promise.
type Result struct {
	Name       string   `json:"name"`
	Sentence   string   `json:"sentence"`
	Outcome    Outcome  `json:"outcome"`
	Broken     []*Break `json:"broken"` // the first of them
	Breaks     int      `json:"breaks"` // how many there are
	NotChecked []*Gap   `json:"not_checked"`

	parts, gaps int
	held        bool
}

// Gap is what could not be asked, and why.
type Gap struct {
	Reason     string   `json:"reason"`
	Operations []string `json:"operations"`
}

// skip notes a gap, together with others that have the same reason.
func (r *Result) skip(operation, reason string) {
	i := slices.IndexFunc(r.NotChecked, func(g *Gap) bool { return g.Reason == reason })
	if i < 0 {
		i = len(r.NotChecked)
		r.NotChecked = append(r.NotChecked, &Gap{reason, []string{}})
	}
	if g := r.NotChecked[i]; operation != "" && !slices.Contains(g.Operations, operation) {
		g.Operations = append(g.Operations, operation)
	}
}

// Break is a request whose answer breaks a promise.
type Break struct {
	Operation string `json:"operation"`
	Message   string `json:"message"`
	Request   string `json:"request"`
	Answer    string `json:"answer"`
}

// Broken returns the promises that are broken.
func (r *Report) Broken() []*Result {
	var broken []*Result
	for _, result := range r.Promises {
		if result.Outcome == OutcomeBroken {
			broken = append(broken, result)
		}
	}
	return broken
}

// shownBreaks is how many breaks of a promise are told whole.
const shownBreaks = 3

func (r *Result) settle(sent int) {
	switch {
	case r.Breaks > 0:
		r.Outcome = OutcomeBroken
	case r.parts > r.gaps, r.gaps == 0 && sent > 0:
		r.Outcome = OutcomeKept
	default:
		r.Outcome = OutcomeNotChecked
	}
}
