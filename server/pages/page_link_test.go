package pages_test

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/invoice"
	"github.com/tillwright/tillwright/store/order"
	"github.com/tillwright/tillwright/tests/harness"
	"github.com/tillwright/tillwright/tests/harness/database"
)

var formAction = regexp.MustCompile(`<form method="post" action="([^"]+)"`)

// renew follows the form of an address that has ended, and has the letter sent.
func (w *shop) renew(address string) string {
	w.t.Helper()
	page := w.asksForNew(address)
	w.pages.Wait()
	require.NoError(w.t, w.mails(mailServer{w}))
	return page
}

// asksForNew follows the form of an address that has ended.
func (w *shop) asksForNew(address string) string {
	w.t.Helper()
	action := formAction.FindStringSubmatch(w.page(address, http.StatusGone))
	require.NotNil(w.t, action)
	base, err := url.Parse(address)
	require.NoError(w.t, err)
	form, err := base.Parse(action[1])
	require.NoError(w.t, err)
	response, err := http.PostForm(form.String(), nil)
	require.NoError(w.t, err)
	return w.read(response, http.StatusOK)
}

func TestEndedLink_HasANewOneSentToTheBuyer(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, address string) {
		w := newShopOn(t, address)
		o := w.bought(nil)
		i, err := w.Invoice.Get(t.Context(), w.account, *o.InvoiceID)
		require.NoError(t, err)
		require.NoError(t, w.mails(mailServer{w}), "the receipt that is sent by itself")
		w.now = w.now.AddDate(0, 8, 0)
		for _, ended := range []string{o.ReceiptURL, i.HostedURL} {
			page := w.page(ended, http.StatusGone)
			assert.Contains(t, page, "Ada &lt;b&gt;&amp; sons&lt;/b&gt;", "whom to ask")
			for _, private := range []string{"grace@example.com", "Handbook", "38.00"} {
				assert.NotContains(t, page, private)
			}
			w.letters = nil
			w.renew(ended)
			require.Len(t, w.letters, 1)
			assert.Equal(t, "grace@example.com", w.letters[0].To)
			links := regexp.MustCompile(`http\S+`).FindAllString(w.letters[0].Text, 2)
			fresh := links[0]
			assert.NotEqual(t, ended, fresh)
			assert.Contains(t, w.page(fresh, http.StatusOK), "Handbook")
			w.renew(ended + "/pdf")
			require.Len(t, w.letters, 2)
			assert.Equal(t, fresh+"/pdf", links[1])
			kind, _ := w.fetch(links[1])
			assert.Equal(t, "application/pdf", kind, "to whoever has the letter")
		}
	})
}

func TestEndedLink_AnswersTheSameWhateverIsSent(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, address string) {
		w := newShopOn(t, address)
		ended := w.revoked().ReceiptURL
		sent := w.renew(ended)
		require.Len(t, w.letters, 1)
		for range 5 {
			assert.Equal(t, sent, w.renew(ended))
		}
		assert.Len(t, w.letters, 3, "no more in a day")

		nobody := w.revoked()
		db := harness.OpenDatabase(t, address)
		db.Must(t, `UPDATE orders SET customer_email = NULL WHERE id = '`+nobody.ID+`'`)
		assert.Equal(t, sent, w.renew(nobody.ReceiptURL), "there is no address")
		assert.Len(t, w.letters, 3)

		another := w.revoked()
		w.mailing = func() error {
			assert.Fail(t, "the page does not wait for the mail server")
			return nil
		}
		assert.Equal(t, sent, w.asksForNew(another.ReceiptURL))
		w.pages.Wait()
	})
}

// revoked is an order as it was before its links were revoked, whose receipt was sent by itself.
func (w *shop) revoked() *order.Order {
	w.t.Helper()
	o, before := w.bought(nil), w.letters
	require.NoError(w.t, w.mails(mailServer{w}))
	w.letters = before
	_, err := w.Order.RevokeLinks(w.t.Context(), w.account, o.ID)
	require.NoError(w.t, err)
	return o
}

func TestEndedLink_PaysNothing(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	i := w.billed()
	fresh, err := w.Invoice.RevokeLinks(t.Context(), w.account, i.ID)
	require.NoError(t, err)
	for _, below := range []string{"/pay", "/authenticate"} {
		response, err := http.PostForm(i.HostedURL+below, url.Values{"card_number": {"4242424242424242"}, "card_expiry": {"1299"}, "card_cvc": {"123"}})
		require.NoError(t, err)
		assert.Contains(t, w.read(response, http.StatusGone), `action="renew"`)
	}
	w.page(i.HostedURL+"/pdf", http.StatusGone)
	unpaid, err := w.Invoice.Get(t.Context(), w.account, i.ID)
	require.NoError(t, err)
	assert.Equal(t, invoice.StatusOpen, unpaid.Status)

	response, err := http.PostForm(fresh.HostedURL+"/renew", nil)
	require.NoError(t, err)
	assert.Contains(t, w.read(response, http.StatusOK), "Work &amp; travel", "one that has not ended leads to its page")
	assert.Empty(t, w.letters)
	response, err = http.PostForm(strings.Replace(fresh.HostedURL, "inv_0", "inv_1", 1)+"/renew", nil)
	require.NoError(t, err)
	w.read(response, http.StatusNotFound)
}

func TestFile_EndsWhenItsLinksAreRevoked(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	o := w.bought(nil)
	receipt, err := w.Order.Receipt(t.Context(), w.account, o.ID)
	require.NoError(t, err)
	invoice, err := w.Invoice.PDF(t.Context(), w.account, *o.InvoiceID)
	require.NoError(t, err)
	_, err = w.Order.RevokeLinks(t.Context(), w.account, o.ID)
	require.NoError(t, err)
	w.page(receipt.URL, http.StatusGone)
	w.fetch(invoice.URL)
	_, err = w.Invoice.RevokeLinks(t.Context(), w.account, *o.InvoiceID)
	require.NoError(t, err)
	w.page(invoice.URL, http.StatusGone)
	again, err := w.Order.Receipt(t.Context(), w.account, o.ID)
	require.NoError(t, err)
	w.fetch(again.URL)
}
