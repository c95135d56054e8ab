package pages_test

import (
	"bufio"
	"encoding/csv"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/gen/api"
	"github.com/tillwright/tillwright/server/export"
	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/store/checkout"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/customer"
	"github.com/tillwright/tillwright/store/order"
	"github.com/tillwright/tillwright/store/signed"
	"github.com/tillwright/tillwright/store/tenant"
	"github.com/tillwright/tillwright/tests/harness"
	"github.com/tillwright/tillwright/tests/harness/database"
)

// bought makes a paid order of two handbooks.
func (w *shop) bought(change func(*checkout.Checkout)) *order.Order {
	w.t.Helper()
	c := w.checkout(catalog.PriceVariant{Amount: 1900, Currency: "eur"})
	if change != nil {
		_, err := w.Checkout.Update(w.t.Context(), w.account, c.ID, func(d *checkout.Draft) { change(d.Checkout) })
		require.NoError(w.t, err)
	}
	w.pay(c, "pm_card_visa")
	c, err := w.Checkout.Get(w.t.Context(), w.account, c.ID)
	require.NoError(w.t, err)
	o, err := w.Order.Get(w.t.Context(), w.account, *c.OrderID)
	require.NoError(w.t, err)
	return o
}

// fetch returns a file with its type.
func (w *shop) fetch(url string) (kind, body string) {
	w.t.Helper()
	response, err := http.Get(url)
	require.NoError(w.t, err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	require.NoError(w.t, err)
	require.Equal(w.t, http.StatusOK, response.StatusCode)
	assert.Equal(w.t, "no-store", response.Header.Get("Cache-Control"))
	return response.Header.Get("Content-Type"), string(text)
}

// file is where a list is as a file, with the parameters of its export.
func (w *shop) file(list string, query any) string {
	w.t.Helper()
	u, err := export.Sign(w.t.Context(), w.Store, list, w.account, w.key(), nil, query)
	require.NoError(w.t, err)
	return u.URL
}

// exported returns the rows of a list as a file, its head first.
func (w *shop) exported(list string, query any) [][]string {
	w.t.Helper()
	kind, body := w.fetch(w.file(list, query))
	assert.Contains(w.t, kind, "text/csv")
	rows, err := csv.NewReader(strings.NewReader(body)).ReadAll()
	require.NoError(w.t, err)
	return rows
}

func TestFile_OpensUntilItExpires(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	u, err := w.Order.Receipt(t.Context(), w.account, w.bought(nil).ID)
	require.NoError(t, err)
	kind, body := w.fetch(u.URL)
	assert.Equal(t, "application/pdf", kind)
	assert.True(t, strings.HasPrefix(body, "%PDF-"), "%.20q", body)

	w.now = u.ExpiresAt.Time().Add(-time.Second)
	w.fetch(u.URL)
	w.now = u.ExpiresAt.Time()
	assert.Contains(t, w.page(u.URL, http.StatusGone), "expired")
}

func TestFile_OpensNothingElse(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	u, err := w.Order.Receipt(t.Context(), w.account, w.bought(nil).ID)
	require.NoError(t, err)
	before, token, _ := strings.Cut(u.URL, "/files/")
	for i := range token {
		other := byte('A')
		if token[i] == 'A' {
			other = 'B'
		}
		w.page(before+"/files/"+token[:i]+string(other)+token[i+1:], http.StatusNotFound)
	}
	for _, other := range []string{"x", token[1:], token + "AAAA", "%00", "....", w.account} {
		w.page(before+"/files/"+other, http.StatusNotFound)
	}
}

func TestOrdersFile_HasARowForEveryOrder(t *testing.T) {
	t.Parallel()
	address := database.URL(t, "sqlite")
	w := newShopOn(t, address)
	first := w.bought(nil)
	harness.OpenDatabase(t, address).Must(t, `UPDATE orders SET credited_amount = 1250, withdrawal_waived_at = paid_at WHERE id = '`+first.ID+`'`)
	second := w.bought(func(c *checkout.Checkout) {
		c.CustomerName = new("=HYPERLINK(\"https://evil.example\")")
		c.TaxID = core.JSONOf(&customer.TaxID{Type: "eu_vat", Value: " @SUM(1)"})
		c.BillingAddress = core.JSONOf(&core.Address{Country: new("DE"), Company: new("=Hopper GmbH")})
	})
	rows := w.exported("orders", nil)
	require.Len(t, rows, 3)
	cell := func(row int, name string) string {
		for i, column := range rows[0] {
			if column == name {
				return rows[row][i]
			}
		}
		t.Fatalf("there is no column %s", name)
		return ""
	}
	assert.Equal(t, second.ID, cell(1, "id"))
	assert.Equal(t, first.ID, cell(2, "id"))
	assert.Equal(t, "38.00", cell(2, "total_amount"))
	assert.Equal(t, "0.00", cell(2, "due_amount"))
	assert.Equal(t, "eur", cell(2, "currency"))
	assert.Equal(t, "2 × Handbook", cell(2, "line_items"))
	assert.Equal(t, "grace@example.com", cell(2, "customer_email"))
	assert.Equal(t, first.PaidAt.String(), cell(2, "paid_at"))
	assert.Equal(t, *first.InvoiceID, cell(2, "invoice"))
	assert.Equal(t, "0.00", cell(2, "balance_applied"))
	assert.Equal(t, "12.50", cell(2, "credited_amount"))
	assert.Equal(t, "'=HYPERLINK(\"https://evil.example\")", cell(1, "billing_name"))
	assert.Equal(t, "' @SUM(1)", cell(1, "tax_id"))
	assert.Equal(t, "DE", cell(1, "billing_country"))
	assert.Equal(t, "'=Hopper GmbH", cell(1, "billing_company"))
	assert.Equal(t, first.PaidAt.String(), cell(2, "withdrawal_waived_at"))
	assert.Empty(t, cell(1, "withdrawal_waived_at"))

	rows = w.exported("orders", api.ExportOrdersParams{Number: new(int64(2))})
	require.Len(t, rows, 2)
	assert.Equal(t, second.ID, cell(1, "id"))
	assert.Len(t, w.exported("orders", api.ExportOrdersParams{Status: new(api.OrderStatus("void"))}), 1, "an empty file has its head")

	_, err := export.Sign(t.Context(), w.Store, "orders", w.account, "", nil, api.ExportOrdersParams{Customer: new("cus_x")})
	assert.Error(t, err, "an unknown customer is refused when the URL is asked for")
}

// Whoever has one asks for another, as for one that has expired.
func TestFile_OfAnotherVersionIsGone(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	u, err := w.Signed.Sign(signed.File{Kind: "orders", Account: w.account})
	require.NoError(t, err)
	assert.Contains(t, w.page(u.URL, http.StatusGone), "expired")
}

// multiply copies an order so many times.
func multiply(t *testing.T, url, order string, times int) {
	t.Helper()
	db := harness.OpenDatabase(t, url)
	columns := db.Strings(t, `SELECT name FROM pragma_table_info('orders')`)
	values := make([]string, len(columns))
	for i, column := range columns {
		values[i] = map[string]string{"id": "printf('order_%026d', n)", "number": "n + 1", "checkout_id": "NULL", "invoice_id": "NULL"}[column]
		if values[i] == "" {
			values[i] = column
		}
	}
	_, err := db.Exec(`
		INSERT INTO orders (`+strings.Join(columns, ", ")+`)
		WITH RECURSIVE n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < ?)
		SELECT `+strings.Join(values, ", ")+` FROM orders, n WHERE id = ?`, times, order)
	require.NoError(t, err)
}

// heap is what is in use after a collection.
func heap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC() // what pools let go of
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// It is not parallel: it measures the memory of the whole process.
func TestOrdersFile_OfAnySizeTakesLittleMemory(t *testing.T) {
	const orders = 100_000
	url := database.URL(t, "sqlite")
	w := newShopOn(t, url)
	multiply(t, url, w.bought(nil).ID, orders-1)
	address := w.file("orders", nil)

	before := heap()
	response, err := http.Get(address)
	require.NoError(t, err)
	defer response.Body.Close()
	lines, size := 0, 0
	for file := bufio.NewScanner(response.Body); file.Scan(); lines++ {
		if size += len(file.Bytes()); lines == orders/2 {
			least := heap()
			for range 20 { // what the server makes between two looks is garbage: what it keeps is there in all of them
				least = min(least, heap())
			}
			assert.Less(t, least, before+6<<20, "in the middle of the file")
		}
	}
	assert.Equal(t, orders+1, lines)
	assert.Greater(t, size, 20<<20, "the file must be larger than what it may take")
}

func TestFile_HEADSaysWhatThereIs(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	w.bought(nil)
	address := w.file("orders", nil)
	recorder := httptest.NewRecorder()
	w.server.Config.Handler.ServeHTTP(recorder, httptest.NewRequest(http.MethodHead, strings.TrimPrefix(address, w.server.URL), nil))
	assert.Equal(t, http.StatusOK, recorder.Code)
	assert.Contains(t, recorder.Header().Get("Content-Disposition"), "orders.csv")
	assert.Empty(t, recorder.Body.String())
}

// key makes an API key of the account, and returns its id.
func (w *shop) key() string {
	w.t.Helper()
	key, _, err := w.Tenant.CreateAPIKey(w.t.Context(), w.account, tenant.Granted{}, tenant.NewAPIKey{Name: "test", Lasting: true})
	require.NoError(w.t, err)
	return key.ID
}
