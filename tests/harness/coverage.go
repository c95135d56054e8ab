package harness

import (
	"fmt"
	"slices"
	"sync"
)

// Coverage remembers which operation has answered with which status, and every request id. The zero value is ready for use.
type Coverage struct {
	mu       sync.Mutex
	statuses map[string]map[int]int
	ids      map[string]bool
}

func (c *Coverage) saw(op *Operation, status int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.statuses == nil {
		c.statuses = map[string]map[int]int{}
	}
	if c.statuses[op.ID] == nil {
		c.statuses[op.ID] = map[int]int{}
	}
	c.statuses[op.ID][status]++
}

func (c *Coverage) newRequestID(id string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ids == nil {
		c.ids = map[string]bool{}
	}
	known := c.ids[id]
	c.ids[id] = true
	return !known
}

// Gaps returns every documented status that no test has seen. Never names statuses that an operation is said never to answer;
// that it did is a gap, too.
func (c *Coverage) Gaps(never map[string]int) []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var gaps []string
	for _, op := range Operations() {
		for _, status := range op.Statuses {
			switch seen := c.statuses[op.ID][status] > 0; {
			case never[op.ID] == status && seen:
				gaps = append(gaps, fmt.Sprintf("%s is answered %d after all", op.ID, status))
			case never[op.ID] != status && !seen:
				gaps = append(gaps, fmt.Sprintf("%s was never answered %d", op.ID, status))
			}
		}
	}
	slices.Sort(gaps)
	return gaps
}

// Answered reports whether an operation has answered with one of some statuses.
func (c *Coverage) Answered(op *Operation, statuses ...int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.ContainsFunc(statuses, func(status int) bool { return c.statuses[op.ID][status] > 0 })
}

// Responses returns how many answers were checked.
func (c *Coverage) Responses() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.ids)
}
