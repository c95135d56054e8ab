package contract

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/tests/harness"
)

func TestCreateCustomer_KeepsWhatIsSent(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		made := ok[*sdk.Customer](t)(c.Customers.Create(background, &sdk.CustomerCreate{
			Email: "Ada@Example.com", Name: new("Ada"), ExternalID: new("e1"), Tags: []string{"vip", "early"},
			BillingAddress:   &sdk.Address{Company: new("Analytical Ltd."), City: new("London"), Country: new("GB")},
			TaxID:            &sdk.TaxID{Type: "gb_vat", Value: "GB123456789"},
			MarketingConsent: &sdk.MarketingConsent{Status: "subscribed", At: new(sdk.Time("2026-01-02T03:04:05.000Z")), Text: new("Write to me.")},
			Metadata:         &sdk.Metadata{"a": "1"},
		}))
		got := ok[*sdk.Customer](t)(c.Customers.Get(background, made.ID))
		switch {
		case got.Email != "Ada@Example.com", got.Type != "lead", got.OrdersCount != 0, len(got.TotalSpent) != 0:
			t.Errorf("the customer is %+v", got)
		case *got.BillingAddress.City != "London", *got.BillingAddress.Company != "Analytical Ltd.", got.TaxID.Value != "GB123456789", *got.MarketingConsent.At != "2026-01-02T03:04:05.000Z", *got.MarketingConsent.Text != "Write to me.":
			t.Errorf("the nested objects are %+v %+v %+v", got.BillingAddress, got.TaxID, got.MarketingConsent)
		case !slices.Equal(got.Tags, []string{"vip", "early"}), got.Metadata["a"] != "1":
			t.Errorf("tags and metadata are %v and %v", got.Tags, got.Metadata)
		}

		said := *got.MarketingConsent // as a client sends it back that does not know of the words
		said.Text = nil
		got = ok[*sdk.Customer](t)(c.Customers.Update(background, made.ID, &sdk.CustomerUpdate{MarketingConsent: sdk.Set(said)}))
		assert.Equal(t, "Write to me.", *got.MarketingConsent.Text)
		said.At = new(sdk.Time("2026-01-03T03:04:05.000Z"))
		got = ok[*sdk.Customer](t)(c.Customers.Update(background, made.ID, &sdk.CustomerUpdate{MarketingConsent: sdk.Set(said)}))
		assert.Nil(t, got.MarketingConsent.Text, "they are those of another consent")
		_, err := c.Customers.Update(background, made.ID, &sdk.CustomerUpdate{MarketingConsent: sdk.Set(sdk.MarketingConsent{Status: "subscribed", Text: new("Write to me.")})})
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "marketing_consent.at")
	})
}

func TestCreateCustomer_KeepsEmailAndExternalIDUnique(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, s *harness.Server) {
		body := &sdk.CustomerCreate{Email: "ada@example.com", ExternalID: new("e1")}
		ok[*sdk.Customer](t)(c.Customers.Create(background, body))
		_, err := c.Customers.Create(background, &sdk.CustomerCreate{Email: "ADA@example.com"})
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "email")
		_, err = c.Customers.Create(background, &sdk.CustomerCreate{Email: "grace@example.com", ExternalID: new("e1")})
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "external_id")
		other := ok[*sdk.Customer](t)(c.Customers.Create(background, &sdk.CustomerCreate{Email: "grace@example.com"}))
		_, err = c.Customers.Update(background, other.ID, &sdk.CustomerUpdate{Email: new("Ada@Example.Com")})
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "email")
		_, err = c.Customers.Create(background, &sdk.CustomerCreate{Email: "two@at@example.com"})
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "email")
		ok[*sdk.Customer](t)(s.SDK(t).Customers.Create(background, body)) // another account
	})
}

func TestUpdateCustomer_KnowsAbsentNullAndValue(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		made := ok[*sdk.Customer](t)(c.Customers.Create(background, &sdk.CustomerCreate{Email: "ada@example.com", Name: new("Ada"), Phone: new("1"), Notes: new("n")}))
		got := ok[*sdk.Customer](t)(c.Customers.Update(background, made.ID, &sdk.CustomerUpdate{
			Name: sdk.Set("Ada L."), Phone: sdk.Null[string](), Tags: []string{"vip"},
			BillingAddress: sdk.Set(sdk.Address{Country: new("GB")}),
		}))
		assert.Equal(t, "Ada L.", *got.Name, "the customer")
		require.Nil(t, got.Phone, "the customer")
		assert.Equal(t, "n", *got.Notes, "the customer")
		require.Len(t, got.Tags, 1, "the customer")
		assert.Equal(t, "GB", *got.BillingAddress.Country, "the customer")
		same := ok[*sdk.Customer](t)(c.Customers.Update(background, made.ID, &sdk.CustomerUpdate{Name: sdk.Set("Ada L.")}))
		if same.UpdatedAt != got.UpdatedAt {
			t.Error("a change that changes nothing touched updated_at")
		}
	})
}

func TestGetCustomer_TakesTheAliasAndTheSellersOwnID(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		made := ok[*sdk.Customer](t)(c.Customers.Create(background, &sdk.CustomerCreate{Email: "ada@example.com", ExternalID: new("a:b ü")}))
		alias := "cust_" + strings.TrimPrefix(made.ID, "cus_")
		if got := ok[*sdk.Customer](t)(c.Customers.Get(background, alias)); got.ID != made.ID {
			t.Errorf("the alias finds %s", got.ID)
		}
		if got := ok[*sdk.Customer](t)(c.Customers.GetByExternalID(background, "a:b ü")); got.ID != made.ID {
			t.Errorf("the external id finds %s", got.ID)
		}
		for n, id := range []string{"100%", "%41", "a%2Bb", "50% off", "%", "%zz"} {
			made := ok[*sdk.Customer](t)(c.Customers.Create(background, &sdk.CustomerCreate{Email: fmt.Sprintf("percent%d@example.com", n), ExternalID: &id}))
			if got := ok[*sdk.Customer](t)(c.Customers.GetByExternalID(background, id)); got.ID != made.ID {
				t.Errorf("%s is %s, not %s", id, got.ID, made.ID)
			}
		}
		_, err := c.Customers.GetByExternalID(background, "nobody")
		refused(t, err, http.StatusNotFound, sdk.CodeResourceMissing, "")
	})
}

func TestListCustomers_Filters(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		ada := ok[*sdk.Customer](t)(c.Customers.Create(background, &sdk.CustomerCreate{Email: "Ada@example.com", ExternalID: new("e1"), Tags: []string{"vip"}}))
		ok[*sdk.Customer](t)(c.Customers.Create(background, &sdk.CustomerCreate{Email: "grace@example.com", Name: new("Grace"), Tags: []string{"vips"}}))
		for name, filter := range map[string]sdk.ListCustomersParams{
			"email":       {Email: new("ADA@example.com")},
			"external_id": {ExternalID: new("e1")},
			"tag":         {Tag: new("vip")},
			"q":           {Q: new("ada@")},
		} {
			list := ok[*sdk.CustomerList](t)(c.Customers.List(background, &filter))
			require.Len(t, list.Data, 1, "the filter %s", name)
			assert.Equal(t, ada.ID, list.Data[0].ID, "the filter %s", name)
		}
		customers := ok[*sdk.CustomerList](t)(c.Customers.List(background, &sdk.ListCustomersParams{Type: new(sdk.CustomerType("customer"))}))
		if len(customers.Data) != 0 {
			t.Errorf("nobody bought anything, %d customers did", len(customers.Data))
		}
	})
}

func TestDeleteCustomer_ForgetsThePersonAndKeepsTheOrders(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		lead := ok[*sdk.Customer](t)(c.Customers.Create(background, &sdk.CustomerCreate{Email: "ada@example.com"}))
		ok[*sdk.Deleted](t)(c.Customers.Delete(background, lead.ID, nil))
		_, err := c.Customers.Get(background, lead.ID)
		refused(t, err, http.StatusNotFound, sdk.CodeResourceMissing, "")

		order := purchase(t, c, "grace@example.com", onSale(t, c, 1900))
		buyer := order.Customer.ID
		if deleted := ok[*sdk.Deleted](t)(c.Customers.Delete(background, buyer, nil)); deleted.ID != buyer {
			t.Errorf("deleted is %+v", deleted)
		}
		_, err = c.Customers.Get(background, buyer)
		refused(t, err, http.StatusNotFound, sdk.CodeResourceMissing, "")
		if left := ok[*sdk.CustomerList](t)(c.Customers.List(background, nil)); len(left.Data) != 0 {
			t.Errorf("%d customers are left", len(left.Data))
		}
		order = ok[*sdk.Order](t)(c.Orders.Get(background, order.ID, sdk.Expand("customer")))
		assert.Equal(t, buyer, order.Customer.ID, "the order's customer")
		require.Nil(t, order.Customer.Object, "the order's customer")
		assert.NotNil(t, order.Customer.Deleted, "the order's customer")
		again := purchase(t, c, "grace@example.com", onSale(t, c, 1900)) // the address is free again
		if again.Customer.ID == buyer {
			t.Error("a deleted customer bought something")
		}
	})
}

func TestListCustomers_FiltersByActiveSubscription(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		v := monthly(t, c, 900)
		active, ended := subscription(t, c, v), subscription(t, c, v)
		ok[*sdk.Subscription](t)(c.Subscriptions.Cancel(background, ended.ID, &sdk.SubscriptionCancel{AtPeriodEnd: new(false)}))
		with := ok[*sdk.CustomerList](t)(c.Customers.List(background, &sdk.ListCustomersParams{HasActiveSubscription: new(true)}))
		require.Len(t, with.Data, 1)
		assert.Equal(t, active.Customer.ID, with.Data[0].ID)
		without := ok[*sdk.CustomerList](t)(c.Customers.List(background, &sdk.ListCustomersParams{HasActiveSubscription: new(false)}))
		require.Len(t, without.Data, 1)
		assert.Equal(t, ended.Customer.ID, without.Data[0].ID)
	})
}

func TestGetCustomerState_SaysWhatTheCustomerHasAndOwes(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, s *harness.Server) {
		v := monthly(t, c, 900)
		sub := subscription(t, c, v)
		who := sub.Customer.ID
		ended := ok[*sdk.Subscription](t)(c.Subscriptions.Create(background, &sdk.SubscriptionCreate{Customer: who, PriceVariant: v.ID, PaymentMethod: new("pm_card_visa")}))
		ok[*sdk.Subscription](t)(c.Subscriptions.Cancel(background, ended.ID, &sdk.SubscriptionCancel{AtPeriodEnd: new(false)}))
		invoice := ok[*sdk.Invoice](t)(c.Invoices.Create(background, &sdk.InvoiceCreate{
			Customer: who, CollectionMethod: new(sdk.CollectionMethod("send_invoice")), DueAt: new(sdk.TimeOf(time.Now().Add(48 * time.Hour))), Finalize: new(true),
			Lines: []sdk.InvoiceLineCreate{{Description: new("Workshop"), UnitAmount: new(int64(5000))}},
		}))
		state := ok[*sdk.CustomerState](t)(c.Customers.GetState(background, who))
		assert.Equal(t, "customer_state", state.Object, "the customer")
		assert.Equal(t, who, state.Customer.ID, "the customer")
		assert.EqualValues(t, 3, state.Customer.OrdersCount, "the customer")
		require.Len(t, state.ActiveSubscriptions, 1)
		assert.Equal(t, sub.ID, state.ActiveSubscriptions[0].ID)
		assert.Equal(t, sub.Product.ID, state.ActiveSubscriptions[0].Product.ID)
		require.Len(t, state.OpenInvoices, 1, "they owe")
		assert.Equal(t, invoice.ID, state.OpenInvoices[0].ID, "they owe")
		assert.EqualValues(t, 5000, state.OpenInvoices[0].AmountDue, "they owe")
		assert.NotNil(t, state.OpenInvoices[0].HostedURL, "they owe")
		nothing := ok[*sdk.CustomerState](t)(c.Customers.GetState(background, member(t, c).ID))
		require.Empty(t, nothing.ActiveSubscriptions, "a lead")
		assert.Empty(t, nothing.OpenInvoices, "a lead")
		_, err := s.SDK(t).Customers.GetState(background, who)
		refused(t, err, http.StatusNotFound, sdk.CodeResourceMissing, "")
	})
}

// One that is past due goes on: there are attempts to come.
func TestGetCustomerState_KeepsAPastDueSubscription(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		sub := ok[*sdk.Subscription](t)(c.Subscriptions.Create(background, &sdk.SubscriptionCreate{
			Customer: member(t, c).ID, PriceVariant: monthly(t, c, 900).ID, PaymentMethod: new("tok_fail_on_renewal"),
		}))
		endPeriod(t, c, sub)
		state := ok[*sdk.CustomerState](t)(c.Customers.GetState(background, sub.Customer.ID))
		require.Len(t, state.ActiveSubscriptions, 1)
		assert.Equal(t, sdk.SubscriptionStatusPastDue, state.ActiveSubscriptions[0].Status)
		assert.Len(t, state.OpenInvoices, 1)
		ok[*sdk.Deleted](t)(c.Customers.Delete(background, sub.Customer.ID, &sdk.DeleteCustomerParams{CancelSubscriptions: new(true)}))
		ended := ok[*sdk.Subscription](t)(c.Subscriptions.Get(background, sub.ID, sdk.Expand("latest_invoice")))
		assert.Equal(t, sdk.SubscriptionStatusCanceled, ended.Status)
		assert.Equal(t, sdk.InvoiceStatusVoid, ended.LatestInvoice.Object.Status)
		assert.Equal(t, "subscription_canceled", *ended.LatestInvoice.Object.VoidReason)
	})
}

func TestDeleteCustomer_CancelsNothingWithoutTheScopeForIt(t *testing.T) {
	onEach(t, func(t *testing.T, _ *sdk.Client, s *harness.Server) {
		owner := s.Account(t)
		sub := subscription(t, owner.SDK(), monthly(t, owner.SDK(), 900))
		limited := owner.As(s.Key(t, owner.Account, "customers:write")).SDK()
		_, err := limited.Customers.Delete(background, sub.Customer.ID, &sdk.DeleteCustomerParams{CancelSubscriptions: new(true)})
		refused(t, err, http.StatusForbidden, sdk.CodeForbidden, "subscriptions:write")
		if still := ok[*sdk.Subscription](t)(owner.SDK().Subscriptions.Get(background, sub.ID)); still.EndedAt != nil {
			t.Errorf("it is %+v", still)
		}
	})
}

func TestDeleteCustomer_CancelsSubscriptionsOnlyIfAsked(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		v := monthly(t, c, 900)
		one := subscription(t, c, v)
		who := one.Customer.ID
		two := ok[*sdk.Subscription](t)(c.Subscriptions.Create(background, &sdk.SubscriptionCreate{Customer: who, PriceVariant: v.ID, PaymentMethod: new("pm_card_visa")}))
		ok[*sdk.Subscription](t)(c.Subscriptions.Cancel(background, two.ID, &sdk.SubscriptionCancel{Reason: new(sdk.CancellationFeedbackUnused)}))
		for _, params := range []*sdk.DeleteCustomerParams{nil, {}, {CancelSubscriptions: new(false)}} {
			_, err := c.Customers.Delete(background, who, params)
			refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "base")
		}
		_, err := c.Customers.Delete(background, randomID("cus"), &sdk.DeleteCustomerParams{CancelSubscriptions: new(true)})
		refused(t, err, http.StatusNotFound, sdk.CodeResourceMissing, "")
		ok[*sdk.Deleted](t)(c.Customers.Delete(background, who, &sdk.DeleteCustomerParams{CancelSubscriptions: new(true)}))
		_, err = c.Customers.Get(background, who)
		refused(t, err, http.StatusNotFound, sdk.CodeResourceMissing, "")
		for _, sub := range []*sdk.Subscription{one, two} {
			got := ok[*sdk.Subscription](t)(c.Subscriptions.Get(background, sub.ID))
			assert.Equal(t, sdk.SubscriptionStatusCanceled, got.Status)
			require.NotNil(t, got.EndedAt)
			assert.NotNil(t, got.Cancellation)
			if sub == two && *got.Cancellation.Reason != sdk.CancellationReasonUnused {
				t.Errorf("why it was cancelled is forgotten: %+v", got.Cancellation)
			}
		}
		advance(t, c, 40*24*time.Hour)
		if orders := ok[*sdk.OrderList](t)(c.Orders.List(background, nil)).Data; len(orders) != 2 {
			t.Errorf("%d orders after a month", len(orders))
		}
	})
}

func TestExportCustomers_IsAURLThatExpires(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		isSigned(t, ok[*sdk.SignedURL](t)(c.Customers.Export(background, &sdk.ExportCustomersParams{Type: new(sdk.CustomerType("customer")), HasActiveSubscription: new(true)})))
	})
}

func TestMergeCustomer_GivesOneWhatTheOtherHad(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, s *harness.Server) {
		sub := subscription(t, c, monthly(t, c, 900))
		order := purchase(t, c, "ada@example.com", onSale(t, c, 1900))
		into, from := order.Customer.ID, sub.Customer.ID
		merged := ok[*sdk.Customer](t)(c.Customers.Merge(background, into, &sdk.CustomerMerge{From: from}, sdk.Expand("default_payment_method")))
		assert.Equal(t, into, merged.ID)
		assert.Equal(t, "ada@example.com", merged.Email)
		assert.EqualValues(t, 2, merged.OrdersCount)
		assert.EqualValues(t, 2800, merged.TotalSpent["usd"])
		assert.Equal(t, "4242", merged.DefaultPaymentMethod.Object.Last4)
		state := ok[*sdk.CustomerState](t)(c.Customers.GetState(background, into))
		require.Len(t, state.ActiveSubscriptions, 1)
		assert.Equal(t, sub.ID, state.ActiveSubscriptions[0].ID)
		assert.Equal(t, into, state.ActiveSubscriptions[0].Customer.ID)
		if orders := ok[*sdk.OrderList](t)(c.Orders.List(background, &sdk.ListOrdersParams{Customer: &into})).Data; len(orders) != 2 {
			t.Errorf("%d orders are theirs", len(orders))
		}
		gone := func(err error, param string) {
			t.Helper()
			refused(t, err, http.StatusNotFound, sdk.CodeResourceMissing, param)
		}
		_, err := c.Customers.Get(background, from)
		gone(err, "")
		_, err = c.Customers.Delete(background, from, nil)
		gone(err, "")
		_, err = c.Orders.List(background, &sdk.ListOrdersParams{Customer: &from})
		gone(err, "customer")
		_, err = c.Customers.Merge(background, into, &sdk.CustomerMerge{From: from})
		gone(err, "from")
		_, err = c.Customers.Merge(background, from, &sdk.CustomerMerge{From: into})
		gone(err, "")
		_, err = c.Customers.Merge(background, into, &sdk.CustomerMerge{From: into})
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "from")
		other := s.SDK(t)
		_, err = other.Customers.Merge(background, ok[*sdk.Customer](t)(other.Customers.Create(background, &sdk.CustomerCreate{Email: "x@example.com"})).ID, &sdk.CustomerMerge{From: into})
		gone(err, "from")
	})
}
