package db

import (
	"maps"
	"slices"
	"sync"
)

// CacheLimit is how many entries a cache keeps at most. Lists have many more query texts than this, one for each combination of their filters, and a
// caller can ask for all of them. A value whose text was dropped is made anew when the text is used again.
const CacheLimit = 500

// cache keeps values that are made once for each query text. When it is full, a new entry takes the place of any other.
type cache[K comparable, V any] struct {
	mu      sync.RWMutex
	entries map[K]V
}

// get returns the value of a key, and whether there is one.
func (c *cache[K, V]) get(key K) (V, bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	value, ok := c.entries[key]
	return value, ok
}

// put stores the value of a key, unless the key has one already, and returns the one that is stored. Dropped are the values that nobody will find any
// more, and that may have to be closed. These are those that made room, or the given one if it was not needed.
func (c *cache[K, V]) put(key K, value V) (first V, dropped []V) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if first, ok := c.entries[key]; ok {
		return first, []V{value}
	}
	if c.entries == nil {
		c.entries = map[K]V{}
	}
	for old, stale := range c.entries {
		if len(c.entries) < CacheLimit {
			break
		}
		delete(c.entries, old)
		dropped = append(dropped, stale)
	}
	c.entries[key] = value
	return value, dropped
}

// empty removes all values and returns them.
func (c *cache[K, V]) empty() []V {
	c.mu.Lock()
	defer c.mu.Unlock()
	var all []V
	for _, value := range c.entries {
		all = append(all, value)
	}
	c.entries = nil
	return all
}

// keys returns the keys, in no order.
func (c *cache[K, V]) keys() []K {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return slices.Collect(maps.Keys(c.entries))
}
