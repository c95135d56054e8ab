package e2e

import (
	"cmp"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/tillwright/tillwright/store/migrations"
	"github.com/tillwright/tillwright/tests/harness"
	"github.com/tillwright/tillwright/tests/harness/database"
	"github.com/tillwright/tillwright/tests/harness/outbox"
)

// TestLargeAccount_IsSummedUpAndSearchedQuickly asks the program about an account with 5,000 customers, products and paid orders. With
// TILLWRIGHT_SOAK there are a million of each, and only then does it look at the time. With a million, on a machine that does nothing else, the
// metrics may take 200 ms on PostgreSQL and 300 on SQLite. A search may take 50 ms.
func TestLargeAccount_IsSummedUpAndSearchedQuickly(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		l := &large{site: newSite(t, url), many: 5_000}
		if harness.Soaks() {
			l.many = 1_000_000
		}
		l.fill(t)
		server := l.binary.Serve(t, "")
		l.sums(t, l.client(server))
		l.finds(t, l.client(server))
	})
}

// large is an account with so many customers, products and orders.
type large struct {
	*site
	many    int
	db      *harness.Database
	account string
}

// lives are the years in which the orders were paid, all at other moments.
var lives = [2]time.Time{time.Date(2023, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}

// Names of customers in several scripts, and of what is sold. Chinese, Japanese and Thai put no space between words.
var (
	givenNames  = [][]string{{"Anna", "Andrea", "Bjørn", "Zoë", "Łukasz"}, {"Анна", "Андрей", "Ольга", "Фёдор"}, {"أحمد", "فاطمة", "يوسف"}, {"山田", "王", "김"}, {"สมชาย", "สมหญิง"}}
	familyNames = [][]string{{"Schmidt", "Anderson", "García", "Nowak", "Ó Briain"}, {"Иванова", "Петров", "Шевченко"}, {"الحسن", "محمود"}, {"太郎", "小明", "민준"}, {"ใจดี", "รักไทย"}}
	guides      = []string{"Guide to watercolours", "Руководство по акварели", "دليل الألوان المائية", "水彩画入門講座", "คู่มือสีน้ำ"}
	rareNames   = []string{"Zinaida Quistgaard", "Светлана Ящерицына", "زرقاء الفيروزآبادي", "鷲尾宗一郎", "ปรัชญา วงศ์สุวรรณภูมิ"}
)

// fill makes all behind the program's back, with every constraint and trigger of the tables. It has the metrics counted as the migration did that
// first counted them.
func (l *large) fill(t *testing.T) {
	t.Helper()
	l.db = harness.OpenDatabase(t, l.url)
	l.account = l.db.Strings(t, `SELECT id FROM accounts`)[0]
	at := fmt.Sprintf("(%d + n * CAST(%d AS BIGINT))", lives[0].UnixMicro(), lives[1].Sub(lives[0]).Microseconds()/int64(l.many+1))
	id := func(prefix string) string { return outbox.IDAt(l.db.Engine, prefix, at, "n") }
	const batch = 10_000
	for from := 1; from <= l.many; from += batch {
		numbers := outbox.Numbers(l.db.Engine, from, min(from+batch-1, l.many))
		for _, statement := range []string{
			`INSERT INTO customers (account_id, id, email, email_key, name, tax_exempt, type, orders_count, total_spent, tags, metadata, created_at, updated_at)
			SELECT '` + l.account + `', ` + id("cus_") + `, 'buyer' || n || '@example.com', 'buyer' || n || '@example.com', ` + l.name() + `, FALSE, 'customer', 1, '{"usd":1900}', '[]', '{}', ` + at + `, ` + at + ` FROM ` + numbers,
			`INSERT INTO products (account_id, id, name, slug, status, type, visibility, images, custom_fields, price_variant_ids, has_recurring, sales_count, metadata, event_seq, created_at, updated_at)
			SELECT '` + l.account + `', ` + id("prod_") + `, ` + oneOf("n", guides) + ` || ' ' || n, 'guide-' || n, 'draft', 'digital', 'public', '[]', '[]', '[]', FALSE, 0, '{}', 1, ` + at + `, ` + at + ` FROM ` + numbers,
			`INSERT INTO orders (account_id, id, number, status, billing_reason, customer_id, customer_email, line_item_ids, payment_ids, currency, subtotal_amount, discount_amount, net_amount, tax_amount, total_amount, paid_amount, refunded_amount,
				refunded_tax_amount, tax_breakdown, custom_field_data, paid_at, metadata, event_seq, created_at, updated_at)
			SELECT '` + l.account + `', ` + id("order_") + `, n, 'paid', 'purchase', ` + id("cus_") + `, 'buyer' || n || '@example.com', '[]', '[]', 'usd', 1900, 0, 1900, 0, 1900, 1900, 0, 0, '[]', '{}', ` + at + `, '{}', 1, ` + at + `, ` + at + ` FROM ` + numbers,
		} {
			l.db.Must(t, statement)
		}
	}
	files, err := migrations.FS(l.db.Engine)
	if err != nil {
		t.Fatal(err)
	}
	step, err := fs.ReadFile(files, "00099_metric.sql")
	if err != nil {
		t.Fatal(err)
	}
	_, counting, _ := strings.Cut(string(step), "-- What there was.")
	l.db.Must(t, "DELETE FROM metric_quarters; DELETE FROM metric_years; --"+counting)
}

// name is SQL for the name of customer n. One in five is written in each script, and those in the middle have a name that nobody else has.
func (l *large) name() string {
	var name strings.Builder
	name.WriteString("CASE")
	for i, rare := range rareNames {
		fmt.Fprintf(&name, " WHEN n = %d THEN '%s'", l.many/2+i, rare)
	}
	for i := range givenNames {
		between := " || ' ' || "
		if i == 3 {
			between = " || "
		}
		fmt.Fprintf(&name, " WHEN n %% 5 = %d THEN %s%s%s", i, oneOf("n / 5", givenNames[i]), between, oneOf(fmt.Sprintf("n / 5 / %d", len(givenNames[i])), familyNames[i]))
	}
	return name.String() + " END"
}

// oneOf is SQL for one of several texts, by a number.
func oneOf(number string, texts []string) string {
	var pick strings.Builder
	fmt.Fprintf(&pick, "CASE (%s) %% %d", number, len(texts))
	for i, text := range texts {
		fmt.Fprintf(&pick, " WHEN %d THEN '%s'", i, text)
	}
	return pick.String() + " END"
}

// sums asks for metrics of all that was sold.
func (l *large) sums(t *testing.T, c *harness.Client) {
	t.Helper()
	limit := map[string]time.Duration{"postgres": 200, "sqlite": 300}[l.db.Engine] * time.Millisecond
	for _, query := range []string{"from=2023-01-01&to=2025-12-31&interval=month", "from=2025-01-01&to=2025-12-31&interval=day", "from=2023-01-01&to=2025-12-31&interval=year", "from=2025-12-02&to=2025-12-31"} {
		answer := l.within(t, limit, c, "/v1/metrics?timezone=Europe/Berlin&"+query)
		if strings.HasPrefix(query, "from=2023") {
			if sold := answer["totals"].(map[string]any)["orders"].(float64); int(sold) < l.many-l.many/1000 { // a few are of the year before or after, in Berlin
				t.Errorf("%s counts %g orders of %d", query, sold, l.many)
			}
		}
	}
}

// finds looks for much and for little, by words from their beginning in any script.
func (l *large) finds(t *testing.T, c *harness.Client) {
	t.Helper()
	middle := l.db.Strings(t, `SELECT id FROM customers WHERE email_key = $1`, fmt.Sprintf("buyer%d@example.com", l.many/2))[0]
	some, none, one := 20, 0, 1
	for _, asked := range []struct {
		what, q string
		want    int
	}{
		{"a rare word", "quistgaard", one}, {"its beginning", "Quistg", one}, {"a rare Cyrillic word", "ЯЩЕРИЦ", one}, {"a rare Arabic word", "الفيروز", one},
		{"a rare Japanese name", "鷲尾", one}, {"a rare Thai word", "วงศ์สุวรรณ", one},
		{"two letters", "an", some}, {"two Cyrillic letters", "ан", some}, {"two Thai letters", "สม", some}, {"one word that much has", "guide", some},
		{"two common words", "anna schmidt", some}, {"two common words that nothing has both of", "анна schmidt", none}, {"the beginnings of such words", "ан sc", none},
		{"one rare, one common", "zinaida quistgaard", one}, {"one rare, one common, not together", "anna quistgaard", none},
		{"an id", middle, one}, {"an address", fmt.Sprintf("buyer%d@example.com", l.many/2), 2}, {"the number of an order", fmt.Sprintf("#%d", l.many/2), 2},
		{"nothing", "xyzzy", none},
	} {
		answer := l.within(t, 50*time.Millisecond, c, "/v1/search?limit=20&q="+url.QueryEscape(asked.q))
		if found := len(answer["data"].([]any)); found != asked.want {
			t.Errorf("%s, %q: found %d, not %d", asked.what, asked.q, found, asked.want)
		}
	}
}

// within asks for something some times, and holds the quickest answer to a limit.
func (l *large) within(t *testing.T, limit time.Duration, c *harness.Client, path string) (answer map[string]any) {
	t.Helper()
	var best time.Duration
	for range 5 {
		begun := time.Now()
		answer = c.Must(t, http.MethodGet, path, nil)
		best = min(cmp.Or(best, time.Hour), time.Since(begun))
	}
	shown, _ := url.QueryUnescape(path)
	harness.Within(t, limit, best, shown)
	return answer
}
