package platform

import (
	"encoding/csv"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/core"
)

// A variant that names no product is of the one above it, and of none if that one cannot be read.
func TestFamilies_RowsFollowTheOneAboveThem(t *testing.T) {
	t.Parallel()
	form, err := Find("squarespace", "products")
	require.NoError(t, err)
	rows := csv.NewReader(strings.NewReader(`Product ID [Non Editable],Title,SKU,Price
,,lost,1
a,A,a1,1
,,a2,1
b,B
,,b2,1
,New,n1,1
,,n2,1
,,,
,,none,1
`))
	header, err := rows.Read()
	require.NoError(t, err)
	families, err := form.ReadFamilies(rows, header)
	require.NoError(t, err)
	of := func(number int, row string) (skus []string, err error) {
		family, err := families.Of(number, header, strings.Split(row, ","))
		for _, r := range family {
			skus = append(skus, r[2])
		}
		return skus, err
	}
	for number, want := range map[int]struct {
		row  string
		skus []string
	}{1: {"a,A,a1,1", []string{"a1", "a2"}}, 2: {",,a2,1", nil}, 5: {",New,n1,1", []string{"n1", "n2"}}, 6: {",,n2,1", nil}, 7: {",,,", []string{"", "none"}}} {
		skus, err := of(number, want.row)
		require.NoError(t, err)
		require.Equal(t, want.skus, skus, number)
	}
	for number, row := range map[int]string{0: ",,lost,1", 4: ",,b2,1"} {
		_, err := of(number, row)
		require.ErrorContains(t, err, "belongs to the row above it, which is not in the file")
	}
}

// Nobody agrees here who is not written to there, whatever else their row says.
func TestConsent_IsOfThoseAloneWhoAreWrittenTo(t *testing.T) {
	t.Parallel()
	form, err := Find("beehiiv", "leads")
	require.NoError(t, err)
	header := []string{"email", "status", "tier", "created_at", "unsubscribed_at"}
	for row, agrees := range map[string]bool{
		"active,free,2023-03-24 10:23:10 UTC,": true, "active,free,2023-03-24 10:23:10 UTC,2024-03-13 11:33:53 UTC": false,
		"inactive,free,2023-03-24 10:23:10 UTC,": false, "pending,free,2023-03-24 10:23:10 UTC,": false, ",free,2023-03-24 10:23:10 UTC,": false,
		"unheard of,free,2023-03-24 10:23:10 UTC,": false,
	} {
		read := form.Translate(header, [][]string{strings.Split("ada@example.com,"+row, ",")}, "")
		require.NoError(t, read.Err())
		require.Equal(t, agrees, slices.Contains(read.Header, "consent.marketing"), row)
		require.Equal(t, agrees, slices.Contains(read.Header, "consent.at"), row)
	}
}

// Some conversions would leave a NUL out, and some would not know the word any more.
func TestTranslate_RefusesANUL(t *testing.T) {
	t.Parallel()
	form, err := Find("squarespace", "products")
	require.NoError(t, err)
	header := []string{"Product ID [Non Editable]", "Title", "Description", "Price", "Sale Price", "On Sale", "Visible", "Stock"}
	read := form.Translate(header, [][]string{{"1", "A", "<b>b\x00</b>", "1.50", "1.00", "\x00Yes", "Yes", "\x00"}}, "usd")
	refusal, ok := errors.AsType[*core.Error](read.Err())
	require.True(t, ok)
	nul := []string{`A string has a NUL character (\u0000).`}
	require.Equal(t, map[string][]string{"Description": nul, "On Sale": nul}, refusal.Fields, "of columns that are read, each once")
}
