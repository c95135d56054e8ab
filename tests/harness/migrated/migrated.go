// Package migrated gives the test binary that imports it databases with the schema of the program.
package migrated

import (
	"context"
	"errors"
	"time"

	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/tests/harness/database"
)

var _ = database.Prepare(migrate)

func migrate(url string) error {
	sealer, err := core.NewSealer(make([]byte, 32))
	if err != nil {
		return err
	}
	s, err := store.Open(context.Background(), store.Options{URL: url, Sealer: sealer, CloseTime: time.Minute, Synchronous: "normal"})
	if err != nil {
		return err
	}
	return errors.Join(s.Migrate(context.Background()), s.Close())
}
