package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// buyOnce makes a whole purchase: it opens a checkout, confirms it with a card, and reads the order. Name is its own among all
// purchases. It returns the order's id.
func buyOnce(p *program, s seller, name string) (string, error) {
	return purchase(context.Background(), http.DefaultClient, p, s, name)
}

// purchase does that with a client of its own.
func purchase(ctx context.Context, client *http.Client, p *program, s seller, name string) (string, error) {
	made := struct{ ID, Order string }{}
	n := nth.Add(1)
	var ask func(method, path, body string) error
	ask = func(method, path, body string) error {
		req, err := http.NewRequestWithContext(ctx, method, p.url+path, bytes.NewBufferString(body))
		if err != nil {
			return err
		}
		req.Header.Set("Authorization", "Bearer "+s.tokens[int(n)%len(s.tokens)])
		if body != "" {
			req.Header.Set("Content-Type", "application/json")
			req.Header.Set("Idempotency-Key", fmt.Sprintf("%s %s %d", name, path, n))
		}
		resp, err := client.Do(req)
		if err != nil {
			return err
		}
		defer func() { _ = resp.Body.Close() }()
		answer, err := io.ReadAll(resp.Body)
		if err == nil && resp.StatusCode == http.StatusServiceUnavailable { // as it says: send it again
			repeated.Add(1)
			time.Sleep(100 * time.Millisecond)
			return ask(method, path, body)
		}
		if err == nil && resp.StatusCode >= 300 {
			err = fmt.Errorf("%s: %s %s: %d %s", p.name, method, path, resp.StatusCode, answer)
		}
		if err != nil {
			return err
		}
		return json.Unmarshal(answer, &made)
	}
	if err := ask(http.MethodPost, "/v1/checkouts", fmt.Sprintf(`{"customer_email":"buyer-%d@example.com","line_items":[{"price_variant":%q}]}`, n, s.price)); err != nil {
		return "", err
	}
	if err := ask(http.MethodPost, "/v1/checkouts/"+made.ID+"/confirm", `{"payment_method":"pm_card_visa"}`); err != nil {
		return "", err
	}
	order := made.Order
	return order, ask(http.MethodGet, "/v1/orders/"+order, "")
}

// nth counts all purchases of this process, repeated the requests that had to be sent again because the server had too much to do.
var nth, repeated atomic.Int64

// buy makes purchases over so many connections for a while, of the sellers in turn. What it returns counts purchases, not requests.
func buy(ctx context.Context, p *program, from []seller, connections int, d time.Duration, name string) (load, error) {
	transport := &http.Transport{MaxIdleConnsPerHost: connections, MaxIdleConns: connections, DisableCompression: true}
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport}
	before, err := cpuTime(p.cmd.Process.Pid)
	if err != nil {
		return load{}, err
	}
	again := repeated.Load()
	var mu sync.Mutex
	var took []int64
	var failed error
	var group sync.WaitGroup
	begun := time.Now()
	for i := range connections {
		group.Go(func() {
			for n := i; time.Since(begun) < d; n += connections {
				start := time.Now()
				_, err := purchase(ctx, client, p, from[n%len(from)], name)
				mu.Lock()
				if took = append(took, time.Since(start).Microseconds()); err != nil {
					failed = err
				}
				mu.Unlock()
				if err != nil {
					return
				}
			}
		})
	}
	group.Wait()
	if failed != nil {
		return load{}, failed
	}
	l := load{Requests: int64(len(took)), Repeated: repeated.Load() - again, Micros: time.Since(begun).Microseconds()}
	after, err := cpuTime(p.cmd.Process.Pid)
	l.cpu = after - before
	slices.Sort(took)
	l.P50, l.P99 = took[len(took)/2], took[len(took)*99/100]
	return l, err
}
