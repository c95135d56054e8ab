package contract

import (
	"fmt"
	"testing"

	"github.com/tillwright/tillwright/tests/conformance"
	"github.com/tillwright/tillwright/tests/harness"
)

// resources maps the segment of a path to the prefix of the ids below it.
var resources = conformance.Promised().Prefixes

// fields maps the name of a query parameter or body field that takes an id to the id's prefix.
var fields = conformance.Fields

// prefixOf returns the prefix of the id that the operation's path carries.
func prefixOf(op *harness.Operation) string { return op.Prefix() }

// listed returns the prefix of the ids that a list operation lists.
func listed(op *harness.Operation) string { return op.Listed() }

// path fills the operation's path with the world's own values, or with those given by name.
func (w *world) path(op *harness.Operation, instead ...string) string {
	path, err := w.Path(op, instead...)
	return needs(op, path, err)
}

// at is the operation's path, filled as by path, with a query, and with the parameters that it needs besides.
func (w *world) at(op *harness.Operation, query string, instead ...string) string {
	path, err := w.At(op, query, instead...)
	return needs(op, path, err)
}

func needs(op *harness.Operation, path string, err error) string {
	if err != nil {
		panic(fmt.Sprintf("%s: %v: add it to newWorld", op.ID, err))
	}
	return path
}

// body returns the specification's example with the world's own ids in it, nil (untyped) for an operation without one.
func (w *world) body(op *harness.Operation) any {
	example := op.Example()
	if example == nil {
		return nil
	}
	return w.own(op, "", example)
}

// own replaces every example id by the world's own, and the example receiver of webhooks by one that is there. The
// argument field is where the value stands.
func (w *world) own(op *harness.Operation, field string, v any) any {
	return w.Own(op, field, v, nil)
}

// send sends the operation's example request.
func (w *world) send(t testing.TB, op *harness.Operation, headers ...string) *harness.Response {
	t.Helper()
	return w.Do(t, op.Method, w.at(op, ""), w.body(op), headers...)
}
