package transfer

import "sync"

// places are as many transfers as there may be at once, of which one party has some at most.
type places struct {
	all, each int

	mu    sync.Mutex
	taken int
	by    map[string]int
}

func newPlaces(all, each int) *places { return &places{all: all, each: each, by: map[string]int{}} }

// take takes a place for a party. It returns false if there is none, else leave has to be called.
func (p *places) take(party string) (leave func(), ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.taken >= p.all || p.by[party] >= p.each {
		return nil, false
	}
	p.taken++
	p.by[party]++
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.taken--
		if p.by[party]--; p.by[party] == 0 {
			delete(p.by, party)
		}
	}, true
}
