package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"runtime/debug"
	"time"

	"github.com/spf13/cobra"

	"github.com/tillwright/tillwright/server"
	"github.com/tillwright/tillwright/server/cmd/program"
	"github.com/tillwright/tillwright/store"
)

// serveCommand returns `tillwright serve`.
func serveCommand(settings *settings) *cobra.Command {
	var o serveOptions
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Serve the API",
		Long: "Serves the API and delivers webhooks until SIGTERM or an interrupt; then it finishes the requests and\n" +
			"deliveries under way and ends within ten seconds. A second signal ends it at once.\n\n" + describeSettings(),
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			config, err := settings.load()
			if err != nil {
				return err
			}
			if err := config.CheckServing(); err != nil {
				return err
			}
			return serve(cmd.Context(), config, o, cmd.OutOrStdout())
		},
	}
	cmd.Flags().BoolVar(&o.migrate, "migrate", false, "migrate a PostgreSQL database first; an embedded one always is")
	cmd.Flags().BoolVar(&o.demo, "demo", false, "on an empty database, make a demo account and print its API key")
	return cmd
}

// serveOptions are the flags of serve alone.
type serveOptions struct{ migrate, demo bool }

// stopTime is how long everything may take to end after the signal to stop. Each part has a limit of its own, but added up
// these are more than ten seconds.
const stopTime = 9500 * time.Millisecond

// serve runs the server until ctx ends. It returns an error if something still hangs stopTime after that.
func serve(ctx context.Context, config *server.Config, o serveOptions, out io.Writer) error {
	tuneMemory()
	lines := newLateWriter(os.Stderr)
	defer lines.Flush()
	log := server.NewLogger(lines, config.Log)
	slog.SetDefault(log)
	served := make(chan error, 1)
	go func() { served <- serveDatabase(ctx, config, o, out, log) }()
	select {
	case err := <-served:
		return err
	case <-ctx.Done():
	}
	select {
	case err := <-served:
		return err
	case <-time.After(stopTime):
		return fmt.Errorf("something still hung %s after the signal to stop: what it was doing is repeated after the next start", stopTime)
	}
}

// serveDatabase listens before it opens the database, because the server's address may become part of what is stored.
func serveDatabase(ctx context.Context, config *server.Config, o serveOptions, out io.Writer, log *slog.Logger) error {
	listener, err := net.Listen("tcp", config.Addr)
	if err != nil {
		return err
	}
	defer listener.Close()
	if config.PublicURL == "" {
		config.PublicURL = "http://" + reachable(listener.Addr())
		if config.Env == server.Production {
			log.Warn("pages of buyers, receipts and exports are at this address, which only this machine may reach", "address", config.PublicURL, "setting", "TILLWRIGHT_PUBLIC_URL")
		}
	}
	s, err := openStore(ctx, config, true)
	if err != nil {
		return err
	}
	defer s.Close()
	if err := prepareSchema(ctx, s, o.migrate); err != nil {
		return err
	}
	if err := ownSecretKeys(ctx, s, config.SecretKeyFile(), log); err != nil {
		return err
	}
	if o.demo {
		if err := welcome(ctx, out, s, config.PublicURL); err != nil {
			return err
		}
	}
	if err := inviteFirst(ctx, out, s, config.PublicURL, o.demo); err != nil {
		return err
	}
	log.Info("serving", "address", listener.Addr().String(), "public_url", config.PublicURL, "database", s.Engine(), "version", version())
	err = run(ctx, config, s, listener, log)
	log.Info("stopped")
	return err
}

// run puts the program together and serves it, until ctx ends.
func run(ctx context.Context, config *server.Config, s *store.Store, listener net.Listener, log *slog.Logger) error {
	p, err := program.New(ctx, program.Options{Config: config, Store: s, Log: log, Release: version()})
	if err != nil {
		return err
	}
	defer p.Close()
	debug.FreeOSMemory() // reading the specification leaves more garbage than the server needs memory
	releaseProgram()
	return p.Serve(ctx, listener)
}

// reachable returns an address under which a listener can be reached. If it listens on all interfaces, that is one of this
// machine.
func reachable(address net.Addr) string {
	tcp, ok := address.(*net.TCPAddr)
	if !ok || !tcp.IP.IsUnspecified() {
		return address.String()
	}
	return (&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: tcp.Port}).String()
}

// tuneMemory uses more memory to save time: a start and requests leave short-lived garbage, and little else stays in memory. Settings in the environment
// are left as they are.
func tuneMemory() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
	}
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(512 << 20)
	}
}
