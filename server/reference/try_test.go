package reference

import (
	"io"
	"net/http"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/tillwright/tillwright/tests/harness/browser"
)

// asked keeps the requests that came to the API.
type asked struct {
	mu   sync.Mutex
	seen []string
	last http.Header
}

func (a *asked) serve(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.seen, a.last = append(a.seen, r.Method+" "+r.URL.RequestURI()+" "+string(body)), r.Header
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusTeapot)
	_, _ = w.Write([]byte(`{"name": "<img src=x onerror=alert(1)>"}`))
}

// requests returns what came, and the headers of the last request.
func (a *asked) requests() ([]string, http.Header) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return append([]string{}, a.seen...), a.last
}

// opens shows the form of an operation.
func opens(window *browser.Page, address, id string) {
	window.Go(address)
	window.Wait("document.readyState === 'complete' && document.querySelector('#" + id + " .try') && !document.querySelector('#" + id + " .try').hidden")
	window.Value("document.querySelector('#" + id + " .try').open = true")
}

func TestTryIt_SendsAReadAtOnceAndAsksBeforeAWrite(t *testing.T) {
	t.Parallel()
	api := &asked{}
	at := serve(t, whole(t), map[string]http.HandlerFunc{"/v1/*": api.serve})
	window := browser.Open(t, nil)
	opens(window, at+"/docs/products", "getProduct")
	window.Fill("#getProduct-token", "sk_test_secret")
	window.Fill("#getProduct [data-id=id]", "a/b")
	window.Click("#getProduct .try button")
	window.Wait("document.querySelector('#getProduct .got').textContent.includes('onerror')")
	seen, header := api.requests()
	assert.Equal(t, []string{"GET /v1/products/a%2Fb "}, seen)
	assert.Equal(t, "Bearer sk_test_secret", header.Get("Authorization"))
	assert.Contains(t, window.Value("document.querySelector('#getProduct .status').textContent"), "418")
	assert.Empty(t, window.Value("document.querySelector('.got img')"), "an answer is text")

	window.Value("document.querySelector('#createProduct .try').open = true")
	assert.Equal(t, "sk_test_secret", window.Value("document.querySelector('#createProduct-token').value"), "it is typed once")
	window.Click("#createProduct .try button")
	window.Wait("document.querySelector('.sure').open")
	assert.Equal(t, "POST /v1/products", window.Value("document.querySelector('.sure .what').textContent"))
	window.Click(".sure button[value='']")
	window.Wait("!document.querySelector('.sure').open")
	window.Click("#createProduct .try button")
	window.Wait("document.querySelector('.sure').open")
	window.Click(".sure button[value=send]")
	window.Wait("document.querySelector('#createProduct .got').textContent !== ''")
	seen, header = api.requests()
	if assert.Len(t, seen, 2, "the first time it was not sent") {
		assert.Contains(t, seen[1], `POST /v1/products {`)
		assert.Contains(t, seen[1], `"name": "The Go Handbook"`)
	}
	assert.Len(t, header.Get("Idempotency-Key"), 32)
	assert.Equal(t, "application/json", header.Get("Content-Type"))
	assert.Equal(t, "0 0 ", window.Value("localStorage.length + ' ' + sessionStorage.length + ' ' + document.cookie"), "nothing keeps the key")
	assert.NotContains(t, window.Value("location.href"), "sk_test")
	assert.Empty(t, window.Refused())
}

func TestTryIt_AsksAlwaysInProduction(t *testing.T) {
	t.Parallel()
	api := &asked{}
	at := serve(t, newReference(t, Options{}), map[string]http.HandlerFunc{"/v1/*": api.serve})
	window := browser.Open(t, nil)
	opens(window, at+"/docs/account", "getAccount")
	window.Click("#getAccount .try button")
	window.Wait("document.querySelector('.sure').open")
	seen, _ := api.requests()
	assert.Empty(t, seen)
	window.Click(".sure button[value=send]")
	window.Wait("document.querySelector('#getAccount .got').textContent !== ''")
	seen, _ = api.requests()
	assert.Len(t, seen, 1)
}

func TestSearch_FindsOperationsByTheirName(t *testing.T) {
	t.Parallel()
	at := serve(t, whole(t), nil)
	window := browser.Open(t, nil)
	window.Width(1440)
	window.Go(at + "/docs")
	window.Wait("document.querySelector('.find') && !document.querySelector('.find').hidden")
	window.Fill("#find", "refund create")
	window.Wait("document.querySelector('.found a')")
	assert.Equal(t, "/docs/refunds#createRefund", window.Value("document.querySelector('.found a').getAttribute('href')"))
	window.Fill("#find", "order.paid") // an event, and no operation
	window.Wait("document.querySelector('.found a')?.getAttribute('href') === '/docs/events#order.paid'")
	assert.Equal(t, "true", window.Value("document.querySelector('.find [role=status]').textContent.startsWith(document.querySelectorAll('.found a').length + ' result')"))
	window.Fill("#find", "nothing of the kind")
	window.WaitText("Nothing matches.")
}
