package postgres

import (
	"context"
	_ "embed"
	"fmt"
	"net/url"
	"os/exec"
	"strconv"

	"github.com/tillwright/tillwright/tests/harness/debian"
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
	address, err := url.Parse(database)
	if err != nil {
		return nil, err
	}
	behind := address.Port()
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	address.Host = "127.0.0.1:" + strconv.Itoa(port)
	return serve(ctx, poolerScript, address.String(), strconv.Itoa(port), behind)
}
