// Package harness runs the program under test, in this process or as the real binary. It checks everything that comes out
// of it against the specification.
package harness

import (
	"testing"

	"github.com/tillwright/tillwright/tests/conformance"
)

// What holds a server to the contract by HTTP alone is in tests/conformance, which the program has too.
type (
	Client    = conformance.Client
	Response  = conformance.Response
	Fault     = conformance.Fault
	Operation = conformance.Operation
	Transport = conformance.Transport
	Coverage  = conformance.Coverage
)

// Operations returns the operations of the specification in the order of their paths.
func Operations() []*Operation { return conformance.Promised().Operations }

// ByID returns the operation with this operationId and panics when there is none.
func ByID(id string) *Operation { return conformance.Promised().ByID(id) }

// Encode returns the JSON of a value, and panics if there is none.
func Encode(v any) []byte { return conformance.Encode(v) }

// ParseFault decodes an error envelope strictly.
func ParseFault(body []byte) (*Fault, error) { return conformance.ParseFault(body) }

// tested is a test that a rule of conformance tells how it goes. What cannot be asked fails it: a test makes all that there is to ask for.
type tested struct{ *testing.T }

// Tested returns what tells a test how it goes.
func Tested(t *testing.T) conformance.T { return tested{t} }

// Run implements conformance.T.
func (t tested) Run(name string, part func(conformance.T)) {
	t.T.Run(name, func(t *testing.T) { part(tested{t}) })
}

// NotChecked implements conformance.T.
func (t tested) NotChecked(format string, args ...any) {
	t.Helper()
	t.Errorf("not checked: "+format, args...)
}
