package sdk_test

import (
	"fmt"
	"log"

	"github.com/tillwright/tillwright/sdk"
)

// The secret is in this answer alone. VerifyWebhook takes it.
func ExampleWebhookEndpointsService_Create() {
	endpoint, err := client.WebhookEndpoints.Create(ctx, &sdk.WebhookEndpointCreate{
		URL: "https://shop.example/hooks", EnabledEvents: []string{sdk.EventOrderPaid, sdk.EventRefundUpdated},
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(endpoint.ID, endpoint.Secret != nil)
}

// Sends an event again that a receiver lost.
func ExampleWebhookEventsService_Redeliver() {
	delivery, err := client.WebhookEvents.Redeliver(ctx, "whev_01k0000000000000000000000a", &sdk.WebhookEventRedelivery{WebhookEndpoint: "we_01k0000000000000000000000a"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(delivery.ID, delivery.Status)
}
