package contract

import (
	"net/http"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/tests/harness"
)

var verifyLink = regexp.MustCompile(`http\S+/verify/\S+`)

func TestVerifyPublicCheckoutEmail_AsksTheReaderOfTheMail(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, s *harness.Server) {
		who := unique() + "@example.com"
		made := ok[*sdk.Checkout](t)(c.Checkouts.Create(background, &sdk.CheckoutCreate{LineItems: lines(onSale(t, c, 1900))}))
		buyer := s.From(t, "127.0.9.4").SDK()
		_, err := buyer.PublicCheckouts.VerifyEmail(background, made.ClientSecret)
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "customer_email")
		ok[*sdk.PublicCheckout](t)(buyer.PublicCheckouts.Update(background, made.ClientSecret, &sdk.PublicCheckoutUpdate{CustomerEmail: sdk.Set(who)}))
		if asked := ok[*sdk.PublicCheckout](t)(buyer.PublicCheckouts.VerifyEmail(background, made.ClientSecret)); asked.CustomerEmailVerified {
			t.Error("the letter was not read yet")
		}
		_, err = buyer.PublicCheckouts.VerifyEmail(background, made.ClientSecret)
		refused(t, err, http.StatusTooManyRequests, sdk.CodeRateLimitExceeded, "customer_email")

		comes(func() bool { return len(s.Mail.LettersWith(who)) > 0 })
		letters := s.Mail.LettersWith(who)
		require.Len(t, letters, 1, "the letters")
		require.Equal(t, who, letters[0].To, "the letters")
		if !verifyLink.MatchString(letters[0].Text) {
			t.Errorf("the letter has no link: %s", letters[0].Text)
		}
		for _, unnamed := range []sdk.CheckoutUpdate{{CustomerEmailVerified: new(true)}, {CustomerEmailVerified: new(true), CustomerEmail: sdk.Null[string]()}} {
			_, err = c.Checkouts.Update(background, made.ID, &unnamed) // the buyer may have typed another one meanwhile
			refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "customer_email_verified")
		}
		ok[*sdk.Checkout](t)(c.Checkouts.Update(background, made.ID, &sdk.CheckoutUpdate{ // the seller vouches
			CustomerEmail: sdk.Set(who), CustomerEmailVerified: new(true),
		}))
		if seen := ok[*sdk.Checkout](t)(c.Checkouts.Get(background, made.ID)); !seen.CustomerEmailVerified {
			t.Error("the address is not verified")
		}
		_, err = buyer.PublicCheckouts.VerifyEmail(background, made.ClientSecret)
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "customer_email")
		typed := ok[*sdk.PublicCheckout](t)(buyer.PublicCheckouts.Update(background, made.ClientSecret, &sdk.PublicCheckoutUpdate{CustomerEmail: sdk.Set("eve@example.com")}))
		if typed.CustomerEmailVerified {
			t.Error("another address is verified too")
		}
	})
}

func TestCheckout_ATypedAddressProvesNothing(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, s *harness.Server) {
		owner := purchase(t, c, "ada@example.com", onSale(t, c, 1900))
		made := ok[*sdk.Checkout](t)(c.Checkouts.Create(background, &sdk.CheckoutCreate{LineItems: lines(onSale(t, c, 1900)), CustomerEmail: new("ada@example.com")}))
		confirm := by("pm_card_visa")
		confirm.SavePaymentMethod = new(true)
		done := ok[*sdk.Checkout](t)(c.Checkouts.Confirm(background, made.ID, confirm))
		order := ok[*sdk.Order](t)(c.Orders.Get(background, done.Order.ID))
		assert.False(t, order.CustomerVerified, "the order")
		assert.Equal(t, owner.Customer.ID, order.Customer.ID, "the order")
		saved := ok[*sdk.SavedPaymentMethodList](t)(c.Customers.ListPaymentMethods(background, order.Customer.ID, nil))
		if len(saved.Data) != 0 {
			t.Errorf("the card of a stranger is saved: %+v", saved.Data)
		}
		verified := ok[*sdk.Order](t)(c.Orders.Update(background, order.ID, &sdk.OrderUpdate{CustomerVerified: new(true)}))
		if !verified.CustomerVerified {
			t.Errorf("the order is %+v", verified)
		}
		_, err := c.Orders.Update(background, order.ID, &sdk.OrderUpdate{CustomerVerified: new(false)})
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "customer_verified")
	})
}

func TestConfirmPublicCheckout_TakesNoSavedMethod(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, s *harness.Server) {
		ada := ok[*sdk.Customer](t)(c.Customers.Create(background, &sdk.CustomerCreate{Email: "ada@example.com"}))
		card := ok[*sdk.SavedPaymentMethod](t)(c.Customers.CreatePaymentMethod(background, ada.ID, &sdk.SavedPaymentMethodCreate{PaymentMethod: *by("pm_card_visa").PaymentMethod}))
		made := ok[*sdk.Checkout](t)(c.Checkouts.Create(background, &sdk.CheckoutCreate{LineItems: lines(onSale(t, c, 1900)), Customer: &ada.ID}))
		_, err := s.From(t, "127.0.0.1").SDK().PublicCheckouts.Confirm(background, made.ClientSecret, by(card.ID))
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "payment_method")
		ok[*sdk.Checkout](t)(c.Checkouts.Confirm(background, made.ID, by(card.ID)))
	})
}

// Somebody whom the seller knows by an id of their own types the address of somebody else.
func TestCheckout_ATypedAddressOfAnExternalCustomerIsNotTheirs(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		made := ok[*sdk.Checkout](t)(c.Checkouts.Create(background, &sdk.CheckoutCreate{
			LineItems: lines(onSale(t, c, 1900)), CustomerEmail: new("ada@example.com"), ExternalCustomerID: new("mallory"),
		}))
		ok[*sdk.Checkout](t)(c.Checkouts.Confirm(background, made.ID, by("pm_card_visa")))
		mallory := ok[*sdk.Customer](t)(c.Customers.GetByExternalID(background, "mallory"))
		owner := purchase(t, c, "ada@example.com", onSale(t, c, 1900))
		if owner.Customer.ID == mallory.ID {
			t.Fatal("what is bought under the address is Mallory's")
		}
		found := ok[*sdk.CustomerList](t)(c.Customers.List(background, &sdk.ListCustomersParams{Email: new("Ada@example.com")}))
		require.Len(t, found.Data, 1, "found by the address")
		assert.Equal(t, owner.Customer.ID, found.Data[0].ID, "found by the address")
		if found = ok[*sdk.CustomerList](t)(c.Customers.List(background, &sdk.ListCustomersParams{Q: new("ada@example.com")})); len(found.Data) != 2 {
			t.Errorf("%d customers have the address", len(found.Data))
		}
		ok[*sdk.Customer](t)(c.Customers.Update(background, mallory.ID, &sdk.CustomerUpdate{Name: sdk.Set("Mallory")}))
		_, err := c.Customers.Update(background, mallory.ID, &sdk.CustomerUpdate{Email: new("ada@example.com")})
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "email")
		ok[*sdk.Deleted](t)(c.Customers.Delete(background, owner.Customer.ID, nil))
		ok[*sdk.Customer](t)(c.Customers.Update(background, mallory.ID, &sdk.CustomerUpdate{Email: new("ada@example.com")})) // the seller knows that it is theirs
		_, err = c.Customers.Create(background, &sdk.CustomerCreate{Email: "ada@example.com"})
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "email")
	})
}
