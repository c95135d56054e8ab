// Package guide does what the guides and the README say: it runs their commands, compiles their Go, and runs the receivers that they show.
package guide

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/sdk/signature"
	"github.com/tillwright/tillwright/tests/harness"
	"github.com/tillwright/tillwright/tests/harness/database"
	"github.com/tillwright/tillwright/tests/harness/debian"
	_ "github.com/tillwright/tillwright/tests/harness/migrated"
)

func TestMain(m *testing.M) {
	code := m.Run()
	harness.RemoveBuilds()
	os.Exit(code)
}

const (
	root   = "../.."
	folder = root + "/server/reference/guide"
	// shown is the address of the server in the guides. Each guide is run against a server of its own, which has another one.
	shown = "127.0.0.1:8080"
)

// block is what stands between two fences.
type block struct{ language, text string }

var fenced = regexp.MustCompile("(?ms)^```([a-z]*)\n(.*?)^```$")

func blocks(t *testing.T, path string) (all []block) {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	for _, match := range fenced.FindAllStringSubmatch(string(text), -1) {
		all = append(all, block{match[1], match[2]})
	}
	return all
}

// named returns the files of all guides by their names.
func named(t *testing.T) map[string]string {
	t.Helper()
	files, err := filepath.Glob(folder + "/*.md")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	all := map[string]string{}
	for _, file := range files {
		all[strings.TrimSuffix(filepath.Base(file), ".md")] = file
	}
	return all
}

// The blocks that are marked `console` are run in order by one shell, behind those of the first guide. Behind a block may stand one that is
// marked `text`: what the commands print. There `...` is anything.
func TestGuides_ShowCommandsThatRun(t *testing.T) {
	t.Parallel()
	for _, tool := range []string{"curl", "jq", "sqlite3", "openssl", "python3"} {
		install(t, tool)
	}
	start := blocks(t, folder+"/start.md")
	for name, file := range named(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			all := blocks(t, file)
			if name != "start" {
				all = slices.Concat(start, all)
			}
			run(t, all, port(t))
		})
	}
	t.Run("README", func(t *testing.T) {
		t.Parallel()
		run(t, blocks(t, root+"/README.md"), port(t))
	})
	t.Run("one after another", func(t *testing.T) {
		t.Parallel()
		files, order := named(t), order(t)
		require.ElementsMatch(t, slices.Collect(maps.Keys(files)), order)
		all := blocks(t, root+"/README.md")
		for _, name := range order {
			all = append(all, blocks(t, files[name])...)
		}
		run(t, all, port(t))
	})
}

// order returns the names of the guides, in the order in which the server lists them.
func order(t *testing.T) (names []string) {
	t.Helper()
	source, err := os.ReadFile(folder + "/../guide.go")
	require.NoError(t, err)
	list := regexp.MustCompile(`(?s)\nvar guides = \[\]string\{(.*?)\n\}`).FindSubmatch(source)
	require.NotNil(t, list)
	for _, name := range regexp.MustCompile(`"([a-z-]+)"`).FindAllSubmatch(list[1], -1) {
		names = append(names, string(name[1]))
	}
	return names
}

// An interactive zsh takes a comment for arguments of a command, and ties some names to what it does.
func TestGuides_ShowCommandsForEveryShell(t *testing.T) {
	t.Parallel()
	comment, tied := regexp.MustCompile(`(?m)(^|\s)#`), regexp.MustCompile(`(?m)(?:^|[\s;])(?:path|fpath|cdpath|status|argv|options|commands|functions|aliases|signals)=`)
	files := named(t)
	files["README"] = root + "/README.md"
	for name, file := range files {
		for _, b := range blocks(t, file) {
			if b.language != "sh" && b.language != "console" {
				continue
			}
			assert.NotRegexp(t, comment, b.text, "%s: say it outside of the block", name)
			assert.NotRegexp(t, tied, b.text, "%s: take another name", name)
			assert.NotContains(t, b.text, "| head -n", "%s: head ends before all is read, and what writes fails; sed -n 1p reads all", name)
		}
	}
}

// warned returns the lines of a log that are no mere information.
func warned(log string) string {
	var lines []string
	for line := range strings.Lines(log) {
		if strings.Contains(line, "level=WARN") || strings.Contains(line, "level=ERROR") {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "")
}

// port returns one on which nobody listens.
func port(t *testing.T) string {
	t.Helper()
	_, free, _ := strings.Cut(harness.FreeAddr(t), ":")
	return free
}

// install installs a command, whose package has its name.
func install(t *testing.T, command string) {
	t.Helper()
	if _, err := exec.LookPath(command); err != nil {
		require.NoError(t, debian.Install(command))
	}
}

// place returns a folder as a newcomer has it after `make run`: with the program, the examples, and a server that serves data. The database has its
// tables already: to make them takes half of the server's time.
func place(t *testing.T) (string, *harness.Process) {
	t.Helper()
	dir := t.TempDir()
	b := harness.Build(t)
	require.NoError(t, os.Mkdir(dir+"/data", 0o700))
	require.NoError(t, os.Rename(strings.TrimPrefix(database.URL(t, "sqlite"), "sqlite://"), dir+"/data/tillwright.db"))
	require.NoError(t, os.Mkdir(dir+"/bin", 0o755))
	require.NoError(t, os.Symlink(b.Path, dir+"/bin/tillwright"))
	return dir, (&harness.Binary{Path: b.Path, Env: []string{"TILLWRIGHT_DATA_DIR=" + dir + "/data"}}).Serve(t, "", "--demo")
}

// saved matches the first line of a block that is saved as a file, which it names.
var saved = regexp.MustCompile(`^(?:#|//) ([a-z]+\.[a-z]+)\n`)

// listened matches the port of what a guide starts itself: a receiver of webhooks, or a server.
var listened = regexp.MustCompile(`\b(3000|8081)\b`)

// mark stands between what two blocks print.
const mark = "\x1e"

// run runs the commands of blocks. What they start listens on a port.
func run(t *testing.T, all []block, port string) {
	t.Helper()
	dir, server := place(t)
	var script strings.Builder
	script.WriteString("set -euo pipefail\n")
	for _, b := range all {
		text := listened.ReplaceAllString(strings.ReplaceAll(b.text, shown, server.Addr), port)
		if name := saved.FindStringSubmatch(text); name != nil {
			require.NoError(t, os.WriteFile(filepath.Join(dir, name[1]), []byte(text), 0o600))
		}
		if b.language == "console" {
			fmt.Fprintf(&script, "%s\nprintf '%s\\n'\n", text, mark)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute) // the commands wait for what they start
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", "-c", script.String())
	cmd.Dir = dir
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "TILLWRIGHT_") {
			cmd.Env = append(cmd.Env, v)
		}
	}
	cmd.Env = append(cmd.Env, "TILLWRIGHT_API_KEY="+regexp.MustCompile(`sk_[0-9a-z]+`).FindString(server.Log()), "no_proxy=127.0.0.1,localhost", "NO_PROXY=127.0.0.1,localhost", "TMPDIR="+t.TempDir())
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // what the guide leaves running ends with it
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Minute
	var out, complaints bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &complaints
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) })
	err := cmd.Wait()
	said := strings.Split(strings.ReplaceAll(out.String(), server.Addr, shown), mark+"\n")
	if !assert.NoError(t, err, "%d blocks were run; the last one said:\n%s%s\n%s", len(said)-1, said[len(said)-1], complaints.String(), warned(server.Log())) {
		return
	}
	at := 0
	for i, b := range all {
		if b.language != "console" {
			continue
		}
		if i+1 < len(all) && all[i+1].language == "text" {
			want := strings.ReplaceAll(regexp.QuoteMeta(strings.TrimSpace(all[i+1].text)), `\.\.\.`, `.*`)
			assert.Regexp(t, "^"+want+"$", strings.TrimSpace(said[at]), "after\n%s", b.text)
		}
		at++
	}
}

// The receiver in Go does what the one in Python does, which the guide starts. make readers starts the one in TypeScript.
func TestGuides_HaveAReceiverInGo(t *testing.T) {
	t.Parallel()
	for _, tool := range []string{"curl", "jq"} {
		install(t, tool)
	}
	all, listens := blocks(t, folder+"/webhooks.md"), port(t)
	program := compiled(t, receiver(t, "// receiver.go", listens))
	for i := range all {
		all[i].text = strings.ReplaceAll(all[i].text, "python3 receiver.py", program)
	}
	run(t, slices.Concat(blocks(t, folder+"/start.md"), all), listens)
}

// receiver returns the program of the guide that begins with a line. It listens on a port.
func receiver(t *testing.T, begins, port string) string {
	t.Helper()
	for _, b := range blocks(t, folder+"/webhooks.md") {
		if strings.HasPrefix(b.text, begins+"\n") {
			return listened.ReplaceAllString(b.text, port)
		}
	}
	require.Fail(t, "the guide has no "+begins)
	return ""
}

// An endpoint may be told of every type of event. A receiver passes over those that it does not know, and handles an order once.
func TestGuides_HaveReceiversThatTakeEveryEvent(t *testing.T) {
	t.Parallel()
	install(t, "python3")
	const secret = "whsec_b25lIHNlY3JldA=="
	for language, command := range map[string]func(t *testing.T, port string) []string{
		"Python": func(t *testing.T, port string) []string {
			file := t.TempDir() + "/receiver.py"
			require.NoError(t, os.WriteFile(file, []byte(receiver(t, "# receiver.py", port)), 0o600))
			return []string{"python3", file}
		},
		"Go": func(t *testing.T, port string) []string {
			return []string{compiled(t, receiver(t, "// receiver.go", port))}
		},
	} {
		t.Run(language, func(t *testing.T) {
			t.Parallel()
			port := port(t)
			words := command(t, port)
			file, err := os.Create(t.TempDir() + "/received.txt")
			require.NoError(t, err)
			cmd := exec.CommandContext(t.Context(), words[0], words[1:]...)
			cmd.Env, cmd.Stdout = append(os.Environ(), "WEBHOOK_SECRET="+secret), file
			require.NoError(t, cmd.Start())
			t.Cleanup(func() { _, _ = cmd.Process.Kill(), cmd.Wait(); _ = file.Close() })
			require.Eventually(t, func() bool { return post(t, port, "whsec_b3RoZXI=", `{}`) == http.StatusUnauthorized }, harness.Patience, 10*time.Millisecond)
			order := `{"id": "whev_2", "type": "order.paid", "data": {"object": "order", "total_amount": 1900, "currency": "usd"}}`
			for _, body := range []string{`{"id": "whev_1", "type": "customer.created", "data": {"object": "customer"}}`, order, order} {
				assert.Equal(t, http.StatusNoContent, post(t, port, secret, body), body)
			}
			said, err := os.ReadFile(file.Name())
			require.NoError(t, err)
			assert.Equal(t, "order.paid 1900 usd\n", string(said))
		})
	}
}

// post sends a signed event to a receiver, and returns the status of its answer, or 0 if there is none.
func post(t *testing.T, port, secret, body string) int {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://127.0.0.1:"+port+"/hooks", strings.NewReader(body))
	require.NoError(t, err)
	request.Header.Set("X-Service-Hmac-SHA256", signature.Sign([]byte(body), secret))
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0
	}
	_ = answer.Body.Close()
	return answer.StatusCode
}

// compiled returns the program of a Go file.
func compiled(t *testing.T, text string) string {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(dir+"/main.go", []byte(text), 0o600))
	build := exec.CommandContext(t.Context(), "go", "build", "-o", dir+"/program", dir+"/main.go")
	build.Dir = root
	out, err := build.CombinedOutput()
	require.NoError(t, err, "%s", out)
	return dir + "/program"
}

// around makes a program of some lines.
const around = `package main

import (
	"context"
	"fmt"
	"os"

	"github.com/tillwright/tillwright/sdk"
)

func lines(ctx context.Context) error {
%s	return nil
}

func main() { fmt.Println(lines(context.Background()), os.Args) }
`

// What is no whole program is the inside of a function. A test is run.
func TestGuides_HaveGoThatCompiles(t *testing.T) {
	t.Parallel()
	files := named(t)
	files["README"] = root + "/README.md"
	found := 0
	for name, file := range files {
		for _, b := range blocks(t, file) {
			if b.language != "go" {
				continue
			}
			found++
			command, file := "vet", "main.go"
			switch {
			case strings.Contains(b.text, "*testing.T"):
				command, file = "test", "shop_test.go"
			case !strings.Contains(b.text, "package main"):
				b.text = fmt.Sprintf(around, b.text)
			}
			path := filepath.Join(t.TempDir(), file)
			require.NoError(t, os.WriteFile(path, []byte(b.text), 0o600))
			run := exec.CommandContext(t.Context(), "go", command, path)
			run.Dir = root
			out, err := run.CombinedOutput()
			assert.NoError(t, err, "%s: %s\n%s", name, out, b.text)
		}
	}
	assert.GreaterOrEqual(t, found, 4)
}
