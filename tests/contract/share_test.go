package contract

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/tillwright/tillwright/tests/harness"
	"github.com/tillwright/tillwright/tests/harness/database"
)

// held stops reads of one account's customers until it is let go, each with its reader, or its connection.
type held struct {
	account string // once the test has it
	mu      sync.Mutex
	begun   chan struct{}
	goOn    chan struct{}
}

func (h *held) trace(_ context.Context, statement string, args []any) {
	h.mu.Lock()
	account := h.account
	h.mu.Unlock()
	if account != "" && strings.Contains(statement, "FROM customers ") && slices.Contains(args, any(account)) {
		h.begun <- struct{}{}
		<-h.goOn
	}
}

// While one account has dear lists under way, more than there are readers and connections, another one is served: it reads, writes and sells.
func TestShares_OneAccountHurtsItselfAlone(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		h := &held{begun: make(chan struct{}, 1000), goOn: make(chan struct{})}
		s := boot(t, url, harness.Traced(h.trace))
		flooding, bystander := s.Account(t), s.Account(t)
		v := onSale(t, bystander.SDK(), 1900)
		h.mu.Lock()
		h.account = flooding.Account
		h.mu.Unlock()

		var flood sync.WaitGroup
		ctx, giveUp := context.WithCancel(t.Context())
		letGo := sync.OnceFunc(func() { giveUp(); close(h.goOn) })
		defer letGo()
		for range 40 {
			flood.Go(func() {
				r, err := http.NewRequestWithContext(ctx, http.MethodGet, flooding.URL+"/v1/customers?q=a", nil)
				if err == nil {
					r.Header.Set("Authorization", "Bearer "+flooding.Key)
					var answer *http.Response
					if answer, err = http.DefaultClient.Do(r); err == nil {
						err = answer.Body.Close()
					}
				}
				if err != nil && ctx.Err() == nil {
					t.Error(err)
				}
			})
		}
		<-h.begun // and as many more as one account gets
		bystander.Must(t, http.MethodGet, "/v1/customers?q=ada", nil)
		bystander.Must(t, http.MethodPost, "/v1/products", map[string]any{"name": "Guide"})
		purchase(t, bystander.SDK(), "ada@example.com", v)

		letGo()
		flood.Wait()
		h.mu.Lock()
		h.account = ""
		h.mu.Unlock()
		flooding.Must(t, http.MethodGet, "/v1/customers?q=a", nil)
	})
}
