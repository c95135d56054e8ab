package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tillwright/tillwright/sdk"
)

// maxSwitched is how many campaigns the server switches with one request.
const maxSwitched = 50

// pauseAdsCommand returns the command that pauses campaigns. It asks nothing, because nothing more is spent then.
func pauseAdsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "pause CAMPAIGN...",
		Short:   "Pause campaigns, so that they spend nothing more",
		Long:    "Pauses campaigns, by the networks' ids, and prints what became of each. It fails if one could not be paused.",
		Example: "  tillwright ads pause 120100000000000001 120100000000000002",
		Args:    cobra.MinimumNArgs(1),
	}
	api := clientCommand(cmd, "ads")
	platform := platformFlag(cmd, "the network that the ids are of, if two networks gave the same")
	asJSON := jsonFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, ids []string) error {
		client, err := api.adsClient()
		if err != nil {
			return err
		}
		items, err := client.pause(cmd.Context(), campaignRefs(ids, *platform))
		return errors.Join(printSwitched(cmd, *asJSON, items), err)
	}
	return cmd
}

func campaignRefs(ids []string, platform string) []sdk.AdCampaignRef {
	refs := make([]sdk.AdCampaignRef, len(ids))
	for i, id := range ids {
		refs[i] = sdk.AdCampaignRef{ID: id, Platform: platform}
	}
	return refs
}

// pause pauses any number of campaigns. After an error it returns what became of those that were asked for before it.
func (c *apiClient) pause(ctx context.Context, refs []sdk.AdCampaignRef) ([]sdk.AdBulkItem, error) {
	var items []sdk.AdBulkItem
	for part := range slices.Chunk(refs, maxSwitched) {
		result, err := c.AdCampaigns.BulkPause(ctx, &sdk.AdCampaignBulk{Campaigns: part})
		if err != nil {
			return items, c.explain(err)
		}
		items = append(items, result.Results...)
	}
	return items, notSwitched(items)
}

// resumeAdsCommand returns the command that resumes campaigns. It asks first, because they spend money then.
func resumeAdsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "resume CAMPAIGN...",
		Short: "Resume campaigns, which spend money then",
		Long: "Resumes up to 50 campaigns, by the networks' ids, and prints what became of each. It shows what might be spent a day then,\n" +
			"and asks first; where nobody can be asked, it needs --yes. It fails if one could not be resumed.",
		Example: "  tillwright ads resume 120100000000000001",
		Args:    cobra.RangeArgs(1, maxSwitched),
	}
	api := clientCommand(cmd, "ads")
	var o resumeOptions
	cmd.Flags().StringVar(&o.platform, "platform", "", "the network that the ids are of, if two networks gave the same")
	cmd.Flags().BoolVar(&o.yes, "yes", false, "do not ask")
	asJSON := jsonFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, ids []string) error {
		client, err := api.adsClient()
		if err != nil {
			return err
		}
		items, err := client.resume(cmd.Context(), campaignRefs(ids, o.platform), o, newConsole(cmd))
		return errors.Join(printSwitched(cmd, *asJSON, items), err)
	}
	return cmd
}

// resumeOptions are the flags of resume.
type resumeOptions struct {
	platform string
	yes      bool
}

// resume resumes campaigns, after somebody was shown what that may cost and has agreed. With o.yes nobody is asked.
func (c *apiClient) resume(ctx context.Context, refs []sdk.AdCampaignRef, o resumeOptions, console *console) ([]sdk.AdBulkItem, error) {
	if !o.yes && !console.answers {
		return nil, errors.New("resuming spends money, and there is nobody to ask: pass --yes if that is wanted")
	}
	plan, err := c.AdCampaigns.PlanBulkResume(ctx, &sdk.AdCampaignBulk{Campaigns: refs})
	if err != nil {
		return nil, c.explain(err)
	}
	printPlan(console.out, plan)
	if !o.yes {
		refs = planned(plan, refs)
		if err := approve(ctx, console, refs); err != nil {
			return nil, err
		}
	}
	result, err := c.AdCampaigns.BulkResume(ctx, &sdk.AdCampaignBulk{Campaigns: refs})
	if err != nil {
		return nil, c.explain(err)
	}
	return result.Results, notSwitched(result.Results)
}

// planned returns those of the campaigns that the plan resumes: the ones that somebody was shown.
func planned(plan *sdk.AdPlan, refs []sdk.AdCampaignRef) []sdk.AdCampaignRef {
	return slices.DeleteFunc(slices.Clone(refs), func(ref sdk.AdCampaignRef) bool {
		return !slices.ContainsFunc(plan.Calls, func(call sdk.AdPlannedCall) bool { return call.ID != nil && *call.ID == ref.ID })
	})
}

func approve(ctx context.Context, console *console, refs []sdk.AdCampaignRef) error {
	if len(refs) == 0 {
		return errors.New("there is nothing to resume")
	}
	agreed, err := console.agrees(ctx, fmt.Sprintf("Resume %s?", counted(len(refs), "campaign")))
	if err == nil && !agreed {
		err = errors.New("nothing was resumed")
	}
	return err
}

func counted(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}

// printPlan prints what might be spent if the plan is carried out.
func printPlan(w io.Writer, plan *sdk.AdPlan) {
	for _, warning := range plan.Warnings {
		fmt.Fprintln(w, printable(warning))
	}
	for _, call := range plan.Calls {
		fmt.Fprintln(w, printable(fmt.Sprintf("%s on %s would be resumed.", orDash(call.ID), call.Fields["platform"])))
	}
	for _, f := range plan.Figures {
		fmt.Fprintln(w, printable(fmt.Sprintf("Everything that is switched on might spend %s %s a day then, %s now. The limit is %s.",
			f.DailyTotal, strings.ToUpper(f.Currency), f.DailyTotalBefore, f.Limit.MaxTotalDailyBudget)))
	}
}

// printSwitched prints what became of campaigns. It prints nothing if there are none.
func printSwitched(cmd *cobra.Command, asJSON bool, items []sdk.AdBulkItem) error {
	if len(items) == 0 {
		return nil
	}
	return printList(cmd, asJSON, items, "CAMPAIGN\tPLATFORM\tOUTCOME\tSTATUS\tADS\tNOTE", func(i *sdk.AdBulkItem) []string {
		return []string{i.ID, orDash(i.Platform), string(i.Outcome), orDash(i.Status), strconv.FormatInt(i.Updated, 10), noteOf(i)}
	})
}

// noteOf returns what there is to say about a campaign: why it was not switched, for one.
func noteOf(i *sdk.AdBulkItem) string {
	switch {
	case i.Error != nil && i.Error.Retryable:
		return i.Error.Message + " Try again later."
	case i.Error != nil:
		return i.Error.Message
	case i.Reason != nil:
		return *i.Reason
	}
	return i.Message
}

func notSwitched(items []sdk.AdBulkItem) error {
	failed := 0
	for _, i := range items {
		if i.Outcome == sdk.AdBulkItemOutcomeFailed {
			failed++
		}
	}
	if failed == 0 {
		return nil
	}
	return fmt.Errorf("%d of %d failed", failed, len(items))
}
