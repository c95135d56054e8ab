// Package e2e runs the built binary as a newcomer and as an operator would.
package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/tests/harness"
	"github.com/tillwright/tillwright/tests/harness/debian"
	_ "github.com/tillwright/tillwright/tests/harness/migrated"
)

func TestMain(m *testing.M) {
	code := m.Run()
	harness.RemoveBuilds()
	os.Exit(code)
}

// in returns the binary with a data directory of its own and an embedded database in it.
func in(t *testing.T, dir string) *harness.Binary {
	t.Helper()
	b := harness.Build(t)
	return &harness.Binary{Path: b.Path, Env: []string{"TILLWRIGHT_DATA_DIR=" + dir}}
}

// TestNewcomer_SellsAProduct is the README's walk: start, run the printed curl line, run the example programs.
func TestNewcomer_SellsAProduct(t *testing.T) {
	t.Parallel()
	server := in(t, t.TempDir()).Serve(t, "", "--demo")
	printed := server.Log()
	key := regexp.MustCompile(`sk_[0-9a-z]+`).FindString(printed)
	require.NotEmpty(t, key, "no key or no base URL is printed:\n")
	require.Contains(t, printed, server.URL+"/v1", "no key or no base URL is printed:\n")
	t.Run("curl", func(t *testing.T) { runPrintedCurl(t, printed) })
	t.Run("sell", func(t *testing.T) {
		runExample(t, server, key, "sell", "Publishing it was refused", "the product is active now", "4000000000000002 was declined",
			"the checkout is completed and paid", "ada@example.com, 19.00 usd", "its signature is right")
	})
	t.Run("subscribe", func(t *testing.T) {
		runExample(t, server, key, "subscribe", "It is trialing until", "the subscription is active.", "the subscription is past_due",
			"the subscription is active again", ": 9.00 usd, paid", ": 0.00 usd, paid")
	})
}

// runExample runs an example program of the SDK against a server.
func runExample(t *testing.T, server *harness.Process, key, name string, printed ...string) {
	t.Helper()
	program := exec.Command("go", "run", "github.com/tillwright/tillwright/sdk/examples/"+name)
	program.Env = append(os.Environ(), "CGO_ENABLED=0", "TILLWRIGHT_API_KEY="+key, "TILLWRIGHT_BASE_URL="+server.URL+"/v1")
	out, err := program.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s\n%s", err, out, server.Log())
	}
	for _, line := range printed {
		if !strings.Contains(string(out), line) {
			t.Errorf("the program does not print %q:\n%s", line, out)
		}
	}
}

func runPrintedCurl(t *testing.T, printed string) {
	t.Helper()
	line := regexp.MustCompile(`(?m)^\s*(curl .*)$`).FindStringSubmatch(printed)
	if line == nil {
		t.Fatalf("no curl line is printed:\n%s", printed)
	}
	if _, err := exec.LookPath("curl"); err != nil {
		if err := debian.Install("curl"); err != nil {
			t.Fatal(err)
		}
	}
	out, err := exec.Command("sh", "-c", line[1]).CombinedOutput()
	require.NoError(t, err)
	assert.Contains(t, string(out), `"object":`)
	assert.NotContains(t, string(out), `"error"`)
}

func TestDemo_KeepsItsAccountAndShowsItsKeyOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first := in(t, dir).Serve(t, "", "--demo")
	if _, code := first.Terminate(t); code != 0 {
		t.Errorf("the exit code is %d", code)
	}
	second := in(t, dir).Serve(t, "", "--demo")
	if regexp.MustCompile(`sk_[0-9a-z]{20,}`).MatchString(second.Log()) {
		t.Error("the key is printed again, so it was stored in the open, or a second account was made")
	}
}

// TestServe_IsQuickAndSmall holds the budget of a start on a database that exists.
func TestServe_IsQuickAndSmall(t *testing.T) {
	const budget = 500 * time.Millisecond
	dir := t.TempDir()
	in(t, dir).Serve(t, "", "--demo").Terminate(t)
	best := time.Hour
	for try := 0; try == 0 || harness.Soaks() && best > budget && try < 30; try++ { // the best one counts
		begin := time.Now()
		server := in(t, dir).Serve(t, "")
		best = min(best, time.Since(begin))
		if resident := residentMiB(t, server.PID()); resident > 48 {
			t.Errorf("%d MiB are resident when idle, the budget is 48", resident)
		}
		server.Terminate(t)
	}
	harness.Within(t, budget, best, "the first answer")
}

// residentMiB is how much memory a program has for itself. Pages of its file are not counted. The kernel maps 20 to 40 MiB of them, as it has them in its
// cache, and takes them back when it likes.
func residentMiB(t *testing.T, pid int) int {
	t.Helper()
	status, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "status"))
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`RssAnon:\s+(\d+) kB`).FindSubmatch(status)
	if found == nil {
		t.Fatalf("no RssAnon in\n%s", status)
	}
	kib, _ := strconv.Atoi(string(found[1]))
	t.Logf("%d KiB are resident when idle", kib)
	return kib / 1024
}
