package contract

import (
	"testing"

	"github.com/tillwright/tillwright/tests/conformance"
	"github.com/tillwright/tillwright/tests/harness"
)

func TestEveryOperation_RefusesAnUnknownQueryParameter(t *testing.T) {
	t.Parallel()
	keeps(t, conformance.RefusesAnUnknownParameter)
}

func TestEveryFilter_RefusesWhatIsEmptyOrNoText(t *testing.T) {
	t.Parallel()
	keeps(t, conformance.RefusesWhatIsEmptyOrNoText)
}

func hasQuery(op *harness.Operation, name string) bool { return op.HasQuery(name) }
