package store

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/customer"
	"github.com/tillwright/tillwright/store/invoice"
	"github.com/tillwright/tillwright/tests/harness/database"
)

// biller does random things to the invoices of one account.
type biller struct {
	*shop
	customers []string
	invoices  []string
}

func (b *biller) any(t *rapid.T, ids []string, label string) string {
	return rapid.SampledFrom(ids).Draw(t, label)
}

// lines are ad-hoc lines with any amounts and taxes.
func (b *biller) lines(t *rapid.T) []invoice.NewLine {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) invoice.NewLine {
		line := invoice.NewLine{
			Description: ref("Work"), UnitAmount: ref(rapid.Int64Range(0, 100_000).Draw(t, "amount")),
			Quantity: rapid.Int64Range(1, 5).Draw(t, "quantity"), TaxInclusive: rapid.Bool().Draw(t, "inclusive"),
		}
		if rapid.Bool().Draw(t, "taxed") {
			line.TaxRateBps = ref(rapid.Int64Range(0, 2500).Draw(t, "rate"))
		}
		return line
	}), 1, 4).Draw(t, "lines")
}

// done wants an answer, or the refusal of something that the state does not allow.
func (b *biller) done(t *rapid.T, err error) {
	if err != nil && codeOf(err) != core.CodeInvalid {
		t.Fatalf("unexpected: %v", err)
	}
}

func codeOf(err error) core.Code {
	if e, ok := errors.AsType[*core.Error](err); ok {
		return e.Code
	}
	return ""
}

func (b *biller) draft(t *rapid.T) {
	i, err := b.Invoice.Create(context.Background(), b.account, invoice.Draft{
		Invoice: &invoice.Invoice{CollectionMethod: invoice.CollectionMethodSendInvoice, Currency: "usd", DueAt: ref(b.Now().Add(core.Day))},
		Lines:   b.lines(t), Customer: b.any(t, b.customers, "customer"),
	})
	if err != nil {
		t.Fatal(err)
	}
	b.invoices = append(b.invoices, i.ID)
}

func (b *biller) rewrite(t *rapid.T) {
	_, err := b.UpdateInvoice(context.Background(), b.account, b.any(t, b.invoices, "invoice"), func(d *invoice.Draft) { d.Lines = b.lines(t) })
	b.done(t, err)
}

// act does one thing to one invoice.
func (b *biller) act(do func(ctx context.Context, account, ref string) (*invoice.Invoice, error)) func(*rapid.T) {
	return func(t *rapid.T) {
		_, err := do(context.Background(), b.account, b.any(t, b.invoices, "invoice"))
		b.done(t, err)
	}
}

func (b *biller) sound(t *rapid.T) {
	broken, err := b.Audit.Check(context.Background(), aDay)
	require.NoError(t, err)
	require.LessOrEqual(t, len(broken), 0)
}

// Whatever is done to invoices in whatever order, every promise about money holds after each step.
func TestInvoices_KeepEveryPromiseInRandomHistories(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		b := &biller{shop: newShop(t, url)}
		for _, email := range []string{"bob@example.com", "eve@example.com"} {
			c, err := b.Customer.Create(t.Context(), b.account, customer.Customer{Email: &email})
			require.NoError(t, err)
			b.customers = append(b.customers, c.ID)
		}
		rapid.Check(t, func(t *rapid.T) {
			for range 12 {
				steps := []func(*rapid.T){
					b.draft, b.rewrite, b.act(b.FinalizeInvoice), b.act(b.FinalizeInvoice), b.act(b.PayInvoiceOutOfBand),
					b.act(b.VoidInvoice), b.act(b.MarkInvoiceUncollectible),
				}
				if len(b.invoices) == 0 {
					steps = steps[:1]
				}
				rapid.SampledFrom(steps).Draw(t, "step")(t)
			}
			b.sound(t)
		})
	})
}
