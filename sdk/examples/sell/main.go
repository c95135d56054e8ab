// Sell sells a product to a buyer through the API of a Tillwright server and receives the signed webhook.
//
//	make run                                          # in one terminal: prints an API key
//	TILLWRIGHT_API_KEY=sk_... go run ./sdk/examples/sell  # in another
//
// It reads TILLWRIGHT_API_KEY and, if the server is not on this machine's port 8080, TILLWRIGHT_BASE_URL. The server has to run
// in development: the program pays with test cards and listens on 127.0.0.1.
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
	declined = "4000000000000002"
	accepted = "4242424242424242"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "sell:", err)
		os.Exit(1)
	}
}

// run offers a product, sells it, and waits for the webhook that reports the sale.
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

	product, err := offer(ctx, client)
	if err != nil {
		return err
	}
	r, err := listen(ctx, client)
	if err != nil {
		return err
	}
	defer r.close(client)
	order, err := sell(ctx, client, product)
	if err != nil {
		return err
	}
	return report(ctx, r, order)
}

// offer puts a product up for sale.
func offer(ctx context.Context, client *sdk.Client) (*sdk.Product, error) {
	product, err := client.Products.Create(ctx, &sdk.ProductCreate{
		Name:     "Field guide to tides",
		Headline: new("Forty pages, one pencil"),
	})
	if err != nil {
		return nil, err
	}
	say("Created the product %s, slug %q, status %s.", product.ID, product.Slug, product.Status)

	_, err = client.Products.Publish(ctx, product.ID)
	if sdk.CodeOf(err) != sdk.CodeValidationFailed {
		return nil, fmt.Errorf("publish a product that has no price: %w", unexpected(err))
	}
	say("Publishing it was refused, as it has no price yet:\n   %v", err)

	price, err := client.PriceVariants.Create(ctx, &sdk.PriceVariantCreate{
		Product:  product.ID,
		Amount:   new(int64(1900)),
		Currency: new("usd"),
	})
	if err != nil {
		return nil, err
	}
	say("Added the price variant %s: %s.", price.ID, money(price.Amount, price.Currency))

	product, err = client.Products.Publish(ctx, product.ID)
	if err != nil {
		return nil, err
	}
	say("Published it: the product is %s now.", product.Status)
	return product, nil
}

// sell opens a checkout, pays it at the second attempt, and returns the order.
func sell(ctx context.Context, client *sdk.Client, product *sdk.Product) (*sdk.Order, error) {
	checkout, err := client.Checkouts.Create(ctx, &sdk.CheckoutCreate{
		LineItems:     []sdk.CheckoutLine{{PriceVariant: product.DefaultPriceVariant.ID}},
		CustomerEmail: new("ada@example.com"),
		CustomerName:  new("Ada Lovelace"),
	})
	if err != nil {
		return nil, err
	}
	say("Opened the checkout %s over %s. A buyer would go to\n   %s", checkout.ID, money(checkout.TotalAmount, checkout.Currency), checkout.URL)

	_, err = client.Checkouts.Confirm(ctx, checkout.ID, payWith(declined))
	var refused *sdk.Error
	if !errors.As(err, &refused) || refused.Errors["payment_method"] == nil {
		return nil, fmt.Errorf("pay with a card that is declined: %w", unexpected(err))
	}
	say("The card %s was declined, and the checkout stays open:\n   %v", declined, err)

	checkout, err = client.Checkouts.Confirm(ctx, checkout.ID, payWith(accepted))
	if err != nil {
		return nil, err
	}
	say("The card %s was charged: the checkout is %s and %s.", accepted, checkout.Status, checkout.PaymentStatus)

	return find(ctx, client, checkout.ID)
}

// find lists the orders of a checkout, of which there is one.
func find(ctx context.Context, client *sdk.Client, checkout string) (*sdk.Order, error) {
	made := &sdk.ListOrdersParams{Checkout: &checkout}
	for order, err := range sdk.All(ctx, client.Orders.List, made, sdk.Expand("line_items", "customer")) {
		if err != nil {
			return nil, err
		}
		if len(order.LineItems) == 0 {
			return nil, errors.New("the order has no line items")
		}
		item, _ := order.LineItems[0].Get()
		buyer, ok := order.Customer.Get()
		if !ok {
			buyer.Email = "a customer who was deleted"
		}
		say("Order number %d (%s) is %s: %d x %q for %s, %s.", order.Number, order.ID, order.Status,
			item.Quantity, item.ProductName, buyer.Email, money(order.PaidAmount, order.Currency))
		return &order, nil
	}
	return nil, errors.New("the checkout is completed but has no order")
}

// report waits for the webhook that tells of the sale. The account may be selling elsewhere, too.
func report(ctx context.Context, r *receiver, sold *sdk.Order) error {
	for {
		event, err := r.wait(ctx, 15*time.Second)
		if err != nil {
			return err
		}
		order, err := event.Order()
		if err != nil {
			return err
		}
		if order.ID == sold.ID {
			say("Received the event %s, %s of %s, and its signature is right:\n   order number %d, %s paid.", event.ID, event.Type,
				event.CreatedAt, order.Number, money(order.PaidAmount, order.Currency))
			return nil
		}
	}
}

func payWith(number string) *sdk.CheckoutConfirm {
	card := &sdk.Card{Number: number, ExpMonth: 12, ExpYear: time.Now().Year() + 3, CVC: "123"}
	return &sdk.CheckoutConfirm{PaymentMethod: &sdk.PaymentMethod{Card: card}}
}

// unexpected makes an error of a success that should have been a refusal.
func unexpected(err error) error {
	if err == nil {
		return errors.New("the server accepted it")
	}
	return err
}

func money(amount int64, currency string) string {
	return fmt.Sprintf("%d.%02d %s", amount/100, amount%100, currency)
}

func say(format string, values ...any) { fmt.Printf("-> "+format+"\n", values...) }
