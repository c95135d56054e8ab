package conformance

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/tillwright/tillwright/sdk"
)

// receiver takes deliveries of webhooks, each path for itself.
type receiver struct {
	url    string // at which the server reaches it
	server *http.Server

	mu   sync.Mutex
	came map[string]chan *delivery
}

// delivery is what came.
type delivery struct {
	method string
	header http.Header
	body   []byte
}

// listen opens a receiver. The server reaches it at url, or at the address itself if that is "".
func listen(address, url string) (*receiver, error) {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("listen for webhooks: %w", err)
	}
	if url == "" {
		url = "http://" + listener.Addr().String()
	}
	r := &receiver{url: strings.TrimSuffix(url, "/"), came: map[string]chan *delivery{}}
	r.server = &http.Server{Handler: r, ReadHeaderTimeout: time.Minute}
	go func() { _ = r.server.Serve(listener) }()
	return r, nil
}

// ServeHTTP implements http.Handler.
func (r *receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(io.LimitReader(req.Body, 8<<20))
	r.mu.Lock()
	here := r.came[req.URL.Path[strings.LastIndex(req.URL.Path, "/")+1:]]
	r.mu.Unlock()
	if err != nil || here == nil {
		http.NotFound(w, req)
		return
	}
	select {
	case here <- &delivery{req.Method, req.Header, body}:
	default: // it has been sent so often that nobody reads it any more
	}
}

// at returns an address of its own, and what comes there.
func (r *receiver) at() (url string, came chan *delivery) {
	name, came := Unique(), make(chan *delivery, 16)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.came[name] = came
	return r.url + "/" + name, came
}

// patience is how long a delivery may take: the server does nothing else first.
const patience = 30 * time.Second

// DeliversWebhooks registers an endpoint, asks for a test event, and makes something that it is told of.
func DeliversWebhooks(t T, s *Subject) {
	if s.receiver == nil {
		t.NotChecked("the server reaches no address of this program: pass --listen, and --webhook-url if others reach that by another name")
		return
	}
	url, came := s.receiver.at()
	client := s.Fresh(t)
	made := client.Do(t, http.MethodPost, "/v1/webhook_endpoints", map[string]any{"url": url, "enabled_events": []string{sdk.EventProductCreated}})
	if f, err := ParseFault(made.Body); err == nil && f.Param == "url" { // of a network or a kind that it may refuse
		t.NotChecked("the server takes no webhooks at %s: %s", url, f.Message)
		return
	}
	if made.Status >= 300 {
		t.Fatalf("POST /v1/webhook_endpoints is answered %d: %s", made.Status, made.Body)
	}
	endpoint := made.Object(t)
	secret, _ := endpoint["secret"].(string)
	if !strings.HasPrefix(secret, "whsec_") {
		t.Errorf("the secret of a new endpoint begins with %.6q", secret)
	}
	sent := client.Must(t, http.MethodPost, fmt.Sprintf("/v1/webhook_endpoints/%v/test", endpoint["id"]), map[string]any{"type": sdk.EventProductCreated})
	if sent["delivered"] != true {
		t.Fatalf("the test event was not delivered to %s: %v", url, sent["reason"])
	}
	if event := delivered(t, came, secret); event != nil && event["test"] != true {
		t.Errorf("the test event says test: %v", event["test"])
	}
	product := client.Must(t, http.MethodPost, "/v1/products", map[string]any{"name": s.Mark()})
	event := delivered(t, came, secret)
	if event == nil {
		return
	}
	data, _ := event["data"].(map[string]any)
	if _, isTest := event["test"]; isTest || event["type"] != sdk.EventProductCreated || data["id"] != product["id"] {
		t.Errorf("the event of %v is %.500v", product["id"], event)
	}
	id, _ := event["id"].(string)
	if _, err := time.Parse(time.RFC3339, fmt.Sprint(event["created_at"])); err != nil || !strings.HasPrefix(id, "whev_") || event["api_version"] != "v1" {
		t.Errorf("the event has id %q, created_at %v and api_version %v", id, event["created_at"], event["api_version"])
	}
}

// delivered waits for a delivery, and holds it to its form. It returns the event, nil if none came or it is none, which was said.
func delivered(t T, came chan *delivery, secret string) map[string]any {
	t.Helper()
	var d *delivery
	select {
	case d = <-came:
	case <-time.After(patience):
		t.Errorf("nothing was delivered in %s", patience)
		return nil
	}
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write(d.body)
	want, signed := base64.StdEncoding.EncodeToString(mac.Sum(nil)), false
	for name, values := range d.header {
		if strings.HasPrefix(name, "X-") && strings.HasSuffix(name, "-Hmac-Sha256") && len(values) == 1 && values[0] == want {
			signed = true
		}
	}
	if !signed {
		t.Errorf("no header X-...-Hmac-SHA256 is the signature of the body: %s", d.body)
	}
	event := map[string]any{}
	if err := json.Unmarshal(d.body, &event); err != nil || d.method != http.MethodPost || !strings.HasPrefix(d.header.Get("Content-Type"), "application/json") {
		t.Errorf("delivered was a %s of %s: %.500s", d.method, d.header.Get("Content-Type"), d.body)
		return nil
	}
	return event
}
