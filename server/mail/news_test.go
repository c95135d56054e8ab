package mail

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/customer"
	"github.com/tillwright/tillwright/store/tenant"
	"github.com/tillwright/tillwright/tests/harness/database"
)

// newsShop makes an account that has news sent to so many customers.
func newsShop(t *testing.T, s *store.Store, name string, readers int) {
	t.Helper()
	made, err := s.Tenant.CreateAccount(t.Context(), tenant.NewAccount{Name: name, Email: name + "@example.com"})
	require.NoError(t, err)
	guide, err := s.Catalog.CreateProduct(t.Context(), made.ID, catalog.NewProduct{Product: catalog.Product{Name: "Guide", Status: catalog.ProductStatusDraft}})
	require.NoError(t, err)
	for n := range readers {
		_, err := s.Customer.Create(t.Context(), made.ID, customer.Customer{
			Email: new(fmt.Sprintf("%s%d@example.com", name, n)), MarketingConsent: core.JSONOf(&customer.MarketingConsent{Status: customer.Subscribed, At: new(s.Now())}),
		})
		require.NoError(t, err)
	}
	_, err = s.CreateProductNews(t.Context(), made.ID, store.NewProductNews{Product: guide.ID, Subject: "x", Body: "x", Audience: store.NewsAudienceEveryone})
	require.NoError(t, err)
}

// While many accounts have news sent, what somebody waits for has its turn after few letters of news. All news arrives.
func TestPost_SendsALittleNewsInARound(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		s, _ := given(t, url)
		const accounts = newsOfRound/lettersOfAccount + 2
		for n := range accounts {
			newsShop(t, s, fmt.Sprintf("shop%dx", n), lettersOfAccount)
		}
		mailbox := &askingBox{ask: func() error { return nil }}
		post := NewPost(s, mailbox)
		_, err := post.writeLetters(t.Context())
		require.NoError(t, err)
		more, err := post.sendLetters(t.Context(), map[string]time.Time{})
		require.NoError(t, err)
		require.True(t, more)
		require.Len(t, mailbox.to, newsOfRound+1, "and what was given to somebody")
		require.NoError(t, post.SendDue(t.Context()))
		require.Len(t, mailbox.to, accounts*lettersOfAccount+1)
	})
}
