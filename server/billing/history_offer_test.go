package billing_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/customer"
	"github.com/tillwright/tillwright/store/discount"
	"github.com/tillwright/tillwright/store/tenant"
)

// errIdle is a step for which there is nothing to do yet.
var errIdle = errors.New("nothing to do")

// everywhere is the context of all that is done.
var everywhere = context.Background()

// The currencies of the shops, and amounts that can be charged in each of them.
var (
	currenciesOf = []string{"usd", "jpy", "kwd", "eur", "usd", "usd"}
	amountsOf    = []int64{1000, 500, 1990, 17920, 250}
)

// odds is true one time in n.
func (p *player) odds(n int) bool { return p.roll(n) == n-1 }

func pick[T any](p *player, all []T) T { return all[p.roll(len(all))] }

// maybe is a value one time in n, and otherwise nil.
func maybe[T any](p *player, n int, value func() T) *T {
	if !p.odds(n) {
		return nil
	}
	return new(value())
}

// latest are the newest 12 of a list.
var latest = core.Page{Limit: 12}

// some picks one of a list.
func some[T any](p *player, all []T, _ bool, err error) (*T, error) {
	if err != nil {
		return nil, err
	}
	if len(all) == 0 {
		return nil, errIdle
	}
	return &all[p.roll(len(all))], nil
}

// answered takes an answer, or the refusal of something that is not possible now.
func (p *player) answered(what string, err error) error {
	p.say("%s: %v", what, err)
	if err == nil || isRefusal(err) || isExcused(err) {
		return nil
	}
	return fmt.Errorf("%s: %w", what, err)
}

// request does something as the server does it that is asked to: under a key, and with an answer. What has no answer can be
// sent again.
func request[T any](p *player, do func(context.Context) (T, error)) (made T, err error) {
	key := &core.Key{Account: p.account, Key: fmt.Sprint(p.asked.Add(1)), External: true}
	send := func() error {
		var refusal error // is an answer too, where it is recorded
		_, _, err := p.Request(everywhere, key, func(ctx context.Context) (*core.Answer, error) {
			if made, refusal = do(ctx); refusal == nil || core.OutcomeOf(refusal) == core.Recorded {
				return &core.Answer{Status: 200, Body: []byte("{}")}, refusal
			}
			return nil, refusal
		})
		return cmp.Or(err, refusal)
	}
	if err = send(); core.OutcomeOf(err) == core.Unknown {
		p.unanswered = send
	}
	return made, err
}

// again is a client who heard nothing, and sends the request again.
func (p *player) again() error {
	send := p.unanswered
	if p.unanswered = nil; send == nil {
		return errIdle
	}
	return p.answered("send again", send())
}

func (p *player) price() catalog.PriceVariant {
	v := catalog.PriceVariant{Amount: pick(p, amountsOf), Currency: pick(p, currenciesOf)}
	v.Stock = maybe(p, 4, func() int64 { return int64(1 + p.roll(4)) })
	v.TaxBehavior = maybe(p, 3, func() string { return pick(p, []string{"inclusive", "exclusive"}) })
	switch p.roll(8) {
	case 0:
	case 1:
		v.Amount, v.AmountType = 0, catalog.PriceVariantAmountTypeFree
	case 2:
		v.Amount, v.AmountType, v.MinAmount = 0, catalog.PriceVariantAmountTypeCustom, new(int64(0))
	case 3:
		v.Currency, v.CurrencyAmounts = "usd", core.JSONOf(map[string]int64{"eur": pick(p, amountsOf), "kwd": pick(p, amountsOf)})
	default:
		p.recurring(&v)
	}
	return v
}

func (p *player) recurring(v *catalog.PriceVariant) {
	v.Type, v.Interval, v.IntervalCount = catalog.PriceVariantTypeRecurring, new(pick(p, []string{"month", "week", "day", "year"})), new(int64(1+p.roll(3)))
	if *v.Interval == "day" {
		*v.IntervalCount *= 5 // every day would be most of the work
	}
	if p.odds(4) {
		v.TrialDays = int64(1 + p.roll(20))
	}
	if p.odds(4) {
		v.SetupFeeAmount = pick(p, amountsOf)
	}
	v.BillingCycles = maybe(p, 4, func() int64 { return int64(1 + p.roll(3)) })
	switch p.roll(8) {
	case 6:
		v.Amount, v.AmountType = 0, catalog.PriceVariantAmountTypeFree
	case 7:
		v.Amount, v.AmountType, v.MinAmount = 0, catalog.PriceVariantAmountTypeCustom, new(int64(0))
	}
}

// stock gives every shop something to sell at once.
func (h *history) stock(p *player) error {
	for _, p.shop = range h.shops {
		product := catalog.NewProduct{Product: catalog.Product{Name: "Course", Status: catalog.ProductStatusActive}}
		for _, interval := range []string{"month", "year", "month"} {
			product.PriceVariants = append(product.PriceVariants, recurring(int64(1000*(1+len(product.PriceVariants))), interval))
		}
		product.PriceVariants[2].TrialDays = 14
		free := recurring(0, "week")
		free.AmountType = catalog.PriceVariantAmountTypeFree
		product.PriceVariants = append(product.PriceVariants, free, catalog.PriceVariant{Amount: 1900})
		if _, err := p.Catalog.CreateProduct(everywhere, p.account, product); err != nil {
			return err
		}
		if _, err := p.Customer.Create(everywhere, p.account, customer.Customer{Email: new("buyer0@example.com")}); err != nil {
			return err
		}
		if err := p.shelve(); err != nil {
			return err
		}
	}
	return nil
}

func (p *player) offer() error {
	var prices []catalog.PriceVariant
	for range 1 + p.roll(3) {
		prices = append(prices, p.price())
	}
	product := catalog.NewProduct{Product: catalog.Product{Name: "Handbook", Status: catalog.ProductStatusActive}, PriceVariants: prices}
	_, err := p.Catalog.CreateProduct(everywhere, p.account, product)
	return p.answered("offer a product", err)
}

// revise changes what is on sale.
func (p *player) revise() error {
	v, err := p.variant()
	if err != nil {
		return err
	}
	more, amount := maybe(p, 2, func() int64 { return int64(p.roll(3)) }), pick(p, amountsOf)
	status := pick(p, []catalog.PriceVariantStatus{catalog.PriceVariantStatusActive, catalog.PriceVariantStatusArchived})
	switch p.roll(5) {
	case 0:
		_, err = p.Catalog.UpdatePriceVariant(everywhere, p.account, v.ID, func(v *catalog.PriceVariant) {
			if v.Stock = nil; more != nil {
				v.Stock = new(v.SoldCount + *more)
			}
		})
	case 1:
		_, err = p.Catalog.UpdatePriceVariant(everywhere, p.account, v.ID, func(v *catalog.PriceVariant) { v.Amount = amount })
	case 2:
		_, err = p.Catalog.UpdatePriceVariant(everywhere, p.account, v.ID, func(v *catalog.PriceVariant) { v.Status = status })
	case 3:
		_, err = p.Catalog.DeletePriceVariant(everywhere, p.account, v.ID)
	default:
		_, err = pick(p, []func(context.Context, string, string) (*catalog.Product, error){
			p.Catalog.PublishProduct, p.Catalog.UnpublishProduct, p.Catalog.ArchiveProduct, p.Catalog.UnarchiveProduct, p.Catalog.DeleteProduct,
		})(everywhere, p.account, v.ProductID)
	}
	return p.answered("revise "+v.ID, err)
}

func (p *player) variant() (*catalog.PriceVariant, error) {
	in := catalog.ListPriceVariants{Page: core.Page{Limit: 30}}
	if !p.odds(8) {
		in.Status = catalog.PriceVariantStatusActive
	}
	all, more, err := p.Catalog.ListPriceVariants(everywhere, p.account, in)
	return some(p, all, more, err)
}

// settings changes how the shop taxes, prorates and collects.
func (p *player) settings() error {
	tax := tenant.TaxSettings{Mode: tenant.TaxModeFlatTable, Behavior: pick(p, []string{"exclusive", "inclusive"}), Rates: []tenant.TaxRate{
		{Country: new("DE"), RateBps: 1900, Name: "VAT"}, {Country: new("US"), Region: new("CA"), RateBps: 725, Name: "Sales tax"},
	}}
	if p.odds(2) {
		tax.Rates = append(tax.Rates, tenant.TaxRate{RateBps: int64(p.roll(2500)), Name: "Elsewhere"})
	}
	if p.odds(3) {
		tax.Mode = tenant.TaxModeNone
	}
	behavior := p.behavior()
	days := pick(p, [][]int64{{2, 5, 7, 7}, {1}, {30, 30}})
	access := pick(p, []tenant.PastDueAccess{tenant.PastDueAccessKeep, tenant.PastDueAccessSuspend})
	once := p.odds(2)
	_, err := p.Tenant.UpdateAccount(everywhere, p.account, func(a *tenant.AccountChange) {
		a.PastDueAccess, a.TrialOncePerCustomer = access, once
		a.Tax, a.ProrationBehavior, a.Dunning.V.IntervalsDays = core.JSONOf(tax), behavior, days
	})
	return p.answered("change the settings", err)
}

// disable lets the account rest, while its clock goes on.
func (p *player) disable() error {
	_, changed, err := p.Tenant.DisableAccount(everywhere, p.account)
	return p.switched(changed, p.answered("disable the account", err))
}

func (p *player) enable() error {
	_, changed, err := p.Tenant.EnableAccount(everywhere, p.account)
	return p.switched(changed, p.answered("enable the account", err))
}

func (p *player) switched(changed bool, err error) error {
	if err == nil && !changed {
		return errIdle
	}
	return err
}

func (p *player) behavior() tenant.ProrationBehavior {
	return pick(p, []tenant.ProrationBehavior{
		tenant.ProrationBehaviorInvoiceImmediately, tenant.ProrationBehaviorNextInvoice, tenant.ProrationBehaviorNextPeriod,
	})
}

func (p *player) address() *core.Address {
	return pick(p, []*core.Address{{Country: new("DE")}, {Country: new("US"), State: new("CA")}, {Country: new("JP")}, {Country: new("US")}, nil})
}

func (p *player) email() *string { return new(fmt.Sprintf("buyer%d@example.com", p.roll(4))) }

func (p *player) code() string { return fmt.Sprintf("CODE%d", p.roll(4)) }

func (p *player) welcome() error {
	c := customer.Customer{Email: p.email(), BillingAddress: core.JSONOf(p.address()), TaxExempt: p.odds(6)}
	c.ExternalID = maybe(p, 4, func() string { return fmt.Sprintf("e%d", p.roll(3)) })
	_, err := p.Customer.Create(everywhere, p.account, c)
	return p.answered("welcome a customer", err)
}

func (p *player) customer() (*customer.Customer, error) {
	all, more, err := p.Customer.List(everywhere, p.account, customer.List{Page: latest})
	return some(p, all, more, err)
}

// attend changes a customer, or forgets one.
func (p *player) attend() error {
	c, err := p.customer()
	if err != nil {
		return err
	}
	methods, _, err := p.Payment.ListMethods(everywhere, p.account, c.ID, latest)
	if err != nil {
		return err
	}
	address, exempt, email := p.address(), p.odds(5), p.email()
	switch what := p.roll(5); {
	case what == 0:
		_, err = p.UpdateCustomer(everywhere, p.account, c.ID, func(c *customer.Customer) { c.BillingAddress, c.TaxExempt = core.JSONOf(address), exempt })
	case what <= 2 && len(methods) == 0:
		return errIdle
	case what == 1:
		chosen := pick(p, methods).ID
		_, err = p.UpdateCustomer(everywhere, p.account, c.ID, func(c *customer.Customer) { c.DefaultPaymentMethodID = &chosen })
	case what == 2:
		_, err = p.DeletePaymentMethod(everywhere, p.account, c.ID, pick(p, methods).ID)
	case what == 3:
		_, err = p.UpdateCustomer(everywhere, p.account, c.ID, func(c *customer.Customer) { c.SetEmail(*email) })
	default:
		var gone *customer.Customer
		if gone, err = p.DeleteCustomer(everywhere, p.account, c.ID, exempt); err == nil && gone.Email != nil {
			p.forgotten.Store(strings.ToLower(*gone.Email), true)
		}
	}
	return p.answered("attend to "+c.ID, err)
}

// unite merges a customer into another one, who has the credit of both then.
func (p *player) unite() error {
	into, err := p.customer()
	if err != nil {
		return err
	}
	from, err := p.customer()
	if err != nil {
		return err
	}
	_, err = p.MergeCustomer(everywhere, p.account, into.ID, from.ID)
	if err == nil && !p.crowded {
		for _, currency := range currenciesOf {
			p.credits[into.ID+" "+currency] += p.credits[from.ID+" "+currency]
			delete(p.credits, from.ID+" "+currency)
		}
	}
	return p.answered("merge "+from.ID+" into "+into.ID, err)
}

func (p *player) reduce() error {
	d := discount.Discount{Name: "Sale", Type: discount.TypePercent, PercentBps: new(pick(p, []int64{1000, 3333, 10_000, 9800}))}
	if p.odds(3) {
		d.Type, d.PercentBps, d.Amount, d.Currency = discount.TypeFixed, nil, new(int64(1+p.roll(3000))), new(pick(p, currenciesOf))
	}
	switch p.roll(3) {
	case 1:
		d.Duration = discount.DurationForever
	case 2:
		d.Duration, d.DurationInMonths = discount.DurationRepeating, new(int64(1+p.roll(4)))
	}
	d.Code = maybe(p, 2, p.code)
	d.MaxRedemptions = maybe(p, 3, func() int64 { return int64(1 + p.roll(3)) })
	d.MaxRedemptionsPerCustomer = maybe(p, 4, func() int64 { return 1 })
	d.FirstPurchaseOnly = p.odds(8)
	if p.odds(4) {
		v, err := p.variant()
		if err != nil {
			return err
		}
		d.PriceVariantIDs = core.JSONOf([]string{v.ID})
		if p.odds(2) {
			d.ProductIDs = core.JSONOf([]string{v.ProductID})
		}
	}
	_, err := p.Discount.Create(everywhere, p.account, d)
	return p.answered("reduce prices", err)
}

func (p *player) discount() (*discount.Discount, error) {
	all, more, err := p.Discount.List(everywhere, p.account, discount.List{Page: latest})
	return some(p, all, more, err)
}

// reconsider ends a discount, or lets it be used again.
func (p *player) reconsider() error {
	d, err := p.discount()
	if err != nil {
		return err
	}
	_, err = pick(p, []func(context.Context, string, string) (*discount.Discount, error){p.Discount.Enable, p.Discount.Disable, p.Discount.Delete})(everywhere, p.account, d.ID)
	return p.answered("reconsider "+d.ID, err)
}
