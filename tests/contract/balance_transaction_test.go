package contract

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/tests/harness"
)

// byHand is a change of a balance in usd.
func byHand(amount int64) *sdk.BalanceTransactionCreate {
	return &sdk.BalanceTransactionCreate{Amount: amount, Currency: "usd", Description: "Sorry for the wait."}
}

func TestCreateBalanceTransaction_GivesAndTakes(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		sub := subscription(t, c, monthly(t, c, 1000))
		who := sub.Customer.ID
		given := ok[*sdk.BalanceTransaction](t)(c.Customers.CreateBalanceTransaction(background, who, byHand(1500)))
		switch {
		case given.Amount != 1500, given.Currency != "usd", given.Customer.ID != who, given.Reason != "manual", given.Source != nil:
			t.Errorf("what was given is %+v", given)
		case given.Description == nil || *given.Description != "Sorry for the wait.":
			t.Errorf("it says %v", given.Description)
		}
		taken := ok[*sdk.BalanceTransaction](t)(c.Customers.CreateBalanceTransaction(background, who, byHand(-200), sdk.Expand("customer")))
		after := taken.Customer.Object
		require.NotNil(t, after, "the customer")
		assert.EqualValues(t, 1300, after.BalanceAmount["usd"], "the customer")
		ok[*sdk.BalanceTransaction](t)(c.Customers.CreateBalanceTransaction(background, who, &sdk.BalanceTransactionCreate{Amount: 70, Currency: "eur", Description: "Another"}))
		has := ok[*sdk.Customer](t)(c.Customers.Get(background, who)).BalanceAmount
		assert.EqualValues(t, 1300, has["usd"])
		assert.EqualValues(t, 70, has["eur"])
		advance(t, c, 32*24*time.Hour)
		order := ok[*sdk.OrderList](t)(c.Orders.List(background, &sdk.ListOrdersParams{Customer: &who})).Data[0]
		assert.EqualValues(t, 1000, order.BalanceApplied, "it pays")
		assert.Zero(t, order.PaidAmount, "it pays")
		assert.Equal(t, sdk.OrderStatusPaid, order.Status, "it pays")

		changes := func(in sdk.ListCustomerBalanceTransactionsParams) []sdk.BalanceTransaction {
			return ok[*sdk.BalanceTransactionList](t)(c.Customers.ListBalanceTransactions(background, who, &in)).Data
		}
		all := changes(sdk.ListCustomerBalanceTransactionsParams{})
		require.Len(t, all, 4, "the changes")
		assert.EqualValues(t, "applied", all[0].Reason, "the changes")
		assert.EqualValues(t, -1000, all[0].Amount, "the changes")
		require.NotNil(t, all[0].Source, "the changes")
		assert.Equal(t, order.ID, *all[0].Source, "the changes")
		require.Nil(t, all[0].Description, "the changes")
		assert.Equal(t, given.ID, all[3].ID, "the changes")
		hand := changes(sdk.ListCustomerBalanceTransactionsParams{Reason: new(sdk.BalanceTransactionReason("manual")), Currency: new("usd")})
		require.Len(t, hand, 2, "in usd and by hand there")
		assert.Equal(t, taken.ID, hand[0].ID, "in usd and by hand there")
		euros := changes(sdk.ListCustomerBalanceTransactionsParams{Currency: new("eur")})
		require.Len(t, euros, 1, "in eur there")
		assert.EqualValues(t, 70, euros[0].Amount, "in eur there")
		var walked []string
		for change, err := range sdk.All(background, func(ctx context.Context, in *sdk.ListCustomerBalanceTransactionsParams, opts ...sdk.Option) (*sdk.BalanceTransactionList, error) {
			return c.Customers.ListBalanceTransactions(ctx, who, in, opts...)
		}, &sdk.ListCustomerBalanceTransactionsParams{Limit: new(int64(1))}) {
			if err != nil {
				t.Fatal(err)
			}
			walked = append(walked, change.ID)
		}
		require.Len(t, walked, 4, "page by page there")
		assert.Equal(t, given.ID, walked[3], "page by page there")
	})
}

func TestCreateBalanceTransaction_TakesNoMoreThanThereIs(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, s *harness.Server) {
		who := ok[*sdk.Customer](t)(c.Customers.Create(background, &sdk.CustomerCreate{Email: "ada@example.com"})).ID
		wrong := func(param string, in *sdk.BalanceTransactionCreate, says string) {
			t.Helper()
			_, err := c.Customers.CreateBalanceTransaction(background, who, in)
			if e := refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, param); !strings.Contains(e.Errors[param][0], says) {
				t.Errorf("it says %v", e.Errors)
			}
		}
		wrong("amount", byHand(-1), "the balance in usd is 0")
		wrong("amount", byHand(0), "less than 0 to take")
		ok[*sdk.BalanceTransaction](t)(c.Customers.CreateBalanceTransaction(background, who, byHand(500)))
		wrong("amount", byHand(-501), "the balance in usd is 500")
		wrong("amount", byHand(1_000_000_000_000), "1000000000000 at most")
		wrong("amount", byHand(1_000_000_000_001), "")
		wrong("amount", &sdk.BalanceTransactionCreate{Amount: 1005, Currency: "kwd", Description: "x"}, "divisible by 10")
		wrong("currency", &sdk.BalanceTransactionCreate{Amount: 1, Currency: "xxx", Description: "x"}, "'xxx' is not supported")
		wrong("description", &sdk.BalanceTransactionCreate{Amount: 1, Currency: "usd", Description: " "}, "Say why")
		wrong("description", &sdk.BalanceTransactionCreate{Amount: 1, Currency: "usd"}, "")
		ok[*sdk.BalanceTransaction](t)(c.Customers.CreateBalanceTransaction(background, who, byHand(-500)))
		if has := ok[*sdk.Customer](t)(c.Customers.Get(background, who)).BalanceAmount; has["usd"] != 0 {
			t.Errorf("they have %v", has)
		}
		_, err := s.SDK(t).Customers.CreateBalanceTransaction(background, who, byHand(1))
		refused(t, err, http.StatusNotFound, sdk.CodeResourceMissing, "")
		_, err = s.SDK(t).Customers.ListBalanceTransactions(background, who, nil)
		refused(t, err, http.StatusNotFound, sdk.CodeResourceMissing, "")
	})
}

// What is taken by several at once is no more than there is.
func TestCreateBalanceTransaction_IsTakenOnce(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		who := ok[*sdk.Customer](t)(c.Customers.Create(background, &sdk.CustomerCreate{Email: "ada@example.com"})).ID
		ok[*sdk.BalanceTransaction](t)(c.Customers.CreateBalanceTransaction(background, who, byHand(500)))
		answers := make(chan error)
		for range 10 {
			go func() {
				_, err := c.Customers.CreateBalanceTransaction(background, who, byHand(-200))
				answers <- err
			}()
		}
		taken := 0
		for range 10 {
			if err := <-answers; err == nil {
				taken++
			}
		}
		has := ok[*sdk.Customer](t)(c.Customers.Get(background, who)).BalanceAmount
		assert.Equal(t, 2, taken)
		assert.EqualValues(t, 100, has["usd"])
	})
}

// A balance is worth money: who may write customers cannot make any.
func TestCreateBalanceTransaction_NeedsTheScopeOfRefunds(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, s *harness.Server) {
		owner := s.Account(t)
		who := ok[*sdk.Customer](t)(owner.SDK().Customers.Create(background, &sdk.CustomerCreate{Email: "ada@example.com"})).ID
		_, err := owner.As(s.Key(t, owner.Account, "customers:write")).SDK().Customers.CreateBalanceTransaction(background, who, byHand(500))
		refused(t, err, http.StatusForbidden, sdk.CodeForbidden, "refunds:write")
		ok[*sdk.BalanceTransaction](t)(owner.As(s.Key(t, owner.Account, "refunds:write")).SDK().Customers.CreateBalanceTransaction(background, who, byHand(500)))
	})
}

func TestCreateBalanceTransaction_SaysWhoDidIt(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		who := ok[*sdk.Customer](t)(c.Customers.Create(background, &sdk.CustomerCreate{Email: "ada@example.com"})).ID
		given := ok[*sdk.BalanceTransaction](t)(c.Customers.CreateBalanceTransaction(background, who, byHand(500)))
		lines := ok[*sdk.ActivityList](t)(c.Activity.List(background, &sdk.ListActivityParams{Target: &given.ID})).Data
		require.Len(t, lines, 1, "the activity")
		assert.Equal(t, "createCustomerBalanceTransaction", lines[0].Operation, "the activity")
		assert.Equal(t, "balance_transaction", lines[0].Target.Object, "the activity")
		assert.Equal(t, sdk.ActivityActorTypeAPIKey, lines[0].Actor.Type, "the activity")
	})
}

func TestBalanceTransactions_AreMergedAndForgotten(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, s *harness.Server) {
		order := purchase(t, c, "ada@example.com", onSale(t, c, 1900))
		who := order.Customer.ID
		other := ok[*sdk.Customer](t)(c.Customers.Create(background, &sdk.CustomerCreate{Email: "grace@example.com"})).ID
		ok[*sdk.BalanceTransaction](t)(c.Customers.CreateBalanceTransaction(background, who, byHand(500)))
		moved := ok[*sdk.BalanceTransaction](t)(c.Customers.CreateBalanceTransaction(background, other, byHand(300)))
		merged := ok[*sdk.Customer](t)(c.Customers.Merge(background, who, &sdk.CustomerMerge{From: other}))
		changes := ok[*sdk.BalanceTransactionList](t)(c.Customers.ListBalanceTransactions(background, who, nil)).Data
		assert.EqualValues(t, 800, merged.BalanceAmount["usd"])
		require.Len(t, changes, 2)
		assert.Equal(t, moved.ID, changes[0].ID)
		assert.Equal(t, who, changes[0].Customer.ID)
		ok[*sdk.Deleted](t)(c.Customers.Delete(background, who, nil))
		_, err := c.Customers.CreateBalanceTransaction(background, who, byHand(1))
		refused(t, err, http.StatusNotFound, sdk.CodeResourceMissing, "")
		if said := s.Strings(t, `SELECT description FROM balance_transactions WHERE description IS NOT NULL AND account_id = '`+accountOf(t, c)+`'`); len(said) > 0 {
			t.Errorf("of whom was deleted it is still said %q", said)
		}
	})
}

// What the balance paid goes back to it, without a payment, and the order says so.
func TestCreateRefund_OfWhatTheBalancePaid(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		sub := subscription(t, c, monthly(t, c, 1000))
		who := sub.Customer.ID
		ok[*sdk.BalanceTransaction](t)(c.Customers.CreateBalanceTransaction(background, who, byHand(1000)))
		advance(t, c, 32*24*time.Hour)
		paid := ok[*sdk.OrderList](t)(c.Orders.List(background, &sdk.ListOrdersParams{Customer: &who})).Data[0]
		refund := ok[*sdk.Refund](t)(c.Refunds.Create(background, &sdk.RefundCreate{Order: paid.ID}, sdk.Expand("payment", "order")))
		order := refund.Order.Object
		switch {
		case refund.Status != "succeeded", refund.Amount != 1000, refund.BalanceAmount != 1000, refund.Payment.ID != "", refund.Provider != "balance":
			t.Errorf("the refund is %+v", refund)
		case order.Status != "refunded", order.RefundedAmount != 1000, order.RefundedBalanceAmount != 1000, order.RefundableAmount != 0:
			t.Errorf("the order is %+v", order)
		}
		last := ok[*sdk.BalanceTransactionList](t)(c.Customers.ListBalanceTransactions(background, who, nil)).Data[0]
		assert.EqualValues(t, "refunded", last.Reason, "the change")
		assert.EqualValues(t, 1000, last.Amount, "the change")
		assert.Equal(t, refund.ID, *last.Source, "the change")
		invoice := ok[*sdk.Invoice](t)(c.Invoices.Get(background, paid.Invoice.ID))
		if invoice.CreditNotes != 1000 {
			t.Errorf("the invoice is %+v", invoice)
		}
	})
}
