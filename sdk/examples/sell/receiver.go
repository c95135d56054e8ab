package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/tillwright/tillwright/sdk"
)

const largestEvent = 1 << 20

// receiver is a small program of its own: the URL that the server posts events to.
type receiver struct {
	server   http.Server
	endpoint *sdk.WebhookEndpoint
	events   chan *sdk.Event
}

// listen starts a receiver on a free port of this machine and registers it for order.paid.
func listen(ctx context.Context, client *sdk.Client) (*receiver, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	r := &receiver{events: make(chan *sdk.Event, 16)}
	r.endpoint, err = client.WebhookEndpoints.Create(ctx, &sdk.WebhookEndpointCreate{
		URL:           "http://" + listener.Addr().String() + "/hooks",
		EnabledEvents: []string{sdk.EventOrderPaid},
	})
	if err != nil {
		listener.Close()
		return nil, err
	}
	r.server.Handler = r
	go r.server.Serve(listener) //nolint:errcheck // it ends with ErrServerClosed in close
	say("Registered %s for %s. Its secret is shown this once.", r.endpoint.URL, sdk.EventOrderPaid)
	return r, nil
}

// ServeHTTP takes a delivery: it verifies the bytes that came, keeps the event and answers at once.
func (r *receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, req.Body, largestEvent))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	event, err := sdk.VerifyWebhook(body, req.Header, *r.endpoint.Secret)
	if err != nil {
		http.Error(w, err.Error(), http.StatusUnauthorized)
		return
	}
	select {
	case r.events <- event:
		w.WriteHeader(http.StatusNoContent)
	default:
		http.Error(w, "busy", http.StatusServiceUnavailable)
	}
}

// wait returns the next event that was verified.
func (r *receiver) wait(ctx context.Context, longest time.Duration) (*sdk.Event, error) {
	ctx, cancel := context.WithTimeout(ctx, longest)
	defer cancel()
	select {
	case event := <-r.events:
		return event, nil
	case <-ctx.Done():
		return nil, fmt.Errorf("wait %s for the webhook: %w", longest, ctx.Err())
	}
}

// close removes the endpoint, so that the server does not post to a program that has ended.
func (r *receiver) close(client *sdk.Client) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if _, err := client.WebhookEndpoints.Delete(ctx, r.endpoint.ID); err != nil {
		fmt.Println("-> Could not delete the webhook endpoint:", err)
	}
	_ = r.server.Shutdown(ctx)
}
