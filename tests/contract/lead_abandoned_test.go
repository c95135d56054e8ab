package contract

import (
	"testing"
	"time"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/tests/harness"
)

func TestLead_ComesOfACheckoutThatExpires(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		price := onSale(t, c, 1900)
		expire := func(email string) *sdk.Checkout {
			return ok[*sdk.Checkout](t)(c.Checkouts.Expire(background, checkout(t, c, email, price).ID))
		}
		leads := func() []sdk.Lead {
			return ok[*sdk.LeadList](t)(c.Leads.List(background, nil, sdk.Expand("customer"))).Data
		}
		if expire("ada@example.com"); len(leads()) != 0 {
			t.Fatal("an account that does not want it has a lead")
		}
		if a := ok[*sdk.Account](t)(c.Account.Update(background, &sdk.AccountUpdate{CaptureAbandonedCheckouts: new(true)})); !a.CaptureAbandonedCheckouts {
			t.Fatal("the account does not keep that it wants leads")
		}
		abandoned := expire("Ada@example.com")
		got := leads()
		if len(got) != 1 || got[0].Source != "checkout_abandoned" || *got[0].Checkout != abandoned.ID || got[0].Product.ID != price.Product.ID || got[0].Consent.Marketing {
			t.Fatalf("the leads are %+v", got)
		}
		if customer := got[0].Customer.Object; customer.Email != "Ada@example.com" || customer.Type != "lead" || customer.Name != nil {
			t.Errorf("the customer is %+v", customer)
		}
		expire("ADA@example.com")                  // who is a lead already
		purchase(t, c, "grace@example.com", price) // who has bought something
		expire("grace@example.com")                // and left another checkout
		nobody := ok[*sdk.Checkout](t)(c.Checkouts.Create(background, &sdk.CheckoutCreate{LineItems: lines(price)}))
		ok[*sdk.Checkout](t)(c.Checkouts.Expire(background, nobody.ID))
		if got := leads(); len(got) != 1 {
			t.Errorf("the leads are %+v", got)
		}
	})
}

func TestLead_ComesOfACheckoutWhoseTimeIsOver(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		ok[*sdk.Account](t)(c.Account.Update(background, &sdk.AccountUpdate{CaptureAbandonedCheckouts: new(true)}))
		price := onSale(t, c, 1900)
		ok[*sdk.Checkout](t)(c.Checkouts.Create(background, &sdk.CheckoutCreate{
			ExternalCustomerID: new("e1"), CustomerEmail: new("typed@example.com"), LineItems: []sdk.CheckoutLine{{PriceVariant: price.ID}},
		}))
		advance(t, c, 25*time.Hour)
		got := ok[*sdk.LeadList](t)(c.Leads.List(background, nil, sdk.Expand("customer"))).Data
		if len(got) != 1 || got[0].Email != "typed@example.com" || *got[0].Customer.Object.ExternalID != "e1" {
			t.Fatalf("the leads are %+v", got)
		}
		// They do not own an address that they only typed.
		if list := ok[*sdk.CustomerList](t)(c.Customers.List(background, &sdk.ListCustomersParams{Email: new("typed@example.com")})); len(list.Data) != 0 {
			t.Errorf("%+v owns the address", list.Data)
		}
	})
}
