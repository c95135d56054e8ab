package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/tillwright/tillwright/sdk"
)

func adsCommand(settings *settings) *cobra.Command {
	cmd := groupCommand("ads", "See campaigns, switch them, upload audiences, and settle what is unknown")
	cmd.AddCommand(adCampaignsCommand(), pauseAdsCommand(), resumeAdsCommand(), uploadAudienceCommand(), adLimitsCommand(), settleAdsCommand(settings))
	return cmd
}

// adsClient returns a client that waits for as long as the server waits for an ad network. It repeats a request while the
// network lets nothing through.
func (a *apiFlags) adsClient() (*apiClient, error) {
	return a.client(sdk.WithRetries(4), sdk.WithTimeout(time.Minute))
}

// platformFlag adds the flag that says which network is meant.
func platformFlag(cmd *cobra.Command, help string) *string {
	return cmd.Flags().String("platform", "", help+": facebook, instagram, tiktok, linkedin, pinterest, google or twitter")
}

// orDash returns a value as text, and a dash if it is absent.
func orDash[T any](value *T) string {
	if value == nil {
		return "-"
	}
	return fmt.Sprint(*value)
}

// groupedOrDash returns a count as grouped does, and a dash if it is absent.
func groupedOrDash(n *int64) string {
	if n == nil {
		return "-"
	}
	return grouped(*n)
}

// grouped writes a count with a comma before every three digits.
func grouped(n int64) string {
	text := fmt.Sprint(n)
	for at := len(text) - 3; at > 0; at -= 3 {
		text = text[:at] + "," + text[at:]
	}
	return text
}
