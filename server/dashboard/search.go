package dashboard

import (
	"net/http"
	"strings"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/server/ui"
	"github.com/tillwright/tillwright/store/core"
)

// search finds what an account has by words, numbers and ids.
func (d *Dashboard) search(v *visit) error {
	q := strings.TrimSpace(v.QueryParam("q"))
	f := &ui.Form{Get: true, Inline: true, Submit: "Search", Controls: []ui.Control{{Name: "q", ID: "words", Label: "Words, a number or an id", Value: q, Longest: 200}}}
	p := ui.Page{Heading: "Search", Filter: f}
	if q == "" {
		return v.show(http.StatusOK, p)
	}
	var found *sdk.SearchResultList
	var err error = core.Invalid("q", "Type two characters at least.")
	if len([]rune(q)) > 1 {
		found, err = d.api.Search.Do(v.ctx(), &sdk.SearchParams{Q: q, Limit: new(onPage)})
	}
	if wrong, ok := problems(err, f); ok {
		return v.show(http.StatusUnprocessableEntity, p, wrong...)
	}
	if err != nil {
		return err
	}
	p.Table = &ui.Table{Label: "What was found", Columns: []string{"Name", "What it is", "Also"}, Empty: &ui.Empty{Text: "Nothing matches. All words have to be in it, each from its beginning."}}
	for i := range found.Data {
		r := &found.Data[i]
		p.Table.Rows = append(p.Table.Rows, []ui.Cell{{Text: r.Title, Address: pageOf(string(r.Type), r.ID)}, {Text: strings.ReplaceAll(string(r.Type), "_", " ")}, textCell(r.Subtitle)})
	}
	if found.HasMore {
		p.Lead = "There is more than this: add a word."
	}
	return v.show(http.StatusOK, p)
}
