package store

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/customer"
	"github.com/tillwright/tillwright/store/subscription"
)

// Without their index SQLite reads every subscription of the account for each customer: six seconds for a page.
func TestListCustomers_LooksForActiveSubscriptionsByTheirIndex(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		s.subscribers(t, 5_000)
		where := ` WHERE account_id = '` + s.account + `'`
		for _, wanted := range []bool{true, false} {
			for range 2 { // what is said twice is prepared, and seen here
				_, _, err := s.Customer.List(t.Context(), s.account, customer.List{Page: core.Page{Limit: 20}, HasActiveSubscription: &wanted})
				require.NoError(t, err)
			}
		}
		for _, said := range s.said("FROM subscriptions") {
			if plan := s.planOf(t, said); strings.Contains(said, "customers") && s.Engine() == core.SQLite { // PostgreSQL reads tables of this size whole
				assert.Contains(t, plan, "subscriptions_active", plan)
			}
		}
		for _, condition := range []string{customer.ActiveSubscription + ` ORDER BY account_id DESC, customer_id DESC, id DESC LIMIT 100`, customer.ActiveSubscription + ` AND status = 'past_due' ORDER BY id`} {
			plan := s.plan(t, subscription.Columns.SelectSQL+where+` AND customer_id = 'cus_1' AND `+condition)
			assert.Contains(t, plan, "subscriptions_active", plan)
		}
	})
}
