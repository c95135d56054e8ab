package contract

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/tests/harness"
)

// advance moves the account's clock, and wants all that is due by it to be done.
func advance(t *testing.T, c *sdk.Client, by time.Duration) *sdk.TestClock {
	t.Helper()
	return moved(t, c, sdk.TestClockCreate{AdvanceSeconds: new(int64(by / time.Second))})
}

// endPeriod moves the clock an hour past the end of a subscription's period. A payment that failed then is tried again after two days at the earliest,
// which may be 30 days after the period began.
func endPeriod(t *testing.T, c *sdk.Client, sub *sdk.Subscription) {
	t.Helper()
	moved(t, c, sdk.TestClockCreate{Now: new(sdk.TimeOf(sub.CurrentPeriodEnd.Time().Add(time.Hour)))})
}

func moved(t *testing.T, c *sdk.Client, in sdk.TestClockCreate) *sdk.TestClock {
	t.Helper()
	for {
		clock := ok[*sdk.TestClock](t)(c.TestHelpers.AdvanceClock(background, &in))
		if clock.Done {
			return clock
		}
		in = sdk.TestClockCreate{Now: &clock.Target}
	}
}

func TestAdvanceTestClock_MovesTheAccountsOwnTime(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, s *harness.Server) {
		other := s.SDK(t)
		mine, theirs := checkout(t, c, "ada@example.com", onSale(t, c, 900)), checkout(t, other, "ada@example.com", onSale(t, other, 900))
		clock := advance(t, c, 25*time.Hour)
		ahead := time.Until(clock.Now.Time())
		assert.Equal(t, "test_clock", clock.Object)
		assert.GreaterOrEqual(t, ahead, 24*time.Hour)
		assert.LessOrEqual(t, ahead, 26*time.Hour)
		if got := ok[*sdk.Checkout](t)(c.Checkouts.Get(background, mine.ID)); got.Status != sdk.CheckoutStatusExpired {
			t.Errorf("a checkout of a day is %s after 25 hours", got.Status)
		}
		if got := ok[*sdk.Checkout](t)(other.Checkouts.Get(background, theirs.ID)); got.Status != sdk.CheckoutStatusOpen {
			t.Errorf("the clock of one account made another's checkout %s", got.Status)
		}
		later := checkout(t, c, "bob@example.com", onSale(t, c, 900))
		if ahead := time.Until(later.CreatedAt.Time()); ahead < 24*time.Hour {
			t.Errorf("a checkout made then was created at %s", later.CreatedAt)
		}
		if _, err := c.Checkouts.Confirm(background, later.ID, by("pm_card_visa")); err != nil {
			t.Errorf("it cannot be bought: %v", err)
		}
	})
}

// What is sold and what it is sold with have the times of the account's clock, as what was bought has. Nothing is older than what it belongs to.
func TestAdvanceTestClock_DatesWhatIsMadeAndChanged(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		before := ok[*sdk.Product](t)(c.Products.Create(background, &sdk.ProductCreate{Name: "Guide", PriceVariants: []sdk.ProductPriceVariant{{Amount: new(int64(900)), Currency: new("usd")}}}))
		clock := advance(t, c, 25*time.Hour)
		v := onSale(t, c, 900)
		made := ok[*sdk.Product](t)(c.Products.Get(background, v.Product.ID))
		off := ok[*sdk.Discount](t)(c.Discounts.Create(background, &sdk.DiscountCreate{Name: new("Sorry"), Type: "percent", PercentBps: new(int64(500))}))
		disabled := ok[*sdk.Discount](t)(c.Discounts.Disable(background, off.ID))
		changed := ok[*sdk.Discount](t)(c.Discounts.Update(background, off.ID, &sdk.DiscountUpdate{Name: new("Thanks")}))
		link := ok[*sdk.CheckoutLink](t)(c.CheckoutLinks.Create(background, &sdk.CheckoutLinkCreate{PriceVariants: []string{v.ID}}))
		relink := ok[*sdk.CheckoutLink](t)(c.CheckoutLinks.Update(background, link.ID, &sdk.CheckoutLinkUpdate{MaxUses: sdk.Set(int64(3))}))
		published := ok[*sdk.Product](t)(c.Products.Publish(background, before.ID))
		for what, at := range map[string]sdk.Time{
			"a product": made.CreatedAt, "its price variant": v.CreatedAt, "its publication": *made.PublishedAt,
			"a discount": off.CreatedAt, "its end": disabled.UpdatedAt, "its change": changed.UpdatedAt,
			"a checkout link": link.CreatedAt, "its change too": relink.UpdatedAt,
			"a publication": *published.PublishedAt, "the change of an older product": published.UpdatedAt,
		} {
			if at.Time().Before(clock.Now.Time()) {
				t.Errorf("it is %s, and %s was at %s", clock.Now, what, at)
			}
		}
	})
}

func TestAdvanceTestClock_MovesForwardOnly(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		to := func(at time.Time) (*sdk.TestClock, error) {
			return c.TestHelpers.AdvanceClock(background, &sdk.TestClockCreate{Now: new(sdk.TimeOf(at))})
		}
		next := time.Now().Add(48 * time.Hour)
		clock := ok[*sdk.TestClock](t)(to(next))
		assert.LessOrEqual(t, clock.Now.Time().Sub(next).Abs(), time.Minute)
		assert.True(t, clock.Done)
		_, err := to(time.Now().Add(time.Hour))
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "now")
		_, err = to(time.Now().Add(200 * 366 * 24 * time.Hour))
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "now")
		_, err = c.TestHelpers.AdvanceClock(background, &sdk.TestClockCreate{Now: new(sdk.TimeOf(next.Add(time.Hour))), AdvanceSeconds: new(int64(1))})
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "now")
		_, err = c.TestHelpers.AdvanceClock(background, &sdk.TestClockCreate{AdvanceSeconds: new(int64(-1))})
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "advance_seconds")
	})
}

// TestAdvanceTestClock_GivesUpOnABuyerWhoDoesNotComeBack leaves a charge waiting for its buyer.
func TestAdvanceTestClock_GivesUpOnABuyerWhoDoesNotComeBack(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		left := checkout(t, c, "ada@example.com", onSale(t, c, 900))
		if got := ok[*sdk.Checkout](t)(c.Checkouts.Confirm(background, left.ID, by("4000002500003155"))); got.Status != sdk.CheckoutStatusProcessing {
			t.Fatalf("the checkout is %s", got.Status)
		}
		advance(t, c, time.Hour)
		got := ok[*sdk.Checkout](t)(c.Checkouts.Get(background, left.ID))
		assert.Equal(t, sdk.CheckoutStatusOpen, got.Status)
		assert.NotNil(t, got.LastPaymentError)
	})
}
