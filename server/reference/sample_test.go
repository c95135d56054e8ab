package reference

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/tests/harness/browser"
)

// operations returns those of the real document, with their reference.
func operations(t *testing.T) (*Reference, []*operation) {
	t.Helper()
	r := whole(t)
	d, err := read(r.text, true)
	require.NoError(t, err)
	return r, d.operations
}

// A sample that does not compile is worse than none. The file lies below this folder, because it must see the module's packages.
func TestSamples_InGoCompile(t *testing.T) {
	t.Parallel()
	r, all := operations(t)
	var file strings.Builder
	for _, op := range all {
		code, err := r.goSample(op)
		require.NoError(t, err, op.ID)
		file.WriteString("func " + op.ID + "(ctx context.Context) {\n" + code + "\n}\n\n")
		assert.NotContains(t, code, "interface {", op.ID)
	}
	imports := "package samples\n\nimport (\n\"context\"\n\"fmt\"\n\"log\"\n\"os\"\n"
	if strings.Contains(file.String(), "json.") {
		imports += "\"encoding/json\"\n"
	}
	folder, err := os.MkdirTemp(".", "testdata-samples-")
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	source := imports + "\n\"github.com/tillwright/tillwright/sdk\"\n)\n\n" + file.String()
	require.NoError(t, os.WriteFile(filepath.Join(folder, "samples.go"), []byte(source), 0o600))
	out, err := exec.CommandContext(t.Context(), "go", "build", "-o", os.DevNull, "./"+folder).CombinedOutput()
	require.NoError(t, err, string(out))
}

// What a shell makes of the sample is a request that the document takes.
func TestSamples_ForCurlAreWhatTheDocumentTakes(t *testing.T) {
	t.Parallel()
	r, all := operations(t)
	script := "curl() { printf '%s\\037' \"$@\"; printf '\\036'; }\nopenssl() { echo key; }\n"
	for _, op := range all {
		script += r.curl(op) + "\n"
	}
	shell := exec.CommandContext(t.Context(), "sh", "-s")
	shell.Stdin = strings.NewReader(script)
	shell.Env = []string{"TILLWRIGHT_API_KEY=sk_test"}
	out, err := shell.Output()
	require.NoError(t, err)
	doc, err := openapi3.NewLoader().LoadFromData(r.text)
	require.NoError(t, err)
	ran := strings.Split(strings.TrimSuffix(string(out), "\x1e"), "\x1e")
	require.Len(t, ran, len(all))
	for i, op := range all {
		words := strings.Split(strings.TrimSuffix(ran[i], "\x1f"), "\x1f")
		written := fmt.Sprint(words)
		assert.NotContains(t, written, "{"+"id", op.ID)
		assert.Contains(t, written, "https://shop.example/", op.ID)
		assert.Equal(t, !op.Public, strings.Contains(written, "Authorization: Bearer sk_test"), op.ID)
		body := op.body()
		if body == nil {
			continue
		}
		sent := words[len(words)-1]
		assert.JSONEq(t, string(body), sent, op.ID)
		var value any
		require.NoError(t, json.Unmarshal([]byte(sent), &value), op.ID)
		path := doc.Paths.Find(strings.TrimPrefix(op.Path, "/v1"))
		require.NotNil(t, path, op.Path)
		schema := path.GetOperation(op.Method).RequestBody.Value.Content.Get("application/json").Schema.Value
		assert.NoError(t, schema.VisitJSON(value), op.ID)
	}
}

// A browser knows whether they are well formed.
func TestSamples_InTypeScriptAreWellFormed(t *testing.T) {
	t.Parallel()
	r, all := operations(t)
	codes := map[string]string{}
	for _, op := range all {
		codes[op.ID] = r.typeScript(op)
	}
	codes["broken"] = "const a = {;"
	var list bytes.Buffer
	require.NoError(t, json.NewEncoder(&list).Encode(codes))
	window := browser.Open(t, nil)
	window.Go("about:blank")
	bad := window.Value(`(() => { const make = (async () => {}).constructor, bad = []; for (const [name, code] of Object.entries(` + list.String() + `)) try { new make(code); } catch { bad.push(name); } return bad.join(); })()`)
	assert.Equal(t, "broken", bad)
}

// Texts of a shell, of Go and of TypeScript end where they should, whatever stands in them.
func TestSamples_TakeEveryText(t *testing.T) {
	t.Parallel()
	word := "it's `a` $HOME \\ \"quoted\" \u2028 </script>"
	out, err := exec.CommandContext(t.Context(), "sh", "-c", "printf %s "+quote(word)).Output()
	require.NoError(t, err)
	assert.Equal(t, word, string(out))
	var back string
	require.NoError(t, json.Unmarshal([]byte(quoted(word)), &back))
	assert.Equal(t, word, back)
}
