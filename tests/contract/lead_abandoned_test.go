package contract

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

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
		require.Len(t, got, 1, "the leads")
		require.EqualValues(t, "checkout_abandoned", got[0].Source, "the leads")
		require.Equal(t, abandoned.ID, *got[0].Checkout, "the leads")
		require.Equal(t, price.Product.ID, got[0].Product.ID, "the leads")
		require.False(t, got[0].Consent.Marketing, "the leads")
		customer := got[0].Customer.Object
		assert.Equal(t, "Ada@example.com", customer.Email, "the customer")
		assert.EqualValues(t, "lead", customer.Type, "the customer")
		assert.Nil(t, customer.Name, "the customer")
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
		require.Len(t, got, 1, "the leads")
		require.Equal(t, "typed@example.com", got[0].Email, "the leads")
		require.Equal(t, "e1", *got[0].Customer.Object.ExternalID, "the leads")
		// They do not own an address that they only typed.
		if list := ok[*sdk.CustomerList](t)(c.Customers.List(background, &sdk.ListCustomersParams{Email: new("typed@example.com")})); len(list.Data) != 0 {
			t.Errorf("%+v owns the address", list.Data)
		}
	})
}
