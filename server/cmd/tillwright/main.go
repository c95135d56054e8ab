// Command tillwright serves the API and administers its database.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	_ "time/tzdata" // accounts have time zones; the machine may have no list of them

	"github.com/spf13/cobra"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/store/core"
)

func main() {
	// The first signal ends the context. It also gives the signals back, so that
	// the second one ends the process, whatever it is waiting for.
	ctx, giveBack := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, giveBack)
	if err := newCommand().ExecuteContext(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "tillwright: "+explain(err))
		os.Exit(1)
	}
}

func newCommand() *cobra.Command {
	settings := &settings{}
	root := &cobra.Command{
		Use:           "tillwright",
		Short:         "Sell digital products through an API of your own",
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.SetOut(os.Stdout)
	settings.register(root.PersistentFlags())
	root.AddCommand(
		serveCommand(settings), migrateCommand(settings), doctorCommand(settings), accountsCommand(settings), keysCommand(settings), secretCommand(settings),
		listenCommand(), triggerCommand(), adsCommand(settings), versionCommand(),
	)
	return root
}

// groupCommand makes a command that has only others below it: alone it shows its help, and one that it does not have is an
// error, which a script would not learn of from a help text.
func groupCommand(use, short string) *cobra.Command {
	return &cobra.Command{Use: use, Short: short, Args: cobra.NoArgs, RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() }}
}

// explain says what an error means to somebody at a terminal: every field that is
// wrong, with the flag's dashes left to the reader.
func explain(err error) string {
	var lines []string
	for field, messages := range wrongFields(err) {
		line := strings.Join(messages, " ")
		if field != "base" {
			line = field + ": " + line
		}
		lines = append(lines, printable(line))
	}
	if len(lines) == 0 {
		for line := range strings.SplitSeq(err.Error(), "\n") { // of several errors
			lines = append(lines, printable(line))
		}
		return strings.Join(lines, "\n")
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n            ")
}

// wrongFields returns what the store, or a server, holds against single fields.
func wrongFields(err error) map[string][]string {
	if refusal, ok := errors.AsType[*core.Error](err); ok {
		return refusal.Fields
	}
	if refusal, ok := errors.AsType[*sdk.Error](err); ok {
		return refusal.Errors
	}
	return nil
}
