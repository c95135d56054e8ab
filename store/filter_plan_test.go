package store

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/activity"
	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/store/checkout"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/customer"
	"github.com/tillwright/tillwright/store/discount"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/invoice"
	"github.com/tillwright/tillwright/store/lineitem"
	"github.com/tillwright/tillwright/store/order"
	"github.com/tillwright/tillwright/store/outbox"
	"github.com/tillwright/tillwright/store/payment"
	"github.com/tillwright/tillwright/store/request"
	"github.com/tillwright/tillwright/store/subscription"
)

// grown gives the account so many of all that it sells, and of what sales make, with every value of what they are filtered by.
func (s *shop) grown(t *testing.T, many int) *order.Order {
	t.Helper()
	s.subscribers(t, many)
	guide := s.onSale(t, fixedPrice(1900))
	bought := s.confirm(t, s.checkout(t, guide))
	o, err := s.Order.Get(t.Context(), s.account, *bought.Checkout.OrderID)
	require.NoError(t, err)
	s.coded(t, "HALF", func(*discount.Discount) {})
	_, err = s.Checkout.CreateLink(t.Context(), s.account, checkout.Link{Active: true, PriceVariantIDs: core.JSONOf([]string{guide.ID})})
	require.NoError(t, err)
	s.during(t, func(ctx context.Context, u *db.Unit) {
		require.NoError(t, u.Insert(ctx, refundColumns, &Refund{AccountID: s.account, ID: core.NewID(core.KindRefund), OrderID: o.ID, CustomerID: o.CustomerID, PaymentID: o.PaymentIDs.V[0],
			Status: RefundStatusSucceeded, Reason: "other", Currency: "usd", Amount: 1, Provider: "test"}))
	})

	oneIn := func(n int, value, other string) string {
		return fmt.Sprintf("CASE WHEN n %% %d = 0 THEN %s ELSE %s END", n, value, other)
	}
	at := fmt.Sprintf("%d + n", s.Now())
	id := func(k core.Kind) string { return "'" + k.Prefix() + "00000' || n" } // older than all others
	email := "'Buyer' || n || '@example.com'"
	s.copies(t, "customers", db.ColumnsOf[customer.Customer]("customers").SelectSQL, many, map[string]string{
		"id": id(core.KindCustomer), "email_key": "'buyer' || n", "external_id": "'ext' || n", "type": oneIn(4, "'lead'", "'customer'"), "created_at": at,
	})
	s.copies(t, "orders", order.Columns.SelectSQL, many, map[string]string{
		"id": id(core.KindOrder), "number": "n + 1", "checkout_id": oneIn(10, "NULL", id(core.KindCheckout)), "subscription_id": oneIn(4, "'sub_' || n", "NULL"), "discount_id": oneIn(4, "'disc_' || n", "NULL"),
		"status": oneIn(3, "'pending'", "'paid'"), "billing_reason": oneIn(5, "'manual'", "'purchase'"), "customer_email": email, "customer_id": id(core.KindCustomer), "created_at": at, "paid_at": at,
		"net_amount": "n", "subtotal_amount": "n", "total_amount": "n", "paid_amount": "0",
	})
	s.copies(t, "line_items", lineitem.Columns.SelectSQL, many, map[string]string{
		"id": id(core.KindLineItem), "order_id": oneIn(2, id(core.KindOrder), "NULL"), "checkout_id": oneIn(2, "NULL", id(core.KindCheckout)), "product_id": "'prod_' || n % 100", "price_variant_id": "'price_' || n % 100",
	})
	s.copies(t, "invoices", invoice.Columns.SelectSQL, many, map[string]string{
		"id": id(core.KindInvoice), "order_key": id(core.KindOrder), "order_id": id(core.KindOrder), "sequence": "n + 1", "number": "'INV-' || n", "status": oneIn(3, "'open'", "'paid'"), "subscription_id": oneIn(4, "'sub_' || n", "NULL"),
		"collection_method": oneIn(5, "'send_invoice'", "'charge_automatically'"), "billing_reason": oneIn(5, "'manual'", "'purchase'"), "customer_id": id(core.KindCustomer), "due_at": oneIn(10, at+" + 9000000000", at), "created_at": at,
	})
	s.copies(t, "checkouts", checkout.Columns.SelectSQL, many, map[string]string{
		"id": id(core.KindCheckout), "status": oneIn(5, "'open'", "'completed'"), "payment_status": oneIn(5, "'unpaid'", "'paid'"), "customer_id": id(core.KindCustomer), "customer_email": email, "discount_id": oneIn(4, "'disc_' || n", "NULL"), "created_at": at,
	})
	s.copies(t, "refunds", refundColumns.SelectSQL, many, map[string]string{
		"id": id(core.KindRefund), "order_id": id(core.KindOrder), "customer_id": id(core.KindCustomer), "subscription_id": oneIn(4, "'sub_' || n", "NULL"), "status": oneIn(9, "'failed'", "'succeeded'"), "reason": oneIn(9, "'fraudulent'", "'other'"), "provider_ref": "'re_' || n", "created_at": at,
	})
	s.copies(t, "discounts", db.ColumnsOf[discount.Discount]("discounts").SelectSQL, many, map[string]string{
		"id": id(core.KindDiscount), "code_key": "'code' || n", "type": oneIn(4, "'fixed'", "'percent'"), "ends_at": oneIn(20, "9000000000000000 + n", "NULL"), "disabled_at": oneIn(20, at, "NULL"), "created_at": at,
	})
	s.copies(t, "checkout_links", checkout.LinkColumns.SelectSQL, many, map[string]string{"id": id(core.KindCheckoutLink), "active": oneIn(5, "FALSE", "TRUE"), "discount_id": oneIn(4, "'disc_' || n", "NULL"), "created_at": at})
	s.copies(t, "products", db.ColumnsOf[catalog.Product]("products").SelectSQL, many, map[string]string{
		"id": id(core.KindProduct), "slug": "'guide-' || n", "external_id": "'ext' || n", "status": oneIn(3, "'draft'", "'active'"), "type": oneIn(5, "'course'", "'digital'"), "visibility": oneIn(5, "'unlisted'", "'public'"), "has_recurring": oneIn(5, "TRUE", "FALSE"), "created_at": at,
	})
	s.copies(t, "price_variants", db.ColumnsOf[catalog.PriceVariant]("price_variants").SelectSQL, many, map[string]string{
		"id": id(core.KindPriceVariant), "external_id": "'ext' || n", "product_id": id(core.KindProduct), "status": oneIn(5, "'archived'", "'active'"), "type": oneIn(5, "'recurring'", "'one_time'"), "created_at": at,
	})
	_, err = s.Customer.CreateTransaction(t.Context(), s.account, o.CustomerID, customer.NewBalanceTransaction{Currency: "usd", Amount: 1, Description: "Sorry"})
	require.NoError(t, err)
	s.copies(t, "balance_transactions", customer.BalanceTransactionColumns.SelectSQL, 4*many, map[string]string{ // all of one customer: PostgreSQL would sort fewer
		"id": id(core.KindBalanceTransaction), "reason": oneIn(5, "'credit'", "'manual'"), "currency": oneIn(5, "'eur'", "'usd'"), "description": "NULL", "created_at": at,
	})
	require.NoError(t, s.Activity.Record(t.Context(), activity.Activity{AccountID: s.account, ActorType: activity.ActorSystem, Operation: "updateProduct", TargetObject: "product"}))
	s.copies(t, "activities", db.ColumnsOf[activity.Activity]("activities").SelectSQL, many, map[string]string{
		"id": id(core.KindActivity), "actor_id": "'key_' || n % 100", "operation": oneIn(3, "'createProduct'", "'updateProduct'"), "target_id": "'prod_' || n % 1000", "created_at": at,
	})
	require.NoError(t, s.Requests.Write(t.Context(), []request.Request{{AccountID: s.account, ID: core.NewID(core.KindRequest), Status: 200, CreatedAt: s.Now()}}, nil))
	s.copies(t, "requests", db.ColumnsOf[request.Request]("requests").SelectSQL, many, map[string]string{
		"id": id(core.KindRequest), "class": oneIn(3, "4", "2"), "key_id": "'key_' || n % 100", "operation": oneIn(3, "'createProduct'", "'updateProduct'"), "path": "'/v1/products/prod_' || n % 1000", "created_at": at,
	})
	_, err = s.db.Write.DB.ExecContext(t.Context(), s.db.Rebind(`UPDATE subscriptions SET created_at = ? WHERE account_id = ?`), s.Now(), s.account)
	require.NoError(t, err)
	return o
}

// leads reports whether a plan looks for a column, or an expression, in an index.
func leads(plan, column string) bool {
	for line := range strings.Lines(plan) {
		if _, condition, ok := strings.Cut(line, "Index Cond:"); ok && strings.Contains(condition, column) || strings.Contains(line, column+"=?") || strings.Contains(line, column+">?") || strings.Contains(line, column+"<?") {
			return true
		}
	}
	return false
}

// Every filter leads to its rows by an index, when nothing matches too. Among 5,000 rows no statement of a list reads a table, or all that the
// account has in it.
func TestLists_AreLedByIndexes(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		o := s.grown(t, 5_000)
		page, never, yes := core.Page{Limit: 20}, ref(core.Time(9e15)), ref(true)
		window := core.ListFilter{CreatedAfter: never}
		balanceOf := func(ctx context.Context, account string, in customer.ListBalanceTransactions) ([]customer.BalanceTransaction, bool, error) {
			return s.Customer.ListTransactions(ctx, account, o.CustomerID, in)
		}
		asked := map[string]func() error{
			"customers email_key":                  asking(s, s.Customer.List, customer.List{Page: page, Email: "nobody"}),
			"customers external_id":                asking(s, s.Customer.List, customer.List{Page: page, ExternalID: "none"}),
			"customers type":                       asking(s, s.Customer.List, customer.List{Page: page, Type: "none"}),
			"subscriptions customer_id":            asking(s, s.Customer.List, customer.List{Page: page, HasActiveSubscription: yes}),
			"customers id":                         asking(s, s.Customer.List, customer.List{Page: page, ListFilter: window}),
			"discounts disabled_at":                asking(s, s.Discount.List, discount.List{Page: page, Status: discount.StatusDisabled}),
			"discounts ends_at":                    asking(s, s.Discount.List, discount.List{Page: page, Status: discount.StatusExpired}),
			"discounts starts_at":                  asking(s, s.Discount.List, discount.List{Page: page, Status: discount.StatusScheduled}),
			"discounts type":                       asking(s, s.Discount.List, discount.List{Page: page, Type: "none"}),
			"discounts code_key":                   asking(s, s.Discount.List, discount.List{Page: page, Code: "none"}),
			"checkout_links active":                asking(s, s.Checkout.ListLinks, checkout.ListLinks{Page: page, Active: yes}),
			"subscriptions status":                 asking(s, s.Subscription.List, subscription.List{Page: page, Status: "none"}),
			"subscriptions cancellation_reason":    asking(s, s.Subscription.List, subscription.List{Page: page, CancellationReason: "none"}),
			"subscriptions cancel_at_period_end":   asking(s, s.Subscription.List, subscription.List{Page: page, CancelAtPeriodEnd: yes}),
			"subscriptions current_period_end":     asking(s, s.Subscription.List, subscription.List{Page: page, CurrentPeriodEndBefore: ref(core.Time(-1))}),
			"refunds status":                       asking(s, s.ListRefunds, ListRefunds{Page: page, Status: "none"}),
			"refunds reason":                       asking(s, s.ListRefunds, ListRefunds{Page: page, Reason: "none"}),
			"checkouts status":                     asking(s, s.Checkout.List, checkout.List{Page: page, Status: checkout.StatusProcessing}),
			"checkouts " + checkout.EndsUnpaid:     asking(s, s.Checkout.List, checkout.List{Page: page, Status: checkout.StatusExpired}),
			"checkouts payment_status":             asking(s, s.Checkout.List, checkout.List{Page: page, PaymentStatus: "none"}),
			"checkouts lower(customer_email)":      asking(s, s.Checkout.List, checkout.List{Page: page, CustomerEmail: "nobody"}),
			"invoices status":                      asking(s, s.Invoice.List, invoice.List{Page: page, Status: "none"}),
			"invoices collection_method":           asking(s, s.Invoice.List, invoice.List{Page: page, CollectionMethod: "none"}),
			"invoices billing_reason":              asking(s, s.Invoice.List, invoice.List{Page: page, BillingReason: "none"}),
			"invoices sequence":                    asking(s, s.Invoice.List, invoice.List{Page: page, Number: "INV-000000"}),
			"invoices order_key":                   asking(s, s.Invoice.List, invoice.List{Page: page, Order: o.ID}),
			"invoices due_at":                      asking(s, s.Invoice.List, invoice.List{Page: page, DueAfter: never}),
			"orders status":                        asking(s, s.Order.List, order.List{Page: page, Status: "none"}),
			"orders billing_reason":                asking(s, s.Order.List, order.List{Page: page, BillingReason: "none"}),
			"orders lower(customer_email)":         asking(s, s.Order.List, order.List{Page: page, CustomerEmail: "nobody"}),
			"orders customer_id":                   asking(s, s.Order.List, order.List{Page: page, Customer: o.CustomerID}),
			"orders checkout_id":                   asking(s, s.Order.List, order.List{Page: page, Checkout: *o.CheckoutID}),
			"orders number":                        asking(s, s.Order.List, order.List{Page: page, Number: ref(int64(-1))}),
			"orders created_at":                    asking(s, s.Order.List, order.List{Page: page, ListFilter: window}),
			"orders paid_at":                       asking(s, s.Order.List, order.List{Page: page, PaidAfter: never}),
			"orders total_amount":                  asking(s, s.Order.List, order.List{Page: page, TotalMin: ref(int64(1e9))}),
			"products status":                      asking(s, s.Catalog.ListProducts, catalog.ListProducts{Page: page, Status: "none"}),
			"products type":                        asking(s, s.Catalog.ListProducts, catalog.ListProducts{Page: page, Type: "none"}),
			"products visibility":                  asking(s, s.Catalog.ListProducts, catalog.ListProducts{Page: page, Visibility: "none"}),
			"products slug":                        asking(s, s.Catalog.ListProducts, catalog.ListProducts{Page: page, Slug: "none"}),
			"products external_id":                 asking(s, s.Catalog.ListProducts, catalog.ListProducts{Page: page, ExternalID: "none"}),
			"products has_recurring":               asking(s, s.Catalog.ListProducts, catalog.ListProducts{Page: page, HasRecurring: yes}),
			"price_variants status":                asking(s, s.Catalog.ListPriceVariants, catalog.ListPriceVariants{Page: page, Status: "none"}),
			"price_variants type":                  asking(s, s.Catalog.ListPriceVariants, catalog.ListPriceVariants{Page: page, Type: "none"}),
			"price_variants external_id":           asking(s, s.Catalog.ListPriceVariants, catalog.ListPriceVariants{Page: page, ExternalID: "none"}),
			"line_items product_id order_id":       listed(s, order.Columns, core.KindOrder, "line_items", "order_id", "product_id = ?"),
			"line_items price_variant_id order_id": listed(s, order.Columns, core.KindOrder, "line_items", "order_id", "price_variant_id = ?"),
			"line_items product_id checkout_id":    listed(s, checkout.Columns, core.KindCheckout, "line_items", "checkout_id", "product_id = ?"),
			"orders subscription_id":               referring(s, order.Columns, core.KindOrder, "subscription_id"),
			"orders discount_id":                   referring(s, order.Columns, core.KindOrder, "discount_id"),
			"invoices customer_id":                 referring(s, invoice.Columns, core.KindInvoice, "customer_id"),
			"invoices subscription_id":             referring(s, invoice.Columns, core.KindInvoice, "subscription_id"),
			"checkouts customer_id":                referring(s, checkout.Columns, core.KindCheckout, "customer_id"),
			"checkouts discount_id":                referring(s, checkout.Columns, core.KindCheckout, "discount_id"),
			"refunds order_id":                     referring(s, refundColumns, core.KindRefund, "order_id"),
			"refunds customer_id":                  referring(s, refundColumns, core.KindRefund, "customer_id"),
			"refunds subscription_id":              referring(s, refundColumns, core.KindRefund, "subscription_id"),
			"subscriptions product_id":             referring(s, subscription.Columns, core.KindSubscription, "product_id"),
			"subscriptions price_variant_id":       referring(s, subscription.Columns, core.KindSubscription, "price_variant_id"),
			"subscriptions discount_id":            referring(s, subscription.Columns, core.KindSubscription, "discount_id"),
			"checkout_links discount_id":           referring(s, checkout.LinkColumns, core.KindCheckoutLink, "discount_id"),
			"balance_transactions customer_id":     referring(s, customer.BalanceTransactionColumns, core.KindBalanceTransaction, "customer_id"),
			"balance_transactions reason":          asking(s, balanceOf, customer.ListBalanceTransactions{Page: page, Reason: "none"}),
			"balance_transactions currency":        asking(s, balanceOf, customer.ListBalanceTransactions{Page: page, Currency: "none"}),
			"activities actor_id":                  asking(s, s.Activity.ListActivities, activity.ListActivities{Page: page, Actor: "none"}),
			"activities operation":                 asking(s, s.Activity.ListActivities, activity.ListActivities{Page: page, Operation: "none"}),
			"activities target_id":                 asking(s, s.Activity.ListActivities, activity.ListActivities{Page: page, Target: "none"}),
			"requests class":                       asking(s, s.Requests.ListRequests, request.ListRequests{Page: page, Class: 5}),
			"requests key_id":                      asking(s, s.Requests.ListRequests, request.ListRequests{Page: page, Key: "none"}),
			"requests operation":                   asking(s, s.Requests.ListRequests, request.ListRequests{Page: page, Operation: "none"}),
			"requests path":                        asking(s, s.Requests.ListRequests, request.ListRequests{Page: page, Path: "none"}),
			"requests id":                          asking(s, s.Requests.ListRequests, request.ListRequests{Page: page, ID: "none"}),
			"activities id":                        asking(s, s.Activity.ListActivities, activity.ListActivities{Page: page, ListFilter: window}),
			"price_variants product_id":            referring(s, db.ColumnsOf[catalog.PriceVariant]("price_variants"), core.KindPriceVariant, "product_id"),
		}
		if s.Engine() == core.SQLite { // of tables that hold little PostgreSQL thinks otherwise
			maps.Copy(asked, map[string]func() error{
				"webhook_endpoints status":         asking(s, s.Outbox.ListWebhookEndpoints, outbox.ListWebhookEndpoints{Page: page, Status: "none"}),
				"social_accounts platform":         asking(s, s.Advert.ListSocialAccounts, advert.ListSocialAccounts{Page: page, Platform: "none"}),
				"social_accounts ads_status":       asking(s, s.Advert.ListSocialAccounts, advert.ListSocialAccounts{Page: page, AdsStatus: "none"}),
				"ad_actions channel_id":            asking(s, s.Advert.ListActions, advert.ListActions{Page: page, Channel: "none"}),
				"ad_actions op":                    asking(s, s.Advert.ListActions, advert.ListActions{Page: page, Op: "none"}),
				"ad_actions state":                 asking(s, s.Advert.ListActions, advert.ListActions{Page: page, State: "none"}),
				"ad_conversions destination_id":    asking(s, s.Advert.ListConversions, advert.ListConversions{Page: page, DestinationID: "none"}),
				"ad_conversions status":            asking(s, s.Advert.ListConversions, advert.ListConversions{Page: page, Status: "none"}),
				"ad_conversions kind":              asking(s, s.Advert.ListConversions, advert.ListConversions{Page: page, Kind: "none"}),
				"ad_conversions event_id":          asking(s, s.Advert.ListConversions, advert.ListConversions{Page: page, EventID: "none"}),
				"ad_actions target_id":             asking(s, s.Advert.ListActions, advert.ListActions{Page: page, TargetID: "none"}),
				"letters kind":                     asking(s, s.ListLetters, ListLetters{Page: page, Kind: "none"}),
				"letters status":                   asking(s, s.ListLetters, ListLetters{Page: page, Status: "none"}),
				"letters customer_id":              referring(s, letterColumns, core.KindLetter, "customer_id"),
				"discount_redemptions discount_id": referring(s, db.ColumnsOf[discount.Redemption]("discount_redemptions"), core.KindDiscountRedemption, "discount_id"),
				"payment_methods customer_id":      referring(s, payment.MethodColumns, core.KindPaymentMethod, "customer_id"),
			})
		}
		s.areLed(t, asked)
	})
}

// areLed holds that the lists read neither a table nor all that the account has in it. The lists are named by a table and by what leads to its rows.
func (s *shop) areLed(t *testing.T, asked map[string]func() error) {
	t.Helper()
	known := map[string]bool{}
	for name, list := range asked {
		table, columns, _ := strings.Cut(name, " ")
		for range 2 { // what is said twice is prepared, and seen here
			require.NoError(t, list(), name)
		}
		isLed := false
		for _, text := range s.said("FROM " + table + " WHERE account_id") {
			plan := s.planOf(t, text)
			if !known[text] {
				known[text] = true
				assert.False(t, readsWhole(plan), "%s\n%s", text, plan)
			}
			led := true
			for _, column := range strings.Fields(strings.ReplaceAll(columns, checkout.EndsUnpaid, "status")) {
				led = led && (leads(plan, column) || strings.ContainsAny(columns, "(") && leads(plan, "<expr>"))
			}
			isLed = isLed || led
		}
		assert.True(t, isLed, "%s does not lead to the rows", name)
	}
}

// asking returns a list by filters.
func asking[In, T any](s *shop, list func(context.Context, string, In) ([]T, bool, error), in In) func() error {
	return func() error {
		_, _, err := list(context.Background(), s.account, in)
		return err
	}
}

// referring returns a list by a reference.
func referring[T any](s *shop, c *db.Columns[T], k core.Kind, column string) func() error {
	return func() error {
		var f db.Filter
		f.OrderedIfSet(column, "none")
		_, _, err := db.Page(context.Background(), s.db, c, k, s.account, core.Page{Limit: 20}, &f)
		return err
	}
}

// listed returns a list of what another table names.
func listed[T any](s *shop, c *db.Columns[T], k core.Kind, table, column, where string) func() error {
	return func() error {
		var f db.Filter
		f.Listed(c.Table, table, column, where, "none")
		_, _, err := db.Page(context.Background(), s.db, c, k, s.account, core.Page{Limit: 20}, &f)
		return err
	}
}
