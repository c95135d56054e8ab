package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/spf13/cobra"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/server/view"
	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/advert"
)

// settleOptions are the flags of `ads settle`.
type settleOptions struct {
	ads.SettleByHand
	account      string
	notDone, yes bool
}

// settleAdsCommand returns `tillwright ads settle`, with which somebody says what became of an action whose outcome the network
// does not tell.
func settleAdsCommand(settings *settings) *cobra.Command {
	var o settleOptions
	cmd := &cobra.Command{
		Use:   "settle --account ACCOUNT ACTION --done|--not-done",
		Short: "Say what became of an action that its network does not tell about any more",
		Long: "Gives an action whose outcome stays unknown the outcome that you found at the network: it frees what the action reserves of\n" +
			"the account's limits, and its request is answered. It works on the database, beside the server. It asks first; where nobody\n" +
			"can be asked, it needs --yes. GET /ads/actions?state=unknown lists such actions.",
		Example: "  tillwright ads settle --account acct_... adact_... --not-done",
		Args:    cobra.ExactArgs(1),
	}
	account := accountFlag(cmd)
	flags := cmd.Flags()
	flags.BoolVar(&o.Done, "done", false, "the network did it")
	flags.BoolVar(&o.notDone, "not-done", false, "the network did not do it")
	flags.StringVar(&o.PlatformID, "platform-id", "", "with --done: the network's id of the ad or audience that was made")
	flags.StringVar(&o.CampaignID, "campaign-id", "", "with --platform-id: the network's id of the ad's campaign, if the ad is not known here")
	flags.StringVar(&o.AdGroupID, "ad-group-id", "", "with --platform-id: the network's id of the ad's ad group, if the ad is not known here")
	flags.BoolVar(&o.yes, "yes", false, "do not ask")
	cmd.MarkFlagsOneRequired("done", "not-done")
	cmd.MarkFlagsMutuallyExclusive("done", "not-done")
	cmd.MarkFlagsMutuallyExclusive("platform-id", "not-done")
	asJSON := jsonFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if o.Done == o.notDone {
			return errors.New("what became of it? Pass --done or --not-done")
		}
		return withStore(cmd.Context(), settings, func(ctx context.Context, s *store.Store) error {
			o.account = *account
			action, err := o.settleAction(ctx, s, args[0], newConsole(cmd))
			if err != nil {
				return err
			}
			if *asJSON {
				return printJSON(cmd.OutOrStdout(), view.AdAction(action))
			}
			cmd.Printf("%s is %s.\n", action.ID, action.State)
			return nil
		})
	}
	return cmd
}

// settleAction gives an action the outcome that the flags say, after somebody has agreed to it.
func (o *settleOptions) settleAction(ctx context.Context, s *store.Store, id string, console *console) (*advert.Action, error) {
	service := ads.New(s.Advert, nil, ads.Consents{}, slog.Default())
	plan, err := service.PlanSettlement(ctx, o.account, id, o.SettleByHand)
	if err != nil {
		return nil, err
	}
	if !o.yes {
		if err := o.approve(ctx, plan.Action, console); err != nil {
			return nil, err
		}
	}
	return service.Settle(ctx, plan)
}

// approve shows the action and asks whether to settle it. It is an error if the answer is no, or if nobody can be asked.
func (o *settleOptions) approve(ctx context.Context, action *advert.Action, console *console) error {
	if !console.answers {
		return errors.New("this settles the action for good, and there is nobody to ask: pass --yes if that is wanted")
	}
	outcome := "not done"
	if o.Done {
		outcome = "done"
	}
	fmt.Fprintf(console.out, "%s", printable(fmt.Sprintf("%s: %s on %s, begun at %s", action.ID, action.Op, action.Platform, action.CreatedAt)))
	if action.Daily > 0 {
		fmt.Fprintf(console.out, ", reserves %s a day", action.Daily.Format(action.Currency))
	}
	agreed, err := console.agrees(ctx, ".\nSettle it as "+outcome+"?")
	if err == nil && !agreed {
		err = errors.New("nothing was settled")
	}
	return err
}
