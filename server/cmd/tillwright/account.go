package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/tillwright/tillwright/gen/api"
	"github.com/tillwright/tillwright/server/view"
	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/tenant"
)

func accountsCommand(settings *settings) *cobra.Command {
	cmd := groupCommand("accounts", "Make, list, show, change and switch off accounts")
	cmd.AddCommand(createAccountCommand(settings), listAccountsCommand(settings), showAccountCommand(settings), updateAccountCommand(settings),
		disableAccountCommand(settings), enableAccountCommand(settings), inviteCommand(settings))
	return cmd
}

// createAccountCommand returns `tillwright accounts create`.
func createAccountCommand(settings *settings) *cobra.Command {
	var in tenant.NewAccount
	cmd := &cobra.Command{
		Use:     "create --name NAME --email EMAIL",
		Short:   "Make an account",
		Example: `  tillwright accounts create --name "Ada's Books" --email ada@example.com --plan pro`,
		Args:    cobra.NoArgs,
	}
	cmd.Flags().StringVar(&in.Name, "name", "", "name of the merchant")
	cmd.Flags().StringVar(&in.Email, "email", "", "e-mail address of the merchant")
	cmd.Flags().StringVar((*string)(&in.Plan), "plan", string(tenant.PlanFree), "free, pro or business")
	asJSON := jsonFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return withStore(cmd.Context(), settings, func(ctx context.Context, s *store.Store) error {
			var account *tenant.Account
			err := logged(ctx, s, func(ctx context.Context) (done, error) {
				a, err := s.Tenant.CreateAccount(ctx, in)
				account = a
				return ofAccount(a, "createAccount"), err
			})
			if err != nil {
				return err
			}
			if *asJSON {
				return printJSON(cmd.OutOrStdout(), accountRow(account))
			}
			cmd.Printf("%s\n\nMake a key for it: tillwright keys create --account %s\n", account.ID, account.ID)
			return nil
		})
	}
	return cmd
}

// listAccountsCommand returns `tillwright accounts list`.
func listAccountsCommand(settings *settings) *cobra.Command {
	cmd := &cobra.Command{Use: "list", Short: "List all accounts", Args: cobra.NoArgs}
	asJSON := jsonFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return withStore(cmd.Context(), settings, func(ctx context.Context, s *store.Store) error {
			accounts, err := s.Tenant.ListAccounts(ctx)
			if err != nil {
				return err
			}
			rows := make([]operatedAccount, len(accounts))
			for i := range accounts {
				rows[i] = accountRow(&accounts[i])
			}
			return printList(cmd, *asJSON, rows, "ID\tNAME\tEMAIL\tPLAN\tDISABLED AT", func(a *operatedAccount) []string {
				return []string{a.ID, a.Name, a.Email, string(a.Plan), orDash(a.DisabledAt)}
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
			account, err := s.Tenant.GetAccount(ctx, args[0])
			if err != nil {
				return err
			}
			return printAccount(cmd, *asJSON, account)
		})
	}
	return cmd
}

// updateAccountCommand returns `tillwright accounts update`, which changes only what a flag names.
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
			change := func(a *tenant.AccountChange) {
				if given("name") {
					a.Name = name
				}
				if given("email") {
					a.Email = email
				}
				if given("plan") {
					a.ChangePlan(tenant.Plan(plan))
				}
			}
			var account *tenant.Account
			err := logged(ctx, s, func(ctx context.Context) (done, error) {
				a, err := s.Tenant.UpdateAccount(ctx, args[0], change)
				account = a
				return ofAccount(a, "updateAccount"), err
			})
			if err != nil {
				return err
			}
			return printAccount(cmd, *asJSON, account)
		})
	}
	return cmd
}

// disableAccountCommand returns `tillwright accounts disable`.
func disableAccountCommand(settings *settings) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "disable ACCOUNT",
		Short: "Switch an account off, until it is enabled again",
		Long: `Switches an account off, and prints it. It works beside a running server, from the next request on at every replica: nothing of it
is kept in memory.

What stops: its API keys get 401, as keys that do not exist, and so do keys made meanwhile. Its checkouts, checkout links,
customer portal and letters about an address are answered 404, so that its customers cannot cancel either. Its invoices are
shown, but cannot be paid. No renewal is billed, no saved card is charged, and no webhook is sent: deliveries wait, however
long, and are not lost.

What does not: receipts, invoices, their PDFs and signed downloads that were given out can be read. Payments and refunds that
are under way are settled, and a delivery that is being sent ends. Open checkouts expire, and open invoices become past due.
Campaigns on ad networks run on and spend: pause them first, with a key (tillwright ads pause). Nothing is deleted, and nobody is told.

An account that is disabled stays so: nothing is done then.`,
		Example: "  tillwright accounts disable acct_...",
		Args:    cobra.ExactArgs(1),
	}
	return switchAccount(cmd, settings, (*tenant.Store).DisableAccount, "disableAccount", "disabled")
}

func enableAccountCommand(settings *settings) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "enable ACCOUNT",
		Short: "Switch an account on again",
		Long: `Switches an account on again, and prints it. Its API keys and pages work as before, and what rested goes on: webhooks that waited
are sent, in order, and a subscription that missed renewals is billed once, for the period that runs now. What fell due before the
account was disabled is billed as well. Payments that had failed before are tried again with the account's days between them,
counted from the attempt that had to wait. An account that is not disabled stays as it is.`,
		Example: "  tillwright accounts enable acct_...",
		Args:    cobra.ExactArgs(1),
	}
	return switchAccount(cmd, settings, (*tenant.Store).EnableAccount, "enableAccount", "enabled")
}

// ofAccount is what was done to an account, or nothing if that failed.
func ofAccount(a *tenant.Account, operation string) done {
	if a == nil {
		return done{}
	}
	return done{account: a.ID, operation: operation, object: core.KindAccount, id: a.ID}
}

// switchAccount turns cmd into a command that switches an account with to, says which state it is in now, and prints it.
func switchAccount(cmd *cobra.Command, settings *settings, to func(*tenant.Store, context.Context, string) (*tenant.Account, bool, error), operation, state string) *cobra.Command {
	asJSON := jsonFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return withStore(cmd.Context(), settings, func(ctx context.Context, s *store.Store) error {
			var account *tenant.Account
			var changed bool
			err := logged(ctx, s, func(ctx context.Context) (_ done, err error) {
				account, changed, err = to(s.Tenant, ctx, args[0])
				return ofAccount(account, operation), err
			})
			if err != nil {
				return err
			}
			if !*asJSON {
				did := "is " + state + " now"
				if !changed {
					did = "was " + state + " already: nothing was changed"
				}
				cmd.Printf("%s %s.\n\n", account.ID, did)
			}
			return printAccount(cmd, *asJSON, account)
		})
	}
	return cmd
}

// operatedAccount is an account as the operator of the server sees it. Its merchant never sees one that is disabled.
type operatedAccount struct {
	api.Account
	DisabledAt *string `json:"disabled_at"`
}

func accountRow(a *tenant.Account) operatedAccount {
	row := operatedAccount{Account: view.Account(a)}
	if a.DisabledAt != nil {
		row.DisabledAt = new(a.DisabledAt.String())
	}
	return row
}

// printAccount prints an account with what an operator wants to know of it.
func printAccount(cmd *cobra.Command, asJSON bool, account *tenant.Account) error {
	a := accountRow(account)
	if asJSON {
		return printJSON(cmd.OutOrStdout(), a)
	}
	rows := [][]string{
		{"id", a.ID}, {"name", a.Name}, {"handle", a.Handle}, {"email", a.Email}, {"plan", string(a.Plan)},
		{"payments_provider", string(a.PaymentsProvider)}, {"default_currency", a.DefaultCurrency}, {"country", orDash(a.Country)},
		{"custom_domain", orDash(a.CustomDomain)}, {"remove_branding", fmt.Sprint(a.RemoveBranding)},
		{"disabled_at", orDash(a.DisabledAt)},
		{"created_at", string(a.CreatedAt)}, {"updated_at", string(a.UpdatedAt)},
	}
	return printList(cmd, false, rows, "FIELD\tVALUE", func(row *[]string) []string { return *row })
}
