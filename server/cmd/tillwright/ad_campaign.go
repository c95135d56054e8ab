package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tillwright/tillwright/sdk"
)

// campaignFilters are the flags of `ads campaigns`, as they were typed.
type campaignFilters struct {
	platform, account, adAccount, from, to string
	status                                 []string
}

// adCampaignsCommand returns `tillwright ads campaigns`, which lists campaigns with their figures.
func adCampaignsCommand() *cobra.Command {
	var f campaignFilters
	cmd := &cobra.Command{
		Use:   "campaigns",
		Short: "List campaigns with what came of them",
		Long: "Lists the campaigns of all activated channels, the newest first, with the sums of their ads' metrics. Amounts are whole\n" +
			"units of the currency. --from and --to say which days are counted; every campaign is listed, whatever they are.",
		Example: "  tillwright ads campaigns --platform facebook --status active,pending_review --from 2026-11-01",
		Args:    cobra.NoArgs,
	}
	api := clientCommand(cmd, "ads")
	cmd.Flags().StringVar(&f.platform, "platform", "", "only of this network: facebook, instagram, tiktok, linkedin, pinterest, google or twitter")
	cmd.Flags().StringSliceVar(&f.status, "status", nil, "only in these statuses, separated by commas")
	cmd.Flags().StringVar(&f.account, "account", "", "only of this channel, sacct_...")
	cmd.Flags().StringVar(&f.adAccount, "ad-account", "", "only of this ad account, by the network's id")
	cmd.Flags().StringVar(&f.from, "from", "", "first day of the metrics, YYYY-MM-DD (default 90 days before the last)")
	cmd.Flags().StringVar(&f.to, "to", "", "last day of the metrics, YYYY-MM-DD (default today)")
	asJSON := jsonFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		client, err := api.adsClient()
		if err != nil {
			return err
		}
		campaigns, err := client.campaigns(cmd.Context(), f.params())
		if err != nil {
			return client.explain(err)
		}
		if len(campaigns) == 0 && !*asJSON {
			cmd.Println(f.none(client.url))
			return nil
		}
		return printList(cmd, *asJSON, campaigns, campaignHeader, campaignCells)
	}
	return cmd
}

func (f *campaignFilters) params() *sdk.ListAdCampaignsParams {
	p := &sdk.ListAdCampaignsParams{AccountID: given(f.account), AdAccountID: given(f.adAccount), From: given(f.from), To: given(f.to)}
	if f.platform != "" {
		p.Platform = new(sdk.AdPlatform(f.platform))
	}
	for _, status := range f.status {
		p.Status = append(p.Status, sdk.AdStatus(strings.TrimSpace(status)))
	}
	return p
}

// given returns the value of a flag, nil if it was not set.
func given(flag string) *string {
	if flag == "" {
		return nil
	}
	return &flag
}

// none returns what is printed if there is nothing to list: what to do next.
func (f *campaignFilters) none(url string) string {
	if f.platform != "" || f.account != "" || f.adAccount != "" || len(f.status) > 0 {
		return "No campaign fits. Leave out a filter to see more."
	}
	return fmt.Sprintf("No campaigns yet. POST %[1]s/ads makes one with its first ad; POST %[1]s/ads/boost makes one of a post.", url)
}

// campaigns returns the campaigns of all pages.
func (c *apiClient) campaigns(ctx context.Context, params *sdk.ListAdCampaignsParams) ([]sdk.AdCampaign, error) {
	campaigns := []sdk.AdCampaign{}
	for campaign, err := range sdk.All(ctx, c.AdCampaigns.List, params) {
		if err != nil {
			return nil, err
		}
		campaigns = append(campaigns, campaign)
	}
	return campaigns, nil
}

const campaignHeader = "ID\tNAME\tPLATFORM\tSTATUS\tBUDGET\tSPEND\tIMPRESSIONS\tCLICKS\tCTR\tCPC\tCONVERSIONS"

func campaignCells(c *sdk.AdCampaign) []string {
	cells := []string{c.ID, c.Name, string(c.Platform), string(c.Status), describeBudget(c.Budget)}
	m := c.Metrics
	if m == nil {
		return append(cells, "-", "-", "-", "-", "-", "-")
	}
	ctr := orDash(m.CTR)
	if m.CTR != nil {
		ctr += " %"
	}
	spend := orDash(m.Spend)
	if m.Spend != nil {
		spend += " " + strings.ToUpper(c.Currency)
	}
	return append(cells, spend, groupedOrDash(m.Impressions), groupedOrDash(m.Clicks), ctr, orDash(m.CPC), orDash(m.Conversions))
}

func describeBudget(b *sdk.AdBudget) string {
	if b == nil {
		return "at ad groups"
	}
	return b.Formatted + " " + string(b.Type)
}
