package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/tenant"
)

// welcome creates a demo account if the database has no account, and prints what to try with it.
func welcome(ctx context.Context, w io.Writer, s *store.Store, publicURL string) error {
	used, err := s.Tenant.HasAccounts(ctx)
	if err != nil {
		return err
	}
	if used {
		_, err := fmt.Fprintf(w, `
Tillwright serves %[1]s/v1

The database has accounts already. Their tokens were shown once; make another with:

  %[2]s accounts list
  %[2]s keys create --account acct_...

`, publicURL, os.Args[0])
		return err
	}
	account, err := s.Tenant.CreateAccount(ctx, tenant.NewAccount{Name: "Demo", Email: "demo@example.com", Plan: tenant.PlanPro})
	if err != nil {
		return fmt.Errorf("make the demo account: %w", err)
	}
	_, token, err := s.Tenant.CreateAPIKey(ctx, account.ID, tenant.Granted{}, tenant.NewAPIKey{Name: "Demo"})
	if err != nil {
		return fmt.Errorf("make the demo key: %w", err)
	}
	_, err = fmt.Fprintf(w, `
Tillwright serves %[1]s/v1

  base URL  %[1]s/v1
  API key   %[2]s
            (shown this once)

Try it:

  curl %[1]s/v1/products -H "Authorization: Bearer %[2]s"

`, publicURL, token)
	return err
}
