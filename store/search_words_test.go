package store

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/customer"
	"github.com/tillwright/tillwright/store/internal/db"
)

// named makes so many customers with the names that name returns for their numbers, from 1 on, behind the store's back.
func (s *shop) named(t *testing.T, many int, name func(int) string) {
	t.Helper()
	_, err := db.Tx(t.Context(), s.db, func(ctx context.Context, u *db.Unit) (any, error) {
		for n := 1; n <= many; n++ {
			if _, err := u.Exec(ctx, `
				INSERT INTO customers (account_id, id, email, email_key, name, tax_exempt, type, orders_count, total_spent, tags, metadata, created_at, updated_at)
				VALUES (?, ?, ?, ?, ?, FALSE, 'customer', 0, '{}', '[]', '{}', 1, 1)`,
				s.account, fmt.Sprintf("cus_%026d", n), fmt.Sprint(n, "@example.com"), fmt.Sprint(n, "@example.com"), name(n)); err != nil {
				return nil, err
			}
		}
		return nil, nil
	})
	require.NoError(t, err)
}

// Both databases find what the words of texts say, whatever stands in the texts.
func TestSearch_FindsWhatTheWordsSay(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		h := newOrderHistory(t)
		pieces := []string{"a", "ab", "abc", "b", "ba", "é", "ß", "日本", "1", "12", "-", "_", ".", "@", "@b.c", "%", `\`, "*", "^", "[", "(", ",", "?", " ", " ", " ", "A", "É", "***:", "x"}
		phrase := func(most int) string {
			var text strings.Builder
			for range 1 + h.IntN(most) {
				text.WriteString(pieces[h.IntN(len(pieces))])
			}
			return text.String()
		}
		names := make([]string, 200)
		for i := range names {
			names[i] = phrase(12)
		}
		s.named(t, len(names), func(n int) string { return names[n-1] })
		found := 0
		for range 400 {
			q := phrase(5)
			asked := core.AskedBy(core.Parts(q))
			var want []string
			for n := len(names); n > 0 && len(asked) > 0; n-- {
				words := core.Words(fmt.Sprintf("%d@example.com %s", n, names[n-1]))
				missing := slices.ContainsFunc(asked, func(a core.Asked) bool {
					return !slices.ContainsFunc(words, func(w string) bool { return strings.HasPrefix(w, a.Word) || strings.HasPrefix(w, a.Address) })
				})
				if !missing && len(want) < 100 {
					want = append(want, names[n-1])
				}
			}
			customers, _, err := s.Customer.List(t.Context(), s.account, customer.List{Page: core.Page{Limit: 100}, ListFilter: core.ListFilter{Q: q}})
			require.NoError(t, err, "%q", q)
			var got []string
			for _, c := range customers {
				got = append(got, *c.Name)
			}
			require.Equal(t, want, got, "%q", q)
			found += len(got)
		}
		require.Greater(t, found, 400)
	})
}

// Each word is a question to each row, so that a page asks so many questions at most, however many words and rows there are.
func TestSearch_AsksSoManyQuestions(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		s.named(t, 120, func(int) string { return "a b c d e f g h" })
		s.db.Options.MostExamined = 80
		list := func(q string) error {
			_, _, err := s.Customer.List(t.Context(), s.account, customer.List{Page: core.Page{Limit: 100}, ListFilter: core.ListFilter{Q: q}})
			return err
		}
		for q, most := range map[string]string{"a": "80", "a b": "40", "a b c d": "20", "a b c d e f g h": "10", "a-b-c-d-e-f-g-h": "10"} {
			require.ErrorContains(t, list(q), "More than "+most+" items", q)
			require.True(t, db.IsBound(list(q)))
		}
		var refusal *core.Error
		require.ErrorAs(t, list(strings.Repeat("a-b-c-d-e-f-g-h-i-j-k-l-m-", 7)), &refusal)
		require.Equal(t, core.CodeBadRequest, refusal.Code)
		require.Equal(t, "q", refusal.Param)
		_, _, err := s.Search(t.Context(), s.account, Search{Q: "a b c d e f g h i", Kinds: []core.Kind{core.KindCustomer}, Limit: 10})
		require.ErrorAs(t, err, &refusal)
		require.Equal(t, "q", refusal.Param)
	})
}

// A kind that is named again, which a caller may do twenty times, is not looked for again.
func TestSearch_LooksOnceForAKind(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		statements := 0
		s.db.Options.Trace = func(context.Context, string, []any) { statements++ }
		count := func(times int) int {
			statements = 0
			_, _, err := s.Search(t.Context(), s.account, Search{Q: "a b", Kinds: slices.Repeat([]core.Kind{core.KindCustomer, core.KindOrder}, times), Limit: 10})
			require.NoError(t, err)
			return statements
		}
		require.Equal(t, count(1), count(10))
	})
}
