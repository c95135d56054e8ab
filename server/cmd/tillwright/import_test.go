package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/tests/harness/database"
)

// imports runs an import of a file with --json, and returns what it says of its rows: created, updated, unchanged, failed.
func (s *shop) imports(t *testing.T, url, kind, path string, flags ...string) (counts [4]int64, err error) {
	t.Helper()
	out, err := tillwright(t, t.TempDir(), append([]string{"import", kind, path, "--account", s.account.Account, "--database-url", url, "--json"}, flags...)...)
	var sum importSummary
	if out != "" {
		require.NoError(t, json.Unmarshal([]byte(out), &sum), out)
	}
	return [4]int64{sum.Created, sum.Updated, sum.Unchanged, sum.Failed}, err
}

// written makes a file.
func written(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

func TestImport_MakesAndChangesCustomers(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		s := newShop(t, url)
		file := written(t, "people.csv", "email,name,external_id,tags,billing_address.country,metadata.source,tax_exempt\n"+
			`ada@example.com,Ada,e1,"vip, new",DE,crm,true`+"\nnonsense,Bob,e2,,,,\ngrace@example.com,Grace,e3,,XX9,,\nADA@example.com,,,,,,\nada@example.com,Lady Ada,e1,,,,\n")
		counts, err := s.imports(t, url, "customers", file, "--dry-run")
		require.ErrorContains(t, err, "2 of the rows would fail")
		require.Equal(t, int64(2), counts[3])
		require.NoFileExists(t, filepath.Join(filepath.Dir(file), "people.errors.csv"))
		require.Empty(t, s.people(t), "a trial changes nothing")

		for range 2 { // the second time it is imported already
			counts, err = s.imports(t, url, "customers", file)
			require.ErrorContains(t, err, "people.errors.csv has them")
			require.Equal(t, [4]int64{1, 2, 0, 2}, counts)
		}
		people := s.people(t)
		require.Len(t, people, 1)
		ada := people[0]
		require.Equal(t, "Lady Ada crm DE vip,new true", fmt.Sprint(*ada.Name, " ", ada.Metadata["source"], " ", *ada.BillingAddress.Country, " ", strings.Join(ada.Tags, ","), " ", ada.TaxExempt))

		failed := filepath.Join(filepath.Dir(file), "people.errors.csv")
		text, err := os.ReadFile(failed)
		require.NoError(t, err)
		require.Contains(t, string(text), "nonsense,Bob,e2,,,,,email: must be an e-mail address")
		require.Contains(t, string(text), "billing_address.country: ")
		righted := strings.NewReplacer("nonsense", "bob@example.com", "XX9", "US").Replace(string(text))
		require.NoError(t, os.WriteFile(failed, []byte(righted), 0o600))
		counts, err = s.imports(t, url, "customers", failed)
		require.NoError(t, err)
		require.Equal(t, [4]int64{2, 0, 0, 0}, counts)
		require.Len(t, s.people(t), 3)
	})
}

// people returns the customers.
func (s *shop) people(t *testing.T) []sdk.Customer {
	t.Helper()
	list, err := s.Customers.List(t.Context(), nil)
	require.NoError(t, err)
	return list.Data
}

func TestImport_MakesAndChangesProducts(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		s := newShop(t, url)
		file := written(t, "p.csv", "name;slug;status;price_variants.0.amount;price_variants.0.currency\nGuide;guide;active;1900;usd\nSoon;soon;active;;\n")
		counts, err := s.imports(t, url, "products", file)
		require.ErrorContains(t, err, "1 of the rows failed", "an active product has a price")
		require.Equal(t, [4]int64{1, 0, 0, 1}, counts)
		counts, err = s.imports(t, url, "products", written(t, "p.jsonl", `{"name":"Better guide","slug":"guide","images":["https://a.example/1.png"]}`+"\n"+`{"name":"Better guide","slug":"guide"}`+"\n\n[]\n"))
		require.ErrorContains(t, err, "p.errors.jsonl has them")
		require.Equal(t, [4]int64{0, 1, 1, 1}, counts)
		guide, err := s.Products.Get(t.Context(), "guide")
		require.NoError(t, err)
		require.Equal(t, "Better guide", guide.Name)
		require.Len(t, guide.Images, 1)

		for name, text := range map[string]string{"q.csv": "name,colour\nGuide,red\n", "q.jsonl": `{"name":"A"}` + "\n" + `{"name":"B","colour":"red"}`} {
			_, err = s.imports(t, url, "products", written(t, name, text))
			require.ErrorContains(t, err, `there is no field "colour"`)
		}
		all, err := s.Products.List(t.Context(), nil)
		require.NoError(t, err)
		require.Len(t, all.Data, 1, "an unknown column stops it before the first row")
	})
}

func TestImport_MakesLeadsAndLicenceKeys(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		s := newShop(t, url)
		guide, err := s.Products.Create(t.Context(), &sdk.ProductCreate{Name: "Guide"})
		require.NoError(t, err)
		counts, err := s.imports(t, url, "leads", written(t, "leads.csv", "email,product,tags,utm.source\nada@example.com,guide,\"a,b\",ads\nADA@example.com,guide,c,\nADA@example.com,guide,,\nada@example.com,nothing,,\n"))
		require.ErrorContains(t, err, "1 of the rows failed")
		require.Equal(t, [4]int64{1, 1, 1, 1}, counts)
		leads, err := s.Leads.List(t.Context(), nil)
		require.NoError(t, err)
		require.Len(t, leads.Data, 1)
		require.Equal(t, sdk.LeadSource("import"), leads.Data[0].Source)
		require.ElementsMatch(t, []string{"a", "b", "c"}, leads.Data[0].Tags)

		counts, err = s.imports(t, url, "license_keys", written(t, "keys.csv", "product,key,activation_limit\n"+guide.ID+",AAAA-1111,3\n"+guide.ID+",AAAA-1111,\n"+guide.ID+",,\n"))
		require.ErrorContains(t, err, "2 of the rows failed")
		require.Equal(t, [4]int64{1, 0, 0, 2}, counts)
		keys, err := s.LicenseKeys.List(t.Context(), nil)
		require.NoError(t, err)
		require.Len(t, keys.Data, 1)
		require.Equal(t, int64(3), *keys.Data[0].ActivationLimit)
	})
}

func TestImport_SaysOfARowWhatTheAPIWouldSay(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		s := newShop(t, url)
		file := written(t, "leads.jsonl", `{"name": "Ada"}
			{"email": "ada@example.com", "consent": {"marketing": true, "at": "2027-02-30T00:00:00Z"}}
			{"email": "ada@example.com", "utm": {"nothing": "x"}}
			{"email": "ada@example.com", "tags": "x"}
			{"email": "ada@example.com", "status": "hot"}`)
		counts, err := s.imports(t, url, "leads", file)
		require.ErrorContains(t, err, "5 of the rows failed")
		require.Equal(t, [4]int64{0, 0, 0, 5}, counts)
		text, err := os.ReadFile(filepath.Join(filepath.Dir(file), "leads.errors.jsonl"))
		require.NoError(t, err)
		lines := strings.Split(string(text), "\n")
		for i, reason := range []string{
			"Missing required parameter: email.", "consent.at: must be an RFC 3339 timestamp such as 2026-01-31T12:00:00Z",
			`Unknown field \"utm.nothing\".`, "tags must be an array", "status: must be one of: new, qualified",
		} {
			require.Contains(t, lines[i], reason)
		}
	})
}

// brake ends an import as soon as it says that rows are done.
type brake struct{ end context.CancelFunc }

func (b brake) Write(text []byte) (int, error) {
	b.end()
	return len(text), nil
}

// What a run was killed over is the same as if it had never been. That holds for its rows, and for what it wrote of them
// beside the file.
func TestImport_GoesOnWhereItWasCutOff(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		shop := newShop(t, url)
		sealer, err := core.NewSealer(make([]byte, 32))
		require.NoError(t, err)
		s, err := store.Open(t.Context(), store.Options{URL: url, Sealer: sealer})
		require.NoError(t, err)
		defer s.Close()
		var text strings.Builder
		text.WriteString("email\nnonsense\n")
		for i := range 1200 {
			fmt.Fprintf(&text, "p%d@example.com\n", i)
		}
		file := written(t, "people.csv", text.String())
		ctx, end := context.WithCancel(t.Context())
		i := &importer{store: s, kind: importKinds[0], path: file, meter: newUploadMeter(brake{end})}
		_, err = i.run(ctx, shop.account.Account)
		require.ErrorContains(t, err, "stopped after 500 rows")
		failed, err := os.OpenFile(i.errorPath(), os.O_APPEND|os.O_WRONLY, 0o600)
		require.NoError(t, err)
		_, err = failed.WriteString("a row that was never stored")
		require.NoError(t, err)
		require.NoError(t, failed.Close())

		counts, err := shop.imports(t, url, "customers", file)
		require.ErrorContains(t, err, "1 of the rows failed")
		require.Equal(t, [4]int64{1200, 0, 0, 1}, counts)
		left, err := os.ReadFile(i.errorPath())
		require.NoError(t, err)
		require.Equal(t, 2, strings.Count(string(left), "\n"))
		require.NotContains(t, string(left), "never stored")
	})
}
