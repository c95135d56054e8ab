package fault

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tillwright/tillwright/tests/harness"
	"github.com/tillwright/tillwright/tests/harness/database"
)

// TestPages_CostTheSameInATableOfAnySize measures a page of 20 at the beginning, in the middle and at the end of a small
// and of a large table. A page that is found by counting from the start would cost hundreds of times more.
func TestPages_CostTheSameInATableOfAnySize(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		s := newSite(t, harness.Build(t), url, 10)
		server := s.binary.Serve(t, "")
		s.client(server, 0).Must(t, http.MethodPost, "/v1/products", map[string]any{"name": "The first"})
		small, large := 1000, count(20_000, 200_000)
		s.grow(t, 1, small)
		before := s.pageTimes(t, server, small)
		s.grow(t, small, large)
		after := s.pageTimes(t, server, large)
		t.Logf("a page of 20 takes %v among %d products, %v among %d (start, middle, end)", before, small, after, large)
		for i := range after {
			harness.Within(t, 3*slices.Max(before)+5*time.Millisecond, after[i], fmt.Sprintf("page %d of %d", i, large))
		}
	})
}

// id returns the nth id of the copies, in the order of n.
func id(n int) string { return fmt.Sprintf("prod_01zz%022d", n) }

// grow copies the first product until there are n, straight in the database.
func (s *site) grow(t *testing.T, from, n int) {
	t.Helper()
	db := harness.OpenDatabase(t, s.url)
	defer db.Close()
	rows, err := db.Query("SELECT * FROM products LIMIT 0")
	if err != nil {
		t.Fatal(err)
	}
	columns, err := rows.Columns()
	rows.Close()
	if err != nil {
		t.Fatal(err)
	}
	text := "'prod_01zz' || lpad(CAST(n AS text), 22, '0')"
	numbers := fmt.Sprintf("generate_series(%d, %d) AS n", from, n-1)
	if db.Engine == "sqlite" {
		text = "'prod_01zz' || printf('%022d', n)"
		numbers = fmt.Sprintf("(WITH RECURSIVE c(n) AS (SELECT %d UNION ALL SELECT n + 1 FROM c WHERE n < %d) SELECT n FROM c)", from, n-1)
	}
	values := strings.Join(columns, ", ")
	for column, value := range map[string]string{"id": text, "slug": "slug || n", "name": "name || n"} {
		values = strings.Replace(", "+values+",", ", "+column+",", ", "+value+",", 1)
		values = strings.Trim(values, ", ")
	}
	db.Must(t, fmt.Sprintf("INSERT INTO products (%s) SELECT %s FROM products, %s WHERE name = 'The first'", strings.Join(columns, ", "), values, numbers))
	db.Must(t, "ANALYZE")
	if got := db.Count(t, "products"); got != n {
		t.Fatalf("%d products are there, %d were wanted", got, n)
	}
}

// pageTimes returns the median time of a page at the start, in the middle and at the end.
func (s *site) pageTimes(t *testing.T, server *harness.Process, n int) []time.Duration {
	t.Helper()
	var medians []time.Duration
	for i, after := range []string{"", id(n / 2), id(25)} {
		client := s.client(server, i)
		path := "/v1/products?limit=20"
		if after != "" {
			path += "&starting_after=" + after
		}
		var times []time.Duration
		for range count(1, 60) {
			begin := time.Now()
			page := client.Must(t, http.MethodGet, path, nil)
			times = append(times, time.Since(begin))
			if len(page["data"].([]any)) != 20 {
				t.Fatalf("a page has %d products", len(page["data"].([]any)))
			}
		}
		client.HTTP.CloseIdleConnections()
		slices.Sort(times)
		medians = append(medians, times[len(times)/2])
	}
	return medians
}
