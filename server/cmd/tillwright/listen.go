package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/tillwright/tillwright/sdk"
)

const listenHelp = `Registers a receiver on this machine as a webhook endpoint, prints each event as it comes, and deletes the endpoint at
the end. The server must run on this machine, in development: another one does not deliver to it.

With --forward-to the body is posted on, byte for byte, to a program that you are writing, signed in the same headers with
a secret of its own. That secret is printed at the start and kept in your configuration directory, so it is the same
the next time. Events are passed on one after another, in the order in which they came, and wait up to 30 seconds for an
answer, so that there is time to look around in a debugger.

The server is told 200 for every event whose signature is right, whatever your program answers: its answer is printed
here, and is not in the server's log of deliveries.`

// listenOptions are the flags of listen.
type listenOptions struct {
	events     []string
	forwardTo  string
	port       uint16
	json       bool
	secretFile string // "" for the usual one
}

// listenCommand returns `tillwright listen`, which prints webhooks as they come and may pass them on.
func listenCommand() *cobra.Command {
	var o listenOptions
	cmd := &cobra.Command{
		Use:     "listen",
		Short:   "Print webhooks as they come, and pass them on to a program on this machine",
		Long:    listenHelp,
		Example: "  tillwright listen --events order.paid,checkout.created --forward-to http://localhost:3000/hooks",
		Args:    cobra.NoArgs,
	}
	api := clientCommand(cmd, "webhooks")
	cmd.Flags().StringSliceVar(&o.events, "events", nil, "event types, separated by commas (default all)")
	cmd.Flags().StringVar(&o.forwardTo, "forward-to", "", "where to post each event, such as http://localhost:3000/hooks")
	cmd.Flags().Uint16Var(&o.port, "port", 0, "port of 127.0.0.1 to receive on (default any that is free)")
	cmd.Flags().BoolVar(&o.json, "json", false, "print one event object per line, and everything else to standard error")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		client, err := api.client()
		if err != nil {
			return err
		}
		return listen(cmd.Context(), client, o, newLiveOutput(cmd.OutOrStdout(), cmd.ErrOrStderr(), o.json))
	}
	return cmd
}

// listen creates an endpoint, and receives its deliveries until ctx ends. Deliveries that come before it knows the endpoint's
// secret have to wait.
func listen(ctx context.Context, client *apiClient, o listenOptions, out *liveOutput) error {
	forward, err := newForwarder(o, out)
	if err != nil {
		return err
	}
	socket, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(int(o.port))))
	if err != nil {
		return err
	}
	defer socket.Close()
	if err := client.deleteLeftovers(ctx); err != nil {
		return client.explain(err)
	}
	r := &receiver{path: "/" + rand.Text(), out: out, forward: forward}
	endpoint, err := client.registerListener(ctx, "http://"+socket.Addr().String()+r.path, o.events)
	if err != nil {
		return client.explain(err)
	}
	r.secret = *endpoint.Secret
	out.welcome(client.url, endpoint, forward)
	err = receive(ctx, socket, r)
	return errors.Join(err, client.unregister(ctx, endpoint.ID))
}

// receive serves the deliveries and passes them on, until ctx ends.
func receive(ctx context.Context, socket net.Listener, r *receiver) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	server := &http.Server{Handler: r, ReadHeaderTimeout: 5 * time.Second}
	var err error
	var workers sync.WaitGroup
	workers.Go(func() { r.forward.run(ctx) })
	workers.Go(func() {
		err = server.Serve(socket)
		stop()
	})
	<-ctx.Done()
	_ = server.Close()
	workers.Wait()
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// listenerKey is the key in an endpoint's metadata that says that this command has created it, and on which machine.
const listenerKey = "tillwright_listen"

// registerListener creates the endpoint to which the server delivers.
func (c *apiClient) registerListener(ctx context.Context, address string, events []string) (*sdk.WebhookEndpoint, error) {
	endpoint, err := c.WebhookEndpoints.Create(ctx, &sdk.WebhookEndpointCreate{
		URL: address, EnabledEvents: events, Description: new("tillwright listen on " + hostname()),
		Metadata: &sdk.Metadata{listenerKey: hostname()},
	})
	if refusal, ok := errors.AsType[*sdk.Error](err); ok && len(refusal.Errors["url"]) > 0 {
		refusal.Errors = map[string][]string{"base": {"The server does not deliver to this machine: listen needs one in development (TILLWRIGHT_ENV)."}}
	}
	return endpoint, err
}

// unregister deletes the endpoint. It has a few seconds of its own for that, because ctx has ended by then.
func (c *apiClient) unregister(ctx context.Context, id string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	_, err := c.WebhookEndpoints.Delete(ctx, id)
	if err == nil || sdk.CodeOf(err) == sdk.CodeResourceMissing {
		return nil
	}
	return fmt.Errorf("the endpoint %s is left behind, until the next `tillwright listen`: %w", id, c.explain(err))
}

// deleteLeftovers deletes the endpoints of runs on this machine that were killed. One that still answers belongs to a run in
// another terminal, and is left alone. Only addresses on this machine are asked, because anybody may put our mark into
// metadata.
func (c *apiClient) deleteLeftovers(ctx context.Context) error {
	for e, err := range sdk.All(ctx, c.WebhookEndpoints.List, nil) {
		if err != nil {
			return err
		}
		ours := e.Metadata[listenerKey] == hostname() && strings.HasPrefix(e.URL, "http://127.0.0.1:")
		if !ours || isReceiving(ctx, e.URL) {
			continue
		}
		if _, err := c.WebhookEndpoints.Delete(ctx, e.ID); err != nil && sdk.CodeOf(err) != sdk.CodeResourceMissing {
			return err
		}
	}
	return nil
}

func isReceiving(ctx context.Context, address string) bool {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return false
	}
	resp, err := directClient().Do(req)
	if err != nil {
		return false
	}
	defer resp.Body.Close()
	return resp.StatusCode == stillHere
}

func hostname() string {
	name, err := os.Hostname()
	if err != nil {
		return "this machine"
	}
	return name
}

// forwardingSecretFile returns the file that keeps the secret, so that it stays the same between runs.
func forwardingSecretFile() (string, error) {
	dir, err := os.UserConfigDir()
	if err != nil {
		return "", fmt.Errorf("where to keep the forwarding secret? %w", err)
	}
	return filepath.Join(dir, "tillwright", "forwarding.secret"), nil
}
