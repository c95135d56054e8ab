package db

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestInvariant_NamesTheTablesThatItReads(t *testing.T) {
	t.Parallel()
	for query, want := range map[string][]string{
		"SELECT id FROM orders o JOIN payments p ON TRUE":                           {"orders", "payments"},
		"SELECT id FROM (SELECT id FROM leads UNION SELECT id\n\t\tFROM customers)": {"leads", "customers"},
		"SELECT id FROM links l LEFT JOIN json_each(l.ids) e ON TRUE":               {"links"},
		"SELECT id FROM orders o WHERE NOT EXISTS (SELECT 1 FROM invoices)":         {"orders", "invoices"},
		"SELECT 1": nil,
	} {
		require.Equal(t, want, Invariant{Query: query}.tables(), query)
	}
}
