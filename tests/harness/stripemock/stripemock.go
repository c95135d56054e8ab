// Package stripemock runs stripe-mock, with which Stripe checks its own libraries. It is a server that knows every call
// of the API and every parameter, with its type, and remembers nothing. It is built from the module proxy by tool.mod,
// which keeps it out of the program's own dependencies.
package stripemock

import (
	"bufio"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// version is the version of Stripe's API that this release of stripe-mock describes. It refuses every other one, and a new
// release has a new one.
const version = "2026-08-26.dahlia"

// Start builds and runs the server until the test ends, and returns its address. The first build takes some seconds.
func Start(t testing.TB) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "stripe-mock")
	root, err := exec.Command("go", "env", "GOMOD").Output()
	if err != nil {
		t.Fatalf("find the module: %v", err)
	}
	build := exec.Command("go", "build", "-modfile=tests/harness/stripemock/tool.mod", "-o", program, "github.com/stripe/stripe-mock")
	build.Dir = filepath.Dir(strings.TrimSpace(string(root)))
	build.Env = append(os.Environ(), "GOWORK=off", "CGO_ENABLED=0") // as most of the standard library was compiled before
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build stripe-mock: %v\n%s", err, out)
	}
	mock := exec.Command(program, "-strict-version-check", "-http-addr", "127.0.0.1:0", "-https-addr", "127.0.0.1:0")
	out, err := mock.StdoutPipe()
	if err == nil {
		err = mock.Start()
	}
	if err != nil {
		t.Fatalf("start stripe-mock: %v", err)
	}
	t.Cleanup(func() {
		mock.Process.Kill()
		mock.Wait()
	})
	address := make(chan string, 1)
	go func() {
		for lines := bufio.NewScanner(out); lines.Scan(); {
			if found := listening.FindStringSubmatch(lines.Text()); found != nil {
				address <- found[1]
			}
		}
	}()
	select {
	case at := <-address:
		return "http://" + at
	case <-time.After(time.Minute):
		t.Fatal("stripe-mock does not listen")
		return ""
	}
}

var listening = regexp.MustCompile(`Listening for HTTP at address: (\S+)`)

// Client speaks to the server for a library of an older release of the same API. Between two of Stripe's trains, which
// have a name, nothing is taken away. It fails the request of a library on another train.
func Client() *http.Client { return &http.Client{Transport: train{}, Timeout: 30 * time.Second} }

type train struct{}

func (train) RoundTrip(r *http.Request) (*http.Response, error) {
	sent := r.Header.Get("Stripe-Version")
	if _, name, _ := strings.Cut(version, "."); !strings.HasSuffix(sent, "."+name) || sent > version {
		return nil, fmt.Errorf("the library speaks version %q of the API, stripe-mock %q", sent, version)
	}
	r = r.Clone(r.Context())
	r.Header.Set("Stripe-Version", version)
	return http.DefaultTransport.RoundTrip(r)
}
