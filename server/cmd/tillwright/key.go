package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/tillwright/tillwright/gen/api"
	"github.com/tillwright/tillwright/sdk/wire"
	"github.com/tillwright/tillwright/server/view"
	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/tenant"
)

func keysCommand(settings *settings) *cobra.Command {
	cmd := groupCommand("keys", "Make, list and revoke API keys")
	cmd.AddCommand(createKeyCommand(settings), listKeysCommand(settings), revokeKeyCommand(settings))
	return cmd
}

// accountFlag adds the flag that says which account is meant. It is required.
func accountFlag(cmd *cobra.Command) *string {
	account := cmd.Flags().String("account", "", "id of the account, acct_...")
	_ = cmd.MarkFlagRequired("account") // fails for a flag that does not exist
	return account
}

// createKeyCommand returns `tillwright keys create`. It is the only one that prints a token.
func createKeyCommand(settings *settings) *cobra.Command {
	var in tenant.NewAPIKey
	cmd := &cobra.Command{
		Use:     "create --account ACCOUNT",
		Short:   "Make an API key; its token is shown once",
		Example: `  tillwright keys create --account acct_... --name "Shop" --scope products:read --scope orders:read --expires 90d`,
		Args:    cobra.NoArgs,
	}
	account := accountFlag(cmd)
	cmd.Flags().StringVar(&in.Name, "name", "", "what the key is for")
	expires := cmd.Flags().String("expires", "", "when it ends: a time such as 2027-01-31T12:00:00Z, or after so long, such as 90d or 12h (default: never)")
	cmd.Flags().StringArrayVar(&in.Scopes, "scope", nil, "what the key may do, <resource>:read or <resource>:write; again for several (default: everything)")
	asJSON := jsonFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return withStore(cmd.Context(), settings, func(ctx context.Context, s *store.Store) (err error) {
			if in.ExpiresAt, err = expiry(*expires, s.Now()); err != nil {
				return err
			}
			var key *tenant.APIKey
			var token string
			err = logged(ctx, s, func(ctx context.Context) (_ done, err error) {
				if key, token, err = s.Tenant.CreateAPIKey(ctx, *account, tenant.Granted{}, in); err != nil {
					return done{}, err
				}
				return done{key.AccountID, "createAPIKey", core.KindAPIKey, key.ID}, nil
			})
			if err != nil {
				return err
			}
			if *asJSON {
				out := view.APIKey(key)
				out.Token = &token
				return printJSON(cmd.OutOrStdout(), out)
			}
			cmd.Printf("%s\n\nThe token, shown this once:\n\n  %s\n", key.ID, token)
			return nil
		})
	}
	return cmd
}

// expiry reads when something ends, nil for never. The text is a time, or a duration from now in days or as Go writes it.
func expiry(text string, now core.Time) (*core.Time, error) {
	if text == "" {
		return nil, nil
	}
	if at, err := time.Parse(time.RFC3339, text); err == nil {
		return new(core.TimeOf(at)), nil
	}
	after, err := time.ParseDuration(text)
	if number, found := strings.CutSuffix(text, "d"); found {
		days, wrong := strconv.ParseUint(number, 10, 16) // more would pass the years that a timestamp has
		after, err = time.Duration(days)*24*time.Hour, wrong
	}
	if err != nil || after <= 0 {
		return nil, fmt.Errorf("--expires must be a time such as 2027-01-31T12:00:00Z, or a while such as 90d or 12h, not %q", text)
	}
	return new(now.Add(after)), nil
}

// listKeysCommand returns `tillwright keys list`.
func listKeysCommand(settings *settings) *cobra.Command {
	cmd := &cobra.Command{Use: "list --account ACCOUNT", Short: "List the keys of an account, the newest first", Args: cobra.NoArgs}
	account := accountFlag(cmd)
	asJSON := jsonFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return withStore(cmd.Context(), settings, func(ctx context.Context, s *store.Store) error {
			rows, err := allKeys(ctx, s, *account)
			if err != nil {
				return err
			}
			return printList(cmd, *asJSON, rows, "ID\tNAME\tTOKEN\tSCOPES\tEXPIRES\tMADE BY\tLAST USED", func(k *api.APIKey) []string {
				return []string{k.ID, k.Name, "..." + k.TokenLast4, describeScopes(k.Scopes), describeTime(k.ExpiresAt), orDash(k.CreatedBy), describeTime(k.LastUsedAt)}
			})
		})
	}
	return cmd
}

// allKeys returns the keys of an account, of all pages.
func allKeys(ctx context.Context, s *store.Store, account string) ([]api.APIKey, error) {
	if _, err := s.Tenant.GetAccount(ctx, account); err != nil {
		return nil, err
	}
	all := []api.APIKey{}
	in := tenant.ListAPIKeys{Page: core.Page{Limit: 100}}
	for {
		keys, more, err := s.Tenant.ListAPIKeys(ctx, account, in)
		if err != nil {
			return nil, err
		}
		for i := range keys {
			all = append(all, view.APIKey(&keys[i]))
		}
		if !more {
			return all, nil
		}
		in.StartingAfter = keys[len(keys)-1].ID
	}
}

func describeScopes(scopes []api.APIKeyScope) string {
	if len(scopes) == 0 {
		return "everything"
	}
	texts := make([]string, len(scopes))
	for i, scope := range scopes {
		texts[i] = string(scope)
	}
	return strings.Join(texts, ",")
}

func describeTime(t *wire.Time) string {
	if t == nil {
		return "never"
	}
	return string(*t)
}

// revokeKeyCommand returns `tillwright keys revoke`, which also deletes the keys that the key has made.
func revokeKeyCommand(settings *settings) *cobra.Command {
	cmd := &cobra.Command{Use: "revoke --account ACCOUNT KEY", Short: "Delete a key, and those that it made, for good; their next requests fail", Args: cobra.ExactArgs(1)}
	account := accountFlag(cmd)
	adopt := cmd.Flags().Bool("adopt", false, "keep the keys that it made, as made on the command line")
	asJSON := jsonFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return withStore(cmd.Context(), settings, func(ctx context.Context, s *store.Store) error {
			var key *tenant.APIKey
			err := logged(ctx, s, func(ctx context.Context) (_ done, err error) {
				if key, err = s.Tenant.DeleteAPIKey(ctx, *account, tenant.Granted{}, args[0], *adopt); err != nil {
					return done{}, err
				}
				return done{key.AccountID, "deleteAPIKey", core.KindAPIKey, key.ID}, nil
			})
			if err != nil {
				return err
			}
			if *asJSON {
				return printJSON(cmd.OutOrStdout(), view.Deleted("api_key", key.ID))
			}
			cmd.Printf("%s is revoked.\n", key.ID)
			return nil
		})
	}
	return cmd
}
