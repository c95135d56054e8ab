package e2e

import (
	"encoding/csv"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/tests/harness"
	"github.com/tillwright/tillwright/tests/harness/database"
)

// ordersOfOne copies an order so often.
func ordersOfOne(t *testing.T, address, order string, times int) {
	t.Helper()
	db := harness.OpenDatabase(t, address)
	names := `SELECT column_name FROM information_schema.columns WHERE table_name = 'orders'`
	if db.Engine == "sqlite" {
		names = `SELECT name FROM pragma_table_info('orders')`
	}
	columns := db.Strings(t, names)
	values := make([]string, len(columns))
	for i, column := range columns {
		values[i] = map[string]string{
			"id": "'order_0000000' || (1000000000000000000 + n)", "number": "number + n", "checkout_id": "NULL", "invoice_id": "NULL",
		}[column]
		if values[i] == "" {
			values[i] = column
		}
	}
	_, err := db.Exec(`
		INSERT INTO orders (` + strings.Join(columns, ", ") + `)
		WITH RECURSIVE n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < ` + fmt.Sprint(times) + `)
		SELECT ` + strings.Join(values, ", ") + ` FROM orders, n WHERE id = '` + order + `'`)
	require.NoError(t, err)
}

// Read all at once, the rows take 40 MiB and more, and the first comes when nearly all the time is over.
func TestExport_OfTwentyThousandOrdersTakesLittleMemory(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, address string) {
		const orders = 20_000
		o := newOffice(t, address, "GOGC=25", "GODEBUG=gcstoptheworld=2") // what is used is measured, and not what waits for a collector that gets no time
		variant := o.guide(sdk.ProductPriceVariant{Amount: new(int64(1900)), Currency: new("usd")})
		order := o.purchase(sdk.CheckoutCreate{
			CustomerEmail: new("grace@example.com"), CustomerName: new("=株式会社"), LineItems: []sdk.CheckoutLine{{PriceVariant: variant, Quantity: new(int64(2))}},
		})
		ordersOfOne(t, address, order.ID, orders-1)
		signed, err := o.Orders.Export(background, &sdk.ExportOrdersParams{Status: new(sdk.OrderStatusPaid)})
		require.NoError(t, err)

		o.program.ForgetPeak(t)
		before, begin := o.program.Memory(t, "VmRSS"), time.Now()
		response, err := http.Get(signed.URL)
		require.NoError(t, err)
		defer response.Body.Close()
		require.Equal(t, http.StatusOK, response.StatusCode)
		rows, numbers := csv.NewReader(response.Body), map[string]bool{}
		head, err := rows.Read()
		require.NoError(t, err)
		first := time.Since(begin)
		for row, err := rows.Read(); err != io.EOF; row, err = rows.Read() {
			require.NoError(t, err)
			require.Len(t, row, len(head))
			require.Equal(t, "'=株式会社", row[9])
			require.Equal(t, "38.00", row[17])
			numbers[row[1]] = true
		}
		assert.Len(t, numbers, orders)
		took, peak := time.Since(begin), o.program.Memory(t, "VmHWM")
		t.Logf("%d rows after %s, the first after %s, %d MiB before and at most %d", len(numbers), took, first, before, peak)
		assert.Less(t, peak, before+30)
		harness.Within(t, took/2, first, "the first row, which comes while the others are read,")
	})
}
