package contract

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/tests/harness"
)

// TestConfirmPublicCheckout_SaysWhenToTryAgain has one card declined after another.
func TestConfirmPublicCheckout_SaysWhenToTryAgain(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, s *harness.Server) {
		buyer := s.From(t, "127.0.0.1").SDK()
		made := checkout(t, c, "ada@example.com", onSale(t, c, 1900))
		for range 5 {
			_, err := buyer.PublicCheckouts.Confirm(background, made.ClientSecret, by("pm_card_chargeDeclined"))
			refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "payment_method")
		}
		_, err := buyer.PublicCheckouts.Confirm(background, made.ClientSecret, by("pm_card_visa"))
		e := refused(t, err, http.StatusTooManyRequests, sdk.CodeRateLimitExceeded, "payment_method")
		assert.GreaterOrEqual(t, e.RetryAfter, 30*time.Second, "the buyer is told to wait")
		assert.LessOrEqual(t, e.RetryAfter, time.Minute, "the buyer is told to wait")
		_, err = c.Checkouts.Confirm(background, made.ID, by("pm_card_visa"))
		refused(t, err, http.StatusTooManyRequests, sdk.CodeRateLimitExceeded, "payment_method")
		ok[*sdk.PublicCheckout](t)(buyer.PublicCheckouts.Update(background, made.ClientSecret, &sdk.PublicCheckoutUpdate{CustomerName: sdk.Set("Ada")}))
	})
}

func TestUpdateAccount_SetsWhatStopsCardTesting(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		a := ok[*sdk.Account](t)(c.Account.Get(background))
		assert.EqualValues(t, 100, *a.DeclineLimit)
		require.Nil(t, a.PaymentsPausedUntil)
		assert.EqualValues(t, 30, a.PaymentHoldMinutes)
		a = ok[*sdk.Account](t)(c.Account.Update(background, &sdk.AccountUpdate{
			DeclineLimit: sdk.Null[int64](), PaymentHoldMinutes: new(int64(5)), PaymentsPausedUntil: sdk.Null[sdk.Time](),
		}))
		require.Nil(t, a.DeclineLimit)
		assert.EqualValues(t, 5, a.PaymentHoldMinutes)
		for param, body := range map[string]*sdk.AccountUpdate{
			"decline_limit":         {DeclineLimit: sdk.Set[int64](9)},
			"payment_hold_minutes":  {PaymentHoldMinutes: new(int64(121))},
			"payments_paused_until": {PaymentsPausedUntil: sdk.Set(sdk.Time("2030-01-01T00:00:00Z"))},
		} {
			_, err := c.Account.Update(background, body)
			refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, param)
		}
	})
}

// TestExpireCheckout_GivesUpWhatWaitsForTheBuyer frees the last piece.
func TestExpireCheckout_GivesUpWhatWaitsForTheBuyer(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		print := variantOnSale(t, c, sdk.ProductPriceVariant{Amount: new(int64(9000)), Currency: new("usd"), Stock: new(int64(1))})
		left, next := checkout(t, c, "ada@example.com", print), checkout(t, c, "ada@example.com", print)
		ok[*sdk.Checkout](t)(c.Checkouts.Confirm(background, left.ID, by("pm_card_authenticationRequired")))
		_, err := c.Checkouts.Confirm(background, next.ID, by("pm_card_visa"))
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "line_items")
		for range 2 {
			gone := ok[*sdk.Checkout](t)(c.Checkouts.Expire(background, left.ID))
			assert.Equal(t, sdk.CheckoutStatusExpired, gone.Status, "the checkout")
			assert.Nil(t, gone.NextAction, "the checkout")
		}
		if sold := ok[*sdk.Checkout](t)(c.Checkouts.Confirm(background, next.ID, by("pm_card_visa"))); sold.Status != sdk.CheckoutStatusCompleted {
			t.Errorf("the last piece is %s", sold.Status)
		}
		_, err = c.Checkouts.Expire(background, next.ID)
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "status")
	})
}
