package main

import (
	"github.com/spf13/cobra"
)

// migrateCommand returns `tillwright migrate`, which brings the database to the schema of this version.
func migrateCommand(settings *settings) *cobra.Command {
	return &cobra.Command{
		Use:   "migrate",
		Short: "Bring the database to the schema of this version",
		Long:  "Brings the database to the schema of this version. Any number of replicas may be told to at once; one does it.",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			config, err := settings.load()
			if err != nil {
				return err
			}
			s, err := openStore(cmd.Context(), config, false)
			if err != nil {
				return err
			}
			defer s.Close()
			if err := s.Migrate(cmd.Context()); err != nil {
				return err
			}
			cmd.Println("The schema is current.")
			return nil
		},
	}
}
