package store

import (
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/core"
)

// TestSearch_IsAsQuickInALargeAccount looks among 2,000 customers and products, and with TILLWRIGHT_SOAK among a million of each. Only then it
// has a limit: ten times what it may take on a machine that does nothing else.
func TestSearch_IsAsQuickInALargeAccount(t *testing.T) {
	const limit = 500 * time.Millisecond
	soak, many := os.Getenv("TILLWRIGHT_SOAK") != "", 2000
	if soak {
		many = 1_000_000
	}
	eachShop(t, func(t *testing.T, s *shop) {
		s.onSale(t, fixedPrice(1900))
		for from := 0; from < many; from += 1_000 { // a statement has its time
			for _, statement := range []string{`
				INSERT INTO customers (account_id, id, email, email_key, name, tax_exempt, type, orders_count, total_spent, tags, metadata, created_at, updated_at)
				WITH RECURSIVE many (n) AS (SELECT CAST(? AS BIGINT) UNION ALL SELECT n + 1 FROM many WHERE n < ?)
				SELECT '` + s.account + `', 'cus_0000000000000000000' || (1000000 + n), 'ada' || n || '@example.com', 'ada' || n || '@example.com', 'Ada ' || CASE WHEN n % 2 = 0 THEN 'Even' ELSE 'Odd' END || CASE WHEN n <= ` + strconv.Itoa(many/2) + ` THEN ' Old' ELSE ' New' END || ' No' || n,
					FALSE, 'customer', 0, '{}', '[]', '{}', 1, 1 FROM many`,
				`INSERT INTO products (account_id, id, name, slug, status, type, visibility, images, custom_fields, price_variant_ids, has_recurring, sales_count, metadata, event_seq, created_at, updated_at)
				WITH RECURSIVE many (n) AS (SELECT CAST(? AS BIGINT) UNION ALL SELECT n + 1 FROM many WHERE n < ?)
				SELECT '` + s.account + `', 'prod_0000000000000000000' || (1000000 + n), 'Guide ' || CASE WHEN n % 2 = 0 THEN 'Even' ELSE 'Odd' END || ' No' || n, 'guide-' || n,
					'draft', 'digital', 'public', '[]', '[]', '[]', FALSE, 0, '{}', 1, 1, 1 FROM many`} {
				_, err := s.db.Write.DB.ExecContext(t.Context(), s.db.Rebind(statement), from+1, min(from+1_000, many))
				require.NoError(t, err)
			}
		}
		_, err := s.db.Write.DB.ExecContext(t.Context(), `ANALYZE`)
		require.NoError(t, err)
		kinds := []core.Kind{core.KindProduct, core.KindCustomer, core.KindOrder, core.KindInvoice, core.KindSubscription, core.KindDiscount, core.KindCheckoutLink, core.KindLead, core.KindFile, core.KindExperience, core.KindBlogPost, core.KindAISite}
		for q, want := range map[string]int{"ada": 10, "guide odd": 10, "no17": 10, "ada77@example.com": 1, "guide ada": 0, "nobody": 0, "ada lovelace": 0, "even odd": 0, "ev od": 0, "old": 10, "old even": 10} {
			var best time.Duration
			for try := 0; try == 0 || soak && try < 3; try++ {
				begun := time.Now()
				results, _, err := s.Search(t.Context(), s.account, Search{Q: q, Kinds: kinds, Limit: 10})
				require.NoError(t, err)
				require.Len(t, results, want, q)
				if took := time.Since(begun); best == 0 || took < best {
					best = took
				}
			}
			t.Logf("%s takes %s", q, best)
			if soak {
				require.Less(t, best, limit)
			}
		}
	})
}

// There are more Adas and more Lovelaces than rows may be examined, and only one is both.
func TestSearch_OfCommonWordsFindsTheNewest(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		s.db.Options.MostExamined = 100
		_, err := s.db.Write.DB.ExecContext(t.Context(), `
			INSERT INTO customers (account_id, id, email, email_key, name, tax_exempt, type, orders_count, total_spent, tags, metadata, created_at, updated_at)
			WITH RECURSIVE many (n) AS (SELECT CAST(1 AS BIGINT) UNION ALL SELECT n + 1 FROM many WHERE n < 450)
			SELECT '`+s.account+`', 'cus_0000000000000000000' || (1000000 + n), n || '@example.com', n || '@example.com',
				CASE WHEN n = 145 THEN 'Ada Lovelace' WHEN n <= 150 THEN 'Grace Lovelace' ELSE 'Ada Byron' END,
				FALSE, 'customer', 0, '{}', '[]', '{}', 1, 1 FROM many`)
		require.NoError(t, err)
		for q, want := range map[string]string{"ada lovelace": "145", "LOVELACE ad": "145", "lovelace": "150 149 148", "love": "12 11 10", "ada": "450 449 448"} {
			results, more, err := s.Search(t.Context(), s.account, Search{Q: q, Kinds: []core.Kind{core.KindCustomer, core.KindProduct}, Limit: 3})
			require.NoError(t, err, q)
			var found []string
			for _, r := range results {
				found = append(found, strings.TrimSuffix(*r.Subtitle, "@example.com"))
			}
			require.Equal(t, want, strings.Join(found, " "), q)
			require.True(t, more, q)
		}
	})
}
