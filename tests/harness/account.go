package harness

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/tenant"
)

// Accounts makes n accounts on the pro plan, and returns a client with the only key of each. The database has to be migrated,
// and nothing may serve it yet. It is faster than the program's own command. The clients know no server; see At.
func Accounts(t testing.TB, url string, n int) []*Client {
	t.Helper()
	db := openStore(t, url)
	defer db.Close()
	all := make([]*Client, n)
	for i := range all {
		account := newAccount(t, db, fmt.Sprint("Shop ", i))
		token := newKey(t, db, account)
		transport := &http.Transport{MaxIdleConnsPerHost: 8}
		t.Cleanup(transport.CloseIdleConnections)
		all[i] = &Client{Key: token, Account: account, HTTP: &http.Client{Timeout: time.Minute, Transport: transport}}
	}
	return all
}

// Keys makes an account with n keys, in a database as Accounts takes it, and returns their tokens.
func Keys(t testing.TB, url string, n int) []string {
	t.Helper()
	db := openStore(t, url)
	defer db.Close()
	account := newAccount(t, db, "Shop of many keys")
	tokens := make([]string, n)
	for i := range tokens {
		tokens[i] = newKey(t, db, account)
	}
	return tokens
}

func openStore(t testing.TB, url string) *store.Store {
	t.Helper()
	sealer, err := core.NewSealer(make([]byte, 32))
	if err != nil {
		t.Fatal(err)
	}
	db, err := store.Open(t.Context(), store.Options{URL: url, Sealer: sealer, CloseTime: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	return db
}

func newAccount(t testing.TB, db *store.Store, name string) (id string) {
	t.Helper()
	account, err := db.Tenant.CreateAccount(t.Context(), tenant.NewAccount{Name: name, Email: "shop@example.com", Plan: tenant.PlanPro})
	if err != nil {
		t.Fatal(err)
	}
	return account.ID
}

func newKey(t testing.TB, db *store.Store, account string) string {
	t.Helper()
	_, token, err := db.Tenant.CreateAPIKey(t.Context(), account, tenant.Granted{}, tenant.NewAPIKey{Name: "test"})
	if err != nil {
		t.Fatal(err)
	}
	return token
}
