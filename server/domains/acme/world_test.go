package acme

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/letsencrypt/pebble/v2/acme"
	"github.com/letsencrypt/pebble/v2/ca"
	"github.com/letsencrypt/pebble/v2/db"
	"github.com/letsencrypt/pebble/v2/va"
	"github.com/letsencrypt/pebble/v2/wfe"
	"github.com/miekg/dns"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/server/domains"
	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/content"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/tenant"
	_ "github.com/tillwright/tillwright/tests/harness/migrated"
)

func TestMain(m *testing.M) {
	// Pebble waits, refuses nonces and takes old proofs for new ones at random. The last it does always here: see endProofs.
	for name, value := range map[string]string{"PEBBLE_VA_NOSLEEP": "1", "PEBBLE_WFE_NONCEREJECT": "0", "PEBBLE_AUTHZREUSE": "100"} {
		if err := os.Setenv(name, value); err != nil {
			log.Fatal(err)
		}
	}
	os.Exit(m.Run())
}

// world is an account whose sites have domains, in a net with a DNS server and a certificate authority.
type world struct {
	t       *testing.T
	url     string
	domain  string // of this world alone, because certmagic remembers the challenges of all authorities in one place
	account string
	now     time.Time
	dns     *nameServer
	public  net.Listener // where all domains lead
	pebble  *httptest.Server
	orders  atomic.Int64 // that the authority was sent
	down    atomic.Bool  // the authority answers nothing of use
	block   *db.MemoryStore
	proofs  sync.Map // ids of the authorizations that were looked at
	roots   *x509.CertPool
}

func newWorld(t *testing.T, url string) *world {
	t.Helper()
	w := &world{t: t, url: url, now: time.Now(), dns: newNameServer(t), roots: x509.NewCertPool()}
	var err error
	w.public, err = net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = w.public.Close() })
	w.domain = fmt.Sprintf("ada%d.example", w.public.Addr().(*net.TCPAddr).Port)
	w.startPebble()
	return w
}

// nameServer is a DNS server of this machine, by UDP and TCP. All names lead to this machine, but for those that it is told.
type nameServer struct {
	mu      sync.Mutex
	address string
	texts   map[string]string // by name
	leads   map[string]string // by name: an address
}

func newNameServer(t *testing.T) *nameServer {
	t.Helper()
	n := &nameServer{texts: map[string]string{}, leads: map[string]string{}}
	var servers [2]*dns.Server
	for servers[1] == nil {
		udp, err := net.ListenPacket("udp", "127.0.0.1:0")
		require.NoError(t, err)
		n.address = udp.LocalAddr().String()
		if tcp, err := net.Listen("tcp", n.address); err == nil {
			servers = [2]*dns.Server{{PacketConn: udp, Handler: dns.HandlerFunc(n.answer)}, {Listener: tcp, Handler: dns.HandlerFunc(n.answer)}}
		}
	}
	for _, server := range servers {
		go func() { _ = server.ActivateAndServe() }()
		t.Cleanup(func() { _ = server.Shutdown() })
	}
	return n
}

func (n *nameServer) answer(w dns.ResponseWriter, question *dns.Msg) {
	n.mu.Lock()
	defer n.mu.Unlock()
	answer := new(dns.Msg)
	answer.SetReply(question)
	q := question.Question[0]
	header := dns.RR_Header{Name: q.Name, Rrtype: q.Qtype, Class: dns.ClassINET}
	name := strings.TrimSuffix(strings.ToLower(q.Name), ".")
	switch text := n.texts[name]; {
	case q.Qtype == dns.TypeTXT && text != "":
		answer.Answer = []dns.RR{&dns.TXT{Hdr: header, Txt: []string{text}}}
	case q.Qtype == dns.TypeA:
		answer.Answer = []dns.RR{&dns.A{Hdr: header, A: net.ParseIP(cmp.Or(n.leads[name], "127.0.0.1"))}}
	}
	_ = w.WriteMsg(answer)
}

// prove makes the record that proves a domain, with its text or another one.
func (n *nameServer) prove(a *content.AISite, text string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.texts[a.DomainRecords[0].Name] = text
}

// lead makes a domain lead to an address.
func (n *nameServer) lead(domain, address string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.leads[domain] = address
}

// startPebble starts a certificate authority, which believes the DNS server and looks at domains where all of them lead.
func (w *world) startPebble() {
	silent := log.New(io.Discard, "", 0)
	w.block = db.NewMemoryStore()
	authority := ca.New(silent, w.block, "", "ecdsa", 0, 1, map[string]ca.Profile{"default": {Description: "the usual"}})
	port := w.public.Addr().(*net.TCPAddr).Port
	front := wfe.New(silent, w.block, va.New(silent, port, port, false, w.dns.address, w.block), authority, nil, false, false, 1, 1)
	handler := front.Handler()
	w.pebble = httptest.NewTLSServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if w.down.Load() {
			http.Error(rw, "out of order", http.StatusTeapot)
			return
		}
		if id, ok := strings.CutPrefix(r.URL.Path, "/authZ/"); ok {
			w.proofs.Store(id, nil)
		}
		if strings.HasSuffix(r.URL.Path, "/order-plz") {
			w.orders.Add(1)
			w.endProofs()
		}
		handler.ServeHTTP(rw, r)
	}))
	w.t.Cleanup(w.pebble.Close)
	w.roots.AddCert(w.pebble.Certificate())
	w.roots.AddCert(authority.GetRootCert(0).Cert)
}

// endProofs makes the authority prove again what it proved for former orders. (Asked to reuse none, Pebble reuses one in a hundred.)
func (w *world) endProofs() {
	w.proofs.Range(func(id, _ any) bool {
		proof := w.block.GetAuthorizationByID(id.(string))
		proof.Lock()
		defer proof.Unlock()
		if proof.Status == acme.StatusValid {
			proof.Status = acme.StatusDeactivated
		}
		return true
	})
}

// replica is one of the servers on the database.
type replica struct {
	*domains.Service
	*Authority
	w     *world
	store *store.Store
}

// replica starts a server. It has no address of its own: see serve.
func (w *world) replica() *replica {
	w.t.Helper()
	sealer, err := core.NewSealer(make([]byte, 32))
	require.NoError(w.t, err)
	s, err := store.Open(w.t.Context(), store.Options{
		URL: w.url, Sealer: sealer, Synchronous: "normal", PublicURL: "https://shop.test", SitesHost: "sites.test", CloseTime: time.Minute,
		Now: func() time.Time { return w.now },
	})
	require.NoError(w.t, err)
	w.t.Cleanup(func() { assert.NoError(w.t, s.Close()) })
	require.NoError(w.t, s.Migrate(w.t.Context()))
	silent := slog.New(slog.DiscardHandler)
	a, err := New(Options{Store: s.Content, URL: w.pebble.URL + "/dir", Roots: w.roots, Addr: w.public.Addr(), Log: silent})
	require.NoError(w.t, err)
	w.t.Cleanup(a.Close)
	visit := &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: w.roots, MinVersion: tls.VersionTLS12}, DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "tcp", w.public.Addr().String())
		},
	}
	d := domains.New(domains.Options{
		Store: s.Content, DNS: w.dns.address, TLS: domains.TLSACME, Certificates: a, Client: &http.Client{Transport: visit}, Log: silent,
	})
	if w.account == "" {
		made, err := s.Tenant.CreateAccount(w.t.Context(), tenant.NewAccount{Name: "Ada", Email: "ada@example.com"})
		require.NoError(w.t, err)
		w.account = made.ID
	}
	return &replica{d, a, w, s}
}

// serve makes the replica the one to which all domains lead.
func (r *replica) serve() *replica {
	answer := http.HandlerFunc(func(rw http.ResponseWriter, q *http.Request) {
		said, ok := r.AnswerProbe(strings.TrimPrefix(q.URL.Path, domains.ProbePath))
		if !ok {
			said = "hello " + q.Host
		}
		_, _ = io.WriteString(rw, said)
	})
	server := &http.Server{Handler: answer, ReadHeaderTimeout: time.Minute}
	go func() { _ = server.Serve(r.Listen(r.w.public)) }()
	r.w.t.Cleanup(func() { _ = server.Close() })
	return r
}

// site makes a live site with the domain, and the record that proves it.
func (r *replica) site() *content.AISite {
	r.w.t.Helper()
	a, err := r.store.Content.CreateAISite(r.w.t.Context(), r.w.account, content.AISiteDraft{AISite: &content.AISite{Name: "Ada's", Domain: &r.w.domain, IsLive: true}})
	require.NoError(r.w.t, err)
	r.w.dns.prove(a, a.DomainRecords[0].Value)
	return a
}

// later lets time pass, and the worker look at what is due then.
func (r *replica) later(d time.Duration, a *content.AISite) *content.AISite {
	r.w.t.Helper()
	r.w.now = r.w.now.Add(d)
	require.NoError(r.w.t, r.Work(r.w.t.Context()))
	return r.read(a)
}

func (r *replica) read(a *content.AISite) *content.AISite {
	r.w.t.Helper()
	a, err := r.store.Content.GetAISite(r.w.t.Context(), a.AccountID, a.ID)
	require.NoError(r.w.t, err)
	return a
}

// stands checks the state of a domain, and that what is wrong with it says this, nothing for "".
func stands(t *testing.T, a *content.AISite, status content.AISiteDomainStatus, wrong string) {
	t.Helper()
	require.Equal(t, status, *a.DomainStatus, core.Deref(a.DomainError))
	if wrong == "" {
		require.Nil(t, a.DomainError, core.Deref(a.DomainError))
		return
	}
	require.NotNil(t, a.DomainError)
	require.Contains(t, *a.DomainError, wrong)
}

// dial opens a connection as visitors do, or as the authority does with its protocol.
func (w *world) dial(domain string, protocols ...string) (*x509.Certificate, error) {
	config := &tls.Config{ServerName: domain, NextProtos: protocols, MinVersion: tls.VersionTLS12, InsecureSkipVerify: true} //nolint:gosec // what is shown is looked at
	conn, err := tls.Dial("tcp", w.public.Addr().String(), config)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	certs := conn.ConnectionState().PeerCertificates
	if len(certs) == 0 {
		return nil, fmt.Errorf("%s shows no certificate", domain)
	}
	return certs[0], nil
}
