package conformance

import (
	"encoding/json"
	"fmt"
	"os"
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

// asked reports whether an operation has answered.
func (c *Coverage) asked(op *Operation) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.statuses[op.ID]) > 0
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
	for _, op := range Promised().Operations {
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

// Keep writes what was answered to a file, from which the coverage of another process can go on.
func (c *Coverage) Keep(path string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	text, err := json.Marshal(c.statuses)
	if err != nil {
		return err
	}
	return os.WriteFile(path, text, 0o644)
}

// Add counts what another process has kept.
func (c *Coverage) Add(path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var kept map[string]map[int]int
	if err := json.Unmarshal(text, &kept); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.statuses == nil {
		c.statuses = map[string]map[int]int{}
	}
	for id, statuses := range kept {
		if c.statuses[id] == nil {
			c.statuses[id] = map[int]int{}
		}
		for status, n := range statuses {
			c.statuses[id][status] += n
		}
	}
	return nil
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
