package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"github.com/tillwright/tillwright/server"
	"github.com/tillwright/tillwright/server/view"
	"github.com/tillwright/tillwright/store"
)

// openStore opens the database of a configuration. Only what serves it is exclusive.
func openStore(ctx context.Context, config *server.Config, exclusive bool) (*store.Store, error) {
	options, err := storeOptions(config)
	if err != nil {
		return nil, err
	}
	options.Exclusive = exclusive
	return store.Open(ctx, options)
}

func storeOptions(config *server.Config) (store.Options, error) {
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
	sealer, err := store.NewSealer(keys...)
	if err != nil {
		return none, err
	}
	return store.Options{
		URL: config.DatabaseURL, Pooler: config.DatabasePooler, MaxConns: config.DatabaseConns, Synchronous: config.Synchronous,
		Sealer: sealer, Render: view.Event, PublicURL: config.PublicURL,
		TestClock: config.Env == server.Development, LivePayments: !config.TakesTestCards(),
	}, nil
}

// withStore runs a command on a database whose schema is this binary's own. An
// embedded database is migrated first: nobody else would.
func withStore(ctx context.Context, settings *settings, run func(context.Context, *store.Store) error) error {
	config, err := settings.load()
	if err != nil {
		return err
	}
	s, err := openStore(ctx, config, false)
	if err != nil {
		return err
	}
	defer s.Close()
	if err := prepareSchema(ctx, s, false); err != nil {
		return err
	}
	return run(ctx, s)
}

// prepareSchema migrates an embedded database, and another one if it is asked to;
// else it refuses a schema that this binary does not know.
func prepareSchema(ctx context.Context, s *store.Store, migrate bool) error {
	if migrate || s.Engine() == store.SQLite {
		return s.Migrate(ctx)
	}
	return s.CheckSchema(ctx)
}
