package main

import (
	"crypto/sha256"
	"database/sql"
	"net/http"
	"sync"
	"time"

	"github.com/lib/pq"
)

// authenticated finds the account of the key and counts the request, as exactly as the server does.
func (f *floor) authenticated(next func(w http.ResponseWriter, r *http.Request, account string)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		const scheme = len("Bearer ")
		header := r.Header.Get("Authorization")
		hash := sha256.Sum256([]byte(header[min(scheme, len(header)):]))
		account, used, err := f.quota.count(hash[:])
		switch {
		case err != nil:
			http.Error(w, err.Error(), http.StatusInternalServerError)
		case account == "":
			http.Error(w, "no such key", http.StatusUnauthorized)
		case used > 600:
			http.Error(w, "too many requests", http.StatusTooManyRequests)
		default:
			next(w, r, account)
		}
	}
}

// quota counts in memory on SQLite; on PostgreSQL in the database, where requests that arrive while a statement is in
// flight share the next one.
type quota struct {
	floor *floor

	mu      sync.Mutex
	minute  int64
	used    map[string]int
	asking  bool
	waiting []*call
}

type call struct {
	hash    []byte
	wake    chan bool
	account sql.NullString
	used    int
	err     error
}

func (q *quota) count(hash []byte) (string, int, error) {
	if q.floor.shared {
		return q.countShared(hash)
	}
	var id, account, scopes string
	now := time.Now()
	err := q.floor.keyQuota.QueryRow(hash, now.UnixMicro()).Scan(&id, &account, &scopes)
	if err != nil {
		return "", 0, err
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if minute := now.Unix() / 60; minute > q.minute || q.used == nil {
		q.minute, q.used = minute, map[string]int{}
	}
	q.used[id]++
	return account, q.used[id], nil
}

func (q *quota) countShared(hash []byte) (string, int, error) {
	c := &call{hash: hash, wake: make(chan bool, 1)}
	q.mu.Lock()
	q.waiting = append(q.waiting, c)
	lead := !q.asking
	q.asking = true
	q.mu.Unlock()
	if lead || <-c.wake {
		q.lead()
	}
	return c.account.String, c.used, c.err
}

func (q *quota) lead() {
	q.mu.Lock()
	batch := q.waiting
	q.waiting = nil
	q.mu.Unlock()
	err := q.ask(batch)
	q.mu.Lock()
	if len(q.waiting) > 0 {
		q.waiting[0].wake <- true
	} else {
		q.asking = false
	}
	q.mu.Unlock()
	for _, c := range batch {
		c.err = err
		c.wake <- false
	}
}

func (q *quota) ask(batch []*call) error {
	hashes, addresses := make([][]byte, len(batch)), make([]string, len(batch))
	for i, c := range batch {
		hashes[i], addresses[i] = c.hash, "addr_127.0.0.1"
	}
	rows, err := q.floor.keyQuota.Query(pq.Array(hashes), pq.Array(addresses))
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var ord, minute, now int
		var id, account, scopes sql.NullString
		var used int
		if err := rows.Scan(&ord, &id, &account, &scopes, &minute, &now, &used); err != nil {
			return err
		}
		batch[ord-1].account, batch[ord-1].used = account, used
	}
	return rows.Err()
}
