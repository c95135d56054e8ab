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

// newCommand returns the program's command with all others below it.
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
		importCommand(settings), setupLinkCommand(settings), recoveryLinkCommand(settings), listenCommand(), triggerCommand(), conformanceCommand(), adsCommand(settings), versionCommand(),
	)
	return root
}

// groupCommand returns a command that only has other commands below it. Alone it shows its help. A command that it does not
// have is an error, which a script would not notice in a help text.
func groupCommand(use, short string) *cobra.Command {
	return &cobra.Command{Use: use, Short: short, Args: cobra.NoArgs, RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() }}
}

// explain returns what an error means, in words for somebody at a terminal. It names every field that is wrong, as the API spells it.
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

// wrongFields returns what is wrong with which field, according to the store or to a server.
func wrongFields(err error) map[string][]string {
	if refusal, ok := errors.AsType[*core.Error](err); ok {
		return refusal.Fields
	}
	if refusal, ok := errors.AsType[*sdk.Error](err); ok {
		return refusal.Errors
	}
	return nil
}
