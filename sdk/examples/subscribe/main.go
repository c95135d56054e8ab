// Subscribe sells a subscription and lives through its first weeks by the test clock. These bring the trial, the first payment,
// a renewal that fails, and its recovery.
//
//	make run                                               # in one terminal: prints an API key
//	TILLWRIGHT_API_KEY=sk_... go run ./sdk/examples/subscribe  # in another
//
// It reads TILLWRIGHT_API_KEY and, if the server is not on this machine's port 8080, TILLWRIGHT_BASE_URL. The server has to run
// in development: the program pays with test cards and moves the account's clock, which does not go back.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"time"

	"github.com/tillwright/tillwright/sdk"
)

const (
	// failing is a card that pays once, and not when the subscription is renewed.
	failing = "tok_fail_on_renewal"
	working = "pm_card_visa"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "subscribe:", err)
		os.Exit(1)
	}
}

// run sells a subscription, and moves the clock through its trial, a payment, a failed renewal and its recovery.
func run(ctx context.Context) error {
	key := os.Getenv("TILLWRIGHT_API_KEY")
	if key == "" {
		return errors.New("set TILLWRIGHT_API_KEY to the key that `make run` printed")
	}
	address := os.Getenv("TILLWRIGHT_BASE_URL")
	if address == "" {
		address = sdk.DefaultBaseURL
	}
	client := sdk.New(key, sdk.WithBaseURL(address))

	subscription, err := subscribe(ctx, client)
	if err != nil {
		return err
	}
	if subscription, err = wait(ctx, client, subscription.ID, *subscription.TrialEnd); err != nil {
		return err
	}
	say("The trial is over, and the card was charged: the subscription is %s.", subscription.Status)
	if subscription, err = wait(ctx, client, subscription.ID, subscription.CurrentPeriodEnd); err != nil {
		return err
	}
	say("A month later the card was declined: the subscription is %s, and would be charged again %s.",
		subscription.Status, day(*subscription.NextPaymentAttemptAt))
	if err := payAnew(ctx, client, subscription); err != nil {
		return err
	}
	return report(ctx, client, subscription.ID)
}

// subscribe puts a subscription with a trial up for sale, and sells it.
func subscribe(ctx context.Context, client *sdk.Client) (*sdk.Subscription, error) {
	product, err := client.Products.Create(ctx, &sdk.ProductCreate{
		Name:   "Letters from the tidal flats",
		Type:   new(sdk.ProductTypeMembership),
		Status: new(sdk.ProductStatusActive),
		PriceVariants: []sdk.ProductPriceVariant{{
			Type: new(sdk.PriceVariantTypeRecurring), Interval: new(sdk.PriceVariantIntervalMonth),
			Amount: new(int64(900)), Currency: new("usd"), TrialDays: new(int64(7)),
		}},
	})
	if err != nil {
		return nil, err
	}
	checkout, err := client.Checkouts.Create(ctx, &sdk.CheckoutCreate{
		LineItems:     []sdk.CheckoutLine{{PriceVariant: product.DefaultPriceVariant.ID}},
		CustomerEmail: new("grace@example.com"),
	})
	if err != nil {
		return nil, err
	}
	checkout, err = client.Checkouts.Confirm(ctx, checkout.ID,
		&sdk.CheckoutConfirm{PaymentMethod: &sdk.PaymentMethod{Token: failing}}, sdk.Expand("subscription"))
	if err != nil {
		return nil, err
	}
	subscription, ok := checkout.Subscription.Get()
	if !ok || subscription.TrialEnd == nil {
		return nil, errors.New("the checkout is confirmed but has no subscription in its trial")
	}
	say("Sold the subscription %s over %s a month. It is %s until %s.",
		subscription.ID, money(subscription.Amount, subscription.Currency), subscription.Status, day(*subscription.TrialEnd))
	return &subscription, nil
}

// wait moves the account's clock to a moment, and does what falls due on the way.
func wait(ctx context.Context, client *sdk.Client, subscription string, until sdk.Time) (*sdk.Subscription, error) {
	for {
		clock, err := client.TestHelpers.AdvanceClock(ctx, &sdk.TestClockCreate{Now: &until})
		if err != nil {
			return nil, err
		}
		if clock.Done {
			return client.Subscriptions.Get(ctx, subscription)
		}
	}
}

// payAnew pays the invoice that is past due with another card.
func payAnew(ctx context.Context, client *sdk.Client, subscription *sdk.Subscription) error {
	invoice, err := client.Invoices.Pay(ctx, subscription.LatestInvoice.ID, &sdk.InvoicePay{PaymentMethod: &sdk.PaymentMethod{Token: working}})
	if err != nil {
		return err
	}
	subscription, err = client.Subscriptions.Get(ctx, subscription.ID)
	if err != nil {
		return err
	}
	say("The invoice %s was paid with another card: the subscription is %s again.", *invoice.Number, subscription.Status)
	return nil
}

// report lists what the subscription was billed, the newest first.
func report(ctx context.Context, client *sdk.Client, subscription string) error {
	for invoice, err := range sdk.All(ctx, client.Invoices.List, &sdk.ListInvoicesParams{Subscription: &subscription}) {
		if err != nil {
			return err
		}
		say("Invoice %s of %s: %s, %s.\n   %s", *invoice.Number, day(invoice.CreatedAt), money(invoice.TotalAmount, invoice.Currency), invoice.Status, *invoice.HostedURL)
	}
	return nil
}

func money(amount int64, currency string) string {
	return fmt.Sprintf("%d.%02d %s", amount/100, amount%100, currency)
}

func day(t sdk.Time) string { return t.Time().Format(time.DateOnly) }

func say(format string, values ...any) { fmt.Printf("-> "+format+"\n", values...) }
