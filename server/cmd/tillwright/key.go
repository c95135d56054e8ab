package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tillwright/tillwright/gen/api"
	"github.com/tillwright/tillwright/server/view"
	"github.com/tillwright/tillwright/store"
)

func keysCommand(settings *settings) *cobra.Command {
	cmd := groupCommand("keys", "Make, list and revoke API keys")
	cmd.AddCommand(createKeyCommand(settings), listKeysCommand(settings), revokeKeyCommand(settings))
	return cmd
}

// accountFlag says whose keys are meant.
func accountFlag(cmd *cobra.Command) *string {
	account := cmd.Flags().String("account", "", "id of the account, acct_...")
	_ = cmd.MarkFlagRequired("account") // fails for a flag that does not exist
	return account
}

func createKeyCommand(settings *settings) *cobra.Command {
	var in store.NewAPIKey
	cmd := &cobra.Command{
		Use:     "create --account ACCOUNT",
		Short:   "Make an API key; its token is shown once",
		Example: `  tillwright keys create --account acct_... --name "Shop" --scope products:read --scope orders:read`,
		Args:    cobra.NoArgs,
	}
	account := accountFlag(cmd)
	cmd.Flags().StringVar(&in.Name, "name", "", "what the key is for")
	cmd.Flags().StringArrayVar(&in.Scopes, "scope", nil, "what the key may do, <resource>:read or <resource>:write; again for several (default: everything)")
	asJSON := jsonFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return withStore(cmd.Context(), settings, func(ctx context.Context, s *store.Store) error {
			key, token, err := s.CreateAPIKey(ctx, *account, store.Granted{}, in)
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
			return printList(cmd, *asJSON, rows, "ID\tNAME\tTOKEN\tSCOPES\tLAST USED", func(w io.Writer, k *api.APIKey) {
				fmt.Fprintf(w, "%s\t%s\t...%s\t%s\t%s\n", k.ID, k.Name, k.TokenLast4, describeScopes(k.Scopes), describeUse(k))
			})
		})
	}
	return cmd
}

// allKeys walks all pages.
func allKeys(ctx context.Context, s *store.Store, account string) ([]api.APIKey, error) {
	if _, err := s.GetAccount(ctx, account); err != nil {
		return nil, err
	}
	all := []api.APIKey{}
	in := store.ListAPIKeys{Page: store.Page{Limit: 100}}
	for {
		keys, more, err := s.ListAPIKeys(ctx, account, in)
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

func describeUse(k *api.APIKey) string {
	if k.LastUsedAt == nil {
		return "never"
	}
	return string(*k.LastUsedAt)
}

func revokeKeyCommand(settings *settings) *cobra.Command {
	cmd := &cobra.Command{Use: "revoke --account ACCOUNT KEY", Short: "Delete a key for good; its next request fails", Args: cobra.ExactArgs(1)}
	account := accountFlag(cmd)
	asJSON := jsonFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return withStore(cmd.Context(), settings, func(ctx context.Context, s *store.Store) error {
			key, err := s.DeleteAPIKey(ctx, *account, args[0])
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
