package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/tillwright/tillwright/gen/api"
	"github.com/tillwright/tillwright/server/view"
	"github.com/tillwright/tillwright/store"
)

func accountsCommand(settings *settings) *cobra.Command {
	cmd := groupCommand("accounts", "Make and list accounts")
	cmd.AddCommand(createAccountCommand(settings), listAccountsCommand(settings))
	return cmd
}

func createAccountCommand(settings *settings) *cobra.Command {
	var in store.NewAccount
	cmd := &cobra.Command{
		Use:     "create --name NAME --email EMAIL",
		Short:   "Make an account",
		Example: `  tillwright accounts create --name "Ada's Books" --email ada@example.com --plan pro`,
		Args:    cobra.NoArgs,
	}
	cmd.Flags().StringVar(&in.Name, "name", "", "name of the merchant")
	cmd.Flags().StringVar(&in.Email, "email", "", "e-mail address of the merchant")
	cmd.Flags().StringVar((*string)(&in.Plan), "plan", string(store.PlanFree), "free, pro or business")
	asJSON := jsonFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return withStore(cmd.Context(), settings, func(ctx context.Context, s *store.Store) error {
			account, err := s.CreateAccount(ctx, in)
			if err != nil {
				return err
			}
			if *asJSON {
				return printJSON(cmd.OutOrStdout(), view.Account(account))
			}
			cmd.Printf("%s\n\nMake a key for it: tillwright keys create --account %s\n", account.ID, account.ID)
			return nil
		})
	}
	return cmd
}

func listAccountsCommand(settings *settings) *cobra.Command {
	cmd := &cobra.Command{Use: "list", Short: "List all accounts", Args: cobra.NoArgs}
	asJSON := jsonFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return withStore(cmd.Context(), settings, func(ctx context.Context, s *store.Store) error {
			accounts, err := s.ListAccounts(ctx)
			if err != nil {
				return err
			}
			rows := make([]api.Account, len(accounts))
			for i := range accounts {
				rows[i] = view.Account(&accounts[i])
			}
			return printList(cmd, *asJSON, rows, "ID\tNAME\tEMAIL\tPLAN", func(w io.Writer, a *api.Account) {
				fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", a.ID, a.Name, a.Email, a.Plan)
			})
		})
	}
	return cmd
}
