package contract

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/server/mail"
	"github.com/tillwright/tillwright/tests/harness"
)

// sisyphos is one address in all ways. It is written as its owner does, in capitals, with its accents apart, and with its domain as the DNS has it.
var sisyphos = []string{
	"σίσυφος@b\u00fccher.example", "ΣΊΣΥΦΟΣ@BÜCHER.EXAMPLE", "σι\u0301συφος@bu\u0308cher.example", "σίσυφος@xn--bcher-kva.example", "ΣΊΣΥΦΟΣ@XN--BCHER-KVA.example",
}

func TestAddresses_AreOneCustomerHoweverTheyAreWritten(t *testing.T) {
	onEachAlone(t, func(t *testing.T, c *sdk.Client, s *harness.Server) {
		owner := ok[*sdk.Customer](t)(c.Customers.Create(background, &sdk.CustomerCreate{Email: sisyphos[1]}))
		other := ok[*sdk.Customer](t)(c.Customers.Create(background, &sdk.CustomerCreate{Email: "other@example.com"}))
		if owner.Email != sisyphos[1] {
			t.Errorf("the address is stored as %q", owner.Email)
		}
		for _, way := range sisyphos {
			_, err := c.Customers.Create(background, &sdk.CustomerCreate{Email: way})
			refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "email")
			_, err = c.Customers.Update(background, other.ID, &sdk.CustomerUpdate{Email: &way})
			refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "email")
			found := ok[*sdk.CustomerList](t)(c.Customers.List(background, &sdk.ListCustomersParams{Email: &way}))
			require.Len(t, found.Data, 1, way)
			assert.Equal(t, owner.ID, found.Data[0].ID, way)
		}
		if same := ok[*sdk.Customer](t)(c.Customers.Update(background, owner.ID, &sdk.CustomerUpdate{Email: &sisyphos[0]})); same.Email != sisyphos[0] {
			t.Errorf("the address is %q now", same.Email)
		}

		submit(t, s.URL+"/portal", url.Values{"email": {sisyphos[3]}})
		if !comes(func() bool {
			return slices.ContainsFunc(s.Mail.Letters(), func(l mail.Letter) bool { return strings.Contains(l.Text, "/portal/open/") })
		}) {
			t.Error("the portal sends no link")
		}
	})
}

func TestAddresses_AreOneLeadHoweverTheyAreWritten(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		lead := ok[*sdk.Lead](t)(c.Leads.Create(background, &sdk.LeadCreate{Email: sisyphos[0]}))
		for _, way := range sisyphos {
			_, err := c.Leads.Create(background, &sdk.LeadCreate{Email: way})
			refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "email")
			found := ok[*sdk.LeadList](t)(c.Leads.List(background, &sdk.ListLeadsParams{Email: &way}))
			require.Len(t, found.Data, 1, way)
			assert.Equal(t, lead.ID, found.Data[0].ID, way)
		}
		purchase(t, c, sisyphos[4], onSale(t, c, 1900))
		if bought := ok[*sdk.Lead](t)(c.Leads.Get(background, lead.ID)); bought.Status != "converted" {
			t.Errorf("the lead is %s", bought.Status)
		}
	})
}

func TestAddresses_BuyAsOneCustomerHoweverTheyAreWritten(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		guide := onSale(t, c, 1900)
		customers := map[string]bool{}
		for _, way := range sisyphos {
			order := purchase(t, c, way, guide)
			customers[order.Customer.ID] = true
		}
		if len(customers) != 1 {
			t.Errorf("one address makes %d customers", len(customers))
		}
		for _, way := range sisyphos {
			checkouts := ok[*sdk.CheckoutList](t)(c.Checkouts.List(background, &sdk.ListCheckoutsParams{CustomerEmail: &way}))
			orders := ok[*sdk.OrderList](t)(c.Orders.List(background, &sdk.ListOrdersParams{CustomerEmail: &way}))
			require.Len(t, checkouts.Data, len(sisyphos), way)
			assert.Len(t, orders.Data, len(sisyphos), way)
		}
	})
}

func TestDiscounts_CountAnAddressHoweverItIsWritten(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		guide := onSale(t, c, 1900)
		once := ok[*sdk.Discount](t)(c.Discounts.Create(background, &sdk.DiscountCreate{Code: new("ONCE"), Type: "percent", PercentBps: new(int64(1000)), MaxRedemptionsPerCustomer: new(int64(1))}))
		ok[*sdk.Checkout](t)(c.Checkouts.Confirm(background, reduced(t, c, sisyphos[0], "ONCE", guide).ID, by("pm_card_visa")))
		for _, way := range sisyphos {
			_, err := c.Checkouts.Create(background, &sdk.CheckoutCreate{CustomerEmail: &way, CustomerEmailVerified: new(true), DiscountCode: new("ONCE"), LineItems: lines(guide)})
			refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "discount_code")
		}
		redemptions(t, c, once.ID)
	})
}

func TestAddresses_AreRefusedWithWhatIsWrong(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		guide := onSale(t, c, 1900)
		ada := ok[*sdk.Customer](t)(c.Customers.Create(background, &sdk.CustomerCreate{Email: "ada@example.com"}))
		for email, says := range map[string]string{
			"a\u00a0b@example.com": "spaces", "a\u200bb@example.com": "nobody sees", "a\u202eb@example.com": "nobody sees", "a@-example.com": "hyphen", "a@example-.com": "hyphen",
			"a@" + strings.Repeat("b", 64) + ".com": "63 characters", strings.Repeat("a", 65) + "@example.com": "64 bytes", "a@example..com": "dot", "a@exa_mple.com": "domain name",
		} {
			_, byCustomer := c.Customers.Create(background, &sdk.CustomerCreate{Email: email})
			_, byUpdate := c.Customers.Update(background, ada.ID, &sdk.CustomerUpdate{Email: &email})
			_, byLead := c.Leads.Create(background, &sdk.LeadCreate{Email: email})
			for _, err := range []error{byCustomer, byUpdate, byLead} {
				if e := refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "email"); !strings.Contains(e.Errors["email"][0], says) {
					t.Errorf("of %q it says %v", email, e.Errors)
				}
			}
			_, err := c.Checkouts.Create(background, &sdk.CheckoutCreate{CustomerEmail: &email, LineItems: lines(guide)})
			if e := refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "customer_email"); !strings.Contains(e.Errors["customer_email"][0], says) {
				t.Errorf("of %q it says %v", email, e.Errors)
			}
		}
	})
}
