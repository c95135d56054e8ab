package dashboard

import (
	"context"
	"encoding/csv"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/server/ui"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/person"
)

const audiencesPage = adsPage + "/audiences"

var audienceStatuses = []string{"pending", "Not there yet", "processing", "Being filled", "ready", "Ready", "too_small", "Too small", "error", "Not usable"}

func audienceBadge(s sdk.AdAudienceStatus) *ui.Badge {
	b := &ui.Badge{Text: optionText(string(s), audienceStatuses...)}
	switch s {
	case sdk.AdAudienceStatusReady:
		b.Tone, b.Icon = "good", "check"
	case sdk.AdAudienceStatusPending, sdk.AdAudienceStatusProcessing:
		b.Tone, b.Icon = "warn", "clock"
	case sdk.AdAudienceStatusTooSmall, sdk.AdAudienceStatusError:
		b.Tone, b.Icon = "bad", "alert"
	}
	return b
}

// payers returns the ad accounts behind active channels, as pairs of what names one and its name. What names one is the channel and the network's id.
func (d *Dashboard) payers(v *visit) ([]string, error) {
	all, _, err := d.channels(v)
	if err != nil {
		return nil, err
	}
	var pairs []string
	for i := range all {
		if all[i].AdsStatus != sdk.SocialAdsStatusActive {
			continue
		}
		list, err := d.api.AdAccounts.List(v.ctx(), &sdk.ListAdAccountsParams{AccountID: all[i].ID, Limit: new(int64(100))})
		if err != nil {
			return nil, err
		}
		for _, a := range list.Data {
			pairs = append(pairs, all[i].ID+" "+a.ID, platformName(a.Platform)+", "+a.Name)
		}
	}
	return pairs, nil
}

// audiences lists the audiences of an ad account.
func (d *Dashboard) audiences(v *visit) error {
	payers, err := d.payers(v)
	if err != nil {
		return err
	}
	p := ui.Page{Heading: "Audiences", Up: &ui.Link{Text: "Ads", Address: adsPage}, Tabs: adTabs(audiencesPage), Table: &ui.Table{Label: "Audiences", Empty: noChannel(v)}}
	if len(payers) == 0 {
		return v.show(http.StatusOK, p)
	}
	of := v.QueryParam("ad_account")
	if of == "" {
		of = payers[0]
	}
	channel, account, _ := strings.Cut(of, " ")
	list, err := d.api.AdAudiences.List(v.ctx(), &sdk.ListAdAudiencesParams{AccountID: channel, AdAccountID: account, Page: new(v.pageNumber()), Limit: new(onPage)})
	if err != nil {
		return err
	}
	p.Table = &ui.Table{Label: "Audiences", Columns: []string{"Name", "Kind", "State", "People, about"}, Empty: &ui.Empty{Text: "An audience is people whom ads are shown to, or not shown to. This ad account has none yet."}}
	for i := range list.Data {
		a := &list.Data[i]
		p.Table.Rows = append(p.Table.Rows, []ui.Cell{{Text: a.Name, Address: audiencesPage + "/" + a.ID}, {Text: snakeWords(string(a.Type))}, {Badge: audienceBadge(a.Status)}, countCell(a.Size)})
	}
	v.turnPages(p.Table, v.pageNumber(), list.HasMore)
	p.Filter = &ui.Form{Get: true, Inline: true, Submit: "Show", Controls: []ui.Control{{Kind: "select", Name: "ad_account", Label: "Ad account", Options: chosen(of, payers...)}}}
	if v.may("ads:write") {
		p.Actions = []ui.Link{{Text: "New audience", Address: audiencesPage + "/new", Primary: true}}
	}
	return v.show(http.StatusOK, p)
}

// audienceForm returns the page with the form for a list of customers.
func (d *Dashboard) audienceForm(v *visit) (ui.Page, error) {
	payers, err := d.payers(v)
	return ui.Page{Heading: "New audience", Up: &ui.Link{Text: "Audiences", Address: audiencesPage}, Form: &ui.Form{Submit: "Create audience", Cancel: audiencesPage, Once: newOnce(), Controls: []ui.Control{
		{Kind: "select", Name: "ad_account_id", Label: "Ad account", Options: chosen(v.field("ad_account_id"), payers...)},
		{Name: "name", Label: "Name", Value: v.field("name"), Longest: 255, Required: true},
		{Name: "description", Label: "Description", Value: v.field("description"), Longest: 500, Optional: true},
	}}}, err
}

// newAudience shows it.
func (d *Dashboard) newAudience(v *visit) error {
	p, err := d.audienceForm(v)
	if err != nil {
		return err
	}
	return v.show(http.StatusOK, p)
}

// createAudience makes a list of customers, with nobody in it.
func (d *Dashboard) createAudience(v *visit) error {
	p, err := d.audienceForm(v)
	if err != nil {
		return err
	}
	channel, account, _ := strings.Cut(v.field("ad_account_id"), " ")
	var made *sdk.AdAudience
	if err = named(v); err == nil {
		made, err = d.api.AdAudiences.Create(v.ctx(), &sdk.AdAudienceCreate{AccountID: channel, AdAccountID: account, Name: v.field("name"), Description: v.optional("description"), Type: string(sdk.AdAudienceTypeCustomerList)}, v.once())
	}
	if wrong, ok := problems(err, p.Form); ok {
		return v.show(http.StatusUnprocessableEntity, p, wrong...)
	}
	if err != nil {
		return err
	}
	return v.done(audiencesPage+"/"+made.ID, person.Notice{Text: "The audience was made. Add people to it."})
}

// peopleForm asks for the people of a list of customers.
func peopleForm(id string) *ui.Form {
	return &ui.Form{Action: audiencesPage + "/" + id + "/people", Upload: true, Submit: "Add people", Once: newOnce(), Controls: []ui.Control{
		{Kind: "file", Name: "people", Label: "CSV of e-mail addresses", Hint: "The column with the heading email, or else the first one. At most 10,000 people who agreed to it. The network is given hashes, never the addresses.", Required: true},
	}}
}

// audience shows an audience.
func (d *Dashboard) audience(v *visit) error {
	a, err := d.api.AdAudiences.Get(v.ctx(), v.Param("id"))
	if err != nil {
		return err
	}
	return v.show(http.StatusOK, audiencePage(v, a, peopleForm(a.ID)))
}

func audiencePage(v *visit, a *sdk.AdAudience, f *ui.Form) ui.Page {
	p := ui.Page{Heading: a.Name, Badge: audienceBadge(a.Status), Up: &ui.Link{Text: "Audiences", Address: audiencesPage}, Sections: []ui.Section{{Terms: []ui.Term{
		{Name: "Network", Value: platformCell(a.Platform)}, {Name: "Kind", Value: ui.Cell{Text: snakeWords(string(a.Type))}}, {Name: "Description", Value: textCell(a.Description)},
		{Name: "People, about", Value: ui.Cell{Text: countCell(a.Size).Text}}, {Name: "What the network said", Value: textCell(a.StatusReason)}, {Name: "Id", Value: ui.Cell{Text: a.ID, Code: true}},
	}}}}
	if v.may("ads:write") {
		p.Actions = []ui.Link{{Text: "Delete", Address: audiencesPage + "/" + a.ID + "/delete", Danger: true}}
		if a.Type == sdk.AdAudienceTypeCustomerList {
			p.Sections = append(p.Sections, ui.Section{Title: "Add people", Form: f})
		}
	}
	return p
}

// addPeople gives the people of a file to an audience.
func (d *Dashboard) addPeople(v *visit) error {
	a, err := d.api.AdAudiences.Get(v.ctx(), v.Param("id"))
	if err != nil {
		return err
	}
	f := peopleForm(a.ID)
	people, err := readPeople(v)
	var done *sdk.AdAudienceUpload
	if err == nil {
		done, err = d.api.AdAudiences.UploadUsers(v.ctx(), a.ID, &sdk.AdAudienceUsers{Users: people}, v.once())
	}
	if wrong, ok := problems(renamed(err, map[string]string{"users": "people"}), f); ok {
		return v.show(http.StatusUnprocessableEntity, audiencePage(v, a, f), wrong...)
	}
	if err != nil {
		return err
	}
	count := func(n int64) string { return strconv.FormatInt(n, 10) }
	return v.done(audiencesPage+"/"+a.ID, person.Notice{Text: "Of " + count(done.Received) + " people " + count(done.Accepted) + " were given to the network. " + count(done.Duplicates) + " were there already or came twice, " + count(done.Invalid) + " had no usable address."})
}

// readPeople reads the addresses of the file that was sent.
func readPeople(v *visit) ([]sdk.AdAudienceUser, error) {
	sent, _, err := v.Request().FormFile("people")
	if err != nil {
		return nil, core.Invalid("people", "Choose a file.")
	}
	defer sent.Close()
	in := csv.NewReader(sent)
	in.FieldsPerRecord, in.LazyQuotes = -1, true
	var people []sdk.AdAudienceUser
	column := 0
	for first := true; ; first = false {
		row, err := in.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, core.Invalid("people", "This is no CSV: "+err.Error()+".")
		}
		if first {
			isHeading := false
			for i, name := range row {
				if strings.EqualFold(strings.Trim(name, "\ufeff "), "email") {
					column, isHeading = i, true
				}
			}
			if isHeading {
				continue
			}
		}
		if column < len(row) && strings.TrimSpace(row[column]) != "" {
			people = append(people, sdk.AdAudienceUser{Email: new(strings.TrimSpace(row[column]))})
		}
	}
	if len(people) == 0 {
		return nil, core.Invalid("people", "There is no address in this file.")
	}
	return people, nil
}

func (d *Dashboard) audiencePiece() *piece {
	return &piece{page: audiencesPage, list: audiencesPage, word: "audience", remove: d.api.AdAudiences.Delete, gone: "It is deleted at the network too. Ads that are shown to it may stop.", name: d.audienceName}
}

func (d *Dashboard) audienceName(ctx context.Context, id string) (string, error) {
	a, err := d.api.AdAudiences.Get(ctx, id)
	if err != nil {
		return "", err
	}
	return a.Name, nil
}
