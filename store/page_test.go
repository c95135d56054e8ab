package store

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPage_NamesTheFirstPositionThatIsWrong(t *testing.T) {
	t.Parallel()
	for range 50 {
		var e *Error
		require.ErrorAs(t, (&Page{StartingAfter: "x", EndingBefore: "y"}).resolve(KindProduct), &e)
		require.Equal(t, "starting_after", e.Param)
		require.Equal(t, CodeBadRequest, e.Code)
	}
	var e *Error
	require.ErrorAs(t, (&Page{StartingAfter: NewID(KindProduct), EndingBefore: "y"}).resolve(KindProduct), &e)
	require.Equal(t, "ending_before", e.Param)
}
