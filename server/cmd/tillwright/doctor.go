package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/tillwright/tillwright/server"
	"github.com/tillwright/tillwright/server/cmd/program"
	"github.com/tillwright/tillwright/server/transfer"
	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/audit"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/picture"
	"github.com/tillwright/tillwright/webhooks"
)

// finding is a row that breaks a promise of the program, as --json prints it.
type finding struct {
	Account string `json:"account"`
	ID      string `json:"id"`
	Promise string `json:"promise"`
}

// errUnsound ends the command with a failure, after it has printed what is wrong.
var errUnsound = errors.New("the database breaks what the program promises")

// doctorCommand returns `tillwright doctor`, which checks that the database keeps every promise.
func doctorCommand(settings *settings) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check that the database keeps every promise",
		Long: `Checks every promise that the program keeps about what it stores: that sums agree, that numbers have no gaps, that nothing
is charged, refunded or counted twice; and that the secret keys open what is sealed. With --files it also looks for files
whose bytes are missing, and for bytes that belong to no file. It prints each row that breaks one,
and ends with status 1 if there is any. It also says what slows the database down and only its owner can mend. It reads only and takes no locks: a server may be at work on the database meanwhile.
With --repair it first writes down what a server of an older version has changed of customers' balances, and of its orders who can give back what was paid, and writes
the keys of addresses anew that such a server wrote. Stop servers of older versions before. What is right stays as it is.`,
		Args: cobra.NoArgs,
	}
	asJSON := jsonFlag(cmd)
	files := cmd.Flags().Bool("files", false, "compare the bytes that are kept with the rows, too; one look at each file")
	repair := cmd.Flags().Bool("repair", false, "first set right what servers of older versions left behind")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		config, err := settings.load()
		if err != nil {
			return err
		}
		findings, advice, promises, err := examine(cmd, config, *asJSON, *files, *repair)
		if err != nil {
			return err
		}
		if *asJSON {
			if err := printJSON(cmd.OutOrStdout(), map[string]any{"object": "diagnosis", "promises": promises, "findings": findings, "advice": advice}); err != nil {
				return err
			}
		}
		if !*asJSON {
			for _, sentence := range advice {
				fmt.Fprintln(cmd.OutOrStdout(), printable(sentence))
			}
		}
		if len(findings) > 0 {
			return errUnsound
		}
		if !*asJSON {
			fmt.Fprintf(cmd.OutOrStdout(), "All %d promises hold.\n", promises)
		}
		return nil
	}
	return cmd
}

// examine checks one promise after the other, and prints what is wrong as it finds it. Advice breaks no promise.
func examine(cmd *cobra.Command, config *server.Config, quiet, files, repair bool) (findings []finding, advice []string, promises int, err error) {
	options, err := program.StoreOptions(config)
	if err != nil {
		return nil, nil, 0, err
	}
	options.Patient = true
	s, err := store.Open(cmd.Context(), options)
	if err != nil {
		return nil, nil, 0, err
	}
	defer s.Close()
	if err := s.CheckSchema(cmd.Context()); err != nil {
		return nil, nil, 0, err
	}
	findings, advice = []finding{}, []string{}
	if repair {
		done, err := s.Repair(cmd.Context())
		if err != nil {
			return nil, nil, 0, err
		}
		advice = append(advice, fmt.Sprintf("Repaired: orders %d, balances %d, keys of addresses %d, products %d, pictures %d, news %d.",
			done.Orders, done.Balances, done.Addresses, done.Products, done.Pictures, done.News))
	}
	tell := func(promise string, broken []core.Violation) {
		promises++
		if !quiet && isTerminal(cmd.ErrOrStderr()) {
			fmt.Fprintf(cmd.ErrOrStderr(), "%4d rows break: %s\n", len(broken), promise)
		}
		for _, v := range broken {
			findings = append(findings, finding{Account: v.Account, ID: v.Object, Promise: v.Promise})
			if !quiet {
				fmt.Fprintln(cmd.OutOrStdout(), printable(v.String()))
			}
		}
	}
	if err := s.Audit.CheckEach(cmd.Context(), webhooks.Retention(config.WebhookRetention), tell); err != nil {
		return nil, nil, 0, err
	}
	if files {
		if err := examineFiles(cmd.Context(), config, s, tell); err != nil {
			return nil, nil, 0, err
		}
	}
	stale, err := s.StaleTables(cmd.Context())
	if err != nil {
		return nil, nil, 0, err
	}
	wrong, err := s.WrongKeys(cmd.Context())
	if err != nil {
		return nil, nil, 0, err
	}
	invalid, err := s.InvalidIndexes(cmd.Context())
	if err != nil {
		return nil, nil, 0, err
	}
	isRepairable := func(f finding) bool {
		return slices.Contains([]string{audit.PromiseBalance, audit.PromiseTaken, audit.PromiseGivers, audit.PromiseDelivered, picture.PromiseOwner, picture.PromiseFiles, picture.PromiseUsage, audit.PromiseNews}, f.Promise)
	}
	if slices.ContainsFunc(findings, isRepairable) {
		advice = append(advice, "A server of an older version has changed balances, orders, products, pictures or letters of news. Stop it, and run `tillwright doctor --repair`.")
	}
	if wrong > 0 {
		advice = append(advice, fmt.Sprintf("A server of an older version wrote keys of addresses, %d in all. Stop it, and run `tillwright doctor --repair`.", wrong))
	}
	for _, t := range stale {
		if !t.Allowed {
			advice = append(advice, t.Advice())
		}
	}
	for _, index := range invalid {
		advice = append(advice, fmt.Sprintf("PostgreSQL does not use the index %s: building it was interrupted, or is under way. If nobody is building it, run `tillwright migrate` as its owner, which mends those of Tillwright.", index))
	}
	if warning := program.MetaWarning(config); warning != "" {
		advice = append(advice, warning)
	}
	return findings, advice, promises, s.Seal.Check(cmd.Context(), tell)
}

// examineFiles compares the bytes that are kept with the rows.
func examineFiles(ctx context.Context, config *server.Config, s *store.Store, tell func(string, []core.Violation)) error {
	bucket, err := program.OpenBucket(config)
	if err != nil {
		return err
	}
	return transfer.CheckFiles(ctx, s.Grant, bucket, tell)
}
