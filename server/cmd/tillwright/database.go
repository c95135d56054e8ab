package main

import (
	"context"
	"errors"
	"log/slog"

	"github.com/tillwright/tillwright/server"
	"github.com/tillwright/tillwright/server/cmd/program"
	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/seal"
)

// openStore opens the database that is configured. Exclusive is for the command that serves it: an embedded database is served
// by one process at a time.
func openStore(ctx context.Context, config *server.Config, exclusive bool) (*store.Store, error) {
	options, err := program.StoreOptions(config)
	if err != nil {
		return nil, err
	}
	options.Exclusive = exclusive
	return store.Open(ctx, options)
}

// withStore opens the database for a command, and refuses one with a schema that this program does not know. An embedded
// database is migrated first, because nobody else would do that.
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

// prepareSchema migrates an embedded database, and any other if migrate is true. Otherwise it refuses a schema that this
// program does not know.
func prepareSchema(ctx context.Context, s *store.Store, migrate bool) error {
	if migrate || s.Engine() == core.SQLite {
		return s.Migrate(ctx)
	}
	return s.CheckSchema(ctx)
}

// ownSecretKeys refuses to serve a database with the secret keys of another one, and says what that means for other servers. If
// a key was removed from the list too early, that is only logged: it is no reason to stop everything else.
func ownSecretKeys(ctx context.Context, s *store.Store, keyFile string, log *slog.Logger) error {
	change, err := s.Seal.OwnKeys(ctx)
	if refused, ok := errors.AsType[*core.SecretKeyError](err); ok {
		refused.File = keyFile
	}
	if err != nil {
		return err
	}
	switch change {
	case seal.KeyMoved:
		log.Warn("the first secret key of the list is the one of the database from now on: a server that has only older ones goes on until it ends, and does not start again",
			"setting", "TILLWRIGHT_SECRET_KEY")
	case seal.KeyReplaced:
		log.Warn("the secret key is another one than at the last start; nothing is sealed with that one, and no order, invoice or kept answer is there whose address or text depends on it", "setting", "TILLWRIGHT_SECRET_KEY")
	case seal.KeyKept:
	}
	closed, err := s.Seal.CountClosed(ctx)
	if err == nil && closed > 0 {
		log.Error("no secret key opens some signing secrets, keys of Stripe or tokens of channels: put the key that they were sealed with behind the others, or enter them anew; `tillwright doctor` lists them",
			"count", closed, "setting", "TILLWRIGHT_SECRET_KEY")
	}
	return err
}
