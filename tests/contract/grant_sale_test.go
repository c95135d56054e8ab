package contract

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/tests/harness"
)

// had are the grants of a customer, oldest first.
func had(t *testing.T, c *sdk.Client, customer string) []sdk.Grant {
	t.Helper()
	list := ok[*sdk.GrantList](t)(c.Grants.List(background, &sdk.ListGrantsParams{Customer: &customer})).Data
	slices.Reverse(list)
	return list
}

// says checks the state and the reason of a grant.
func says(t *testing.T, g sdk.Grant, status, reason, when string) {
	t.Helper()
	is := ""
	if g.Reason != nil {
		is = string(*g.Reason)
	}
	assert.Equal(t, status, string(g.Status), "%s the grant", when)
	assert.Equal(t, reason, is, "%s the grant", when)
}

func TestConfirmCheckout_GivesWhatWasBought(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		guide := delivering(t, c)
		book := onSale(t, c, 1900)
		tip := ok[*sdk.Product](t)(c.Products.Create(background, &sdk.ProductCreate{
			Name: "Tip", Type: new(sdk.ProductType("tip")), Status: new(sdk.ProductStatusActive), PriceVariants: []sdk.ProductPriceVariant{{Amount: new(int64(500)), Currency: new("usd")}},
		}))
		checkout := ok[*sdk.Checkout](t)(c.Checkouts.Create(background, &sdk.CheckoutCreate{CustomerEmail: new("ada@example.com"), LineItems: []sdk.CheckoutLine{
			{PriceVariant: guide.PriceVariants[0].ID}, {PriceVariant: book.ID, Quantity: new(int64(3))}, {PriceVariant: tip.PriceVariants[0].ID},
		}}))
		paid := ok[*sdk.Checkout](t)(c.Checkouts.Confirm(background, checkout.ID, &sdk.CheckoutConfirm{PaymentMethod: &sdk.PaymentMethod{Token: "pm_card_visa"}}))
		order := ok[*sdk.Order](t)(c.Orders.Get(background, paid.Order.ID, sdk.Expand("grants")))
		if len(order.Grants) != 2 {
			t.Fatalf("the order gave %+v", order.Grants)
		}
		first, second := order.Grants[0].Object, order.Grants[1].Object
		switch {
		case first.Product.ID != guide.ID, first.Customer.ID != order.Customer.ID, first.PriceVariant.ID != guide.PriceVariants[0].ID, first.Source.Type != "order", *first.Source.ID != order.ID:
			t.Errorf("the first grant is %+v", first)
		case first.Status != "active", len(first.Deliverables) != 1, first.ExpiresAt != nil:
			t.Errorf("the first grant is %+v", first)
		case second.Quantity != 3, second.Product.ID != book.Product.ID, len(second.Deliverables) != 0:
			t.Errorf("the second grant is %+v", second)
		}
		state := ok[*sdk.CustomerState](t)(c.Customers.GetState(background, order.Customer.ID))
		require.Len(t, state.Grants, 2, "the customer")
		assert.Equal(t, second.ID, state.Grants[0].ID, "the customer")
		found := ok[*sdk.GrantList](t)(c.Grants.List(background, &sdk.ListGrantsParams{Source: &order.ID})).Data
		if len(found) != 2 {
			t.Errorf("by its source %d are found", len(found))
		}
	})
}

// TestGetPublicCheckout_NamesFilesAndExperiences says what a shop's own page can show of what has no name on the product, and how a file is downloaded.
func TestGetPublicCheckout_NamesFilesAndExperiences(t *testing.T) {
	onEach(t, func(t *testing.T, _ *sdk.Client, s *harness.Server) {
		owner := s.Account(t)
		c := owner.SDK()
		file := readyFile(t, owner, "Notes.pdf", "hello")
		circle := ok[*sdk.Experience](t)(c.Experiences.Create(background, &sdk.ExperienceCreate{Name: "Circle", Type: "link", Content: &sdk.ExperienceContent{URL: new("https://example.com/circle")}}))
		ok[*sdk.Experience](t)(c.Experiences.Publish(background, circle.ID))
		in := sellable("Guide")
		in.Status = new(sdk.ProductStatus("active"))
		in.Deliverables = []sdk.Deliverable{{Type: "file", Ref: &file.ID}, {Type: "experience", Ref: &circle.ID}, {Type: "file", Ref: &file.ID, Name: new("The notes")}}
		guide := ok[*sdk.Product](t)(c.Products.Create(background, in))
		checkout := ok[*sdk.Checkout](t)(c.Checkouts.Create(background, &sdk.CheckoutCreate{
			CustomerEmail: new("ada@example.com"), LineItems: []sdk.CheckoutLine{{PriceVariant: guide.PriceVariants[0].ID}},
		}))
		paid := ok[*sdk.PublicCheckout](t)(c.PublicCheckouts.Confirm(background, checkout.ClientSecret, &sdk.CheckoutConfirm{PaymentMethod: &sdk.PaymentMethod{Token: "pm_card_visa"}}))
		var names []string
		for _, d := range paid.Deliveries {
			names = append(names, core.Deref(d.Name))
		}
		if got := strings.Join(names, ", "); got != "Notes.pdf, Circle, The notes" {
			t.Errorf("the buyer reads %q", got)
		}
		require.NotEmpty(t, paid.Deliveries, "nothing says where the file")
		require.NotNil(t, paid.Deliveries[0].URL, "nothing says where the file")
		buyer := owner.As("")
		buyer.HTTP = &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
		address := ok[*url.URL](t)(url.Parse(*paid.Deliveries[0].URL))
		page := buyer.Do(t, http.MethodGet, address.Path, nil)
		resp := buyer.Do(t, http.MethodGet, ok[*url.URL](t)(url.Parse(page.Header.Get("Location"))).Path, nil)
		assert.Equal(t, http.StatusOK, resp.Status)
		assert.Equal(t, "hello", string(resp.Body))
		success := string(buyer.Do(t, http.MethodGet, ok[*url.URL](t)(url.Parse(paid.URL)).Path, nil).Body)
		assert.Contains(t, success, "Notes.pdf", "the page of what was bought")
		assert.Contains(t, success, "Circle", "the page of what was bought")
	})
}

// TestGetPublicCheckout_ShowsWhatWasBought says what the page of a shop can show a buyer, and how long.
func TestGetPublicCheckout_ShowsWhatWasBought(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, s *harness.Server) {
		in := sellable("Guide")
		in.Status = new(sdk.ProductStatus("active"))
		in.Deliverables = []sdk.Deliverable{{Type: "link", Ref: new("https://example.com/chat"), Name: new("Chat")}, {Type: "license_key"}}
		guide := ok[*sdk.Product](t)(c.Products.Create(background, in))
		german := &sdk.CheckoutCreate{
			CustomerEmail: new("ada@example.com"), LineItems: []sdk.CheckoutLine{{PriceVariant: guide.PriceVariants[0].ID}}, BillingAddress: &sdk.Address{Country: new("DE")},
		}
		checkout := ok[*sdk.Checkout](t)(c.Checkouts.Create(background, german))
		shown := func() *sdk.PublicCheckout {
			return ok[*sdk.PublicCheckout](t)(c.PublicCheckouts.Get(background, checkout.ClientSecret))
		}
		before := shown()
		require.Empty(t, before.Deliveries, "before it is paid")
		assert.True(t, before.WithdrawalWaiverNeeded, "before it is paid")
		moved := ok[*sdk.PublicCheckout](t)(c.PublicCheckouts.Update(background, checkout.ClientSecret, &sdk.PublicCheckoutUpdate{BillingAddress: sdk.Set(sdk.Address{Country: new("US")})}))
		if moved.WithdrawalWaiverNeeded {
			t.Error("no law of the United States asks for a waiver")
		}
		back := ok[*sdk.PublicCheckout](t)(c.PublicCheckouts.Update(background, checkout.ClientSecret, &sdk.PublicCheckoutUpdate{BillingAddress: sdk.Set(sdk.Address{Country: new("DE")})}))
		_, err := c.Checkouts.Confirm(background, checkout.ID, &sdk.CheckoutConfirm{PaymentMethod: &sdk.PaymentMethod{Token: "pm_card_chargeDeclined"}, WithdrawalWaived: new(true)})
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "payment_method")
		declined := shown()
		assert.True(t, back.WithdrawalWaiverNeeded, "who has given their waiver is asked")
		assert.EqualValues(t, "open", declined.Status, "who has given their waiver is asked")
		assert.False(t, declined.WithdrawalWaiverNeeded, "who has given their waiver is asked")
		silent := ok[*sdk.Checkout](t)(c.Checkouts.Create(background, german))
		ok[*sdk.Checkout](t)(c.Checkouts.Confirm(background, silent.ID, &sdk.CheckoutConfirm{PaymentMethod: &sdk.PaymentMethod{Token: "pm_card_visa"}}))
		if bought := ok[*sdk.PublicCheckout](t)(c.PublicCheckouts.Get(background, silent.ClientSecret)); bought.WithdrawalWaiverNeeded {
			t.Error("once it is paid there is nobody to ask")
		}
		paid := ok[*sdk.Checkout](t)(c.Checkouts.Confirm(background, checkout.ID, &sdk.CheckoutConfirm{PaymentMethod: &sdk.PaymentMethod{Token: "pm_card_visa"}}))
		got := shown().Deliveries
		require.Len(t, got, 2, "it delivers")
		assert.Equal(t, "Chat", *got[0].Name, "it delivers")
		assert.Equal(t, "https://example.com/chat", *got[0].URL, "it delivers")
		require.NotNil(t, got[1].Key, "it delivers")
		assert.GreaterOrEqual(t, len(*got[1].Key), 20, "it delivers")
		ok[*sdk.Refund](t)(c.Refunds.Create(background, &sdk.RefundCreate{Order: paid.Order.ID}))
		if after := shown(); len(after.Deliveries) != 0 {
			t.Errorf("after the refund it delivers %+v", after.Deliveries)
		}
	})
}

func TestFinalizeInvoice_GivesOnceItIsPaid(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		guide, ada := delivering(t, c), member(t, c)
		invoice := issue(t, c, ada, sdk.InvoiceLineCreate{PriceVariant: new(guide.PriceVariants[0].ID)}, workshop(100))
		if given := had(t, c, ada.ID); len(given) != 0 {
			t.Errorf("before it is paid there are %+v", given)
		}
		ok[*sdk.Invoice](t)(c.Invoices.Pay(background, invoice.ID, &sdk.InvoicePay{OutOfBand: new(true)}))
		given := had(t, c, ada.ID)
		require.Len(t, given, 1, "once it is paid there")
		assert.Equal(t, guide.ID, given[0].Product.ID, "once it is paid there")
	})
}

func TestCreateRefund_RevokesOnceItHasSucceeded(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		order := paidWith(t, c, "pm_card_visa")
		ok[*sdk.Refund](t)(c.Refunds.Create(background, &sdk.RefundCreate{Order: order.ID, Amount: new(int64(100))}))
		says(t, had(t, c, order.Customer.ID)[0], "active", "", "after a part is refunded")
		ok[*sdk.Refund](t)(c.Refunds.Create(background, &sdk.RefundCreate{Order: order.ID, Amount: new(int64(100)), RevokeAccess: new(true)}))
		says(t, had(t, c, order.Customer.ID)[0], "revoked", "refund", "after a refund that says so")

		waiting := paidWith(t, c, "pm_card_pendingRefund")
		own := func() sdk.Grant {
			return *ok[*sdk.Order](t)(c.Orders.Get(background, waiting.ID, sdk.Expand("grants"))).Grants[0].Object
		}
		refund := ok[*sdk.Refund](t)(c.Refunds.Create(background, &sdk.RefundCreate{Order: waiting.ID}))
		says(t, own(), "active", "", "while the refund is pending")
		ok[*sdk.Refund](t)(c.TestHelpers.SettleRefund(background, refund.ID, &sdk.RefundSettlement{Status: "succeeded"}))
		says(t, own(), "revoked", "refund", "after all is refunded")
	})
}

func TestSubscription_GivesAsLongAsItGoesOn(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		sub := subscription(t, c, monthly(t, c, 900))
		now := func() sdk.Grant { return had(t, c, sub.Customer.ID)[0] }
		g := now()
		assert.Equal(t, sub.ID, *g.Source.ID)
		assert.EqualValues(t, "subscription", g.Source.Type)
		assert.Equal(t, sub.Product.ID, g.Product.ID)
		advance(t, c, 32*24*time.Hour)
		orders := ok[*sdk.OrderList](t)(c.Orders.List(background, &sdk.ListOrdersParams{Customer: &sub.Customer.ID})).Data
		require.Len(t, orders, 2, "its orders")
		require.Len(t, orders[0].Grants, 1, "its orders")
		assert.Equal(t, now().ID, orders[0].Grants[0].ID, "its orders")
		assert.Equal(t, now().ID, orders[1].Grants[0].ID, "its orders")
		ok[*sdk.Subscription](t)(c.Subscriptions.Pause(background, sub.ID, &sdk.SubscriptionPause{AtPeriodEnd: new(false)}))
		says(t, now(), "suspended", "paused", "while it is paused")
		ok[*sdk.Subscription](t)(c.Subscriptions.Resume(background, sub.ID))
		says(t, now(), "active", "", "when it is resumed")
		ok[*sdk.Subscription](t)(c.Subscriptions.Cancel(background, sub.ID, &sdk.SubscriptionCancel{AtPeriodEnd: new(true)}))
		says(t, now(), "active", "", "until the period ends")
		advance(t, c, 32*24*time.Hour)
		says(t, now(), "revoked", "subscription_ended", "when it has ended")
	})
}

func TestSubscription_KeepsOrSuspendsWhilePastDue(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		for access, status := range map[string]string{"keep": "active", "suspend": "suspended"} {
			ok[*sdk.Account](t)(c.Account.Update(background, &sdk.AccountUpdate{PastDueAccess: new(sdk.PastDueAccess(access))}))
			sub := ok[*sdk.Subscription](t)(c.Subscriptions.Create(background, &sdk.SubscriptionCreate{
				Customer: member(t, c).ID, PriceVariant: monthly(t, c, 900).ID, PaymentMethod: new("tok_fail_on_renewal"),
			}))
			endPeriod(t, c, sub)
			reason := map[string]string{"active": "", "suspended": "past_due"}[status]
			says(t, had(t, c, sub.Customer.ID)[0], status, reason, "with "+access)
			saved := ok[*sdk.SavedPaymentMethod](t)(c.Customers.CreatePaymentMethod(background, sub.Customer.ID, &sdk.SavedPaymentMethodCreate{PaymentMethod: sdk.PaymentMethod{Token: "pm_card_visa"}}))
			ok[*sdk.Subscription](t)(c.Subscriptions.Update(background, sub.ID, &sdk.SubscriptionUpdate{PaymentMethod: &saved.ID}))
			advance(t, c, 0)
			says(t, had(t, c, sub.Customer.ID)[0], "active", "", "once it is paid")
		}
	})
}

func TestChangeSubscription_GivesTheOtherProduct(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		low, high := monthly(t, c, 900), monthly(t, c, 1900)
		sub := subscription(t, c, low)
		ok[*sdk.Subscription](t)(c.Subscriptions.Change(background, sub.ID, &sdk.SubscriptionChangeCreate{PriceVariant: &high.ID}))
		given := had(t, c, sub.Customer.ID)
		says(t, given[0], "revoked", "plan_change", "of the former product")
		says(t, given[1], "active", "", "of the new product")
		order := ok[*sdk.OrderList](t)(c.Orders.List(background, &sdk.ListOrdersParams{Customer: &sub.Customer.ID})).Data[0]
		assert.Equal(t, high.Product.ID, given[1].Product.ID, "the order of the change gave")
		require.Len(t, order.Grants, 1, "the order of the change gave")
		assert.Equal(t, given[1].ID, order.Grants[0].ID, "the order of the change gave")
		ok[*sdk.Subscription](t)(c.Subscriptions.Change(background, sub.ID, &sdk.SubscriptionChangeCreate{PriceVariant: &low.ID}))
		back := had(t, c, sub.Customer.ID)
		if len(back) != 2 {
			t.Errorf("changing back makes %d grants", len(back))
		}
		says(t, back[0], "active", "", "of the former product again")
		says(t, back[1], "revoked", "plan_change", "of the other one again")
	})
}

func TestPayInvoice_OfWhomWasDeletedGivesNothing(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		v := onSale(t, c, 1900)
		for _, isDeleted := range []bool{false, true} {
			invoice := issue(t, c, member(t, c), sdk.InvoiceLineCreate{PriceVariant: &v.ID})
			if isDeleted {
				ok[*sdk.Deleted](t)(c.Customers.Delete(background, invoice.Customer.ID, nil))
			}
			paid := ok[*sdk.Invoice](t)(c.Invoices.Pay(background, invoice.ID, &sdk.InvoicePay{OutOfBand: new(true)}, sdk.Expand("order")))
			if given := paid.Order.Object.Grants; (len(given) == 0) != isDeleted {
				t.Errorf("the customer is deleted: %t, and is given %+v", isDeleted, given)
			}
		}
	})
}

func TestMergeCustomer_MovesWhatTheyHave(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		order, ada := paidWith(t, c, "pm_card_visa"), member(t, c)
		ok[*sdk.Customer](t)(c.Customers.Merge(background, ada.ID, &sdk.CustomerMerge{From: order.Customer.ID}))
		given := had(t, c, ada.ID)
		require.Len(t, given, 1, "after the merge they")
		assert.Equal(t, order.Grants[0].ID, given[0].ID, "after the merge they")
		ok[*sdk.Deleted](t)(c.Customers.Delete(background, ada.ID, nil))
		says(t, *ok[*sdk.Grant](t)(c.Grants.Get(background, order.Grants[0].ID)), "revoked", "customer_deleted", "after they are deleted")
	})
}
