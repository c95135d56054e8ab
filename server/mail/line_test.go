package mail

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/server/locale"
	"github.com/tillwright/tillwright/store/lineitem"
	"github.com/tillwright/tillwright/store/order"
	"github.com/tillwright/tillwright/store/tenant"
)

func TestDescribe_SaysATrialInTheLanguageAndKeepsTheSellersWords(t *testing.T) {
	t.Parallel()
	item := &lineitem.Item{Kind: lineitem.KindPrice, ProductName: "Club"}
	assert.Equal(t, "Club", Describe(locale.Find("de"), item))
	item.DescribeTrial(time.Date(2026, 12, 9, 0, 0, 0, 0, time.UTC))
	assert.Equal(t, "Club, trial until 9 December 2026", Describe(locale.English, item))
	assert.Equal(t, "Club, Probezeit bis 9. Dezember 2026", Describe(locale.Find("de"), item))
	assert.Equal(t, "Club（2026年12月9日まで無料体験）", Describe(locale.Find("ja"), item))
	item.Kind = lineitem.KindCustom
	assert.Equal(t, "Club, trial until 2026-12-09", Describe(locale.Find("de"), item))
}

// Whoever had credit finds on their card less than the total, and the letter says why.
func TestReceipt_SaysWhatCreditPaid(t *testing.T) {
	t.Parallel()
	says := func(o *order.Order) string {
		return content{spoken: locale.English, sums: sumsOf(locale.English, &tenant.Account{}, o, nil)}.text()
	}
	assert.Contains(t, says(&order.Order{Currency: "usd", TotalAmount: 4500, PaidAmount: 500, BalanceApplied: 4000}), "Total: $45.00\nPaid from credit: $40.00\nPaid: $5.00\n")
	assert.NotContains(t, says(&order.Order{Currency: "usd", TotalAmount: 4500, PaidAmount: 4500}), "Paid")
}

// A receipt that is sent again says what came back since.
func TestReceipt_SaysWhatWasRefunded(t *testing.T) {
	t.Parallel()
	o := &order.Order{Currency: "usd", TotalAmount: 4500, PaidAmount: 500, BalanceApplied: 4000, RefundedAmount: 500, RefundedBalance: 700}
	says := content{spoken: locale.English, sums: sumsOf(locale.English, &tenant.Account{}, o, nil)}.text()
	assert.Contains(t, says, "Paid: $5.00\nRefunded: -$12.00\nPaid after refund: $33.00\n")
}

// The names of what was bought stand below one another, in whatever script each is.
func TestReceipt_HasItsNamesInAColumn(t *testing.T) {
	t.Parallel()
	letter, err := content{spoken: locale.English, sums: []sum{{name: "طيور البحر", amount: "$10.00"}}}.html(&tenant.Account{Name: "Ada"}, false)
	require.NoError(t, err)
	assert.Regexp(t, `<td class="ink" style="[^"]*"><bdi>طيور البحر</bdi></td>`, letter)
}
