package store

import (
	"context"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/store/checkout"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/grant"
	"github.com/tillwright/tillwright/store/invoice"
	"github.com/tillwright/tillwright/store/outbox"
	"github.com/tillwright/tillwright/store/seal"
	"github.com/tillwright/tillwright/store/tenant"
	"github.com/tillwright/tillwright/tests/harness/database"
)

// keysOf returns a sealer with keys of 32 equal bytes.
func keysOf(t *testing.T, keys ...byte) *core.Sealer {
	t.Helper()
	var all [][]byte
	for _, b := range keys {
		key := make([]byte, 32)
		for i := range key {
			key[i] = b
		}
		all = append(all, key)
	}
	sealer, err := core.NewSealer(all...)
	require.NoError(t, err)
	return sealer
}

// own is a start of a server with secret keys.
func (s *shop) own(t *testing.T, keys ...byte) error {
	t.Helper()
	s.db.Options.Sealer = keysOf(t, keys...)
	_, err := s.Seal.OwnKeys(t.Context())
	return err
}

// adopt is `tillwright secret adopt` with the keys of the last start.
func (s *shop) adopt(t *testing.T, lost bool) (adopted bool) {
	t.Helper()
	adopted, err := s.Seal.AdoptKey(t.Context(), lost)
	require.NoError(t, err)
	return adopted
}

// closed is what doctor finds.
func (s *shop) closed(t *testing.T) []core.Violation {
	t.Helper()
	var found []core.Violation
	require.NoError(t, s.Seal.Check(t.Context(), func(_ string, broken []core.Violation) { found = append(found, broken...) }))
	return found
}

func refusesKey(t *testing.T, err error) {
	t.Helper()
	var refused *core.SecretKeyError
	require.ErrorAs(t, err, &refused)
	require.ErrorContains(t, err, "TILLWRIGHT_SECRET_KEY")
}

func TestOwnSecretKeys_ADatabaseHasItsKey(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		require.NoError(t, s.own(t, 1))
		require.NoError(t, s.own(t, 1), "and again")
		refusesKey(t, s.own(t, 2))
		refusesKey(t, s.own(t, 2, 3))
		require.NoError(t, s.own(t, 1))

		require.NoError(t, s.own(t, 1, 2), "the new one behind the old one")
		require.NoError(t, s.own(t, 2, 1), "and then before it")
		refusesKey(t, s.own(t, 1))
		require.NoError(t, s.own(t, 1, 2), "a server that has both, in the other order")
		require.NoError(t, s.own(t, 2, 1))
		require.NoError(t, s.own(t, 2))
	})
}

func TestOwnSecretKeys_SaysWhenOthersDoNotStartAgain(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		for _, start := range []struct {
			keys []byte
			want seal.KeyChange
		}{{[]byte{1}, seal.KeyKept}, {[]byte{1, 2}, seal.KeyKept}, {[]byte{2, 1}, seal.KeyMoved}, {[]byte{2, 1}, seal.KeyKept}, {[]byte{2}, seal.KeyKept}} {
			s.db.Options.Sealer = keysOf(t, start.keys...)
			change, err := s.Seal.OwnKeys(t.Context())
			require.NoError(t, err)
			require.Equal(t, start.want, change, "%v", start.keys)
		}
	})
}

// Who alone serves an embedded database needs nobody's leave to come with another key, as long as nothing is sealed.
func TestOwnSecretKeys_AMistakeThatSealedNothingIsCorrected(t *testing.T) {
	t.Parallel()
	s := newShop(t, database.URL(t, core.SQLite))
	s.db.Options.Exclusive = true
	require.NoError(t, s.own(t, 1))
	s.db.Options.Sealer = keysOf(t, 2)
	change, err := s.Seal.OwnKeys(t.Context())
	require.NoError(t, err)
	require.Equal(t, seal.KeyReplaced, change)

	s.checkout(t, s.onSale(t, fixedPrice(1000)))
	refusesKey(t, s.own(t, 1))
	require.NoError(t, s.own(t, 2), "who was refused has changed nothing")
}

// What a key has signed is in no table: what it was signed for is.
func TestOwnSecretKeys_AKeyWhoseAddressesWereGivenOutIsNotReplacedUnasked(t *testing.T) {
	t.Parallel()
	for given, give := range map[string]func(t *testing.T, s *shop){
		"the address of an invoice": func(t *testing.T, s *shop) {
			draft, err := s.Invoice.Create(t.Context(), s.account, invoice.Draft{
				Invoice: &invoice.Invoice{CollectionMethod: invoice.CollectionMethodChargeAutomatically}, Customer: s.customer(t, "grace@example.com", nil).ID,
				Lines: []invoice.NewLine{{Description: ref("Advice"), UnitAmount: ref(int64(700)), Quantity: 1}},
			})
			require.NoError(t, err)
			invoice, err := s.FinalizeInvoice(t.Context(), s.account, draft.ID)
			require.NoError(t, err)
			require.NotEmpty(t, invoice.HostedURL)
		},
		"an answer that is kept": func(t *testing.T, s *shop) {
			_, _, err := s.db.Request(t.Context(), &core.Key{Account: s.account, Key: "k"}, func(ctx context.Context) (*core.Answer, error) {
				return &core.Answer{Status: 201, Body: []byte("made")}, nil
			})
			require.NoError(t, err)
		},
	} {
		t.Run(given, func(t *testing.T) {
			t.Parallel()
			s := newShop(t, database.URL(t, core.SQLite))
			s.db.Options.Exclusive = true
			require.NoError(t, s.own(t, 1))
			give(t, s)
			err := s.own(t, 2)
			refusesKey(t, err)
			require.ErrorContains(t, err, "tillwright secret adopt")
			require.NoError(t, s.own(t, 1), "who was refused has changed nothing")

			refusesKey(t, s.own(t, 2))
			require.True(t, s.adopt(t, false), "nothing is sealed")
			require.NoError(t, s.own(t, 2))
		})
	}
}

func TestAdoptSecretKey_ChangesNothingWithoutLeaveThatStaysClosed(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		require.NoError(t, s.own(t, 1))
		refusesKey(t, s.own(t, 2))
		require.True(t, s.adopt(t, false), "nothing is sealed")
		require.NoError(t, s.own(t, 2))
		refusesKey(t, s.own(t, 1))

		s.db.Options.Sealer = keysOf(t, 2)
		s.checkout(t, s.onSale(t, fixedPrice(1000)))
		refusesKey(t, s.own(t, 3))
		require.False(t, s.adopt(t, false))
		require.NoError(t, s.own(t, 2), "who was refused has changed nothing")

		refusesKey(t, s.own(t, 3))
		require.True(t, s.adopt(t, true))
		require.NoError(t, s.own(t, 3))
		refusesKey(t, s.own(t, 2))
	})
}

// A database from before there were canaries is adopted, too.
func TestAdoptSecretKey_OfAnOlderDatabase(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		s.checkout(t, s.onSale(t, fixedPrice(1000)))
		refusesKey(t, s.own(t, 2))
		require.False(t, s.adopt(t, false))
		require.True(t, s.adopt(t, true))
		require.NoError(t, s.own(t, 2))
	})
}

// A licence key that is revoked can be granted again, so its text is not given up without leave, although doctor does not name it.
func TestAdoptSecretKey_KeepsARevokedLicence(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		require.NoError(t, s.own(t, 1))
		k, err := s.Grant.CreateLicenseKey(t.Context(), s.account, grant.LicenseKey{ProductID: s.onSale(t, fixedPrice(1000)).ProductID})
		require.NoError(t, err)
		_, err = s.Grant.RevokeLicenseKey(t.Context(), s.account, k.ID)
		require.NoError(t, err)
		refusesKey(t, s.own(t, 2))
		require.False(t, s.adopt(t, false))
		require.True(t, s.adopt(t, true))
		require.Empty(t, s.closed(t))
	})
}

// What somebody has to enter again is found, and once it was the database is as it was before the key was lost.
func TestAdoptSecretKey_DoctorSaysWhatIsToBeEnteredAgain(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		ctx := t.Context()
		require.NoError(t, s.own(t, 1))
		e, err := s.Outbox.CreateWebhookEndpoint(ctx, s.account, outbox.WebhookEndpoint{URL: "https://example.com/", EnabledEvents: core.JSON[[]string]{V: []string{outbox.EventAll}}})
		require.NoError(t, err)
		enterStripe := func() error {
			_, err := s.Tenant.UpdateAccount(ctx, s.account, func(a *tenant.AccountChange) {
				a.StripeKey, a.StripeWebhookSecret, a.StripePublishableKey = ref("sk_test_1"), ref("whsec_1"), ref("pk_test_1")
			})
			return err
		}
		require.NoError(t, enterStripe())
		channel, err := s.Advert.ConnectSocialAccount(ctx, s.account, advert.NewSocialAccount{Platform: advert.PlatformTikTok, Driver: "sandbox", SocialAccess: advert.SocialAccess{Token: "secret-token"}})
		require.NoError(t, err)
		_, err = s.Advert.ActivateSocialAccount(ctx, s.account, channel.ID)
		require.NoError(t, err)
		bought := s.checkout(t, s.onSale(t, fixedPrice(1000)))
		licence, revoked, signer := s.licences(t)
		require.Empty(t, s.closed(t))

		refusesKey(t, s.own(t, 2))
		require.True(t, s.adopt(t, true))
		var ids []string
		for _, v := range s.closed(t) {
			ids = append(ids, v.Object)
		}
		require.ElementsMatch(t, []string{e.ID, s.account, s.account, channel.ID, licence, signer}, ids)
		closed, err := s.Seal.CountClosed(ctx)
		require.NoError(t, err)
		require.Equal(t, len(ids)-1, closed, "all but the licence key")
		for _, id := range []string{licence, revoked} {
			k, err := s.Grant.GetLicenseKey(ctx, s.account, id)
			require.NoError(t, err, "what cannot be read is there all the same")
			require.Nil(t, k.Key)
		}

		_, err = s.Outbox.RotateWebhookSecret(ctx, s.account, e.ID, outbox.DefaultSecretOverlap)
		require.NoError(t, err)
		require.NoError(t, enterStripe())
		_, err = s.Advert.DeactivateSocialAccount(ctx, s.account, channel.ID)
		require.NoError(t, err)
		_, err = s.Grant.RotateLicenseKey(ctx, s.account, licence, true)
		require.NoError(t, err)
		_, err = s.Grant.CreateLicenseSigningKey(ctx, s.account)
		require.NoError(t, err)
		require.Empty(t, s.closed(t))
		e, err = s.Outbox.GetWebhookEndpoint(ctx, s.account, e.ID)
		require.NoError(t, err)
		secret, previous, err := s.Outbox.OpenWebhookSecrets(e)
		require.NoError(t, err, "nothing waits for the secret before")
		require.NotEmpty(t, secret)
		require.Empty(t, previous)
		secrets, err := s.Tenant.GetStripeSecrets(ctx, s.account)
		require.NoError(t, err)
		require.Equal(t, tenant.StripeSecrets{SecretKey: "sk_test_1", WebhookSecret: "whsec_1"}, secrets)

		s.bringsTheirSecret(t, bought)
	})
}

// licences makes a licence key of a product, another one that is revoked, and what signs licences.
func (s *shop) licences(t *testing.T) (granted, revoked, signer string) {
	t.Helper()
	product := s.onSale(t, fixedPrice(1000)).ProductID
	var ids [2]string
	for i := range ids {
		k, err := s.Grant.CreateLicenseKey(t.Context(), s.account, grant.LicenseKey{ProductID: product})
		require.NoError(t, err)
		ids[i] = k.ID
	}
	_, err := s.Grant.RevokeLicenseKey(t.Context(), s.account, ids[1])
	require.NoError(t, err)
	k, err := s.Grant.CreateLicenseSigningKey(t.Context(), s.account)
	require.NoError(t, err)
	return ids[0], ids[1], k.ID
}

// bringsTheirSecret holds that a checkout is shown without its secret until its buyer comes, who can go on.
func (s *shop) bringsTheirSecret(t *testing.T, bought *checkout.Checkout) {
	t.Helper()
	shown, err := s.Checkout.Get(t.Context(), s.account, bought.ID)
	require.NoError(t, err)
	require.Empty(t, shown.ClientSecret+shown.URL)
	list, _, err := s.Checkout.List(t.Context(), s.account, checkout.List{Page: core.Page{Limit: 10}})
	require.NoError(t, err)
	require.Len(t, list, 1)
	_, id, err := s.Checkout.OfSecret(t.Context(), bought.ClientSecret)
	require.NoError(t, err)
	shown, err = s.Checkout.Get(t.Context(), s.account, id)
	require.NoError(t, err)
	require.Equal(t, bought.ClientSecret, shown.ClientSecret)
	require.Equal(t, bought.URL, shown.URL)
}

func TestOwnSecretKeys_OfSeveralAtOnceOneChooses(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		first := newShop(t, url)
		var all sync.WaitGroup
		errs := make([]error, 8)
		for i := range errs {
			s := &shop{Store: openStore(t, url)}
			all.Go(func() { errs[i] = s.own(t, byte(i%2)) })
		}
		all.Wait()
		chosen := byte(0)
		if first.own(t, 0) != nil {
			chosen = 1
		}
		for i, err := range errs {
			if byte(i%2) == chosen {
				require.NoError(t, err)
			} else {
				refusesKey(t, err)
			}
		}
	})
}

// A database that was served before there were canaries tells its key by what is sealed in it.
func TestOwnSecretKeys_AnOlderDatabaseHasItsKeyToo(t *testing.T) {
	eachSender(t, func(t *testing.T, o *sender) {
		o.db.Options.Sealer = keysOf(t, 1)
		o.endpoint(outbox.EventOrderCreated)
		s := o.shop
		refusesKey(t, s.own(t, 2))
		require.NoError(t, s.own(t, 1), "who was refused has changed nothing")
	})
}
