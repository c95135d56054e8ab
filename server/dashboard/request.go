package dashboard

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/server/ui"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/request"
)

const requestsPage = "/app/developers/requests"

func requestBadge(r *request.Request) *ui.Badge {
	b := &ui.Badge{Text: strconv.Itoa(r.Status), Tone: "good", Icon: "check"}
	switch {
	case r.Status >= http.StatusInternalServerError:
		b.Tone, b.Icon = "bad", "alert"
	case r.Status >= http.StatusBadRequest:
		b.Tone, b.Icon = "warn", "alert"
	}
	return b
}

// requests lists what programs asked for. The API has no such list: it would list itself.
func (d *Dashboard) requests(v *visit) error {
	after, before := v.position()
	in := request.ListRequests{Page: core.Page{Limit: int(onPage), StartingAfter: core.Deref(after), EndingBefore: core.Deref(before)}, Key: v.QueryParam("key"), ID: strings.TrimSpace(v.QueryParam("id"))}
	in.Class, _ = strconv.Atoi(v.QueryParam("class"))
	if what := strings.TrimSpace(v.QueryParam("what")); strings.HasPrefix(what, "/") {
		in.Path = what
	} else {
		in.Operation = what
	}
	list, more, err := d.store.Requests.ListRequests(v.ctx(), v.AccountID, in)
	if err != nil {
		return err
	}
	keys, err := d.api.APIKeys.List(v.ctx(), &sdk.ListAPIKeysParams{Limit: new(int64(100))})
	if err != nil {
		return err
	}
	who := []string{"", "All"}
	names := map[string]string{}
	for i := range keys.Data {
		who = append(who, keys.Data[i].ID, keys.Data[i].Name)
		names[keys.Data[i].ID] = keys.Data[i].Name
	}
	if chosenKey := v.QueryParam("key"); optionText(chosenKey, who...) == chosenKey && chosenKey != "" { // one that was revoked
		who = append(who, chosenKey, chosenKey)
	}
	t := &ui.Table{Label: "Requests", Columns: []string{"Request", "Status", "Token", "Took", "When"}, Empty: v.nothing(&ui.Empty{
		Text: "What programs ask the API for stands here a moment later. Nothing was asked for yet.", Curl: `curl ` + d.publicURL + `/v1/products -H "Authorization: Bearer sk_..."`,
	})}
	for i := range list {
		r := &list[i]
		t.Rows = append(t.Rows, []ui.Cell{
			{Text: r.Method + " " + r.Path, Address: requestsPage + "/" + r.ID, Code: true}, {Badge: requestBadge(r)}, keyCell(r.KeyID, names), {Text: tookText(r), Number: true}, v.moment(r.CreatedAt),
		})
	}
	if n := len(list); n > 0 {
		v.turn(t, list[0].ID, list[n-1].ID, more)
	}
	p := ui.Page{
		Heading: "Requests", Up: &ui.Link{Text: "Developers", Address: "/app/developers"}, Table: t,
		Lead: fmt.Sprintf("What programs asked the API for with a token: the last %d days, and at most the last 50,000.", int(request.Keep.Hours()/24)),
		Filter: &ui.Form{Get: true, Inline: true, Submit: "Show", Controls: []ui.Control{
			{Kind: "select", Name: "class", Label: "Status", Options: chosen(v.QueryParam("class"), "", "All", "2", "Succeeded (2xx)", "4", "Refused (4xx)", "5", "Failed (5xx)")},
			{Name: "what", Label: "Operation or path", Value: v.QueryParam("what"), Hint: "Such as createOrder or /v1/orders.", Longest: 255},
			{Kind: "select", Name: "key", Label: "Token", Options: chosen(v.QueryParam("key"), who...)},
			{Name: "id", Label: "Request id", Value: v.QueryParam("id"), Hint: "From x-request-id.", Longest: 60},
		}},
	}
	dropped, err := d.store.Requests.CountDropped(v.ctx(), v.AccountID, d.store.Now().Add(-24*time.Hour))
	if err != nil {
		return err
	}
	if dropped > 0 {
		p.Lead += fmt.Sprintf(" In the last 24 hours %d were not kept, because too many came at once.", dropped)
	}
	return v.show(http.StatusOK, p)
}

func keyCell(id string, names map[string]string) ui.Cell {
	if name := names[id]; name != "" {
		return ui.Cell{Text: name}
	}
	return ui.Cell{Text: id, Code: true}
}

func tookText(r *request.Request) string {
	return strconv.FormatFloat(float64(r.Micros)/1000, 'f', 1, 64) + " ms"
}

// request shows one request, with the envelope of its answer if it failed.
func (d *Dashboard) request(v *visit) error {
	r, err := d.store.Requests.GetRequest(v.ctx(), v.AccountID, v.Param("id"))
	if err != nil {
		return err
	}
	name := ""
	if key, err := d.api.APIKeys.Get(v.ctx(), r.KeyID); err == nil {
		name = key.Name
	}
	p := ui.Page{Heading: r.Method + " " + r.Path, Badge: requestBadge(r), Up: &ui.Link{Text: "Requests", Address: requestsPage}, Sections: []ui.Section{{Terms: []ui.Term{
		{Name: "When", Value: v.moment(r.CreatedAt)},
		{Name: "Took", Value: ui.Cell{Text: tookText(r)}},
		{Name: "Operation", Value: ui.Cell{Text: r.Operation, Code: true}},
		{Name: "Token", Value: keyCell(r.KeyID, map[string]string{r.KeyID: name})},
		{Name: "From", Value: ui.Cell{Text: r.Address, Code: true}},
		{Name: "Request id", Value: ui.Cell{Text: r.ID, Code: true}},
	}}}}
	if r.Error == nil {
		p.Sections[0].Text = "The bodies of requests and answers are not kept, and neither is what stood behind the question mark."
		return v.show(http.StatusOK, p)
	}
	var envelope bytes.Buffer
	if json.Indent(&envelope, []byte(*r.Error), "", "  ") != nil {
		envelope.Reset()
		envelope.WriteString(*r.Error)
	}
	p.Sections = append(p.Sections, ui.Section{Title: "What was wrong", Code: envelope.String(), Text: "The error as it was answered. What looks like a key or the number of a card is masked. The body of the request is not kept."})
	return v.show(http.StatusOK, p)
}
