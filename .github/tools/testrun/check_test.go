package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// checked is a repository with the script of make check, and what it runs. The temporary folder is for the script alone.
type checked struct {
	root, temporary string
	out             bytes.Buffer
}

func newChecked(t *testing.T, ci string) *checked {
	t.Helper()
	script, err := os.ReadFile("../../check")
	if err != nil {
		t.Fatal(err)
	}
	c := &checked{root: t.TempDir(), temporary: t.TempDir()}
	c.write(t, ".github/check", string(script))
	c.write(t, ".ci/run", "#!/bin/sh\nset -u\nmkdir -p bin/test\n"+ci)
	c.write(t, ".gitignore", "/bin/\n")
	c.git(t, "init", "--quiet")
	c.git(t, "add", ".")
	c.git(t, "-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "--quiet", "-m", "first")
	return c
}

func (c *checked) write(t *testing.T, name, text string) {
	t.Helper()
	path := filepath.Join(c.root, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
}

func (c *checked) git(t *testing.T, words ...string) {
	t.Helper()
	if out, err := exec.Command("git", append([]string{"-C", c.root}, words...)...).CombinedOutput(); err != nil {
		t.Fatalf("git %s: %v\n%s", words, err, out)
	}
}

// cmd is the script as an outer make in a git hook would call it.
func (c *checked) cmd() *exec.Cmd {
	cmd := exec.Command(filepath.Join(c.root, ".github/check"))
	cmd.Env = append(os.Environ(), "TMPDIR="+c.temporary, "MAKEFLAGS=n", "GIT_DIR=/nowhere", "GIT_INDEX_FILE=/nowhere", "GOFLAGS=-x", "TOOK=no", "TILLWRIGHT_TEST_ENGINES=sqlite")
	cmd.Stdin = strings.NewReader("typed")
	cmd.Stdout, cmd.Stderr = &c.out, &c.out
	return cmd
}

// is looks for what must be printed, and that only the logs are left.
func (c *checked) is(t *testing.T, log string, said ...string) {
	t.Helper()
	for _, s := range said {
		if not, ok := strings.CutPrefix(s, "!"); strings.Contains(c.out.String(), not) == ok {
			t.Errorf("said or not said: %q", s)
		}
	}
	if left, err := os.ReadDir(c.temporary); err != nil || len(left) > 0 {
		t.Errorf("the temporary folder holds %v (%v)", left, err)
	}
	if kept, err := os.ReadFile(filepath.Join(c.root, "bin/check/ci.log")); err != nil || string(kept) != log {
		t.Errorf("the log that is kept holds %q (%v)", kept, err)
	}
	if t.Failed() {
		t.Logf("%s", &c.out)
	}
}

func TestCheck_RunsWhatIsCommittedAsCIDoes(t *testing.T) {
	t.Parallel()
	c := newChecked(t, `echo "typed: $(cat)"; env | sort; ls; git log --format=%s; seq 40; echo kept >bin/test/ci.log; echo "1 passed, 2 failed"; exit 7`+"\n")
	c.write(t, "new.txt", "")
	c.write(t, "bin/old.txt", "")
	c.write(t, ".ci/run", "#!/bin/sh\necho not committed\n")
	err := c.cmd().Run()
	if exit, ok := err.(*exec.ExitError); !ok || exit.ExitCode() != 7 {
		t.Errorf("it ended with %v, not with 7", err)
	}
	c.is(t, "kept\n", "not in it: what is not committed, 2 files\n", "(first), follow ", "\n2\n", "!\n1\n", "1 passed, 2 failed\nmake check: ", "ended with status 7, logs: bin/check\n", "!not committed\n")

	c.git(t, "checkout", ".ci/run")
	if err := os.Remove(filepath.Join(c.root, "new.txt")); err != nil {
		t.Fatal(err)
	}
	c.write(t, ".ci/run", `#!/bin/sh
mkdir -p bin/test; echo again >bin/test/ci.log; echo "typed: $(cat)."; env; ls; git log --format=%s
`)
	c.git(t, "-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "--quiet", "-am", "second")
	c.out.Reset()
	if err := c.cmd().Run(); err != nil {
		t.Error(err)
	}
	c.is(t, "again\n", "typed: .\n", "CI=true\n", "second\n", "ended with status 0", "!first", "!not in it", "!old.txt", "!MAKEFLAGS", "!GIT_", "!GOFLAGS", "!TOOK", "!ENGINES")
}

func TestCheck_AnInterruptLeavesOnlyTheLogs(t *testing.T) {
	t.Parallel()
	for signal, deaf := range map[syscall.Signal]string{syscall.SIGINT: "", syscall.SIGTERM: "trap '' TERM;"} {
		c := newChecked(t, "echo begun >bin/test/ci.log\n{ ("+deaf+" sleep 300 & echo $! >../../pid; wait); echo; } 2>&1 | cat\n")
		cmd := c.cmd()
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		pid := c.eventually(t, filepath.Join(c.temporary, "pid"))
		if err := cmd.Process.Signal(signal); err != nil {
			t.Fatal(err)
		}
		if err := cmd.Wait(); err == nil || cmd.ProcessState.ExitCode() != 128+int(signal) {
			t.Errorf("it ended with %v", err)
		}
		if err := os.Remove(filepath.Join(c.temporary, "pid")); err != nil {
			t.Fatal(err)
		}
		c.is(t, "begun\n", "!make check: ")
		state, err := os.ReadFile("/proc/" + pid + "/stat")
		if err == nil && !strings.Contains(string(state), ") Z ") {
			t.Errorf("what it ran lives: %s", state)
		}
	}
}

// eventually returns what a file holds as soon as there is something.
func (c *checked) eventually(t *testing.T, path string) string {
	t.Helper()
	for range 1200 {
		if text, err := os.ReadFile(path); err == nil && bytes.HasSuffix(text, []byte("\n")) {
			return strings.TrimSpace(string(text))
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatalf("%s is not written\n%s", path, &c.out)
	return ""
}
