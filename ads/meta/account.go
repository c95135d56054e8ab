package meta

import (
	"context"
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store/advert"
)

const accountFields = "id,name,currency,timezone_name,account_status,disable_reason,min_daily_budget,amount_spent,spend_cap,business{id}," +
	"business_country_code,default_dsa_beneficiary,default_dsa_payor"

// accountNode is an AdAccount of the Graph API. Amounts are as Meta writes them.
type accountNode struct {
	ID, Name, Currency string
	Timezone           string      `json:"timezone_name"`
	Status             int         `json:"account_status"`
	DisableReason      int         `json:"disable_reason"`
	MinDailyBudget     json.Number `json:"min_daily_budget"`
	AmountSpent        string      `json:"amount_spent"`
	SpendCap           string      `json:"spend_cap"`
	Business           struct{ ID string }
	Country            string `json:"business_country_code"`
	Beneficiary        string `json:"default_dsa_beneficiary"`
	Payor              string `json:"default_dsa_payor"`
}

// accountStates says what Meta's numbers for the state of an ad account mean.
var accountStates = map[int]struct {
	word   string
	status advert.AccountStatus
}{
	1:   {"ACTIVE", advert.AccountActive},
	2:   {"DISABLED", advert.AccountDisabled},
	3:   {"UNSETTLED", advert.AccountPending},
	7:   {"PENDING_RISK_REVIEW", advert.AccountPending},
	8:   {"PENDING_SETTLEMENT", advert.AccountPending},
	9:   {"IN_GRACE_PERIOD", advert.AccountActive},
	100: {"PENDING_CLOSURE", advert.AccountDisabled},
	101: {"CLOSED", advert.AccountDisabled},
	201: {"ANY_ACTIVE", advert.AccountActive},
	202: {"ANY_CLOSED", advert.AccountDisabled},
}

// AdAccounts implements ads.Network.
func (n *Network) AdAccounts(ctx context.Context, c ads.Conn) ([]advert.Account, error) {
	ctx, cancel := n.bounded(ctx)
	defer cancel()
	nodes, err := list[accountNode](ctx, n.graph, c.Token, place{"me", "adaccounts"}, url.Values{"fields": {accountFields}})
	if err != nil {
		return nil, err
	}
	var accounts []advert.Account
	for _, node := range nodes {
		if len(c.AdAccounts) == 0 || slices.Contains(c.AdAccounts, node.ID) {
			accounts = append(accounts, n.account(node))
		}
	}
	return accounts, nil
}

// account converts an ad account. One whose currency we do not support is shown, but cannot be used.
func (n *Network) account(node accountNode) advert.Account {
	state, known := accountStates[node.Status]
	if !known {
		state.word, state.status = strconv.Itoa(node.Status), advert.AccountDisabled
	}
	a := advert.Account{PlatformID: node.ID, Name: node.Name, Currency: strings.ToLower(node.Currency), Timezone: node.Timezone,
		Status: state.status, PlatformStatus: state.word, BusinessCenterID: node.Business.ID,
		Country: strings.ToUpper(node.Country), DefaultBeneficiary: node.Beneficiary, DefaultPayor: node.Payor}
	if a.Status != advert.AccountActive {
		a.UnusableReason = "The ad account is " + strings.ToLower(strings.ReplaceAll(state.word, "_", " ")) + "."
	}
	if _, ok := n.caps.Decimals(a.Currency); !ok {
		a.UnusableReason = "The currency of the ad account is not supported."
		return a
	}
	a.MinimumDailyBudget = n.amount(node.MinDailyBudget.String(), a.Currency)
	a.AmountSpent = n.amount(node.AmountSpent, a.Currency)
	a.SpendCap = n.amount(node.SpendCap, a.Currency)
	return a
}

// amount reads an amount as Meta writes it. One that is missing or cannot be read is 0.
func (n *Network) amount(wire, currency string) advert.Amount {
	amount, err := n.caps.Amount(wire, currency)
	if err != nil {
		return 0
	}
	return amount
}

// currency asks for the currency of an ad account, a lower-case code.
func (n *Network) currency(ctx context.Context, c ads.Conn, adAccount string) (string, error) {
	var node accountNode
	err := n.graph.get(ctx, c.Token, place{id: adAccount}, url.Values{"fields": {"currency"}}, &node)
	return strings.ToLower(node.Currency), err
}
