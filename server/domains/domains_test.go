package domains

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/miekg/dns"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/content"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/person"
	"github.com/tillwright/tillwright/store/tenant"
	"github.com/tillwright/tillwright/tests/harness/database"
	_ "github.com/tillwright/tillwright/tests/harness/migrated"
)

// nameServer is a DNS server of this machine, which knows what it is told.
type nameServer struct {
	mu      sync.Mutex
	records map[string][]string // in the form of a zone, by name and type: "_tillwright.a.example. TXT"
	address string
}

func newNameServer(t *testing.T) *nameServer {
	t.Helper()
	n := &nameServer{records: map[string][]string{}}
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	require.NoError(t, err)
	n.address = conn.LocalAddr().String()
	server := &dns.Server{PacketConn: conn, Handler: dns.HandlerFunc(n.answer)}
	go func() { _ = server.ActivateAndServe() }()
	t.Cleanup(func() { _ = server.Shutdown() })
	return n
}

func (n *nameServer) answer(w dns.ResponseWriter, question *dns.Msg) {
	n.mu.Lock()
	defer n.mu.Unlock()
	answer := new(dns.Msg)
	answer.SetReply(question)
	q := question.Question[0]
	for _, text := range n.records[strings.ToLower(q.Name)+" "+dns.TypeToString[q.Qtype]] {
		if record, err := dns.NewRR(q.Name + " 60 IN " + dns.TypeToString[q.Qtype] + " " + text); err == nil {
			answer.Answer = append(answer.Answer, record)
		}
	}
	if len(answer.Answer) == 0 {
		answer.Rcode = dns.RcodeNameError
	}
	_ = w.WriteMsg(answer)
}

// say makes the server know these texts of a name, and nothing else of it.
func (n *nameServer) say(name, kind string, texts ...string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.records[name+". "+kind] = texts
}

// prove makes one of the records that a site asks for: 0 is TXT, 1 CNAME.
func (n *nameServer) prove(a *content.AISite, which int) {
	r := a.DomainRecords[which]
	value := `"` + r.Value + `"`
	if r.Type == "CNAME" {
		value = r.Value + "."
	}
	n.say(r.Name, r.Type, value)
}

// world is an account whose sites have domains.
type world struct {
	*Service
	t       *testing.T
	store   *store.Store
	account string
	dns     *nameServer
	now     time.Time
}

func newWorld(t *testing.T, url, tls string) *world {
	t.Helper()
	w := &world{t: t, dns: newNameServer(t), now: time.Now()}
	sealer, err := core.NewSealer(make([]byte, 32))
	require.NoError(t, err)
	w.store, err = store.Open(t.Context(), store.Options{
		URL: url, Sealer: sealer, Synchronous: "normal", PublicURL: "http://shop.test", SitesHost: "sites.test", CloseTime: time.Minute,
		Now: func() time.Time { return w.now },
	})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, w.store.Close()) })
	require.NoError(t, w.store.Migrate(t.Context()))
	w.account = w.newAccount("ada@example.com")
	w.Service = New(Options{Store: w.store.Content, DNS: w.dns.address, TLS: tls, Log: slog.New(slog.DiscardHandler)})
	return w
}

func (w *world) newAccount(email string) string {
	w.t.Helper()
	a, err := w.store.Tenant.CreateAccount(w.t.Context(), tenant.NewAccount{Name: "Ada", Email: email})
	require.NoError(w.t, err)
	return a.ID
}

func (w *world) site(account, domain string) *content.AISite {
	w.t.Helper()
	a, err := w.store.Content.CreateAISite(w.t.Context(), account, content.AISiteDraft{AISite: &content.AISite{Name: "Ada's", Domain: &domain, IsLive: true}})
	require.NoError(w.t, err)
	return a
}

// later lets time pass, and the worker look at what is due then.
func (w *world) later(d time.Duration, a *content.AISite) *content.AISite {
	w.t.Helper()
	w.now = w.now.Add(d)
	require.NoError(w.t, w.Work(w.t.Context()))
	a, err := w.store.Content.GetAISite(w.t.Context(), a.AccountID, a.ID)
	require.NoError(w.t, err)
	return a
}

// stands checks the state of a domain, and that what is wrong with it says this, nothing for "".
func (w *world) stands(a *content.AISite, status content.AISiteDomainStatus, wrong string) {
	w.t.Helper()
	require.Equal(w.t, status, *a.DomainStatus, core.Deref(a.DomainError))
	if wrong == "" {
		require.Nil(w.t, a.DomainError)
		return
	}
	require.NotNil(w.t, a.DomainError)
	require.Contains(w.t, *a.DomainError, wrong)
}

func (w *world) visited(domain string) bool {
	w.t.Helper()
	known, err := w.store.Content.AsksDomain(w.t.Context(), domain)
	require.NoError(w.t, err)
	return known
}

func TestDomain_IsInUseOnceOneOfItsRecordsIsThere(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		w := newWorld(t, url, TLSNone)
		for i, domain := range []string{"txt.ada.example", "cname.ada.example"} {
			a := w.site(w.account, domain)
			w.stands(w.later(9*time.Second, a), content.AISiteDomainPending, "")
			a = w.later(time.Second, a)
			w.stands(a, content.AISiteDomainPending, "No TXT or CNAME record yet.")
			require.False(t, w.visited(domain))
			w.dns.prove(a, i)
			a = w.later(30*time.Second, a)
			w.stands(a, content.AISiteDomainSSLPending, "")
			require.NotNil(t, a.DomainVerifiedAt)
			require.True(t, w.visited(domain))
			a = w.later(10*time.Second, a)
			w.stands(a, content.AISiteDomainActive, "")
			require.Equal(t, "http://"+domain+"/", a.URL)
		}
	})
}

func TestDomain_OfAnotherAccountDoesNotWaitForAllOfOne(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		w := newWorld(t, url, TLSNone)
		for i := range 3 * looksAtOne {
			w.site(w.account, fmt.Sprintf("n%d.ada.example", i))
		}
		w.now = w.now.Add(time.Second)
		a := w.site(w.newAccount("bob@example.com"), "bob.example")
		require.NotNil(t, w.later(time.Minute, a).DomainCheckedAt, "its turn comes after that of each domain of another account")
	})
}

func TestDomain_SaysWhatIsWrongWithItsRecordsAndRecovers(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		w := newWorld(t, url, TLSNone)
		a := w.site(w.account, "ada.example")
		w.dns.say("_tillwright.ada.example", "TXT", `"tillwright-site=another"`, `"v=spf1 -all"`)
		a = w.later(10*time.Second, a)
		w.stands(a, content.AISiteDomainError, `is "tillwright-site=another", and has to be "`+a.DomainRecords[0].Value+`"`)
		w.dns.say("_tillwright.ada.example", "TXT")
		w.dns.say("ada.example", "CNAME", "old.host.example.")
		a = w.later(time.Hour, a)
		w.stands(a, content.AISiteDomainError, "is a CNAME of old.host.example, and has to be one of "+a.DomainRecords[1].Value)
		require.False(t, w.visited("ada.example"))
		w.dns.prove(a, 1)
		w.stands(w.later(time.Hour, a), content.AISiteDomainSSLPending, "")
		w.stands(w.later(10*time.Second, a), content.AISiteDomainActive, "")
	})
}

func TestDomain_WaitsThreeDaysForARecordAndGoesOnLooking(t *testing.T) {
	t.Parallel()
	w := newWorld(t, database.URL(t, "sqlite"), TLSNone)
	a := w.site(w.account, "ada.example")
	var pauses []time.Duration
	for range 7 {
		before := *a.DomainDueAt
		a = w.later(a.DomainDueAt.Time().Sub(w.now), a)
		pauses = append(pauses, a.DomainDueAt.Time().Sub(before.Time()).Round(time.Second))
	}
	require.Equal(t, []time.Duration{30 * time.Second, time.Minute, 5 * time.Minute, 15 * time.Minute, time.Hour, time.Hour, time.Hour}, pauses)
	w.stands(a, content.AISiteDomainPending, "No TXT or CNAME record yet.")
	a = w.later(72*time.Hour, a)
	w.stands(a, content.AISiteDomainError, "No TXT or CNAME record yet.")
	w.dns.prove(a, 0)
	w.stands(w.later(time.Hour, a), content.AISiteDomainSSLPending, "")
}

func TestDomain_InUseIsLostAfterThreeMisses(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		w := newWorld(t, url, TLSNone)
		a := w.site(w.account, "ada.example")
		w.dns.prove(a, 0)
		w.stands(w.later(10*time.Second, a), content.AISiteDomainSSLPending, "")
		w.stands(w.later(10*time.Second, a), content.AISiteDomainActive, "")
		w.dns.say("_tillwright.ada.example", "TXT")
		for range 2 {
			a = w.later(24*time.Hour, a)
			w.stands(a, content.AISiteDomainActive, "No TXT or CNAME record yet.")
			require.True(t, w.visited("ada.example"))
		}
		a = w.later(24*time.Hour, a)
		w.stands(a, content.AISiteDomainError, "No TXT or CNAME record yet.")
		require.False(t, w.visited("ada.example"))
		require.Nil(t, a.DomainVerifiedAt)
	})
}

// The team is told once of a domain that fails, before it is lost. One look that fails is no reason, nor is a site that is not live.
func TestDomain_ThatFailsIsToldOnce(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		w := newWorld(t, url, TLSNone)
		owner, err := w.store.Person.CreatePerson(t.Context(), person.NewPerson{Email: "ada@example.com"})
		require.NoError(t, err)
		require.NoError(t, w.store.Person.ConfirmEmail(t.Context(), owner.ID))
		require.NoError(t, w.store.Person.AddMember(t.Context(), w.account, owner.ID, person.RoleOwner))
		told := func() int {
			accounts, err := w.store.Content.AccountsToTell(t.Context(), 10)
			require.NoError(t, err)
			for _, account := range accounts {
				_, err := w.store.TellOfDomains(t.Context(), account)
				require.NoError(t, err)
			}
			letters, err := w.store.Person.ListTeamLetters(t.Context(), w.account, 10)
			require.NoError(t, err)
			return len(letters)
		}
		a := w.site(w.account, "ada.example")
		works := func(pause time.Duration) {
			w.dns.prove(a, 0)
			for range 3 {
				a = w.later(pause, a)
			}
			w.stands(a, content.AISiteDomainActive, "")
		}
		works(10 * time.Second)
		w.dns.say("_tillwright.ada.example", "TXT")
		a = w.later(24*time.Hour, a)
		require.Zero(t, told(), "it may be nothing")
		works(24 * time.Hour)
		require.Zero(t, told())
		w.dns.say("_tillwright.ada.example", "TXT")
		for range 5 {
			a = w.later(24*time.Hour, a)
		}
		w.stands(a, content.AISiteDomainError, "No TXT or CNAME record yet.")
		require.Equal(t, 1, told())
		ids, err := w.store.Person.DueLetters(t.Context(), 10)
		require.NoError(t, err)
		l, err := w.store.Person.ClaimLetter(t.Context(), ids[0])
		require.NoError(t, err)
		require.Equal(t, []string{a.ID, "ada.example", a.DomainRecords[0].Value}, []string{l.Detail.V.Site, l.Detail.V.Host, l.Detail.V.Records[0].Value})

		works(24 * time.Hour)
		w.dns.say("_tillwright.ada.example", "TXT")
		for range 2 {
			a = w.later(24*time.Hour, a)
		}
		require.Equal(t, 2, told(), "it worked meanwhile")
	})
}

func TestDomain_ARecordThatSomebodyForgotProvesNothingForOthers(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		w := newWorld(t, url, TLSNone)
		gone := w.site(w.account, "ada.example")
		w.dns.prove(gone, 1)
		w.stands(w.later(10*time.Second, gone), content.AISiteDomainSSLPending, "")
		_, err := w.store.Content.UpdateAISite(t.Context(), w.account, gone.ID, func(d *content.AISiteDraft) { d.Domain = nil })
		require.NoError(t, err)
		require.False(t, w.visited("ada.example"))

		thief := w.newAccount("eve@example.com")
		taken := w.later(10*time.Second, w.site(thief, "ada.example"))
		w.stands(taken, content.AISiteDomainError, "is a CNAME of "+gone.DomainRecords[1].Value)
		other := w.site(w.account, "ada.example")
		w.stands(w.later(10*time.Second, other), content.AISiteDomainError, "has to be one of "+other.DomainRecords[1].Value)
		w.dns.say("_tillwright.www.ada.example", "TXT", `"`+gone.DomainRecords[0].Value+`"`)
		_, err = w.store.Content.UpdateAISite(t.Context(), w.account, gone.ID, func(d *content.AISiteDraft) { d.Domain = new("www.ada.example") })
		require.NoError(t, err)
		w.stands(w.later(10*time.Second, gone), content.AISiteDomainError, "has to be") // a token is for one domain
	})
}

func TestDomain_IsHeldByOneSite(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		w := newWorld(t, url, TLSNone)
		first, second := w.site(w.account, "ada.example"), w.site(w.newAccount("grace@example.com"), "ada.example")
		w.dns.say("_tillwright.ada.example", "TXT", `"`+first.DomainRecords[0].Value+`"`, `"`+second.DomainRecords[0].Value+`"`)
		first, err := w.Verify(t.Context(), first.AccountID, first.ID)
		require.NoError(t, err)
		w.stands(first, content.AISiteDomainSSLPending, "")
		second, err = w.Verify(t.Context(), second.AccountID, second.ID)
		require.NoError(t, err)
		w.stands(second, content.AISiteDomainError, "Another site on this server")
		_, err = w.store.Content.UpdateAISite(t.Context(), first.AccountID, first.ID, func(d *content.AISiteDraft) { d.Domain = nil })
		require.NoError(t, err)
		second, err = w.Verify(t.Context(), second.AccountID, second.ID)
		require.NoError(t, err)
		w.stands(second, content.AISiteDomainSSLPending, "")
	})
}

func TestDomain_IsLookedAtByOneOfManyReplicas(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		w := newWorld(t, url, TLSNone)
		a := w.site(w.account, "ada.example")
		w.now = w.now.Add(time.Minute)
		var group sync.WaitGroup
		for range 4 {
			group.Go(func() { assert.NoError(t, w.Work(context.Background())) })
		}
		group.Wait()
		a, err := w.store.Content.GetAISite(t.Context(), a.AccountID, a.ID)
		require.NoError(t, err)
		require.EqualValues(t, 1, a.DomainTries)
	})
}

func TestDomainBehindAProxy_IsInUseOnceItLeadsHereByHTTPS(t *testing.T) {
	t.Parallel()
	w := newWorld(t, database.URL(t, "sqlite"), TLSProxy)
	answer := func(string) string { return "hello" }
	proxy := httptest.NewTLSServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		_, _ = rw.Write([]byte(answer(strings.TrimPrefix(r.URL.Path, ProbePath))))
	}))
	t.Cleanup(proxy.Close)
	dialled := ""
	client := proxy.Client()
	client.Transport.(*http.Transport).DialContext = func(ctx context.Context, _, address string) (net.Conn, error) {
		dialled = address
		return (&net.Dialer{}).DialContext(ctx, "tcp", proxy.Listener.Addr().String())
	}
	w.Client = client
	a := w.site(w.account, "example.com") // the name in the certificate
	w.dns.prove(a, 0)
	a = w.later(10*time.Second, a)
	w.stands(a, content.AISiteDomainSSLPending, "another server answers")
	require.Equal(t, "example.com:443", dialled)
	answer = func(nonce string) string {
		said, _ := w.AnswerProbe(nonce)
		return said
	}
	a = w.later(time.Hour, a)
	w.stands(a, content.AISiteDomainActive, "")
	answer = func(string) string { return strings.Repeat("a", 10_000) }
	for range 2 {
		a = w.later(24*time.Hour, a)
		w.stands(a, content.AISiteDomainActive, "another server answers")
	}
	a = w.later(24*time.Hour, a)
	w.stands(a, content.AISiteDomainError, "another server answers")
	_, ok := w.AnswerProbe("../../etc/passwd")
	require.False(t, ok)
}
