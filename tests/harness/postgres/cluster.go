// Package postgres starts throw-away PostgreSQL clusters for tests. A cluster belongs to the process that
// started it: it ends with that process, however the process ends, and leaves no file behind.
package postgres

import (
	"bufio"
	"bytes"
	"context"
	"database/sql"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"strconv"
	"strings"
	"syscall"
	"time"

	_ "github.com/lib/pq" // the driver that asks whether the cluster answers

	"github.com/tillwright/tillwright/tests/harness/freeport"
)

// Env names the variable that carries the address of a cluster which is already running.
const Env = "TILLWRIGHT_TEST_POSTGRES_URL"

//go:embed cluster.sh
var script string

// Cluster is a running PostgreSQL server with trust authentication, on a free port of 127.0.0.1 and on a socket.
type Cluster struct {
	URL      string // address of its maintenance database
	lifeline io.Closer
	ended    chan struct{}
	failure  *bytes.Buffer // what it wrote when it ended, to be read after ended is closed
}

// Durability says what a commit survives.
type Durability string

const (
	OutlivesProcesses Durability = "off" // the death of every process, as on any PostgreSQL: enough for tests, and cheap
	OutlivesMachine   Durability = "on"  // a failure of power as well, for which each commit waits
)

// Start starts a new cluster and returns when it answers. If PostgreSQL is not installed, Debian's package is installed first.
func Start(ctx context.Context, commits Durability) (*Cluster, error) {
	bin, err := binaries()
	if err != nil {
		return nil, err
	}
	for attempt := 1; ; attempt++ {
		c, err := start(ctx, bin, commits)
		if err == nil {
			return c, nil
		}
		if attempt == 3 { // another process may have taken the free port meanwhile: it is worth two more tries
			return nil, fmt.Errorf("start PostgreSQL: %w", err)
		}
	}
}

// Stop ends the cluster, and returns when its files are gone.
func (c *Cluster) Stop() {
	_ = c.lifeline.Close()
	<-c.ended
}

// start initialises and serves a cluster.
func start(ctx context.Context, bin string, commits Durability) (*Cluster, error) {
	port, err := freeport.Port()
	if err != nil {
		return nil, err
	}
	address := func(folder string) string {
		if commits == OutlivesMachine { // what is measured goes the way that a server's does
			return fmt.Sprintf("postgres://postgres@127.0.0.1:%d/postgres?sslmode=disable", port)
		}
		return (&url.URL{
			Scheme: "postgres", User: url.User("postgres"), Path: "/postgres",
			RawQuery: url.Values{"host": {folder}, "port": {strconv.Itoa(port)}, "sslmode": {"disable"}}.Encode(), // a packet of the network costs as much as a short statement
		}).String()
	}
	return serve(ctx, script, address, bin, strconv.Itoa(port), string(commits))
}

// serve runs a script that says in which folder it works, and serves the database of an address there. It returns when that answers. The
// script ends when its standard input does, and so with this process.
func serve(ctx context.Context, script string, address func(folder string) string, args ...string) (*Cluster, error) {
	cmd := exec.Command("/bin/sh", append([]string{"-c", script, "serve.sh"}, args...)...)
	if err := asServerUser(cmd); err != nil {
		return nil, err
	}
	var failure bytes.Buffer
	cmd.Stderr = &failure
	lifeline, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	said, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	folder, _ := bufio.NewReader(said).ReadString('\n') // if it says none, it ends, and its failure says why
	c := &Cluster{URL: address(strings.TrimSpace(folder)), lifeline: lifeline, ended: make(chan struct{}), failure: &failure}
	go func() {
		_ = cmd.Wait()
		close(c.ended)
	}()
	if err := c.answer(ctx); err != nil {
		c.Stop()
		return nil, err
	}
	return c, nil
}

// answer waits until the cluster takes connections.
func (c *Cluster) answer(ctx context.Context) error {
	db, err := sql.Open("postgres", c.URL)
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for {
		pingErr := db.PingContext(ctx)
		if pingErr == nil {
			return nil
		}
		select {
		case <-c.ended:
			return errors.New(c.failure.String())
		case <-ctx.Done():
			return fmt.Errorf("no answer within a minute: %w", pingErr)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// asServerUser sets as whom the command runs. Initdb and postgres refuse to run as root, who becomes postgres or nobody here.
// The command gets a session of its own: an interrupt at the terminal must not end it before its tests.
func asServerUser(cmd *exec.Cmd) error {
	cmd.Dir = "/"
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C", "TZ=UTC", "TMPDIR=" + os.TempDir()}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if os.Geteuid() != 0 {
		return nil
	}
	cmd.Env = append(cmd.Env, "TMPDIR=/tmp") // root's own temporary folder may be closed to the other user
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, _ := strconv.ParseUint(u.Uid, 10, 32)
		gid, _ := strconv.ParseUint(u.Gid, 10, 32)
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
		return nil
	}
	return errors.New("PostgreSQL does not run as root, and there is neither a user postgres nor nobody")
}
