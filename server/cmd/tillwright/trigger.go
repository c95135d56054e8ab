package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tillwright/tillwright/sdk"
)

// triggerCommand returns `tillwright trigger`, which sends a test event.
func triggerCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "trigger TYPE",
		Short: "Send a test event to the endpoints that are subscribed to its type",
		Long: "Sends a realistic event with \"test\": true to every active endpoint that is subscribed to its type, or to one\n" +
			"endpoint, and prints what became of each. It fails if one was not delivered, or if there is no endpoint.",
		Example: "  tillwright trigger order.paid",
		Args:    cobra.ExactArgs(1),
	}
	api := clientCommand(cmd, "webhooks")
	endpoint := cmd.Flags().String("endpoint", "", "id of the one endpoint to send to, we_...")
	asJSON := jsonFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		client, err := api.client()
		if err != nil {
			return err
		}
		results, err := client.trigger(cmd.Context(), args[0], *endpoint)
		if err != nil {
			return err
		}
		if err := printList(cmd, *asJSON, results, "ENDPOINT\tDELIVERED\tSTATUS\tTIME\tREASON\tURL", testCells); err != nil {
			return err
		}
		return notDelivered(results)
	}
	return cmd
}

// sentTest is what became of a test event that was sent to one endpoint.
type sentTest struct {
	*sdk.WebhookTest
	Endpoint string `json:"webhook_endpoint"`
	URL      string `json:"url"`
	// Refusal says why the server sent no event, if it did not.
	Refusal string `json:"refusal,omitempty"`
}

func testCells(t *sentTest) []string {
	status, reason := "-", t.Refusal
	if t.StatusCode != nil {
		status = strconv.FormatInt(*t.StatusCode, 10)
	}
	if t.Reason != nil {
		reason = string(*t.Reason)
	}
	delivered := map[bool]string{true: "yes", false: "no"}[t.Delivered]
	return []string{t.Endpoint, delivered, status, fmt.Sprintf("%d ms", t.DurationMS), cmp.Or(reason, "-"), t.URL}
}

func notDelivered(results []sentTest) error {
	failed := 0
	for _, r := range results {
		if !r.Delivered {
			failed++
		}
	}
	if failed == 0 {
		return nil
	}
	return fmt.Errorf("%d of %d not delivered", failed, len(results))
}

// trigger sends a test event to one endpoint after the other. If the server refuses for one of them, its result says why.
func (c *apiClient) trigger(ctx context.Context, kind, endpoint string) ([]sentTest, error) {
	if err := c.checkEventType(ctx, kind); err != nil {
		return nil, err
	}
	endpoints, err := c.testedEndpoints(ctx, kind, endpoint)
	if err != nil {
		return nil, err
	}
	var results []sentTest
	for _, e := range endpoints {
		result := sentTest{Endpoint: e.ID, URL: e.URL}
		result.WebhookTest, err = c.WebhookEndpoints.Test(ctx, e.ID, &sdk.WebhookTestRequest{Type: &kind})
		if err != nil {
			if sdk.CodeOf(err) != sdk.CodeValidationFailed {
				return nil, c.explain(err)
			}
			result.WebhookTest, result.Refusal = &sdk.WebhookTest{Object: "webhook_test", Type: kind}, explain(err)
		}
		results = append(results, result)
	}
	return results, nil
}

func (c *apiClient) checkEventType(ctx context.Context, kind string) error {
	list, err := c.WebhookEndpoints.ListEventTypes(ctx)
	if err != nil {
		return c.explain(err)
	}
	var types []string
	for _, t := range list.Data {
		types = append(types, t.Type)
	}
	if !slices.Contains(types, kind) {
		return fmt.Errorf("%q is not an event type. These are:\n  %s", kind, strings.Join(types, "\n  "))
	}
	return nil
}

// testedEndpoints returns the endpoint that was named, or otherwise the active ones that are subscribed to the type.
func (c *apiClient) testedEndpoints(ctx context.Context, kind, id string) ([]sdk.WebhookEndpoint, error) {
	if id != "" {
		e, err := c.WebhookEndpoints.Get(ctx, id)
		if err != nil {
			return nil, c.explain(err)
		}
		return []sdk.WebhookEndpoint{*e}, nil
	}
	var found []sdk.WebhookEndpoint
	for e, err := range sdk.All(ctx, c.WebhookEndpoints.List, &sdk.ListWebhookEndpointsParams{Status: new(sdk.WebhookEndpointStatusActive)}) {
		if err != nil {
			return nil, c.explain(err)
		}
		if slices.Contains(e.EnabledEvents, "*") || slices.Contains(e.EnabledEvents, kind) {
			found = append(found, e)
		}
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("no active endpoint is subscribed to %s: register one, or start `tillwright listen`", kind)
	}
	return found, nil
}
