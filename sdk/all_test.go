package sdk

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"testing"

	"github.com/tillwright/tillwright/sdk/internal/require"
)

// shelf serves products 249..0 as the API does, and keeps the queries.
type shelf struct {
	queries []string
	failAt  string
}

func (s *shelf) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.queries = append(s.queries, r.URL.RawQuery)
	after, limit := 250, 20
	if id := r.FormValue("starting_after"); id != "" {
		_, _ = fmt.Sscanf(id, "prod_%d", &after)
	}
	if text := r.FormValue("limit"); text != "" {
		limit, _ = strconv.Atoi(text)
	}
	if s.failAt != "" && r.FormValue("starting_after") == s.failAt {
		w.WriteHeader(http.StatusForbidden)
		_, _ = io.WriteString(w, `{"error":{"type":"invalid_request_error","code":"forbidden","message":"No."}}`)
		return
	}
	page := List[Product]{Object: "list", Data: []Product{}}
	for i := after - 1; i >= 0 && len(page.Data) < limit; i-- {
		page.Data = append(page.Data, Product{ID: fmt.Sprintf("prod_%d", i)})
		page.HasMore = i > 0
	}
	_ = json.NewEncoder(w).Encode(page)
}

func stocked(t *testing.T) (*shelf, *Client) {
	t.Helper()
	s := new(shelf)
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	return s, New(testKey, WithBaseURL(server.URL))
}

func TestAll_YieldsEveryItemOnce(t *testing.T) {
	t.Parallel()
	s, c := stocked(t)
	want := 249
	for product, err := range All(t.Context(), c.Products.List, nil) {
		require.NoError(t, err)
		require.Equal(t, fmt.Sprintf("prod_%d", want), product.ID)
		want--
	}
	require.Equal(t, -1, want)
	require.Equal(t, []string{"limit=100", "limit=100&starting_after=prod_150", "limit=100&starting_after=prod_50"}, s.queries)
}

func TestAll_KeepsParamsAndOptionsAndChangesNeither(t *testing.T) {
	t.Parallel()
	s, c := stocked(t)
	params := &ListProductsParams{Status: new(ProductStatusActive), Limit: new(int64(2)), StartingAfter: new("prod_5")}
	options := append(make([]Option, 0, 8), Expand("price_variants"))
	walk := All(t.Context(), c.Products.List, params, options...)
	for range 2 { // an iterator may be ranged over again, and begins anew
		s.queries = nil
		count := 0
		for _, err := range walk {
			require.NoError(t, err)
			count++
		}
		require.Equal(t, 5, count)
		require.Equal(t, []string{
			"expand=price_variants&limit=2&starting_after=prod_5&status=active",
			"expand=price_variants&limit=2&starting_after=prod_3&status=active",
			"expand=price_variants&limit=2&starting_after=prod_1&status=active",
		}, s.queries)
	}
	require.Equal(t, &ListProductsParams{Status: new(ProductStatusActive), Limit: new(int64(2)), StartingAfter: new("prod_5")}, params)
	require.Nil(t, options[:2][1], "the caller's spare capacity is not written to")
}

func TestAll_FetchesNoPageThatIsNotReached(t *testing.T) {
	t.Parallel()
	s, c := stocked(t)
	for product, err := range All(t.Context(), c.Products.List, nil) {
		require.NoError(t, err)
		if product.ID == "prod_200" {
			break
		}
	}
	require.Len(t, s.queries, 1)
}

func TestAll_EndsWithAnErrorInTheMiddle(t *testing.T) {
	t.Parallel()
	s, c := stocked(t)
	s.failAt = "prod_150"
	var items []Product
	var errs []error
	for product, err := range All(t.Context(), c.Products.List, nil) {
		items, errs = append(items, product), append(errs, err)
	}
	require.Len(t, items, 101)
	require.Equal(t, Product{}, items[100])
	require.Equal(t, 100, slices.IndexFunc(errs, func(err error) bool { return err != nil }))
	require.Equal(t, CodeForbidden, CodeOf(errs[100]))
}

func TestAll_RefusesToWalkBackwards(t *testing.T) {
	t.Parallel()
	s, c := stocked(t)
	for _, err := range All(t.Context(), c.Products.List, &ListProductsParams{EndingBefore: new("prod_5")}) {
		require.ErrorContains(t, err, "leave EndingBefore nil")
	}
	require.Empty(t, s.queries)
}

// cursors serves ads 249..0 by cursor, and keeps the queries.
func cursors(t *testing.T) (*[]string, *Client) {
	t.Helper()
	queries := new([]string)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		*queries = append(*queries, r.URL.RawQuery)
		after := 250
		_, _ = fmt.Sscanf(r.FormValue("cursor"), "after_%d", &after)
		limit, _ := strconv.Atoi(r.FormValue("limit"))
		page := CursorList[Ad]{Object: "list", Data: []Ad{}}
		for i := after - 1; i >= 0 && len(page.Data) < limit; i-- {
			page.Data = append(page.Data, Ad{ID: strconv.Itoa(i)})
			if page.HasMore = i > 0; page.HasMore {
				page.NextCursor = new(fmt.Sprintf("after_%d", i))
			} else {
				page.NextCursor = nil
			}
		}
		_ = json.NewEncoder(w).Encode(page)
	}))
	t.Cleanup(server.Close)
	return queries, New(testKey, WithBaseURL(server.URL))
}

func TestAll_FollowsTheCursorOfListsOfAds(t *testing.T) {
	t.Parallel()
	queries, c := cursors(t)
	want := 249
	for ad, err := range All(t.Context(), c.Ads.List, &ListAdsParams{AccountID: new("sacct_1"), Status: []AdStatus{AdStatusActive, AdStatusPaused}}) {
		require.NoError(t, err)
		require.Equal(t, strconv.Itoa(want), ad.ID)
		want--
	}
	require.Equal(t, -1, want)
	const filters = "&limit=100&status=active%2Cpaused"
	require.Equal(t, []string{
		"account_id=sacct_1" + filters, "account_id=sacct_1&cursor=after_150" + filters, "account_id=sacct_1&cursor=after_50" + filters,
	}, *queries)
}

func TestAll_DoesNotTurnInCirclesOfCursors(t *testing.T) {
	t.Parallel()
	s, replies := scripted(answered(200, `{"object":"list","data":[{"id":"1"}],"has_more":true,"next_cursor":"again"}`))
	var last error
	for _, err := range All(t.Context(), New(testKey, replies).Ads.List, nil) {
		last = err
	}
	require.ErrorContains(t, last, `the page after "again"`)
	require.Len(t, s.sent, 2)
}

func TestAll_DoesNotTurnInACircleOfSeveralPages(t *testing.T) {
	t.Parallel()
	page := func(next string) reply {
		return answered(200, `{"object":"list","data":[{"id":"1"}],"has_more":true,"next_cursor":"`+next+`"}`)
	}
	s, replies := scripted(page("a"), page("b"), page("c"), page("a"))
	var last error
	for _, err := range All(t.Context(), New(testKey, replies).Ads.List, nil) {
		last = err
	}
	require.ErrorContains(t, last, `the page after "c"`)
	require.Len(t, s.sent, 4)
}

func TestAll_DoesNotTurnInCircles(t *testing.T) {
	t.Parallel()
	s, replies := scripted(answered(200, `{"object":"list","data":[{"id":"prod_1"}],"has_more":true}`))
	var last error
	for _, err := range All(t.Context(), New(testKey, replies).Products.List, nil) {
		last = err
	}
	require.ErrorContains(t, last, `the page after "prod_1"`)
	require.Len(t, s.sent, 2)
}

func TestAll_WalksEveryList(t *testing.T) {
	t.Parallel()
	_, replies := scripted(answered(200, `{"object":"list","data":[{"id":"x_1"}],"has_more":false}`))
	c, ctx := New(testKey, replies), t.Context()
	walks := map[string]int{}
	for range All(ctx, c.AISites.List, nil) {
		walks["ai_sites"]++
	}
	for range All(ctx, c.APIKeys.List, nil) {
		walks["keys"]++
	}
	for range All(ctx, c.CheckoutLinks.List, nil) {
		walks["checkout_links"]++
	}
	for range All(ctx, c.Checkouts.List, nil) {
		walks["checkouts"]++
	}
	for range All(ctx, c.Customers.List, nil) {
		walks["customers"]++
	}
	for range All(ctx, c.Discounts.List, nil) {
		walks["discounts"]++
	}
	for range All(ctx, c.Invoices.List, nil) {
		walks["invoices"]++
	}
	for range All(ctx, c.Orders.List, nil) {
		walks["orders"]++
	}
	for range All(ctx, c.Subscriptions.List, nil) {
		walks["subscriptions"]++
	}
	for range All(ctx, c.PriceVariants.List, nil) {
		walks["price_variants"]++
	}
	for range All(ctx, c.Products.List, nil) {
		walks["products"]++
	}
	for range All(ctx, c.WebhookEndpoints.List, nil) {
		walks["webhook_endpoints"]++
	}
	for range All(ctx, c.AdAccounts.List, &ListAdAccountsParams{AccountID: "sacct_1"}) {
		walks["ad_accounts"]++
	}
	for range All(ctx, c.AdActions.List, nil) {
		walks["ad_actions"]++
	}
	for range All(ctx, c.AdAudiences.List, &ListAdAudiencesParams{AccountID: "sacct_1", AdAccountID: "act_1"}) {
		walks["ad_audiences"]++
	}
	for range All(ctx, c.AdCampaigns.List, nil) {
		walks["ad_campaigns"]++
	}
	for range All(ctx, c.Ads.List, nil) {
		walks["ads"]++
	}
	for range All(ctx, c.BusinessCenters.List, &ListBusinessCentersParams{AccountID: "sacct_1"}) {
		walks["business_centers"]++
	}
	for range All(ctx, c.Socials.List, nil) {
		walks["socials"]++
	}
	require.Equal(t, map[string]int{"ai_sites": 1, "keys": 1, "checkouts": 1, "customers": 1, "discounts": 1, "invoices": 1, "orders": 1, "subscriptions": 1, "price_variants": 1,
		"products": 1, "webhook_endpoints": 1, "ad_accounts": 1, "ad_actions": 1, "ad_audiences": 1, "ad_campaigns": 1, "ads": 1,
		"business_centers": 1, "checkout_links": 1, "socials": 1}, walks)
}

func TestAllOf_WalksAListOfOneResource(t *testing.T) {
	t.Parallel()
	s, replies := scripted(answered(200, `{"data":[{"id":"li_1"},{"id":"li_2"}],"has_more":true}`), answered(200, `{"data":[{"id":"li_3"}],"has_more":false}`))
	var ids []string
	for line, err := range AllOf(t.Context(), New(testKey, replies).Invoices.ListLines, "inv_1", nil) {
		require.NoError(t, err)
		ids = append(ids, line.ID)
	}
	require.Equal(t, []string{"li_1", "li_2", "li_3"}, ids)
	require.Equal(t, "/v1/invoices/inv_1/lines", s.sent[1].URL.Path)
	require.Equal(t, "limit=100&starting_after=li_2", s.sent[1].URL.RawQuery)
}

func TestPlan_AsksForADryRun(t *testing.T) {
	t.Parallel()
	s, replies := scripted(answered(200, `{"object":"ad_plan","figures":[{"currency":"usd","daily_total":20.50}],"calls":[{"action":"create_ad"}]}`))
	plan, err := New(testKey, replies).Ads.PlanCreate(t.Context(), &AdCreate{Name: "a", BudgetAmount: new(json.Number("20.50"))})
	require.NoError(t, err)
	require.Equal(t, json.Number("20.50"), plan.Figures[0].DailyTotal)
	require.Equal(t, "dry_run=true", s.sent[0].URL.RawQuery)
	require.Contains(t, s.bodies[0], `"budget_amount":20.50`, "an amount is sent digit by digit")
}
