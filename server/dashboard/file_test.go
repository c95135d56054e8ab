package dashboard

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/core"
)

// endless is a body that has one letter again and again, and counts how much of it was read.
type endless struct{ read int }

func (e *endless) Read(into []byte) (int, error) {
	for i := range into {
		into[i] = 'x'
	}
	e.read += len(into)
	return len(into), nil
}

// What has to be kept before it is known what a form is must not depend on who sends it.
func TestReadUpload_KeepsNoLineThatDoesNotEnd(t *testing.T) {
	t.Parallel()
	body := &endless{}
	r := httptest.NewRequest(http.MethodPost, "/", body)
	r.ContentLength = 1 << 40
	r.Header.Set("Content-Type", "multipart/form-data; boundary=b")
	_, err := readUpload(r)
	var refused *core.Error
	require.ErrorAs(t, err, &refused)
	require.Equal(t, core.CodeInvalid, refused.Code)
	require.LessOrEqual(t, body.read, 64<<10)
}
