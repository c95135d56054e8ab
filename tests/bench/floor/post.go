package main

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
)

// post sends the same bytes n times, over so many connections to each of the URLs, and signs them every time.
func post(n, connections int, urls []string) error {
	body, err := io.ReadAll(os.Stdin)
	if err != nil {
		return err
	}
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: connections, MaxConnsPerHost: connections}}
	var left atomic.Int64
	left.Store(int64(n))
	failed := make(chan error, connections*len(urls))
	var group sync.WaitGroup
	for i := range connections * len(urls) {
		group.Go(func() {
			for left.Add(-1) >= 0 {
				if err := postOnce(client, urls[i%len(urls)], body); err != nil {
					failed <- err
					return
				}
			}
		})
	}
	group.Wait()
	close(failed)
	return <-failed
}

func postOnce(client *http.Client, url string, body []byte) error {
	req, err := http.NewRequest(http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	mac := hmac.New(sha256.New, []byte("whsec_floor"))
	mac.Write(body)
	req.Header = http.Header{
		"Content-Type":          {"application/json; charset=utf-8"},
		"X-Service-Hmac-SHA256": {base64.StdEncoding.EncodeToString(mac.Sum(nil))},
		"X-Service-Event-Id":    {"whev_01k0000000000000000000000a"},
	}
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answered %s", url, resp.Status)
	}
	return nil
}
