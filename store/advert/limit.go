package advert

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
)

// Limits are the guardrails of an account. They say how much its API keys may commit to spend, at all networks together, and which operations they
// may not use.
type Limits struct {
	AccountID         string                      `db:"account_id"`
	Currencies        core.JSON[map[string]Limit] `db:"currencies"`          // by currency; another one has DefaultLimit
	MaxIncrease       *Ratio                      `db:"max_budget_increase"` // percent by which one change may raise a daily budget; nil = any
	BlockedOperations core.JSON[[]Op]             `db:"blocked_operations"`
	CreatedAt         core.Time                   `db:"created_at"`
	UpdatedAt         core.Time                   `db:"updated_at"`
}

// Limit is what may be spent in one currency. A lifetime budget counts with what it comes to in a day.
type Limit struct {
	MaxDailyPerCampaign Amount  `json:"max_daily_budget_per_campaign"`
	MaxDailyTotal       Amount  `json:"max_total_daily_budget"` // of everything that is switched on
	MaxBid              *Amount `json:"max_bid_amount"`         // nil = any
}

// currencyScales says, for currencies with a small unit, roughly how many units are worth one US dollar. The default
// limits are that many times higher in them.
var currencyScales = map[string]Amount{
	"clp": 1000, "cop": 4000, "crc": 500, "czk": 20, "dkk": 7, "hkd": 8, "huf": 400, "idr": 15_000, "inr": 80, "isk": 150, "jpy": 150,
	"krw": 1000, "mxn": 20, "ngn": 1500, "nok": 10, "php": 50, "pyg": 7000, "sek": 10, "thb": 35, "try": 40, "twd": 30, "uah": 40,
	"uyu": 40, "vnd": 25_000, "zar": 20,
}

// DefaultLimit returns what may be spent in a currency for which the account has set no limit. That is roughly 10,000 US dollars a day for a
// campaign, and 50,000 for all together.
func DefaultLimit(currency string) Limit {
	scale := max(currencyScales[currency], 1) * AmountUnit
	return Limit{MaxDailyPerCampaign: 10_000 * scale, MaxDailyTotal: 50_000 * scale}
}

// Of returns what may be spent in a currency: the account's own limit, or the default.
func (l *Limits) Of(currency string) Limit {
	if limit, ok := l.Currencies.V[currency]; ok {
		return limit
	}
	return DefaultLimit(currency)
}

// check returns CodeInvalid, with every field at fault, for limits that cannot be stored.
func (l *Limits) check() error {
	var p core.Problems
	for currency, limit := range l.Currencies.V {
		p.Check(len(currency) == 3 && strings.Trim(currency, "abcdefghijklmnopqrstuvwxyz") == "", "currencies."+currency, "Send a lower-case currency code of three letters.")
		p.Check(limit.MaxDailyPerCampaign >= 0, "currencies."+currency+".max_daily_budget_per_campaign", "Send an amount that is not negative.")
		p.Check(limit.MaxDailyTotal >= 0, "currencies."+currency+".max_total_daily_budget", "Send an amount that is not negative.")
		p.Check(limit.MaxBid == nil || *limit.MaxBid >= 0, "currencies."+currency+".max_bid_amount", "Send an amount that is not negative.")
	}
	p.Check(l.MaxIncrease == nil || *l.MaxIncrease >= 0, "max_daily_budget_increase_pct", "Send a percentage that is not negative.")
	for _, op := range l.BlockedOperations.V {
		p.Check(slices.Contains(ops, op), "blocked_operations", fmt.Sprintf("There is no operation %.40q.", string(op)))
	}
	return p.Err()
}

const limitColumns = `account_id, currencies, max_budget_increase, blocked_operations, created_at, updated_at`

// GetLimits returns the guardrails of an account. An account that never changed them has the defaults, so there always
// are some.
func (s *Store) GetLimits(ctx context.Context, account string) (*Limits, error) {
	return s.getLimitsIn(ctx, s.db, account)
}

// getLimitsIn does what GetLimits does, where r says.
func (s *Store) getLimitsIn(ctx context.Context, r db.Reader, account string) (*Limits, error) {
	limits, err := findLimits(ctx, r, account)
	if err == nil && limits == nil {
		limits = &Limits{AccountID: account}
	}
	return limits, err
}

// UpdateLimits is a change of the guardrails, and who makes it.
type UpdateLimits struct {
	Actor     string // key_
	RequestID string
	Approval  string
	Change    func(*Limits)
}

// UpdateLimits locks the guardrails, applies a change and stores them, together with a line of the audit trail. A
// change that changes nothing writes nothing. What runs already goes on, even above a lower limit.
func (s *Store) UpdateLimits(ctx context.Context, account string, in UpdateLimits) (*Limits, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (*Limits, error) {
		limits, err := s.lockLimits(ctx, u, account)
		if err != nil {
			return nil, err
		}
		before, was := core.JSONText(limits), limits.trail()
		in.Change(limits)
		limits.BlockedOperations.V = slices.Compact(slices.Sorted(slices.Values(limits.BlockedOperations.V)))
		if err := limits.check(); err != nil || before == core.JSONText(limits) {
			return limits, err
		}
		limits.UpdatedAt = s.Now()
		_, err = u.Exec(ctx, `UPDATE ad_limits SET currencies = ?, max_budget_increase = ?, blocked_operations = ?, updated_at = ? WHERE account_id = ?`,
			limits.Currencies, limits.MaxIncrease, limits.BlockedOperations, limits.UpdatedAt, account)
		if err != nil {
			return nil, fmt.Errorf("update limits: %w", err)
		}
		return limits, u.Insert(ctx, actionColumns, &Action{
			AccountID: account, ID: core.NewID(core.KindAdAction), Op: OpUpdateLimits, Approval: in.Approval, Actor: in.Actor, RequestID: in.RequestID,
			State: ActionDone, Before: was, After: limits.trail(), CreatedAt: limits.UpdatedAt, UpdatedAt: limits.UpdatedAt,
		})
	})
}

// trail returns the guardrails as the audit trail keeps them, which is how the API shows them.
func (l *Limits) trail() Object {
	currencies := map[string]map[string]*json.Number{}
	for currency, limit := range l.Currencies.V {
		currencies[currency] = map[string]*json.Number{
			"max_daily_budget_per_campaign": decimal(&limit.MaxDailyPerCampaign), "max_total_daily_budget": decimal(&limit.MaxDailyTotal),
			"max_bid_amount": decimal(limit.MaxBid),
		}
	}
	blocked := append([]Op{}, l.BlockedOperations.V...)
	return NewObject(map[string]any{
		"currencies": currencies, "max_daily_budget_increase_pct": decimal(l.MaxIncrease), "blocked_operations": blocked,
	})
}

// decimal returns an amount or a ratio as the API writes it, or nil, which becomes null, for none.
func decimal[T fmt.Stringer](value *T) *json.Number {
	if value == nil {
		return nil
	}
	return new(json.Number((*value).String()))
}

// findLimits returns the stored guardrails of an account, nil if there are none.
func findLimits(ctx context.Context, r db.Reader, account string) (*Limits, error) {
	limits, err := db.Get[Limits](ctx, r, `SELECT `+limitColumns+` FROM ad_limits WHERE account_id = ?`, account)
	if err != nil {
		return nil, fmt.Errorf("read limits: %w", err)
	}
	return limits, nil
}

// lockLimits returns the guardrails and locks them until the commit, so that no other budget of the account is checked
// meanwhile. An account without stored ones gets them here: a row that is not there cannot be locked.
func (s *Store) lockLimits(ctx context.Context, u *db.Unit, account string) (*Limits, error) {
	limits, err := findLimits(ctx, u.Locked(), account)
	if err != nil || limits != nil {
		return limits, err
	}
	now := s.Now()
	if _, err := u.Exec(ctx, `INSERT INTO ad_limits (`+limitColumns+`) VALUES (?, '{}', NULL, '[]', ?, ?) ON CONFLICT (account_id) DO NOTHING`,
		account, now, now); err != nil {
		return nil, fmt.Errorf("insert limits: %w", err)
	}
	return findLimits(ctx, u.Locked(), account)
}
