package contract

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

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
		if after := taken.Customer.Object; after == nil || after.BalanceAmount["usd"] != 1300 {
			t.Errorf("the customer is %+v", after)
		}
		ok[*sdk.BalanceTransaction](t)(c.Customers.CreateBalanceTransaction(background, who, &sdk.BalanceTransactionCreate{Amount: 70, Currency: "eur", Description: "Another"}))
		has := ok[*sdk.Customer](t)(c.Customers.Get(background, who)).BalanceAmount
		if has["usd"] != 1300 || has["eur"] != 70 {
			t.Errorf("they have %v", has)
		}
		advance(t, c, 32*24*time.Hour)
		order := ok[*sdk.OrderList](t)(c.Orders.List(background, &sdk.ListOrdersParams{Customer: &who})).Data[0]
		if order.BalanceApplied != 1000 || order.PaidAmount != 0 || order.Status != sdk.OrderStatusPaid {
			t.Errorf("it pays %+v", order)
		}

		changes := func(in sdk.ListCustomerBalanceTransactionsParams) []sdk.BalanceTransaction {
			return ok[*sdk.BalanceTransactionList](t)(c.Customers.ListBalanceTransactions(background, who, &in)).Data
		}
		all := changes(sdk.ListCustomerBalanceTransactionsParams{})
		if len(all) != 4 || all[0].Reason != "applied" || all[0].Amount != -1000 || all[0].Source == nil || *all[0].Source != order.ID || all[0].Description != nil || all[3].ID != given.ID {
			t.Errorf("the changes are %+v", all)
		}
		if hand := changes(sdk.ListCustomerBalanceTransactionsParams{Reason: new(sdk.BalanceTransactionReason("manual")), Currency: new("usd")}); len(hand) != 2 || hand[0].ID != taken.ID {
			t.Errorf("in usd and by hand there are %+v", hand)
		}
		if euros := changes(sdk.ListCustomerBalanceTransactionsParams{Currency: new("eur")}); len(euros) != 1 || euros[0].Amount != 70 {
			t.Errorf("in eur there are %+v", euros)
		}
		var walked []string
		for change, err := range sdk.All(background, func(ctx context.Context, in *sdk.ListCustomerBalanceTransactionsParams, opts ...sdk.Option) (*sdk.BalanceTransactionList, error) {
			return c.Customers.ListBalanceTransactions(ctx, who, in, opts...)
		}, &sdk.ListCustomerBalanceTransactionsParams{Limit: new(int64(1))}) {
			if err != nil {
				t.Fatal(err)
			}
			walked = append(walked, change.ID)
		}
		if len(walked) != 4 || walked[3] != given.ID {
			t.Errorf("page by page there are %v", walked)
		}
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
		if has := ok[*sdk.Customer](t)(c.Customers.Get(background, who)).BalanceAmount; taken != 2 || has["usd"] != 100 {
			t.Errorf("it was taken %d times, and they have %v", taken, has)
		}
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
		if len(lines) != 1 || lines[0].Operation != "createCustomerBalanceTransaction" || lines[0].Target.Object != "balance_transaction" || lines[0].Actor.Type != sdk.ActivityActorTypeAPIKey {
			t.Errorf("the activity is %+v", lines)
		}
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
		if merged.BalanceAmount["usd"] != 800 || len(changes) != 2 || changes[0].ID != moved.ID || changes[0].Customer.ID != who {
			t.Errorf("they have %v by %+v", merged.BalanceAmount, changes)
		}
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
		if last.Reason != "refunded" || last.Amount != 1000 || *last.Source != refund.ID {
			t.Errorf("the change is %+v", last)
		}
		invoice := ok[*sdk.Invoice](t)(c.Invoices.Get(background, paid.Invoice.ID))
		if invoice.CreditNotes != 1000 {
			t.Errorf("the invoice is %+v", invoice)
		}
	})
}
