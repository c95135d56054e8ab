package contract

import (
	"fmt"
	"net/http"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/tests/harness"
)

// search returns the titles of what is found, each with its type.
func search(t *testing.T, c *sdk.Client, in sdk.SearchParams) (titles []string) {
	t.Helper()
	for _, r := range ok[*sdk.List[sdk.SearchResult]](t)(c.Search.Do(background, &in)).Data {
		titles = append(titles, string(r.Type)+" "+r.Title)
	}
	return titles
}

func TestSearch_FindsByWordsAndExactly(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		ada := ok[*sdk.Customer](t)(c.Customers.Create(background, &sdk.CustomerCreate{Email: "ada@example.com", Name: new("Ада Лавлейс"), ExternalID: new("crm#17")}))
		ok[*sdk.Customer](t)(c.Customers.Create(background, &sdk.CustomerCreate{Email: "alan@example.com", Name: new("Alan Lavery")}))
		guide := ok[*sdk.Product](t)(c.Products.Create(background, &sdk.ProductCreate{Name: "Лавка Guide"}))
		ok[*sdk.Discount](t)(c.Discounts.Create(background, &sdk.DiscountCreate{Name: new("Guide week"), Type: "percent", PercentBps: new(int64(1000)), Code: new("GUIDE10")}))
		ok[*sdk.File](t)(c.Files.Create(background, &sdk.FileCreate{Name: "zebra.pdf", Size: 3}))
		ok[*sdk.BlogPost](t)(c.BlogPosts.Create(background, &sdk.BlogPostCreate{Title: "On zebras", Body: new("Stripes.")}))
		ok[*sdk.Lead](t)(c.Leads.Create(background, &sdk.LeadCreate{Email: "zebra@example.com"}))
		order := paidWith(t, c, "pm_card_visa") // also of ada@example.com

		for q, want := range map[string][]string{
			"лав":         {"product Лавка Guide", "customer Ада Лавлейс"},
			"ЛАВ ада":     {"customer Ада Лавлейс"},
			"lavery alan": {"customer Alan Lavery"},
			"guide10":     {"discount Guide week"},
			"crm#17":      {"customer Ада Лавлейс"},
			guide.ID:      {"product Лавка Guide"},
			ada.ID:        {"customer Ада Лавлейс"},
			order.ID:      {"order #1"},
			"#1":          {"order #1", "customer Ада Лавлейс"}, // which has 17 as a word
			"lavery ada":  nil,
			"!!":          nil,
		} {
			if got := search(t, c, sdk.SearchParams{Q: q}); !slices.Equal(got, want) {
				t.Errorf("%s finds %q", q, got)
			}
		}
		got := search(t, c, sdk.SearchParams{Q: "ada@example.com", Types: []sdk.SearchType{"order", "invoice"}})
		assert.Len(t, got, 2, "by the address and two")
		assert.Contains(t, got, "order #1", "by the address and two")
		if got := search(t, c, sdk.SearchParams{Q: "zebra", Types: []sdk.SearchType{"file", "blog_post", "lead"}}); !slices.Equal(got, []string{"lead zebra@example.com", "blog_post On zebras", "file zebra.pdf"}) {
			t.Errorf("the newest first are %q", got)
		}
		page := ok[*sdk.List[sdk.SearchResult]](t)(c.Search.Do(background, &sdk.SearchParams{Q: "guide", Limit: new(int64(1))}))
		require.Len(t, page.Data, 1, "of two the first")
		assert.True(t, page.HasMore, "of two the first")
		assert.Equal(t, "/v1/search", page.URL, "of two the first")
	})
}

func TestSearch_ShowsWhatTheKeyMayRead(t *testing.T) {
	onEach(t, func(t *testing.T, _ *sdk.Client, s *harness.Server) {
		owner := s.Account(t)
		c := owner.SDK()
		ok[*sdk.Customer](t)(c.Customers.Create(background, &sdk.CustomerCreate{Email: "ada@example.com", Name: new("Ada Guide")}))
		ok[*sdk.Product](t)(c.Products.Create(background, &sdk.ProductCreate{Name: "Guide"}))
		few := owner.As(s.Key(t, owner.Account, "products:read")).SDK()
		if got := search(t, few, sdk.SearchParams{Q: "guide"}); !slices.Equal(got, []string{"product Guide"}) {
			t.Errorf("a key for products finds %q", got)
		}
		ok[*sdk.Customer](t)(c.Customers.Create(background, &sdk.CustomerCreate{Email: "bob@example.com", ExternalID: new("crm-1")}))
		order := purchase(t, c, "ada@example.com", onSale(t, c, 1900))
		for what, q := range map[string]string{"an order by its number": fmt.Sprint("#", order.Number), "a customer by an id of the seller's": "crm-1"} {
			if all := search(t, c, sdk.SearchParams{Q: q}); len(all) == 0 {
				t.Errorf("nothing finds %s", what)
			}
			if got := search(t, few, sdk.SearchParams{Q: q}); len(got) != 0 {
				t.Errorf("a key for products finds %s: %q", what, got)
			}
		}
		_, err := few.Search.Do(background, &sdk.SearchParams{Q: "guide", Types: []sdk.SearchType{"product", "customer"}})
		refused(t, err, http.StatusForbidden, sdk.CodeForbidden, "customers:read")
		if got := search(t, owner.As(s.Key(t, s.Account(t).Account)).SDK(), sdk.SearchParams{Q: "guide"}); got != nil {
			t.Errorf("another account finds %q", got)
		}
	})
}
