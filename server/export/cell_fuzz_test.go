package export

import (
	"bytes"
	"encoding/csv"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/customer"
	"github.com/tillwright/tillwright/store/lineitem"
	"github.com/tillwright/tillwright/store/order"
	"github.com/tillwright/tillwright/store/subscription"
)

// FuzzExport: whatever somebody types stays within its cell, is no formula there, and is what they typed for whoever reads the file.
func FuzzExport(f *testing.F) {
	for _, typed := range []string{
		"Grace", "", "=1+1", "@SUM(1)", "+49 30", "-1", " =1", "\u00a0=1", "\u3000=1", "\ufeff=1", "\u200b@x", "\u115f=1", "\u1160=1", "\u3164=1", "\uffa0=1", "\u2800=1", "\u034f=1", "\ufe0f=1", "\u0301=1", "\t=1", "\tx", "\r=1", "\n=1", "＝1", "'=1", "''", `"`, `"",=1`,
		"a\",\"b", "a\r\nb", "a\n=1", `\.`, "\x00=1", "\xff=1", "a;=1", "a,=1", " ", "\u202e=1", `=HYPERLINK("https://evil.example","x")`,
	} {
		f.Add(typed)
	}
	f.Fuzz(func(t *testing.T, typed string) {
		address, taxID := core.JSONOf(&core.Address{Country: &typed}), core.JSONOf(&customer.TaxID{Value: typed})
		for _, file := range []struct{ head, row, plain []string }{
			{customerHead,
				customerRow(&customer.Customer{
					Email: &typed, Name: &typed, Phone: &typed, ExternalID: &typed, BillingAddress: address, TaxID: taxID, PreferredLocale: &typed,
					Tags: core.JSONOf([]string{typed}), Notes: &typed,
				}), customerRow(&customer.Customer{})},
			{orderHead,
				orderRow(&order.Order{CustomerEmail: &typed, BillingName: &typed, BillingAddress: address, TaxID: taxID}, []lineitem.Item{{Description: &typed}}),
				orderRow(&order.Order{}, nil)},
			{subscriptionHead,
				subscriptionRow(&subscription.Subscription{ProductName: typed, PriceVariantName: &typed}, &customer.Customer{Email: &typed}),
				subscriptionRow(&subscription.Subscription{}, nil)},
		} {
			requireHarmless(t, typed, file.head, file.row, file.plain)
		}
	})
}

// formula is what a program may take for one. It is one of the signs, wide ones too, after anything that is not seen. It is also a
// character that some programs take for the end of a cell.
var formula = regexp.MustCompile(`^([\pZ\pC\pM\x{115f}\x{1160}\x{3164}\x{ffa0}\x{2800}]*[=+\-@＝＋－＠]|[\t\r\n])`)

// requireHarmless writes a row and reads it back. Plain is the row without what was typed.
func requireHarmless(t *testing.T, typed string, head, row, plain []string) {
	t.Helper()
	var file bytes.Buffer
	require.NoError(t, csv.NewWriter(&file).WriteAll([][]string{head, row}))
	read, err := csv.NewReader(&file).ReadAll() // which demands as many cells of every row
	require.NoError(t, err)
	require.Len(t, read, 2)
	for i, cell := range read[1] {
		require.Equal(t, strings.ReplaceAll(row[i], "\r\n", "\n"), cell, head[i]) // the reader knows one line break
		if row[i] == plain[i] || head[i] == "line_items" {
			continue // it is ours, or begins with a number of ours
		}
		require.Contains(t, []string{typed, "'" + typed}, row[i], head[i])
		require.NotRegexp(t, formula, cell, head[i])
	}
}
