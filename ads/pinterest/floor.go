package pinterest

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store/advert"
)

// floorQuestion asks for the least bid of an ad group.
type floorQuestion struct {
	Specs     []floorSpec   `json:"bid_floor_specs"`
	Targeting advert.Object `json:"targeting_spec"`
}

// floorSpec is what the least bid depends on, besides who the ads are shown to.
type floorSpec struct {
	Billable  string `json:"billable_event"`
	Objective string `json:"objective_type"`
	Currency  string `json:"currency"`
}

// checkFloor refuses a bid that is below the least one. The network would refuse it, too, but not say of what. Without a bid there is
// nothing to ask.
func (m *making) checkFloor(ctx context.Context, first *newCampaign, second *newGroup) error {
	if first == nil || second.Bid == "" {
		return nil
	}
	currency := m.plan.AdAccount.Currency
	question := floorQuestion{[]floorSpec{{second.Billable, first.Objective, strings.ToUpper(currency)}}, second.Targeting}
	var answer struct {
		Floors []json.Number `json:"bid_floors"`
	}
	r := request{method: http.MethodPost, path: inAccount(m.plan.AdAccount.PlatformID, "bid_floor"), body: question}
	if err := m.d.ask(ctx, m.c, r, &answer); err != nil || len(answer.Floors) == 0 {
		return err
	}
	least, err := m.d.amount(answer.Floors[0])
	if err != nil || m.plan.BidAmount >= least {
		return err
	}
	return &ads.Rejected{Field: "bid_amount", Message: "The least bid for these people is " + least.Format(currency) + ".", Raw: "bid_floor"}
}
