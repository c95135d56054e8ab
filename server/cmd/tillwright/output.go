package main

import (
	"encoding/json"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/tillwright/tillwright/openapi/wire"
)

// jsonFlag gives a command --json. What it prints then has the API's field names.
func jsonFlag(cmd *cobra.Command) *bool {
	return cmd.Flags().Bool("json", false, "print JSON with the API's field names")
}

func printJSON(w io.Writer, v any) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	return encoder.Encode(v)
}

// printList prints rows as a list object, or as a table with a line for each.
func printList[T any](cmd *cobra.Command, asJSON bool, rows []T, header string, line func(io.Writer, *T)) error {
	out := cmd.OutOrStdout()
	if asJSON {
		return printJSON(out, wire.List[T]{Object: "list", Data: rows})
	}
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	if _, err := io.WriteString(table, header+"\n"); err != nil {
		return err
	}
	for i := range rows {
		line(table, &rows[i])
	}
	return table.Flush()
}
