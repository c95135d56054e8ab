package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"github.com/tillwright/tillwright/sdk"
)

// limitFlags are the flags of `ads limits` that change something.
type limitFlags struct {
	currency, campaign, total, bid string
	reset                          bool
}

// adLimitsCommand returns `tillwright ads limits`. With a flag that changes something it changes the limits first; it always
// prints them.
func adLimitsCommand() *cobra.Command {
	var f limitFlags
	cmd := &cobra.Command{
		Use:   "limits",
		Short: "Show, or change, what may be spent on ads",
		Long: "Shows what the account's keys may commit to spend a day, in whole units of each currency. With --currency it changes the\n" +
			"limits of that currency first. A lower limit stops nothing that runs, but lets nothing more begin.",
		Example: "  tillwright ads limits --currency usd --per-campaign 500 --total 2000",
		Args:    cobra.NoArgs,
	}
	api := clientCommand(cmd, "ad_limits")
	cmd.Flags().StringVar(&f.currency, "currency", "", "the currency to change the limits of, such as usd")
	cmd.Flags().StringVar(&f.campaign, "per-campaign", "", "what one campaign may spend a day, such as 500")
	cmd.Flags().StringVar(&f.total, "total", "", "what everything that is switched on may spend a day")
	cmd.Flags().StringVar(&f.bid, "bid", "", "what one bid may be, or any")
	cmd.Flags().BoolVar(&f.reset, "reset", false, "give the currency its default limits again")
	asJSON := jsonFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		client, err := api.adsClient()
		if err != nil {
			return err
		}
		change, err := f.change()
		if err != nil {
			return err
		}
		var limits *sdk.AdLimits
		if change == nil {
			limits, err = client.AdLimits.Get(cmd.Context())
		} else {
			limits, err = client.AdLimits.Update(cmd.Context(), change)
		}
		if err != nil {
			return client.explain(err)
		}
		return printLimits(cmd, *asJSON, limits)
	}
	return cmd
}

// change returns what the flags change, nil if they change nothing.
func (f *limitFlags) change() (*sdk.AdLimitsUpdate, error) {
	sets := f.campaign != "" || f.total != "" || f.bid != ""
	switch {
	case f.currency == "" && !sets && !f.reset:
		return nil, nil
	case f.currency == "":
		return nil, errors.New("limits of which currency? Pass --currency")
	case sets == f.reset:
		return nil, errors.New("pass --per-campaign, --total or --bid with --currency, or --reset alone")
	case f.reset:
		return &sdk.AdLimitsUpdate{Currencies: map[string]*sdk.AdLimitUpdate{f.currency: nil}}, nil
	}
	limit := &sdk.AdLimitUpdate{}
	for _, given := range []struct {
		flag, text string
		set        func(json.Number)
	}{
		{"per-campaign", f.campaign, func(n json.Number) { limit.MaxDailyBudgetPerCampaign = &n }},
		{"total", f.total, func(n json.Number) { limit.MaxTotalDailyBudget = &n }},
		{"bid", f.bid, func(n json.Number) { limit.MaxBidAmount = sdk.Set(n) }},
	} {
		switch {
		case given.text == "":
		case given.flag == "bid" && given.text == "any":
			limit.MaxBidAmount = sdk.Null[json.Number]()
		case json.Unmarshal([]byte(given.text), new(float64)) != nil:
			return nil, fmt.Errorf("--%s must be an amount in whole units, such as 500 or 99.50, not %q", given.flag, given.text)
		default:
			given.set(json.Number(given.text))
		}
	}
	return &sdk.AdLimitsUpdate{Currencies: map[string]*sdk.AdLimitUpdate{f.currency: limit}}, nil
}

// currencyLimit is a line of the table.
type currencyLimit struct {
	currency string
	sdk.AdLimit
}

// printLimits prints the limits as a table with a line for each currency.
func printLimits(cmd *cobra.Command, asJSON bool, limits *sdk.AdLimits) error {
	if asJSON {
		return printJSON(cmd.OutOrStdout(), limits)
	}
	var rows []currencyLimit
	for _, currency := range slices.Sorted(maps.Keys(limits.Currencies)) {
		rows = append(rows, currencyLimit{currency, limits.Currencies[currency]})
	}
	rows = append(rows, currencyLimit{"any other, in usd", limits.Default})
	err := printList(cmd, false, rows, "CURRENCY\tA CAMPAIGN A DAY\tALL A DAY\tA BID", func(l *currencyLimit) []string {
		bid := "any"
		if l.MaxBidAmount != nil {
			bid = l.MaxBidAmount.String()
		}
		return []string{l.currency, l.MaxDailyBudgetPerCampaign.String(), l.MaxTotalDailyBudget.String(), bid}
	})
	if limits.MaxDailyBudgetIncreasePct != nil {
		cmd.Printf("\nOne change may raise a daily budget by %s %%.\n", limits.MaxDailyBudgetIncreasePct)
	}
	if len(limits.BlockedOperations) > 0 {
		cmd.Printf("\nBlocked: %v\n", printable(fmt.Sprint(limits.BlockedOperations)))
	}
	return err
}
