// Package fault kills, stops and races the built program, and checks from outside that nothing was doubled or lost. In
// make test the counts are short, and in make soak full. Every random test prints its seed.
package fault

import (
	"flag"
	"math/rand/v2"
	"net/http"
	"os"
	"runtime"
	"strconv"
	"testing"
	"time"

	"github.com/tillwright/tillwright/tests/harness"
	_ "github.com/tillwright/tillwright/tests/harness/migrated"
)

func TestMain(m *testing.M) {
	flag.Parse()
	// Campaigns starve each other where there are more of them than cores: their kills would meet hardly any work.
	if err := flag.Set("test.parallel", strconv.Itoa(runtime.GOMAXPROCS(0))); err != nil {
		panic(err)
	}
	code := m.Run()
	harness.RemoveBuilds()
	os.Exit(code)
}

// count returns how often to do something: short in make test, full in make soak.
func count(short, full int) int {
	if os.Getenv("TILLWRIGHT_SOAK") != "" {
		return full
	}
	return short
}

// random returns a source of chance and prints its seed, which TILLWRIGHT_TEST_SEED repeats.
func random(t *testing.T) *rand.Rand {
	t.Helper()
	seed := uint64(time.Now().UnixNano())
	if given := os.Getenv("TILLWRIGHT_TEST_SEED"); given != "" {
		var err error
		if seed, err = strconv.ParseUint(given, 10, 64); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("TILLWRIGHT_TEST_SEED=%d", seed)
	return rand.New(rand.NewPCG(seed, 0))
}

// wrong returns a program that is wrong on purpose in one way: answer or charge. One build has both.
func wrong(t *testing.T, way string) *harness.Binary {
	t.Helper()
	return &harness.Binary{Path: harness.Build(t, "wrong").Path, Env: []string{"WRONG_ON_PURPOSE=" + way}}
}

// site is the built program with a migrated database and an account in it.
type site struct {
	binary *harness.Binary
	url    string // of the database
	keys   []string
}

// newSite makes an account with n API keys in a migrated database, so that n times the quota may be spent. What the binary's environment says of the
// database comes first.
func newSite(t *testing.T, binary *harness.Binary, url string, n int) *site {
	t.Helper()
	b := &harness.Binary{Path: binary.Path, Env: append([]string{"TILLWRIGHT_DATABASE_URL=" + url, "TILLWRIGHT_DATA_DIR=" + t.TempDir()}, binary.Env...)}
	return &site{binary: b, url: url, keys: harness.Keys(t, url, n)}
}

// client speaks to one process with one of the site's keys.
func (s *site) client(p *harness.Process, key int) *harness.Client {
	return &harness.Client{URL: p.URL, Key: s.keys[key%len(s.keys)], HTTP: &http.Client{
		Timeout:   harness.Patience,
		Transport: &http.Transport{MaxIdleConnsPerHost: 64},
	}}
}
