package store

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/store/checkout"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/customer"
	"github.com/tillwright/tillwright/store/internal/dbtest"
	"github.com/tillwright/tillwright/store/offer"
	"github.com/tillwright/tillwright/store/outbox"
	"github.com/tillwright/tillwright/store/tenant"
	"github.com/tillwright/tillwright/tests/harness/database"
)

// accepts reports whether each of several replicas lets a token in, asked alone and in a crowd.
func requireAccepted(t *testing.T, want bool, token string, replicas ...*Store) {
	t.Helper()
	for _, replica := range replicas {
		_, ok, err := replica.Tenant.Authenticate(t.Context(), tenant.HashToken(token), "192.0.2.7")
		require.NoError(t, err)
		require.Equal(t, want, ok)
	}
}

func TestDisableAccount_RefusesKeysAtOnce(t *testing.T) {
	database.Each(t, func(t *testing.T, url string) {
		s := newShop(t, url)
		replicas := []*Store{s.Store}
		if s.db.Engine == core.PostgreSQL {
			replicas = append(replicas, openStore(t, url))
		}
		other, err := s.Tenant.CreateAccount(t.Context(), tenant.NewAccount{Name: "Other", Email: "other@example.com"})
		require.NoError(t, err)
		_, bystander, err := s.Tenant.CreateAPIKey(t.Context(), other.ID, tenant.Granted{}, tenant.NewAPIKey{})
		require.NoError(t, err)
		maker, before := s.newKey(t, nil)
		requireAccepted(t, true, before, replicas...)

		a, changed, err := s.Tenant.DisableAccount(t.Context(), s.account)
		require.NoError(t, err)
		require.True(t, changed)
		require.NotNil(t, a.DisabledAt)
		_, changed, err = s.Tenant.DisableAccount(t.Context(), s.account)
		require.NoError(t, err)
		require.False(t, changed)
		_, during := s.newKey(t, nil)
		_, byKey, err := s.Tenant.CreateAPIKey(t.Context(), s.account, tenant.Granted{KeyID: &maker.ID}, tenant.NewAPIKey{}) // its request was under way
		require.NoError(t, err)
		for _, token := range []string{before, during, byKey} {
			requireAccepted(t, false, token, replicas...)
		}
		requireAccepted(t, true, bystander, replicas...)
		_, err = s.Tenant.UpdateAPIKey(t.Context(), s.account, tenant.Granted{}, maker.ID, func(k *tenant.APIKey) { k.Name = "Renamed" })
		require.NoError(t, err)
		requireAccepted(t, false, before, replicas...)
		broken, err := s.Audit.Check(t.Context(), aDay)
		require.NoError(t, err)
		require.Empty(t, broken)

		_, changed, err = s.Tenant.EnableAccount(t.Context(), s.account)
		require.NoError(t, err)
		require.True(t, changed)
		_, changed, err = s.Tenant.EnableAccount(t.Context(), s.account)
		require.NoError(t, err)
		require.False(t, changed)
		for _, token := range []string{before, during, byKey} {
			requireAccepted(t, true, token, replicas...)
		}
		broken, err = s.Audit.Check(t.Context(), aDay)
		require.NoError(t, err)
		require.Empty(t, broken)
		_, _, err = s.Tenant.DisableAccount(t.Context(), "acct_nobody")
		dbtest.RequireCode(t, err, core.CodeMissing)
	})
}

// In a crowd PostgreSQL is asked once for many.
func TestDisableAccount_RefusesKeysInACrowd(t *testing.T) {
	database.Each(t, func(t *testing.T, url string) {
		s := newShop(t, url)
		_, token := s.newKey(t, nil)
		_, _, err := s.Tenant.DisableAccount(t.Context(), s.account)
		require.NoError(t, err)
		ended := make(chan bool)
		for range 40 {
			go func() {
				_, ok, err := s.Tenant.Authenticate(t.Context(), tenant.HashToken(token), "192.0.2.7")
				ended <- ok || err != nil
			}()
		}
		for range 40 {
			require.False(t, <-ended)
		}
	})
}

// Whoever makes a key or an endpoint while the account is being switched gets what is refused, whichever was first.
func TestDisableAccount_RefusesWhatIsMadeMeanwhile(t *testing.T) {
	eachSender(t, func(t *testing.T, o *sender) {
		const makers = 6
		made, endpoints := make(chan string, makers), make(chan error, makers)
		begin := make(chan struct{})
		for range makers {
			go func() {
				<-begin
				_, token, err := o.Tenant.CreateAPIKey(t.Context(), o.account, tenant.Granted{}, tenant.NewAPIKey{})
				if err != nil {
					token = err.Error()
				}
				made <- token
				_, err = o.Outbox.CreateWebhookEndpoint(t.Context(), o.account, outbox.WebhookEndpoint{URL: "https://example.com/hook"})
				endpoints <- err
			}()
		}
		close(begin)
		_, _, err := o.Tenant.DisableAccount(t.Context(), o.account)
		require.NoError(t, err)
		var tokens []string
		for range makers {
			token := <-made
			requireAccepted(t, false, token, o.Store)
			tokens = append(tokens, token)
			require.NoError(t, <-endpoints)
		}
		o.emit("order.paid", "order_1", 1)
		waiting, err := o.Outbox.PendingEndpoints(t.Context(), "", 10)
		require.NoError(t, err)
		require.Empty(t, waiting)
		_, _, err = o.Tenant.EnableAccount(t.Context(), o.account)
		require.NoError(t, err)
		for _, token := range tokens {
			requireAccepted(t, true, token, o.Store)
		}
		waiting, err = o.Outbox.PendingEndpoints(t.Context(), "", 10)
		require.NoError(t, err)
		require.Len(t, waiting, makers)
	})
}

func TestDisableAccount_LetsDeliveriesRest(t *testing.T) {
	eachSender(t, func(t *testing.T, o *sender) {
		e := o.endpoint()
		o.emit("order.paid", "order_1", 1)
		_, _, err := o.Tenant.DisableAccount(t.Context(), o.account)
		require.NoError(t, err)
		late := o.endpoint()
		o.emit("order.paid", "order_2", 1)
		waiting, err := o.Outbox.PendingEndpoints(t.Context(), "", 10)
		require.NoError(t, err)
		require.Empty(t, waiting)
		require.Empty(t, o.claim(e, 5))
		require.Empty(t, o.claim(late, 5))
		for _, state := range o.deliveries() {
			require.Equal(t, outbox.DeliveryPending, state)
		}

		_, _, err = o.Tenant.EnableAccount(t.Context(), o.account)
		require.NoError(t, err)
		waiting, err = o.Outbox.PendingEndpoints(t.Context(), "", 10)
		require.NoError(t, err)
		require.Len(t, waiting, 2)
		require.Len(t, o.claim(e, 5), 2)
		require.Len(t, o.claim(late, 5), 1)
	})
}

func TestDisableAccount_HidesWhatBuyersOpen(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		p, err := s.Catalog.CreateProduct(t.Context(), s.account, catalog.NewProduct{
			Product: catalog.Product{Name: "Guide", Status: catalog.ProductStatusActive}, PriceVariants: []catalog.PriceVariant{fixedPrice(1900)},
		})
		require.NoError(t, err)
		c, err := s.Checkout.Create(t.Context(), s.account, checkout.Draft{
			Checkout: &checkout.Checkout{}, Lines: []offer.NewLine{{PriceVariant: p.PriceVariantIDs.V[0], Quantity: 1}},
		})
		require.NoError(t, err)
		link, err := s.Checkout.CreateLink(t.Context(), s.account, checkout.Link{PriceVariantIDs: core.JSONOf(p.PriceVariantIDs.V), Active: true})
		require.NoError(t, err)
		customer, err := s.Customer.Create(t.Context(), s.account, customer.Customer{Email: new("grace@example.com")})
		require.NoError(t, err)
		session, err := s.Portal.CreateSession(t.Context(), s.account, customer.ID, nil)
		require.NoError(t, err)
		open := map[string]func() error{
			"checkout": func() error { _, _, err := s.Checkout.OfSecret(t.Context(), c.ClientSecret); return err },
			"link":     func() error { _, err := s.Checkout.FollowLink(t.Context(), link.ID, checkout.FollowLink{}); return err },
			"portal":   func() error { _, _, err := s.Portal.Open(t.Context(), session.Token); return err },
		}
		for name, open := range open {
			require.NoError(t, open(), name)
		}
		_, _, err = s.Tenant.DisableAccount(t.Context(), s.account)
		require.NoError(t, err)
		for _, open := range open {
			dbtest.RequireCode(t, open(), core.CodeMissing)
		}
		_, _, err = s.Tenant.EnableAccount(t.Context(), s.account)
		require.NoError(t, err)
		for name, open := range open {
			require.NoError(t, open(), name)
		}
	})
}
