package db

import (
	"maps"
	"slices"
	"sync"
)

// CacheLimit bounds a cache. Lists have many more texts than this, one for each combination of their filters, and a
// caller can ask for them all; those that are used come back.
const CacheLimit = 500

// cache keeps what is made once for a query text. When it is full a new entry takes the place of any other.
type cache[K comparable, V any] struct {
	mu      sync.RWMutex
	entries map[K]V
}

func (c *cache[K, V]) get(key K) (V, bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	value, ok := c.entries[key]
	return value, ok
}

// put keeps a value, unless the key has one: the first is returned. What had to go, or was not needed, is dropped.
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

// empty takes everything out.
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

func (c *cache[K, V]) keys() []K {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return slices.Collect(maps.Keys(c.entries))
}
