// Package pdf reads PDF documents with a program that others have written.
package pdf

import (
	"bytes"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/tests/harness/debian"
)

var reader = sync.OnceValues(func() (string, error) {
	if _, err := exec.LookPath("pdftotext"); err != nil {
		if err := debian.Install("poppler-utils"); err != nil {
			return "", err
		}
	}
	return exec.LookPath("pdftotext")
})

// Pages returns the text of every page, as somebody gets it who copies it. If the reader complains about the file, the test
// fails.
func Pages(t testing.TB, file []byte) []string {
	t.Helper()
	program, err := reader()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, "-layout", "-enc", "UTF-8", "-", "-")
	cmd.Stdin = bytes.NewReader(file)
	var complaints bytes.Buffer
	cmd.Stderr = &complaints
	text, err := cmd.Output()
	require.NoError(t, err)
	require.LessOrEqual(t, complaints.Len(), 0)
	// A space that does not break reads as one that does.
	return strings.Split(strings.TrimSuffix(strings.ReplaceAll(string(text), "\u00a0", " "), "\f"), "\f")
}
