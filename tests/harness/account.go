package harness

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/tillwright/tillwright/store"
)

// Accounts makes n accounts on the pro plan in a migrated database which nothing serves yet, faster than the command does, and
// returns a client with the only key of each. The clients know no server.
func Accounts(t testing.TB, url string, n int) []*Client {
	t.Helper()
	sealer, err := store.NewSealer(make([]byte, 32))
	if err != nil {
		t.Fatal(err)
	}
	db, err := store.Open(t.Context(), store.Options{URL: url, Sealer: sealer})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	all := make([]*Client, n)
	for i := range all {
		account, err := db.CreateAccount(t.Context(), store.NewAccount{Name: fmt.Sprint("Shop ", i), Email: "shop@example.com", Plan: store.PlanPro})
		if err != nil {
			t.Fatal(err)
		}
		_, token, err := db.CreateAPIKey(t.Context(), account.ID, store.Granted{}, store.NewAPIKey{Name: "test"})
		if err != nil {
			t.Fatal(err)
		}
		transport := &http.Transport{MaxIdleConnsPerHost: 8}
		t.Cleanup(transport.CloseIdleConnections)
		all[i] = &Client{Key: token, Account: account.ID, HTTP: &http.Client{Timeout: 20 * time.Second, Transport: transport}}
	}
	return all
}

// At returns the client of a server.
func (c *Client) At(p *Process) *Client {
	client := *c
	client.URL = p.URL
	return &client
}
