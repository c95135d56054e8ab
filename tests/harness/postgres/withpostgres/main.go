// Command withpostgres runs a command beside a throw-away PostgreSQL cluster, whose address the command finds in
// TILLWRIGHT_TEST_POSTGRES_URL: all test processes of one run share it. A cluster that is already named there is used.
//
//	withpostgres -schema go test ./...
//	withpostgres -durable go run ./tests/bench
//
// With -schema there is a database of each engine with the schema of the program, which the test processes copy. To make it takes each of them
// seconds, with the race detector. With -durable the commits of the cluster outlive the machine, which has its price in what is measured.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"

	"github.com/tillwright/tillwright/tests/harness/database"
	_ "github.com/tillwright/tillwright/tests/harness/migrated"
	"github.com/tillwright/tillwright/tests/harness/postgres"
)

func main() {
	durable := flag.Bool("durable", false, "commits outlive the machine")
	schema := flag.Bool("schema", false, "make databases with the schema, to be copied")
	flag.Usage = func() { fmt.Fprintln(os.Stderr, "usage: withpostgres [-schema] [-durable] command [argument]...") }
	flag.Parse()
	if flag.NArg() == 0 {
		flag.Usage()
		os.Exit(2)
	}
	commits := postgres.OutlivesProcesses
	if *durable {
		commits = postgres.OutlivesMachine
	}
	code, err := run(commits, *schema, flag.Arg(0), flag.Args()[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "withpostgres:", err)
	}
	os.Exit(code)
}

// run returns the command's exit code, after the cluster is gone.
func run(commits postgres.Durability, schema bool, name string, args []string) (int, error) {
	// An interrupt goes to the command as well: this process outlives it and cleans up.
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)

	if os.Getenv(postgres.Env) == "" {
		cluster, err := postgres.Start(context.Background(), commits)
		if err != nil {
			return 1, err
		}
		defer cluster.Stop()
		_ = os.Setenv(postgres.Env, cluster.URL)
	}
	if schema && os.Getenv(database.PreparedEnv) == "" {
		addresses, remove, err := database.Prepared()
		if err != nil {
			return 1, err
		}
		defer remove()
		_ = os.Setenv(database.PreparedEnv, addresses)
	}
	cmd := exec.Command(name, args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	if err := cmd.Start(); err != nil {
		return 1, err
	}
	go func() {
		for s := range signals {
			_ = cmd.Process.Signal(s)
		}
	}()
	err := cmd.Wait()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return max(exit.ExitCode(), 1), nil
	}
	return 0, err
}
