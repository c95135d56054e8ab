package tests

import (
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/tests/harness/debian"
)

// The vectors are for any language: two that share no code with Go come to the same signatures.
func TestVectors_HoldInOtherLanguages(t *testing.T) {
	t.Parallel()
	const folder = "../sdk/signature/testdata/"
	text, err := os.ReadFile(folder + "vectors.json")
	require.NoError(t, err)
	var vectors []json.RawMessage
	require.NoError(t, json.Unmarshal(text, &vectors))
	require.NotEmpty(t, vectors)
	for _, language := range []struct{ command, pack, program string }{
		{"python3", "python3", "verify.py"},
		{"node", "nodejs", "verify.mjs"},
	} {
		if _, err := exec.LookPath(language.command); err != nil {
			require.NoError(t, debian.Install(language.pack))
		}
		out, err := exec.Command(language.command, folder+language.program, folder+"vectors.json").CombinedOutput()
		require.NoError(t, err, "%s", out)
		require.Len(t, strings.Split(strings.TrimSpace(string(out)), "\n"), len(vectors), language.command)
	}
}
