package contract

import (
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

// off makes a discount of a percentage that has a code.
func off(t *testing.T, c *sdk.Client, code string, bps int64) *sdk.Discount {
	t.Helper()
	return ok[*sdk.Discount](t)(c.Discounts.Create(background, &sdk.DiscountCreate{Code: &code, Type: "percent", PercentBps: &bps}))
}

func TestCreateDiscount_KeepsWhatIsSent(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		product := ok[*sdk.Product](t)(c.Products.Create(background, &sdk.ProductCreate{
			Name: "Guide", Slug: new("guide"), PriceVariants: []sdk.ProductPriceVariant{{Amount: new(int64(1900))}, {Amount: new(int64(2900))}},
		}))
		plan, other := product.PriceVariants[0].ID, product.PriceVariants[1].ID
		made := ok[*sdk.Discount](t)(c.Discounts.Create(background, &sdk.DiscountCreate{
			Name: new("Spring"), Code: new("Spring-20_x"), Type: "fixed", Amount: new(int64(500)), Currency: new("usd"),
			Amounts: &sdk.DiscountAmounts{"eur": 450, "jpy": 700}, Duration: new(sdk.DiscountDuration("repeating")), DurationInMonths: new(int64(3)),
			AppliesTo:         &sdk.DiscountAppliesToCreate{Products: []string{"guide"}, PriceVariants: []string{other}},
			Rules:             []sdk.DiscountRuleCreate{{PriceVariant: plan, Amount: new(int64(0)), Amounts: &sdk.DiscountAmounts{"eur": 0, "jpy": 1}}},
			MinSubtotalAmount: new(int64(1000)), MinSubtotalAmounts: &sdk.DiscountAmounts{"eur": 900}, FirstPurchaseOnly: new(true),
			StartsAt: new(sdk.Time("2026-01-02T03:04:05.000Z")), EndsAt: new(sdk.Time("2199-01-02T03:04:05.000Z")),
			MaxRedemptions: new(int64(10)), MaxRedemptionsPerCustomer: new(int64(2)), Metadata: &sdk.Metadata{"a": "1"},
		}))
		got := ok[*sdk.Discount](t)(c.Discounts.Get(background, made.ID))
		rule := got.Rules[0]
		switch {
		case got.Name != "Spring", *got.Code != "Spring-20_x", got.Type != "fixed", got.PercentBps != nil, got.Status != "active", got.RedemptionsCount != 0:
			t.Errorf("the discount is %+v", got)
		case *got.Amount != 500, *got.Currency != "usd", len(got.Amounts) != 2, got.Amounts["jpy"] != 700, *got.MinSubtotalAmount != 1000, got.MinSubtotalAmounts["eur"] != 900:
			t.Errorf("the amounts are %+v", got)
		case got.Duration != "repeating", *got.DurationInMonths != 3, *got.StartsAt != "2026-01-02T03:04:05.000Z", *got.EndsAt != "2199-01-02T03:04:05.000Z":
			t.Errorf("the times are %+v", got)
		case !slices.Equal(got.AppliesTo.Products, []string{product.ID}), !slices.Equal(got.AppliesTo.PriceVariants, []string{other}):
			t.Errorf("it applies to %+v", got.AppliesTo)
		case rule.PriceVariant != plan, rule.PercentBps != nil, *rule.Amount != 0, rule.Amounts["jpy"] != 1, len(rule.Amounts) != 2:
			t.Errorf("the rule is %+v", rule)
		case !got.FirstPurchaseOnly, *got.MaxRedemptions != 10, *got.MaxRedemptionsPerCustomer != 2, got.Metadata["a"] != "1":
			t.Errorf("the limits are %+v", got)
		}
	})
}

func TestCreateDiscount_NeedsLittle(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		percent := off(t, c, "HALF", 5000)
		assert.Equal(t, "HALF", percent.Name, "the discount")
		assert.EqualValues(t, "once", percent.Duration, "the discount")
		require.Nil(t, percent.Currency, "the discount")
		require.Nil(t, percent.Amount, "the discount")
		assert.Empty(t, percent.AppliesTo.Products, "the discount")
		fixed := ok[*sdk.Discount](t)(c.Discounts.Create(background, &sdk.DiscountCreate{Name: new("Five"), Type: "fixed", Amount: new(int64(500))}))
		require.Nil(t, fixed.Code, "the discount")
		assert.Equal(t, "usd", *fixed.Currency, "the discount")
		many := ok[*sdk.Discount](t)(c.Discounts.Create(background, &sdk.DiscountCreate{Name: new("Many"), Type: "fixed", Amounts: &sdk.DiscountAmounts{"eur": 5}}))
		require.Nil(t, many.Currency, "the discount")
		assert.EqualValues(t, 5, many.Amounts["eur"], "the discount")
	})
}

func TestCreateDiscount_RefusesWhatMakesNoSense(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		variant := onSale(t, c, 1900).ID
		percent := func(change func(*sdk.DiscountCreate)) *sdk.DiscountCreate {
			d := &sdk.DiscountCreate{Name: new("n"), Type: "percent", PercentBps: new(int64(1000))}
			change(d)
			return d
		}
		fixed := func(change func(*sdk.DiscountCreate)) *sdk.DiscountCreate {
			d := &sdk.DiscountCreate{Name: new("n"), Type: "fixed", Amount: new(int64(1000)), Currency: new("usd")}
			change(d)
			return d
		}
		for name, test := range map[string]struct {
			body  *sdk.DiscountCreate
			field string
		}{
			"no name and no code":      {percent(func(d *sdk.DiscountCreate) { d.Name = nil }), "name"},
			"a name of spaces":         {percent(func(d *sdk.DiscountCreate) { d.Name = new(" ") }), "name"},
			"a short code":             {percent(func(d *sdk.DiscountCreate) { d.Code = new("ab") }), "code"},
			"a code with a space":      {percent(func(d *sdk.DiscountCreate) { d.Code = new("a bc") }), "code"},
			"a code of 65":             {percent(func(d *sdk.DiscountCreate) { d.Code = new(strings.Repeat("a", 65)) }), "code"},
			"a type that is none":      {percent(func(d *sdk.DiscountCreate) { d.Type = "bogus" }), "type"},
			"no percentage":            {percent(func(d *sdk.DiscountCreate) { d.PercentBps = nil }), "percent_bps"},
			"more than everything":     {percent(func(d *sdk.DiscountCreate) { d.PercentBps = new(int64(10001)) }), "percent_bps"},
			"nothing":                  {percent(func(d *sdk.DiscountCreate) { d.PercentBps = new(int64(0)) }), "percent_bps"},
			"both":                     {percent(func(d *sdk.DiscountCreate) { d.Amount = new(int64(1)) }), "amount"},
			"both, other currencies":   {percent(func(d *sdk.DiscountCreate) { d.Amounts = &sdk.DiscountAmounts{"usd": 1} }), "amounts"},
			"both, the other way":      {fixed(func(d *sdk.DiscountCreate) { d.PercentBps = new(int64(1)) }), "percent_bps"},
			"no amount":                {fixed(func(d *sdk.DiscountCreate) { d.Amount = nil }), "amount"},
			"an amount of nothing":     {fixed(func(d *sdk.DiscountCreate) { d.Amount = new(int64(0)) }), "amount"},
			"a currency that is none":  {fixed(func(d *sdk.DiscountCreate) { d.Currency = new("xxx") }), "currency"},
			"amounts in none":          {fixed(func(d *sdk.DiscountCreate) { d.Amounts = &sdk.DiscountAmounts{"xxx": 1} }), "amounts.xxx"},
			"a currency twice":         {fixed(func(d *sdk.DiscountCreate) { d.Amounts = &sdk.DiscountAmounts{"usd": 1} }), "amounts.usd"},
			"amounts of nothing":       {fixed(func(d *sdk.DiscountCreate) { d.Amounts = &sdk.DiscountAmounts{"eur": 0} }), "amounts.eur"},
			"a duration that is none":  {percent(func(d *sdk.DiscountCreate) { d.Duration = new(sdk.DiscountDuration("twice")) }), "duration"},
			"repeating without months": {percent(func(d *sdk.DiscountCreate) { d.Duration = new(sdk.DiscountDuration("repeating")) }), "duration_in_months"},
			"months without repeating": {percent(func(d *sdk.DiscountCreate) { d.DurationInMonths = new(int64(1)) }), "duration_in_months"},
			"a thousand months": {percent(func(d *sdk.DiscountCreate) {
				d.Duration, d.DurationInMonths = new(sdk.DiscountDuration("repeating")), new(int64(1000))
			}), "duration_in_months"},
			"a rule without a rate": {percent(func(d *sdk.DiscountCreate) { d.Rules = []sdk.DiscountRuleCreate{{PriceVariant: variant}} }), "rules.0.percent_bps"},
			"a rule of an amount": {percent(func(d *sdk.DiscountCreate) {
				d.Rules = []sdk.DiscountRuleCreate{{PriceVariant: variant, PercentBps: new(int64(1)), Amount: new(int64(1))}}
			}), "rules.0.amount"},
			"two rules for one": {percent(func(d *sdk.DiscountCreate) {
				r := sdk.DiscountRuleCreate{PriceVariant: variant, PercentBps: new(int64(1))}
				d.Rules = []sdk.DiscountRuleCreate{r, r}
			}), "rules.1.price_variant"},
			"a rule of a percentage": {fixed(func(d *sdk.DiscountCreate) {
				d.Rules = []sdk.DiscountRuleCreate{{PriceVariant: variant, PercentBps: new(int64(1)), Amount: new(int64(1))}}
			}), "rules.0.percent_bps"},
			"a rule without the currency": {fixed(func(d *sdk.DiscountCreate) {
				d.Rules = []sdk.DiscountRuleCreate{{PriceVariant: variant, Amounts: &sdk.DiscountAmounts{"eur": 1}}}
			}), "rules.0.amount"},
			"a rule without a further currency": {fixed(func(d *sdk.DiscountCreate) {
				d.Amounts = &sdk.DiscountAmounts{"eur": 1}
				d.Rules = []sdk.DiscountRuleCreate{{PriceVariant: variant, Amount: new(int64(1))}}
			}), "rules.0.amounts"},
			"a least subtotal of nothing": {percent(func(d *sdk.DiscountCreate) { d.MinSubtotalAmount = new(int64(0)) }), "min_subtotal_amount"},
			"a least subtotal in none":    {percent(func(d *sdk.DiscountCreate) { d.MinSubtotalAmounts = &sdk.DiscountAmounts{"xxx": 1} }), "min_subtotal_amounts.xxx"},
			"an end at the start": {percent(func(d *sdk.DiscountCreate) {
				d.StartsAt, d.EndsAt = new(sdk.Time("2026-01-02T03:04:05.000Z")), new(sdk.Time("2026-01-02T03:04:05.000Z"))
			}), "ends_at"},
			"no redemptions":              {percent(func(d *sdk.DiscountCreate) { d.MaxRedemptions = new(int64(0)) }), "max_redemptions"},
			"no redemptions per customer": {percent(func(d *sdk.DiscountCreate) { d.MaxRedemptionsPerCustomer = new(int64(0)) }), "max_redemptions_per_customer"},
		} {
			t.Log(name)
			_, err := c.Discounts.Create(background, test.body)
			refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, test.field)
		}
		if list := ok[*sdk.DiscountList](t)(c.Discounts.List(background, nil)); len(list.Data) != 0 {
			t.Errorf("%d discounts were made", len(list.Data))
		}
	})
}

func TestCreateDiscount_NamesWhatDoesNotExist(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, s *harness.Server) {
		foreign := onSale(t, s.SDK(t), 1900).ID
		for param, change := range map[string]func(*sdk.DiscountCreate){
			"applies_to.products.0": func(d *sdk.DiscountCreate) { d.AppliesTo = &sdk.DiscountAppliesToCreate{Products: []string{"nothing"}} },
			"applies_to.price_variants.1": func(d *sdk.DiscountCreate) {
				d.AppliesTo = &sdk.DiscountAppliesToCreate{PriceVariants: []string{onSale(t, c, 1900).ID, foreign}}
			},
			"rules.0.price_variant": func(d *sdk.DiscountCreate) {
				d.Rules = []sdk.DiscountRuleCreate{{PriceVariant: foreign, PercentBps: new(int64(1))}}
			},
		} {
			body := &sdk.DiscountCreate{Name: new("n"), Type: "percent", PercentBps: new(int64(1000))}
			change(body)
			_, err := c.Discounts.Create(background, body)
			refused(t, err, http.StatusNotFound, sdk.CodeResourceMissing, param)
		}
	})
}

func TestDiscountCode_IsUniqueInAnyCase(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, s *harness.Server) {
		spring := off(t, c, "Spring", 1000)
		_, err := c.Discounts.Create(background, &sdk.DiscountCreate{Code: new("SPRING"), Type: "percent", PercentBps: new(int64(1))})
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "code")
		other := off(t, c, "Summer", 1000)
		_, err = c.Discounts.Update(background, other.ID, &sdk.DiscountUpdate{Code: sdk.Set("sPRING")})
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "code")
		off(t, s.SDK(t), "Spring", 1000) // another account

		for _, code := range []string{"Spring", "SPRING", "spring"} {
			if found := ok[*sdk.Discount](t)(c.Discounts.Lookup(background, &sdk.LookupDiscountParams{Code: code})); found.ID != spring.ID {
				t.Errorf("%s finds %s", code, found.ID)
			}
		}
		ok[*sdk.Discount](t)(c.Discounts.Update(background, spring.ID, &sdk.DiscountUpdate{Code: sdk.Null[string]()}))
		_, err = c.Discounts.Lookup(background, &sdk.LookupDiscountParams{Code: "Spring"})
		refused(t, err, http.StatusNotFound, sdk.CodeResourceMissing, "code")
		ok[*sdk.Deleted](t)(c.Discounts.Delete(background, other.ID))
		off(t, c, "SUMMER", 1000)
	})
}

func TestUpdateDiscount_KnowsAbsentNullAndValue(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		variant := onSale(t, c, 1900).ID
		made := ok[*sdk.Discount](t)(c.Discounts.Create(background, &sdk.DiscountCreate{
			Code: new("SPRING"), Type: "percent", PercentBps: new(int64(1000)), MaxRedemptions: new(int64(5)), EndsAt: new(sdk.Time("2199-01-02T03:04:05.000Z")),
			AppliesTo: &sdk.DiscountAppliesToCreate{PriceVariants: []string{variant}}, MinSubtotalAmount: new(int64(100)),
		}))
		got := ok[*sdk.Discount](t)(c.Discounts.Update(background, made.ID, &sdk.DiscountUpdate{
			PercentBps: sdk.Set(int64(2000)), MaxRedemptions: sdk.Null[int64](), EndsAt: sdk.Null[sdk.Time](), AppliesTo: &sdk.DiscountAppliesToCreate{},
			Rules: []sdk.DiscountRuleCreate{{PriceVariant: variant, PercentBps: new(int64(0))}}, MaxRedemptionsPerCustomer: sdk.Set(int64(1)),
		}))
		assert.EqualValues(t, 2000, *got.PercentBps, "the discount")
		require.Nil(t, got.MaxRedemptions, "the discount")
		require.Nil(t, got.EndsAt, "the discount")
		require.Empty(t, got.AppliesTo.PriceVariants, "the discount")
		require.Len(t, got.Rules, 1, "the discount")
		assert.Equal(t, "SPRING", *got.Code, "the discount")
		assert.EqualValues(t, 100, *got.MinSubtotalAmount, "the discount")
		assert.Equal(t, "usd", *got.Currency, "the discount")
		assert.EqualValues(t, 1, *got.MaxRedemptionsPerCustomer, "the discount")
		same := ok[*sdk.Discount](t)(c.Discounts.Update(background, made.ID, &sdk.DiscountUpdate{
			PercentBps: sdk.Set(int64(2000)), Rules: []sdk.DiscountRuleCreate{{PriceVariant: variant, PercentBps: new(int64(0))}},
		}))
		if same.UpdatedAt != got.UpdatedAt {
			t.Error("a change that changes nothing touched updated_at")
		}
		fixed := ok[*sdk.Discount](t)(c.Discounts.Update(background, made.ID, &sdk.DiscountUpdate{
			Type: new(sdk.DiscountType("fixed")), PercentBps: sdk.Null[int64](), Amount: sdk.Set(int64(100)), Rules: []sdk.DiscountRuleCreate{},
		}))
		assert.EqualValues(t, "fixed", fixed.Type, "the discount")
		assert.EqualValues(t, 100, *fixed.Amount, "the discount")
		assert.Empty(t, fixed.Rules, "the discount")
	})
}

func TestDiscountStatus_FollowsTheClockAndTheSwitch(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		at := func(d time.Duration) *sdk.Time { return new(sdk.Time(time.Now().Add(d).UTC().Format(time.RFC3339))) }
		for status, body := range map[sdk.DiscountStatus]*sdk.DiscountCreate{
			"active":    {Code: new("ACTIVE"), StartsAt: at(-time.Hour), EndsAt: at(time.Hour)},
			"scheduled": {Code: new("SCHEDULED"), StartsAt: at(time.Hour)},
			"expired":   {Code: new("EXPIRED"), EndsAt: at(-time.Hour)},
			"disabled":  {Code: new("DISABLED"), EndsAt: at(-time.Hour)},
		} {
			body.Type, body.PercentBps = "percent", new(int64(1000))
			made := ok[*sdk.Discount](t)(c.Discounts.Create(background, body))
			if status == "disabled" {
				made = ok[*sdk.Discount](t)(c.Discounts.Disable(background, made.ID))
				again := ok[*sdk.Discount](t)(c.Discounts.Disable(background, made.ID))
				if again.UpdatedAt != made.UpdatedAt {
					t.Error("disabling a disabled discount changed it")
				}
			}
			if made.Status != status {
				t.Errorf("%s is %s", *made.Code, made.Status)
			}
			if found := ok[*sdk.Discount](t)(c.Discounts.Lookup(background, &sdk.LookupDiscountParams{Code: *made.Code})); found.Status != status {
				t.Errorf("%s is looked up as %s", *made.Code, found.Status)
			}
			list := ok[*sdk.DiscountList](t)(c.Discounts.List(background, &sdk.ListDiscountsParams{Status: &status}))
			require.Len(t, list.Data, 1, "the filter %s", status)
			assert.Equal(t, made.ID, list.Data[0].ID, "the filter %s", status)
			if status == "disabled" {
				if enabled := ok[*sdk.Discount](t)(c.Discounts.Enable(background, made.ID)); enabled.Status != "expired" {
					t.Errorf("enabled, it is %s", enabled.Status)
				}
				ok[*sdk.Deleted](t)(c.Discounts.Delete(background, made.ID)) // that is one more that has expired
			}
		}
	})
}

func TestListDiscounts_Filters(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		guide := onSale(t, c, 1900)
		other := onSale(t, c, 1900)
		body := func(code string, applies *sdk.DiscountAppliesToCreate, rules ...sdk.DiscountRuleCreate) *sdk.Discount {
			return ok[*sdk.Discount](t)(c.Discounts.Create(background, &sdk.DiscountCreate{
				Code: &code, Type: "percent", PercentBps: new(int64(1)), AppliesTo: applies, Rules: rules, Metadata: &sdk.Metadata{"code": code},
			}))
		}
		body("EVERYTHING", nil)
		body("PRODUCT", &sdk.DiscountAppliesToCreate{Products: []string{guide.Product.ID}})
		body("VARIANT", &sdk.DiscountAppliesToCreate{PriceVariants: []string{guide.ID}})
		body("RULE", &sdk.DiscountAppliesToCreate{Products: []string{other.Product.ID}}, sdk.DiscountRuleCreate{PriceVariant: guide.ID, PercentBps: new(int64(2))})
		body("OTHER", &sdk.DiscountAppliesToCreate{Products: []string{other.Product.ID}})
		fixed := ok[*sdk.Discount](t)(c.Discounts.Create(background, &sdk.DiscountCreate{Name: new("Größe"), Type: "fixed", Amount: new(int64(1)), AppliesTo: &sdk.DiscountAppliesToCreate{PriceVariants: []string{other.ID}}}))
		for name, test := range map[string]struct {
			filter sdk.ListDiscountsParams
			want   int
		}{
			"code":     {sdk.ListDiscountsParams{Code: new("everything")}, 1},
			"type":     {sdk.ListDiscountsParams{Type: new(sdk.DiscountType("fixed"))}, 1},
			"product":  {sdk.ListDiscountsParams{Product: &guide.Product.ID}, 4},
			"q":        {sdk.ListDiscountsParams{Q: new("vari")}, 1},
			"q id":     {sdk.ListDiscountsParams{Q: &fixed.ID}, 1},
			"metadata": {sdk.ListDiscountsParams{Metadata: sdk.MetadataFilter{"code": "RULE"}}, 1},
			"none":     {sdk.ListDiscountsParams{Code: new("unknown")}, 0},
		} {
			if list := ok[*sdk.DiscountList](t)(c.Discounts.List(background, &test.filter)); len(list.Data) != test.want {
				t.Errorf("the filter %s finds %d", name, len(list.Data))
			}
		}
		_, err := c.Discounts.List(background, &sdk.ListDiscountsParams{Product: new("nothing")})
		refused(t, err, http.StatusNotFound, sdk.CodeResourceMissing, "product")
	})
}

func TestDeleteDiscount_IsMissingThen(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		made := off(t, c, "SPRING", 1000)
		deleted := ok[*sdk.Deleted](t)(c.Discounts.Delete(background, made.ID))
		assert.Equal(t, made.ID, deleted.ID, "deleted")
		assert.Equal(t, "discount", deleted.Object, "deleted")
		_, err := c.Discounts.Get(background, made.ID)
		refused(t, err, http.StatusNotFound, sdk.CodeResourceMissing, "")
		_, err = c.Discounts.ListRedemptions(background, made.ID, nil)
		refused(t, err, http.StatusNotFound, sdk.CodeResourceMissing, "")
		if list := ok[*sdk.DiscountList](t)(c.Discounts.List(background, nil)); len(list.Data) != 0 {
			t.Errorf("%d discounts are left", len(list.Data))
		}
	})
}
