package postgres

import (
	"context"
	_ "embed"
	"fmt"
	"os/exec"
	"strconv"

	"github.com/lib/pq"

	"github.com/tillwright/tillwright/tests/harness/debian"
	"github.com/tillwright/tillwright/tests/harness/freeport"
)

//go:embed pooler.sh
var poolerScript string

// StartPooler starts a PgBouncer in transaction mode before the cluster of a database, whose address through it is returned. If
// PgBouncer is not installed, Debian's package is installed first.
func StartPooler(ctx context.Context, database string) (*Cluster, error) {
	if exec.Command("/bin/sh", "-c", "PATH=$PATH:/usr/sbin; command -v pgbouncer").Run() != nil {
		if err := debian.Install("pgbouncer"); err != nil {
			return nil, fmt.Errorf("PgBouncer is needed for the tests and could not be installed (%w): install it and run again", err)
		}
	}
	behind, err := pq.NewConfig(database)
	if err != nil {
		return nil, err
	}
	port, err := freeport.Port()
	if err != nil {
		return nil, err
	}
	address := fmt.Sprintf("postgres://%s@127.0.0.1:%d/%s?sslmode=disable", behind.User, port, behind.Database)
	return serve(ctx, poolerScript, func(string) string { return address }, strconv.Itoa(port), strconv.Itoa(int(behind.Port)))
}
