package dashboard

import (
	"net/http"

	"github.com/tillwright/tillwright/server/ui"
)

const settingsPage = "/app/settings"

// settings leads to what an account can be set to.
func (d *Dashboard) settings(v *visit) error {
	t := &ui.Table{Label: "Settings", Columns: []string{"Page", "What it is for"}}
	if v.may("account:write") {
		t.Rows = [][]ui.Cell{
			{{Text: "Business", Address: businessPage}, {Text: "name, address, tax, currency, time zone"}},
			{{Text: "Branding", Address: brandingPage}, {Text: "how the pages for buyers look"}},
			{{Text: "Payments", Address: paymentsPage}, {Text: "who moves the money"}},
		}
	}
	t.Rows = append(t.Rows,
		[]ui.Cell{{Text: "Letters to your team", Address: lettersPage}, {Text: "which there are, and what was sent"}},
		[]ui.Cell{{Text: "Team", Address: teamPage}, {Text: "who may act for this account, and what they may do"}},
		[]ui.Cell{{Text: "Activity", Address: activityPage}, {Text: "who changed what"}})
	return v.show(http.StatusOK, ui.Page{Heading: "Settings", Table: t})
}
