package harness

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/tillwright/tillwright/tests/harness/freeport"
)

// Binary is the built program.
type Binary struct {
	Path string
	Env  []string // set for every run, beside an environment that is otherwise free of TILLWRIGHT_*, GOGC and GOMEMLIMIT
}

var builds sync.Map // build tags -> func() (string, error)

// BuiltEnv names the variable that carries the path of the program, if whoever runs many test processes has it built once for all of them.
const BuiltEnv = "TILLWRIGHT_TEST_BUILT"

// Build compiles the program once per test process and set of build tags. Without tags it is the one that BuiltEnv names, if that is set.
func Build(t testing.TB, tags ...string) *Binary {
	t.Helper()
	list := strings.Join(tags, ",")
	if given := os.Getenv(BuiltEnv); given != "" && list == "" {
		if _, err := os.Stat(given); err != nil { // go test notes that it was looked at: what was seen of another program is not passed off as of this one
			t.Fatal(err)
		}
		return &Binary{Path: given}
	}
	once, _ := builds.LoadOrStore(list, sync.OnceValues(func() (string, error) { return build(list) }))
	path, err := once.(func() (string, error))()
	if err != nil {
		t.Fatal(err)
	}
	return &Binary{Path: path}
}

// build compiles the program into the folder of temporary files, from which RemoveBuilds deletes it.
func build(tags string) (string, error) {
	root, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/tillwright/tillwright").Output()
	if err != nil {
		return "", fmt.Errorf("find the module: %w", err)
	}
	path := filepath.Join(os.TempDir(), fmt.Sprintf("tillwright-test-%d%s", os.Getpid(), tags))
	cmd := exec.Command("go", "build", "-ldflags=-s -w", "-tags", tags, "-o", path, "./server/cmd/tillwright") // nobody debugs it
	cmd.Dir = strings.TrimSpace(string(root))
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0") // with the Makefile's GOFLAGS most of it is compiled already
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the binary: %w\n%s", err, out)
	}
	return path, nil
}

// RemoveBuilds deletes what Build compiled. TestMain calls it last.
func RemoveBuilds() {
	builds.Range(func(_, once any) bool {
		if path, err := once.(func() (string, error))(); err == nil {
			_ = os.Remove(path)
		}
		return true
	})
}

// Command returns a run of the program with a clean environment.
func (b *Binary) Command(args ...string) *exec.Cmd {
	cmd := exec.Command(b.Path, args...)
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "TILLWRIGHT_") && !strings.HasPrefix(v, "GOGC=") && !strings.HasPrefix(v, "GOMEMLIMIT=") {
			cmd.Env = append(cmd.Env, v)
		}
	}
	cmd.Env = append(cmd.Env, b.Env...)
	return cmd
}

// JSON runs a command of the program that prints one JSON object, and decodes it.
func (b *Binary) JSON(t testing.TB, args ...string) map[string]any {
	t.Helper()
	cmd := b.Command(args...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v\n%s", args, err, stderr.Bytes())
	}
	object := map[string]any{}
	if err := json.Unmarshal(out, &object); err != nil {
		t.Fatalf("%v printed no JSON object: %v\n%s", args, err, out)
	}
	return object
}

// Process is a running server.
type Process struct {
	URL  string // http://127.0.0.1:port
	Addr string

	cmd   *exec.Cmd
	log   *safeBuffer
	ended chan struct{}
}

// Serve starts the program on addr ("" for a free port) and returns once it is ready. It is killed with the test.
func (b *Binary) Serve(t testing.TB, addr string, args ...string) *Process {
	t.Helper()
	p := b.Start(t, addr, args...)
	if err := p.Ready(Patience); err != nil {
		t.Fatalf("%v\n%s", err, p.Log())
	}
	return p
}

// Start is Serve without waiting.
func (b *Binary) Start(t testing.TB, addr string, args ...string) *Process {
	t.Helper()
	if addr == "" {
		addr = FreeAddr(t)
	}
	p := &Process{Addr: addr, URL: "http://" + addr, log: &safeBuffer{}, ended: make(chan struct{})}
	p.cmd = b.Command(append([]string{"serve", "--addr", addr}, args...)...)
	p.cmd.Stdout, p.cmd.Stderr = p.log, p.log
	p.cmd.SysProcAttr = dieWithUs()
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = p.cmd.Wait()
		close(p.ended)
	}()
	t.Cleanup(p.Kill)
	return p
}

// Ready waits until the server can serve.
func (p *Process) Ready(limit time.Duration) error {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	for {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, p.URL+"/readyz", nil)
		if err != nil {
			return err
		}
		if resp, err := http.DefaultClient.Do(req); err == nil {
			_ = resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				return nil
			}
		}
		select {
		case <-p.ended:
			return fmt.Errorf("the server ended: %s", p.cmd.ProcessState)
		case <-ctx.Done():
			return fmt.Errorf("the server was not ready within %s", limit)
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// Kill ends the server as a power failure would, and returns when it is gone.
func (p *Process) Kill() {
	_ = p.cmd.Process.Kill()
	<-p.ended
}

// Terminate asks the server to end and returns how long it took and its exit code.
func (p *Process) Terminate(t testing.TB) (time.Duration, int) {
	t.Helper()
	begin := time.Now()
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	select {
	case <-p.ended:
	case <-time.After(Patience):
		t.Fatalf("the server is still there %s after SIGTERM\n%s", Patience, p.Log())
	}
	return time.Since(begin), p.cmd.ProcessState.ExitCode()
}

// Ended waits for the server to end by itself and returns its exit code.
func (p *Process) Ended(t testing.TB) int {
	t.Helper()
	select {
	case <-p.ended:
	case <-time.After(Patience):
		t.Fatalf("the server goes on after %s\n%s", Patience, p.Log())
	}
	return p.cmd.ProcessState.ExitCode()
}

// PID returns the process id.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// ForgetPeak has VmHWM begin anew with what the process has now. Its start needs more than much that comes later.
func (p *Process) ForgetPeak(t testing.TB) {
	t.Helper()
	if err := os.WriteFile(filepath.Join("/proc", strconv.Itoa(p.PID()), "clear_refs"), []byte("5"), 0); err != nil {
		t.Fatal(err)
	}
}

// Memory returns a figure of the process in MiB: VmRSS, what it has now, or VmHWM, the most that it had. VmHWM counts from its start, or ForgetPeak.
func (p *Process) Memory(t testing.TB, figure string) int {
	t.Helper()
	status, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(p.PID()), "status"))
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(figure + `:\s+(\d+) kB`).FindSubmatch(status)
	if found == nil {
		t.Fatalf("no %s in\n%s", figure, status)
	}
	kib, err := strconv.Atoi(string(found[1]))
	if err != nil {
		t.Fatal(err)
	}
	return kib / 1024
}

// Log returns what the server has written so far.
func (p *Process) Log() string { return p.log.String() }

// FreeAddr returns an address of 127.0.0.1 on which nobody listens, and which no other process gets while the program is killed and started again.
func FreeAddr(t testing.TB) string {
	t.Helper()
	port, err := freeport.Port()
	if err != nil {
		t.Fatal(err)
	}
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
}

type safeBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *safeBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *safeBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}
