package e2e

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/tillwright/tillwright/tests/harness/database"
)

// Somebody connects a channel, pauses a campaign, and has it spend again only once they ticked that they understand what that can cost.
func TestDashboard_ACampaignSpendsAgainOnceThatIsUnderstood(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		k := newKeeper(t, url)
		k.Go(k.program.URL + "/app/ads")
		k.heading("Ads")
		k.presses("Connect a channel")
		k.heading("Connect a channel")
		k.fills("#display_name", "Northwind")
		k.presses("Connect")
		k.heading("Northwind")
		k.presses("Activate")
		k.WaitText("The channel is active.")

		k.Go(k.program.URL + "/app/ads?status=active")
		k.heading("Ads")
		k.presses("Always on")
		k.heading("Always on")
		k.presses("Pause")
		k.WaitText("The campaign is paused.")
		k.presses("Resume")
		k.heading("Resume Always on")
		k.WaitText("At most a day")
		k.WaitText("At most in all")
		k.presses("Resume campaign")
		k.Wait(`document.activeElement.innerText.includes('There is a problem')`)
		k.WaitText("Tick that you understand it. Nothing was resumed.")
		k.Click("#understood")
		k.presses("Resume campaign")
		k.heading("Always on")
		k.WaitText("The campaign is resumed.")
		k.Wait(`[...document.querySelectorAll('h1 ~ .badge')].some(e => e.innerText.includes('Running'))`)

		k.Go(k.program.URL + "/app/ads/log")
		k.WaitText("Pause campaign")
		k.WaitText("Resume campaign")
		assert.Empty(t, k.Refused())
	})
}
