package guide

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/tests/harness"
	"github.com/tillwright/tillwright/tests/harness/markup"
)

// outcome is how a server answered a sample: 0 and a text if there was no answer.
type outcome struct {
	Operation string
	Status    int
	Code      string
	Param     string
	Said      string
}

// Every sample of the reference is a request that the server understands. The objects that it names may be missing.
func TestReference_HasSamplesThatRun(t *testing.T) {
	t.Parallel()
	install(t, "curl")
	_, server := place(t)
	key := regexp.MustCompile(`sk_[0-9a-z]+`).FindString(server.Log())
	all := samples(t, server.URL)
	for _, language := range []string{"curl", "Go"} {
		run := map[string]func(*testing.T, string, map[string]string) []outcome{"curl": runCurl, "Go": runGo}[language]
		codes := map[string]string{}
		for operation, sample := range all {
			codes[operation] = sample[language]
		}
		outcomes := run(t, key, codes)
		assert.Len(t, outcomes, len(harness.Operations()), language)
		for _, o := range outcomes {
			assert.True(t, understood(o), "%s in %s: %d %s\n%s\n%s", o.Operation, language, o.Status, o.Code, o.Said, codes[o.Operation])
		}
	}
}

// refused has what a sample cannot do twice, since the same was made by the other language, with the field that its answer names. The token of a
// form is made up in any case.
var refused = map[string]string{"createCustomer": "email", "createDiscount": "code", "createLead": "email", "createPublicLead": "form_token"}

// understood reports whether the server took a sample as the request that it shows.
func understood(o outcome) bool {
	switch o.Status {
	case http.StatusNotFound:
		return o.Code == "resource_missing" && !strings.Contains(o.Said, "nothing at this path")
	case http.StatusConflict:
		return o.Code == "account_not_activated"
	case http.StatusUnprocessableEntity:
		return o.Param != "" && o.Param == refused[o.Operation]
	}
	return o.Status >= 200 && o.Status < 300
}

// samples returns the samples of all operations by language, as the pages show them.
func samples(t *testing.T, server string) map[string]map[string]string {
	t.Helper()
	var index [][]string
	require.NoError(t, json.Unmarshal(get(t, server+"/docs/search.json"), &index))
	all := map[string]map[string]string{}
	read := map[string]bool{}
	for _, found := range index {
		address, _, _ := strings.Cut(found[4], "#")
		if found[3] == "" || read[address] {
			continue
		}
		read[address] = true
		for _, node := range markup.Elements(t, string(get(t, server+address))) {
			if node.Data != "details" || !strings.HasPrefix(markup.Attribute(node, "name"), "sample-") {
				continue
			}
			operation := strings.TrimPrefix(markup.Attribute(node, "name"), "sample-")
			if all[operation] == nil {
				all[operation] = map[string]string{}
			}
			all[operation][markup.Text(node.FirstChild)] = markup.Text(node.FirstChild.NextSibling)
		}
	}
	return all
}

func get(t *testing.T, address string) []byte {
	t.Helper()
	answer, err := http.Get(address)
	require.NoError(t, err)
	defer func() { _ = answer.Body.Close() }()
	require.Equal(t, http.StatusOK, answer.StatusCode, address)
	text, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	return text
}

// runCurl runs the samples by one shell, whose curl says the status behind the answer.
func runCurl(t *testing.T, key string, codes map[string]string) (all []outcome) {
	t.Helper()
	script := "curl() { command curl -sS --noproxy '*' -w '\x1f%{http_code}\x1e' \"$@\" 2>&1; }\n"
	for _, operation := range slices.Sorted(maps.Keys(codes)) {
		script += "printf '" + operation + "\\037'\n" + codes[operation] + "\n"
	}
	shell := exec.CommandContext(t.Context(), "sh", "-s")
	shell.Stdin, shell.Env = strings.NewReader(script), append(shell.Environ(), "TILLWRIGHT_API_KEY="+key)
	out, err := shell.Output()
	require.NoError(t, err)
	for answer := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x1e"), "\x1e") {
		parts := strings.Split(answer, "\x1f")
		require.Len(t, parts, 3, answer)
		o := outcome{Operation: parts[0], Said: parts[1]}
		_, err := fmt.Sscan(parts[2], &o.Status)
		require.NoError(t, err, answer)
		var failed struct{ Error struct{ Code, Param string } }
		if o.Status >= 400 {
			_ = json.Unmarshal([]byte(o.Said), &failed) // an answer that is none has no code
		}
		o.Code, o.Param = failed.Error.Code, failed.Error.Param
		all = append(all, o)
	}
	return all
}

// aroundSamples makes a program of all samples. It runs those that its arguments name, and prints a line of JSON for each.
const aroundSamples = `package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/tillwright/tillwright/sdk"
)

// log stops a sample, not the program.
var log stops

type stops struct{}

func (stops) Fatal(err error) { panic(err) }

func run(operation string, sample func(context.Context)) {
	if !slices.Contains(os.Args, operation) {
		return
	}
	said := struct {
		Operation string
		Status    int
		Code      string
		Param     string
		Said      string
	}{Operation: operation, Status: 200}
	defer func() {
		if stopped := recover(); stopped != nil {
			said.Status, said.Said = 0, fmt.Sprint(stopped)
			err, _ := stopped.(error)
			if failed, answered := errors.AsType[*sdk.Error](err); answered {
				said.Status, said.Code, said.Param = failed.Status, failed.Code, failed.Param
			}
		}
		line, _ := json.Marshal(said)
		fmt.Fprintln(os.Stderr, string(line))
	}()
	sample(context.Background())
}

var _ = json.Number("")

func main() {
%s}
`

// runGo runs the samples of one program, some at a time: each has a client of its own, whose connection stays open.
func runGo(t *testing.T, key string, codes map[string]string) (all []outcome) {
	t.Helper()
	var calls strings.Builder
	for _, operation := range slices.Sorted(maps.Keys(codes)) {
		fmt.Fprintf(&calls, "run(%q, func(ctx context.Context) {\n%s\n})\n", operation, codes[operation])
	}
	program := compiled(t, fmt.Sprintf(aroundSamples, calls.String()))
	for some := range slices.Chunk(slices.Sorted(maps.Keys(codes)), 50) {
		cmd := exec.CommandContext(t.Context(), program, some...)
		cmd.Env = append(cmd.Environ(), "TILLWRIGHT_API_KEY="+key, "NO_PROXY=127.0.0.1", "no_proxy=127.0.0.1")
		var lines bytes.Buffer
		cmd.Stderr = &lines
		require.NoError(t, cmd.Run(), lines.String())
		for line := range bytes.Lines(lines.Bytes()) {
			var o outcome
			require.NoError(t, json.Unmarshal(line, &o), string(line))
			all = append(all, o)
		}
	}
	return all
}
