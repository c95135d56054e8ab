package program

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"github.com/tillwright/tillwright/server"
	"github.com/tillwright/tillwright/server/caller"
	"github.com/tillwright/tillwright/server/view"
	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/core"
)

// StoreOptions returns how to open the database that is configured. It makes the folder of an embedded one.
func StoreOptions(config *server.Config) (store.Options, error) {
	var none store.Options
	if path, ok := strings.CutPrefix(config.DatabaseURL, "sqlite://"); ok {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return none, err
		}
	}
	keys, err := config.SealKeys()
	if err != nil {
		return none, err
	}
	sealer, err := core.NewSealer(keys...)
	if err != nil {
		return none, err
	}
	limits, err := config.FileLimits()
	if err != nil {
		return none, err
	}
	return store.Options{
		Files: limits,
		URL:   config.DatabaseURL, Pooler: config.DatabasePooler, MaxConns: config.DatabaseConns, Synchronous: config.Synchronous,
		Sealer: sealer, Render: view.Event, Whose: whose, Waits: waits, PublicURL: config.PublicURL, SitesHost: config.SitesHost,
		TestClock: config.Env == server.Development, LivePayments: !config.TakesTestCards(),
	}, nil
}

// whose returns the account of a request, core.Strangers for one that needs none, and "" for what belongs to no request. To look a key up belongs to
// nobody yet, too.
func whose(ctx context.Context) string {
	who := caller.Of(ctx)
	if who.Account == "" && who.Stranger {
		return core.Strangers
	}
	return who.Account
}

// waits says that a request waits for something else than a processor, until over is called. Whoever holds what other accounts need goes on at once.
func waits(ctx context.Context) (over func(holds bool)) {
	turn := caller.Of(ctx).Turn
	turn.Wait()
	return func(holds bool) {
		if holds {
			turn.GoOn()
			return
		}
		turn.Resume(ctx)
	}
}
