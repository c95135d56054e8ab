package dashboard

import (
	"net/http"

	"github.com/tillwright/tillwright/server/ui"
)

// developers shows what programs need.
func (d *Dashboard) developers(v *visit) error {
	pages := [][]ui.Cell{
		{{Text: "API reference", Address: "/docs"}, {Text: "every operation, with samples, and a way to try it"}},
		{{Text: "API tokens", Address: "/app/developers/tokens"}, {Text: "by which programs act for this account"}},
		{{Text: "Requests", Address: requestsPage}, {Text: "what programs asked for, and what they were answered"}},
		{{Text: "Webhooks", Address: webhooksPage}, {Text: "URLs of yours that are told what happens"}},
	}
	if d.develops {
		pages = append(pages, []ui.Cell{{Text: "Test clock", Address: clockPage}, {Text: "moves time forward, and does what falls due"}})
	}
	return v.show(http.StatusOK, ui.Page{Heading: "Developers", Lead: "All that these pages do, a program can do too.", Sections: []ui.Section{
		{Title: "Where the API is", Terms: []ui.Term{
			{Name: "Base URL", Value: ui.Cell{Text: d.publicURL + "/v1", Code: true}},
			{Name: "Account", Value: ui.Cell{Text: v.AccountID, Code: true}},
		}},
		{Title: "Pages", Table: &ui.Table{Label: "Pages for developers", Columns: []string{"Page", "What it is for"}, Rows: pages}},
	}})
}
