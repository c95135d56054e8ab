package picture

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestTurns_GoToWhoHasTakenTheLeast(t *testing.T) {
	t.Parallel()
	now := time.Now()
	turns := newAccountTurns(func() time.Time { return now })
	both := []string{"a", "b"}
	assert.Equal(t, "a", turns.take(both))
	assert.Equal(t, "b", turns.take(both))
	assert.Empty(t, turns.take(both), "each has one")
	turns.give("a", 20*time.Second)
	turns.give("b", time.Second)
	for range 3 {
		assert.Equal(t, "b", turns.take(both))
		turns.give("b", time.Second)
	}
	all := []string{"a", "b", "c"}
	assert.Equal(t, "c", turns.take(all), "who comes anew")
	turns.give("c", 10*time.Second)
	assert.Equal(t, "b", turns.take(all), "and has taken no less than the others")
	turns.give("b", 30*time.Second)
	assert.Equal(t, "c", turns.take(all))

	turns.silent("a", "one.example")
	assert.Equal(t, pause, turns.silentFor("a", "one.example"))
	assert.Zero(t, turns.silentFor("b", "one.example"), "of another account it is asked")
	now = now.Add(pause)
	assert.Zero(t, turns.silentFor("a", "one.example"))
	turns.silent("a", "one.example")
	assert.Equal(t, 2*pause, turns.silentFor("a", "one.example"), "it was silent before")
	for range 10 {
		turns.silent("a", "one.example")
	}
	assert.Equal(t, mostPause, turns.silentFor("a", "one.example"))
	turns.answered("a", "one.example")
	assert.Zero(t, turns.silentFor("a", "one.example"))
	turns.silent("a", "one.example")
	assert.Equal(t, mostPause, turns.silentFor("a", "one.example"), "it was well for a moment")
	turns.answered("a", "one.example")
	now = now.Add(2 * remembered)
	turns.take(nil) // which forgets
	turns.silent("a", "one.example")
	assert.Equal(t, pause, turns.silentFor("a", "one.example"), "it was well for long")
	now = now.Add(2 * remembered)
	assert.LessOrEqual(t, turns.silentFor("a", "one.example"), time.Duration(0))
	turns.give("c", 0)
	now = now.Add(2 * remembered)
	assert.Equal(t, "a", turns.take(both), "nothing is known any more")
	assert.Len(t, turns.of, 1)
	assert.Empty(t, turns.silences)
}
