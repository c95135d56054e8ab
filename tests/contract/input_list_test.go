package contract

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/tillwright/tillwright/tests/conformance"
	"github.com/tillwright/tillwright/tests/harness"
)

func TestEverySortedList_BeginsWithItsOldestWhenAsked(t *testing.T) {
	t.Parallel()
	onShared(t, func(t *testing.T, s *harness.Server) {
		w := newWorld(t, s)
		for n := range 4 {
			name := fmt.Sprint("sorted ", n)
			w.Must(t, http.MethodPost, "/v1/products", map[string]any{"name": name, "price_variants": []any{map[string]any{"amount": 100}}})
			w.Must(t, http.MethodPost, "/v1/customers", map[string]any{"email": fmt.Sprintf("sorted%d@example.com", n)})
			w.Must(t, http.MethodPost, "/v1/leads", map[string]any{"email": fmt.Sprintf("sorted%d@example.com", n)})
			w.Must(t, http.MethodPost, "/v1/discounts", map[string]any{"name": name, "type": "percent", "percent_bps": 100})
			w.Must(t, http.MethodPost, "/v1/checkout_links", map[string]any{"price_variants": []any{w.IDs["sold price"]}})
			w.Must(t, http.MethodPost, "/v1/refunds", map[string]any{"order": w.IDs["order"], "amount": 1})
			w.Must(t, http.MethodPost, "/v1/blog_posts", map[string]any{"title": name})
			w.Must(t, http.MethodPost, "/v1/experiences", map[string]any{"name": name, "type": "link"})
			w.Must(t, http.MethodPost, "/v1/legal_pages", map[string]any{"kind": "custom", "title": name})
		}
		conformance.BeginsWithItsOldestWhenAsked(harness.Tested(t), w.subject(t, s))
		walked := w.subject(t, s)
		walked.Concerned = func(op *harness.Operation) bool { return op.HasQuery("sort") } // of which there are several
		conformance.WalksPages(harness.Tested(t), walked)
	})
}

func TestEveryList_ChecksItsPosition(t *testing.T) {
	t.Parallel()
	keeps(t, func(t conformance.T, s *conformance.Subject) {
		conformance.ChecksPositions(t, s)
		conformance.HasItsEnvelope(t, s)
	})
}
