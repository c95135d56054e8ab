package postgres_test

import (
	"bufio"
	"context"
	"database/sql"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/tillwright/tillwright/tests/harness/postgres"
)

// TestMain doubles as the process that is killed: it starts a cluster, prints its address and waits.
func TestMain(m *testing.M) {
	if os.Getenv("START_AND_WAIT") == "" {
		os.Exit(m.Run())
	}
	c, err := postgres.Start(context.Background(), postgres.OutlivesProcesses)
	if err != nil {
		panic(err)
	}
	os.Stdout.WriteString(c.URL + "\n")
	select {}
}

func TestCluster_EndsWithAKilledProcess(t *testing.T) {
	t.Parallel()
	self := exec.Command(os.Args[0])
	self.Env = append(os.Environ(), "START_AND_WAIT=1")
	out, err := self.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := self.Start(); err != nil {
		t.Fatal(err)
	}
	url, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	url = strings.TrimSpace(url)
	dir := dataDirectory(t, url)
	_ = self.Process.Kill()
	_ = self.Wait()
	for range 600 {
		_, err := os.Stat(dir)
		if !answers(url) && os.IsNotExist(err) {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Errorf("%s or %s outlived the process by a minute", url, dir)
}

func dataDirectory(t *testing.T, url string) string {
	t.Helper()
	db, err := sql.Open("postgres", url)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var data string
	if err := db.QueryRow("SHOW data_directory").Scan(&data); err != nil {
		t.Fatal(err)
	}
	return strings.TrimSuffix(data, "/data")
}

func answers(url string) bool {
	db, err := sql.Open("postgres", url)
	if err != nil {
		return false
	}
	defer db.Close()
	return db.Ping() == nil
}
