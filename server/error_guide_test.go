package server

import (
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/core"
)

var (
	guidedCode = regexp.MustCompile("(?m)^\\| ([0-9, ]+) \\| `([a-z_]+)` \\|")
	sdkCode    = regexp.MustCompile(`(?m)^\tCode[A-Za-z]+ += "([a-z_]+)"`)
)

// The guide about errors has each code that the SDK names, with its status.
func TestErrors_StandInTheirGuide(t *testing.T) {
	t.Parallel()
	guide, err := os.ReadFile("reference/guide/errors.md")
	require.NoError(t, err)
	statuses := map[string]string{}
	for _, row := range guidedCode.FindAllStringSubmatch(string(guide), -1) {
		statuses[row[2]] = row[1]
	}
	source, err := os.ReadFile("../sdk/error.go")
	require.NoError(t, err)
	codes := sdkCode.FindAllStringSubmatch(string(source), -1)
	require.NotEmpty(t, codes)
	assert.Len(t, statuses, len(codes))
	for _, code := range codes {
		status, _ := statusOf(core.Code(code[1]))
		assert.Contains(t, strings.Split(statuses[code[1]], ", "), strconv.Itoa(status), code[1])
	}
}
