package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const happenings = `{components: {schemas: {Happening: {x-events: {
  till.past_due: {description: A till is late., scopes: ['tills:read']},
  apple.picked: {description: An apple is picked., scopes: ['apples:read', 'trees:read']}}}}}}`

func TestEvents_AreThoseOfTheDocumentInItsOrder(t *testing.T) {
	t.Parallel()
	assert.Equal(t, []event{
		{"TillPastDue", "till.past_due", "A till is late."},
		{"ApplePicked", "apple.picked", "An apple is picked."},
	}, events(parse(happenings)))
}

func TestAddTypeScopes_SaysWhatReadingEachTypeTakes(t *testing.T) {
	t.Parallel()
	doc := parse(happenings)
	addTypeScopes(doc)
	scopes := get(doc, "components", "schemas", "Happening", "x-type-scopes")
	assert.Equal(t, []string{"tills:read"}, items(get(scopes, "till.past_due")))
	assert.Equal(t, []string{"apples:read", "trees:read"}, items(get(scopes, "apple.picked")))
}

func TestWriteEvents_MakesAConstantOfEachType(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, writeEvents(dir, dir, "..", parse(happenings)))
	emitted, err := os.ReadFile(filepath.Join(dir, "outbox", "event_type.gen.go"))
	require.NoError(t, err)
	assert.Contains(t, string(emitted), "\tEventTillPastDue = \"till.past_due\"\n\tEventApplePicked = \"apple.picked\"\n")
	assert.Contains(t, string(emitted), "\t\t{EventTillPastDue, \"A till is late.\"},\n")
	assert.Contains(t, string(emitted), "\tTillPastDue() T\n\tApplePicked() T\n", "whoever makes something of events does so of all")
	assert.Contains(t, string(emitted), "\tcase EventApplePicked:\n\t\treturn each.ApplePicked(), true\n")
	received, err := os.ReadFile(filepath.Join(dir, "event.gen.go"))
	require.NoError(t, err)
	assert.Contains(t, string(received), "\t// EventApplePicked: An apple is picked.\n\tEventApplePicked = \"apple.picked\"\n")
}
