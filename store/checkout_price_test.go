package store

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/store/checkout"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/customer"
	"github.com/tillwright/tillwright/store/discount"
	"github.com/tillwright/tillwright/store/internal/dbtest"
	"github.com/tillwright/tillwright/store/lineitem"
	"github.com/tillwright/tillwright/store/payment"
	"github.com/tillwright/tillwright/store/tenant"
)

// taxed makes the account tax by a table.
func (s *shop) taxed(t *testing.T, behavior string, rates ...tenant.TaxRate) {
	t.Helper()
	_, err := s.Tenant.UpdateAccount(t.Context(), s.account, func(a *tenant.AccountChange) {
		a.Tax.V = tenant.TaxSettings{Mode: tenant.TaxModeFlatTable, Behavior: behavior, Rates: rates}
	})
	require.NoError(t, err)
}

func (s *shop) change(t *testing.T, c *checkout.Checkout, change func(*checkout.Draft)) *checkout.Checkout {
	t.Helper()
	changed, err := s.Checkout.Update(t.Context(), s.account, c.ID, change)
	require.NoError(t, err)
	return changed
}

func in(country string) func(*checkout.Draft) {
	return func(d *checkout.Draft) { d.BillingAddress = core.JSONOf(&core.Address{Country: &country}) }
}

func (s *shop) confirm(t *testing.T, c *checkout.Checkout) *PaymentProgress {
	t.Helper()
	begun, err := s.BeginConfirm(t.Context(), s.account, c.ID, byCard)
	require.NoError(t, err)
	if begun.Payment == nil {
		return begun
	}
	settled, err := s.SettlePayment(t.Context(), begun.Payment, payment.ChargeResult{Status: payment.StatusSucceeded})
	require.NoError(t, err)
	return settled
}

var vat = tenant.TaxRate{Country: ref("DE"), RateBps: 1900, Name: "MwSt."}

func TestCheckout_TaxFollowsTheAddress(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		s.taxed(t, tenant.TaxBehaviorExclusive, vat)
		c := s.checkout(t, s.onSale(t, fixedPrice(1000)))
		require.Nil(t, c.TaxAmount, "nobody knows where the buyer is")
		require.Equal(t, int64(1000), c.TotalAmount)
		_, err := s.BeginConfirm(t.Context(), s.account, c.ID, byCard)
		dbtest.RequireInvalid(t, err, "billing_address")

		german := s.change(t, c, in("DE"))
		require.Equal(t, int64(190), *german.TaxAmount)
		require.Equal(t, int64(1190), german.TotalAmount)
		require.Equal(t, []lineitem.TaxBreakdown{{Name: "MwSt.", RateBps: 1900, TaxableAmount: 1000, TaxAmount: 190}}, german.TaxBreakdown.V)
		require.Equal(t, c.LineItemIDs, german.LineItemIDs, "a line keeps its id when it is taxed")
		french := s.change(t, c, in("FR"))
		require.Zero(t, *french.TaxAmount)
		require.Empty(t, french.TaxBreakdown.V)

		done := s.confirm(t, s.change(t, c, in("DE")))
		order, err := s.Order.Get(t.Context(), s.account, *done.Checkout.OrderID)
		require.NoError(t, err)
		require.Equal(t, int64(190), order.TaxAmount)
		require.Equal(t, int64(1190), order.PaidAmount)
		require.Equal(t, german.TaxBreakdown, order.TaxBreakdown)
		require.Equal(t, order.InvoiceID, done.Checkout.InvoiceID)
	})
}

func TestCheckout_InclusiveTaxIsInsideThePrice(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		s.taxed(t, tenant.TaxBehaviorInclusive, tenant.TaxRate{RateBps: 2000, Name: "VAT"})
		c := s.checkout(t, s.onSale(t, fixedPrice(17925)), s.onSale(t, catalog.PriceVariant{Amount: 100, Currency: "usd", TaxBehavior: ref(tenant.TaxBehaviorExclusive)}))
		require.Equal(t, int64(2988+20), *c.TaxAmount)
		require.Equal(t, int64(17925+120), c.TotalAmount)
		require.Equal(t, []lineitem.TaxBreakdown{{Name: "VAT", RateBps: 2000, TaxableAmount: 14937, TaxAmount: 2988, Inclusive: true}, {Name: "VAT", RateBps: 2000, TaxableAmount: 100, TaxAmount: 20}}, c.TaxBreakdown.V)
	})
}

func TestCheckout_ExemptCustomersPayNoTax(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		s.taxed(t, tenant.TaxBehaviorExclusive, vat)
		made, err := s.Customer.Create(t.Context(), s.account, customer.Customer{Email: ref("grace@example.com"), TaxExempt: true})
		require.NoError(t, err)
		v := s.onSale(t, fixedPrice(1000))
		c := s.checkout(t, v) // known by the address alone
		require.Equal(t, int64(0), *c.TaxAmount)
		other := s.change(t, c, func(d *checkout.Draft) { d.CustomerEmail = ref("other@example.com") })
		require.Nil(t, other.TaxAmount)
		again := s.change(t, c, func(d *checkout.Draft) { d.CustomerEmail, d.CustomerID = nil, &made.ID })
		require.Equal(t, int64(0), *again.TaxAmount)
		require.Equal(t, int64(1000), s.confirm(t, again).Payment.Amount)
	})
}

// What a buyer is charged is what they were shown: a total that has changed meanwhile is shown first.
func TestBeginConfirm_RefusesATotalThatHasChanged(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		s.taxed(t, tenant.TaxBehaviorExclusive, vat)
		c := s.change(t, s.checkout(t, s.onSale(t, fixedPrice(1000))), in("DE"))
		s.taxed(t, tenant.TaxBehaviorExclusive, tenant.TaxRate{Country: ref("DE"), RateBps: 700, Name: "MwSt."})
		_, err := s.BeginConfirm(t.Context(), s.account, c.ID, byCard)
		dbtest.RequireInvalid(t, err, "line_items")
		require.Equal(t, core.Recorded, core.OutcomeOf(err))
		shown, err := s.Checkout.Get(t.Context(), s.account, c.ID)
		require.NoError(t, err)
		require.Equal(t, checkout.StatusOpen, shown.Status)
		require.Equal(t, int64(1070), shown.TotalAmount)
		require.Equal(t, int64(1070), s.confirm(t, c).Payment.Amount)
	})
}

func TestUpdateCheckout_ThatChangesNoPriceKeepsIt(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		s.taxed(t, tenant.TaxBehaviorExclusive, vat)
		c := s.change(t, s.checkout(t, s.onSale(t, fixedPrice(1000))), in("DE"))
		s.taxed(t, tenant.TaxBehaviorExclusive)
		named := s.change(t, c, func(d *checkout.Draft) { d.CustomerName = ref("Grace") })
		require.Equal(t, int64(1190), named.TotalAmount)
	})
}

// sound holds every promise of the database.
func (s *shop) sound(t *testing.T) {
	t.Helper()
	broken, err := s.Audit.Check(t.Context(), aDay)
	require.NoError(t, err)
	require.Empty(t, broken)
}

// coded makes a discount with a code.
func (s *shop) coded(t *testing.T, code string, change func(*discount.Discount)) *discount.Discount {
	t.Helper()
	return s.discount(t, func(d *discount.Discount) {
		d.Code, d.PercentBps = &code, ref(int64(1000))
		change(d)
	})
}

func TestCheckout_DiscountComesOffBeforeTax(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		s.taxed(t, tenant.TaxBehaviorExclusive, vat)
		d := s.coded(t, "SPRING", func(d *discount.Discount) { d.PercentBps = ref(int64(3333)) })
		v := s.onSale(t, fixedPrice(100))
		w := s.onSale(t, fixedPrice(100))
		c := s.change(t, s.checkout(t, v, w), in("DE"))
		c = s.change(t, c, func(x *checkout.Draft) {
			x.AllowDiscountCodes = true
			x.EnterDiscountCode(ref("spring"))
		})
		require.Equal(t, d.ID, *c.DiscountID)
		require.Equal(t, "SPRING", *c.DiscountCode)
		c = s.change(t, c, func(x *checkout.Draft) { x.EnterDiscountCode(ref("SPRING")) }) // once more
		require.Equal(t, int64(67), c.DiscountAmount)
		require.Equal(t, int64(13+13), *c.TaxAmount, "12.54 and 12.73")
		require.Equal(t, int64(200-67+26), c.TotalAmount)

		done := s.confirm(t, c)
		require.Equal(t, int64(159), done.Payment.Amount)
		order, err := s.Order.Get(t.Context(), s.account, *done.Checkout.OrderID)
		require.NoError(t, err)
		require.Equal(t, d.ID, *order.DiscountID)
		d, err = s.Discount.Get(t.Context(), s.account, d.ID)
		require.NoError(t, err)
		require.Equal(t, int64(1), d.RedemptionsCount)
		uses, _, err := s.Discount.ListRedemptions(t.Context(), s.account, d.ID, discount.ListRedemptions{Page: core.Page{Limit: 10}})
		require.NoError(t, err)
		require.Equal(t, order.ID, *uses[0].OrderID)
		s.sound(t)
	})
}

func TestCheckout_RefusesDiscountsThatCannotBeUsed(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		c := s.checkout(t, s.onSale(t, fixedPrice(1000)))
		s.coded(t, "OLD", func(d *discount.Discount) { d.EndsAt = ref(s.Now().Add(-time.Hour)) })
		nearlyAll := func(d *discount.Discount) {
			d.Type, d.PercentBps, d.Amount, d.Currency = discount.TypeFixed, nil, ref(int64(960)), ref("usd")
		}
		s.coded(t, "SMALL", nearlyAll)
		secret := s.discount(t, nearlyAll)
		for name, refused := range map[string]struct {
			change func(*checkout.Draft)
			field  string
		}{
			"unknown":               {func(d *checkout.Draft) { d.DiscountCode = ref("NOPE") }, "discount_code"},
			"expired":               {func(d *checkout.Draft) { d.DiscountCode = ref("OLD") }, "discount_code"},
			"less than can be paid": {func(d *checkout.Draft) { d.DiscountCode = ref("SMALL") }, "discount_code"},
			"the same by its id":    {func(d *checkout.Draft) { d.DiscountID = &secret.ID }, "discount"},
			"both":                  {func(d *checkout.Draft) { d.DiscountID, d.DiscountCode = &secret.ID, ref("SMALL") }, "discount_code"},
			"none are taken": {func(d *checkout.Draft) {
				d.AllowDiscountCodes = false
				d.EnterDiscountCode(ref("SMALL"))
			}, "discount_code"},
		} {
			t.Log(name)
			_, err := s.Checkout.Update(t.Context(), s.account, c.ID, refused.change)
			dbtest.RequireInvalid(t, err, refused.field)
		}
		_, err := s.Checkout.Update(t.Context(), s.account, c.ID, func(d *checkout.Draft) { d.DiscountID = ref(core.NewID(core.KindDiscount)) })
		dbtest.RequireCode(t, err, core.CodeMissing)
	})
}

func TestCheckout_AFailedPaymentGivesTheRedemptionBack(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		d := s.coded(t, "LAST", func(d *discount.Discount) { d.MaxRedemptions = ref(int64(1)) })
		v := s.onSale(t, fixedPrice(1000))
		use := func(x *checkout.Draft) { x.DiscountCode = ref("last") }
		c, other := s.change(t, s.checkout(t, v), use), s.change(t, s.checkout(t, v), use)
		begun, err := s.BeginConfirm(t.Context(), s.account, c.ID, byCard)
		require.NoError(t, err)
		_, err = s.BeginConfirm(t.Context(), s.account, other.ID, byCard)
		dbtest.RequireInvalid(t, err, "discount_code")
		_, err = s.SettlePayment(t.Context(), begun.Payment, payment.ChargeResult{Status: payment.StatusFailed, Failure: &payment.Failure{Code: "card_declined"}})
		require.NoError(t, err)
		require.Equal(t, int64(900), s.confirm(t, other).Payment.Amount)
		d, err = s.Discount.Get(t.Context(), s.account, d.ID)
		require.NoError(t, err)
		require.Equal(t, int64(1), d.RedemptionsCount)
		s.sound(t)
	})
}

func TestCheckout_AllOffNeedsNoPayment(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		s.coded(t, "GIFT", func(d *discount.Discount) {
			d.PercentBps, d.MaxRedemptionsPerCustomer = ref(int64(10_000)), ref(int64(1))
		})
		v := s.onSale(t, fixedPrice(1000))
		use := func(x *checkout.Draft) { x.DiscountCode = ref("GIFT") }
		c, second := s.change(t, s.checkout(t, v), use), s.change(t, s.checkout(t, v), use)
		require.False(t, c.PaymentMethodRequired)
		done := s.confirm(t, c)
		require.Nil(t, done.Payment)
		require.Equal(t, checkout.PaymentStatusNoPaymentRequired, done.Checkout.PaymentStatus)
		_, err := s.BeginConfirm(t.Context(), s.account, second.ID, byCard)
		dbtest.RequireInvalid(t, err, "discount_code")
		s.sound(t)
	})
}
