package dashboard_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAnalytics_DrawWhatWasSold(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		page := sees(t, w.owner, "/app/analytics", "Revenue each day, USD", "No checkout yet", "None yet")
		require.Equal(t, 60, strings.Count(page, "<rect "), "a bar a day, of revenue and of orders")
		w.sold()
		page = sees(t, w.owner, "/app/analytics?days=7&currency=eur", "EUR\u00a020.00", "100.0 %", "Revenue each day, EUR")
		require.Equal(t, 14, strings.Count(page, "<rect "))
		require.Contains(t, page, ": EUR\u00a020.00</title>")
		require.Contains(t, sees(t, w.owner, "/app/analytics?days=365"), "each month")
		status, _ := w.owner.Get("/app/analytics?days=nonsense&currency=none")
		require.Equal(t, http.StatusOK, status)
	})
}
