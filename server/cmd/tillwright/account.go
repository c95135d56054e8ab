package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/tillwright/tillwright/gen/api"
	"github.com/tillwright/tillwright/server/view"
	"github.com/tillwright/tillwright/store"
)

func accountsCommand(settings *settings) *cobra.Command {
	cmd := groupCommand("accounts", "Make, list, show and change accounts")
	cmd.AddCommand(createAccountCommand(settings), listAccountsCommand(settings), showAccountCommand(settings), updateAccountCommand(settings))
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
			return printList(cmd, *asJSON, rows, "ID\tNAME\tEMAIL\tPLAN", func(a *api.Account) []string {
				return []string{a.ID, a.Name, a.Email, string(a.Plan)}
			})
		})
	}
	return cmd
}

func showAccountCommand(settings *settings) *cobra.Command {
	cmd := &cobra.Command{Use: "show ACCOUNT", Short: "Show an account", Example: "  tillwright accounts show acct_...", Args: cobra.ExactArgs(1)}
	asJSON := jsonFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return withStore(cmd.Context(), settings, func(ctx context.Context, s *store.Store) error {
			account, err := s.GetAccount(ctx, args[0])
			if err != nil {
				return err
			}
			return printAccount(cmd, *asJSON, account)
		})
	}
	return cmd
}

func updateAccountCommand(settings *settings) *cobra.Command {
	var name, email, plan string
	cmd := &cobra.Command{
		Use:   "update ACCOUNT [--name NAME] [--email EMAIL] [--plan PLAN]",
		Short: "Change an account's name, e-mail address or plan",
		Long: `Changes what is given and prints the account. A plan that includes no custom domain or shows our branding switches these off:
everything else of an account is its merchant's to change, with an API key.`,
		Example: "  tillwright accounts update acct_... --plan pro",
		Args:    cobra.ExactArgs(1),
	}
	cmd.Flags().StringVar(&name, "name", "", "name of the merchant")
	cmd.Flags().StringVar(&email, "email", "", "e-mail address of the merchant")
	cmd.Flags().StringVar(&plan, "plan", "", "free, pro or business")
	cmd.MarkFlagsOneRequired("name", "email", "plan")
	asJSON := jsonFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return withStore(cmd.Context(), settings, func(ctx context.Context, s *store.Store) error {
			given := cmd.Flags().Changed
			account, err := s.UpdateAccount(ctx, args[0], func(a *store.Account) {
				if given("name") {
					a.Name = name
				}
				if given("email") {
					a.Email = email
				}
				if given("plan") {
					a.ChangePlan(store.Plan(plan))
				}
			})
			if err != nil {
				return err
			}
			return printAccount(cmd, *asJSON, account)
		})
	}
	return cmd
}

// printAccount prints an account, or what an operator asks about it.
func printAccount(cmd *cobra.Command, asJSON bool, account *store.Account) error {
	a := view.Account(account)
	if asJSON {
		return printJSON(cmd.OutOrStdout(), a)
	}
	rows := [][]string{
		{"id", a.ID}, {"name", a.Name}, {"handle", a.Handle}, {"email", a.Email}, {"plan", string(a.Plan)},
		{"payments_provider", string(a.PaymentsProvider)}, {"default_currency", a.DefaultCurrency}, {"country", orDash(a.Country)},
		{"custom_domain", orDash(a.CustomDomain)}, {"remove_branding", fmt.Sprint(a.RemoveBranding)},
		{"created_at", string(a.CreatedAt)}, {"updated_at", string(a.UpdatedAt)},
	}
	return printList(cmd, false, rows, "FIELD\tVALUE", func(row *[]string) []string { return *row })
}
