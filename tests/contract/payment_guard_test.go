package contract

import (
	"net/http"
	"testing"
	"time"

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
		if e := refused(t, err, http.StatusTooManyRequests, sdk.CodeRateLimitExceeded, "payment_method"); e.RetryAfter < 30*time.Second || e.RetryAfter > time.Minute {
			t.Errorf("the buyer is told to wait for %s", e.RetryAfter)
		}
		_, err = c.Checkouts.Confirm(background, made.ID, by("pm_card_visa"))
		refused(t, err, http.StatusTooManyRequests, sdk.CodeRateLimitExceeded, "payment_method")
		ok[*sdk.PublicCheckout](t)(buyer.PublicCheckouts.Update(background, made.ClientSecret, &sdk.PublicCheckoutUpdate{CustomerName: sdk.Set("Ada")}))
	})
}

func TestUpdateAccount_SetsWhatStopsCardTesting(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		a := ok[*sdk.Account](t)(c.Account.Get(background))
		if *a.DeclineLimit != 100 || a.PaymentsPausedUntil != nil || a.PaymentHoldMinutes != 30 {
			t.Errorf("a new account has the limit %v, a pause until %v and a hold of %d minutes", a.DeclineLimit, a.PaymentsPausedUntil, a.PaymentHoldMinutes)
		}
		a = ok[*sdk.Account](t)(c.Account.Update(background, &sdk.AccountUpdate{
			DeclineLimit: sdk.Null[int64](), PaymentHoldMinutes: new(int64(5)), PaymentsPausedUntil: sdk.Null[sdk.Time](),
		}))
		if a.DeclineLimit != nil || a.PaymentHoldMinutes != 5 {
			t.Errorf("the account has the limit %v and a hold of %d minutes", a.DeclineLimit, a.PaymentHoldMinutes)
		}
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
			if gone := ok[*sdk.Checkout](t)(c.Checkouts.Expire(background, left.ID)); gone.Status != sdk.CheckoutStatusExpired || gone.NextAction != nil {
				t.Errorf("the checkout is %s", gone.Status)
			}
		}
		if sold := ok[*sdk.Checkout](t)(c.Checkouts.Confirm(background, next.ID, by("pm_card_visa"))); sold.Status != sdk.CheckoutStatusCompleted {
			t.Errorf("the last piece is %s", sold.Status)
		}
		_, err = c.Checkouts.Expire(background, next.ID)
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "status")
	})
}
