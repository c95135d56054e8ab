package contract

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/tests/harness"
)

func TestCreateCustomer_KeepsWhatIsSent(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		made := ok[*sdk.Customer](t)(c.Customers.Create(background, &sdk.CustomerCreate{
			Email: "Ada@Example.com", Name: new("Ada"), ExternalID: new("e1"), Tags: []string{"vip", "early"},
			BillingAddress:   &sdk.Address{City: new("London"), Country: new("GB")},
			TaxID:            &sdk.TaxID{Type: "gb_vat", Value: "GB123456789"},
			MarketingConsent: &sdk.MarketingConsent{Status: "subscribed", At: new(sdk.Time("2026-01-02T03:04:05.000Z"))},
			Metadata:         &sdk.Metadata{"a": "1"},
		}))
		got := ok[*sdk.Customer](t)(c.Customers.Get(background, made.ID))
		switch {
		case got.Email != "Ada@Example.com", got.Type != "lead", got.OrdersCount != 0, len(got.TotalSpent) != 0:
			t.Errorf("the customer is %+v", got)
		case *got.BillingAddress.City != "London", got.TaxID.Value != "GB123456789", *got.MarketingConsent.At != "2026-01-02T03:04:05.000Z":
			t.Errorf("the nested objects are %+v %+v %+v", got.BillingAddress, got.TaxID, got.MarketingConsent)
		case !slices.Equal(got.Tags, []string{"vip", "early"}), got.Metadata["a"] != "1":
			t.Errorf("tags and metadata are %v and %v", got.Tags, got.Metadata)
		}
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
		if *got.Name != "Ada L." || got.Phone != nil || *got.Notes != "n" || len(got.Tags) != 1 || *got.BillingAddress.Country != "GB" {
			t.Errorf("the customer is %+v", got)
		}
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
			if len(list.Data) != 1 || list.Data[0].ID != ada.ID {
				t.Errorf("the filter %s finds %d", name, len(list.Data))
			}
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
		ok[*sdk.Deleted](t)(c.Customers.Delete(background, lead.ID))
		_, err := c.Customers.Get(background, lead.ID)
		refused(t, err, http.StatusNotFound, sdk.CodeResourceMissing, "")

		order := purchase(t, c, "grace@example.com", onSale(t, c, 1900))
		buyer := order.Customer.ID
		if deleted := ok[*sdk.Deleted](t)(c.Customers.Delete(background, buyer)); deleted.ID != buyer {
			t.Errorf("deleted is %+v", deleted)
		}
		_, err = c.Customers.Get(background, buyer)
		refused(t, err, http.StatusNotFound, sdk.CodeResourceMissing, "")
		if left := ok[*sdk.CustomerList](t)(c.Customers.List(background, nil)); len(left.Data) != 0 {
			t.Errorf("%d customers are left", len(left.Data))
		}
		order = ok[*sdk.Order](t)(c.Orders.Get(background, order.ID, sdk.Expand("customer")))
		if order.Customer.ID != buyer || order.Customer.Object != nil || order.Customer.Deleted == nil {
			t.Errorf("the order's customer is %+v", order.Customer)
		}
		again := purchase(t, c, "grace@example.com", onSale(t, c, 1900)) // the address is free again
		if again.Customer.ID == buyer {
			t.Error("a deleted customer bought something")
		}
	})
}
