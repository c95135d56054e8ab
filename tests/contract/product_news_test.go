package contract

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/tests/harness"
)

// subscribers makes customers who agreed to news.
func subscribers(t *testing.T, c *sdk.Client, emails ...string) {
	t.Helper()
	for _, email := range emails {
		ok[*sdk.Customer](t)(c.Customers.Create(background, &sdk.CustomerCreate{Email: email, MarketingConsent: &sdk.MarketingConsent{Status: sdk.MarketingConsentStatusSubscribed}}))
	}
}

// readers returns an address that no other test has. A mailbox whose reader has not confirmed it is sent few letters an hour, of all accounts together.
func readers(name string) string { return name + "-" + unique() + "@example.com" }

// newsOf is news for everybody.
func newsOf(product string) *sdk.ProductNewsCreate {
	return &sdk.ProductNewsCreate{Product: product, Subject: "The second edition is here", Body: "It has **three new chapters**.\n\n![a pixel](https://evil.example/p.png)\n", Audience: sdk.ProductNewsAudienceEveryone}
}

// over returns news once it has come to a status.
func over(t *testing.T, c *sdk.Client, id string, status sdk.ProductNewsStatus) (n *sdk.ProductNews) {
	t.Helper()
	if !comes(func() bool {
		n = ok[*sdk.ProductNews](t)(c.ProductNews.Get(background, id))
		return n.Status == status
	}) {
		t.Fatalf("the news is %+v, not %s", n, status)
	}
	return n
}

// Who agreed has the letter in their language, with the seller's text, the product and a way to end the news by one click.
func TestProductNews_IsSentToWhoAgreed(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, s *harness.Server) {
		price := onSale(t, c, 1900)
		link := ok[*sdk.CheckoutLink](t)(c.CheckoutLinks.Create(background, &sdk.CheckoutLinkCreate{PriceVariants: []string{price.ID}}))
		ada, grace := readers("ada"), readers("grace")
		subscribers(t, c, ada, grace)
		ok[*sdk.Customer](t)(c.Customers.Create(background, &sdk.CustomerCreate{Email: "silent@example.com"}))
		german := ok[*sdk.CustomerList](t)(c.Customers.List(background, &sdk.ListCustomersParams{Email: new(grace)})).Data[0]
		ok[*sdk.Customer](t)(c.Customers.Update(background, german.ID, &sdk.CustomerUpdate{PreferredLocale: sdk.Set("de")}))

		made := ok[*sdk.ProductNews](t)(c.ProductNews.Create(background, newsOf(price.Product.ID), sdk.Expand("product")))
		require.Equal(t, sdk.ProductNewsStatusSending, made.Status)
		require.Equal(t, "Guide", made.Product.Object.Name)
		n := over(t, c, made.ID, sdk.ProductNewsStatusSent)
		assert.Equal(t, []int64{2, 2, 0, 0}, []int64{n.Recipients, n.Sent, n.Failed, n.Skipped})
		assert.NotNil(t, n.SentAt)

		letters := settledLetters(t, c, sdk.LetterKindProductNews)
		require.Len(t, letters, 2)
		for _, l := range letters {
			require.Equal(t, sdk.LetterSubject{Object: "product_news", ID: n.ID}, l.About)
			letter := arrived(s, l.ID)
			require.NotNil(t, letter)
			assert.Equal(t, "The second edition is here", letter.Subject)
			assert.Contains(t, letter.Text, "It has **three new chapters**.\n")
			assert.Contains(t, letter.HTML, `dir="auto" style="margin:0 0 24px;"><p>It has <strong>three new chapters</strong>.</p>`)
			assert.NotContains(t, letter.HTML, "<img")
			assert.Contains(t, letter.Text, link.URL)
			assert.Contains(t, letter.Leave, "/unsubscribe/")
			assert.Contains(t, letter.Text, letter.Leave)
			if letter.To == grace {
				assert.Contains(t, letter.Text, "weil Sie Neuigkeiten von Test wollten")
			} else {
				assert.Contains(t, letter.Text, "because you wanted news from Test")
				assert.Contains(t, letter.Text, "Guide: $19.00")
			}
			_, err := c.Letters.Resend(background, l.ID)
			refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "status")
		}

		submitted(t, s.URL+strings.TrimPrefix(arrived(s, letters[0].ID).Leave, "http://shop.test"), http.StatusOK, nil)
		n = over(t, c, ok[*sdk.ProductNews](t)(c.ProductNews.Create(background, newsOf(price.Product.ID))).ID, sdk.ProductNewsStatusSent)
		assert.EqualValues(t, 1, n.Recipients, "who ended the news has none")
	})
}

func TestProductNews_WaitsForItsDayAndCanBeCanceled(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, s *harness.Server) {
		price := onSale(t, c, 1900)
		subscribers(t, c, readers("ada"))
		later := newsOf(price.Product.ID)
		later.SendAt = new(sdk.TimeOf(time.Now().Add(48 * time.Hour)))
		var made []*sdk.ProductNews
		for range 2 {
			n := ok[*sdk.ProductNews](t)(c.ProductNews.Create(background, later))
			require.Equal(t, sdk.ProductNewsStatusScheduled, n.Status)
			require.True(t, n.SendAt.Time().Equal(later.SendAt.Time().Truncate(time.Millisecond)))
			made = append(made, n)
		}
		for range 2 {
			n := ok[*sdk.ProductNews](t)(c.ProductNews.Cancel(background, made[0].ID))
			require.Equal(t, sdk.ProductNewsStatusCanceled, n.Status)
		}
		advance(t, c, 49*time.Hour)
		n := over(t, c, made[1].ID, sdk.ProductNewsStatusSent)
		require.EqualValues(t, 1, n.Sent)
		require.Len(t, settledLetters(t, c, sdk.LetterKindProductNews), 1)
		_, err := c.ProductNews.Cancel(background, made[1].ID)
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "status")

		list := func(in sdk.ListProductNewsParams) (ids []string) {
			for _, n := range ok[*sdk.ProductNewsList](t)(c.ProductNews.List(background, &in)).Data {
				ids = append(ids, n.ID)
			}
			return ids
		}
		assert.Equal(t, []string{made[1].ID, made[0].ID}, list(sdk.ListProductNewsParams{}))
		assert.Equal(t, []string{made[0].ID}, list(sdk.ListProductNewsParams{Status: new(sdk.ProductNewsStatusCanceled)}))
		assert.Equal(t, []string{made[1].ID, made[0].ID}, list(sdk.ListProductNewsParams{Product: &price.Product.ID}))
		assert.Empty(t, list(sdk.ListProductNewsParams{Product: &onSale(t, c, 900).Product.ID}))
		_, err = c.ProductNews.List(background, &sdk.ListProductNewsParams{Product: new("prod_" + strings.Repeat("0", 26))})
		refused(t, err, http.StatusNotFound, sdk.CodeResourceMissing, "product")
	})
}

// A preview says to how many news would go, and shows the letter. Whoever sends too many is told when to go on.
func TestProductNews_IsPreviewedAndBounded(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, s *harness.Server) {
		price := onSale(t, c, 1900)
		name := unique()
		for i := range 3 {
			subscribers(t, c, fmt.Sprintf("%s%d@example.com", name, i))
		}
		subscribers(t, c, name+"0+books@example.com")
		preview := ok[*sdk.ProductNewsPreview](t)(c.ProductNews.Preview(background, newsOf(price.Product.ID)))
		assert.EqualValues(t, 3, preview.Recipients, "mailboxes")
		assert.False(t, preview.HasMore)
		assert.Contains(t, preview.Text, "Guide: $19.00")
		assert.Contains(t, preview.HTML, "<strong>three new chapters</strong>")
		assert.NotContains(t, preview.HTML, "<img")
		assert.Equal(t, "The second edition is here", preview.Subject)
		blind := ok[*sdk.APIKey](t)(c.APIKeys.Create(background, &sdk.APIKeyCreate{Scopes: []sdk.APIKeyScope{sdk.APIKeyScopeCustomersRead}}))
		_, err := sdk.New(*blind.Token, sdk.WithBaseURL(s.URL+"/v1")).ProductNews.Preview(background, newsOf(price.Product.ID))
		refused(t, err, http.StatusForbidden, sdk.CodeForbidden, "products:read")
		buyers := newsOf(price.Product.ID)
		buyers.Audience = sdk.ProductNewsAudienceBuyers
		assert.Zero(t, ok[*sdk.ProductNewsPreview](t)(c.ProductNews.Preview(background, buyers)).Recipients)

		past := newsOf(price.Product.ID)
		past.SendAt = new(sdk.TimeOf(time.Now().Add(-time.Hour)))
		_, err = c.ProductNews.Create(background, past)
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "send_at")
		_, err = c.ProductNews.Preview(background, past)
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "send_at")
		_, err = c.ProductNews.Create(background, newsOf("prod_"+strings.Repeat("0", 26)))
		refused(t, err, http.StatusNotFound, sdk.CodeResourceMissing, "product")
		for range 4 {
			ok[*sdk.ProductNews](t)(c.ProductNews.Create(background, buyers))
		}
		_, err = c.ProductNews.Create(background, buyers)
		e := refused(t, err, http.StatusTooManyRequests, sdk.CodeRateLimitExceeded, "product")
		assert.Greater(t, e.RetryAfter, 23*time.Hour)
	})
}
