package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/tillwright/tillwright/server"
	"github.com/tillwright/tillwright/server/cmd/program"
	"github.com/tillwright/tillwright/store"
)

func secretCommand(settings *settings) *cobra.Command {
	cmd := groupCommand("secret", "Change which secret key the database has")
	cmd.AddCommand(adoptSecretCommand(settings))
	return cmd
}

// adoptSecretCommand returns `tillwright secret adopt`.
func adoptSecretCommand(settings *settings) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "adopt",
		Short: "Make the configured secret key the one of the database",
		Long: `Makes the first of the configured secret keys the one of the database, when the one before was a mistake, or is lost. Stop
every server first. As long as the configured keys do not open all that is sealed, nothing is changed unless you say --lost.

What only the lost key opens stays closed. ` + "`tillwright doctor`" + ` lists what has to be entered again, and finds nothing once it was:

  signing secrets of webhooks     rotate each, and give the receiver the new one; deliveries wait until then, but for those of
                                  which only the one before a rotation is lost: they are signed with the new one alone
  keys of Stripe of accounts      send both again with PATCH /v1/account; payments fail until then
  tokens of networks              connect the channels again, and deactivate the old ones
  what signs licences             POST /v1/license_keys/signing_keys, and give the programs the new public key; checking a licence fails
                                  until then
  texts of licence keys           they go on working, but nobody can read them here: rotate those that a customer has lost, too

The TXT records of sites' domains that were verified are others now: have each seller set the one that domain_records asks for within three
days, or the domain is lost. CNAME records stay right. Certificates are obtained anew.

Also lost, without --lost too, are the addresses of receipts, invoices and files in letters that were sent (new ones are in the API and
can be sent), those of downloads, previews and uploads under way, forms for leads that are open, and the answers that are kept a day for an
Idempotency-Key; with it the client secrets of checkouts, which are null in the API until their buyer comes again, or until the checkout is
changed or confirmed with an API key, which gives it another one. If the lost key is found, put it behind the new one: what it has sealed
opens again.`,
		Args: cobra.NoArgs,
	}
	lost := cmd.Flags().Bool("lost", false, "the key before is lost: change it although something stays closed")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		config, err := settings.load()
		if err != nil {
			return err
		}
		s, err := openAlone(cmd.Context(), config)
		if err != nil {
			return err
		}
		defer s.Close()
		return adoptSecret(cmd, s, *lost)
	}
	return cmd
}

// openAlone opens a database that nobody serves. Only of an embedded one can that be found out. Statements may take as long as
// they need, because all of it is read.
func openAlone(ctx context.Context, config *server.Config) (*store.Store, error) {
	options, err := program.StoreOptions(config)
	if err != nil {
		return nil, err
	}
	options.Exclusive, options.Patient = true, true
	s, err := store.Open(ctx, options)
	if err != nil {
		return nil, err
	}
	if err := prepareSchema(ctx, s, false); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// adoptSecret makes the configured secret key the one of the database. Without lost it refuses while something cannot be
// decrypted.
func adoptSecret(cmd *cobra.Command, s *store.Store, lost bool) error {
	closed, err := s.Seal.CountClosed(cmd.Context())
	if err != nil {
		return err
	}
	adopted, err := s.Seal.AdoptKey(cmd.Context(), lost)
	if err != nil {
		return err
	}
	if !adopted {
		return fmt.Errorf("nothing was changed: the configured keys do not open all that is sealed, among it %d signing secrets of webhooks, keys of "+
			"Stripe, tokens of networks and keys that sign licences. Put the key that they were sealed with behind the others, or say --lost if it is lost: `tillwright secret adopt --help` says what is lost with it", closed)
	}
	cmd.Println("The secret key is the one of the database now.")
	if closed > 0 {
		cmd.Printf("%d signing secrets of webhooks, keys of Stripe, tokens of networks and keys that sign licences have to be entered again:\n"+
			"`tillwright doctor` lists them, and `tillwright secret adopt --help` says how.\n", closed)
	}
	return nil
}
