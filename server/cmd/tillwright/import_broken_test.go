package main

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/text/encoding/unicode"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/tests/harness"
	"github.com/tillwright/tillwright/tests/harness/database"
)

// failedRows returns the file of the rows of another one that failed.
func failedRows(t *testing.T, path string) string {
	t.Helper()
	kind := filepath.Ext(path)
	text, err := os.ReadFile(strings.TrimSuffix(path, kind) + ".errors" + kind)
	require.NoError(t, err)
	return string(text)
}

func TestImport_FailsALineThatIsNoObject(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		s := newShop(t, url)
		lines := []string{"null", "3", `"x"`, "[]", "true", "{", `{"email":"b@example.com"} {}`}
		file := written(t, "people.jsonl", strings.Join(lines, "\n")+"\n"+`{"email":"ada@example.com"}`)
		for range 2 {
			counts, err := s.imports(t, url, "customers", file)
			require.ErrorContains(t, err, "7 of the rows failed")
			require.Equal(t, [4]int64{1, 0, 0, 7}, counts)
		}
		failed := strings.Split(failedRows(t, file), "\n")
		require.Len(t, failed, 8)
		for i, line := range lines {
			require.Contains(t, failed[i], fmt.Sprintf(`{"line":%q,"error":"The line is not one object in JSON. Send an object in each line`, line))
		}
	})
}

// PostgreSQL stores no NUL, SQLite does; neither is asked.
func TestImport_FailsARowWithANUL(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		s := newShop(t, url)
		guide, err := s.Products.Create(t.Context(), &sdk.ProductCreate{Name: "Guide"})
		require.NoError(t, err)
		for _, c := range []struct {
			kind, file, text string
			flags            []string
			fields           []string // at fault, row by row; the last row is right
		}{
			{"customers", "c.csv", "email,name,metadata.a,tags,metadata.\x00\na@example.com,A\x00b,,,\nb@example.com,,x\x00,,\nc@example.com,,,\"a,\x00\",\nd@example.com,,,,x\ne@example.com,,,,\n", nil, []string{"name", "metadata.a", "tags.1", "metadata"}},
			{"customers", "c.jsonl", `{"email":"f@example.com","name":"a\u0000b","error":"old"}` + "\n" + `{"email":"g@example.com","metadata":{"a\u0000":"b"}}` + "\n" + `{"email":"h@example.com","tags":["\u0000"]}` + "\n" + `{"email":"i@example.com"}`, nil, []string{"name", "metadata", "tags.0"}},
			{"products", "p.csv", "name,metadata\nA\x00,\nB,\"{\"\"a\"\":\"\"\\u0000\"\"}\"\nC,\n", nil, []string{"name", "metadata"}},
			{"leads", "l.csv", "email,name\nj@example.com,A\x00\nk@example.com,\n", nil, []string{"name"}},
			{"leads", "g.csv", "Subscriber Email,Subscribed Time\nm@example.com,2025-01-02 03:04:05 UTC\x00\nn@example.com,\n", []string{"--from", "gumroad"}, []string{"Subscribed Time"}},
			{"license_keys", "k.jsonl", `{"product":"` + guide.ID + `","key":"A\u0000AAAAAAA"}` + "\n" + `{"product":"` + guide.ID + `","key":"AAAA-2222"}`, nil, []string{"key"}},
		} {
			file := written(t, c.file, c.text)
			counts, err := s.imports(t, url, c.kind, file, c.flags...)
			require.ErrorContains(t, err, fmt.Sprint(len(c.fields), " of the rows failed"), c.text)
			require.Equal(t, [4]int64{1, 0, 0, int64(len(c.fields))}, counts, c.text)
			failed := strings.Split(strings.TrimSpace(failedRows(t, file)), "\n")
			failed = failed[len(failed)-len(c.fields):]
			for i, field := range c.fields {
				require.Contains(t, failed[i], field+": A string has a NUL character", c.text)
			}
			if c.file == "c.jsonl" {
				require.Contains(t, failed[0], `{"email":"f@example.com","name":"a\u0000b","error":"name: A string`, "as it came")
			}
		}
	})
}

// What the API refuses because parsers disagree about it is in the file of the rows that failed, both times.
func TestImport_FailsALineWithAFieldTwice(t *testing.T) {
	t.Parallel()
	url := database.URL(t, "sqlite")
	s := newShop(t, url)
	file := written(t, "c.jsonl", `{"email":"a@example.com","name":"A","name":"B"}`+"\n"+`{"email":"b@example.com","name":"\ud800"}`)
	counts, err := s.imports(t, url, "customers", file)
	require.Error(t, err)
	require.Equal(t, [4]int64{0, 0, 0, 2}, counts)
	failed := failedRows(t, file)
	require.Contains(t, failed, `{"email":"a@example.com","name":"A","name":"B","error":"name: The key \"name\" appears twice in one object."}`)
	require.Contains(t, failed, `"name":"\ud800","error":"name: A string has half of a surrogate pair."}`)
}

func TestImport_LosesNoLineOfARowThatCannotBeRead(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		s := newShop(t, url)
		for text, want := range map[string][]string{
			"email,name\n\nq1@example.com,\"A\r\n\nq2@example.com,B\nq3@example.com,\"C\"\nq4@example.com,D\n": {"q1@example.com|A|Lines 3 to 6", "q2@example.com|B|Lines 3 to 6", "q3@example.com|C|Lines 3 to 6"},
			"email,name\n\"a13@example.com,\"A\nq5@example.com,D\n":                                            {`"a13@example.com|"A|The row cannot be read`},
			"email;name\nq6@example.com;\nq7@example.com;\"A\nq8@example.com;B":                                {"q7@example.com|A|Lines 3 to 4", "q8@example.com|B|Lines 3 to 4"},
			"email,name,error\nq9@example.com,A,B,C\nq10@example.com,,\n":                                      {"q9@example.com|A|B|C|The row has more"},
		} {
			file := written(t, "people.csv", text)
			counts, err := s.imports(t, url, "customers", file)
			require.ErrorContains(t, err, fmt.Sprint(len(want), " of the rows failed"), text)
			require.Equal(t, [4]int64{1, 0, 0, int64(len(want))}, counts, text)
			r := csv.NewReader(strings.NewReader(failedRows(t, file)))
			r.Comma, r.FieldsPerRecord = separator(text), -1
			rows, err := r.ReadAll()
			require.NoError(t, err)
			require.Len(t, rows, 1+len(want))
			for i, row := range rows[1:] {
				require.Contains(t, strings.Join(row, "|"), want[i], text)
			}
		}
	})
}

// The lines of an unreadable row are counted alike by a run that goes on after the one before was cut off among them.
func TestImport_GoesOnAmongTheLinesOfABrokenRow(t *testing.T) {
	t.Parallel()
	rows, err := readImport(strings.NewReader("email,name\na@example.com,\"\n"+strings.Repeat("b@example.com,B\n", 600)), "people.csv", importKinds[0], importForm{})
	require.NoError(t, err)
	var at []int
	for {
		batch, err := rows.batch(100)
		require.NoError(t, err)
		if len(batch) == 0 {
			break
		}
		for _, row := range batch {
			require.ErrorContains(t, row.problem, "Lines 2 to 602")
			at = append(at, row.at)
		}
	}
	require.Len(t, at, 601)
	require.True(t, slices.IsSorted(at))
	require.Equal(t, 602, at[600])
}

func TestImport_RefusesTextThatIsNotUTF8(t *testing.T) {
	t.Parallel()
	url := database.URL(t, "sqlite")
	s := newShop(t, url)
	for name, text := range map[string]string{
		"people.csv":   "email,name\na@example.com,Zoe\nb@example.com,Zo\xeb\n",
		"marked.csv":   "\xef\xbb\xbfemail,name\na@example.com,Zoe\nb@example.com,Zo\xeb\n",
		"people.jsonl": `{"email":"a@example.com"}` + "\n\n" + `{"email":"b@example.com","name":"Zo` + "\xeb\"}",
		"cut.csv":      "email,name\n\na@example.com,Zo\xc3",
	} {
		file := written(t, name, text)
		_, err := s.imports(t, url, "customers", file)
		require.ErrorContains(t, err, file+": line 3 is not UTF-8, and nothing is imported: save the file as UTF-8")
	}
	require.Empty(t, s.people(t))
	for name, text := range map[string]string{"wide.csv": "email,name\na@example.com,Zoë\n", "wide.jsonl": `{"email":"b@example.com","name":"Zoë"}`} {
		wide, err := unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewEncoder().String(text)
		require.NoError(t, err)
		_, err = s.imports(t, url, "customers", written(t, name, wide))
		require.NoError(t, err)
	}
	people := s.people(t)
	require.Len(t, people, 2)
	require.Equal(t, "Zoë Zoë", *people[0].Name+" "+*people[1].Name)
}

func TestImport_SaysWhichRowDoesNotEnd(t *testing.T) {
	t.Parallel()
	url := database.URL(t, "sqlite")
	s := newShop(t, url)
	long := strings.Repeat("x\n", longestRow)
	for name, text := range map[string]string{
		"people.csv":   "email,name\na@example.com,A\n\nb@example.com,\"" + long,
		"people.jsonl": `{"email":"a@example.com"}` + "\n\n\n" + `{"email":"b@example.com","name":"` + strings.ReplaceAll(long, "\n", "y") + `"}`,
	} {
		file := written(t, name, text)
		_, err := s.imports(t, url, "customers", file)
		require.ErrorContains(t, err, file+": ")
		require.ErrorContains(t, err, "line 4: it does not end within 1 MiB")
	}
}

// A database that refuses a row stops the run, and so does the next one: the row must be easy to find.
func TestImport_SaysWhichRowTheDatabaseRefuses(t *testing.T) {
	t.Parallel()
	url := database.URL(t, "sqlite")
	account := harness.Boot(t, url).Account(t).Account
	sealer, err := core.NewSealer(make([]byte, 32))
	require.NoError(t, err)
	s, err := store.Open(t.Context(), store.Options{URL: url, Sealer: sealer})
	require.NoError(t, err)
	defer s.Close()
	kind := importKinds[0]
	kind.put = func(_ context.Context, _ *store.Store, _ string, body importBody) (importOutcome, error) {
		if strings.Contains(string(body.create), "bob") {
			return 0, errors.New("no room is left")
		}
		return importUnchanged, nil
	}
	i := &importer{store: s, kind: kind, path: written(t, "people.csv", "email,name\na@example.com,\"A\nB\"\n\nbob@example.com,\n"), meter: newUploadMeter(io.Discard)}
	_, err = i.run(t.Context(), account)
	require.ErrorContains(t, err, i.path+": the row in line 5: no room is left")
}
