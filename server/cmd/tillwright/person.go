package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/person"
)

// inviteFirst prints a link by which the first person makes themselves known, as long as there is none. With --demo they get the demo account.
func inviteFirst(ctx context.Context, w io.Writer, s *store.Store, publicURL string, isDemo bool) error {
	if known, err := s.Person.HasPeople(ctx); err != nil || known {
		return err
	}
	var account *string
	if isDemo {
		accounts, err := s.Tenant.ListAccounts(ctx)
		if err != nil {
			return err
		}
		if len(accounts) > 0 {
			account = &accounts[0].ID
		}
	}
	token, err := s.Person.CreateLink(ctx, person.Link{Kind: person.LinkSetup, AccountID: account})
	if err != nil {
		return fmt.Errorf("make the link for setting up: %w", err)
	}
	_, err = fmt.Fprintf(w, `Open the dashboard, and be the first to sign in (works once, for 24 hours):

  %s/setup/%s

`, publicURL, token)
	return err
}

// setupLinkCommand returns `tillwright setup-link`.
func setupLinkCommand(settings *settings) *cobra.Command {
	var account string
	cmd := &cobra.Command{
		Use:   "setup-link",
		Short: "Print the link by which the first person signs in to the dashboard",
		Long: "Prints a link that works once, for 24 hours, as long as nobody can sign in. Whoever opens it becomes the\n" +
			"operator of this server, with an account of their own. Former links end. The new one keeps the account of the\n" +
			"one before. serve prints such a link, too.",
		Args: cobra.NoArgs,
	}
	cmd.Flags().StringVar(&account, "account", "", "account that they own, instead of that of the link before, or a new one")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return withStore(cmd.Context(), settings, func(ctx context.Context, s *store.Store) error {
			if known, err := s.Person.HasPeople(ctx); err != nil || known {
				return errors.Join(err, errors.New("somebody can sign in already: invite others in the dashboard, or with accounts invite"))
			}
			link := person.Link{Kind: person.LinkSetup}
			if account != "" {
				a, err := s.Tenant.GetAccount(ctx, account)
				if err != nil {
					return err
				}
				link.AccountID = &a.ID
			}
			return printLink(ctx, cmd, settings, s, link, "/setup/")
		})
	}
	return cmd
}

// recoveryLinkCommand returns `tillwright recovery-link`.
func recoveryLinkCommand(settings *settings) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "recovery-link EMAIL",
		Short:   "Print a link by which somebody who forgot their password chooses another one",
		Long:    "Prints a link that works once, for 30 minutes. It ends all their sessions. Give it to nobody but them.",
		Example: "  tillwright recovery-link ada@example.com",
		Args:    cobra.ExactArgs(1),
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return withStore(cmd.Context(), settings, func(ctx context.Context, s *store.Store) error {
			p, err := s.Person.PersonOfEmail(ctx, args[0])
			if err != nil {
				return fmt.Errorf("nobody signs in with %s", args[0])
			}
			return printLink(ctx, cmd, settings, s, person.Link{Kind: person.LinkRecovery, PersonID: &p.ID}, "/recover/")
		})
	}
	return cmd
}

// inviteCommand returns `tillwright accounts invite`.
func inviteCommand(settings *settings) *cobra.Command {
	var email, role string
	cmd := &cobra.Command{
		Use:     "invite ACCOUNT --email EMAIL",
		Short:   "Print a link by which somebody becomes a member of an account in the dashboard",
		Example: `  tillwright accounts invite acct_... --email grace@example.com --role admin`,
		Args:    cobra.ExactArgs(1),
	}
	cmd.Flags().StringVar(&email, "email", "", "e-mail address with which they sign in")
	cmd.Flags().StringVar(&role, "role", string(person.RoleOwner), "owner, admin, developer, support or read_only")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return withStore(cmd.Context(), settings, func(ctx context.Context, s *store.Store) error {
			a, err := s.Tenant.GetAccount(ctx, args[0])
			if err != nil {
				return err
			}
			if problem := core.EmailProblem(email, "It must be an e-mail address, such as grace@example.com."); problem != "" {
				return errors.New("--email: " + problem)
			}
			if !slices.Contains(person.Roles(), person.Role(role)) {
				return errors.New("--role must be owner, admin, developer, support or read_only")
			}
			return printLink(ctx, cmd, settings, s, person.Link{Kind: person.LinkInvitation, AccountID: &a.ID, Email: email, Role: person.Role(role)}, "/invitation/")
		})
	}
	return cmd
}

func printLink(ctx context.Context, cmd *cobra.Command, settings *settings, s *store.Store, link person.Link, path string) error {
	config, err := settings.load()
	if err != nil {
		return err
	}
	base := config.PublicURL
	if base == "" {
		base = "http://" + config.Addr
	}
	token, err := s.Person.CreateLink(ctx, link)
	if err != nil {
		return err
	}
	cmd.Println(base + path + token)
	return nil
}
