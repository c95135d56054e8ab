package acme

import (
	"sync"
	"testing"
	"time"

	"github.com/caddyserver/certmagic"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/content"
	"github.com/tillwright/tillwright/tests/harness/database"
)

func TestDomain_IsInUseWithACertificateOfTheAuthority(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		w := newWorld(t, url)
		r := w.replica().serve()
		a := r.site()
		a = r.later(10*time.Second, a)
		stands(t, a, content.AISiteDomainSSLPending, "")
		require.Zero(t, w.orders.Load(), "the domain is the site's only from now on")
		a = r.later(10*time.Second, a)
		stands(t, a, content.AISiteDomainActive, "")
		require.Equal(t, "https://"+w.domain+"/", a.URL)
		cert, err := w.dial(w.domain)
		require.NoError(t, err)
		require.Equal(t, []string{w.domain}, cert.DNSNames)
		stands(t, r.later(24*time.Hour, a), content.AISiteDomainActive, "")
		require.EqualValues(t, 1, w.orders.Load(), "a good one is kept")
	})
}

func TestDomain_TwoReplicasObtainOneCertificate(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		w := newWorld(t, url)
		one, two := w.replica().serve(), w.replica()
		a := one.site()
		one.later(10*time.Second, a)
		w.now = w.now.Add(10 * time.Second)
		var group sync.WaitGroup
		for _, r := range []*replica{one, two} {
			group.Go(func() {
				if err := r.Ensure(t.Context(), w.domain); err != nil {
					t.Error(err)
				}
			})
		}
		group.Wait()
		require.EqualValues(t, 1, w.orders.Load())
		stands(t, two.later(0, a), content.AISiteDomainActive, "")
		require.EqualValues(t, 1, w.orders.Load())
	})
}

func TestDomain_ThatLeadsElsewhereIsAnErrorAfterThreeRefusalsAndComesBack(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		w := newWorld(t, url)
		r := w.replica().serve()
		a := r.site()
		a = r.later(10*time.Second, a)
		w.dns.lead(w.domain, "127.0.0.9") // nobody listens there
		for _, pause := range []time.Duration{10 * time.Second, 30 * time.Second} {
			a = r.later(pause, a)
			stands(t, a, content.AISiteDomainSSLPending, "The certificate authority refused a certificate: ")
		}
		due := *a.DomainDueAt
		_, err := r.Verify(t.Context(), w.account, a.ID)
		require.NoError(t, err)
		a = r.read(a)
		stands(t, a, content.AISiteDomainSSLPending, "The certificate authority refused a certificate: ")
		require.Equal(t, due, *a.DomainDueAt, "whoever is impatient makes nothing sooner or later")
		require.EqualValues(t, 2, w.orders.Load(), "nor orders anything")
		a = r.later(time.Minute, a)
		stands(t, a, content.AISiteDomainError, "127.0.0.9")
		stands(t, r.later(4*time.Minute, a), content.AISiteDomainError, "127.0.0.9")
		require.EqualValues(t, 3, w.orders.Load(), "it waits longer each time")
		w.dns.lead(w.domain, "127.0.0.1")
		stands(t, r.later(time.Minute, a), content.AISiteDomainActive, "")
	})
}

func TestDomain_OfAnAuthorityThatIsDownIsAnErrorAndComesBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t, database.URL(t, "sqlite"))
	r := w.replica().serve()
	a := r.site()
	a = r.later(10*time.Second, a)
	w.down.Store(true)
	for range 3 {
		a = r.later(time.Minute, a)
	}
	stands(t, a, content.AISiteDomainError, "Its certificate could not be obtained.")
	w.down.Store(false)
	stands(t, r.later(5*time.Minute, a), content.AISiteDomainActive, "")
}

func TestDomain_WithAWrongRecordIsAnErrorAndComesBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t, database.URL(t, "sqlite"))
	r := w.replica().serve()
	a := r.site()
	w.dns.prove(a, "tillwright-site=another")
	a = r.later(10*time.Second, a)
	stands(t, a, content.AISiteDomainError, `is "tillwright-site=another", and has to be`)
	_, err := w.dial(w.domain)
	require.Error(t, err)
	require.Zero(t, w.orders.Load())
	w.dns.prove(a, a.DomainRecords[0].Value)
	stands(t, r.later(time.Hour, a), content.AISiteDomainSSLPending, "")
	stands(t, r.later(10*time.Second, a), content.AISiteDomainActive, "")
}

func TestDomain_OfASiteThatIsNotLiveGetsNoCertificate(t *testing.T) {
	t.Parallel()
	w := newWorld(t, database.URL(t, "sqlite"))
	r := w.replica().serve()
	a := r.site()
	live := func(is bool) {
		_, err := r.store.Content.UpdateAISite(t.Context(), w.account, a.ID, func(d *content.AISiteDraft) { d.IsLive = is })
		require.NoError(t, err)
	}
	live(false)
	a = r.later(10*time.Second, a)
	a = r.later(10*time.Second, a)
	stands(t, a, content.AISiteDomainSSLPending, "Its certificate is obtained once the site is live.")
	require.Zero(t, w.orders.Load())
	live(true)
	stands(t, r.later(time.Hour, a), content.AISiteDomainActive, "")
	live(false)
	_, err := w.replica().visited(t.Context(), w.domain)
	require.ErrorContains(t, err, "no domain of a site")
	require.EqualValues(t, 1, w.orders.Load())
}

func TestDomain_IsRenewedBeforeItsCertificateEnds(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		w := newWorld(t, url)
		r := w.replica().serve()
		a := r.site()
		r.later(10*time.Second, a)
		a = r.later(10*time.Second, a)
		stands(t, a, content.AISiteDomainActive, "")
		first, err := r.load(t.Context(), w.domain)
		require.NoError(t, err)

		r.config.RenewalWindowRatio = 1 // so that it is old at once
		w.dns.lead(w.domain, "127.0.0.9")
		a = r.later(24*time.Hour, a)
		stands(t, a, content.AISiteDomainActive, "The certificate authority refused a certificate: ")
		w.dns.lead(w.domain, "127.0.0.1")
		stands(t, r.later(24*time.Hour, a), content.AISiteDomainActive, "")
		second, err := r.load(t.Context(), w.domain)
		require.NoError(t, err)
		require.NotEqual(t, first.Leaf.SerialNumber, second.Leaf.SerialNumber)
		require.NotEqual(t, first.Leaf.PublicKey, second.Leaf.PublicKey)
	})
}

func TestDomain_OfAWorkerThatWasKilledIsTakenOver(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		w := newWorld(t, url)
		killed, r := w.replica(), w.replica().serve()
		a := r.site()
		a = r.later(10*time.Second, a)
		w.now = w.now.Add(10 * time.Second)

		taken, err := killed.store.Content.TakeDomain(t.Context(), a)
		require.NoError(t, err)
		require.True(t, taken)
		killed.storage.lease = 300 * time.Millisecond
		require.NoError(t, killed.storage.Lock(t.Context(), "issue_cert_"+w.domain))
		site := certmagic.StorageKeys.CertsSitePrefix(r.issuer.IssuerKey(), w.domain)
		for _, left := range []string{site + "/" + w.domain + ".key", site + "/" + w.domain + ".crt", site + "/" + w.domain + ".json"} {
			require.NoError(t, killed.storage.Store(t.Context(), left, []byte("half of it")))
		}

		stands(t, r.later(time.Minute, a), content.AISiteDomainSSLPending, "")
		require.Zero(t, w.orders.Load(), "the other one may be at work")
		stands(t, r.later(content.DomainWorkLease, a), content.AISiteDomainActive, "")
		require.EqualValues(t, 1, w.orders.Load())
		require.NoError(t, killed.storage.Unlock(t.Context(), "issue_cert_"+w.domain), "who comes back takes no lock from others")
	})
}
