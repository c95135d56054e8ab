package e2e

import (
	"bufio"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"syscall"
	"testing"
	"time"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/tests/harness"
	"github.com/tillwright/tillwright/tests/harness/database"
)

// listener is a run of `tillwright listen`.
type listener struct {
	cmd   *exec.Cmd
	lines chan string // what it prints
}

// startListening returns once the endpoint is registered, with the secret that is printed.
func startListening(t *testing.T, s *site, server *harness.Process, home, target string) (*listener, string) {
	t.Helper()
	l := &listener{cmd: s.binary.Command("listen", "--forward-to", target), lines: make(chan string, 100)}
	l.cmd.Env = append(l.cmd.Env, "TILLWRIGHT_API_KEY="+s.key, "TILLWRIGHT_BASE_URL="+server.URL+"/v1", "HOME="+home, "XDG_CONFIG_HOME="+home)
	l.cmd.Stderr = os.Stderr
	out, err := l.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := l.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.cmd.Process.Kill() })
	go func() {
		for lines := bufio.NewScanner(out); lines.Scan(); {
			l.lines <- lines.Text()
		}
		close(l.lines)
	}()
	return l, l.await(t, `whsec_\S+`)
}

// await returns what a line matches.
func (l *listener) await(t *testing.T, pattern string) string {
	t.Helper()
	wanted, deadline := regexp.MustCompile(pattern), time.After(harness.Patience)
	for {
		select {
		case line, open := <-l.lines:
			if found := wanted.FindString(line); found != "" {
				return found
			}
			if !open {
				t.Fatalf("listen ended before it printed %s", pattern)
			}
		case <-deadline:
			t.Fatalf("listen does not print %s", pattern)
		}
	}
}

// end sends the signal and returns the exit code.
func (l *listener) end(t *testing.T, signal os.Signal) int {
	t.Helper()
	if err := l.cmd.Process.Signal(signal); err != nil {
		t.Fatal(err)
	}
	for range l.lines { // until it has closed its output
	}
	_ = l.cmd.Wait()
	return l.cmd.ProcessState.ExitCode()
}

// Whoever writes a receiver listens, triggers, interrupts, and begins again.
func TestListen_LeavesNothingBehindAndKeepsItsSecret(t *testing.T) {
	t.Parallel()
	s := newSite(t, database.URL(t, "sqlite"))
	server := s.binary.Serve(t, "")
	c, target, home := s.client(server), harness.NewReceiver(t), t.TempDir()
	endpoints := func() int { return len(c.Must(t, http.MethodGet, "/v1/webhook_endpoints", nil)["data"].([]any)) }
	var secrets []string
	for i, signal := range []os.Signal{os.Interrupt, syscall.SIGKILL, syscall.SIGTERM} {
		l, secret := startListening(t, s, server, home, target.URL)
		secrets = append(secrets, secret)
		if n := endpoints(); n != 1 {
			t.Fatalf("%d endpoints while run %d listens: what was killed before it is not cleared away", n, i+1)
		}
		trigger := s.binary.Command("trigger", sdk.EventOrderPaid, "--api-url", server.URL)
		trigger.Env = append(trigger.Env, "TILLWRIGHT_API_KEY="+s.key)
		if out, err := trigger.CombinedOutput(); err != nil {
			t.Fatalf("trigger: %v\n%s", err, out)
		}
		l.await(t, `--> order\.paid .*test$`)
		l.await(t, `<-- order\.paid .*200 OK`)
		passed := target.Await(t, i+1, sdk.EventOrderPaid)[i]
		if _, err := sdk.VerifyWebhook(passed.Body, passed.Header, secrets[0]); err != nil {
			t.Errorf("run %d signs with another secret: %v", i+1, err)
		}
		code, left := l.end(t, signal), endpoints()
		if killed := signal == syscall.SIGKILL; !killed && (code != 0 || left != 0) {
			t.Errorf("after %s listen exits with %d and leaves %d endpoints", signal, code, left)
		}
	}
}
